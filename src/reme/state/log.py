"""Runs, calls of models and hits in SQLite: opened when first needed, created by the first write.

Every write is one short ``BEGIN IMMEDIATE`` transaction, so any number of processes may share the file.
"""

import contextlib
import json
import threading
import time
from collections.abc import Callable, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any, Final, Self, TypeVar

import apsw

from reme.errors import Unavailable
from reme.state.calls import Call
from reme.state.runs import Run

__all__ = ["State"]

_T = TypeVar("_T")
_Connection = Any  # apsw's own type, whose stubs need a later Python than the oldest we support
_BUSY_MS: Final = 10_000
_HITS_BUSY_MS: Final = 250
_PAUSE_S: Final = 0.02
_VERSION: Final = 1
_SCHEMA: Final = """
CREATE TABLE run(
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    operation TEXT NOT NULL,
    actor TEXT NOT NULL,
    role TEXT NOT NULL,
    started TEXT NOT NULL,
    finished TEXT,
    outcome TEXT NOT NULL DEFAULT '',
    summary TEXT NOT NULL DEFAULT ''
) STRICT;
"""
_CALLS: Final = """
CREATE TABLE IF NOT EXISTS call(
    seq INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    day TEXT NOT NULL,
    run TEXT NOT NULL,
    operation TEXT NOT NULL,
    decision TEXT NOT NULL,
    model TEXT NOT NULL,
    tokens_in INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL,
    price REAL
) STRICT;
CREATE INDEX IF NOT EXISTS call_day ON call(day)
"""
_CALL: Final = "at, day, run, operation, decision, model, tokens_in, tokens_out, price"
_HITS: Final = """
CREATE TABLE IF NOT EXISTS hit(path TEXT NOT NULL, day TEXT NOT NULL, PRIMARY KEY(path, day)) STRICT, WITHOUT ROWID
"""


class State:
    """The state of one vault on one machine, in one file; may be used from several threads and processes at once.

    A file that is no database of ours is set aside under a new name and replaced, since all that it holds may be lost.

    Args:
        path: Where ``state.db`` is or will be. Nothing is created before something is written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: _Connection | None = None
        self._one_at_a_time = threading.RLock()

    def begin(self, run: str, operation: str, actor: str, role: str, at: datetime) -> None:
        """Record that a run begins.

        Raises:
            Unavailable: If the file cannot be written.
        """
        self._write(
            "INSERT INTO run(id, operation, actor, role, started) VALUES (?, ?, ?, ?, ?)",
            (run, operation, actor, role, at.isoformat()),
        )

    def finish(self, run: str, outcome: str, summary: str, at: datetime) -> None:
        """Record how a run ended; nothing happens for a run that never began.

        Raises:
            Unavailable: If the file cannot be written.
        """
        self._write(
            "UPDATE run SET outcome = ?, summary = ?, finished = ? WHERE id = ?",
            (outcome, summary, at.isoformat(), run),
        )

    def runs(self, limit: int = 20) -> list[Run]:
        """The latest runs, newest first; none where no log was ever written.

        Raises:
            Unavailable: If the file is there and cannot be read.
        """
        if self._connection is None and not self.path.exists():
            return []

        def read(connection: _Connection) -> list[Run]:
            rows = connection.execute(
                "SELECT id, operation, actor, role, started, finished, outcome, summary FROM run"
                " ORDER BY seq DESC LIMIT ?",
                (limit,),
            )
            return [_run(row) for row in rows]

        return self._with_connection(read)

    def operations(self, runs: Sequence[str]) -> dict[str, str]:
        """Which operation each of these runs was, as far as the log still knows.

        Raises:
            Unavailable: If the file is there and cannot be read.
        """
        if self._connection is None and not self.path.exists():
            return {}

        def read(connection: _Connection) -> dict[str, str]:
            return dict(
                connection.execute(
                    "SELECT id, operation FROM run WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(runs),)
                )
            )

        return self._with_connection(read)

    def record_hits(self, hits: Sequence[tuple[str, str]]) -> None:
        """Record that files were met on days, each pair once however often it is recorded, by any process or thread.

        Args:
            hits: Path and ISO day.

        Raises:
            Unavailable: If the file cannot be written within a quarter of a second.
        """

        def write(connection: _Connection) -> None:
            connection.executemany("INSERT OR IGNORE INTO hit VALUES (?, ?)", hits)

        if hits:
            self._briefly(write, _HITS, _HITS_BUSY_MS)

    def hand_over_hits(self, take: Callable[[list[tuple[str, str]]], None]) -> int:
        """Give away the recorded hits, and forget them if they are taken.

        Args:
            take: Keeps them elsewhere, while nobody else records any; what it raises is passed on.

        Returns:
            How many there were.

        Raises:
            Unavailable: If the file cannot be written within a quarter of a second.
        """
        taken = 0

        def write(connection: _Connection) -> None:
            nonlocal taken
            hits: list[tuple[str, str]] = connection.execute("SELECT path, day FROM hit ORDER BY path, day").fetchall()
            if hits:
                take(hits)
                connection.execute("DELETE FROM hit")
            taken = len(hits)

        if self.path.exists():
            self._briefly(write, _HITS, _HITS_BUSY_MS)
        return taken

    def begin_call(self, call: Call, most: int) -> int | None:
        """Set tokens aside for a call that is about to be made, unless its day would then have more than it may.

        Args:
            call: With the tokens that it may need at most.
            most: How many tokens the day may have, by all processes and threads together.

        Returns:
            What to finish the call by, or None if there are not so many left.

        Raises:
            Unavailable: If the file cannot be written.
        """
        kept: int | None = None

        def write(connection: _Connection) -> None:
            nonlocal kept
            day = call.day.isoformat()
            if _tokens(connection, day) + call.tokens_in + call.tokens_out <= most:
                at, names = call.at.isoformat(), (call.run, call.operation, call.decision, call.model)
                values = (at, day, *names, call.tokens_in, call.tokens_out, call.price)
                connection.execute(f"INSERT INTO call({_CALL}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", values)  # noqa: S608
                kept = int(connection.last_insert_rowid())

        self._briefly(write, _CALLS, _BUSY_MS)
        return kept

    def finish_call(self, number: int, tokens_in: int, tokens_out: int, price: float | None) -> None:
        """Record what a call came to, instead of what was set aside for it; nothing is kept of one that cost nothing.

        Raises:
            Unavailable: If the file cannot be written.
        """

        def write(connection: _Connection) -> None:
            if tokens_in or tokens_out:
                values = (tokens_in, tokens_out, price, number)
                connection.execute("UPDATE call SET tokens_in = ?, tokens_out = ?, price = ? WHERE seq = ?", values)
            else:
                connection.execute("DELETE FROM call WHERE seq = ?", (number,))

        self._briefly(write, _CALLS, _BUSY_MS)

    def calls(self, since: date, run: str | None = None) -> list[Call]:
        """Calls of models from a day on, oldest first.

        Args:
            run: Only those of this run.

        Raises:
            Unavailable: If the file is there and cannot be read.
        """
        if self._connection is None and not self.path.exists():
            return []

        def read(connection: _Connection) -> list[Call]:
            if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'call'").fetchall():
                return []
            rows = connection.execute(
                f"SELECT {_CALL} FROM call WHERE day >= ?1 AND (?2 IS NULL OR run = ?2) ORDER BY seq",  # noqa: S608
                (since.isoformat(), run),
            )
            return [_call(row) for row in rows]

        return self._with_connection(read)

    def _briefly(self, write: Callable[[_Connection], None], schema: str, patience: int) -> None:
        """One transaction on a connection of its own, which may be another thread's."""
        try:
            connection = _connect(self.path)
            try:
                connection.set_busy_timeout(patience)
                connection.execute("BEGIN IMMEDIATE")
                connection.execute(schema)
                write(connection)
                connection.execute("COMMIT")
            finally:
                connection.close()  # undoes what was not committed
        except (apsw.Error, OSError) as error:
            raise _unusable(self.path, error) from error

    def close(self) -> None:
        """Close the file; a later call opens it again."""
        with self._one_at_a_time:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _write(self, statement: str, values: tuple[str, ...]) -> None:
        def write(connection: _Connection) -> None:
            connection.execute("BEGIN IMMEDIATE")
            try:
                connection.execute(statement, values)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

        self._with_connection(write)

    def _with_connection(self, action: Callable[[_Connection], _T]) -> _T:
        """Run an action on the open file; on one that turns out to be damaged, once more on a fresh one."""
        try:
            with self._one_at_a_time:
                try:
                    return action(self._open())
                except (apsw.NotADBError, apsw.CorruptError):
                    self.close()
                    _set_aside(self.path)
                    return action(self._open())
        except (apsw.Error, OSError) as error:
            raise _unusable(self.path, error) from error

    def _open(self) -> _Connection:
        if self._connection is None:
            self._connection = _connect(self.path)
        return self._connection


def _unusable(path: Path, error: Exception) -> Unavailable:
    return Unavailable(
        f"{path}: the log of runs cannot be used ({error})",
        hint="Check that the folder is writable, on a disk with room.",
        details={"path": path.name},
    )


def _connect(path: Path) -> _Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection: _Connection = apsw.Connection(str(path))
    try:
        connection.set_busy_timeout(_BUSY_MS)
        if _version(connection) == 0:
            _change_to_wal(connection)
            connection.execute("BEGIN IMMEDIATE")
            if _version(connection) == 0:
                connection.execute(f"{_SCHEMA} PRAGMA user_version = {_VERSION};")
            connection.execute("COMMIT")
        if (version := _version(connection)) != _VERSION:
            raise apsw.CorruptError(f"it has format {version} instead of {_VERSION}")
    except BaseException:
        connection.close()
        raise
    return connection


def _change_to_wal(connection: _Connection) -> None:
    """Have readers and a writer not wait for each other; this change itself does not honour the time-out."""
    deadline = time.monotonic() + _BUSY_MS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE_S)


def _version(connection: _Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchall()[0][0] or 0)


def _set_aside(path: Path) -> None:
    """Move a damaged file to ``state.db.damaged`` (replacing an older one) and drop what belonged to it."""
    with contextlib.suppress(FileNotFoundError):
        path.replace(path.with_name(path.name + ".damaged"))
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _tokens(connection: _Connection, day: str) -> int:
    rows = connection.execute("SELECT total(tokens_in + tokens_out) FROM call WHERE day = ?", (day,)).fetchall()
    return int(rows[0][0])


def _call(row: tuple[Any, ...]) -> Call:
    at, day, *rest = row
    return Call(datetime.fromisoformat(at), date.fromisoformat(day), *rest)


def _run(row: tuple[Any, ...]) -> Run:
    run, operation, actor, role, started, finished, outcome, summary = row
    return Run(
        id=run,
        operation=operation,
        actor=actor,
        role=role,
        started=datetime.fromisoformat(started),
        finished=datetime.fromisoformat(finished) if finished else None,
        outcome=outcome,
        summary=summary,
    )
