"""From a decision to an edit: what a unit becomes, with everything checked that a reasoner could get wrong.

Owns the checks. Whatever was not offered (a line, a candidate, a bucket, a block) is refused one by one with its
reason, and the rest is followed. Writes nothing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, assert_never

from reme.actions.candidates import Home
from reme.actions.dream_report import UnitOutcome
from reme.actions.ledger import Derived, Taken
from reme.actions.nodes import CONFLICT, Citing, Worked, read_node, work_in, write_node
from reme.actions.origin import Origin, lowest
from reme.actions.runs import NODE_LAWS
from reme.actions.sources import Source
from reme.actions.statements import Item, objection
from reme.markdown import parse
from reme.paths import VaultPath
from reme.reason import (
    Bucket,
    Cite,
    Claim,
    Contradict,
    Create,
    Dispute,
    Elsewhere,
    Evidence,
    Integration,
    NodeEdit,
    Relation,
    Skip,
    SourceLine,
    Unit,
    Update,
    shape_of,
)
from reme.revision import ABSENT, revision_of
from reme.vault import Put

__all__ = ["Evidenced", "Plan", "derived_lines", "evidenced", "planned"]

Learnt = Callable[[VaultPath], Iterable[str]]
"""Tells what a node has stated when it was learnt."""

_SHAPES: Final[Mapping[str, UnitOutcome]] = {"corroborate": "corroborated", "refine": "refined", "correct": "corrected"}


@dataclass(frozen=True, slots=True)
class Evidenced:
    """A unit with the lines behind it, in the order of its evidence, and the sources that they stand in."""

    unit: Unit
    bucket: str
    lines: tuple[SourceLine, ...]
    sources: tuple[Source, ...]

    @property
    def citing(self) -> Citing:
        """How claims about these lines are cited."""
        return Citing(self._item, self._paths)

    @property
    def paths(self) -> frozenset[VaultPath]:
        """The sources, each once."""
        return frozenset(source.path for source in self.sources)

    def without(self, learnt: Mapping[VaultPath, frozenset[str]]) -> "Evidenced":
        """What is left of it besides lines that somebody else has learnt from; itself if that is all."""
        left = [
            place
            for place, (line, source) in enumerate(zip(self.lines, self.sources, strict=True))
            if line.known or line.text not in learnt.get(source.path, frozenset())
        ]
        if len(left) == len(self.lines):
            return self
        evidence = tuple(self.unit.evidence[place] for place in left)
        lines, sources = (tuple(each[place] for place in left) for each in (self.lines, self.sources))
        return replace(self, unit=replace(self.unit, evidence=evidence), lines=lines, sources=sources)

    def _item(self, claim: Claim) -> Item:
        line = self.lines[claim.evidence[0] - 1]
        return Item(claim.text, line.speaker, line.day, line.about, line.step)

    def _paths(self, evidence: tuple[int, ...]) -> tuple[VaultPath, ...]:
        return tuple(dict.fromkeys(self.sources[number - 1].path for number in evidence))


@dataclass(frozen=True, slots=True)
class Plan:
    """What a decision comes to: the node's new bytes, if any, with those that they were made from, and what landed.

    Attributes:
        elsewhere: The same for other nodes that the unit says something about.
    """

    outcome: UnitOutcome
    node: VaultPath | None
    data: bytes | None
    landed: tuple[Claim, ...]
    reason: str = ""
    base: bytes | None = None
    elsewhere: tuple["Plan", ...] = ()

    @property
    def conflicts(self) -> int:
        """How many statements it puts beside one that they contradict."""
        return self.data.count(CONFLICT) - (self.base or b"").count(CONFLICT) if self.data else 0

    @property
    def every(self) -> tuple["Plan", ...]:
        """Itself, and those for other nodes."""
        return (self, *self.elsewhere)

    @property
    def edit(self) -> Put | None:
        """What is to be written."""
        if self.node is None or self.data is None:
            return None
        return Put(self.node, self.data, ABSENT if self.base is None else revision_of(self.base), NODE_LAWS)


def evidenced(
    unit: Unit, sources: Sequence[Source], buckets: Sequence[Bucket], fallback: str, problems: list[str]
) -> Evidenced | None:
    """A unit with its evidence looked up; None if nothing of it was offered.

    Args:
        fallback: The bucket of a unit that names none, or none that there is.
        problems: Takes the reasons for what is refused.
    """
    offered: list[Evidence] = []
    lines: list[SourceLine] = []
    behind: list[Source] = []
    for evidence in dict.fromkeys(unit.evidence):
        source = sources[evidence.source - 1] if _offered(evidence, sources) else None
        line = source.line(evidence.line) if source else None
        if source is None or line is None:
            problems.append(f"unit {unit.name!r}: line {evidence.line} of source {evidence.source} was not offered")
            continue
        offered.append(evidence)
        lines.append(line)
        behind.append(source)
    if not lines:
        problems.append(f"unit {unit.name!r} has no evidence and is left out")
        return None
    known = {bucket.name for bucket in buckets}
    if unit.bucket and unit.bucket not in known:
        problems.append(f"unit {unit.name!r}: there is no bucket {unit.bucket!r}")
    followed = replace(unit, evidence=tuple(offered))
    return Evidenced(followed, unit.bucket if unit.bucket in known else fallback, tuple(lines), tuple(behind))


def _offered(evidence: Evidence, sources: Sequence[Source]) -> bool:
    return 1 <= evidence.source <= len(sources)


def planned(
    entry: Evidenced,
    decision: Integration,
    homes: Sequence[Home],
    new_path: Callable[[str, str], VaultPath],
    problems: list[str],
    learnt: Learnt = lambda _: (),
) -> Plan:
    """What a decision comes to.

    Args:
        homes: The candidates, in the order in which they were offered.
        new_path: Gives the path of a new node, from its bucket and slug.
        problems: Takes the reasons for what is refused.
        learnt: Tells what a node has stated when it was learnt.
    """
    found: list[str] = [] if isinstance(decision, Skip) else [*decision.refused]
    elsewhere: tuple[Plan, ...] = ()
    match decision:
        case Skip(reason):
            plan = Plan("skipped", None, None, (), reason)
        case Create():
            plan = _created(entry, decision, _related(decision.relations, homes, None, found), new_path, found)
            elsewhere = _elsewhere(entry, decision.elsewhere, homes, None, found, learnt)
        case Update():
            plan = _updated(entry, decision, homes, found, learnt)
            elsewhere = _elsewhere(entry, decision.elsewhere, homes, decision.candidate, found, learnt)
        case _:
            assert_never(decision)
    problems += [f"unit {entry.unit.name!r}: {problem}" for problem in found]
    return plan if plan.outcome == "refused" else replace(plan, elsewhere=elsewhere)


def _created(
    entry: Evidenced,
    create: Create,
    related: Sequence[tuple[str, VaultPath]],
    new_path: Callable[[str, str], VaultPath],
    problems: list[str],
) -> Plan:
    fit = tuple(claim for claim in create.claims if _fits(entry, claim, problems))
    if not fit:
        return Plan("refused", None, None, (), "no claim of it could be followed")
    path = new_path(entry.bucket, create.name or entry.unit.slug or entry.unit.name)
    cited = dict.fromkeys(source for claim in fit for source in entry.citing.sources(claim.evidence))
    data = write_node(
        name=create.name or entry.unit.name,
        description=create.summary or entry.unit.summary,
        aliases=entry.unit.aliases,
        origin=lowest(source.origin for source in entry.sources if source.path in cited),
        claims=fit,
        citing=entry.citing,
        sources=list(cited),
        relations=related,
    )
    disputed = _disputed(entry, path, data, create.disputes, problems)
    return Plan("created", path, disputed.data, (*fit, *disputed.landed))


def _updated(entry: Evidenced, update: Update, homes: Sequence[Home], problems: list[str], learnt: Learnt) -> Plan:
    if not 1 <= update.candidate <= len(homes):
        reason = f"candidate {update.candidate} was not offered"
        problems.append(reason)
        return Plan("refused", None, None, (), reason)
    node = homes[update.candidate - 1].node
    edits = [edit for edit in update.edits if _follows(entry, edit, problems)]
    related = _related(update.relations, homes, update.candidate, problems)
    worked = work_in(node, edits, entry.citing, related, _origins(entry), learnt)
    problems.extend(worked.refused)
    if worked.data == node.note.source:
        if worked.landed:
            return Plan("unchanged", node.path, None, worked.landed)
        return Plan("refused", node.path, None, (), "no edit of it could be followed")
    outcome = _SHAPES.get(update.shape, "refined")
    disputed = _disputed(entry, node.path, worked.data, update.disputes, problems)
    landed = (*worked.landed, *disputed.landed)
    return Plan(outcome, node.path, disputed.data, landed, base=node.note.source)


def _disputed(
    entry: Evidenced, path: VaultPath, data: bytes, disputes: Sequence[Dispute], problems: list[str]
) -> Worked:
    """A node as planned with what contradicts claims of the same answer beside these."""
    node = read_node(path, data)
    edits: list[NodeEdit] = []
    for dispute in disputes:
        if dispute.stated.text not in node.texts:
            problems.append(f"{dispute.claim.text[:80]!r} contradicts what is not stated")
        elif _fits(entry, dispute.claim, problems):
            edits.append(Contradict(node.texts.index(dispute.stated.text) + 1, dispute.claim))
    worked = work_in(node, edits, entry.citing, (), _origins(entry))
    problems.extend(worked.refused)
    return worked


def _origins(entry: Evidenced) -> dict[VaultPath, Origin]:
    return {source.path: source.origin for source in entry.sources}


def _elsewhere(
    entry: Evidenced,
    elsewhere: Sequence[Elsewhere],
    homes: Sequence[Home],
    itself: int | None,
    problems: list[str],
    learnt: Learnt,
) -> tuple[Plan, ...]:
    """What a unit comes to in other nodes, each once; one that could not be followed is left out."""
    plans: dict[int, Plan] = {}
    for other in elsewhere:
        if other.candidate == itself or other.candidate in plans:
            problems.append(f"candidate {other.candidate} is given twice")
        else:
            update = Update(other.candidate, shape_of(other.edits), other.edits)
            plans[other.candidate] = _updated(entry, update, homes, problems, learnt)
    return tuple(plan for plan in plans.values() if plan.outcome != "refused")


def _follows(entry: Evidenced, edit: NodeEdit, problems: list[str]) -> bool:
    return _cites(entry, edit.evidence, problems) if isinstance(edit, Cite) else _fits(entry, edit.claim, problems)


def _fits(entry: Evidenced, claim: Claim, problems: list[str]) -> bool:
    """Whether a claim can stand in a node; if not, it is refused with the reason."""
    if reason := objection(claim.text) or _anchored(entry, claim):
        problems.append(f"the claim {claim.text[:80]!r}: {reason}")
        return False
    return _cites(entry, claim.evidence, problems)


def _anchored(entry: Evidenced, claim: Claim) -> str:
    """Whether a claim links a part of a note, where that is not a source's own words: parts are split into nodes."""
    own = any(claim.text in line.text for line in entry.lines)
    has = not own and any(link.anchor for link in parse(claim.text.encode("utf-8", "replace")).links)
    return "it links a part of a note; a node links whole ones" if has else ""


def _cites(entry: Evidenced, evidence: Sequence[int], problems: list[str]) -> bool:
    wrong = [number for number in evidence if not 1 <= number <= len(entry.lines)]
    if wrong or not evidence:
        problems.append(f"evidence {wrong[0]} was not offered" if wrong else "a claim has no evidence")
        return False
    return True


def _related(
    relations: Sequence[Relation], homes: Sequence[Home], itself: int | None, problems: list[str]
) -> list[tuple[str, VaultPath]]:
    found: list[tuple[str, VaultPath]] = []
    for relation in relations:
        if relation.candidate == itself or not 1 <= relation.candidate <= len(homes):
            problems.append(f"a relation to candidate {relation.candidate}, which was not offered")
        else:
            found.append((relation.predicate, homes[relation.candidate - 1].node.path))
    return found


def derived_lines(entry: Evidenced, plan: Plan) -> tuple[Derived, ...]:
    """What a plan's own node took from each source: every line that is evidence, and how the node states it."""
    taken: dict[VaultPath, list[Taken]] = {}
    for claim in plan.landed:
        for number in claim.evidence:
            line = entry.lines[number - 1]
            stated = claim.text if claim.text != line.text else ""
            taken.setdefault(entry.sources[number - 1].path, []).append(Taken(line.number, line.text, stated))
    revisions = {source.path: source.revision for source in entry.sources}
    node = plan.node
    return tuple(Derived(node, path, revisions[path], tuple(found)) for path, found in taken.items()) if node else ()
