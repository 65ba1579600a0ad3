"""The one JSON object that a reply consists of, whatever stands around it.

Owns the finding: fences, chatter before and behind, and thoughts in ``<think>`` are passed over. Nothing is mended: an
object that begins and does not end, or several that differ, are no decision.
"""

import json
import re
from collections.abc import Callable
from typing import Any, Final, TypeVar

__all__ = ["NoDecision", "the_object"]

_T = TypeVar("_T")
_MARK: Final = re.compile(r"<think(?:ing)?>|</think(?:ing)?>|\{", re.IGNORECASE)
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
    found: list[_T] = []
    trouble: list[str] = []
    broken = ""
    at = 0
    while (mark := _MARK.search(reply, at)) is not None:
        at = mark.end()
        if mark[0].startswith("</"):  # all before it was thought; where it began is not shown
            found, trouble, broken = [], [], ""
        elif mark[0] != "{":
            at = _end_of_thought(reply, mark)
        else:
            try:
                value, at = _DECODER.raw_decode(reply, mark.start())
                if (decision := read(value)) not in found:
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


def _end_of_thought(reply: str, mark: re.Match[str]) -> int:
    end = re.compile(re.escape(f"</{mark[0][1:]}"), re.IGNORECASE).search(reply, mark.end())
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
