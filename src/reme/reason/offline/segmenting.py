"""Offline segmentation: a dialogue cut where its subject changes, each piece reduced to what is worth keeping.

Owns event boundaries (lexical cohesion, Hearst 1997, and openings that announce a change) and the recognition of an
event that goes on.
"""

import statistics
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from itertools import groupby, pairwise
from typing import Final

from reme.markdown import sentence_spans
from reme.paths import slug_of
from reme.reason.decisions import Event, Message, OpenEvent, Statement
from reme.reason.offline.contradicting import corrects, said_in
from reme.reason.offline.dates import resolve_relative
from reme.reason.offline.procedures import steps_in
from reme.reason.offline.rules import has_cjk, rules_for
from reme.reason.offline.sentences import Part, Sentence, hangs, pick, proposes, rate, split, told_before_asking
from reme.reason.offline.terms import Lexicon, cosine, inverse_frequencies
from reme.reason.offline.titles import headline

__all__ = ["segment"]

_WINDOW: Final = 4
_SHORTEST: Final = 4
_FEWEST: Final = 5
_FEWEST_AFTER_SHIFT: Final = 3
_SHALLOWEST: Final = 0.15
_SHIFT: Final = 0.35
_CONTINUES: Final = 0.22
_LONGEST_STEP: Final = 600
_DICTATED: Final = 5
_LONGEST_PAIR: Final = 320
_LONGEST_PAIR_CHINESE: Final = 140


def segment(
    lexicon: Lexicon, messages: Sequence[Message], open_events: Sequence[OpenEvent], share: float, at_least: int
) -> tuple[Event, ...]:
    """Cut a dialogue into events; see `reme.reason.MemoryReasoner.segment`.

    Args:
        share: How much of what is talked to keep, as a share of the sentences that state something; what is dictated,
            steps above all, is kept whole.
        at_least: How many sentences to keep even if that is more.
    """
    names = frozenset(part for m in messages for part in (m.speaker.lower(), *m.speaker.lower().split()))
    people = _people(messages)
    among = len(people) > 1 and all(message.speaker in people for message in messages)
    before = ["", *(message.text for message in messages[:-1])]
    agreed = [*(_agrees(m, to, people) for to, m in pairwise(messages)), False]
    rated = {
        m.line: _rated(lexicon, m, heard, names, personal=m.speaker in people, among=among, agreed=yes)
        for m, heard, yes in zip(messages, before, agreed, strict=True)
    }
    stated = [sentence for message in messages for sentence in rated[message.line] if sentence]
    weights = inverse_frequencies(sentence.terms for sentence in stated)
    pieces = _pieces(lexicon, messages, weights)
    dictated = _dictated(s for m in messages if m.speaker in people for s in rated[m.line])
    room = max(at_least, round(share * (len(stated) - len(dictated))))
    kept, left = pick(stated, weights, room, dictated)
    joined = _with_statements(pieces, kept)
    starts = [piece[0].line for piece in joined]
    further = Counter(max(0, bisect(starts, sentence.line) - 1) for sentence in left)
    events: list[Event] = []
    taken: set[int] = set()
    for number, piece in enumerate(joined):
        event = _event(lexicon, piece, messages, weights, names, open_events, taken)
        if event.continues is not None:
            taken.add(event.continues)
        events.append(replace(event, left=further[number]))
    return tuple(events)


def _people(messages: Sequence[Message]) -> frozenset[str]:
    """Who is a person: everybody but an assistant without a name of its own."""
    return frozenset(m.speaker for m in messages if m.role == "user" or m.speaker != "assistant")


def _agrees(message: Message, to: Message, people: frozenset[str]) -> bool:
    """Whether a person agrees to what somebody else has just proposed; of several things, it is not known to which."""
    if message.speaker not in people or message.speaker == to.speaker:
        return False
    proposed = sum(proposes(part.text) for part in split(to.text))
    return proposed == 1 and rules_for(message.text).agreement.search(message.text) is not None


def _rated(
    lexicon: Lexicon,
    message: Message,
    before: str,
    names: frozenset[str],
    *,
    personal: bool,
    among: bool,
    agreed: bool,
) -> list[Sentence | None]:
    """The sentences of a message, None for each that states nothing.

    Args:
        before: What was said before.
        among: Whether only people speak.
        agreed: Whether a person agrees next to what it proposes.
    """
    parts = split(message.text)
    steps = steps_in(lexicon, parts, title="" if personal else before, told=personal)
    answers = before.rstrip().endswith(("?", "？"))
    weigh = partial(
        rate, lexicon, line=message.line, personal=personal, answers=answers, among=among, names=names, agreed=agreed
    )
    found: list[Sentence | None] = []
    for place, part in enumerate(parts):
        last = found[-1] if found else None
        listed = place in steps and part.item > 0
        if listed and not part.whole and last and part.text in last.text:
            continue
        talked = last is not None and last.kind != "procedure" and place not in steps
        whole_before = last is not None and last.text.endswith(parts[place - 1].text)
        if last and talked and whole_before and (both := _with_the_one_before(weigh, lexicon, last, part)):
            found[-1] = both
            continue
        whole = listed and 0 < len(part.whole) <= _LONGEST_STEP
        weighed = weigh(part.whole if whole else part.text, step=steps.get(place))
        if weighed is None and personal and place not in steps and (told := told_before_asking(part.text, names)):
            weighed = weigh(told)
        found.append(weighed)
    steps_told = [s for s in found if s and s.kind == "procedure"]
    if len(steps_told) == 1 and rules_for(steps_told[0].text).later.match(steps_told[0].text):
        found = [None if s is steps_told[0] else s for s in found]
    return found


def _dictated(spoken: Iterable[Sentence | None]) -> frozenset[Sentence]:
    """What people say in a row of sentences that each state something: nobody chats so, and all of it is meant."""
    told = (sentence for sentence in spoken if sentence is None or sentence.kind != "procedure")
    rows = ((states, list(row)) for states, row in groupby(told, key=lambda s: s is not None and s.score >= 0))
    return frozenset(s for states, row in rows if states and len(row) >= _DICTATED for s in row if s)


def _with_the_one_before(
    weigh: Callable[..., Sentence | None], lexicon: Lexicon, before: Sentence, part: Part
) -> Sentence | None:
    """A sentence that speaks of what stands before it, or corrects it, together with that; None if it does not, or says
    nothing."""
    text = f"{before.text}{part.gap}{part.text}"
    if part.gap is None or len(text) > (_LONGEST_PAIR_CHINESE if has_cjk(text) else _LONGEST_PAIR):
        return None
    is_correction = rules_for(part.text).correction.match(part.text) is not None
    if is_correction and corrects(said_in(lexicon, part.text), said_in(lexicon, before.text)):
        return weigh(text)
    if not hangs(lexicon, part.text) or (alone := weigh(part.text, led=True)) is None or alone.score < 1.0:
        return None
    return weigh(text)


def _pieces(lexicon: Lexicon, messages: Sequence[Message], weights: Mapping[str, float]) -> list[list[Message]]:
    """Boundaries where what is said before and after a gap has least in common."""
    bags = [Counter({t: weights.get(t, 0.5) for t in lexicon.terms(m.text)}) for m in messages]
    if len(messages) < 2 * _SHORTEST:
        return [list(messages)]
    gaps = range(1, len(messages))
    cohesion = {gap: cosine(_sum(bags[max(0, gap - _WINDOW) : gap]), _sum(bags[gap : gap + _WINDOW])) for gap in gaps}
    depth = {gap: _depth(cohesion, gap) + _SHIFT * _shifts(messages[gap]) for gap in gaps}
    limit = statistics.mean(depth.values()) + statistics.pstdev(depth.values())
    cuts: list[int] = []
    for gap in sorted(gaps, key=lambda g: (-depth[g], g)):
        if depth[gap] > max(limit, _SHALLOWEST) and all(
            abs(gap - cut) >= _SHORTEST for cut in [0, *cuts, len(messages)]
        ):
            cuts.append(gap)
    edges = [0, *sorted(cuts), len(messages)]
    return [list(messages[a:b]) for a, b in pairwise(edges)]


def _sum(bags: Sequence[Counter[str]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for bag in bags:
        total.update(bag)
    return total


def _depth(cohesion: Mapping[int, float], gap: int) -> float:
    """How far cohesion falls into the valley at a gap from the peaks on both sides."""
    left = right = cohesion[gap]
    for at in range(gap - 1, min(cohesion) - 1, -1):
        if cohesion[at] < left:
            break
        left = cohesion[at]
    for at in range(gap + 1, max(cohesion) + 1):
        if cohesion[at] < right:
            break
        right = cohesion[at]
    return left + right - 2 * cohesion[gap]


def _shifts(message: Message) -> bool:
    return message.role == "user" and any(
        rules_for(part.text).shift.search(part.text) for part in split(message.text)[:2]
    )


def _with_statements(pieces: Sequence[Sequence[Message]], kept: Sequence[Sentence]) -> list[list[Sentence]]:
    """The kept sentences by piece; pieces with hardly any, or with more steps of one procedure, join the one before."""
    joined: list[list[Sentence]] = []
    for piece in pieces:
        lines = {message.line for message in piece}
        own = [sentence for sentence in kept if sentence.line in lines]
        fewest = _FEWEST_AFTER_SHIFT if _shifts(piece[0]) else _FEWEST
        if joined and (min(len(own), len(joined[-1])) < fewest or (_has_steps(own) and _has_steps(joined[-1]))):
            joined[-1].extend(own)
        elif own:
            joined.append(own)
    return joined


def _has_steps(sentences: Sequence[Sentence]) -> bool:
    return any(sentence.kind == "procedure" for sentence in sentences)


def _event(
    lexicon: Lexicon,
    sentences: Sequence[Sentence],
    messages: Sequence[Message],
    weights: Mapping[str, float],
    names: frozenset[str],
    open_events: Sequence[OpenEvent],
    taken: set[int],
) -> Event:
    head = headline(lexicon, sentences, weights, names)
    days = {message.line: message.at.date() for message in messages}
    statements = tuple(Statement(s.text, s.line, s.kind, _about(s.text, days[s.line]), s.step) for s in sentences)
    continues = _continued(lexicon, sentences, weights, open_events, taken)
    return Event(continues, head.title, slug_of(head.title), head.description, statements)


def _about(text: str, day: date) -> str:
    """The date that relative words mean, where it is another than the day on which they were said.

    Of what is corrected at once, the correction counts, where it says when.
    """
    said = text
    for start, stop in sentence_spans(text):
        rules = rules_for(sentence := text[start:stop].strip())
        if start and rules.correction.match(sentence) and rules.time.search(sentence):
            said = sentence
    meant = resolve_relative(said, day)
    return "" if meant == day.isoformat() else meant


def _continued(
    lexicon: Lexicon,
    sentences: Sequence[Sentence],
    weights: Mapping[str, float],
    open_events: Sequence[OpenEvent],
    taken: set[int],
) -> int | None:
    """The open event whose subject this one shares most, if it shares enough."""
    if not open_events:
        return None
    told = [lexicon.all_terms(e.statements) for e in open_events]
    heads = [lexicon.terms(f"{e.name}. {e.description}") for e in open_events]
    spread = inverse_frequencies([*(s.terms for s in sentences), *told])
    mine = {t: spread.get(t, 1.0) * n for t, n in Counter(t for s in sentences for t in s.terms).items()}
    scores: list[tuple[float, int]] = []
    for number, (body, head) in enumerate(zip(told, heads, strict=True), start=1):
        theirs = {t: spread.get(t, 1.0) * (1 + (t in head)) for t in body | head}
        scores.append((cosine(mine, theirs), -number))
    best, negative = max(scores)
    return -negative if best >= _CONTINUES and -negative not in taken else None
