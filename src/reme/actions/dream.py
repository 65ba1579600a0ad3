"""auto_dream: from changed daily notes to linked knowledge in the digest.

Owns the steps: find what changed, ask what it teaches, find where each unit belongs, work it in under the conservation
laws, and record in the same change set what came of which source. Nothing changed means nothing read by a reasoner and
nothing written.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Final, assert_never

from reme.actions.candidates import Home, find_homes, vanished_sources
from reme.actions.digest import BUCKETS_VIEW, bucket_of, buckets_view, free_node_path, node_paths
from reme.actions.dream_report import DreamReport, UnitOutcome, UnitReport, dream_lines, dream_summary
from reme.actions.ledger import Derived, Digested, Failure, LedgerLine, Taken, append_lines, read_ledger
from reme.actions.nodes import Citing, Worked, work_in, write_node
from reme.actions.notes import one_line
from reme.actions.runs import ATTEMPTS, NODE_LAWS, commit_as_system, report_path, write_report
from reme.actions.settings import DreamSettings
from reme.actions.sources import Source, changed_sources
from reme.actions.statements import Item, objection
from reme.errors import InvalidInput, Refused
from reme.paths import VaultPath, parse_path
from reme.reason import (
    Cite,
    Claim,
    Create,
    DreamReasoner,
    Evidence,
    Extraction,
    Integration,
    NodeEdit,
    Relation,
    Skip,
    SourceLine,
    Topic,
    Unit,
    Update,
    slug_of,
)
from reme.revision import ABSENT
from reme.tools import Workspace
from reme.vault import Amend, Committed, Edit, Put, Unchanged

__all__ = ["auto_dream"]

_ACTION: Final = "auto_dream"

_SHAPES: Final[Mapping[str, UnitOutcome]] = {"corroborate": "corroborated", "refine": "refined", "correct": "corrected"}


async def auto_dream(
    workspace: Workspace,
    reasoner: DreamReasoner,
    *,
    day: date | None = None,
    scan_days: int | None = None,
    max_units: int | None = None,
    hint: str = "",
    dry_run: bool = False,
    settings: DreamSettings | None = None,
) -> DreamReport:
    """Bring changed daily notes into the digest.

    Args:
        day: The last day to look at; today by default.
        scan_days: How many days to look at, that day counted.
        max_units: How many units to integrate at most.
        hint: What the caller says that matters.
        dry_run: Decide and report, but write nothing.

    Raises:
        InvalidInput: If a number is not positive.
        Unavailable: If the vault cannot be written or the reasoner does not answer; what has landed stays.
    """
    settings = settings or DreamSettings()
    days, most = scan_days or settings.scan_days, max_units or settings.max_units
    if days < 1 or most < 1:
        raise InvalidInput("scan_days and max_units must be at least 1")
    ledger = read_ledger(workspace.vault)
    sources = changed_sources(workspace.vault, ledger, day or workspace.clock.today(), days)
    dream = _Dream(workspace, reasoner, settings, sources, dry_run)
    if sources:
        extraction = await reasoner.extract([s.shown for s in sources], settings.buckets, most, hint)
        await dream.run(extraction, most)
    return await asyncio.to_thread(dream.finish)


@dataclass(slots=True)
class _Evidenced:
    """A unit with the lines behind it, in the order of its evidence."""

    unit: Unit
    bucket: str
    lines: tuple[SourceLine, ...]
    sources: tuple[Source, ...]

    @property
    def citing(self) -> Citing:
        """How claims about these lines are cited."""
        return Citing(self._item, self._paths)

    def _item(self, claim: Claim) -> Item:
        line = self.lines[claim.evidence[0] - 1]
        return Item(claim.text, line.speaker, line.day, line.about)

    def _paths(self, evidence: tuple[int, ...]) -> tuple[VaultPath, ...]:
        return tuple(dict.fromkeys(self.sources[number - 1].path for number in evidence))


@dataclass(frozen=True, slots=True)
class _Plan:
    """What a decision comes to: the node's edit, if any, and what landed."""

    outcome: UnitOutcome
    node: VaultPath | None
    edit: Put | None
    landed: tuple[Claim, ...]
    reason: str = ""


@dataclass(slots=True)
class _Dream:
    """One run over changed sources."""

    workspace: Workspace
    reasoner: DreamReasoner
    settings: DreamSettings
    sources: Sequence[Source]
    dry_run: bool
    units: list[UnitReport] = field(default_factory=list[UnitReport])
    topics: tuple[Topic, ...] = ()
    problems: list[str] = field(default_factory=list[str])
    open_units: Counter[VaultPath] = field(default_factory=Counter[VaultPath])
    failed: set[VaultPath] = field(default_factory=set[VaultPath])
    finished: list[VaultPath] = field(default_factory=list[VaultPath])
    failures: list[LedgerLine] = field(default_factory=list[LedgerLine])

    async def run(self, extraction: Extraction, most: int) -> None:
        """Integrate the units, one after the other, so that each sees what those before it made."""
        self.topics = extraction.topics
        self.failed.update(self.sources[n - 1].path for n in extraction.unfinished if 1 <= n <= len(self.sources))
        if len(extraction.units) > most:
            self.problems.append(f"{len(extraction.units) - most} units more than asked for were left out")
            for unit in extraction.units[most:]:
                self.failed.update(self.sources[e.source - 1].path for e in unit.evidence if self._offered(e))
        evidenced = [e for unit in extraction.units[:most] if (e := self._evidenced(unit)) is not None]
        for entry in evidenced:
            self.open_units.update({source.path for source in entry.sources})
        for entry in evidenced:
            await self._integrate(entry)

    def _offered(self, evidence: Evidence) -> bool:
        return 1 <= evidence.source <= len(self.sources)

    def _evidenced(self, unit: Unit) -> _Evidenced | None:
        """A unit with its evidence looked up; what was not offered is refused line by line."""
        lines: list[SourceLine] = []
        sources: list[Source] = []
        for evidence in dict.fromkeys(unit.evidence):
            source = self.sources[evidence.source - 1] if self._offered(evidence) else None
            line = source.line(evidence.line) if source else None
            if source is None or line is None:
                self.problems.append(
                    f"unit {unit.name!r}: line {evidence.line} of source {evidence.source} was not offered"
                )
                continue
            lines.append(line)
            sources.append(source)
        if not lines:
            self.problems.append(f"unit {unit.name!r} has no evidence and is left out")
            return None
        buckets = {bucket.name for bucket in self.settings.buckets}
        if unit.bucket and unit.bucket not in buckets:
            self.problems.append(f"unit {unit.name!r}: there is no bucket {unit.bucket!r}")
        bucket = unit.bucket if unit.bucket in buckets else self.settings.fallback
        return _Evidenced(unit, bucket, tuple(lines), tuple(sources))

    async def _integrate(self, entry: _Evidenced) -> None:
        complaint, refusals = "", 0
        for _ in range(ATTEMPTS):
            homes = await asyncio.to_thread(
                find_homes, self.workspace, entry.unit, entry.lines, self.settings.candidates
            )
            decision = await self.reasoner.integrate(
                entry.unit, entry.lines, [home.candidate for home in homes], complaint
            )
            plan = self._planned(entry, decision, homes)
            try:
                if await asyncio.to_thread(self._commit, entry, plan):
                    return
            except Refused as error:
                complaint, refusals = error.message, refusals + 1
                if refusals > 1:
                    self._give_up(entry, plan, "refused", error.message)
                    return
        self._give_up(entry, None, "conflict", "its files kept changing")

    # From a decision to an edit

    def _planned(self, entry: _Evidenced, decision: Integration, homes: Sequence[Home]) -> _Plan:
        match decision:
            case Skip(reason):
                return _Plan("skipped", None, None, (), reason)
            case Create(claims, relations):
                return self._created(entry, claims, relations, homes)
            case Update():
                return self._updated(entry, decision, homes)
            case _:
                assert_never(decision)

    def _created(
        self, entry: _Evidenced, claims: Sequence[Claim], relations: Sequence[Relation], homes: Sequence[Home]
    ) -> _Plan:
        fit = tuple(claim for claim in claims if self._fits(entry, claim))
        if not fit:
            return _Plan("skipped", None, None, (), "no claim of it could be followed")
        path = free_node_path(self.workspace.vault, entry.bucket, slug_of(entry.unit.slug or entry.unit.name))
        cited = dict.fromkeys(source for claim in fit for source in entry.citing.sources(claim.evidence))
        data = write_node(
            name=entry.unit.name,
            description=entry.unit.summary,
            aliases=entry.unit.aliases,
            claims=fit,
            citing=entry.citing,
            sources=list(cited),
            relations=self._related(entry, relations, homes, None),
        )
        return _Plan("created", path, Put(path, data, ABSENT, NODE_LAWS), fit)

    def _updated(self, entry: _Evidenced, update: Update, homes: Sequence[Home]) -> _Plan:
        if not 1 <= update.candidate <= len(homes):
            reason = f"candidate {update.candidate} was not offered"
            self.problems.append(f"unit {entry.unit.name!r}: {reason}")
            return _Plan("refused", None, None, (), reason)
        node = homes[update.candidate - 1].node
        edits = [edit for edit in update.edits if self._follows(entry, edit)]
        related = self._related(entry, update.relations, homes, update.candidate)
        worked: Worked = work_in(node, edits, entry.citing, related)
        self.problems.extend(f"unit {entry.unit.name!r}: {reason}" for reason in worked.refused)
        if worked.data == node.note.source:
            outcome: UnitOutcome = "unchanged" if worked.landed else "refused"
            reason = "" if worked.landed else "no edit of it could be followed"
            return _Plan(outcome, node.path, None, worked.landed, reason)
        put = Put(node.path, worked.data, node.revision, NODE_LAWS)
        return _Plan(_SHAPES.get(update.shape, "refined"), node.path, put, worked.landed)

    def _follows(self, entry: _Evidenced, edit: NodeEdit) -> bool:
        return self._cites(entry, edit.evidence) if isinstance(edit, Cite) else self._fits(entry, edit.claim)

    def _fits(self, entry: _Evidenced, claim: Claim) -> bool:
        """Whether a claim can stand in a node; if not, it is refused with the reason."""
        if reason := objection(claim.text):
            self.problems.append(f"unit {entry.unit.name!r}: the claim {claim.text[:80]!r}: {reason}")
            return False
        return self._cites(entry, claim.evidence)

    def _cites(self, entry: _Evidenced, evidence: Sequence[int]) -> bool:
        wrong = [number for number in evidence if not 1 <= number <= len(entry.lines)]
        if wrong or not evidence:
            shown = f"evidence {wrong[0]} was not offered" if wrong else "a claim has no evidence"
            self.problems.append(f"unit {entry.unit.name!r}: {shown}")
            return False
        return True

    def _related(
        self, entry: _Evidenced, relations: Sequence[Relation], homes: Sequence[Home], itself: int | None
    ) -> list[tuple[str, VaultPath]]:
        found: list[tuple[str, VaultPath]] = []
        for relation in relations:
            if relation.candidate == itself or not 1 <= relation.candidate <= len(homes):
                self.problems.append(
                    f"unit {entry.unit.name!r}: a relation to candidate {relation.candidate}, which was not offered"
                )
            else:
                found.append((relation.predicate, homes[relation.candidate - 1].node.path))
        return found

    # Committing

    def _commit(self, entry: _Evidenced, plan: _Plan) -> bool:
        """Write a plan with what is to be remembered of it; False if the files have changed meanwhile."""
        done = [path for path in {source.path for source in entry.sources} if self._is_last(path)]
        if plan.outcome == "refused":
            self._give_up(entry, plan, "refused", plan.reason)
            return True
        if plan.edit is not None and not self.dry_run:
            lines: list[LedgerLine] = [*_derived(entry, plan), *map(self._digested, done)]
            now, run = self.workspace.clock.now(), self.workspace.caller.run
            ledger = append_lines(self.workspace.vault, tuple(lines), at=now, run=run)
            reason = f"{plan.outcome} {plan.node} from {entry.unit.name}"
            outcome = commit_as_system(self.workspace, [plan.edit, ledger], one_line(reason))
            if not isinstance(outcome, Committed | Unchanged):
                return False
            self.finished += done
        self.open_units.subtract({source.path for source in entry.sources})
        self.units.append(
            UnitReport(entry.unit.name, entry.bucket, plan.outcome, plan.node, len(plan.landed), plan.reason)
        )
        return True

    def _is_last(self, path: VaultPath) -> bool:
        return self.open_units[path] == 1 and path not in self.failed

    def _digested(self, path: VaultPath) -> Digested:
        source = next(source for source in self.sources if source.path == path)
        return Digested(path, source.revision, source.fingerprint)

    def _give_up(self, entry: _Evidenced, plan: _Plan | None, outcome: UnitOutcome, reason: str) -> None:
        node = plan.node if plan else None
        self.failed.update(source.path for source in entry.sources)
        self.open_units.subtract({source.path for source in entry.sources})
        self.units.append(UnitReport(entry.unit.name, entry.bucket, outcome, node, 0, reason))
        self.failures.append(Failure(outcome, (node,) if node else (), f"{entry.unit.name}: {reason}"))

    def finish(self) -> DreamReport:
        """Record the sources that are done without a node of their own, refresh the view, leave the report."""
        rest = [s.path for s in self.sources if s.path not in self.failed and s.path not in self.finished]
        if not self.dry_run:
            self.finished += rest
        writes = bool(self.sources) and not self.dry_run
        report = DreamReport(
            run=self.workspace.caller.run,
            dry_run=self.dry_run,
            sources=tuple(source.path for source in self.sources),
            finished=tuple(self.finished),
            units=tuple(self.units),
            topics=self.topics,
            vanished=vanished_sources(self.workspace),
            problems=tuple(self.problems),
            report=report_path(self.workspace, _ACTION) if writes else None,
        )
        if not writes:
            return report
        edits: list[Edit] = [write_report(self.workspace, _ACTION, dream_summary(report), dream_lines(report))]
        lines: list[LedgerLine] = [*map(self._digested, rest), *self.failures]
        if lines:
            now, run = self.workspace.clock.now(), self.workspace.caller.run
            edits.append(append_lines(self.workspace.vault, tuple(lines), at=now, run=run))
        if any(unit.outcome == "created" for unit in self.units):
            edits.append(self._view())
        commit_as_system(self.workspace, edits, dream_summary(report))
        return report

    def _view(self) -> Amend:
        layout = self.workspace.vault.layout
        nodes = [bucket_of(layout, path) for path in node_paths(self.workspace.vault)]
        path = parse_path(f"{layout.digest}/{BUCKETS_VIEW}")
        buckets, fallback = self.settings.buckets, self.settings.fallback
        return Amend(path, lambda data: buckets_view(data, buckets, fallback, nodes))


def _derived(entry: _Evidenced, plan: _Plan) -> list[LedgerLine]:
    """What the node took from each source: the line of every piece of evidence, and the words that stand for it."""
    taken: dict[VaultPath, list[Taken]] = {}
    for claim in plan.landed:
        for number in claim.evidence:
            taken.setdefault(entry.sources[number - 1].path, []).append(
                Taken(entry.lines[number - 1].number, claim.text)
            )
    revisions = {source.path: source.revision for source in entry.sources}
    node = plan.node
    return [Derived(node, path, revisions[path], tuple(found)) for path, found in taken.items()] if node else []
