"""Which reasoner is measured: the offline one, or the chat model that the environment names, as in the product.

REME_LLM_MODEL=ollama:qwen3 python evals/memorybank.py
"""

from reme.clock import Clock
from reme.config import load_settings
from reme.models import ChatSettings, open_chat
from reme.reason import ModelSettings, OfflineReasoner, Reasoner, model_reasoner
from reme.state import State

UNLIMITED = 10**12


def reasoner_of(state: State, clock: Clock) -> OfflineReasoner | Reasoner:
    """The reasoner of an evaluation; its tokens are counted in ``state``, and not limited."""
    llm = load_settings(None).llm
    if not llm.model:
        return OfflineReasoner()
    asked = {name: value for name in ("url", "key", "proxy", "timeout", "tries") if (value := getattr(llm, name))}
    limits = ModelSettings(
        UNLIMITED, **{name: value for name in ("context", "parallel") if (value := getattr(llm, name))}
    )
    model = open_chat(llm.model, ChatSettings(**asked))
    return model_reasoner(
        model, limits, state, clock, run="eval", operation="eval", own_prompt=lambda _: None, waits=True
    )
