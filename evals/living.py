"""Vaults in which days have been told and dreamt of, and which reasoner is measured by that.

The reasoner is the offline one, or the chat model that the environment names, as in the product:

    REME_LLM_MODEL=ollama:qwen3 python -m evals.memorybank
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from reme.actions import auto_dream, auto_memory
from reme.clock import Clock, zone_named
from reme.config import load_settings
from reme.index import open_index
from reme.models import ChatSettings, open_chat
from reme.reason import ModelSettings, OfflineReasoner, Reasoner, model_reasoner
from reme.search import SearchSettings
from reme.state import State
from reme.tools import Caller, Workspace
from reme.vault import Layout, Vault

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


@contextmanager
def lived(root: Path, days: Iterable[tuple[datetime, str, Sequence[object]]]) -> Iterator[Vault]:
    """A vault in which each day's messages were delivered at a time, as a session of a name, and dreamt of."""
    now = datetime(2023, 1, 1, tzinfo=UTC)
    clock = Clock(zone_named("UTC"), lambda: now)
    with closing(Vault(root, layout=Layout(), clock=clock)) as vault:
        vault.state_dir.mkdir(exist_ok=True)
        index, state = open_index(vault.state_dir / "index.db", vault.layout), State(vault.state_dir / "state.db")
        reasoner = reasoner_of(state, clock)

        def workspace() -> Workspace:
            return Workspace(vault, index, state, clock, SearchSettings(), Caller("person", "eval", vault.new_id()))

        with closing(index), closing(state):
            for at, session, messages in days:
                now = at
                asyncio.run(auto_memory(workspace(), reasoner, messages, session))
                asyncio.run(auto_dream(workspace(), reasoner, max_units=100))
            yield vault
