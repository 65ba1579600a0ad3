"""What models have cost: by day and by run.

Owns the sums. What a call came to is recorded by who makes it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Annotated

from annotated_types import Ge, Le

from reme.state import Call
from reme.tools.workspace import Workspace
from reme.wording import counted

__all__ = ["Costs", "Spent", "cost", "cost_text"]


@dataclass(frozen=True, slots=True)
class Spent:
    """What some calls of models came to.

    Attributes:
        what: The day, or the run with its operation.
        calls: How many there were.
        tokens_in: Tokens read.
        tokens_out: Tokens written.
        price: What that cost, in the currency that ``llm.price_in`` and ``llm.price_out`` are in; None where they are
            not set.
    """

    what: str
    calls: int
    tokens_in: int
    tokens_out: int
    price: float | None


@dataclass(frozen=True, slots=True)
class Costs:
    """What models have cost.

    Attributes:
        since: The first day that is counted.
        total: All of it.
        days: By day, newest first.
        runs: By run, newest first.
        reasoner: Who decides now.
        left_today: Tokens that may still be used today; None where no model is asked.
    """

    since: date
    total: Spent
    days: tuple[Spent, ...]
    runs: tuple[Spent, ...]
    reasoner: str
    left_today: int | None


def cost(
    workspace: Workspace,
    days: Annotated[int, "How many days to count, today among them", Ge(1), Le(3660)] = 7,
    run: Annotated[str | None, "Only this run, as the log has it"] = None,
) -> Costs:
    """Tell what models have cost: calls, tokens and price, by day and by run."""
    today = workspace.clock.today()
    since = today - timedelta(days=min(days, today.toordinal()) - 1)
    calls = workspace.state.calls(since, run)
    used = sum(call.tokens_in + call.tokens_out for call in workspace.state.calls(today))
    return Costs(
        since=since,
        total=_spent("total", calls),
        days=_grouped(calls, lambda call: call.day.isoformat()),
        runs=_grouped(calls, lambda call: f"{call.run} {call.operation}"),
        reasoner=workspace.reasoner_name,
        left_today=None if workspace.daily_tokens is None else max(0, workspace.daily_tokens - used),
    )


def _grouped(calls: Iterable[Call], key: Callable[[Call], str]) -> tuple[Spent, ...]:
    groups: dict[str, list[Call]] = {}
    for call in calls:
        groups.setdefault(key(call), []).append(call)
    return tuple(_spent(what, group) for what, group in reversed(groups.items()))


def _spent(what: str, calls: list[Call]) -> Spent:
    prices = [call.price for call in calls if call.price is not None]
    tokens_in, tokens_out = sum(call.tokens_in for call in calls), sum(call.tokens_out for call in calls)
    return Spent(what, len(calls), tokens_in, tokens_out, sum(prices) if prices else None)


def cost_text(result: Costs) -> str:
    """A line each for all of it, every day and every run."""
    left = "" if result.left_today is None else f"; {result.left_today:,} tokens left today"
    lines = [f"since {result.since.isoformat()}: {_shown(result.total)} (reasoner: {result.reasoner}{left})"]
    lines += [f"{day.what}: {_shown(day)}" for day in result.days]
    lines += [f"run {run.what}: {_shown(run)}" for run in result.runs]
    return "\n".join(lines)


def _shown(spent: Spent) -> str:
    price = "" if spent.price is None else f", {spent.price:.4f}"
    return f"{counted(spent.calls, 'call')}, {spent.tokens_in:,} tokens read, {spent.tokens_out:,} written{price}"
