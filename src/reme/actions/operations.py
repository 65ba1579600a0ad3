"""The actions as operations: their parameters as every face shows them.

Owns names, descriptions and the binding of settings. Knows no face.
"""

import datetime
from dataclasses import replace
from typing import Annotated, Any, Literal

from annotated_types import Ge, Len

from reme.actions.dream import auto_dream as dream
from reme.actions.dream_report import DreamReport, dream_text
from reme.actions.interests import interests_text, proactive
from reme.actions.memory import MemoryReport, memory_text
from reme.actions.memory import auto_memory as remember
from reme.actions.proposals import Decided, decided_text, proposals, proposals_text, reject
from reme.actions.proposals import accept as accept_proposal
from reme.actions.settings import ActionSettings
from reme.actions.staleness import stale, stale_text
from reme.catalog import Catalog, Operation
from reme.reason import DreamReasoner, MemoryReasoner
from reme.tools import DryRun, Workspace
from reme.vault import Role

__all__ = ["register"]


def register(catalog: Catalog, settings: ActionSettings | None = None) -> None:
    """Add the actions to a catalogue.

    Args:
        settings: What they go by; the defaults if not given.

    Raises:
        ValueError: If a name is taken.
    """
    chosen = settings or ActionSettings()

    async def auto_memory(
        workspace: Workspace,
        reasoner: MemoryReasoner,
        messages: Annotated[
            list[Any] | str,
            "The conversation: messages as OpenAI, Anthropic or Claude Code have them, or the text of a JSONL file",
        ],
        session_id: Annotated[str, "Names the conversation; the same one again adds only what is new", Len(1, 120)],
        hint: Annotated[str, "What in it matters most"] = "",
        date: Annotated[
            datetime.date | None, "The day of messages without a timestamp (YYYY-MM-DD); today if left out"
        ] = None,
        origin: Annotated[
            Literal["person", "agent", "tool", "web"],
            "Where the conversation comes from, if it is to be trusted less than those who speak in it",
        ] = "person",
        dry_run: DryRun = False,
    ) -> MemoryReport:
        """Keep a conversation and turn it into daily notes: what happened, what was decided, what is preferred."""
        return await remember(
            workspace,
            reasoner,
            messages,
            session_id,
            hint=hint,
            day=date,
            origin=origin,
            dry_run=dry_run,
            settings=chosen.memory,
        )

    async def auto_dream(
        workspace: Workspace,
        reasoner: DreamReasoner,
        date: Annotated[datetime.date | None, "The last day to look at (YYYY-MM-DD); today if left out"] = None,
        scan_days: Annotated[int | None, "How many days to look at, that day counted", Ge(1)] = None,
        max_units: Annotated[int | None, "How many things to learn at most", Ge(1)] = None,
        hint: Annotated[str, "What matters most"] = "",
        dry_run: Annotated[bool, "Only say what would be done, and what it would change"] = False,
        propose: Annotated[bool, "Leave a proposal to accept or reject, instead of writing"] = False,
    ) -> DreamReport:
        """Distil changed daily notes into linked knowledge in the digest; does nothing when nothing changed."""
        return await dream(
            workspace,
            reasoner,
            day=date,
            scan_days=scan_days,
            max_units=max_units,
            hint=hint,
            dry_run=dry_run,
            settings=replace(chosen.dream, mode="propose") if propose else chosen.dream,
        )

    async def dream_of(
        workspace: Workspace,
        reasoner: DreamReasoner,
        path: Annotated[str, "An event note in daily/<date>/, or a text in resource/"],
        max_units: Annotated[int | None, "How many things to learn at most", Ge(1)] = None,
        hint: Annotated[str, "What matters most"] = "",
        dry_run: Annotated[bool, "Only say what would be done, and what it would change"] = False,
        propose: Annotated[bool, "Leave a proposal to accept or reject, instead of writing"] = False,
    ) -> DreamReport:
        """Distil one changed file into the digest, whenever it is of."""
        return await dream(
            workspace,
            reasoner,
            max_units=max_units,
            hint=hint,
            dry_run=dry_run,
            path=path,
            settings=replace(chosen.dream, mode="propose") if propose else chosen.dream,
        )

    def accept(
        workspace: Workspace,
        proposal: Annotated[str, "The run that made the proposal, as `proposals` lists it"],
        path: Annotated[list[str] | None, "Only these files of it; all if left out"] = None,
        dry_run: DryRun = False,
    ) -> Decided:
        """Write what a proposal proposes, merged with what has been written meanwhile."""
        return accept_proposal(workspace, proposal, path, dry_run=dry_run, settings=chosen.dream)

    decides = frozenset[Role]({"curator", "person"})
    catalog.add(
        Operation("auto_memory", "learn", auto_memory, "write", memory_text, cost="slow", reasons=True),
        Operation("auto_dream", "learn", auto_dream, "write", dream_text, cost="slow", reasons=True),
        Operation("dream", "learn", dream_of, "write", dream_text, cost="slow", reasons=True),
        Operation("proactive", "learn", proactive, "read", interests_text, positional=("date",)),
        Operation("stale", "health", stale, "read", stale_text),
        Operation("proposals", "review", proposals, "read", proposals_text),
        Operation("accept", "review", accept, "write", decided_text, roles=decides),
        Operation("reject", "review", reject, "write", decided_text, roles=decides),
    )
