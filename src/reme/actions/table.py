"""The table of actions: one entry for each as an operation, over the function that carries it out.

Owns the entries. Loads no action.
"""

from collections.abc import Callable
from functools import partial
from typing import Final

from reme.catalog import Catalog, Named, Operation
from reme.vault import Role

__all__ = ["register"]

_action: Final = partial(Named, "reme.actions")
_DECIDES: Final = frozenset[Role]({"curator", "person"})


def register(catalog: Catalog, settings: Callable[[], object] | None = None) -> None:
    """Add the actions to a catalogue.

    Args:
        settings: Makes the ``ActionSettings`` that they go by; the defaults if not given.

    Raises:
        ValueError: If a name is taken.
    """
    set_action = partial(Named, "reme.actions.operations", settings=settings or _action("ActionSettings"))
    auto_memory = set_action(
        "auto_memory",
        "Keep a conversation and turn it into daily notes: what happened, what was decided, what is preferred.",
    )
    auto_dream = set_action(
        "auto_dream",
        "Distil changed daily notes into linked knowledge in the digest; does nothing when nothing changed.",
    )
    dream = set_action("dream", "Distil one changed file into the digest, whenever it is of.")
    accept = set_action("accept", "Write what a proposal proposes, merged with what has been written meanwhile.")
    proactive = _action("proactive", "What is worth raising again: the topics that the dream of a day took up.")
    stale = _action(
        "stale", "Find nodes whose cited sources changed or are gone; the next dream reads what changed again."
    )
    conflicts = _action(
        "conflicts", "List the statements that contradict each other, with who said them, when, and their sources."
    )
    proposals = _action(
        "proposals",
        "What dreams propose and nobody has decided of, file by file, with the difference that each would make.",
    )
    reject = _action("reject", "Decide against a proposal; its sources are not read again until they change.")
    decided_text, dream_text = _action("decided_text"), _action("dream_text")
    catalog.add(
        Operation("auto_memory", "learn", auto_memory, "write", _action("memory_text"), cost="slow", reasons=True),
        Operation("auto_dream", "learn", auto_dream, "write", dream_text, cost="slow", reasons=True),
        Operation("dream", "learn", dream, "write", dream_text, cost="slow", reasons=True),
        Operation("proactive", "learn", proactive, "read", _action("interests_text")),
        Operation("stale", "health", stale, "read", _action("stale_text"), findings=_action("has_stale")),
        Operation(
            "conflicts",
            "health",
            conflicts,
            "read",
            _action("conflicts_text"),
            positional=("paths",),
            findings=_action("has_conflicts"),
        ),
        Operation("proposals", "review", proposals, "read", _action("proposals_text")),
        Operation("accept", "review", accept, "write", decided_text, roles=_DECIDES),
        Operation("reject", "review", reject, "write", decided_text, roles=_DECIDES),
    )
