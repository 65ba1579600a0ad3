"""The projector: keeps the index in step with the files, in one thread, as long as it holds the lease.

Owns what is projected when: a walk at the start, news as they come, paths that failed again later, a walk now and then
because news get lost. Knows nothing of what the files or the index say. No path, and no fault of the store, the
watcher or the background work ends it.
"""

import math
import threading
import time
from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from heapq import nsmallest
from typing import Final

from reme.errors import ReMeError, Unavailable
from reme.index import (
    Index,
    IndexDamaged,
    IndexUnavailable,
    ProjectorStatus,
    Refreshed,
    behind,
    refresh,
    refresh_paths,
    report,
)
from reme.paths import VaultPath
from reme.runtime.background import Background, Work
from reme.runtime.failures import FIRST_PAUSE_S, Failures
from reme.runtime.lease import EXPIRY_S, Lease, LeaseLost
from reme.runtime.watch import HEARS_WITHIN_S, Hearing, Watch
from reme.vault import Vault

__all__ = ["Projector"]

RECONCILE_S: Final = 600.0
_DEEP_EVERY: Final = 6
_DEAF_RECONCILE_S: Final = 60.0
_BEAT_S: Final = 3.0
_PROBE_S: Final = 0.05
_STANDBY_S: Final = 0.5
_LONGEST_DELAY_S: Final = 1.0
_AGAIN_S: Final = 0.5
_MANY: Final = 300
_QUIET_S: Final = 1.0
_SHARE: Final = 4.0
_WALK_SHARE: Final = 2.0
_LONGEST_REST_S: Final = 5.0
_JOIN_S: Final = 0.5
_NAMED: Final = 20


class Projector:
    """Keeps one index in step with one vault. May be started and closed any number of times.

    Args:
        vault: The vault. Only read.
        index: An index of its own: its write transactions would hold up other users of the same object.
        background: What is done besides, in a thread of its own, after each change (missing vectors).
        reconcile: Seconds between two walks over everything.
        expiry: Seconds after which a holder of the lease that shows no life is replaced.
        monotonic: Seconds that never go back.
    """

    def __init__(
        self,
        vault: Vault,
        index: Index,
        *,
        background: Work | None = None,
        reconcile: float = RECONCILE_S,
        expiry: float = EXPIRY_S,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._vault = vault
        self._index = index.guarded(self._may_write)
        self._lease = Lease(vault.state_dir, index, new_id=vault.new_id, expiry=expiry, monotonic=monotonic)
        self._watch = Watch(vault.root, vault.state_dir, self._hear)
        self._hearing = Hearing(self._watch)
        self._background = Background(background, self._index, monotonic=monotonic) if background else None
        self._reconcile = reconcile
        self._beat = min(_BEAT_S, expiry / 4)
        self._monotonic = monotonic
        self._changed = threading.Condition()
        self._lifecycle = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._due: dict[VaultPath, float] = {}
        self._rests: dict[VaultPath, float] = {}
        self._asked: set[VaultPath] = set()
        self._left_out: set[VaultPath] = set()
        self._failures = Failures()
        self._generation = ""
        self._takes_turns = False
        self._walking = False
        self._in_hand: tuple[VaultPath, ...] = ()
        self._walk_at = math.inf
        self._walk_again_at = math.inf
        self._walk_rest = 0.0
        self._tidy_at = math.inf
        self._walks = 0
        self._reconcile_at = 0.0
        self._reconciles = 0
        self._beat_at = 0.0
        self._last: dict[str, datetime] = {}

    # Life

    def start(self) -> None:
        """Begin, or go on after ``close``. Idempotent."""
        with self._lifecycle:
            before = self._thread
            if before is not None and before.is_alive() and not self._stop.is_set():
                return
            self._stop = threading.Event()
            self._thread = threading.Thread(
                target=self._run, args=(self._stop, before), name="reme-projector", daemon=True
            )
            self._thread.start()
            if self._background:
                self._background.start()

    def close(self) -> None:
        """Stop within a second, after the transaction in hand, and give the lease up. Idempotent."""
        with self._lifecycle:
            self._stop.set()
            with self._changed:
                self._changed.notify_all()
            if self._background:
                self._background.close()
            if self._thread is not None:
                self._thread.join(_JOIN_S)

    def status(self) -> ProjectorStatus:
        """What it is doing now."""
        with self._changed:
            thread = self._thread
            pending = {*self._due, *self._in_hand}
            watching = bool(self._lease.epoch) and self._hearing.is_good
            trouble = self._failures.troubles()
            if self._lease.epoch and self._watch.problem:
                trouble.append(self._watch.problem)
            if self._background and self._background.problem:
                trouble.append(f"background: {self._background.problem}")
            return ProjectorStatus(
                running=thread is not None and thread.is_alive() and not self._stop.is_set(),
                epoch=self._lease.epoch,
                watching=watching,
                watcher_restarts=self._watch.restarts,
                pending=len(pending),
                pending_paths=tuple(nsmallest(_NAMED, pending)),
                walk_pending=self._is_walk_pending,
                last_event=self._last.get("event"),
                last_scan=self._last.get("scan"),
                last_change=self._last.get("change"),
                problems=self._failures.problems(
                    {path: at - self._monotonic() for path, at in self._due.items()}, self._vault.clock.now()
                ),
                trouble=tuple(trouble),
                generation=self._generation,
            )

    @property
    def _is_walk_pending(self) -> bool:
        soon = max(self._reconcile_at, self._monotonic())
        return self._walking or not self._walks or self._walk_at < soon

    # The thread

    def _run(self, stop: threading.Event, before: threading.Thread | None) -> None:
        if before is not None:
            before.join()
        try:
            while not stop.is_set():
                try:
                    if self._holds_lease():
                        self._step(stop)
                    else:
                        self._sleep(stop, self._monotonic() + _STANDBY_S)
                except LeaseLost:
                    self._watch.close()
                except Exception as error:  # reported and tried again: nothing may end the projector
                    self._want_walk(self._monotonic() + self._trouble("projection", error))
                    stop.wait(FIRST_PAUSE_S)
        finally:
            self._watch.close()
            self._lease.release()

    def _holds_lease(self) -> bool:
        if self._lease.epoch:
            return True
        try:
            taken = self._lease.acquire()
        except Unavailable as error:
            self._trouble("lease", error)
            return False
        self._works("lease")
        if taken:
            now = self._monotonic()
            with self._changed:
                self._due.clear()
                self._walks = 0
                self._walk_at = now + HEARS_WITHIN_S
            self._beat_at = 0.0
            if self._background:
                self._background.wake()
            self._hearing.begin(now)
        return taken

    def _step(self, stop: threading.Event) -> None:
        now = self._monotonic()
        if now >= self._beat_at:
            if self._hearing.test(now):  # what happened before is found by a walk
                self._want_walk(now)
            self._show_life(now)
        with self._changed:
            due = [path for path, at in self._due.items() if at <= now]
        if self._walk_at <= now and (not due or now - self._walk_at > _LONGEST_DELAY_S):
            self._walking = True
            try:
                self._tell()  # questions wait for what it finds
                self._walk(now)
            finally:
                self._walking = False
            self._tell()
        elif due:
            self._project(due)
        elif self._tidy_at <= now:
            self._tidy_at = math.inf
            self._index.tidy()
        else:
            self._sleep(stop, math.inf)

    def _sleep(self, stop: threading.Event, until: float) -> None:
        with self._changed:
            if self._lease.epoch:
                until = min(until, self._beat_at, self._walk_at, self._tidy_at, *self._due.values())
            pause = until - self._monotonic()
            if pause > 0 and not stop.is_set():
                self._changed.wait(pause)

    def _show_life(self, now: float) -> None:
        if self._walks and self._index.generation() != self._generation:  # another process has emptied it
            self._want_walk(now)
        wrote = self._tell()
        self._hearing.expect(now if wrote else None)
        self._beat_at = now + (_PROBE_S if self._hearing.is_beginning(now) else self._beat)

    def _tell(self) -> bool:
        return self._lease.beat(report(self.status()))

    # Work

    def _walk(self, now: float) -> None:
        """Look at everything, reading what has another size, time or inode, and now and then every file."""
        with self._changed:
            again = self._walk_again_at
            self._walk_again_at = math.inf
            deep = False
            if now >= self._reconcile_at:
                self._left_out.clear()
                self._reconcile_at = now + (
                    self._reconcile if self._hearing.is_good else min(self._reconcile, _DEAF_RECONCILE_S)
                )
                self._reconciles += 1
                deep = self._reconciles % _DEEP_EVERY == 0
            self._walk_at = min(self._reconcile_at, again)
        began = self._monotonic()
        self._generation = self._index.generation()
        try:
            done = refresh(self._index, self._vault, deep=deep, between=self._take_turns)
        except (LeaseLost, Unavailable):
            raise
        except Exception:  # one of the files, but which?
            changed = sorted(behind(self._index, self._vault.scan().files))
            for start in range(0, len(changed), _MANY):
                self._project_parts(changed[start : start + _MANY])
            self._index.settle()
        else:
            self._take(done)
            if done.pending:
                raise Unavailable(f"{done.pending} changes wait: {done.held_up}")
        self._leave_out()
        self._walks += 1
        self._walk_rest = self._monotonic() + min(_WALK_SHARE * (self._monotonic() - began), _LONGEST_REST_S)
        self._last["scan"] = self._vault.clock.now()
        self._works("projection")

    def _project(self, paths: Sequence[VaultPath]) -> None:
        held, self._in_hand = self._in_hand, (*self._in_hand, *paths)
        try:
            self._read(paths)
        finally:
            self._in_hand = held

    def _read(self, paths: Sequence[VaultPath]) -> None:
        """Read the paths that are known to belong to the vault; a walk must tell about the others."""
        began = self._monotonic()
        with self._changed:
            for path in paths:
                self._due.pop(path, None)
        known = self._index.rows_of(paths)
        try:
            self._project_parts(
                [path for path in paths if path in known or path in self._failures or self._belongs(path)]
            )
            known = self._index.rows_of(paths)
        except (LeaseLost, Unavailable):
            self._want_walk(self._monotonic() + FIRST_PAUSE_S)
            raise
        end = self._monotonic()
        new = [path for path in paths if path not in known and path not in self._left_out]
        if unclear := [path for path in new if self._is_for_a_walk(path)]:
            self._asked.update(unclear)
            self._want_walk(max(end, self._walk_rest))
        self._tidy_at = end + _QUIET_S
        rest = end + min(_SHARE * (self._monotonic() - began), _LONGEST_REST_S)
        with self._changed:
            self._rests = {path: at for path, at in self._rests.items() if at > end}
            self._rests |= dict.fromkeys(paths, rest)
        self._works("projection")

    def _take_turns(self) -> None:
        """Amid a large file: project what has become due meanwhile."""
        now = self._monotonic()
        with self._changed:
            due = [path for path, at in self._due.items() if at <= now]
        if due and not self._takes_turns:
            self._takes_turns = True
            try:
                self._project(due)
            finally:
                self._takes_turns = False

    def _project_parts(self, paths: Sequence[VaultPath]) -> None:
        """Project together what can be; what fails is found by halving, noted, and tried again later."""
        if not paths:
            return
        try:
            done = refresh_paths(self._index, self._vault, paths, between=self._take_turns)
        except (LeaseLost, IndexDamaged, IndexUnavailable):
            raise
        except Exception as error:  # one broken path must not stop the others
            if len(paths) == 1:
                self._fail(paths[0], str(error) or type(error).__name__)
                return
            half = len(paths) // 2
            self._project_parts(paths[:half])
            self._project_parts(paths[half:])
            return
        self._take(done, paths)

    def _take(self, done: Refreshed, paths: Sequence[VaultPath] = ()) -> None:
        unreadable = {problem.path: problem.message for problem in done.problems if problem.rule == "unreadable"}
        with self._changed:
            read = {*paths, *done.added, *done.modified, *done.removed}
            self._failures.paths_work(read.difference(unreadable))
        for path, message in unreadable.items():
            self._fail(path, message)
        if done.added or done.modified or done.removed:
            self._last["change"] = self._vault.clock.now()
            if self._background:
                self._background.wake()

    def _fail(self, path: VaultPath, message: str) -> None:
        with self._changed:
            self._due[path] = self._monotonic() + self._failures.path_failed(path, message)

    # News

    def _hear(self, paths: Collection[VaultPath], walk: bool) -> None:
        now = self._monotonic()
        many = len(paths) > _MANY
        grown = any(self._is_folder(path) for path in paths) if not many else True
        with self._changed:
            self._last["event"] = self._vault.clock.now()
            for path in () if many else paths:
                at = max(now, self._rests.get(path, now))
                self._due[path] = min(at, self._due.get(path, at))
            if walk or grown:
                self._left_out.clear()
                self._walk_at = min(self._walk_at, max(now, self._walk_rest))
            if grown:  # what is made together with its folder may go unheard
                self._walk_again_at = now + _AGAIN_S
            self._changed.notify_all()

    def _is_folder(self, path: VaultPath) -> bool:
        try:
            return self._vault.is_folder(path)
        except ReMeError:
            return False

    def _leave_out(self) -> None:
        """After a walk: do not walk again for files that turned out not to belong to the vault."""
        asked, self._asked = self._asked, set()
        known = self._index.rows_of(list(asked))
        foreign = {path for path in asked if path not in known and self._is_file(path)}
        with self._changed:
            self._left_out |= foreign

    def _is_file(self, path: VaultPath) -> bool:
        try:
            return self._vault.exists(path)
        except ReMeError:
            return False

    def _belongs(self, path: VaultPath) -> bool:
        try:
            return self._vault.belongs(path)
        except ReMeError:
            return False

    def _is_for_a_walk(self, path: VaultPath) -> bool:
        """Whether at a path, or below it, there is or was something that may belong to the vault."""
        try:
            there = self._vault.locate(path).exists()
        except ReMeError:
            return True
        return there or any(char in path for char in "*?[") or self._index.has_folder(path)

    def _want_walk(self, at: float) -> None:
        with self._changed:
            self._walk_at = min(self._walk_at, at)

    def _trouble(self, what: str, error: Exception) -> float:
        with self._changed:
            return self._failures.failed(what, error)

    def _works(self, what: str) -> None:
        with self._changed:
            self._failures.works(what)

    def _may_write(self) -> None:
        """Called in each write transaction: none may be carried out without the lease or after ``close``."""
        if self._stop.is_set():
            raise LeaseLost("the projector is being closed")
        self._lease.check()
        now = self._monotonic()
        if now >= self._beat_at:
            self._tell()
            self._beat_at = now + self._beat
