"""Failures: what does not work now, how often it was tried, and how long to wait before the next try.

Owns the growing pauses. Knows nothing of what failed. Not safe for threads: its user's lock is what guards it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from reme.index import PathProblem
from reme.paths import VaultPath

__all__ = ["FIRST_PAUSE_S", "Failures"]

FIRST_PAUSE_S: Final = 0.25
_LONGEST_PAUSE_S: Final = 60.0


@dataclass(slots=True)
class _Failure:
    attempts: int = 0
    message: str = ""

    def again(self, message: str) -> float:
        self.attempts += 1
        self.message = message
        return min(FIRST_PAUSE_S * 2 ** (self.attempts - 1), _LONGEST_PAUSE_S)


class Failures:
    """Paths that fail, and whatever else does."""

    def __init__(self) -> None:
        self._paths: dict[VaultPath, _Failure] = {}
        self._things: dict[str, _Failure] = {}

    def __contains__(self, path: VaultPath) -> bool:
        return path in self._paths

    def path_failed(self, path: VaultPath, message: str) -> float:
        """Note that a path failed; returns the seconds until it is to be tried again."""
        return self._paths.setdefault(path, _Failure()).again(message)

    def paths_work(self, paths: Iterable[VaultPath]) -> None:
        """Note that these do not fail any more."""
        for path in paths:
            self._paths.pop(path, None)

    def failed(self, what: str, error: Exception) -> float:
        """Note that something failed; returns the seconds until it is to be tried again."""
        return self._things.setdefault(what, _Failure()).again(str(error) or type(error).__name__)

    def works(self, what: str) -> None:
        """Note that something does not fail any more."""
        self._things.pop(what, None)

    def problems(self, ahead: Mapping[VaultPath, float], now: datetime) -> tuple[PathProblem, ...]:
        """The paths that fail.

        Args:
            ahead: Seconds until each is tried again.
            now: The present instant.
        """
        return tuple(
            PathProblem(
                path, failure.attempts, failure.message, now + timedelta(seconds=max(0.0, ahead.get(path, 0.0)))
            )
            for path, failure in sorted(self._paths.items())
        )

    def troubles(self) -> list[str]:
        """What else fails, and why."""
        return [f"{what}: {failure.message}" for what, failure in sorted(self._things.items())]
