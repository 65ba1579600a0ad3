"""Markup: the text of HTML and XML without tags, scripts and styles, under its headings.

Tags are found by patterns that pass over each byte once, whatever it is, so that no page can take long.
"""

import html
import re
from collections.abc import Iterator
from typing import Final

from reme.index.pieces.packing import Part, Piece, Size, cut_part, pack
from reme.markdown import count_tokens

__all__ = ["markup_pieces", "markup_title"]

_MARKUP: Final = re.compile(
    rb"<!--.*?(?:-->|\Z)|<!\[CDATA\[(?P<cdata>.*?)(?:\]\]>|\Z)"
    rb"|<(?P<unseen>script|style|template|svg)\b[^<>]*>.*?(?:</(?P=unseen)\s*>|\Z)"
    rb"|<(?P<close>/?)(?P<name>[A-Za-z][\w:.-]*)[^<>]*>|<[!?][^<>]*>",
    re.DOTALL | re.IGNORECASE,
)
_TITLE: Final = re.compile(rb"<title\b[^<>]*>([^<]*)", re.IGNORECASE)
_HEADING: Final = re.compile(rb"h([1-6])", re.IGNORECASE)
_INLINE: Final = frozenset(
    b"a abbr b bdi bdo cite code data del dfn em font i ins kbd mark q s samp small span strong sub sup time tt u var "
    b"wbr".split()
)


def markup_title(data: bytes) -> str:
    """What an HTML page calls itself, or empty."""
    match = _TITLE.search(data)
    return " ".join(html.unescape(match[1].decode("utf-8", "replace")).split()) if match else ""


def markup_pieces(data: bytes, size: Size, *, is_html: bool = True) -> Iterator[Piece]:
    """Runs of text, packed, in HTML under their headings."""
    return pack(data, _runs(data, size, is_html=is_html), size)


def _runs(data: bytes, size: Size, *, is_html: bool) -> Iterator[Part]:
    headings: list[tuple[int, str]] = []
    level = 0
    heading: list[str] = []
    glued = False
    reached = 0
    for match in _MARKUP.finditer(data):
        for part in _run(data, reached, match.start(), headings, glued, size):
            heading.append(part.words)
            yield part
            glued = True
        reached = match.end()
        if match["cdata"] is not None:
            for part in _run(data, *match.span("cdata"), headings, glued, size):
                yield part
                glued = True
        name = (match["name"] or b"").lower()
        if not is_html or (name and name not in _INLINE) or match["unseen"]:
            glued = False
        if is_html and (found := _HEADING.fullmatch(name)):
            if match["close"] and level:
                headings.append((level, " ".join("".join(heading).split())))
                level = 0
            elif not match["close"]:
                level = int(found[1])
                while headings and headings[-1][0] >= level:
                    headings.pop()
            heading = []
    yield from _run(data, reached, len(data), headings, glued, size)


def _run(data: bytes, start: int, end: int, headings: list[tuple[int, str]], glued: bool, size: Size) -> Iterator[Part]:
    if not data[start:end].strip():
        return
    trail = tuple(text for _, text in headings if text)
    long = count_tokens(data[start:end].decode("utf-8", "replace")) > size.limit
    for part in cut_part(data, start, end, trail, size.target if long else 0):
        yield part._replace(words=html.unescape(part.words), glued=glued)
        glued = True
