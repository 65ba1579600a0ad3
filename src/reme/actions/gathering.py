"""What a dream begins with, gathered at one moment.

Owns the order of looking: the ledger, what was moved, what is stale, what changed, what waits in a proposal.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from reme.actions.ledger import Ledger, extended, read_ledger
from reme.actions.moved import Moved, find_moved
from reme.actions.proposals import open_proposals
from reme.actions.settings import DreamSettings
from reme.actions.sources import (
    Source,
    changed_resources,
    changed_sources,
    daily_paths,
    days_until,
    named_source,
    read_again,
    unread_events,
)
from reme.actions.staleness import StaleReport, find_stale
from reme.index import refresh
from reme.tools import Workspace

__all__ = ["Gathered", "gather"]


@dataclass(frozen=True, slots=True)
class Gathered:
    """What a run begins with: what changed and is not waiting in a proposal, which nodes are stale, what was moved.

    Attributes:
        ledger: With what is to be said of moved sources.
        earlier: How many events of days before those looked at nothing was ever learnt from.
    """

    sources: Sequence[Source]
    stale: StaleReport
    moved: tuple[Moved, ...]
    ledger: Ledger
    earlier: int = 0


def gather(workspace: Workspace, settings: DreamSettings, until: date, days: int, path: str | None) -> Gathered:
    """Look at the days up to ``until``, or at one file.

    Raises:
        NotFound: If the file is not there.
        InvalidInput: If it is no source.
    """
    vault, ledger = workspace.vault, read_ledger(workspace.vault)
    looked_at = (file for day in days_until(until, days) for file in daily_paths(vault, day, settings.resource_bytes))
    moved = find_moved(vault, ledger, [vault.find(path)] if path is not None else looked_at)
    ledger = extended(ledger, (line for each in moved for line in each.lines))
    stale = find_stale(vault, ledger)
    waiting = open_proposals(vault)
    known = extended(ledger, (line for proposal in waiting for file in proposal.files for line in file.derived))
    earlier = 0
    if path is not None:
        found = named_source(vault, known, path, until)
    else:
        found = _changed(workspace, known, settings, until, days, stale)
        earlier = len(unread_events(vault, ledger, days_until(until, days)[0]))
    done = {source.fingerprint for proposal in waiting for source in proposal.sources}
    return Gathered([source for source in found if source.fingerprint not in done], stale, moved, ledger, earlier)


def _changed(
    workspace: Workspace, ledger: Ledger, settings: DreamSettings, until: date, days: int, stale: StaleReport
) -> list[Source]:
    """Changed notes of the days looked at, their resources, and what stale nodes were derived from."""
    refresh(workspace.index, workspace.vault, progress=workspace.progress)
    notes = changed_sources(workspace.vault, ledger, until, days, settings.resource_bytes)
    resources = changed_resources(workspace, ledger, notes, until, days, settings.resource_bytes)
    again = read_again(workspace.vault, ledger, (entry.source for entry in stale.stale), until)
    return list({source.path: source for source in (*notes, *resources, *again)}.values())
