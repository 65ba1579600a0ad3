"""Whether two statements say the same, contradict each other, or speak of different things.

Owns the rules and their thresholds. Careful: what is not certain to be the same matter is another one. Which of two
contradicting statements holds is never decided here.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from reme.reason.offline.procedures import unnumbered
from reme.reason.offline.rules import Rules, has_cjk, rules_for
from reme.reason.offline.sentences import denies
from reme.reason.offline.terms import Lexicon, values_of

__all__ = ["Said", "alike", "contradicts", "corrects", "said_in"]

_SAME_STATEMENT: Final = 0.8
_SAME_MATTER: Final = 0.6
_SAME_MATTER_AFTER_CHANGE: Final = 0.4
_SAME_SHORT_MATTER: Final = 0.5
_SAME_MEASURED: Final = 0.5
_OPPOSED: Final = 0.6
_NAMED_AS_OLD: Final = 0.6
_SHORT: Final = 2
_FIXED: Final = "="
_OPPOSED_AFTER_CHANGE: Final = 0.3
_SHORT_DENIAL: Final = 4

_QUOTES: Final = "\"“「『《〈'‘"
_SAME_MOVED: Final = 0.5
_LONG_WORD: Final = 5

_WEEKDAY: Final = re.compile(r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:周|星期|礼拜)[一二三四五六日天]")
_CLOCK: Final = re.compile(r"\d{1,2}:\d\d")
_PART_OF_DAY: Final = re.compile(
    r"mornings?|noon|afternoons?|evenings?|nights?|midnight|早上|早晨|上午|中午|下午|傍晚|晚上|夜里|凌晨|午夜"
)
_SCHEDULE: Final = re.compile(
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:周|星期|礼拜)[一二三四五六日天]|\d{1,2}:\d\d|"
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december)|" + _PART_OF_DAY.pattern
)
_NUMBER: Final = re.compile(
    r"\d|第?[一二三四五六七八九十百千万两]+$|(?:one|two|three|four|five|six|seven|eight|nine|ten)$|"
    r"(?:eleven|twelve|\w+teen|twenty|thirty|forty|fifty|sixty)$|"
    r"(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth)$"
)
_MEASURE: Final = re.compile(
    r"\b(?P<number>\d[\d.,]*|one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|fifty|hundred)"
    r"[\s-]+(?P<unit>[a-z]{3,})"
    r"|\b(?P<times>once|twice|thrice) (?:a|an|per|every|each) (?P<span>[a-z]+)"
    r"|(?P<count>\d[\d.,]*|[一二三四五六七八九十百千万两]+)(?P<measure>个?小时|分钟|公里|公斤|[点个次年天岁月只人名位遍周元块斤层期季种页本台辆倍升度米杯瓶片粒颗顿趟])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Said:
    """A statement as it is compared.

    Attributes:
        values: What in it could change while the rest stays.
        matter: Its words without those values, and without words that only say that something changed, or when.
        events: Those of its matter that only say that something takes place.
        order: Its words in order.
        denied: Whether it has an odd number of negations.
        announced: Whether it says that something is not as it was.
        attributes: What it says that there is one of: which slot, of whom or what, its value, and whether another value
            contradicts that by itself.
        sides: For each pair of opposites that it has a side of: the pair, the side, and its words without those.
        replaced: The words of what it says does not hold any more.
        gist: Its words without its negations, and without words that only say that something changed, or when.
        about: Whom it speaks of: people by what they are to somebody, and the speaker.
        of_oneself: Whether the speaker speaks of themselves.
        over: The words of what it says has come to an end, and whether that is something that takes place.
        past: Whether it tells what was.
        stands: Whether it tells what is or will be, and not what was.
        wished: Whether it tells what somebody would like.
        bygone: Whether it tells of another time, and of nothing that has changed since.
        corrects: Whether it opens as what corrects what was just said.
        measures: Its quantities, number and unit.
    """

    text: str
    terms: frozenset[str]
    values: frozenset[str]
    matter: frozenset[str]
    events: frozenset[str]
    order: tuple[str, ...]
    denied: bool
    announced: bool
    attributes: tuple[tuple[str, str, str, bool], ...]
    sides: tuple[tuple[int, int, frozenset[str]], ...]
    replaced: tuple[frozenset[str], ...]
    gist: frozenset[str]
    about: frozenset[str]
    of_oneself: bool
    over: tuple[tuple[frozenset[str], bool], ...]
    past: bool
    stands: bool
    wished: bool
    bygone: bool
    corrects: bool
    measures: frozenset[tuple[str, str]]


def said_in(lexicon: Lexicon, statement: str) -> Said:
    """Read a statement; the number that a step gives itself is no part of what it says."""
    text = unnumbered(statement)
    rules = rules_for(text)
    tokens = [token for token in lexicon.tokens(text) if token.term]
    events, held = lexicon.all_terms(rules.event), lexicon.all_terms(rules.held)
    values = values_of(text) | {token.text for token in tokens if token.proper}
    spoken = lexicon.all_terms(values)

    def without_values(terms: frozenset[str]) -> frozenset[str]:
        return frozenset(t for t in terms - spoken if not (has_cjk(t) and any(value in t for value in values)))

    light = lexicon.all_terms(rules.light)
    bare = rules.change.sub(" ", rules.ended.sub(" ", rules.time.sub(" ", rules.unit.sub(" ", text))))
    matter = without_values(lexicon.terms(bare))
    matter = matter - light or matter
    return Said(
        text=statement,
        terms=frozenset(token.term for token in tokens),
        values=values,
        matter=matter,
        events=matter & events,
        order=tuple(token.term for token in tokens),
        denied=denies(text),
        announced=rules.change.search(text) is not None,
        attributes=tuple(_attributes(rules, text)),
        sides=tuple(
            (number, side, lexicon.terms(pattern.sub(" ", bare)))
            for number, pair in enumerate(rules.opposites)
            for side, pattern in enumerate(pair)
            if pattern.search(text)
        ),
        replaced=_phrases(lexicon, rules.replaced, text),
        gist=lexicon.terms(rules.negation.sub(" ", bare)),
        about=frozenset(word.lower() for word in (*rules.people.findall(text), *rules.first_person.findall(text)[:1])),
        of_oneself=rules.oneself.search(text) is not None,
        over=tuple((phrase - events - held, bool(phrase & events)) for phrase in _phrases(lexicon, rules.over, text)),
        past=rules.past.search(text) is not None,
        stands=not (rules.past.search(text) or rules.ended.search(text) or denies(text)),
        wished=rules.wished.search(text) is not None,
        bygone=rules.bygone.search(text) is not None and rules.change.search(text) is None,
        corrects=rules.correction.match(text) is not None,
        measures=frozenset(
            ((m["number"] or m["times"] or m["count"]).lower(), (m["unit"] or m["span"] or m["measure"]).lower())
            for m in _MEASURE.finditer(text)
        ),
    )


def alike(one: Said, other: Said) -> bool:
    """Whether two statements say the same."""
    if one.text == other.text:
        return True
    shared = len(one.terms & other.terms) / max(1, len(one.terms | other.terms))
    same = shared >= _SAME_STATEMENT and one.values == other.values and one.denied == other.denied
    return same and not _turned(one, other) and not _opposed(one, other)


def contradicts(new: Said, old: Said) -> bool:
    """Whether a statement gives the matter of an older one another value, or the opposite sign."""
    if has_cjk(new.text) != has_cjk(old.text) or new.wished or old.wished or new.bygone != old.bygone:
        return False
    if (differ := _attributes_differ(new, old)) is not None:
        return differ
    happened = new.past and old.past and not new.announced
    return (
        _turned(new, old)
        or (not happened and (_value_differs(new, old) or _measure_differs(new, old)))
        or _moved(new, old)
        or _sign_differs(new, old)
        or _opposed(new, old)
        or _replaces(new, old)
    )


def corrects(new: Said, just: Said) -> bool:
    """Whether a statement opens as a correction, and has another day, time or number of a unit than the one that was
    said just before it by the same speaker."""
    if not new.corrects or has_cjk(new.text) != has_cjk(just.text):
        return False
    ours, theirs = (dict(_by_kind(said)) for said in (new, just))
    return any(ours[kind].isdisjoint(theirs[kind]) for kind in ours.keys() & theirs.keys())


def _by_kind(said: Said) -> Iterator[tuple[str, frozenset[str]]]:
    """The days, times and numbers that a statement names, by what they are."""
    for kind, pattern in (("day", _WEEKDAY), ("time", _CLOCK)):
        if values := frozenset(value for value in said.values if pattern.fullmatch(value)):
            yield kind, values
    for unit in {unit for _, unit in said.measures}:
        yield unit, frozenset(number for number, of in said.measures if of == unit)


def _turned(one: Said, other: Said) -> bool:
    """Whether two comparisons of the same things have them the other way round."""
    if one.terms != other.terms or one.order == other.order:
        return False
    return all(rules_for(said.text).comparison.search(said.text) for said in (one, other))


def _phrases(lexicon: Lexicon, patterns: Iterable[re.Pattern[str]], text: str) -> tuple[frozenset[str], ...]:
    """The words of what patterns find, as far as they have content."""
    found = (lexicon.terms(match["old"]) for pattern in patterns for match in pattern.finditer(text))
    return tuple(terms for terms in found if terms)


def _attributes(rules: Rules, text: str) -> list[tuple[str, str, str, bool]]:
    found: list[tuple[str, str, str, bool]] = []
    for slot in rules.attribute:
        if (match := slot.pattern.search(text)) is not None:
            groups = match.groupdict()
            whose = "" if rules.first_person.fullmatch(who := groups.get("who") or "") else who
            key = " ".join(filter(None, (whose, groups.get("key"), groups.get("key2")))).lower()
            value = f"{_FIXED}{slot.value}" if slot.value else groups["value"].lower().strip()
            found.append((slot.name, key, value, slot.lasting))
    return found


def _attributes_differ(new: Said, old: Said) -> bool | None:
    """Whether something that there is one of is another now; None if the statements are not of that kind."""
    then: dict[tuple[str, str], list[str]] = {}
    for slot, key, value, _ in old.attributes:
        then.setdefault((slot, key), []).append(value)
    same: bool | None = None
    for slot, key, value, lasting in new.attributes:
        for before in then.get((slot, key), ()):
            if not (value.startswith(before) or before.startswith(value)) and (lasting or new.announced):
                return True
            same = same if value.startswith(_FIXED) else False
    return same


def _value_differs(new: Said, old: Said) -> bool:
    """The same subject and attribute with another value, or announced as a change."""
    announced = new.announced
    mine, its = new.matter, old.matter
    if announced and mine - new.events and its - old.events:
        mine, its = mine - new.events, its - old.events
    shared, every = mine & its, mine | its
    ours, theirs = new.values - old.values, old.values - new.values
    if not shared or _several_differ(ours, theirs):
        return False
    if not announced and (min(len(_named(ours)), len(_named(theirs))) > 1 or _of_other_kinds(ours, theirs)):
        return False
    if len(every) <= _SHORT or (len(shared) == 1 and announced):
        moved = bool(ours and theirs) or (announced and bool(old.values) and old.values < new.values)
        only_when = announced or not (_named(ours) and _named(theirs)) or _numbers(ours, theirs)
        return moved and only_when and len(shared) >= _SAME_SHORT_MATTER * len(every)
    least = _SAME_MATTER_AFTER_CHANGE if announced else _SAME_MATTER
    differ = bool(ours and theirs) or (announced and not old.past)
    return len(shared) > 1 and len(shared) >= least * len(every) and differ


def _of_other_kinds(ours: frozenset[str], theirs: frozenset[str]) -> bool:
    """Whether what differs is a number, a name or a quotation here, and none such there."""
    kinds, other = ({_kind(value) for value in _named(side)} for side in (ours, theirs))
    return bool(kinds and other) and kinds.isdisjoint(other)


def _kind(value: str) -> str:
    return "number" if _NUMBER.match(value) else "quotation" if value[0] in _QUOTES else "name"


def _several_differ(ours: frozenset[str], theirs: frozenset[str]) -> bool:
    """Whether both a name and a time are others: then it is another thing."""
    names = [frozenset(v for v in _named(side) if not _NUMBER.match(v)) for side in (ours, theirs)]
    times = [frozenset(v for v in side if _SCHEDULE.fullmatch(v)) for side in (ours, theirs)]
    return all(names) and all(times)


def _named(values: frozenset[str]) -> frozenset[str]:
    """Values that are no days and times."""
    return frozenset(value for value in values if not _SCHEDULE.fullmatch(value))


def _numbers(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether just one number stands against one number, parts of the day aside."""
    one, other = (frozenset(v for v in side if not _PART_OF_DAY.fullmatch(v)) for side in (one, other))
    return len(one) == len(other) == 1 and all(_NUMBER.match(value) for value in one | other)


def _moved(new: Said, old: Said) -> bool:
    """A change announced of what takes place on another day or at another time, of which most is called the same."""
    if not new.announced or _several_differ(new.values - old.values, old.values - new.values):
        return False
    mine, its = new.matter, old.matter
    shared = frozenset(term for term in mine if any(_akin(term, other) for other in its))
    days = [frozenset(value for value in said.values if _WEEKDAY.fullmatch(value)) for said in (new, old)]
    times = [frozenset(value for value in said.values if _CLOCK.fullmatch(value)) for said in (new, old)]
    other = any(one and another and one.isdisjoint(another) for one, another in (days, times))
    return other and bool(shared) and len(shared) >= _SAME_MOVED * min(len(mine), len(its))


def _akin(one: str, other: str) -> bool:
    """Whether two words are the same, or one begins with the other, where that is long enough."""
    short, long = sorted((one, other), key=len)
    return short == long or (len(short) >= _LONG_WORD and short.isascii() and long.startswith(short))


def _measure_differs(new: Said, old: Said) -> bool:
    """Another number of the same unit, and nothing else that differs in value."""
    mine, theirs = ({unit: number for number, unit in said.measures} for said in (new, old))
    differ = [unit for unit in mine.keys() & theirs.keys() if mine[unit] != theirs[unit]]
    if len(differ) != 1 or (_named(new.values - old.values) and len(new.values - old.values) > 1 and not new.announced):
        return False
    shared, every = new.matter & old.matter, new.matter | old.matter
    if not new.announced and new.matter - shared and old.matter - shared:
        return False
    beside = sum(not term.startswith(differ[0][:4]) for term in shared)
    enough = len(shared) > 1 or (new.announced and len(every) <= _SHORT)
    return beside >= 1 and enough and len(shared) >= _SAME_MEASURED * len(every)


def _sign_differs(new: Said, old: Said) -> bool:
    """The same matter with the opposite sign."""
    shared, every = new.matter & old.matter, new.matter | old.matter
    if new.denied == old.denied:
        return False
    told, least = new.gist | old.gist, min(new.gist, old.gist, key=len)
    named = bool(least - new.matter - old.matter) and new.about == old.about
    if named and least <= new.gist & old.gist and len(told) <= _SHORT_DENIAL:
        return True
    if not shared:
        return False
    short = shared == min(new.matter, old.matter, key=len) and len(every) <= _SHORT_DENIAL
    of_another = len(shared) == 1 and bool(old.values - new.values)
    return (short and not of_another) or (len(shared) > 1 and len(shared) >= _SAME_MATTER * len(every))


def _opposed(new: Said, old: Said) -> bool:
    """Words that exclude each other, said of the same matter with the same sign."""
    if new.values - old.values and old.values - new.values:
        return False
    for pair, side, rest in new.sides:
        for other_pair, other_side, other in old.sides:
            if pair == other_pair and side != other_side:
                shared, every = rest & other, rest | other
                contained = shared == min(rest, other, key=len) and len(every) <= _SHORT
                changed = new.announced and len(shared) > 1 and len(shared) >= _OPPOSED_AFTER_CHANGE * len(every)
                if shared and (contained or changed or len(shared) >= _OPPOSED * len(every)):
                    return True
    return False


def _replaces(new: Said, old: Said) -> bool:
    """The new one says of most of the old one's words, or of what it has standing, that it does not hold any more."""
    for phrase in new.replaced:
        named = phrase & old.terms
        if len(named) < _NAMED_AS_OLD * len(phrase):
            continue
        beside = (new.terms - phrase) & old.terms
        plain = old.stands and (len(phrase) > 1 or len(old.terms) <= _SHORT_DENIAL)
        if beside or plain or (len(named) >= _NAMED_AS_OLD * len(old.terms)):
            return True
    return any(_ends(phrase, old, planned=planned) for phrase, planned in new.over)


def _ends(phrase: frozenset[str], old: Said, *, planned: bool) -> bool:
    """Whether a statement tells of something as standing, or as planned where it is something that takes place."""
    tells = rules_for(old.text).planned.search(old.text) is not None if planned else old.stands
    return tells and bool(phrase) and phrase <= old.terms
