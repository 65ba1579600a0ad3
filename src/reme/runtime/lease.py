"""The projector lease: at most one process keeps the index of a vault in step with its files.

Owns who holds it, since when, and how a dead or stalled holder is replaced. Knows nothing of what the holder does.

The record ``projector.json`` names the holder and its epoch. The holder of epoch n keeps a system lock on
``projector.<n>.lock`` and writes what it is doing into that file as its heartbeat. Where the lock can be had, the
holder is dead, and is replaced at once; where its heartbeat has not moved for a while, it is stalled, and is replaced
all the same. The record changes only inside a write transaction of the index, and every transaction of a holder begins
by comparing it: so there is no moment at which a replaced holder could still write.
"""

import json
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from reme.errors import Conflict, Unavailable
from reme.index import Index

__all__ = ["EXPIRY_S", "Holder", "Lease", "LeaseLost", "holder"]

EXPIRY_S: Final = 15.0
_RECORD: Final = "projector.json"


class LeaseLost(Conflict):
    """Another process has taken the lease over; nothing of the present transaction is kept."""


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that holds the lease.

    Attributes:
        epoch: Grows with every change of holder.
        id: Unique to this holding.
        pid: Its process.
        host: The machine that it runs on.
        report: What it last said of itself.
        beat: When, in seconds since 1970.
    """

    epoch: int
    id: str
    pid: int
    host: str
    report: Mapping[str, Any]
    beat: float = 0.0


def holder(state_dir: Path) -> Holder | None:
    """Who holds the lease, or None if nobody does who is alive.

    Args:
        state_dir: The folder of the vault's machinery.
    """
    record = _read(state_dir)
    if record is None or _is_free(state_dir, record.epoch):
        return None
    return record


class Lease:
    """One process's claim to the lease.

    Args:
        state_dir: The folder of the vault's machinery.
        index: The index whose writing the lease is about.
        new_id: Returns an id that no other claim has.
        expiry: Seconds without a heartbeat after which a holder counts as stalled. Measured by who waits, so that no
            two clocks are compared.
        monotonic: Seconds that never go back.
    """

    def __init__(
        self,
        state_dir: Path,
        index: Index,
        *,
        new_id: Callable[[], str],
        expiry: float = EXPIRY_S,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._state_dir = state_dir
        self._index = index
        self._new_id = new_id
        self._expiry = expiry
        self._monotonic = monotonic
        self._using = threading.RLock()
        self._mine: Holder | None = None
        self._descriptor: int | None = None
        self._observed: tuple[int, int] | None = None
        self._since = 0.0

    @property
    def epoch(self) -> int:
        """The epoch in which the lease is held; 0 if it is not."""
        return self._mine.epoch if self._mine else 0

    def acquire(self) -> bool:
        """Take the lease if nobody has it, or who has it is dead or stalled. Does not wait for a live holder.

        Raises:
            Unavailable: If the folder cannot be written.
        """
        if self._mine is not None:
            return True
        record = _read(self._state_dir)
        if record is not None and not _is_free(self._state_dir, record.epoch) and not self._is_silent(record.epoch):
            return False
        try:
            return self._take(record)
        except OSError as error:
            raise Unavailable(
                f"{self._state_dir} cannot be written: {error.strerror or error}", hint="Make it writable."
            ) from error

    def check(self) -> None:
        """Make sure that the lease is still held; to be called inside each write transaction.

        Raises:
            LeaseLost: If it is not.
        """
        with self._using:
            record = _read(self._state_dir)
            if self._mine is not None and record is not None and record.id == self._mine.id:
                return
            self._drop()
            raise LeaseLost("another process keeps the index now", hint="Nothing needs to be done.")

    def beat(self, report: Mapping[str, Any]) -> bool:
        """Show that the holder lives, and what it is doing; returns whether that could be written.

        Raises:
            LeaseLost: If the lease is not held any more.
        """
        data = json.dumps(report, ensure_ascii=False).encode()
        with self._using:
            self.check()
            if self._descriptor is None:
                return False
            try:
                os.ftruncate(self._descriptor, os.pwrite(self._descriptor, data, 0))
            except OSError:  # a full disk must not end the holder
                return False
            return True

    def release(self) -> None:
        """Give the lease up. Idempotent."""
        mine = self._mine
        self._drop()
        if mine is not None:
            _lock_file(self._state_dir, mine.epoch).unlink(missing_ok=True)

    def _is_silent(self, epoch: int) -> bool:
        beat = (epoch, _heartbeat(self._state_dir, epoch))
        if beat != self._observed:
            self._observed, self._since = beat, self._monotonic()
        return self._monotonic() - self._since >= self._expiry

    def _take(self, before: Holder | None) -> bool:
        self._state_dir.mkdir(parents=True, exist_ok=True)
        old = before.epoch if before else 0
        try:
            with self._index.writing(settle=False):
                if not self._unchanged(before):
                    return False
                mine = Holder(old + 1, self._new_id(), os.getpid(), socket.gethostname(), {})
                descriptor = _lock(_lock_file(self._state_dir, mine.epoch), os.O_CREAT)
                if descriptor is None:
                    return False
                self._descriptor = descriptor
                _write(self._state_dir, mine)
                self._mine = mine
        except Unavailable:  # another process is writing the index: it lives
            self._drop()
            return False
        except BaseException:
            self._drop()
            raise
        self._observed = None
        if before is not None:
            _lock_file(self._state_dir, before.epoch).unlink(missing_ok=True)
        return True

    def _unchanged(self, before: Holder | None) -> bool:
        """Whether all is as it was when the lease was found to be free, now that nobody can change it."""
        record = _read(self._state_dir)
        if record is None or before is None:
            return record is before
        if record.id != before.id:
            return False
        return _is_free(self._state_dir, record.epoch) or self._is_silent(record.epoch)

    def _drop(self) -> None:
        with self._using:
            self._mine = None
            if self._descriptor is not None:
                os.close(self._descriptor)
                self._descriptor = None


def _lock_file(state_dir: Path, epoch: int) -> Path:
    return state_dir / f"projector.{epoch}.lock"


def _heartbeat(state_dir: Path, epoch: int) -> int:
    try:
        return _lock_file(state_dir, epoch).stat().st_mtime_ns
    except OSError:
        return 0


def _read(state_dir: Path) -> Holder | None:
    try:
        record = cast("dict[str, Any]", json.loads((state_dir / _RECORD).read_bytes()))
        epoch = int(record["epoch"])
        said, beat = _report(state_dir, epoch), _heartbeat(state_dir, epoch) / 1e9
        return Holder(epoch, record["id"], int(record["pid"]), record["host"], said, beat)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _report(state_dir: Path, epoch: int) -> dict[str, Any]:
    try:
        return json.loads(_lock_file(state_dir, epoch).read_bytes() or b"{}")
    except (OSError, ValueError):
        return {}


def _write(state_dir: Path, record: Holder) -> None:
    made = state_dir / f"{_RECORD}.{record.pid}.tmp"
    made.write_text(
        json.dumps({"epoch": record.epoch, "id": record.id, "pid": record.pid, "host": record.host}), encoding="utf-8"
    )
    made.replace(state_dir / _RECORD)


def _is_free(state_dir: Path, epoch: int) -> bool:
    """Whether the holder of this epoch has given up or died. False where the system cannot tell."""
    try:
        descriptor = _lock(_lock_file(state_dir, epoch))
    except FileNotFoundError:
        return True
    except OSError:
        return False
    if descriptor is None:
        return False
    os.close(descriptor)
    return True


if sys.platform == "win32":

    def _lock(file: Path, create: int = 0) -> int | None:
        """The file opened and locked; None if another process has locked it."""
        import msvcrt

        descriptor = os.open(file, os.O_RDWR | create)
        try:  # a byte far behind the report, which others have to read
            os.lseek(descriptor, 1 << 30, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            os.close(descriptor)
            return None
        return descriptor

else:

    def _lock(file: Path, create: int = 0) -> int | None:
        """The file opened and locked; None if another process has locked it."""
        import fcntl

        descriptor = os.open(file, os.O_RDWR | os.O_CLOEXEC | create, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return None
        return descriptor
