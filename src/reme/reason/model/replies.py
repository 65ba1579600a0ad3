"""The one JSON object that a reply consists of, whatever stands around it.

Owns the finding: fences, chatter around it and thoughts in ``<think>`` or the like are passed over; of the call
of a tool, the arguments are the object; an object that was written as a text is read as one. Nothing is mended: an
object that begins and does not end, or several that differ, are no decision.
"""

import json
import re
from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

__all__ = ["NoDecision", "the_object"]

_T = TypeVar("_T")
_THOUGHT: Final = r"think(?:ing)?|thoughts?|reason(?:ing)?|reflection|analysis"
_MARK: Final = re.compile(rf"[<\[]/?(?:{_THOUGHT})[>\]]|\{{", re.IGNORECASE)
_CALLED: Final = ("arguments", "parameters", "input", "args")
_BEGINS_OBJECT: Final = re.compile(r"\{\s*(?:\"|\}|\Z)")


class NoDecision(Exception):
    """A reply that decides nothing; its text says why, so that it can be asked again."""


def the_object(reply: str, read: Callable[[dict[str, Any]], _T]) -> _T:
    """The decision that a reply holds.

    Args:
        read: Makes a decision of an object; raises ``NoDecision`` for one that is none.

    Raises:
        NoDecision: If there is none, or more than one.
    """
    if (text := _quoted(reply)) is not None:
        return the_object(text, read)
    found: list[_T] = []
    trouble: list[str] = []
    broken = ""
    at = 0
    while (mark := _MARK.search(reply, at)) is not None:
        at = mark.end()
        if mark[0][1:2] == "/":  # all before it was thought; where it began is not shown
            found, trouble, broken = [], [], ""
        elif mark[0] != "{":
            at = _end_of_thought(reply, mark)
        else:
            try:
                value, at = _DECODER.raw_decode(reply, mark.start())
                if (decision := _read(value, read)) not in found:
                    found.append(decision)
            except NoDecision as error:
                trouble.append(str(error))
            except (ValueError, RecursionError) as error:
                if _BEGINS_OBJECT.match(reply, mark.start()):
                    broken = broken or f"it is not valid JSON: {error}"
    if broken:
        raise NoDecision(broken)
    if not found:
        raise NoDecision(trouble[0] if trouble else "there is no JSON object in it")
    if len(found) > 1:
        raise NoDecision(f"it holds {len(found)} different answers")
    return found[0]


def _read(value: dict[str, Any], read: Callable[[dict[str, Any]], _T]) -> _T:
    """The decision of an object, or of what a tool was to be called with."""
    try:
        return read(value)
    except NoDecision as error:
        called = [value[key] for key in _CALLED if key in value]
        if len(called) != 1 or "name" not in value:
            raise
        inner: Any = called[0]
        if isinstance(inner, str):
            try:
                inner = _DECODER.decode(inner)
            except (ValueError, RecursionError):
                raise error from None
        if not isinstance(inner, dict):
            raise
        return read(cast("dict[str, Any]", inner))


def _quoted(reply: str) -> str | None:
    """The text that a reply is a JSON string of, if it is one."""
    bare = reply.strip()
    if not (bare.startswith('"') and bare.endswith('"') and "{" in bare):
        return None
    try:
        text: object = _DECODER.decode(bare)
    except (ValueError, RecursionError):
        return None
    return text if isinstance(text, str) else None


def _end_of_thought(reply: str, mark: re.Match[str]) -> int:
    end = re.compile(re.escape(f"{mark[0][0]}/{mark[0][1:]}"), re.IGNORECASE).search(reply, mark.end())
    if end is None:
        raise NoDecision("it ends while it is still thinking")
    return end.end()


def _only_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is there twice")
    return found


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number")


_DECODER: Final = json.JSONDecoder(strict=False, object_pairs_hook=_only_once, parse_constant=_no_number)
