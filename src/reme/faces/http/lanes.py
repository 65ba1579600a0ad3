"""Threads that carry out what is asked, in lanes: what takes long never holds up what is quick.

Owns the threads and how much may wait. Knows neither requests nor operations.
"""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar

from reme.errors import ReMeError
from reme.faces.http.problems import Busy, unforeseen

__all__ = ["Lane", "Lanes"]

_T = TypeVar("_T")
_Given = TypeVar("_Given")
_Job: TypeAlias = tuple[Future[Any], Callable[[_Given], Any]]


@dataclass(frozen=True, slots=True)
class Lane:
    """How much of one kind is done at once, and how much may wait.

    Attributes:
        name: For people to read.
        threads: At most; each is started when there is work for it.
        waiting: At most.
    """

    name: str
    threads: int
    waiting: int


class Lanes(Generic[_Given]):
    """The threads of all lanes.

    Args:
        lanes: Which there are.
        given: What the work is done on, by several threads at once.
    """

    def __init__(self, lanes: tuple[Lane, ...], given: _Given) -> None:
        self._lanes = {lane.name: _Threads(lane, given) for lane in lanes}

    def submit(self, lane: str, work: Callable[[_Given], _T]) -> Future[_T]:
        """Have something done in a lane, after what waits there already; one that is cancelled is not begun.

        Raises:
            Busy: If too much waits there, or the lanes are closed.
        """
        return self._lanes[lane].submit(work)

    def waiting(self) -> dict[str, int]:
        """How much waits in each lane."""
        return {name: threads.jobs.qsize() for name, threads in self._lanes.items()}

    def close(self, patience: float) -> bool:
        """End every thread as soon as it has done what it is at; what waits is given up.

        Args:
            patience: Seconds to wait for them, all together.

        Returns:
            Whether all have ended.
        """
        for threads in self._lanes.values():
            threads.end()
        ended = [threads.join(patience / len(self._lanes)) for threads in self._lanes.values()]
        return all(ended)


@dataclass(eq=False)
class _Threads(Generic[_Given]):
    lane: Lane
    given: _Given
    begun: int = 0
    """How many jobs have been submitted and are not done."""
    closed: bool = False
    threads: list[threading.Thread] = field(default_factory=list[threading.Thread])
    changing: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.jobs: queue.Queue[_Job[_Given] | None] = queue.Queue()

    def submit(self, work: Callable[[_Given], _T]) -> Future[_T]:
        future: Future[_T] = Future()
        with self.changing:
            if self.closed:
                raise Busy("the server is stopping", hint="Try again in a moment.")
            if self.begun >= self.lane.threads + self.lane.waiting:
                raise Busy(f"{self.lane.waiting} requests wait already", hint="Try again in a moment.")
            self.begun += 1
            self.jobs.put((future, work))
            if len(self.threads) < min(self.begun, self.lane.threads):
                name = f"reme-{self.lane.name}-{len(self.threads)}"
                self.threads.append(threading.Thread(target=self._work, name=name, daemon=True))
                self.threads[-1].start()
        return future

    def end(self) -> None:
        with self.changing:
            self.closed = True
            with suppress(queue.Empty):
                while job := self.jobs.get_nowait():
                    job[0].cancel()
            for _ in self.threads:
                self.jobs.put(None)

    def join(self, patience: float) -> bool:
        for thread in self.threads:
            thread.join(patience)
        return not any(thread.is_alive() for thread in self.threads)

    def _work(self) -> None:
        while (job := self.jobs.get()) is not None:
            self._carry_out(*job)
            del job  # what it holds is not kept until the next one comes

    def _carry_out(self, future: Future[Any], work: Callable[[_Given], Any]) -> None:
        found, error = None, None
        if wanted := future.set_running_or_notify_cancel():
            try:
                found = work(self.given)
            except ReMeError as failed:
                error = failed
            except BaseException as failed:
                error = unforeseen(failed)
        with self.changing:
            self.begun -= 1
        if error is not None:
            future.set_exception(error)
        elif wanted:
            future.set_result(found)
