"""What is remembered of one call of a model. Plain data."""

from dataclasses import dataclass
from datetime import date, datetime

__all__ = ["Call"]


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a model, and what it cost.

    Attributes:
        at: When it was made, with its offset.
        day: The day that its tokens count for.
        run: The run that it was made in.
        operation: Name of the operation.
        decision: What was asked.
        model: Who was asked.
        tokens_in: Tokens read; an estimate where the provider did not tell, or did not answer.
        tokens_out: Tokens written.
        price: What that cost, in the currency that the prices are set in, or None if none are set.
    """

    at: datetime
    day: date
    run: str
    operation: str
    decision: str
    model: str
    tokens_in: int
    tokens_out: int
    price: float | None = None
