"""What a projector says of itself.

Owns the form only, for this process and for those that read it from the lease.
"""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

from reme.paths import VaultPath

__all__ = ["PathProblem", "ProjectorStatus", "report"]

_REPORTED: Final = 20


@dataclass(frozen=True, slots=True)
class PathProblem:
    """A path that could not be projected: how often that was tried, and why it failed the last time."""

    path: VaultPath
    attempts: int
    message: str


@dataclass(frozen=True, slots=True)
class ProjectorStatus:
    """What a projector is doing.

    Attributes:
        running: Whether its thread lives.
        epoch: Of the lease; 0 while another process holds it, or none.
        watching: Whether changes are heard of at once; else they are found by walks.
        watcher_restarts: How often the watcher had to be started again.
        pending: Paths that are known to have changed and are not projected.
        walk_pending: Whether everything is to be looked at as soon as possible.
        last_event: When something was last heard of.
        last_scan: When everything was last looked at.
        last_change: When the index was last changed.
        problems: Paths that fail, to be tried again.
        trouble: What else is wrong: the store, the watcher, the background work.
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


def report(status: ProjectorStatus) -> dict[str, Any]:
    """The status as others may read it."""
    shown = asdict(status)
    shown["problems"] = shown["problems"][:_REPORTED]
    return {key: value.isoformat() if isinstance(value, datetime) else value for key, value in shown.items()}
