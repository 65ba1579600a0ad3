"""Snippets: the one line of a text that says most about a query, short enough to stand in a list.

Pure text. Knows no index and no ranking.
"""

import re
from typing import Final

from reme.paths import fold

__all__ = ["snippet"]

_MOST_BYTES: Final = 240
_BEFORE_BYTES: Final = 80
_ENDING: Final = 2
_LONG: Final = 5
_WORD: Final = re.compile(r"[^\W_]+")
_UNTELLING: Final = re.compile(r"#{1,6}\s|(?:[-*+] )?(?:\w+:: ?)?\[\[[^\[\]]*\]\]$|[-*+]$|-{3,}$")


def snippet(text: str, query: str) -> str:
    """The line of a text that has most of a query's words, cut around the first of them; the first one where none has.

    Words count without their last letters, and writing without spaces by its pairs of characters. A heading, a bare
    link or a sign alone is taken only where nothing else is left.

    Args:
        text: Several lines.
        query: What was asked.
    """
    lines = [line for line in (" ".join(line.split()) for line in text.splitlines()) if line]
    lines = [line for line in lines if not _UNTELLING.match(line)] or lines
    if not lines:
        return ""
    words = _words(query)
    best = max(lines, key=lambda line: sum(word in fold(line) for word in words))
    found = [at for word in words if (at := fold(best).find(word)) >= 0]
    return _cut(best, min(found, default=0))


def _words(query: str) -> list[str]:
    found: list[str] = []
    for word in _WORD.findall(fold(query)):
        if word.isascii():
            found.append(word[:-_ENDING] if len(word) > _LONG else word)
        else:
            found += [word[i : i + 2] for i in range(len(word) - 1)] or [word]
    return list(dict.fromkeys(found))


def _cut(line: str, at: int) -> str:
    """What of a line there is room for around a place in it."""
    if len(line.encode()) <= _MOST_BYTES:
        return line
    before = line[:at].encode()[-_BEFORE_BYTES:].decode(errors="ignore") if at else ""
    if (begin := at - len(before)) > 0 and (space := before.find(" ")) >= 0:
        begin += space + 1
    shown = line[begin:].encode()[:_MOST_BYTES].decode(errors="ignore")
    if (end := begin + len(shown)) < len(line):
        shown = shown[: shown.rindex(" ")] if " " in shown[-_BEFORE_BYTES // 2 :] else shown
    return f"{'… ' if begin else ''}{shown}{' …' if end < len(line) else ''}"
