"""Prose: which line breaks are only there to keep lines short, and where sentences end.

Owns the rule. A line goes on in the next one if it does not end a sentence and something shows that it was broken for
its width: a comma or an abbreviation at its end, a next line that begins with a small letter where the paragraph began
with a capital, an indented next line in a list item, or, where the paragraph ends as a sentence does, a next word that
would not have fitted (between Chinese characters that alone is enough). What begins like a block of Markdown or like a
field begins anew, as does what follows two spaces or a backslash at the end of a line. Knows nothing of what sentences
are worth.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

__all__ = ["flowing", "joined", "sentence_spans", "unwrapped"]

_CJK: Final = r"\u2e80-\u303f\u3400-\u9fff\uf900-\ufaff\uff00-\uffef"
_NARROWEST: Final = 20
"""The columns that a line must fill to count as broken for its width."""

_END: Final = re.compile(
    r"(?<=[.!?…])(?!(?<=\bNo\.)\s+\d)[\"”')\]*_]*\s+(?=\S)|(?<=[。！？；!?])[”』」）\"]*(?=.)|\s*\n\s*"
)
_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Mx|Dr|Prof|St|Sr|Jr|Gen|Capt|Lt|Sgt|Rev|Hon|vs|etc|approx|Inc|Ltd|Corp|Fig|cf|e\.g|i\.e|et al)"
    r"|\b[A-Z]|^\s*\d{1,3})\.$"
)
_ENDS: Final = re.compile(r"[.!?…。！？；:：][\"”'’)\]*_」』）》`]*\s*$")
_PAUSES: Final = re.compile(r"[,，、]\s*$")
_HARD: Final = re.compile(r"(?:  |\\)$")
_ITEM: Final = re.compile(r"^\s*(?:[-*+•]|\d{1,9}[.)])\s")
_BLOCK: Final = re.compile(
    r"^\s*(?:[-*+•]\s|#{1,6}\s|[>|<]|\d{1,9}[.)、](?:\s|(?=[^\d\s]))|\(\d{1,2}\)|[（(]?[一二三四五六七八九十]+[)）、]"
    r"|\[[ xX]\]|```|~~~"
    r"|(?:[-*_=]\s*){3,}$|\[\^|\$\$|step \d|第[一二三四五六七八九十\d]+[步条章])",
    re.IGNORECASE,
)
_FENCE: Final = re.compile(r"^\s*(?:```|~~~)")
_LABEL: Final = re.compile(r"^\s*[^\W\d_][\w -]{0,30}(?:::?\s|：)")
_WORD: Final = re.compile(rf"\s*(?:[{_CJK}]|[^\s{_CJK}]+)")
_LETTER: Final = re.compile(r"[^\W\d_]")
_IS_CJK: Final = re.compile(f"[{_CJK}]")


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where each sentence begins and ends in a text whose line breaks are all meant; abbreviations end none."""
    at = 0
    for end in _END.finditer(text):
        mark = len(end.group().rstrip()) if end.group().strip() else 0
        stop = end.start() + mark
        if "\n" not in end.group() and _ABBREVIATION.search(text[at:stop]):
            continue
        yield at, stop
        at = end.end()
    yield at, len(text)


def unwrapped(text: str) -> str:
    """A text without the line breaks that only keep its lines short."""
    lines = text.split("\n")
    found = [lines[0]]
    for line, goes_on in zip(lines[1:], flowing(lines), strict=True):
        if goes_on:
            found[-1] = joined(found[-1], line)
        else:
            found.append(line)
    return "\n".join(found)


def joined(line: str, following: str) -> str:
    """Two lines as one: a space between words, nothing between Chinese characters."""
    line, following = line.rstrip(), following.lstrip()
    close = _IS_CJK.match(line[-1:]) and _IS_CJK.match(following[:1])
    return f"{line}{'' if close else ' '}{following}"


def flowing(lines: Sequence[str]) -> list[bool]:
    """For each line but the last, whether it goes on in the next."""
    found = [False] * max(0, len(lines) - 1)
    start, code = 0, False
    for place, line in enumerate(lines):
        code ^= _FENCE.match(line) is not None
        last = place + 1 == len(lines)
        if last or code or not lines[place + 1].strip() or _BLOCK.match(lines[place + 1]) or not line.strip():
            found[start:place] = _within(lines[start : place + 1])
            start = place + 1
    return found


def _within(lines: Sequence[str]) -> list[bool]:
    """The same for the lines of one paragraph or list item."""
    if len(lines) < 2:
        return []
    width = max(map(_columns, lines))
    first = _LETTER.search(lines[0])
    capital = first is not None and not first.group().islower()
    is_item, is_sentence = _ITEM.match(lines[0]) is not None, _ENDS.search(lines[-1]) is not None
    found: list[bool] = []
    for line, following in pairwise(lines):
        bare = following.lstrip()
        short = _ABBREVIATION.search(line.rstrip()) is not None
        if (_ENDS.search(line) and not short) or _HARD.search(line) or _LABEL.match(following):
            found.append(False)
            continue
        word = _WORD.match(bare)
        filled = _columns(line) >= _NARROWEST and width < _columns(line) + 1 + _columns(word.group() if word else "")
        found.append(
            short
            or _PAUSES.search(line) is not None
            or (is_item and following != bare)
            or (capital and bare[:1].islower())
            or (is_sentence and (filled or (_is_cjk(line.rstrip()[-1]) and _is_cjk(bare[0]))))
        )
    return found


def _is_cjk(char: str) -> bool:
    return _IS_CJK.match(char) is not None


def _columns(text: str) -> int:
    return len(text) + sum(unicodedata.east_asian_width(char) in "WF" for char in text)
