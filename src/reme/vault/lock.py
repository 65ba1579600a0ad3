"""The vault's lock: one writer at a time, over threads and processes.

Owns waiting and re-entrance. Knows nothing of what is done under it.
"""

import os
import sys
import threading
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType

from reme.errors import Unavailable

__all__ = ["FileLock"]

_PAUSE_S = 0.001
_TURN_PAUSE_S = 0.01


class FileLock:
    """A re-entrant lock on a file, kept by the operating system and so released if the process dies.

    Who waits holds a second lock, the turn, which everyone takes before the first one: so a writer that comes back at
    once cannot go before those that wait, however many there are.

    The descriptors are opened once and stay open: an advisory lock belongs to its descriptor. A process that holds the
    lock must not fork without exec.

    Args:
        path: The lock file; created if absent, with its folder, never removed, and so is ``<path>.turn``.
        timeout: Seconds to wait before giving up.
    """

    def __init__(self, path: Path, timeout: float) -> None:
        self._path = path
        self._timeout = timeout
        self._threads = threading.RLock()
        self._descriptors: tuple[int, int] | None = None
        self._depth = 0

    @property
    def depth(self) -> int:
        """How often the present holder has entered; 1 for the outermost."""
        return self._depth

    def __enter__(self) -> "FileLock":
        self._enter(self._timeout)
        return self

    @contextmanager
    def at_once(self) -> Generator[bool]:
        """Hold the lock if nobody else does, without waiting; gives whether it is held."""
        with ExitStack() as stack:
            try:
                self._enter(0.0)
            except Unavailable:
                held = False
            else:
                held = True
                stack.push(self.__exit__)
            yield held

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._depth -= 1
        if self._depth == 0 and self._descriptors is not None:
            _unlock(self._descriptors[0])
        self._threads.release()

    def close(self) -> None:
        """Give the descriptors back. The lock must not be held."""
        for descriptor in self._descriptors or ():
            os.close(descriptor)
        self._descriptors = None

    def _enter(self, timeout: float) -> None:
        deadline = time.monotonic() + timeout
        if not self._threads.acquire(timeout=timeout):
            raise self._busy()
        try:
            if self._depth == 0:
                self._wait(deadline)
        except BaseException:
            self._threads.release()
            raise
        self._depth += 1

    def _wait(self, deadline: float) -> None:
        if self._descriptors is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._descriptors = (_open(self._path), _open(self._path.with_name(f"{self._path.name}.turn")))
        lock, turn = self._descriptors
        self._poll(turn, _TURN_PAUSE_S, deadline)
        try:
            self._poll(lock, _PAUSE_S, deadline)
        finally:
            _unlock(turn)

    def _poll(self, descriptor: int, pause: float, deadline: float) -> None:
        while not _try_lock(descriptor):
            if time.monotonic() >= deadline:
                raise self._busy()
            time.sleep(pause)

    def _busy(self) -> Unavailable:
        return Unavailable(
            f"another process has held the vault's lock for {self._timeout:g} s",
            hint="Wait for it to finish, or end it, and try again.",
        )


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o666)


if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        os.lseek(descriptor, 0, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
