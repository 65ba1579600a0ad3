"""Connections to the store: one that writes, as many as needed that only read, and recovery when the file is broken.

Owns locks, transactions and the file's life. Knows nothing of what the tables mean.
"""

import contextlib
import errno
import os
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Final, cast

import apsw

from reme.index.rows import IndexDamaged, IndexUnavailable

__all__ = ["Connections", "Row", "each", "rows", "run", "run_many"]

Row = tuple[Any, ...]

_STEP_S: Final = 0.02
_CACHE_KIB: Final = 16_384
_DAMAGE = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError)


def rows(db: apsw.Connection, sql: str, values: Sequence[Any] | dict[str, Any] = ()) -> list[Row]:
    """All rows of a query."""
    return cast("Any", db).execute(sql, values).fetchall()


def each(db: apsw.Connection, sql: str, values: Sequence[Any] = ()) -> Iterator[Row]:
    """The rows of a query one after the other, none of which is held."""
    return cast("Any", db).execute(sql, values)


def run(db: apsw.Connection, sql: str, values: Sequence[Any] = ()) -> None:
    """Carry out a statement."""
    cast("Any", db).execute(sql, values)


def run_many(db: apsw.Connection, sql: str, values: Sequence[Sequence[Any]]) -> None:
    """Carry out a statement once for each row of values."""
    cast("Any", db).executemany(sql, values)


class Connections:
    """The connections of one process to one store.

    Args:
        path: The file; made if absent.
        prepare: Called inside a write transaction on opening, with the reason why the file was thrown away before:
            makes the tables if they are not there or not the right ones, and returns why, or empty.
        is_current: Called with a reader: whether ``prepare`` has nothing to do.
        timeout: Seconds to wait for another writer.
    """

    def __init__(
        self,
        path: Path,
        *,
        prepare: Callable[[apsw.Connection, str], str],
        is_current: Callable[[apsw.Connection], bool],
        timeout: float,
    ) -> None:
        self.path = path
        self.rebuilt = ""
        self._prepare = prepare
        self._is_current = is_current
        self._timeout = timeout
        self._writing = threading.RLock()  # held while something is written; taken before the other one
        self._lock = threading.RLock()
        self._writer: apsw.Connection | None = None
        self._idle: list[apsw.Connection] = []
        self._local = threading.local()
        self._inode = 0
        self._closed = False
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _unusable(path, error) from error
        self._open()

    def close(self) -> None:
        """Close every connection, when what is being written is. Idempotent."""
        with self._writing, self._lock:
            self._closed = True
            self._drop()

    def reading(self) -> AbstractContextManager[apsw.Connection]:
        """A connection that reads one state of the store for as long as the block lasts; nests within a thread."""
        current = cast("apsw.Connection | None", getattr(self._local, "reader", None))
        return self._begun() if current is None else nullcontext(current)

    @contextmanager
    def _begun(self) -> Generator[apsw.Connection]:
        with self._guarded():
            db, inode = self._borrow()
            self._local.reader = db
            try:
                run(db, "BEGIN")
                yield db
            finally:
                self._local.reader = None
                with contextlib.suppress(apsw.Error):
                    if db.in_transaction:
                        run(db, "COMMIT")
                self._give_back(db, inode)

    @contextmanager
    def writing(self, guard: Callable[[], None] | None = None) -> Generator[apsw.Connection]:
        """The writing connection, inside a transaction that is committed unless the block fails.

        Args:
            guard: Called when nobody else can write any more; raises where this writer may not.

        Raises:
            IndexUnavailable: If another process writes for longer than the time-out.
        """
        with self._writing, self._guarded():
            db, inode = self._borrow_writer()
            try:
                run(db, "BEGIN IMMEDIATE")
                try:
                    if guard is not None:
                        guard()
                    yield db
                    run(db, "COMMIT")
                except BaseException:
                    with contextlib.suppress(apsw.Error):
                        run(db, "ROLLBACK")
                    raise
            finally:
                self._give_back_writer(db, inode)

    def start_over(self, reason: str) -> None:
        """Throw the file away and make an empty one."""
        with self._writing, self._lock:
            self._replace(reason)

    # Opening

    def _open(self) -> None:
        with self._lock:
            try:
                if not self._ready():
                    self._make()
            except _DAMAGE:
                if self.rebuilt.startswith("damaged"):
                    raise
                self._replace("damaged: the file was not a readable database")
                return
            except apsw.Error as error:
                raise _unusable(self.path, error) from error
            self._inode = self._inode_now()

    def _replace(self, reason: str) -> None:
        self._drop()
        for ending in ("", "-wal", "-shm", "-journal"):
            Path(f"{self.path}{ending}").unlink(missing_ok=True)
        self.rebuilt = reason
        self._open()

    def _ready(self) -> bool:
        if not self.path.exists():
            return False
        db = self._connect_reader()
        try:
            return self._is_current(db)
        except apsw.SQLError:
            return False
        finally:
            db.close()

    def _make(self) -> None:
        self._writer = db = self._connect_writer()
        run(db, "BEGIN IMMEDIATE")
        try:
            self.rebuilt = self._prepare(db, self.rebuilt)
        except BaseException:
            run(db, "ROLLBACK")
            raise
        run(db, "COMMIT")

    def _connect_writer(self) -> apsw.Connection:
        deadline = time.monotonic() + self._timeout
        db = apsw.Connection(str(self.path))
        db.set_busy_timeout(int(self._timeout * 1000))
        while True:
            try:  # the change to WAL does not honour the time-out
                run(db, "PRAGMA journal_mode = WAL")
                break
            except apsw.BusyError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(_STEP_S)
        run(db, "PRAGMA synchronous = NORMAL")
        _use_memory(db)
        return db

    def _connect_reader(self) -> apsw.Connection:
        db = apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READONLY)
        db.set_busy_timeout(int(self._timeout * 1000))
        _use_memory(db)
        return db

    def _borrow(self) -> tuple[apsw.Connection, int]:
        with self._lock:
            self._reopen_if_replaced()
            return (self._idle.pop() if self._idle else self._connect_reader()), self._inode

    def _give_back(self, db: apsw.Connection, inode: int) -> None:
        with self._lock:
            if self._closed or inode != self._inode:
                db.close()
            else:
                self._idle.append(db)

    def _borrow_writer(self) -> tuple[apsw.Connection, int]:
        with self._lock:
            self._reopen_if_replaced()
            db, self._writer = self._writer or self._connect_writer(), None
            return db, self._inode

    def _give_back_writer(self, db: apsw.Connection, inode: int) -> None:
        with self._lock:
            if self._closed or inode != self._inode or self._writer is not None:
                db.close()
            else:
                self._writer = db

    def _drop(self) -> None:
        for db in (*self._idle, *([self._writer] if self._writer else [])):
            with contextlib.suppress(apsw.Error):
                db.close()
        self._idle = []
        self._writer = None

    def _inode_now(self) -> int:
        try:
            return os.stat(self.path).st_ino  # noqa: PTH116
        except OSError:
            return -1

    def _reopen_if_replaced(self) -> None:
        """Another process may have thrown the file away, or a person may."""
        if self._closed:
            raise IndexUnavailable("the index is closed")
        if self._inode_now() != self._inode:
            self._drop()
            self._open()

    @contextmanager
    def _guarded(self) -> Generator[None]:
        try:
            yield
        except _DAMAGE as error:
            self.start_over(f"damaged: {error}")
            raise IndexDamaged("the index was damaged; it is being built anew from the files") from error
        except (apsw.BusyError, apsw.LockedError) as error:
            message = "the index is being written by another process"
            raise IndexUnavailable(message, hint="Try again in a moment.") from error
        except (apsw.FullError, apsw.IOError, apsw.CantOpenError, apsw.ReadOnlyError) as error:
            raise _unusable(self.path, error) from error


def _use_memory(db: apsw.Connection) -> None:
    """Keep pages in the connection's own cache. All rows are read: what stands behind one that is not is not done."""
    rows(db, f"PRAGMA mmap_size = 0; PRAGMA cache_size = -{_CACHE_KIB}")


def _unusable(path: Path, error: Exception) -> IndexUnavailable:
    full = isinstance(error, apsw.FullError) or (isinstance(error, OSError) and error.errno == errno.ENOSPC)
    if full:
        return IndexUnavailable(
            f"the index {path} cannot be written: the disk is full",
            hint="Free some space; what is missing is taken in then.",
        )
    return IndexUnavailable(
        f"the index {path} cannot be used: {error}",
        hint="It can be deleted at any time; it is made anew from the files.",
    )
