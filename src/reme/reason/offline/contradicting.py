"""Whether two statements say the same, contradict each other, or speak of different things.

Owns the rules and their thresholds. Careful: what is not certain to be the same matter is another one. Which of two
contradicting statements holds is never decided here.
"""

import re
from dataclasses import dataclass
from typing import Final

from reme.reason.offline.rules import Rules, has_cjk, rules_for
from reme.reason.offline.sentences import denies
from reme.reason.offline.terms import Lexicon, values_of

__all__ = ["Said", "alike", "contradicts", "said_in"]

_SAME_STATEMENT: Final = 0.8
_SAME_MATTER: Final = 0.6
_SAME_MATTER_AFTER_CHANGE: Final = 0.4
_SAME_SHORT_MATTER: Final = 0.5
_SHORT: Final = 2
_SHORT_DENIAL: Final = 4

_SCHEDULE: Final = re.compile(
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:周|星期|礼拜)[一二三四五六日天]|\d{1,2}:\d\d|"
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december)"
)


@dataclass(frozen=True, slots=True)
class Said:
    """A statement as it is compared.

    Attributes:
        values: What in it could change while the rest stays.
        matter: Its words without those values.
        order: Its words in order.
    """

    text: str
    terms: frozenset[str]
    values: frozenset[str]
    matter: frozenset[str]
    order: tuple[str, ...]


def said_in(lexicon: Lexicon, text: str) -> Said:
    """Read a statement."""
    order = tuple(token.term for token in lexicon.tokens(text) if token.term)
    terms, values = frozenset(order), values_of(text)
    spoken = lexicon.all_terms(values)
    matter = frozenset(t for t in terms - spoken if not (has_cjk(t) and any(value in t for value in values)))
    return Said(text, terms, values, matter, order)


def alike(one: Said, other: Said) -> bool:
    """Whether two statements say the same."""
    if one.text == other.text:
        return True
    shared = len(one.terms & other.terms) / max(1, len(one.terms | other.terms))
    same_sign = denies(one.text) == denies(other.text)
    return shared >= _SAME_STATEMENT and one.values == other.values and same_sign and not _turned(one, other)


def contradicts(new: Said, old: Said) -> bool:
    """Whether a statement gives the matter of an older one another value, or the opposite sign."""
    if has_cjk(new.text) != has_cjk(old.text):
        return False
    rules = rules_for(new.text)
    if (differ := _attributes_differ(rules, new.text, old.text)) is not None:
        return differ
    return _turned(new, old) or _value_differs(rules, new, old) or _sign_differs(new, old)


def _turned(one: Said, other: Said) -> bool:
    """Whether two comparisons of the same things have them the other way round."""
    if one.terms != other.terms or one.order == other.order:
        return False
    return all(rules_for(said.text).comparison.search(said.text) for said in (one, other))


def _attributes_differ(rules: Rules, new: str, old: str) -> bool | None:
    """Whether something that there is one of is another now; None if the statements are not of that kind."""
    for pattern in rules.attribute:
        now, then = pattern.search(new), pattern.search(old)
        if now is None or then is None:
            continue
        (key, value), (old_key, old_value) = _read(now), _read(then)
        if key == old_key:
            return not (value.startswith(old_value) or old_value.startswith(value))
    return None


def _read(match: re.Match[str]) -> tuple[str, str]:
    groups = match.groupdict()
    value = groups["value"] or groups.get("value2") or ""
    return (groups.get("key") or "").lower(), value.lower().strip()


def _value_differs(rules: Rules, new: Said, old: Said) -> bool:
    """The same subject and attribute with another value, or announced as a change."""
    shared, every = new.matter & old.matter, new.matter | old.matter
    announced = rules.change.search(new.text) is not None
    ours, theirs = new.values - old.values, old.values - new.values
    if not shared:
        return False
    if not announced and min(len(_named(ours)), len(_named(theirs))) > 1:
        return False
    if len(every) <= _SHORT or (len(shared) == 1 and announced):
        moved = bool(ours and theirs) or (announced and bool(old.values) and old.values < new.values)
        only_when = announced or not (_named(ours) and _named(theirs)) or _numbers(ours, theirs)
        return moved and only_when and len(shared) >= _SAME_SHORT_MATTER * len(every)
    least = _SAME_MATTER_AFTER_CHANGE if announced else _SAME_MATTER
    return len(shared) > 1 and len(shared) >= least * len(every) and (announced or bool(ours and theirs))


def _named(values: frozenset[str]) -> frozenset[str]:
    """Values that are no days and times."""
    return frozenset(value for value in values if not _SCHEDULE.fullmatch(value))


def _numbers(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether just one number stands against one number."""
    return len(one) == len(other) == 1 and all(not value[0].isascii() or value[0].isdigit() for value in one | other)


def _sign_differs(new: Said, old: Said) -> bool:
    """The same matter with the opposite sign."""
    shared, every = new.matter & old.matter, new.matter | old.matter
    if denies(new.text) == denies(old.text) or not shared:
        return False
    short = shared == min(new.matter, old.matter, key=len) and len(every) <= _SHORT_DENIAL
    return short or (len(shared) > 1 and len(shared) >= _SAME_MATTER * len(every))
