"""Offline grouping: which lines of daily notes teach the same thing, and what sort of knowledge it is.

Owns three ways of belonging together. Steps belong to the procedure that they stand in. What a user tells an assistant
goes by subject, statement by statement, across notes and days. What people with names tell each other, and what a
person wrote down, keeps the context of its note; notes of one subject go together, and each person's own telling apart.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from reme.reason.decisions import SourceLine, SourceNote, StatementKind
from reme.reason.offline.procedures import steps_in
from reme.reason.offline.rules import rules_for
from reme.reason.offline.sentences import Part, Sentence, announces, rate
from reme.reason.offline.terms import Lexicon, cosine

__all__ = ["Line", "Sort", "grouped", "is_named", "rated_lines"]

Sort = Literal["procedure", "personal", "general"]
"""What sort of knowledge a group is: how something is done, what somebody is like, what something is."""

_ONE_SUBJECT_OF_NOTES: Final = 0.3
_ONE_SUBJECT: Final = 0.34
_ONE_PROCEDURE: Final = 0.5
_PERSONAL_SHARE: Final = 0.5
_OWN_UNIT: Final = 2
_GENERIC_SPEAKERS: Final = frozenset({"user", "assistant", "human", "me", ""})


@dataclass(frozen=True, slots=True)
class Line:
    """A line with the number of its source, its sentence as rated, and the words that could be its subject."""

    source: int
    line: SourceLine
    sentence: Sentence
    subjects: frozenset[str]

    @property
    def kind(self) -> StatementKind:
        """From the section that it stands in, else from its form."""
        return self.line.kind or self.sentence.kind

    @property
    def is_personal(self) -> bool:
        """Whether somebody tells of themselves in it."""
        if self.line.speaker == "assistant" or self.kind in ("decision", "state"):
            return False
        return self.kind == "preference" or rules_for(self.line.text).oneself.search(self.line.text) is not None


def is_named(speaker: str) -> bool:
    """Whether a speaker is a person with a name."""
    return speaker.lower() not in _GENERIC_SPEAKERS


def rated_lines(lexicon: Lexicon, sources: Sequence[SourceNote]) -> list[Line]:
    """The lines that state something, chatter in people's own notes left out."""
    found: list[Line] = []
    for number, source in enumerate(sources, start=1):
        steps = _steps(lexicon, source)
        for place, line in enumerate(source.lines):
            rated = rate(lexicon, line.text, line.number, step=steps.get(place))
            if rated is not None and (line.kind is not None or rated.score >= 1.0 or rated.kind == "procedure"):
                found.append(Line(number, line, rated, lexicon.subjects(line.text)))
    return found


def _steps(lexicon: Lexicon, source: SourceNote) -> dict[int, int]:
    """The number of each step of a note, by place: as its section says, or as what a person wrote reads."""
    found = {place: line.step for place, line in enumerate(source.lines) if line.kind == "procedure"}
    own: list[int] = []
    parts: list[Part] = []
    under = ""
    for place, line in enumerate(source.lines):
        if line.kind is not None:
            continue
        if line.heading != under:
            under = line.heading
            own.append(-1)
            parts.append(Part(under))
        before = parts[-1] if parts else Part("")
        own.append(place)
        item = line.step or (before.item + 1 if line.listed and not before.ordered else int(line.listed))
        parts.append(Part(line.text, item, line.step > 0, line.text))
    steps = steps_in(lexicon, parts, title=source.name)
    return found | {own[place]: number for place, number in steps.items() if own[place] >= 0}


def grouped(
    lexicon: Lexicon, sources: Sequence[SourceNote], lines: Sequence[Line], weights: Mapping[str, float]
) -> list[tuple[Sort, list[Line]]]:
    """The lines in groups, each to become a unit."""
    steps = [line for line in lines if line.kind == "procedure"]
    rest = [line for line in lines if line.kind != "procedure"]
    told = [line for line in rest if _is_told(line)]
    kept = [line for line in rest if not _is_told(line)]
    found: list[tuple[Sort, list[Line]]] = []
    found.extend(("procedure", group) for group in _joined(_procedures(steps), weights, _ONE_PROCEDURE))
    own = _joined([[x] for x in told if x.is_personal], weights)
    found.extend(_with_leftovers(own, _joined([[x] for x in told if not x.is_personal], weights)))
    for group in _notes_together(lexicon, sources, kept, weights):
        found.extend(_by_sort(group))
    return found


def _is_told(line: Line) -> bool:
    """Whether it is what a user told an assistant."""
    return line.line.kind is not None and not is_named(line.line.speaker)


def _with_leftovers(own: Sequence[list[Line]], others: Sequence[list[Line]]) -> list[tuple[Sort, list[Line]]]:
    """Groups by sort; single lines of one note that share no subject with others keep the context of their note."""
    found: list[tuple[Sort, list[Line]]] = []
    alone: defaultdict[int, list[Line]] = defaultdict(list)
    sorted_groups: list[tuple[Sort, list[Line]]] = [
        *(("personal", group) for group in own),
        *(("general", group) for group in others),
    ]
    for sort, group in sorted_groups:
        if len(group) == 1 and group[0].kind != "preference":
            alone[group[0].source].append(group[0])
        else:
            found.append((sort, group))
    for lines in alone.values():
        personal = sum(line.is_personal for line in lines) > _PERSONAL_SHARE * len(lines)
        found.append(("personal" if personal else "general", sorted(lines, key=lambda line: line.line.number)))
    return found


def _procedures(steps: Sequence[Line]) -> list[list[Line]]:
    """The steps of one note, a new procedure beginning where a line leads to steps, or where they count anew."""
    found: list[list[Line]] = []
    for line in steps:
        before, step = found[-1][-1] if found else None, line.sentence.step
        if before is None or before.source != line.source or step < before.sentence.step or _leads(line):
            found.append([])
        found[-1].append(line)
    return found


def _leads(line: Line) -> bool:
    return line.sentence.step == 0 and announces(line.line.text)


def _joined(
    pieces: Sequence[list[Line]], weights: Mapping[str, float], least: float = _ONE_SUBJECT
) -> list[list[Line]]:
    """Pieces joined one by one to the group that has one most like them, if it shares enough of its subject.

    Args:
        least: How like: the share of the smaller subject that both have, rare words counting more.
    """
    groups: list[list[Line]] = []
    home: dict[frozenset[str], int] = {}
    having: defaultdict[str, list[frozenset[str]]] = defaultdict(list)
    whole: dict[frozenset[str], float] = {}
    for piece in pieces:
        subject = frozenset(term for line in piece for term in line.subjects)
        own = whole[subject] = sum(weights.get(term, 1.0) for term in subject)
        shared: defaultdict[frozenset[str], float] = defaultdict(float)
        for term in sorted(subject):
            for other in having[term]:
                shared[other] += weights.get(term, 1.0)
        likeness = ((weight / min(own, whole[other]), -home[other]) for other, weight in shared.items())
        best, place = max(likeness, default=(0.0, 0))
        if best >= least:
            groups[-place].extend(piece)
        else:
            groups.append(list(piece))
        if subject and subject not in home:
            home[subject] = -place if best >= least else len(groups) - 1
            for term in subject:
                having[term].append(subject)
    return groups


def _notes_together(
    lexicon: Lexicon, sources: Sequence[SourceNote], lines: Sequence[Line], weights: Mapping[str, float]
) -> list[list[Line]]:
    """Lines of notes with one subject, notes joined one by one to the group that they share most with."""
    groups: list[tuple[defaultdict[str, float], list[Line]]] = []
    for number, source in enumerate(sources, start=1):
        own = [line for line in lines if line.source == number]
        if not own:
            continue
        bag: defaultdict[str, float] = defaultdict(float)
        for term in (term for line in own for term in line.sentence.terms):
            bag[term] += weights.get(term, 1.0)
        for term in lexicon.terms(source.name):
            bag[term] += 2 * weights.get(term, 1.0)
        best = max(groups, key=lambda group: cosine(bag, group[0]), default=None)
        if best is not None and cosine(bag, best[0]) >= _ONE_SUBJECT_OF_NOTES:
            for term, weight in bag.items():
                best[0][term] += weight
            best[1].extend(own)
        else:
            groups.append((bag, own))
    return [members for _, members in groups]


def _by_sort(group: Sequence[Line]) -> list[tuple[Sort, list[Line]]]:
    """Preferences of their own subject apart; the rest by person if most of it is people telling of themselves."""
    spread = Counter(term for line in group for term in line.sentence.terms)
    apart = [line.kind == "preference" and all(spread[term] == 1 for term in line.sentence.terms) for line in group]
    rest = [line for line, alone in zip(group, apart, strict=True) if not alone]
    found: list[tuple[Sort, list[Line]]] = [
        ("personal", [line]) for line, alone in zip(group, apart, strict=True) if alone
    ]
    if sum(line.is_personal for line in rest) > _PERSONAL_SHARE * len(rest):
        return [*found, *(("personal", own) for own in _by_person(rest))]
    found.extend(("personal", own) for own in _by_person([line for line in rest if line.kind == "preference"]))
    others = [line for line in rest if line.kind != "preference"]
    return [*found, ("general", others)] if others else found


def _by_person(group: Sequence[Line]) -> list[list[Line]]:
    """What each person says; who says little is left with the one who says most."""
    counts = Counter(line.line.speaker for line in group)
    most = max(counts, key=lambda speaker: counts[speaker], default="")
    own = {speaker for speaker, count in counts.items() if count >= _OWN_UNIT and is_named(speaker)}
    by_person: dict[str, list[Line]] = {}
    for line in group:
        by_person.setdefault(line.line.speaker if line.line.speaker in own else most, []).append(line)
    return list(by_person.values())
