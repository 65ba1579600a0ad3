"""The access log: which notes were found or read on which days, for what is used stays fresh.

Owns what is counted, the memory that it is counted in, and its way into the signal ``access_log``. A path counts once a
day, however often it is met. Counting never raises into a search: what cannot be kept is lost, the search is not.
"""

import contextlib
import json
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from datetime import date, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, cast

from reme.clock import Clock
from reme.errors import ReMeError
from reme.paths import VaultPath
from reme.search.signals import SIGNAL_VERSION
from reme.state import State

__all__ = ["AccessLog", "merge_access"]

_EVERY_S: Final = 600.0
_MOST: Final = 10_000
_KEPT_DAYS: Final = 90
_NAME: Final = "access_log"
_NONE: Final[Mapping[VaultPath, VaultPath]] = MappingProxyType({})


class AccessLog:
    """Counts in memory and writes behind: some time after the first count, and when it is closed.

    Args:
        state: Where the counts are kept until they are merged.
        clock: Tells the day.
        every: After how many seconds what was counted is written: no more than that is lost by a crash.
        most: How much is held in memory; beyond it, the oldest is forgotten.
    """

    def __init__(self, state: State, clock: Clock, *, every: float = _EVERY_S, most: int = _MOST) -> None:
        self._state = state
        self._clock = clock
        self._every = every
        self._most = most
        self._counted: dict[tuple[str, str], None] = {}
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def count(self, paths: Iterable[VaultPath]) -> None:
        """Count that these notes were met today. Never raises and never waits."""
        day = self._clock.today().isoformat()
        with self._lock:
            for path in paths:
                self._counted.setdefault((path, day))
            while len(self._counted) > self._most:
                del self._counted[next(iter(self._counted))]
            if self._counted and self._timer is None:
                self._timer = threading.Timer(self._every, self.flush)
                self._timer.daemon = True
                self._timer.start()

    def flush(self) -> None:
        """Write what was counted; what cannot be written now is tried again the next time. Never raises."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            counted, self._counted = self._counted, {}
        try:
            self._state.record_hits(list(counted))
        except ReMeError:
            with self._lock:
                self._counted = counted | self._counted

    def close(self) -> None:
        """Write what was counted, for the last time."""
        self.flush()
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()


def merge_access(
    state: State,
    folder: Path,
    clock: Clock,
    exists: Callable[[VaultPath], bool],
    renamed: Mapping[VaultPath, VaultPath] = _NONE,
) -> int:
    """Merge what was counted into the signal file, where ranking and maintenance read it.

    Days older than 90 days are forgotten, and so are paths that are no more. Done again after a crash, it comes to
    the same.

    Args:
        state: Where the counts are; they are forgotten there when the file is written.
        folder: Of the signal files; made if absent.
        clock: Tells the present.
        exists: Whether there is a file of this path.
        renamed: Old and present path of files that have another one now: what was counted goes with them.

    Returns:
        How many counts were taken over.

    Raises:
        Unavailable: If state or file cannot be written; nothing is lost then.
    """
    now = clock.now()
    oldest = (now.date() - timedelta(days=_KEPT_DAYS)).isoformat()
    file = folder / f"{_NAME}.json"

    def write(hits: list[tuple[str, str]]) -> None:
        days: dict[str, set[str]] = {}
        for path, met in _kept(file).items():
            days.setdefault(renamed.get(VaultPath(path), path), set()).update(met)
        for path, day in hits:
            days.setdefault(renamed.get(VaultPath(path), path), set()).add(day)
        values = {
            path: recent
            for path, met in sorted(days.items())
            if (recent := sorted(day for day in met if day >= oldest)) and exists(VaultPath(path))
        }
        signal = {"version": SIGNAL_VERSION, "computed_at": now.isoformat(), _NAME: values}
        folder.mkdir(parents=True, exist_ok=True)
        part = file.with_name(f"{file.name}.{os.getpid()}.part")
        try:
            part.write_text(json.dumps(signal, ensure_ascii=False), encoding="utf-8")
            part.replace(file)
        finally:
            part.unlink(missing_ok=True)

    return state.hand_over_hits(write)


def _kept(file: Path) -> dict[str, set[str]]:
    """The days by path that the file has; none if it is absent, broken, or of another kind."""
    with contextlib.suppress(OSError, ValueError, TypeError, RecursionError):
        loaded: Any = json.loads(file.read_bytes())
        if isinstance(loaded, dict) and cast("dict[str, Any]", loaded).get("version") == SIGNAL_VERSION:
            values = cast("dict[str, Any]", loaded).get(_NAME)
            if isinstance(values, dict):
                entries = cast("dict[str, list[object]]", values).items()
                return {path: {str(day) for day in days if _is_day(day)} for path, days in entries}
    return {}


def _is_day(value: object) -> bool:
    try:
        return isinstance(value, str) and date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False
