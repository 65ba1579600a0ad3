"""Work behind the projection that may take long and may fail, such as missing vectors.

Owns its thread, and when it is tried again. Knows nothing of what the work is.
"""

import atexit
import math
import threading
import time
from collections.abc import Callable
from typing import Final

from reme.errors import Unavailable
from reme.index import Index, embed, take_texts
from reme.models import Embedder
from reme.runtime.lease import LeaseLost
from reme.vault import Vault
from reme.wording import counted

__all__ = ["Background", "Work", "each", "embedding", "reading"]

Work = Callable[[Index, Callable[[], bool]], bool]
"""Does some of the work through the index that it is given, ends soon when asking the second argument gives True, and
returns whether there is more. What it raises is told, and the work tried again, ever later."""

_FIRST_RETRY_S: Final = 0.25
_LAST_RETRY_S: Final = 60.0
_JOIN_S: Final = 0.3
_JOIN_AT_EXIT_S: Final = 30.0
_CHUNKS: Final = 4


class LeftOver(Unavailable):
    """Some of the work failed while the rest went on: what comes new need not wait until that is tried again."""


def reading(vault: Vault) -> Work:
    """The work of taking the text out of documents, one at a time, the newest first."""

    def work(index: Index, stop: Callable[[], bool]) -> bool:
        done = take_texts(index, vault, stop=stop)
        return done.pending > 0 and done.done > 0

    return work


def each(*works: Work) -> Work:
    """One work after the other; what fails does not keep those behind it from their turn."""

    def work(index: Index, stop: Callable[[], bool]) -> bool:
        more = False
        failure: Exception | None = None
        for one in works:
            try:
                more = one(index, stop) or more
            except LeaseLost:
                raise
            except Exception as error:  # told when all have had their turn
                failure = error if failure is None or isinstance(failure, LeftOver) else failure
        if failure is not None:
            raise failure
        return more

    return work


def embedding(embedder: Embedder) -> Work:
    """The work of giving vectors to chunks that have none, the newest first."""

    def work(index: Index, stop: Callable[[], bool]) -> bool:
        done = embed(index, embedder, batch=_CHUNKS, stop=stop)
        if done.problem:
            kind, left = (LeftOver, done.failed) if done.answers else (Unavailable, done.pending)
            raise kind(f"{counted(left, 'chunk')} without a vector: {done.problem}")
        return done.pending > 0 and done.done > 0

    return work


class Background:
    """A thread that works when it is woken, until there is no more to do.

    Args:
        work: What to do.
        index: Passed on to it.
        monotonic: Seconds that never go back.
    """

    def __init__(self, work: Work, index: Index, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._work = work
        self._index = index
        self._monotonic = monotonic
        self._woken = threading.Condition()
        self._at = math.inf
        self._not_before = 0.0
        self._attempts = 0
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.problem = ""

    def start(self) -> None:
        """Begin, or go on after ``close``. Idempotent."""
        before = self._thread
        if before is not None and before.is_alive() and not self._stop.is_set():
            return
        self._stop = threading.Event()
        self._thread = threading.Thread(
            target=self._run, args=(self._stop, before), name="reme-background", daemon=True
        )
        self._thread.start()
        atexit.register(self._end)

    def close(self) -> None:
        """End after the piece in hand, which is waited for only shortly. Idempotent."""
        self._stop.set()
        with self._woken:
            self._woken.notify_all()
        if self._thread is not None:
            self._thread.join(_JOIN_S)
            if not self._thread.is_alive():
                atexit.unregister(self._end)

    def wake(self) -> None:
        """There may be something to do. After a failure of everything, it waits its time all the same."""
        with self._woken:
            self._at = min(self._at, max(self._monotonic(), self._not_before))
            self._woken.notify_all()

    def _end(self) -> None:
        """At the end of the process: a model's own code must not be cut off, which would abort the process."""
        self.close()
        if self._thread is not None:
            self._thread.join(_JOIN_AT_EXIT_S)

    def _run(self, stop: threading.Event, before: threading.Thread | None) -> None:
        if before is not None:
            before.join()
        while not stop.is_set():
            with self._woken:
                pause = self._at - self._monotonic()
                if pause > 0:
                    self._woken.wait(pause if pause < threading.TIMEOUT_MAX else None)
                    continue
                self._at = math.inf
            try:
                more = self._work(self._index, stop.is_set)
            except LeaseLost:
                continue  # whoever has it now does the rest
            except Exception as error:  # reported and tried again
                self._fail(error, holds=not isinstance(error, LeftOver))
                continue
            self.problem, self._attempts, self._not_before = "", 0, 0.0
            if more:
                self.wake()

    def _fail(self, error: Exception, *, holds: bool) -> None:
        self.problem = str(error) or type(error).__name__
        again = self._monotonic() + min(_FIRST_RETRY_S * 2**self._attempts, _LAST_RETRY_S)
        self._attempts += 1
        self._not_before = again if holds else 0.0
        with self._woken:
            self._at = again if holds else min(self._at, again)
