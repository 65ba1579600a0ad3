"""Making the reasoner that asks a model, which is loaded only when there is one to ask.

Owns its settings and how its parts are put together.
"""

from collections.abc import Callable
from dataclasses import dataclass

from reme.clock import Clock
from reme.models import ChatModel
from reme.reason.port import Reasoner
from reme.state import State

__all__ = ["ModelSettings", "model_reasoner"]


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """How a model is asked, and what it may cost.

    Attributes:
        daily_tokens: Tokens a day, those read and those written.
        context: Tokens that the model takes at once, its answer among them.
        answer_tokens: Tokens that an answer may have, the model's thinking among them.
        parallel: How many answers are awaited at once.
        price_in: What a million tokens read costs; None if that is not known.
        price_out: What a million tokens written costs.
    """

    daily_tokens: int
    context: int = 32_000
    answer_tokens: int = 8_000
    parallel: int = 4
    price_in: float | None = None
    price_out: float | None = None


def model_reasoner(
    model: ChatModel,
    settings: ModelSettings,
    state: State,
    clock: Clock,
    *,
    run: str,
    operation: str,
    own_prompt: Callable[[str], str | None],
    waits: bool,
) -> Reasoner:
    """The reasoner that asks a model, for one run.

    Args:
        own_prompt: The text that a vault has instead of a prompt, by its file, or None.
        waits: Whether it is for the background, which waits for a model that does not answer; else a conversation is
            then remembered without it.
    """
    from reme.reason.model import Asking, Budget, FallingBack, ModelReasoner, Prices, Prompts

    prices = None
    if settings.price_in is not None or settings.price_out is not None:
        prices = Prices(settings.price_in or 0.0, settings.price_out or 0.0)
    budget = Budget(state, clock, run, operation, settings.daily_tokens, prices)
    asking = Asking(
        model,
        budget,
        Prompts(own_prompt),
        context=settings.context,
        most=settings.answer_tokens,
        parallel=settings.parallel,
    )
    return ModelReasoner(asking) if waits else FallingBack(asking)
