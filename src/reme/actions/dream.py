"""auto_dream: from changed daily notes and resources to linked knowledge in the digest.

Owns the steps: find what changed, ask what it teaches, find where each unit belongs, work it in under the conservation
laws, and record in the same change set what came of which source. Nothing changed means nothing read by a reasoner and
nothing written. Units are decided several at a time and committed one after the other: a decision counts only for the
candidates that it was shown, so that each unit sees what those before it made.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Final

from reme.actions.candidates import Home, find_homes, vanished_sources
from reme.actions.digest import free_node_path, view_edit
from reme.actions.dream_report import DreamReport, UnitOutcome, UnitReport, dream_lines, dream_summary
from reme.actions.interests import Interest, chosen, interests_path, with_interests
from reme.actions.ledger import Digested, Failure, Ledger, LedgerLine, append_lines, read_ledger
from reme.actions.plans import Evidenced, Plan, derived_lines, evidenced, planned
from reme.actions.proposals import Proposal, Proposed, difference, keep_proposal, open_proposals
from reme.actions.runs import ATTEMPTS, commit_as_system, report_path, write_report
from reme.actions.settings import DreamSettings
from reme.actions.sources import Source, changed_resources, changed_sources, named_source, read_again
from reme.actions.staleness import StaleReport, find_stale
from reme.errors import InvalidInput, Refused
from reme.index import refresh
from reme.paths import VaultPath, slug_of
from reme.reason import DreamReasoner, Extraction, Integration, Topic
from reme.tools import Workspace, one_line
from reme.vault import Amend, Committed, Edit, Unchanged

__all__ = ["auto_dream"]

_ACTION: Final = "auto_dream"


async def auto_dream(
    workspace: Workspace,
    reasoner: DreamReasoner,
    *,
    day: date | None = None,
    scan_days: int | None = None,
    max_units: int | None = None,
    hint: str = "",
    dry_run: bool = False,
    path: str | None = None,
    settings: DreamSettings | None = None,
) -> DreamReport:
    """Bring changed daily notes, and the resources behind them, into the digest.

    Args:
        day: The last day to look at; today by default.
        scan_days: How many days to look at, that day counted.
        max_units: How many units to integrate at most.
        hint: What the caller says that matters.
        dry_run: Decide and report, with the difference that it would make, but write nothing.
        path: Read this file only, whenever it is of.

    Raises:
        InvalidInput: If a number is not positive, or ``path`` names no source.
        NotFound: If ``path`` is not there.
        Unavailable: If the vault cannot be written or the reasoner does not answer; what has landed stays.
    """
    settings = settings or DreamSettings()
    days, most = scan_days or settings.scan_days, max_units or settings.max_units
    if days < 1 or most < 1:
        raise InvalidInput("scan_days and max_units must be at least 1")
    until = day or workspace.clock.today()
    sources, stale = await asyncio.to_thread(_sources, workspace, settings, until, days, path)
    dream = _Dream(workspace, reasoner, settings, until, sources, stale, dry_run)
    if sources:
        extraction = await reasoner.extract([s.shown for s in sources], settings.buckets, most, hint)
        await dream.run(extraction, most)
    return await asyncio.to_thread(dream.finish)


def _sources(
    workspace: Workspace, settings: DreamSettings, until: date, days: int, path: str | None
) -> tuple[list[Source], StaleReport]:
    """What changed and is not waiting in a proposal, and which nodes are stale."""
    vault, ledger = workspace.vault, read_ledger(workspace.vault)
    stale = find_stale(vault, ledger)
    if path is not None:
        found = named_source(vault, ledger, path, until)
    else:
        found = _changed(workspace, ledger, settings, until, days, stale)
    waiting = {(s.source, s.fingerprint) for proposal in open_proposals(vault) for s in proposal.sources}
    return [source for source in found if (source.path, source.fingerprint) not in waiting], stale


def _changed(
    workspace: Workspace, ledger: Ledger, settings: DreamSettings, until: date, days: int, stale: StaleReport
) -> list[Source]:
    """Changed notes of the days looked at, their resources, and what stale nodes were derived from."""
    refresh(workspace.index, workspace.vault)
    notes = changed_sources(workspace.vault, ledger, until, days)
    resources = changed_resources(workspace, ledger, notes, until, days, settings.resource_bytes)
    again = read_again(workspace.vault, ledger, (entry.source for entry in stale.stale), until)
    return list({source.path: source for source in (*notes, *resources, *again)}.values())


@dataclass(frozen=True, slots=True)
class _Decided:
    """A decision and the candidates that it was made for."""

    homes: tuple[Home, ...]
    decision: Integration

    def holds_for(self, homes: Sequence[Home]) -> bool:
        """Whether the candidates are still as they were shown."""
        return [(h.node.path, h.node.revision) for h in homes] == [(h.node.path, h.node.revision) for h in self.homes]


@dataclass(slots=True)
class _Dream:
    """One run over changed sources."""

    workspace: Workspace
    reasoner: DreamReasoner
    settings: DreamSettings
    day: date
    sources: Sequence[Source]
    stale: StaleReport
    dry_run: bool
    units: list[UnitReport] = field(default_factory=list[UnitReport])
    topics: tuple[Topic, ...] = ()
    problems: list[str] = field(default_factory=list[str])
    open_units: Counter[VaultPath] = field(default_factory=Counter[VaultPath])
    failed: set[VaultPath] = field(default_factory=set[VaultPath])
    finished: list[VaultPath] = field(default_factory=list[VaultPath])
    failures: list[LedgerLine] = field(default_factory=list[LedgerLine])
    drafts: dict[VaultPath, bytes] = field(default_factory=dict[VaultPath, bytes])
    proposed: dict[VaultPath, Proposed] = field(default_factory=dict[VaultPath, Proposed])

    @property
    def writes(self) -> bool:
        """Whether nodes are written, and not only planned."""
        return not self.dry_run and self.settings.mode == "auto"

    async def run(self, extraction: Extraction, most: int) -> None:
        """Integrate the units, in their order."""
        self.topics = extraction.topics
        self.failed.update(self.sources[n - 1].path for n in extraction.unfinished if 1 <= n <= len(self.sources))
        if len(extraction.units) > most:
            self.problems.append(f"{len(extraction.units) - most} units more than asked for were left out")
            for unit in extraction.units[most:]:
                places = (e.source for e in unit.evidence if 1 <= e.source <= len(self.sources))
                self.failed.update(self.sources[place - 1].path for place in places)
        buckets, fallback = self.settings.buckets, self.settings.fallback
        found = (evidenced(unit, self.sources, buckets, fallback, self.problems) for unit in extraction.units[:most])
        entries = [entry for entry in found if entry is not None]
        for entry in entries:
            self.open_units.update(entry.paths)
        size = max(1, self.settings.parallel)
        for batch in (entries[at : at + size] for at in range(0, len(entries), size)):
            homes = [await self._homes(entry) for entry in batch]
            decided = await asyncio.gather(*(self._ask(e, h, "") for e, h in zip(batch, homes, strict=True)))
            for place, (entry, early) in enumerate(zip(batch, decided, strict=True)):
                holds = place == 0 or early.holds_for(await self._homes(entry))
                await self._integrate(entry, early if holds else await self._decide(entry, ""))

    async def _decide(self, entry: Evidenced, complaint: str) -> _Decided:
        return await self._ask(entry, await self._homes(entry), complaint)

    async def _ask(self, entry: Evidenced, homes: Sequence[Home], complaint: str) -> _Decided:
        candidates = [home.candidate for home in homes]
        decision = await self.reasoner.integrate(entry.unit, entry.lines, candidates, complaint)
        return _Decided(tuple(homes), decision)

    async def _homes(self, entry: Evidenced) -> list[Home]:
        limit = self.settings.candidates
        return await asyncio.to_thread(find_homes, self.workspace, entry.unit, entry.lines, limit, self.drafts)

    async def _integrate(self, entry: Evidenced, decided: _Decided) -> None:
        """Write what was decided; decide anew where the candidates have changed or a law was broken."""
        refusals = 0
        for attempt in range(ATTEMPTS):
            problems: list[str] = []
            plan = planned(entry, decided.decision, decided.homes, self._new_path, problems)
            self.problems += problems
            try:
                if await asyncio.to_thread(self._commit, entry, plan):
                    return
                complaint = ""
            except Refused as error:
                complaint, refusals = error.message, refusals + 1
                if refusals > 1:
                    self._give_up(entry, plan, "refused", error.message)
                    return
            if attempt + 1 < ATTEMPTS:
                decided = await self._decide(entry, complaint)
        self._give_up(entry, None, "conflict", "its files kept changing")

    def _new_path(self, bucket: str, name: str) -> VaultPath:
        return free_node_path(self.workspace.vault, bucket, slug_of(name), self.drafts)

    # Committing

    def _commit(self, entry: Evidenced, plan: Plan) -> bool:
        """Write a plan with what is to be remembered of it; False if the files have changed meanwhile."""
        done = [path for path in entry.paths if self._is_last(path)]
        if plan.outcome == "refused":
            self._give_up(entry, plan, "refused", plan.reason)
            return True
        reason = one_line(f"{plan.outcome} {plan.node} from {entry.unit.name}")
        if plan.edit is not None and not self.writes:
            self._draft(entry, plan, reason)
        elif plan.edit is not None:
            lines: list[LedgerLine] = [*derived_lines(entry, plan), *map(self._digested, done)]
            outcome = commit_as_system(self.workspace, [plan.edit, self._ledger(lines)], reason)
            if not isinstance(outcome, Committed | Unchanged):
                return False
            self.finished += done
        self.open_units.subtract(entry.paths)
        self.units.append(
            UnitReport(entry.unit.name, entry.bucket, plan.outcome, plan.node, len(plan.landed), plan.reason)
        )
        return True

    def _draft(self, entry: Evidenced, plan: Plan, reason: str) -> None:
        """Keep what would be written; from the bytes that it was first planned from."""
        if plan.edit is None:
            return
        path, data = plan.edit.path, plan.edit.data
        base = plan.base.decode("utf-8") if plan.base is not None else None
        first = self.proposed.get(path) or Proposed(path, base, "", reason)
        derived = first.derived + derived_lines(entry, plan)
        self.proposed[path] = replace(first, text=data.decode("utf-8"), derived=derived)
        self.drafts[path] = data

    def _ledger(self, lines: Sequence[LedgerLine]) -> Edit:
        now, run = self.workspace.clock.now(), self.workspace.caller.run
        return append_lines(self.workspace.vault, tuple(lines), at=now, run=run)

    def _is_last(self, path: VaultPath) -> bool:
        return self.open_units[path] == 1 and path not in self.failed

    def _digested(self, path: VaultPath) -> Digested:
        source = next(source for source in self.sources if source.path == path)
        return Digested(path, source.revision, source.fingerprint)

    def _give_up(self, entry: Evidenced, plan: Plan | None, outcome: UnitOutcome, reason: str) -> None:
        node = plan.node if plan else None
        self.failed.update(entry.paths)
        self.open_units.subtract(entry.paths)
        self.units.append(UnitReport(entry.unit.name, entry.bucket, outcome, node, 0, reason))
        self.failures.append(Failure(outcome, (node,) if node else (), f"{entry.unit.name}: {reason}"))

    def finish(self) -> DreamReport:
        """Record the sources that are done without a node of their own, take up topics, leave the report."""
        rest = [s.path for s in self.sources if s.path not in self.failed and s.path not in self.finished]
        proposal = self._proposal(rest) if not self.dry_run else None
        interests = self._interests()
        records = bool(self.sources) and not self.dry_run
        if records and proposal is None:
            self.finished += rest
        report = DreamReport(
            run=self.workspace.caller.run,
            dry_run=self.dry_run,
            sources=tuple(source.path for source in self.sources),
            finished=tuple(self.finished),
            units=tuple(self.units),
            topics=self.topics,
            vanished=vanished_sources(self.workspace),
            problems=tuple(self.problems),
            report=report_path(self.workspace, _ACTION) if records else None,
            diff="\n".join(difference(file.path, file.base, file.text) for file in self.proposed.values()),
            proposed=proposal is not None,
            interests=interests_path(self.workspace.vault, self.day) if interests and records else None,
            stale=self.stale.stale,
        )
        if records:
            self._record(report, rest, proposal, interests)
        return report

    def _record(
        self, report: DreamReport, rest: Sequence[VaultPath], proposal: Proposal | None, interests: Sequence[Interest]
    ) -> None:
        vault = self.workspace.vault
        edits: list[Edit] = [write_report(self.workspace, _ACTION, dream_summary(report), dream_lines(report))]
        done = map(self._digested, rest) if proposal is None else ()
        if lines := [*done, *self.failures]:
            edits.append(self._ledger(lines))
        if interests and report.interests:
            edits.append(Amend(report.interests, lambda data: with_interests(data, interests)))
        if self.writes and any(unit.outcome == "created" for unit in self.units):
            edits.append(view_edit(vault, self.settings.buckets, self.settings.fallback))
        if proposal is not None:
            keep_proposal(vault, proposal)
        commit_as_system(self.workspace, edits, dream_summary(report))

    def _interests(self) -> tuple[Interest, ...]:
        limit, days = self.settings.topics, self.settings.topic_days
        return chosen(self.workspace.vault, self.topics, self.sources, self.day, limit=limit, days=days)

    def _proposal(self, done: Sequence[VaultPath]) -> Proposal | None:
        if not (files := tuple(self.proposed.values())):
            return None
        run, at = self.workspace.caller.run, self.workspace.clock.now().isoformat(timespec="seconds")
        summary = f"{len(files)} files from {len(self.sources)} sources"
        return Proposal(run, at, summary, files, tuple(map(self._digested, done)))
