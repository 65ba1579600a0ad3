"""auto_dream: from changed daily notes and resources to linked knowledge in the digest.

Owns the steps: find what changed, ask what it teaches, find where each unit belongs, work it in under the conservation
laws, and record in the same change set what came of which source. Nothing changed means nothing read by a reasoner and
nothing written. Units are decided several at a time and committed one after the other, each among its candidates as
they are then: a decision counts as long as what it rests on is what the reasoner was shown; else it is asked again, up
to three times. Sources may be edited, moved or deleted meanwhile, and other dreams may run: what they took is not
taken again.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Final

from reme.actions.candidates import Decided, Home, find_homes, vanished_sources
from reme.actions.digest import bucket_of, free_node_path, view_edit
from reme.actions.dream_report import DreamReport, Dropped, UnitOutcome, UnitReport, dream_lines, dream_summary
from reme.actions.gathering import Gathered, gather
from reme.actions.interests import Interest, chosen, interests_path, with_interests
from reme.actions.ledger import Digested, Failure, LedgerLine, append_lines, taken_since
from reme.actions.plans import Evidenced, Plan, derived_lines, evidenced, planned
from reme.actions.proposals import Proposal, Proposed, difference, keep_proposal
from reme.actions.runs import ATTEMPTS, MOST_LISTED, commit_as_system, report_path, write_report
from reme.actions.settings import DreamSettings
from reme.actions.sources import Source
from reme.errors import InvalidInput, Refused, ReMeError, Unavailable
from reme.markdown import words
from reme.paths import VaultPath, slug_of
from reme.reason import DreamReasoner, Evidence, Extraction, OfflineReasoner, Topic, Unusable
from reme.revision import revision_of
from reme.tools import Workspace, one_line
from reme.vault import Amend, Committed, Edit, Put, Unchanged, locked
from reme.wording import counted

__all__ = ["auto_dream"]

_ACTION: Final = "auto_dream"
_LINES_AT_ONCE: Final = 1500
"""How many lines of sources a reasoner is shown at once; what is more is shown after it, in the same run."""


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
        Unavailable: If the vault cannot be written or the reasoner does not answer; what has landed stays, and the
            report says where it stopped.
    """
    settings = settings or DreamSettings()
    days, most = scan_days or settings.scan_days, max_units or settings.max_units
    if days < 1 or most < 1:
        raise InvalidInput("scan_days and max_units must be at least 1")
    until = day or workspace.clock.today()
    gathered = await asyncio.to_thread(gather, workspace, settings, until, days, path)
    dream = _Dream(workspace, reasoner, settings, until, gathered, dry_run)
    try:
        for start, stop in _portions(gathered.sources):
            shown = [source.shown for source in gathered.sources[start:stop]]
            if (left := most - len(dream.units)) > 0:
                extraction = await reasoner.extract(shown, settings.buckets, left, hint)
                await dream.run(_renumbered(extraction, start, len(shown)), left)
            else:
                dream.failed.update(source.path for source in gathered.sources[start:stop])
    except Unavailable as error:
        await asyncio.to_thread(dream.stop, error.message)
        raise
    return await asyncio.to_thread(dream.finish)


def _portions(sources: Sequence[Source]) -> Iterator[tuple[int, int]]:
    """Where what is shown to a reasoner at once begins and ends among the sources: as much as a night's, at most."""
    start = lines = 0
    for place, source in enumerate(sources):
        if lines and lines + len(source.shown.lines) > _LINES_AT_ONCE:
            yield start, place
            start, lines = place, 0
        lines += len(source.shown.lines)
    if start < len(sources):
        yield start, len(sources)


def _renumbered(extraction: Extraction, start: int, count: int) -> Extraction:
    """What was extracted from ``count`` sources behind the first ``start``, by their numbers among all sources."""
    if not start:
        return extraction

    def numbered(evidence: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
        return tuple(Evidence(e.source + start if 1 <= e.source <= count else 0, e.line) for e in evidence)

    return replace(
        extraction,
        units=tuple(replace(unit, evidence=numbered(unit.evidence)) for unit in extraction.units),
        topics=tuple(replace(topic, evidence=numbered(topic.evidence)) for topic in extraction.topics),
        unfinished=tuple(number + start for number in extraction.unfinished if 1 <= number <= count),
    )


@dataclass(slots=True)
class _Dream:
    """One run over changed sources."""

    workspace: Workspace
    reasoner: DreamReasoner
    settings: DreamSettings
    day: date
    gathered: Gathered
    dry_run: bool
    units: list[UnitReport] = field(default_factory=list[UnitReport])
    elsewhere: list[UnitReport] = field(default_factory=list[UnitReport])
    topics: tuple[Topic, ...] = ()
    problems: list[str] = field(default_factory=list[str])
    open_units: Counter[VaultPath] = field(default_factory=Counter[VaultPath])
    failed: set[VaultPath] = field(default_factory=set[VaultPath])
    finished: list[VaultPath] = field(default_factory=list[VaultPath])
    failures: list[LedgerLine] = field(default_factory=list[LedgerLine])
    drafts: dict[VaultPath, bytes] = field(default_factory=dict[VaultPath, bytes])
    proposed: dict[VaultPath, Proposed] = field(default_factory=dict[VaultPath, Proposed])
    landed: set[tuple[VaultPath, int]] = field(default_factory=set[tuple[VaultPath, int]])

    @property
    def sources(self) -> Sequence[Source]:
        """What changed."""
        return self.gathered.sources

    @property
    def writes(self) -> bool:
        """Whether nodes are written, and not only planned."""
        return not self.dry_run and self.settings.mode == "auto"

    async def run(self, extraction: Extraction, most: int) -> None:
        """Integrate the units, in their order."""
        self.topics += extraction.topics
        self.problems += extraction.refused
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
        at_once = isinstance(self.reasoner, OfflineReasoner)
        size = 1 if at_once else max(1, self.settings.parallel)
        for at in range(0, len(entries), size):
            batch = entries[at : at + size]
            self.workspace.progress("learning", at, len(entries))
            homes = [await self._homes(entry) for entry in batch]
            asked = (self._ask(e, h, "") for e, h in zip(batch, homes, strict=True))
            decided = await asyncio.gather(*asked, return_exceptions=True)
            for place, (entry, early) in enumerate(zip(batch, decided, strict=True)):
                try:
                    if isinstance(early, BaseException):
                        raise early
                    await self._integrate(entry, early if place == 0 else await self._still(entry, early))
                except Unusable as error:
                    self._give_up(entry, None, "refused", error.message)

    async def _still(self, entry: Evidenced, decided: Decided) -> Decided:
        """A decision for the candidates as they are now: the same if what it rests on is there, else another."""
        homes = await self._homes(entry)
        return decided.among(homes) or await self._ask(entry, homes, "")

    async def _decide(self, entry: Evidenced, complaint: str) -> Decided:
        return await self._ask(entry, await self._homes(entry), complaint)

    async def _ask(self, entry: Evidenced, homes: Sequence[Home], complaint: str) -> Decided:
        candidates = [home.candidate for home in homes]
        decision = await self.reasoner.integrate(entry.unit, entry.lines, candidates, complaint)
        return Decided(tuple(homes), decision)

    async def _homes(self, entry: Evidenced) -> list[Home]:
        limit = self.settings.candidates
        return await asyncio.to_thread(find_homes, self.workspace, entry.unit, entry.lines, limit, self.drafts)

    async def _integrate(self, unit: Evidenced, decided: Decided) -> None:
        """Write what was decided; gather again where files have changed, decide anew where a law was broken."""
        refusals = 0
        entry = unit
        for attempt in range(ATTEMPTS):
            problems: list[str] = []
            learnt = self.gathered.ledger.stated_by
            plan = planned(entry, decided.decision, decided.homes, self._new_path, problems, learnt)
            self.problems += problems
            last = attempt + 1 == ATTEMPTS
            try:
                left = await asyncio.to_thread(self._commit, unit, entry, plan)
                if left is None:
                    return
                if not last:
                    same = left is entry
                    entry = left
                    decided = await self._still(entry, decided) if same else await self._decide(entry, "")
            except Refused as error:
                refusals += 1
                if refusals > 1:
                    self._give_up(unit, plan.node, "refused", error.message)
                    return
                if not last:
                    decided = await self._decide(entry, error.message)
        self._give_up(unit, None, "conflict", "its files kept changing")

    def _new_path(self, bucket: str, name: str) -> VaultPath:
        return free_node_path(self.workspace.vault, bucket, slug_of(name), self.drafts)

    # Committing

    def _commit(self, unit: Evidenced, entry: Evidenced, plan: Plan) -> Evidenced | None:
        """Write a plan with what is to be remembered of it.

        Args:
            unit: The unit as it was found.
            entry: What is left of it to be learnt.

        Returns:
            What is to be tried again, where files have changed meanwhile, or other runs have learnt some of it.
        """
        if plan.outcome == "refused":
            self._give_up(unit, plan.node, "refused", plan.reason)
            return None
        edits = [part.edit for part in plan.every if part.edit is not None]
        if edits and self.writes:
            with locked(self.workspace.vault):
                return self._write(unit, entry, plan, edits)
        for part in plan.every:
            self._draft(entry, part)
        self._done(unit, entry, plan)
        return None

    def _write(self, unit: Evidenced, entry: Evidenced, plan: Plan, edits: Sequence[Put]) -> Evidenced | None:
        if reason := self._changed_meanwhile(entry):
            self._give_up(unit, plan.node, "conflict", reason)
            return None
        left = entry.without(self._taken_meanwhile())
        if not left.lines:
            self._done(unit, entry, Plan("skipped", None, None, (), "another run has learnt it meanwhile"))
            return None
        if left is not entry:
            return left
        done = [path for path in unit.paths if self._is_last(path)]
        derived = (line for part in plan.every for line in derived_lines(entry, part))
        ledger = self._ledger([*derived, *map(self._digested, done)])
        outcome = commit_as_system(self.workspace, [*edits, ledger], _reason(entry, plan))
        if not isinstance(outcome, Committed | Unchanged):
            return entry
        self.finished += done
        self._done(unit, entry, plan)
        return None

    def _done(self, unit: Evidenced, entry: Evidenced, plan: Plan) -> None:
        self.open_units.subtract(unit.paths)
        for number in (number for part in plan.every for claim in part.landed for number in claim.evidence):
            self.landed.add((entry.sources[number - 1].path, entry.lines[number - 1].number))
        name, layout = unit.unit.name, self.workspace.vault.layout
        own, *others = (
            UnitReport(
                name,
                bucket_of(layout, part.node) if part.node else unit.bucket,
                part.outcome,
                part.node,
                len(part.landed),
                part.reason,
                part.conflicts,
            )
            for part in plan.every
        )
        self.units.append(own)
        self.elsewhere += others

    def _changed_meanwhile(self, entry: Evidenced) -> str:
        """Why lines of a unit cannot be cited any more, empty if they can."""
        for source in dict.fromkeys(entry.sources):
            data = self.workspace.vault.bytes_of(source.path)
            if data is None:
                return f"{source.path} was moved or deleted while it was read"
            if revision_of(data) != source.revision:
                said = words(data.decode("utf-8", "replace"))
                own = (line for line, where in zip(entry.lines, entry.sources, strict=True) if where is source)
                if any(words(line.text) not in said for line in own):
                    return f"{source.path} was changed while it was read, and no longer says it"
        return ""

    def _taken_meanwhile(self) -> Mapping[VaultPath, frozenset[str]]:
        return taken_since(self.workspace.vault, self.gathered.ledger.size, self.workspace.caller.run)

    def _draft(self, entry: Evidenced, plan: Plan) -> None:
        """Keep what would be written; from the bytes that it was first planned from."""
        if plan.node is None or plan.data is None:
            return
        path, data = plan.node, plan.data
        base = plan.base.decode("utf-8") if plan.base is not None else None
        first = self.proposed.get(path) or Proposed(path, base, "", _reason(entry, plan))
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

    def _give_up(self, entry: Evidenced, node: VaultPath | None, outcome: UnitOutcome, reason: str) -> None:
        self.failed.update(entry.paths)
        self.open_units.subtract(entry.paths)
        self.units.append(UnitReport(entry.unit.name, entry.bucket, outcome, node, 0, reason))
        self.failures.append(Failure(outcome, (node,) if node else (), f"{entry.unit.name}: {reason}"))

    def _dropped(self) -> tuple[Dropped, ...]:
        """What sources that are done with have, and nothing took up."""
        found: list[Dropped] = []
        for source in (source for source in self.sources if source.path not in self.failed):
            left = [line for line in source.shown.lines if (source.path, line.number) not in self.landed]
            texts = [*((line.number, line.text) for line in left if not line.known), *source.unstated]
            found.extend(Dropped(source.path, number, text) for number, text in sorted(texts))
        return tuple(found)

    def stop(self, problem: str) -> None:
        """Leave the report of a run that cannot go on, if there is a way to; what has not landed is read again."""
        self.failed.update(source.path for source in self.sources if source.path not in self.finished)
        self.problems.append(f"stopped: {problem}")
        self.proposed.clear()
        with contextlib.suppress(ReMeError):
            self.finish()

    def finish(self) -> DreamReport:
        """Record the sources that are done without a node of their own, take up topics, leave the report."""
        rest = [s.path for s in self.sources if s.path not in self.failed and s.path not in self.finished]
        proposal = self._proposal(rest) if not self.dry_run else None
        interests = self._interests()
        records, dropped = bool(self.sources or self.gathered.moved) and not self.dry_run, self._dropped()
        if records and proposal is None:
            self.finished += rest
        report = DreamReport(
            run=self.workspace.caller.run,
            dry_run=self.dry_run,
            sources=tuple(source.path for source in self.sources),
            finished=tuple(self.finished),
            units=tuple(self.units),
            elsewhere=tuple(self.elsewhere),
            topics=interests,
            vanished=vanished_sources(self.workspace),
            problems=tuple(self.problems),
            report=report_path(self.workspace, _ACTION) if records else None,
            diff="\n".join(difference(file.path, file.base, file.text) for file in self.proposed.values()),
            proposed=proposal is not None,
            interests=interests_path(self.workspace.vault, self.day) if interests and records else None,
            stale=self.gathered.stale.stale,
            moved=tuple((each.source, each.target) for each in self.gathered.moved),
            dropped=dropped[:MOST_LISTED],
            dropped_in_all=len(dropped),
            earlier=self.gathered.earlier,
        )
        if records:
            self._record(report, rest, proposal, interests)
        return report

    def _record(
        self, report: DreamReport, rest: Sequence[VaultPath], proposal: Proposal | None, interests: Sequence[Interest]
    ) -> None:
        vault = self.workspace.vault
        edits: list[Edit] = [write_report(self.workspace, _ACTION, dream_summary(report), dream_lines(report))]
        moved = (line for each in self.gathered.moved for line in each.lines)
        done = map(self._digested, rest) if proposal is None else ()
        if lines := [*moved, *done, *self.failures]:
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
        summary = f"{counted(len(files), 'file')} from {counted(len(self.sources), 'source')}"
        return Proposal(run, at, summary, files, tuple(map(self._digested, done)))


def _reason(entry: Evidenced, plan: Plan) -> str:
    return one_line(f"{plan.outcome} {plan.node} from {entry.unit.name}")
