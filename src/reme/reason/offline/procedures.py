"""Procedures: which sentences of a text are steps to carry out, and which line leads to them.

Owns the rules. Items of an ordered list are steps if a line above says how something is done, or half of them begin
with what to do; items of another list only below such a line. In prose, steps are what stands between words that order
them, if half of it says what to do. Steps that give their own number ("step 3", 第三步) have it.
"""

import re
from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import Final

from reme.reason.offline.rules import rules_for
from reme.reason.offline.sentences import Part, announces, instructs
from reme.reason.offline.terms import Lexicon

__all__ = ["says_how", "steps_in", "unnumbered"]

_NUMBER: Final = re.compile(
    r"^\W*(?:step (?P<number>\d{1,3})\b|第(?P<chinese>[一二三四五六七八九十]+|\d{1,3})步)", re.IGNORECASE
)
_DIGITS: Final = "一二三四五六七八九"
_FEWEST: Final = 2
_OF_ITEMS: Final = 0.5
_OF_BULLETS: Final = 0.3
_OF_PROSE: Final = 0.5


def says_how(text: str) -> bool:
    """Whether a line is about how something is done."""
    rules = rules_for(text)
    return any(pattern.search(text) for pattern in (rules.recipe, rules.announced, rules.guide))


def unnumbered(text: str) -> str:
    """A step without the number that it gives itself: in another telling it may have another."""
    match = _NUMBER.match(text)
    return text[match.end() :].lstrip(" ,，:：、.)–—-") or text if match else text


def steps_in(lexicon: Lexicon, parts: Sequence[Part], *, title: str = "", told: bool = True) -> dict[int, int]:
    """The steps among the sentences of a text, by place.

    Args:
        title: What stands above the text, if it has one.
        told: Whether it is a person's word; else only a list counts that somebody was to be shown how.

    Returns:
        The number of each step, from 1; 0 for the line that leads to them.
    """
    found: dict[int, int] = {}
    for run in _lists(parts):
        lead = run[0] - 1 if run[0] > 0 and not parts[run[0] - 1].item else None
        how = says_how(title) or (lead is not None and says_how(parts[lead].text))
        if _is_procedure(lexicon, parts, run, how=how, told=told):
            found |= {place: parts[place].item for place in run}
            if lead is not None and (announces(parts[lead].text) or says_how(parts[lead].text)):
                found[lead] = 0
    for run in _ordered_prose(parts) if told else ():
        texts = [parts[place].text for place in run]
        counted = sum(_number(text) > 0 for text in texts) >= _FEWEST
        if counted or sum(instructs(lexicon, text) for text in texts) >= _OF_PROSE * len(run):
            for number, place in enumerate(run, start=1):
                found[place] = (_number(parts[place].text) or found.get(place - 1, 1)) if counted else number
            if run[0] and says_how(parts[run[0] - 1].text):
                found.setdefault(run[0] - 1, 0)
    for place, part in enumerate(parts):
        if told and place not in found and (number := _number(part.text)) and instructs(lexicon, part.text):
            found[place] = number
    return found


def _lists(parts: Sequence[Part]) -> list[list[int]]:
    """The places of each list."""
    starts = [0, *(place for place, (one, other) in enumerate(pairwise(parts), start=1) if _parted(one, other))]
    runs = (range(start, stop) for start, stop in pairwise([*starts, len(parts)]))
    return [list(run) for run in runs if run and parts[run[0]].item]


def _parted(one: Part, other: Part) -> bool:
    return bool(one.item) != bool(other.item) or one.ordered != other.ordered or other.item < one.item


def _is_procedure(lexicon: Lexicon, parts: Sequence[Part], run: Sequence[int], *, how: bool, told: bool) -> bool:
    items = [next(places) for _, places in groupby(run, key=lambda place: parts[place].item)]
    share = sum(instructs(lexicon, parts[place].text) for place in items) / len(items)
    if len(items) < _FEWEST or not (told or how):
        return False
    return (how or share >= _OF_ITEMS) if parts[run[0]].ordered else (how and share >= _OF_BULLETS)


def _ordered_prose(parts: Sequence[Part]) -> list[list[int]]:
    """The places from the first to the last word that orders steps, where there are two, in each stretch of prose."""
    found: list[list[int]] = []
    for prose, places in groupby(range(len(parts)), key=lambda place: not parts[place].item):
        stretch = list(places)
        opens = [place for place in stretch if rules_for(parts[place].text).sequence.search(parts[place].text)]
        if prose and len(opens) >= _FEWEST:
            found.append(list(range(opens[0], opens[-1] + 1)))
    return found


def _number(text: str) -> int:
    """The number that a step gives itself; 0 if it gives none."""
    match = _NUMBER.match(text)
    if match is None:
        return 0
    said = match["number"] or match["chinese"]
    if said.isdigit():
        return int(said)
    tens, ten, ones = said.rpartition("十")
    return 10 * (_digit(tens) or 1) * bool(ten) + _digit(ones)


def _digit(said: str) -> int:
    return _DIGITS.find(said) + 1 if said else 0
