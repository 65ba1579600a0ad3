"""What calls of a model may cost, and what they have cost: so many tokens a day, all processes together.

Owns the rule and the entries. The tokens that a call may need at most are set aside before it is made, so that a
process that dies in between has spent them.
"""

from dataclasses import dataclass, replace

from reme.clock import Clock
from reme.errors import Unavailable
from reme.models import ChatModel, Reply
from reme.reason.model.material import size
from reme.state import Call, State

__all__ = ["Budget", "Prices"]

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Prices:
    """What a million tokens costs, in whatever currency."""

    tokens_in: float
    tokens_out: float


@dataclass(frozen=True, slots=True)
class Budget:
    """What one run may spend.

    Attributes:
        daily: Tokens a day, those read and those written.
        prices: What they cost, or None if that is not known.
    """

    state: State
    clock: Clock
    run: str
    operation: str
    daily: int
    prices: Prices | None = None

    def complete(
        self, model: ChatModel, decision: str, instructions: str, text: str, schema: dict[str, object], most: int
    ) -> Reply:
        """One answer of a model, paid for.

        Raises:
            Unavailable: If the day's tokens would not suffice, or the model does not answer.
        """
        now = self.clock.now()
        estimate = size(instructions) + size(text)
        call = Call(now, now.date(), self.run, self.operation, decision, model.name, estimate, most)
        call = replace(call, price=self._price(estimate, most))
        number = self.state.begin_call(call, self.daily)
        if number is None:
            raise Unavailable(
                f"the {self.daily:,} tokens that models may use a day are spent, or too few are left for {decision}",
                hint="It goes on tomorrow; llm.daily_tokens (REME_LLM_DAILY_TOKENS) allows more. See: `cost`",
            )
        spent = (0, 0)
        try:
            reply = model.complete(instructions, text, schema=schema, most=most)
            spent = (
                estimate if reply.tokens_in is None else reply.tokens_in,
                size(reply.text) if reply.tokens_out is None else reply.tokens_out,
            )
        except Unavailable as error:
            if error.details.get("perhaps_charged"):
                spent = (estimate, 0)
            raise
        finally:
            self.state.finish_call(number, *spent, self._price(*spent))
        return reply

    def _price(self, tokens_in: int, tokens_out: int) -> float | None:
        if self.prices is None:
            return None
        return (tokens_in * self.prices.tokens_in + tokens_out * self.prices.tokens_out) / _MILLION
