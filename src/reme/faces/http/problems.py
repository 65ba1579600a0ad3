"""What goes wrong, as problem documents (RFC 9457): the error of every face, with the status that HTTP has for it.

Owns the statuses that only HTTP knows, and that no answer names a place on this machine. Knows no route.
"""

import json
import re
import sys
import traceback
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, cast

from starlette.responses import Response

from reme.errors import Conflict, InvalidInput, NotFound, Refused, ReMeError, Unavailable

__all__ = [
    "MEDIA_TYPE",
    "BodyTooLarge",
    "Bug",
    "Busy",
    "Malformed",
    "NoToken",
    "NotAllowed",
    "NotAnswering",
    "NotJson",
    "Places",
    "PreconditionFailed",
    "PreconditionMissing",
    "TooSlow",
    "encoded",
    "headers_of",
    "problem",
    "problem_response",
    "unforeseen",
]

MEDIA_TYPE: Final = "application/problem+json"
_KIND_URI: Final = "urn:reme:problem:"


class Malformed(InvalidInput):
    """The request itself cannot be read, whatever it asks for."""

    http_status = 400


class NoToken(Refused):
    """There is no token, or none that is known here."""

    http_status = 401


class NotAnswering(NotFound):
    """Nothing is at this address."""


class NotAllowed(InvalidInput):
    """The address is right and the method is not; ``details`` has those that are."""

    http_status = 405


class TooSlow(InvalidInput):
    """The request did not arrive in time."""

    http_status = 408


class PreconditionFailed(Conflict):
    """What ``If-Match`` or ``If-None-Match`` expects is not so."""

    http_status = 412


class BodyTooLarge(InvalidInput):
    """The body is larger than the server takes."""

    http_status = 413


class NotJson(InvalidInput):
    """The body is of a type that is not taken here."""

    http_status = 415


class PreconditionMissing(Conflict):
    """Something would be replaced, and the request does not say what it expects to replace."""

    http_status = 428


class Busy(Unavailable):
    """Too much is waiting already, or the server is stopping."""


class Bug(ReMeError):
    """What nobody foresaw; its trace is on standard error."""

    kind = "bug"


class Places:
    """Places on this machine, which no answer names: what is in the vault is named from its root.

    Args:
        vault: The vault's folder.
        others: With what is said instead of each.
    """

    def __init__(self, vault: Path, others: Mapping[str, Path]) -> None:
        spelled = {str(place): name for name, place in others.items() if len(place.parts) > 1}
        spelled |= {str(vault): "the vault", str(vault.resolve()): "the vault"}
        self._names = spelled
        longest_first = sorted(map(re.escape, spelled), key=len, reverse=True)
        self._named = re.compile(rf"({'|'.join(longest_first)})(?:(/)|(?![\w.-]))")

    def hidden(self, value: Any) -> Any:
        """A JSON value without these places."""
        match value:
            case str():
                return self._named.sub(self._instead, value)
            case dict():
                entries = cast("dict[str, Any]", value).items()
                return {self.hidden(key): self.hidden(item) for key, item in entries}
            case list() | tuple():
                return [self.hidden(item) for item in cast("Iterable[Any]", value)]
            case _:
                return value

    def _instead(self, found: re.Match[str]) -> str:
        name, inside = self._names[found[1]], found[2] or ""
        return "" if inside and name == "the vault" else name + inside


def problem(error: ReMeError, places: Places | None = None) -> dict[str, Any]:
    """An error as a problem document.

    Args:
        error: Any of ours.
        places: What it must not name.
    """
    shown = error.as_dict()
    document: dict[str, Any] = {
        "type": _KIND_URI + error.kind,
        "title": HTTPStatus(error.http_status).phrase,
        "status": error.http_status,
        "detail": shown.pop("message"),
        **shown,
    }
    return places.hidden(document) if places else document


def headers_of(error: ReMeError) -> dict[str, str]:
    """What an error says in the head of its response."""
    match error:
        case NoToken():
            return {"WWW-Authenticate": 'Bearer realm="reme"'}
        case NotAllowed():
            return {"Allow": ", ".join(cast("list[str]", error.details["allowed"]))}
        case BodyTooLarge() | TooSlow():
            return {"Connection": "close"}
        case Unavailable():
            return {"Retry-After": "1"}
        case _:
            return {}


def problem_response(error: ReMeError, places: Places | None = None) -> Response:
    """The response that tells of an error."""
    return Response(encoded(problem(error, places)), error.http_status, headers_of(error), MEDIA_TYPE)


def unforeseen(error: BaseException) -> Bug:
    """What nobody foresaw as an error that can be shown; the trace goes to standard error."""
    traceback.print_exception(error, file=sys.stderr)
    return Bug(f"something went wrong inside ReMe ({type(error).__name__})", hint="The vault is as it was.")


def encoded(document: Any) -> bytes:
    """A JSON document in UTF-8."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "replace")
