"""Packing: neighbouring parts of a file put together to pieces of a good size.

Owns where a piece ends. Borders depend on the content near them, so that an edit leaves most pieces as they were.
"""

import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from reme.markdown import count_tokens, cut

__all__ = ["Part", "Piece", "Size", "cut_part", "pack", "text_pieces"]

_PARAGRAPH: Final = re.compile(rb"^[^\S\n]*+\S[^\n]*+(?:\n[^\S\n]*+\S[^\n]*+)*+\n?", re.MULTILINE)
_BORDER_EVERY: Final = 4
_TRAIL_CHARS: Final = 200


class Size(NamedTuple):
    """Tokens, as ``markdown.count_tokens`` estimates them.

    Attributes:
        target: Up to which parts are packed together.
        limit: That no piece exceeds.
    """

    target: int
    limit: int


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a file: an exact range of its bytes with its lines.

    Attributes:
        trail: What it stands under, outermost first: keys, headings, the header of its table.
        words: What it is found by, where that is not its text.
        complaint: What is wrong with it, or empty.
    """

    start: int
    end: int
    line: int
    end_line: int
    speaker: str | None = None
    date: str | None = None
    words: str | None = None
    complaint: str = ""
    trail: tuple[str, ...] = ()


class Part(NamedTuple):
    """Something that is not cut unless it is too long for a piece.

    Attributes:
        trail: What it stands under.
        words: What it is found by.
        glued: Whether nothing parts its words from those before.
    """

    start: int
    end: int
    trail: tuple[str, ...]
    words: str
    glued: bool = False


def text_pieces(data: bytes, size: Size) -> Iterator[Piece]:
    """Paragraphs, packed; a long one is cut at lines, sentences, white space, and at last between characters."""
    found = (
        part
        for match in _PARAGRAPH.finditer(data)
        for part in cut_part(data, match.start(), match.end(), (), size.target if _tokens(match[0]) > size.limit else 0)
    )
    return pack(data, found, size, verbatim=True)


def cut_part(data: bytes, start: int, end: int, trail: tuple[str, ...], size: int) -> Iterator[Part]:
    """The parts of a range: one, or where a size is given as many as it takes."""
    text = data[start:end].decode("utf-8", "replace")
    if not size:
        yield Part(start, end, trail, text)
        return
    for piece in cut(text, "code", size, count_tokens):
        reached = start + len(piece.encode("utf-8"))
        if piece.strip():
            yield Part(start, reached, trail, piece)
        start = reached


def pack(data: bytes, parts: Iterable[Part], size: Size, *, verbatim: bool = False) -> Iterator[Piece]:
    """Put neighbours together up to the target; what they all stand under is what the piece stands under.

    Args:
        data: The file.
        parts: In order, without overlap, none above the limit.
        size: How large pieces are.
        verbatim: Whether pieces are found by what stands there.
    """
    lines = _Lines(data)
    held: list[Part] = []
    tokens = 0
    for part in parts:
        more = count_tokens(part.words)
        full = tokens + more > size.target
        if held and (full or (not part.glued and tokens * 2 >= size.target and _is_border(data, part))):
            yield _piece(data, held, lines, verbatim=verbatim)
            held, tokens = [], 0
        held.append(part)
        tokens += more
    if held:
        yield _piece(data, held, lines, verbatim=verbatim)


def _piece(data: bytes, parts: list[Part], lines: "_Lines", *, verbatim: bool) -> Piece:
    raw = data[parts[0].start : parts[-1].end]
    start = parts[0].start + (0 if verbatim else len(raw) - len(raw.lstrip(b" \t\r\n")))
    end = parts[0].start + len(raw.rstrip(b" \t\r\n"))
    trail = parts[0].trail
    for part in parts:
        trail = _shared(trail, part.trail)
    words = None if verbatim else "".join(part.words if part.glued else f"\n{part.words}" for part in parts)
    return Piece(start, end, lines.of(start), lines.of(max(end - 1, start)), words=words, trail=_shortened(trail))


def _shared(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    count = 0
    while count < min(len(first), len(second)) and first[count] == second[count]:
        count += 1
    return first[:count]


def _shortened(trail: tuple[str, ...]) -> tuple[str, ...]:
    """The innermost entries, as many as have room; the last one cut if need be."""
    kept: list[str] = []
    room = _TRAIL_CHARS
    for entry in reversed(trail):
        if len(entry) > room and kept:
            break
        kept.append(entry[:room])
        room -= len(entry)
    return tuple(reversed(kept))


def _is_border(data: bytes, part: Part) -> bool:
    return zlib.crc32(data[part.start : part.end]) % _BORDER_EVERY == 0


def _tokens(data: bytes) -> int:
    return count_tokens(data.decode("utf-8", "replace"))


class _Lines:
    """Line numbers of places that come in order, but for steps back within a piece."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._line = 1

    def of(self, place: int) -> int:
        self._line += self._data.count(b"\n", self._at, place)
        self._at = max(place, self._at)
        return self._line
