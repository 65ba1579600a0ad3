"""The actions as operations: their parameters as every face shows them.

Owns names, descriptions and which part of the settings each goes by. Knows no face, and loads no action but the one
that is asked for.
"""

from dataclasses import replace
from typing import Annotated, Any, Literal

from annotated_types import Ge, Len

import reme.actions
from reme.actions.settings import ActionSettings, DreamSettings
from reme.reason import DreamReasoner, MemoryReasoner
from reme.tools import DryRun, Workspace

__all__ = ["accept", "auto_dream", "auto_memory", "dream"]

_MaxUnits = Annotated[int | None, "How many things to learn at most", Ge(1)]
_Matters = Annotated[str, "What matters most"]
_OnlySay = Annotated[bool, "Only say what would be done, and what it would change"]
_Propose = Annotated[bool, "Leave a proposal to accept or reject, instead of writing"]


async def auto_memory(
    workspace: Workspace,
    reasoner: MemoryReasoner,
    messages: Annotated[
        list[Any] | str,
        "The conversation: messages as OpenAI, Anthropic or Claude Code have them, or the text of a JSONL file",
    ],
    session_id: Annotated[str, "Names the conversation; the same one again adds only what is new", Len(1, 120)],
    hint: Annotated[str, "What in it matters most"] = "",
    date: Annotated[str | None, "The day of messages without a timestamp, as 2026-05-15; today by default"] = None,
    origin: Annotated[
        Literal["person", "agent", "tool", "web"],
        "Where the conversation comes from, if it is to be trusted less than those who speak in it",
    ] = "person",
    dry_run: DryRun = False,
    *,
    settings: ActionSettings,
) -> "reme.actions.MemoryReport":
    """Keep a conversation and turn it into daily notes: what happened, what was decided, what is preferred."""
    return await reme.actions.auto_memory(
        workspace,
        reasoner,
        messages,
        session_id,
        hint=hint,
        day=workspace.clock.day(date),
        origin=origin,
        dry_run=dry_run,
        settings=settings.memory,
    )


async def auto_dream(
    workspace: Workspace,
    reasoner: DreamReasoner,
    date: Annotated[str | None, "The last day to look at, as 2026-05-15; today by default"] = None,
    scan_days: Annotated[int | None, "How many days to look at, that day counted", Ge(1)] = None,
    max_units: _MaxUnits = None,
    hint: _Matters = "",
    dry_run: _OnlySay = False,
    propose: _Propose = False,
    *,
    settings: ActionSettings,
) -> "reme.actions.DreamReport":
    """Distil changed daily notes into linked knowledge in the digest; does nothing when nothing changed."""
    return await reme.actions.auto_dream(
        workspace,
        reasoner,
        day=workspace.clock.day(date),
        scan_days=scan_days,
        max_units=max_units,
        hint=hint,
        dry_run=dry_run,
        settings=_dreaming(settings, propose=propose),
    )


async def dream(
    workspace: Workspace,
    reasoner: DreamReasoner,
    path: Annotated[str, "An event note in daily/<date>/, or a text in resource/"],
    max_units: _MaxUnits = None,
    hint: _Matters = "",
    dry_run: _OnlySay = False,
    propose: _Propose = False,
    *,
    settings: ActionSettings,
) -> "reme.actions.DreamReport":
    """Distil one changed file into the digest, whenever it is of."""
    return await reme.actions.auto_dream(
        workspace,
        reasoner,
        max_units=max_units,
        hint=hint,
        dry_run=dry_run,
        path=path,
        settings=_dreaming(settings, propose=propose),
    )


def _dreaming(settings: ActionSettings, *, propose: bool) -> DreamSettings:
    return replace(settings.dream, mode="propose") if propose else settings.dream


def accept(
    workspace: Workspace,
    proposal: Annotated[str, "The id of the run that made it, or how it begins; last is the newest"],
    paths: Annotated[list[str] | None, "Only these files of it; all if left out"] = None,
    dry_run: DryRun = False,
    *,
    settings: ActionSettings,
) -> "reme.actions.Decided":
    """Write what a proposal proposes, merged with what has been written meanwhile."""
    return reme.actions.accept(workspace, proposal, paths, dry_run=dry_run, settings=settings.dream)
