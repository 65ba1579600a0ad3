"""One call of an operation for one request: carried out in a lane, answered as JSON, as text, or as a stream of events.

Owns the three forms of an answer, and what becomes of a call whose client has gone. Knows no operation by name.
"""

import asyncio
import re
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeVar

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from reme.app import App
from reme.catalog import Catalog, Operation, as_json
from reme.errors import ReMeError
from reme.faces.http.feed import Feed, event
from reme.faces.http.guard import ROLE
from reme.faces.http.lanes import Lane, Lanes
from reme.faces.http.metrics import Metrics
from reme.faces.http.problems import Busy, Places, encoded, problem
from reme.progress import Progress, unseen

__all__ = ["LANES", "Desk", "EventStream", "Form", "Gone", "form_wanted", "lane_of"]

LANES: Final = (Lane("read", 4, 128), Lane("write", 2, 128), Lane("slow", 2, 16))

_T = TypeVar("_T")
_ALIVE_S: Final = 15.0
_PROGRESS_S: Final = 0.5
_CLIENT: Final = re.compile(r"[A-Za-z0-9][\w.-]{0,39}", re.ASCII)

Form = Literal["json", "text", "events"]
_MEDIA_TYPES: Final[Mapping[Form, str]] = {
    "json": "application/json",
    "text": "text/plain",
    "events": "text/event-stream",
}


class Gone(Exception):
    """The client does not wait any more."""


class EventStream(StreamingResponse):
    """A stream of events, which no proxy is to hold back."""

    def __init__(self, events: AsyncIterator[bytes]) -> None:
        super().__init__(events, headers={"X-Accel-Buffering": "no"}, media_type=_MEDIA_TYPES["events"])


@dataclass(frozen=True, slots=True)
class Desk:
    """What is behind all requests.

    Attributes:
        catalog: Describes the operations.
        lanes: Carry out what is asked for.
        places: What no answer may name.
        metrics: Are told of each call.
        feed: Tells what happens.
        most: Bytes that a body may have.
    """

    catalog: Catalog
    lanes: Lanes[App]
    places: Places
    metrics: Metrics
    feed: Feed
    most: int

    async def answer(self, request: Request, operation: Operation, arguments: Mapping[str, object]) -> Response:
        """Call an operation and answer in the form that the request asks for.

        Raises:
            ReMeError: What the call came to, unless it is told in a stream.
            Gone: If nobody waits for the answer any more.
        """
        form = form_wanted(request) or "json"
        if form == "events":
            return await self._stream(request, operation, arguments)
        shown = _as_text if form == "text" else _as_document
        body = await self.called(request, operation, arguments, lambda result: shown(operation, result))
        return Response(body, media_type=_MEDIA_TYPES[form])

    async def called(
        self,
        request: Request,
        operation: Operation,
        arguments: Mapping[str, object],
        made: Callable[[Any], _T],
        progress: Progress = unseen,
    ) -> _T:
        """Call an operation and make something of its result, both in one of its lane's threads.

        Raises:
            ReMeError: What the call came to.
            Gone: If nobody waits for it any more; what was not begun by then is not done.
        """
        role, actor = request.scope[ROLE], _actor(request)

        def work(app: App) -> _T:
            try:
                return made(app.call(operation.name, arguments, role=role, actor=actor, progress=progress))
            finally:
                for notice in app.take_notices():
                    sys.stderr.write(f"reme: {notice}\n")

        began, outcome = time.perf_counter(), "bug"
        try:
            found = await self.done(request, lane_of(operation), work)
            outcome = "ok"
            return found
        except ReMeError as error:
            outcome = error.kind
            raise
        except (Gone, asyncio.CancelledError):
            outcome = "gone"
            raise
        finally:
            self.metrics.count(operation.name, outcome, time.perf_counter() - began)

    async def done(self, request: Request, lane: str, work: Callable[[App], _T]) -> _T:
        """Do some work in a lane for as long as the client waits for it.

        Raises:
            ReMeError: What it came to.
            Gone: If nobody waits for it any more.
        """
        future = asyncio.wrap_future(self.lanes.submit(lane, work))
        leaving = asyncio.ensure_future(_left(request))
        try:
            await asyncio.wait((future, leaving), return_when=asyncio.FIRST_COMPLETED)
            if not future.done():
                raise Gone
            if future.cancelled():
                raise Busy("the server is stopping", hint="Try again in a moment.")
            return future.result()
        finally:
            leaving.cancel()
            future.cancel()

    async def _stream(self, request: Request, operation: Operation, arguments: Mapping[str, object]) -> Response:
        """Answer by events; what fails before there is any progress is answered as without a stream."""
        told = _Told(asyncio.get_running_loop())
        call = asyncio.ensure_future(
            self.called(request, operation, arguments, lambda result: encoded(as_json(result)), told)
        )
        call.add_done_callback(_noted)
        first = asyncio.ensure_future(told.news.wait())
        try:
            await asyncio.wait((call, first), return_when=asyncio.FIRST_COMPLETED, timeout=_PROGRESS_S)
        except asyncio.CancelledError:
            call.cancel()
            raise
        finally:
            first.cancel()
        if call.done():
            call.result()
        return EventStream(self._events(call, told))

    async def _events(self, call: "asyncio.Task[bytes]", told: "_Told") -> AsyncIterator[bytes]:
        quiet_since = time.monotonic()
        try:
            while not call.done():
                if (said := told.take()) is not None:
                    quiet_since = time.monotonic()
                    yield event("progress", encoded(said))
                elif time.monotonic() - quiet_since > _ALIVE_S:
                    quiet_since = time.monotonic()
                    yield b": still at it\n\n"
                await asyncio.wait((call,), timeout=_PROGRESS_S)
            try:
                yield event("result", call.result())
            except ReMeError as error:
                yield event("error", encoded(problem(error, self.places)))
            except Gone:
                return
        finally:
            call.cancel()


class _Told:
    """What a call last said of its progress, from whichever thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.news = asyncio.Event()
        self._loop = loop
        self._said: tuple[str, int, int] | None = None

    def __call__(self, what: str, done: int, of: int) -> None:
        is_news, self._said = self._said is None, (what, done, of)
        if is_news:
            with suppress(RuntimeError):  # the loop has ended meanwhile
                self._loop.call_soon_threadsafe(self.news.set)

    def take(self) -> dict[str, object] | None:
        said, self._said = self._said, None
        self.news.clear()
        return None if said is None else {"what": said[0], "done": said[1], "of": said[2]}


def lane_of(operation: Operation) -> str:
    """The lane for an operation: what takes long apart, and what waits for the vault's lock apart from what asks."""
    if operation.cost != "cheap":
        return "slow"
    return "read" if operation.effects == "read" else "write"


def form_wanted(request: Request) -> Form | None:
    """The form that a request likes best, by its ``Accept``; None where it names none of ours."""
    best: Form | None = None
    liked = 0.0
    for entry in request.headers.get("accept", "").split(","):
        media_type, *parameters = (part.strip().lower() for part in entry.split(";"))
        quality = next((_quality(value) for value in parameters if value.startswith("q=")), 1.0)
        found: Form | None = next((form for form, name in _MEDIA_TYPES.items() if name == media_type), None)
        if found is not None and quality > liked:
            best, liked = found, quality
    return best


def _quality(parameter: str) -> float:
    with suppress(ValueError):
        return float(parameter[2:])
    return 1.0


def _as_document(_operation: Operation, result: Any) -> bytes:
    return encoded(as_json(result))


def _as_text(operation: Operation, result: Any) -> bytes:
    text = operation.text(result)
    return (text if text.endswith("\n") else f"{text}\n").encode("utf-8", "replace")


def _actor(request: Request) -> str:
    """``http``, with what the client calls itself."""
    client = _CLIENT.match(request.headers.get("user-agent", ""))
    return f"http:{client[0]}" if client else "http"


def _noted(call: "asyncio.Task[bytes]") -> None:
    """Take note of how a call has ended, which nobody else may do where the client has gone."""
    if not call.cancelled():
        call.exception()


async def _left(request: Request) -> None:
    """Wait until the client does not wait any more. The body must have been taken in."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
