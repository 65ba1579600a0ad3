"""Offline extraction: units of knowledge from daily notes, by what their subjects share across days.

Owns titles, buckets and the order of units; what a secret was taken out of names nothing. What belongs together is
decided in `grouping`.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from reme.paths import slug_of
from reme.reason.decisions import Bucket, Evidence, Extraction, SourceNote, Topic, Unit
from reme.reason.offline.grouping import Line, Sort, grouped, is_named, rated_lines
from reme.reason.offline.procedures import says_how
from reme.reason.offline.rules import has_cjk, rules_for
from reme.reason.offline.sentences import Sentence
from reme.reason.offline.terms import Lexicon, inverse_frequencies
from reme.reason.offline.titles import headline, is_redacted

__all__ = ["extract"]


_OF_A_NOTE: Final = 0.5
_OF_A_NOTE_STEPS: Final = 0.33
_KEYWORDS: Final = 6
_BUCKET_WORDS: Final[dict[Sort, tuple[str, ...]]] = {
    "procedure": ("procedure", "how to", "how-to", "步骤", "流程", "怎么做"),
    "personal": ("personal", "preference", "person", "profile", "user", "个人", "偏好"),
    "general": ("wiki", "concept", "knowledge", "observation", "知识", "概念"),
}


def extract(
    lexicon: Lexicon, sources: Sequence[SourceNote], buckets: Sequence[Bucket], max_units: int, hint: str = ""
) -> Extraction:
    """Find units in changed daily notes; see `reme.reason.DreamReasoner.extract`."""
    lines = rated_lines(lexicon, sources)
    sizes = Counter(line.source for line in lines)
    weights = inverse_frequencies(line.sentence.terms for line in lines)
    names = frozenset(
        part for line in lines for part in (line.line.speaker.lower(), *line.line.speaker.lower().split())
    )
    wanted = lexicon.terms(hint)
    drafts: list[tuple[float, Unit, list[Line]]] = []
    named: set[int] = set()
    for sort, members in grouped(lexicon, sources, lines, weights):
        fresh = [member for member in members if not member.line.known]
        if fresh and not _all_redacted(members):
            of = _note_of(sizes, members, sort)
            note = sources[of - 1] if of and of not in named else None
            named.add(of)
            unit = _unit(lexicon, sort, members, fresh, weights, names, buckets, note)
            drafts.append((_worth(fresh, wanted), unit, fresh))
    drafts.sort(key=lambda draft: (-draft[0], draft[1].slug))
    left = {member.source for _, _, fresh in drafts[max_units:] for member in fresh}
    chosen = drafts[:max_units]
    topics = tuple(_topic(lexicon, unit, fresh, weights) for _, unit, fresh in chosen if not _all_redacted(fresh))
    return Extraction(_distinct([unit for _, unit, _ in chosen]), topics, tuple(sorted(left)))


def _unit(
    lexicon: Lexicon,
    sort: Sort,
    members: Sequence[Line],
    fresh: Sequence[Line],
    weights: Mapping[str, float],
    names: frozenset[str],
    buckets: Sequence[Bucket],
    note: SourceNote | None,
) -> Unit:
    clear = [member for member in members if not is_redacted(member.line.text)]
    speaker = _speaker(clear) if sort == "personal" else ""
    sentences = [member.sentence for member in clear if not speaker or member.line.speaker == speaker]
    head = headline(lexicon, sentences, weights, names)
    title = head.title
    if note and not (sort == "procedure" and head.announced) and (not speaker or _names(lexicon, note, sentences)):
        title = note.name
    title = (sort == "procedure" and _heading_of(members)) or title
    if speaker:
        title = f"{speaker}{'：' if has_cjk(title) else ': '}{title}"
    told = members if sort == "procedure" else fresh
    evidence = tuple(Evidence(member.source, member.line.number) for member in told)
    return Unit(title, slug_of(title), _bucket(sort, buckets), head.description, evidence)


def _names(lexicon: Lexicon, note: SourceNote, sentences: Sequence[Sentence]) -> bool:
    """Whether a note is called by what one of these sentences says; what another says would not be told of this one."""
    subject = lexicon.terms(note.name)
    return any(subject <= sentence.terms for sentence in sentences)


def _heading_of(steps: Sequence[Line]) -> str:
    """What the heading above steps calls them; empty if they stand under several, or it does not say how."""
    headings = {step.line.heading for step in steps}
    heading = headings.pop()
    if headings or not says_how(heading):
        return ""
    match = rules_for(heading).announced.search(heading)
    name = next(filter(None, match.groups()), "") if match else heading
    return name.strip()[:1].upper() + name.strip()[1:]


def _all_redacted(lines: Sequence[Line]) -> bool:
    return all(is_redacted(each.line.text) for each in lines)


def _note_of(sizes: Mapping[int, int], members: Sequence[Line], sort: Sort) -> int:
    """The note that a group is most of, and that is most of the group, or 0: its name is the group's.

    Of steps, fewer are enough: what they are the steps of is what the note is about.
    """
    source, count = Counter(member.source for member in members).most_common(1)[0]
    share = _OF_A_NOTE_STEPS if sort == "procedure" else _OF_A_NOTE
    mostly = count >= _OF_A_NOTE * len(members) and count > share * sizes[source]
    return source if mostly else 0


def _speaker(members: Sequence[Line]) -> str:
    """Who says most of it, where that is a person with a name."""
    speaker, count = Counter(m.line.speaker for m in members).most_common(1)[0]
    return speaker if is_named(speaker) and count * 2 > len(members) else ""


def _bucket(sort: Sort, buckets: Sequence[Bucket]) -> str:
    for word in _BUCKET_WORDS[sort]:
        for bucket in buckets:
            if bucket.name.lower() == word:
                return bucket.name
    for word in _BUCKET_WORDS[sort]:
        for bucket in buckets:
            if word in bucket.description.lower():
                return bucket.name
    return ""


def _worth(fresh: Sequence[Line], wanted: frozenset[str]) -> float:
    days = len({member.line.day for member in fresh})
    hinted = any(member.sentence.terms & wanted for member in fresh)
    return sum(member.sentence.score for member in fresh) * (1 + 0.3 * (days - 1)) * (2 if hinted else 1)


def _topic(lexicon: Lexicon, unit: Unit, fresh: Sequence[Line], weights: Mapping[str, float]) -> Topic:
    days = len({member.line.day for member in fresh})
    reason = f"{len(fresh)} statement{'s' if len(fresh) > 1 else ''} on {days} day{'s' if days > 1 else ''}"
    weighty = sorted(fresh, key=lambda member: -member.sentence.score)
    spread: dict[str, float] = defaultdict(float)
    shown: dict[str, str] = {}
    clear = (member.line.text for member in fresh if not is_redacted(member.line.text))
    for token in (token for text in clear for token in lexicon.tokens(text) if token.naming):
        spread[token.term] += weights.get(token.term, 1.0)
        shown.setdefault(token.term, token.text)
    keywords = sorted(spread, key=lambda term: (-spread[term], term))[:_KEYWORDS]
    evidence = tuple(Evidence(member.source, member.line.number) for member in weighty)
    return Topic(unit.name, reason, tuple(shown[term] for term in keywords), evidence)


def _distinct(units: Sequence[Unit]) -> tuple[Unit, ...]:
    """Units of one name are one unit."""
    merged: dict[str, Unit] = {}
    for unit in units:
        if (same := merged.get(f"{unit.bucket}/{unit.slug}")) is not None:
            evidence = tuple(dict.fromkeys((*same.evidence, *unit.evidence)))
            merged[f"{unit.bucket}/{unit.slug}"] = Unit(
                same.name, same.slug, same.bucket, same.summary, evidence, same.aliases
            )
        else:
            merged[f"{unit.bucket}/{unit.slug}"] = unit
    return tuple(merged.values())
