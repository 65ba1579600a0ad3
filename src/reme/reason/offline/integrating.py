"""Offline integration: whether a unit is a node of its own or adds to one, statement by statement.

A statement that says again, or contradicts, what stands in another node than the unit's goes there by itself. Owns the
thresholds. Never decides which of two contradicting statements holds; where it is unsure, a node is created.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from reme.paths import fold
from reme.reason.decisions import (
    Candidate,
    Cite,
    Claim,
    Contradict,
    Create,
    Dispute,
    Elsewhere,
    Insert,
    Integration,
    NodeEdit,
    Relation,
    Skip,
    SourceLine,
    Unit,
    Update,
    shape_of,
)
from reme.reason.offline.contradicting import Said, alike, contradicts, corrects
from reme.reason.offline.rules import has_cjk
from reme.reason.offline.shelf import Shelf
from reme.reason.offline.terms import Lexicon, inverse_frequencies, overlap
from reme.reason.offline.titles import entitled

__all__ = ["integrate"]

_SAME_SUBJECT: Final = 0.5
_NAME_SHARED: Final = 0.6
_BODY_SHARED: Final = 0.45
_REST_SHARED: Final = 0.2
_CLAIMS_ANCHORED: Final = 0.5
_WORDS_SHARED: Final = 3
_RELATED: Final = 0.35
_MOST_RELATIONS: Final = 3
_FULL: Final = 400
"""How many blocks a node has to have for its subject to go on in a further one, which is linked with it."""


_Reader = Callable[[str], Said]


def integrate(
    lexicon: Lexicon, read: _Reader, unit: Unit, evidence: Sequence[SourceLine], candidates: Sequence[Candidate]
) -> Integration:
    """Place a unit; see `reme.reason.DreamReasoner.integrate`.

    Args:
        read: Reads a statement.
    """
    claims = _claims(read, unit, evidence)
    if not claims:
        return Skip("there is no statement in it")
    shelves = [Shelf(map(read, candidate.blocks)) for candidate in candidates]
    chosen = _chosen(lexicon, read, unit, claims, candidates, shelves)
    placed = _placed_elsewhere(read, claims, evidence, candidates, shelves, chosen)
    own = [claim for claim in claims if claim not in placed]
    elsewhere = _by_candidate(placed.values())
    if not own:
        first, *others = elsewhere
        return Update(first.candidate, shape_of(first.edits), first.edits, elsewhere=tuple(others))
    relations = _relations(lexicon, read, unit, own, candidates, chosen, elsewhere)
    if chosen is None:
        disputes = _disputes(read, unit, own, evidence)
        stated = tuple(claim for claim in own if claim not in disputes)
        name, summary = _called(lexicon, unit, own, list(placed))
        disputed = tuple(disputes.values())
        return Create(stated, relations, elsewhere=elsewhere, disputes=disputed, name=name, summary=summary)
    edits = _edits(read, own, evidence, shelves[chosen - 1])
    disputes = _disputes(read, unit, [edit.claim for edit in edits if isinstance(edit, Insert)], evidence)
    edits = tuple(edit for edit in edits if not (isinstance(edit, Insert) and edit.claim in disputes))
    return Update(chosen, shape_of(edits), edits, relations, elsewhere=elsewhere, disputes=tuple(disputes.values()))


def _called(lexicon: Lexicon, unit: Unit, own: Sequence[Claim], gone: Sequence[Claim]) -> tuple[str, str]:
    """Title and description of what is left of a unit, each empty where the unit's says something of that."""
    if not gone:
        return "", ""
    head = entitled(lexicon, [claim.text for claim in own])
    parts = re.split(r"(?<=: )|(?<=：)", unit.name, maxsplit=1)
    said = lexicon.terms(parts[-1])
    left, went = ([lexicon.terms(claim.text) for claim in claims] for claims in (own, gone))
    is_lost = any(said <= terms for terms in went) and not any(said <= terms for terms in left)
    is_told = any(fold(unit.summary) in fold(claim.text) for claim in own)
    return "".join((*parts[:-1], head.title)) if is_lost else "", "" if is_told else head.description


@dataclass(slots=True)
class _Claimed:
    """A claim in the making: what it says, and the numbers of its evidence."""

    said: Said
    numbers: list[int]


def _claims(read: _Reader, unit: Unit, evidence: Sequence[SourceLine]) -> list[Claim]:
    """The lines as claims, those that say the same as one claim with several pieces of evidence.

    What says something by its place is never one claim with what the same source says elsewhere; what another source
    adds stands behind what it has before it.
    """
    found: list[_Claimed] = []
    shelves: defaultdict[str, Shelf] = defaultdict(Shelf)
    own: defaultdict[str, list[_Claimed]] = defaultdict(list)
    source, last = 0, None
    for number, (line, place) in enumerate(zip(evidence, unit.evidence, strict=True), start=1):
        said, shelf, known = read(line.text), shelves[line.speaker], own[line.speaker]
        source, last = place.source, last if place.source == source else None
        placed = _is_placed(line)
        near = (known[at - 1] for at, other in shelf.near(said) if alike(other, said))
        same = next((other for other in near if not (placed and _is_of(other, unit, source))), None)
        if same is not None:
            same.numbers.append(number)
        elif line.text:
            shelf.put(said)
            same = _Claimed(said, [number])
            known.append(same)
            at = 0 if last is None and line.kind == "procedure" else len(found)
            found.insert(found.index(last) + 1 if placed and last is not None else at, same)
        last = same
    return [Claim(each.said.text, tuple(each.numbers)) for each in found]


def _is_placed(line: SourceLine) -> bool:
    """Whether it says something by where it stands among others."""
    return line.kind == "procedure" or line.step > 0 or line.listed


def _is_of(claim: _Claimed, unit: Unit, source: int) -> bool:
    return any(unit.evidence[number - 1].source == source for number in claim.numbers)


def _chosen(
    lexicon: Lexicon,
    read: _Reader,
    unit: Unit,
    claims: Sequence[Claim],
    candidates: Sequence[Candidate],
    shelves: Sequence[Shelf],
) -> int | None:
    """The candidate that is the same concept beyond doubt: by name or alias, or by title and content, or by claims."""
    own = {fold(name) for name in (unit.name, *unit.aliases)}
    person, title = _person_and_title(unit.name)
    head = lexicon.terms(title)
    said = [read(claim.text) for claim in claims]
    body = frozenset(term for claim in said for term in claim.terms)
    scored: list[tuple[float, int]] = []
    for number, (candidate, shelf) in enumerate(zip(candidates, shelves, strict=True), start=1):
        whose, about = _person_and_title(candidate.name)
        if whose != person or len(candidate.blocks) >= _FULL:
            continue
        same_sort = candidate.bucket == unit.bucket
        if same_sort and own & {fold(name) for name in (candidate.name, *candidate.aliases)}:
            return number
        near = [[block for _, block in shelf.near(claim)] for claim in said]
        named = overlap(head, lexicon.terms(" · ".join((about, *candidate.aliases))))
        shared = _weighted(body, frozenset(shelf.terms))
        anchored = sum(any(_speaks_of(c, block) for block in own) for c, own in zip(said, near, strict=True))
        anchored /= len(said)
        same_thing = same_sort and named >= _NAME_SHARED and shared >= _BODY_SHARED
        if same_thing or anchored >= _CLAIMS_ANCHORED or _tells_anew(said, near, shelf):
            scored.append((named + shared + anchored, -number))
    return -max(scored)[1] if scored else None


def _person_and_title(name: str) -> tuple[str, str]:
    """The person whom a node is about, empty for none, and the rest of its name."""
    parts = re.split(r": |：", name, maxsplit=1)
    return (fold(parts[0]), parts[1]) if len(parts) == 2 else ("", name)


def _speaks_of(claim: Said, block: Said) -> bool:
    """Whether a claim is plainly about the same thing as a block, or gives it another value."""
    if len(claim.terms & block.terms) >= _WORDS_SHARED and overlap(claim.terms, block.terms) >= _SAME_SUBJECT:
        return True
    return _updates(claim, (block,))


def _tells_anew(claims: Sequence[Said], near: Sequence[Sequence[Said]], shelf: Shelf) -> bool:
    """Whether some claims give something in a node another value, and the others speak of what the node speaks of."""
    updating = [claim for claim, blocks in zip(claims, near, strict=True) if _updates(claim, blocks)]
    changed = {term for claim in updating for term in claim.terms}
    rest = frozenset(term for claim in claims if claim not in updating for term in claim.terms)
    return bool(updating) and _weighted(rest, frozenset(shelf.terms - changed)) >= _REST_SHARED


def _updates(claim: Said, blocks: Iterable[Said]) -> bool:
    """Whether a claim gives something that stands there another value, and it is plainly the same thing."""
    return any(len(claim.matter & block.matter) >= _WORDS_SHARED and contradicts(claim, block) for block in blocks)


def _placed_elsewhere(
    read: _Reader,
    claims: Sequence[Claim],
    evidence: Sequence[SourceLine],
    candidates: Sequence[Candidate],
    shelves: Sequence[Shelf],
    chosen: int | None,
) -> dict[Claim, tuple[int, NodeEdit]]:
    """The claims that say again, or contradict, what stands in another candidate and not in the one chosen."""
    others = [n for n, candidate in enumerate(candidates, start=1) if n != chosen and len(candidate.blocks) < _FULL]
    found: dict[Claim, tuple[int, NodeEdit]] = {}
    for claim in claims:
        lines = [evidence[number - 1] for number in claim.evidence]
        if any(_is_placed(line) for line in lines) or all(line.known for line in lines):
            continue
        if chosen is not None and not isinstance(_edit(read, claim, shelves[chosen - 1], 0, 0), Insert):
            continue
        for number in others:
            candidate, edit = candidates[number - 1], _edit(read, claim, shelves[number - 1], 0, 0)
            if isinstance(edit, Insert):
                continue
            speaker = candidate.speakers[edit.block - 1] if candidate.speakers else ""
            if _comparable(lines[0].speaker, read(claim.text), speaker, read(candidate.blocks[edit.block - 1])):
                found[claim] = (number, edit)
                break
    return found


def _disputes(
    read: _Reader, unit: Unit, claims: Sequence[Claim], evidence: Sequence[SourceLine]
) -> dict[Claim, Dispute]:
    """Claims that contradict an earlier one among them, or correct the one said just before them, steps aside."""
    shelf, stated, found = Shelf(), list[tuple[Claim, SourceLine]](), dict[Claim, Dispute]()
    for claim in claims:
        line, said = evidence[claim.evidence[0] - 1], read(claim.text)
        if _is_placed(line):
            continue
        near = ((stated[number - 1], other) for number, other in shelf.near(said) if contradicts(said, other))
        one = (before for (before, its), other in near if _comparable(line.speaker, said, its.speaker, other))
        if (before := next(one, None) or _corrected(read, unit, claim, stated[-1:], evidence)) is not None:
            found[claim] = Dispute(before, claim)
        else:
            shelf.put(said)
            stated.append((claim, line))
    return found


def _corrected(
    read: _Reader, unit: Unit, claim: Claim, last: Sequence[tuple[Claim, SourceLine]], evidence: Sequence[SourceLine]
) -> Claim | None:
    """The claim that a correction corrects: what its speaker said on the line before it."""
    place, line = unit.evidence[claim.evidence[0] - 1], evidence[claim.evidence[0] - 1]
    for before, its in last:
        follows = unit.evidence[before.evidence[0] - 1].source == place.source and line.number == its.number + 1
        if follows and line.speaker == its.speaker and corrects(read(claim.text), read(before.text)):
            return before
    return None


def _comparable(speaker: str, said: Said, other_speaker: str, other: Said) -> bool:
    """Whether two statements can speak of the same: not where somebody speaks of themselves, and somebody else."""
    if not (speaker and other_speaker) or fold(speaker) == fold(other_speaker):
        return True
    return not (said.of_oneself or other.of_oneself)


def _by_candidate(placed: Iterable[tuple[int, NodeEdit]]) -> tuple[Elsewhere, ...]:
    edits: defaultdict[int, list[NodeEdit]] = defaultdict(list)
    for number, edit in placed:
        edits[number].append(edit)
    return tuple(Elsewhere(number, tuple(own)) for number, own in edits.items())


def _weighted(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of the smaller text's words that both have, rare words counting more."""
    if not one or not other:
        return 0.0
    weights = inverse_frequencies((one, other))
    small = min(one, other, key=len)
    return sum(weights[t] for t in one & other) / sum(weights[t] for t in small)


def _edits(
    read: _Reader, claims: Sequence[Claim], evidence: Sequence[SourceLine], shelf: Shelf
) -> tuple[NodeEdit, ...]:
    """What each claim adds to a node; a new step goes behind the step before it, anything else to the end.

    What was known and does not stand there any more has been taken out: it is not put back.
    """
    found: list[NodeEdit] = []
    steps: list[int] = []
    last = 0
    for claim in claims:
        line = evidence[claim.evidence[0] - 1]
        edit = _edit(read, claim, shelf, *((last, last) if _is_placed(line) else (len(shelf), 0)))
        if isinstance(edit, Insert) and all(evidence[number - 1].known for number in claim.evidence):
            continue
        if _is_placed(line):
            steps.append(len(found))
        found.append(edit)
        last = edit.after if isinstance(edit, Insert) else edit.block
    _take_places(found, steps)
    return tuple(found)


def _take_places(edits: list[NodeEdit], steps: Sequence[int]) -> None:
    """Have a new step contradict the one whose place it has: what stands before and behind that one is told, it is not.

    Args:
        edits: What claims add.
        steps: Which of them are of steps.
    """
    told = {edit.block for edit in edits if not isinstance(edit, Insert)}
    for at, step in enumerate(steps[:-1]):
        edit, before, behind = edits[step], edits[steps[at - 1]] if at else None, edits[steps[at + 1]]
        if not isinstance(edit, Insert) or isinstance(before, Insert) or isinstance(behind, Insert):
            continue
        place = (before.block if before else 0) + 1
        if behind.block == place + 1 and place not in told:
            edits[step] = Contradict(place, edit.claim)


def _edit(read: _Reader, claim: Claim, shelf: Shelf, after: int, behind: int) -> NodeEdit:
    """What a claim adds: to a block that says the same, those behind ``behind`` first, or where ``after`` says."""
    said = read(claim.text)
    near = sorted(shelf.near(said), key=lambda entry: entry[0] <= behind)
    for number, block in near:
        if alike(said, block):
            return Cite(number, claim.evidence)
    disputed = [(number, block) for number, block in near if contradicts(said, block)]
    if disputed:
        number, _ = max(disputed, key=lambda entry: len(said.terms & entry[1].terms))
        return Contradict(number, claim)
    return Insert(after, claim)


def _relations(
    lexicon: Lexicon,
    read: _Reader,
    unit: Unit,
    claims: Sequence[Claim],
    candidates: Sequence[Candidate],
    chosen: int | None,
    elsewhere: Sequence[Elsewhere],
) -> tuple[Relation, ...]:
    """Candidates that claims went to, those that the unit mentions by name, then those that say most of the same."""
    text = fold(" ".join((unit.name, *(claim.text for claim in claims))))
    said = [lexicon.terms(unit.name), *(read(claim.text).terms for claim in claims)]
    body = frozenset(term for terms in said for term in terms)
    scored: list[tuple[float, int]] = []
    told = [other.candidate for other in elsewhere]
    for number, candidate in enumerate(candidates, start=1):
        if number == chosen or number in told:
            continue
        names = (_person_and_title(candidate.name)[1], *candidate.aliases)
        named = any(_mentions(text, fold(name)) or _covered(lexicon.terms(name), said) for name in names)
        shared = _weighted(body, frozenset(term for block in candidate.blocks for term in read(block).terms))
        if named or shared >= _RELATED:
            scored.append((named + shared, -number))
    found = [*told, *(-negative for _, negative in sorted(scored, reverse=True))]
    return tuple(map(Relation, found[:_MOST_RELATIONS]))


def _covered(name: frozenset[str], said: Sequence[frozenset[str]]) -> bool:
    """Whether one statement has all words of a name of several."""
    return len(name) > 1 and any(name <= terms for terms in said)


def _mentions(text: str, name: str) -> bool:
    if len(name) < (2 if has_cjk(name) else 4):
        return False
    at = text.find(name)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(name) : at + len(name) + 1]
        if has_cjk(name) or not (before.isalnum() or after.isalnum()):
            return True
        at = text.find(name, at + 1)
    return False
