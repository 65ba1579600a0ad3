"""What the log remembers of one run. Plain data."""

from dataclasses import dataclass
from datetime import datetime

__all__ = ["Run"]


@dataclass(frozen=True, slots=True)
class Run:
    """One run of an operation that may write.

    Attributes:
        id: The run's id, as the journal knows it too.
        operation: Name of the operation.
        actor: Who asked, for people to read.
        role: With whose rights.
        started: When it began, with its offset.
        finished: When it ended, or None while it runs or if its process died.
        outcome: ``ok``, the kind of the error, or empty while unfinished.
        summary: One line on what came of it.
    """

    id: str
    operation: str
    actor: str
    role: str
    started: datetime
    finished: datetime | None
    outcome: str
    summary: str
