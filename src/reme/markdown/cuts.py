"""Cutting a text that is too long, at the mildest borders that will do.

Owns which borders there are: blank lines, list items, lines, sentences, white space, characters. Knows nothing of
notes.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Final

__all__ = ["cut"]

_BLANK_LINE: Final = re.compile(r"\n[ \t\r>]*\n")
_BEFORE_ITEM: Final = re.compile(r"\n(?=[ \t>]*(?:[-*+]|[0-9]{1,9}[.)])[ \t])")
_LINE: Final = re.compile(r"\n")
_SENTENCE: Final = re.compile(r"[.!?…][\"'”’)\]]*\s+|[。！？；…][”’」』）]*\s*")
_SPACE: Final = re.compile(r"\s+(?=\S*\Z)")
_PROSE: Final = (_SENTENCE, _LINE)
_LAID_OUT: Final = (_BLANK_LINE, _BEFORE_ITEM, _LINE, _SENTENCE)
_CHARS_PER_TOKEN: Final = 8
_LOOK_BACK: Final = 32


def cut(text: str, kind: str, size: int, count: Callable[[str], int]) -> list[str]:
    """Pieces of at most ``size`` tokens, as long as they can be; joined they are the text.

    A single character is never cut, whatever it counts, nor is a base character cut from its marks, an emoji from what
    it is joined with or CR from LF.

    Args:
        text: What to cut.
        kind: The block kind: a paragraph's line ends are milder borders than its sentence ends in nothing else.
        size: Tokens, at least 1.
        count: The token counter.
    """
    borders = _PROSE if kind in ("paragraph", "heading") else _LAID_OUT
    return list(_joined(_parts(text, borders, max(size, 1), count), max(size, 1)))


def _parts(
    text: str, borders: tuple[re.Pattern[str], ...], size: int, count: Callable[[str], int]
) -> Iterator[tuple[str, int]]:
    """Pieces with their tokens, cut at no milder border than needed."""
    if not text:
        return
    tokens = count(text)
    if tokens <= size:
        yield text, tokens
    elif not borders:
        yield from _runs(text, size, count)
    else:
        reached = 0
        for match in borders[0].finditer(text):
            yield from _parts(text[reached : match.end()], borders[1:], size, count)
            reached = match.end()
        yield from _parts(text[reached:], borders[1:], size, count)


def _joined(parts: Iterator[tuple[str, int]], size: int) -> Iterator[str]:
    """Neighbours put together again while they fit."""
    held: list[str] = []
    total = 0
    for text, tokens in parts:
        if held and total + tokens > size:
            yield "".join(held)
            held, total = [], 0
        held.append(text)
        total += tokens
    if held:
        yield "".join(held)


def _runs(text: str, size: int, count: Callable[[str], int]) -> Iterator[tuple[str, int]]:
    """Cut at white space where there is any, else between characters."""
    start = 0
    while start < len(text):
        window = text[start : start + size * _CHARS_PER_TOKEN]
        tokens = count(window)
        while tokens > size and len(window) > 1:
            window = window[: max(min(len(window) * size // tokens, len(window) - 1), 1)]
            tokens = count(window)
        end = start + len(window)
        if end < len(text):
            space = _SPACE.search(window, len(window) // 2)
            end = start + space.end() if space else _between_characters(text, start, end)
        piece = text[start:end]
        yield piece, count(piece)
        start = end


def _between_characters(text: str, start: int, end: int) -> int:
    """The last border between two user-perceived characters at or before ``end``, if there is one near."""
    for at in range(end, max(start, end - _LOOK_BACK), -1):
        if not _belongs_together(text, at):
            return at
    return end


def _belongs_together(text: str, at: int) -> bool:
    before, after = text[at - 1], text[at]
    if before == "\u200d" or after == "\u200d" or (before == "\r" and after == "\n"):
        return True
    if "\U0001f3fb" <= after <= "\U0001f3ff" or unicodedata.category(after)[0] == "M":
        return True
    if "\u1160" <= after <= "\u11ff":
        return True
    if _is_flag_half(before) and _is_flag_half(after):
        halves = 0
        while halves < min(at, _LOOK_BACK) and _is_flag_half(text[at - 1 - halves]):
            halves += 1
        return halves % 2 == 1
    return False


def _is_flag_half(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"
