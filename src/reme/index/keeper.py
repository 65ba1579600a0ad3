"""What the process that keeps an index in step with the files says of itself.

Owns the form, for that process and for those that read it elsewhere. Knows neither how it works nor where it says so.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

from reme.paths import VaultPath

__all__ = ["Keeper", "PathProblem", "ProjectorStatus", "report", "reported"]

_REPORTED: Final = 20
_CURRENT_S: Final = 8.0


@dataclass(frozen=True, slots=True)
class PathProblem:
    """A path that could not be projected.

    Attributes:
        attempts: How often that was tried.
        message: Why it failed the last time.
        retry: When it is tried again.
    """

    path: VaultPath
    attempts: int
    message: str
    retry: datetime | None


@dataclass(frozen=True, slots=True)
class ProjectorStatus:
    """What a projector is doing.

    Attributes:
        running: Whether its thread lives.
        epoch: Of the lease; 0 while another process holds it, or none.
        watching: Whether changes are heard of at once; else they are found by walks.
        watcher_restarts: How often the watcher had to be started again.
        pending: Paths that are known to have changed and are not projected.
        pending_paths: The first of them.
        walk_pending: Whether everything is to be looked at first.
        last_event: When something was last heard of.
        last_scan: When everything was last looked at.
        last_change: When the index was last changed.
        problems: Paths that fail, to be tried again.
        trouble: What else is wrong: the store, the watcher, the background work.
        generation: The index's, as it was when everything was last looked at.
    """

    running: bool
    epoch: int
    watching: bool
    watcher_restarts: int
    pending: int
    walk_pending: bool
    last_event: datetime | None
    last_scan: datetime | None
    last_change: datetime | None
    problems: tuple[PathProblem, ...]
    trouble: tuple[str, ...]
    pending_paths: tuple[VaultPath, ...] = ()
    generation: str = ""


@dataclass(frozen=True, slots=True)
class Keeper:
    """The process that keeps the index.

    Attributes:
        status: What it last said; None where it has not said anything yet.
        silent: Seconds since it last said something.
    """

    pid: int
    host: str
    status: ProjectorStatus | None
    silent: float = 0.0

    @property
    def is_current(self) -> bool:
        """Whether what it says holds: it has looked at everything, hears of every change, and has spoken of late."""
        said = self.status
        return said is not None and said.watching and not said.walk_pending and self.silent < _CURRENT_S


def report(status: ProjectorStatus) -> dict[str, Any]:
    """The status as others may read it: JSON types, the first few problems."""
    shown = asdict(status)
    shown["problems"] = [_plain(problem) for problem in shown["problems"][:_REPORTED]]
    return _plain(shown)


def reported(said: Mapping[str, Any]) -> ProjectorStatus | None:
    """The status that a report was made of, or None if it is none."""
    try:
        times = {name: _moment(said[name]) for name in ("last_event", "last_scan", "last_change")}
        problems = tuple(
            PathProblem(VaultPath(p["path"]), int(p["attempts"]), str(p["message"]), _moment(p["retry"]))
            for p in said["problems"]
        )
        return ProjectorStatus(
            running=bool(said["running"]),
            epoch=int(said["epoch"]),
            watching=bool(said["watching"]),
            watcher_restarts=int(said["watcher_restarts"]),
            pending=int(said["pending"]),
            walk_pending=bool(said["walk_pending"]),
            problems=problems,
            trouble=tuple(str(what) for what in said["trouble"]),
            pending_paths=tuple(VaultPath(path) for path in said.get("pending_paths", ())),
            generation=str(said.get("generation", "")),
            **times,
        )
    except (KeyError, TypeError, ValueError):
        return None


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value.isoformat() if isinstance(value, datetime) else value for key, value in values.items()}


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
