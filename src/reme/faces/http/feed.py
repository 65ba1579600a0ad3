"""What happens in the vault, told to whoever listens: runs that have ended, and where the index stands.

Owns who listens and the one look a second that is taken for all of them, and for nobody where nobody listens.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from reme.app import App
from reme.catalog import as_json
from reme.errors import ReMeError
from reme.faces.http.lanes import Lanes
from reme.faces.http.problems import Busy, Places, encoded
from reme.state import Run

__all__ = ["Feed", "event"]

_EVERY_S: Final = 1.0
_ALIVE_S: Final = 15.0
_KNOWN: Final = 200
"""So many of the latest runs are looked at."""
_BEHIND: Final = 256
"""How many events wait for a listener that is slow, before it is dropped."""
_LISTENERS: Final = 32

_Listener = asyncio.Queue[bytes | None]


def event(name: str, data: bytes, number: str = "") -> bytes:
    """One server-sent event whose data is one line.

    Args:
        number: What a client that comes back names as the last one that it has had; none if empty.
    """
    head = f"id: {number}\nevent: {name}\n" if number else f"event: {name}\n"
    return head.encode() + b"data: " + data + b"\n\n"


@dataclass(eq=False)
class Feed:
    """The events of one vault.

    Attributes:
        lanes: Where the look is taken.
        places: What no event may name.
        stopping: Set when the server is about to end, and with it every stream.
    """

    lanes: Lanes[App]
    places: Places
    stopping: asyncio.Event
    _listeners: set[_Listener] = field(default_factory=set[_Listener])
    _told: set[str] = field(default_factory=set[str])
    _position: int = -1
    _looking: "asyncio.Task[None] | None" = None

    async def listen(self, last: str) -> AsyncIterator[bytes]:
        """The events from now on, and the ends of runs that a listener has missed.

        Args:
            last: The last run of whose end the listener was told, or empty. Where it is none of the latest 200, nothing
                is told again: the log has all.

        Raises:
            Busy: If too many listen already.
            ReMeError: If the vault cannot be looked at.
        """
        if len(self._listeners) >= _LISTENERS:
            raise Busy(f"{_LISTENERS} listen already", hint="Close some.")
        await self._look()
        return self._stream(last)

    async def _stream(self, last: str) -> AsyncIterator[bytes]:
        listener = _Listener(_BEHIND)
        stopping = asyncio.ensure_future(self.stopping.wait())
        self._listeners.add(listener)
        try:
            ended, position = await self._look()
            if self._looking is None:
                self._told, self._position = {run.id for run in ended}, position
                self._looking = asyncio.create_task(self._watch())
            yield event("index", encoded({"position": position}))
            for run in ended:
                if _is_later(run, last, ended):
                    yield self._end_of(run)
            while not self.stopping.is_set():
                coming = asyncio.ensure_future(listener.get())
                await asyncio.wait((coming, stopping), timeout=_ALIVE_S, return_when=asyncio.FIRST_COMPLETED)
                if not coming.done():
                    coming.cancel()
                    yield b": nothing new\n\n"
                elif (one := coming.result()) is not None:
                    yield one
                else:
                    return
        finally:
            stopping.cancel()
            self._listeners.discard(listener)
            if not self._listeners and self._looking is not None:
                self._looking.cancel()
                self._looking = None

    async def _look(self) -> tuple[list[Run], int]:
        """The latest runs that have ended, in the order of their ends, and the index's position."""

        def look(app: App) -> tuple[list[Run], int]:
            ended = [run for run in app.state.runs(_KNOWN) if run.finished is not None]
            return sorted(ended, key=lambda run: (run.finished, run.id)), app.index.position()

        return await asyncio.wrap_future(self.lanes.submit("read", look))

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(_EVERY_S)
            with suppress(ReMeError):
                ended, position = await self._look()
                for run in ended:
                    if run.id not in self._told:
                        self._tell(self._end_of(run))
                self._told = {run.id for run in ended}
                if position != self._position:
                    self._tell(event("index", encoded({"position": position})))
                    self._position = position

    def _tell(self, one: bytes) -> None:
        for listener in tuple(self._listeners):
            try:
                listener.put_nowait(one)
            except asyncio.QueueFull:  # it comes back, and names the last one that it has had
                self._listeners.discard(listener)
                listener.get_nowait()
                listener.put_nowait(None)

    def _end_of(self, run: Run) -> bytes:
        return event("run", encoded(self.places.hidden(as_json(run))), run.id)


def _is_later(run: Run, last: str, ended: Sequence[Run]) -> bool:
    """Whether a run ended after one that a listener knows of."""
    known = next((one for one in ended if one.id == last), None)
    return known is not None and (run.finished, run.id) > (known.finished, known.id)
