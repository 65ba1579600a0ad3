"""Notes as resources of HTTP: their bytes under their path, with the revision as entity tag.

Owns how methods, conditions and paths of HTTP become calls of operations, which decide everything else. A path is read
from the address as it was sent, decoded once and part by part, so that an encoded slash never parts anything.
"""

import base64
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import quote, unquote_to_bytes

from starlette.requests import Request
from starlette.responses import Response

from reme.catalog import Operation, as_json, nearest
from reme.errors import Conflict, InvalidInput, NotFound, Refused, ReMeError
from reme.faces.http.answers import Desk, form_wanted
from reme.faces.http.bodies import json_object, text_of
from reme.faces.http.problems import Malformed, PreconditionFailed, PreconditionMissing, encoded

__all__ = ["amends", "get_note", "note_path", "patch_note", "put_note", "remove_note"]

_BROKEN: Final = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_TAG: Final = re.compile(r'"([\x21\x23-\x7e]*)"')
_REVALIDATED: Final = {"Cache-Control": "private, no-cache"}


def note_path(raw: bytes) -> str:
    """The path that an address names, as it is given to operations.

    Args:
        raw: What of the address stands behind ``/notes/``, as it was sent.

    Raises:
        Malformed: If it is not percent-encoded UTF-8.
        Refused: If a part of it has an encoded slash: no name has one.
    """
    if _BROKEN.search(raw):
        raise Malformed("the address has a % that encodes nothing", hint="Spell a % in a name as %25.")
    try:
        parts = [unquote_to_bytes(part).decode("utf-8") for part in raw.split(b"/")]
    except UnicodeDecodeError:
        raise Malformed("the address is not UTF-8", hint="Percent-encode the bytes of the path in UTF-8.") from None
    if wrong := next((part for part in parts if "/" in part), None):
        raise Refused(
            f"{wrong!r} is no name inside the vault: it has an encoded slash",
            hint="Leave the slashes between folders as they are.",
            details={"path": "/".join(parts)},
        )
    return "/".join(parts)


async def get_note(desk: Desk, request: Request, path: str) -> Response:
    """The bytes of a file; or, where a part of it or another form is asked for, what ``read`` tells of it."""
    if request.query_params or form_wanted(request):
        return await desk.answer(request, desk.catalog["read"], _arguments(request, path=path))
    return await desk.called(request, desk.catalog["download"], {"path": path}, lambda found: _bytes(request, found))


async def put_note(desk: Desk, request: Request, path: str) -> Response:
    """Make a file of the body, or replace the one whose revision ``If-Match`` has.

    Raises:
        PreconditionFailed: If it has another revision, or is there although ``If-None-Match: *`` says that it is not.
        PreconditionMissing: If it is there, and no condition was given.
    """
    write = desk.catalog["write"]
    content = await text_of(request, desk.most)
    if request.headers.get("if-none-match") not in (None, "*"):
        raise Malformed("If-None-Match of a PUT is *, or not there", hint="Give a revision as If-Match.")
    if request.headers.get("if-match") == "*":
        expected = await _present_revision(desk, request, path)
    else:
        expected = _expected(request)
    condition = {} if expected is None else {"overwrite": True, "expected_revision": expected}
    given = _arguments(request, path=path, content=content, **condition)
    try:
        return await desk.called(request, write, given, _written)
    except Conflict as error:
        if "actual_revision" in error.details and not _is_conditional(request):
            raise PreconditionMissing(
                error.message, hint="Give the ETag that GET returned as If-Match.", details=error.details
            ) from None
        raise _failed(request, error) from None


async def remove_note(desk: Desk, request: Request, path: str) -> Response:
    """Delete a file, of the revision that ``If-Match`` has if it is given."""
    expected = _expected(request)
    condition = {} if expected is None else {"expected_revision": expected}
    try:
        return await desk.answer(request, desk.catalog["delete"], _arguments(request, path=path, **condition))
    except Conflict as error:
        raise _failed(request, error) from None


async def patch_note(desk: Desk, request: Request, path: str) -> Response:
    """Change a file by the operation that the body names, with the arguments beside it.

    Raises:
        InvalidInput: If the body names none that ``amends``.
    """
    given = await json_object(request, desk.most)
    named = given.pop("operation", None)
    operation = desk.catalog.get(named) if isinstance(named, str) else None
    if operation is None or not amends(operation):
        raise InvalidInput(
            "`operation` is missing" if named is None else f"`operation`: {named!r} changes no file in its place",
            hint=nearest(str(named), [operation.name for operation in desk.catalog if amends(operation)]),
            details={"parameters": ["operation"]},
        )
    expected = _expected(request)
    condition = {} if expected is None else {"expected_revision": expected}
    try:
        return await desk.called(request, operation, _arguments(request, given, path=path, **condition), _written)
    except Conflict as error:
        raise _failed(request, error) from None


def amends(operation: Operation) -> bool:
    """Whether an operation changes a file in its place, without replacing or removing it as a whole."""
    names = {parameter.name for parameter in operation.parameters}
    in_place = {"path", "expected_revision"} <= names and not names & {"overwrite", "recursive"}
    return in_place and operation.effects != "read"


def _bytes(request: Request, found: Any) -> Response:
    """The bytes of a download, unless the client has them already."""
    head = {"ETag": f'"{found.revision}"', "Content-Location": _address(found.path), **_REVALIDATED}
    known = request.headers.get("if-none-match", "")
    if known.strip() == "*" or found.revision in _TAG.findall(known):
        return Response(status_code=304, headers=head)
    data = base64.b64decode(found.data)
    kind = found.media_type
    if kind.startswith("text/") and _is_utf8(data):
        kind += "; charset=utf-8"
    return Response(data, headers={**head, "Content-Type": kind})


def _written(result: Any) -> Response:
    """What became of a file; its new revision is its entity tag."""
    told = as_json(result)
    written = not told["dry_run"]
    created = written and told.get("outcome") == "created"
    head = {"ETag": f'"{told["revision"]}"'} if written else {}
    if created:
        head["Location"] = _address(told["path"])
    return Response(encoded(told), 201 if created else 200, head, "application/json")


def _address(path: str) -> str:
    return "/notes/" + quote(path)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _arguments(
    request: Request, given: Mapping[str, object] = MappingProxyType({}), /, **own: object
) -> dict[str, object]:
    """What an operation is called with: what method, address and conditions say, and what is given besides.

    In the query, what stands several times is a list.

    Raises:
        Malformed: If something is given besides that is said already.
    """
    query = {name: request.query_params.getlist(name) for name in request.query_params}
    names = [*query, *given, *own]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise Malformed(f"{twice} is given twice", hint="Leave out what the address or a header says.")
    return {**{name: values[0] if len(values) == 1 else values for name, values in query.items()}, **given, **own}


def _is_conditional(request: Request) -> bool:
    return "if-match" in request.headers or "if-none-match" in request.headers


def _expected(request: Request) -> str | None:
    """The one revision that ``If-Match`` has, or None where there is no such condition.

    Raises:
        Malformed: If it is no entity tag, or several.
        PreconditionFailed: If it is a weak one, which no revision matches.
    """
    given = request.headers.get("if-match")
    if given is None:
        return None
    if given.startswith("W/"):
        raise PreconditionFailed(f"{given} is a weak entity tag", hint="Give the ETag that GET returned, as it was.")
    match = _TAG.fullmatch(given.strip())
    if match is None or "if-none-match" in request.headers:
        raise Malformed(
            f"If-Match: {given} is not one entity tag, or stands beside If-None-Match",
            hint="Give the ETag that GET returned, with its quotes, or none.",
        )
    return match[1]


async def _present_revision(desk: Desk, request: Request, path: str) -> str:
    try:
        return await desk.called(request, desk.catalog["stat"], {"path": path}, lambda found: str(found.revision))
    except NotFound as error:
        raise PreconditionFailed(error.message, hint=error.hint, details=error.details) from None


def _failed(request: Request, error: ReMeError) -> ReMeError:
    """A conflict as HTTP tells it: of a condition that was given, or of the vault as it is."""
    if _is_conditional(request) and "actual_revision" in error.details:
        return PreconditionFailed(error.message, hint=error.hint, details=error.details)
    return error
