"""The bodies of requests: taken in up to a size and within a time, and read as strict JSON or as UTF-8 text.

Owns both limits and what counts as JSON. Knows no route.
"""

import asyncio
import json
import re
from collections.abc import Mapping
from email.message import Message
from typing import Any, Final, cast

from starlette.requests import Request

from reme.errors import InvalidInput
from reme.faces.http.problems import BodyTooLarge, Malformed, NotJson, TooSlow

__all__ = ["json_object", "taken_in", "text_of"]

_JSON: Final = "application/json"
_WITHIN_S: Final = 60.0
_DEEPEST: Final = 100
_LENGTH: Final = re.compile(r"[0-9]{1,18}")


async def json_object(request: Request, most: int) -> dict[str, Any]:
    """The JSON object that a request carries; of no other type than JSON, so that no form of a foreign page passes.

    Args:
        most: Bytes that a body may have.

    Raises:
        NotJson: If it is of another type.
        Malformed: If it is not JSON, or no object.
        BodyTooLarge, TooSlow: As ``taken_in``.
    """
    if _media_type(request) != _JSON:
        raise NotJson(
            f"the body is {request.headers.get('content-type') or 'of no type'}, not {_JSON}",
            hint=f"Send a JSON object of arguments, and Content-Type: {_JSON}; {{}} where there are none.",
        )
    data = await taken_in(request, most)
    try:
        document: object = json.loads(data.decode("utf-8-sig"), parse_constant=_no_constant, object_pairs_hook=_object)
        _check_depth(document)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise Malformed(f"the body is not JSON: {reason}", hint="Send one JSON object in UTF-8.") from None
    if not isinstance(document, dict):
        raise Malformed("the body is no JSON object", hint='Name each argument: {"path": "notes/plan.md"}.')
    return cast("dict[str, Any]", document)


async def text_of(request: Request, most: int) -> str:
    """The text that a request carries, in UTF-8.

    Raises:
        NotJson: If it says that it is in another encoding.
        InvalidInput: If it is not in UTF-8.
        BodyTooLarge, TooSlow: As ``taken_in``.
    """
    _media_type(request)
    data = await taken_in(request, most)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"the body is not UTF-8 text: byte {error.start} is not",
            hint="Notes are text; bring other files in with `upload`.",
        ) from None


async def taken_in(request: Request, most: int) -> bytes:
    """The whole body, of which no more is held than a request may have.

    Raises:
        BodyTooLarge: As soon as it is.
        TooSlow: If it is not there within a minute.
    """
    declared = request.headers.get("content-length", "")
    if _LENGTH.fullmatch(declared) and int(declared) > most:
        raise _too_large(most)
    data = bytearray()
    try:
        async with asyncio.timeout(_WITHIN_S):
            async for part in request.stream():
                data += part
                if len(data) > most:
                    raise _too_large(most)
    except TimeoutError:
        raise TooSlow(f"the body was not there within {_WITHIN_S:g} s") from None
    return bytes(data)


def _too_large(most: int) -> BodyTooLarge:
    return BodyTooLarge(
        f"the body has more than {most} bytes",
        hint="On the vault's own machine, the command line takes files of any size; `http.max_body` sets the limit.",
        details={"limit": most},
    )


def _media_type(request: Request) -> str:
    """The type that the body is said to be of, which is in UTF-8 and not compressed."""
    said = Message()
    said["content-type"] = request.headers.get("content-type", "")
    charset = said.get_content_charset("utf-8")
    coding = request.headers.get("content-encoding", "identity")
    if charset not in ("utf-8", "utf8", "us-ascii") or coding != "identity":
        raise NotJson(f"the body is in {charset}, {coding}", hint="Send it in UTF-8, not compressed.")
    return said.get_content_type() if said["content-type"] else ""


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)!r} is given twice")
    return made


def _check_depth(value: object, depth: int = 0) -> None:
    if depth > _DEEPEST:
        raise RecursionError
    if isinstance(value, Mapping):
        value = list(cast("Mapping[str, object]", value).values())
    if isinstance(value, list):
        for item in cast("list[object]", value):
            _check_depth(item, depth + 1)
