"""Chunks: the pieces of a note that are searched for, each an exact substring of the file.

Owns where a note is cut. Sections follow the headings; small ones are packed together, long blocks are cut at the
mildest border that will do. A cut depends on what stands next to it and on the section, so that an edit leaves the
chunks of other sections as they are.
"""

import hashlib
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from reme.markdown.cuts import cut
from reme.markdown.note import Block, BlockKind, Note, Span

__all__ = ["Chunk", "ChunkSettings", "chunk", "count_tokens"]

_CJK: Final = re.compile(
    "[\u1100-\u11ff\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\uff01-\uff60\U00020000-\U0003ffff]+"
)
_WHITE: Final = b" \t\r\n"
_JOIN_TOKENS: Final = 8
_BORDER_EVERY: Final = 4


def count_tokens(text: str) -> int:
    """Estimate how many tokens a model sees in a text, without a model.

    1.3 for each word between white space, one for each Chinese, Japanese or Korean character, and never less than one
    for five characters, so that long unbroken strings count too.
    """
    if text.isascii():
        by_words, by_length = 1.3 * len(text.split()), len(text) / 5
        return int((by_words if by_words > by_length else by_length) + 0.999)
    rest, runs = _CJK.subn(" ", text)
    wide = len(text) - len(rest) + runs
    return int(wide + max(1.3 * len(rest.split()), (len(rest) - runs) / 5) + 0.999)


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """How large chunks are.

    Attributes:
        target: Tokens up to which small sections and blocks are packed together.
        limit: Tokens that a chunk and its heading trail never exceed together.
        count: The token counter.
    """

    target: int = 300
    limit: int = 512
    count: Callable[[str], int] = field(default=count_tokens)


class Chunk(NamedTuple):
    """A piece of a note.

    Attributes:
        span: Its bytes in ``Note.source``; empty for a note that has frontmatter only.
        line: 1-based first line.
        end_line: 1-based last line.
        trail: The headings that all of it stands under, outermost first; shortened where they are longer than a
            quarter of the limit.
        hash: Hex BLAKE2b-128 of trail and text: the identity of what is embedded.
        lead: Where the chunk continues a block that was cut: that block's table header or opening code fence, else
            None.
    """

    span: Span
    line: int
    end_line: int
    trail: tuple[str, ...]
    hash: str
    lead: Span | None = None


@dataclass(slots=True)
class _Unit:
    """Neighbouring blocks that stay together.

    Attributes:
        trail: Headings above its content.
        lead: As in ``Chunk``.
    """

    start: int
    end: int
    tokens: int
    trail: tuple[str, ...]
    lead: Span | None = None


@dataclass(slots=True)
class _Section:
    """A heading with what stands directly under it, and the sections below it.

    Attributes:
        headings: The headings above its content, in full.
        trail: The same, shortened where they are long.
        room: Tokens that the limit leaves beside the trail.
    """

    level: int
    headings: tuple[str, ...]
    trail: tuple[str, ...]
    room: int
    units: list[_Unit] = field(default_factory=list[_Unit])
    children: "list[_Section]" = field(default_factory=list["_Section"])


def chunk(note: Note, settings: ChunkSettings | None = None) -> tuple[Chunk, ...]:
    """Cut a note into chunks.

    They cover the body in order, without overlap; between two there is nothing but white space. A note with
    frontmatter and an empty body gives one empty chunk.

    Args:
        note: The note.
        settings: Sizes; the defaults where None.
    """
    settings = settings or ChunkSettings()
    source = note.source
    if not note.blocks:
        if note.frontmatter is None:
            return ()
        at = source.count(b"\n", 0, note.body.start) + 1
        return (Chunk(Span(note.body.start, note.body.start), at, at, (), _hash((), b"")),)
    chunks: list[Chunk] = []
    line, counted = 1, 0
    for unit in _packed_section(_sections(note, settings), source, settings):
        text = source[unit.start : unit.end]
        line += source.count(b"\n", counted, unit.start)
        counted = unit.start
        end_line = line + text.count(b"\n", 0, max(len(text.rstrip(_WHITE)) - 1, 0))
        span = Span(unit.start, unit.end)
        chunks.append(Chunk(span, line, end_line, unit.trail, _hash(unit.trail, text), unit.lead))
    return tuple(chunks)


def _hash(trail: tuple[str, ...], text: bytes) -> str:
    digest = hashlib.blake2b("\0".join(trail).encode("utf-8"), digest_size=16)
    digest.update(b"\0\0" + text)
    return digest.hexdigest()


def _sections(note: Note, settings: ChunkSettings) -> _Section:
    """The heading tree with its blocks as units, over-long ones already cut.

    A heading stays with the block below it, also where headings of its subsections stand between.
    """
    headings = {heading.span.start: heading for heading in note.headings}
    root = _Section(0, (), (), settings.limit)
    path = [root]
    waiting: Span | None = None
    for block in note.blocks:
        heading = headings.get(block.span.start)
        if heading is None:
            section = path[-1]
            start = waiting.start if waiting else block.span.start
            section.units += _units(note, start, block, section, settings)
            waiting = None
            continue
        if waiting and heading.level <= path[-1].level:
            path[-1].units += _heading_units(note, waiting, path[-1], settings)
            waiting = None
        while path[-1].level >= heading.level:
            path.pop()
        section = _section(heading.level, (*path[-1].headings, heading.text), settings)
        path[-1].children.append(section)
        path.append(section)
        waiting = Span(waiting.start if waiting else block.span.start, block.span.end)
    if waiting:
        path[-1].units += _heading_units(note, waiting, path[-1], settings)
    return root


def _section(level: int, headings: tuple[str, ...], settings: ChunkSettings) -> _Section:
    trail, tokens = _shortened(headings, settings)
    return _Section(level, headings, trail, settings.limit - tokens)


def _heading_units(note: Note, span: Span, section: _Section, settings: ChunkSettings) -> Iterable[_Unit]:
    """A heading, or several, with nothing below."""
    return _units(note, span.start, Block("heading", span, 0, 0), section, settings)


def _units(note: Note, start: int, block: Block, section: _Section, settings: ChunkSettings) -> Iterable[_Unit]:
    """A block, with the heading that stands right above it if ``start`` says so: whole if it fits, else in pieces."""
    text = note.source[start : block.span.end].decode("utf-8")
    tokens = settings.count(text)
    if tokens <= section.room:
        return (_Unit(start, block.span.end, tokens, section.trail),)
    return _cut(note, start, block, text, section, settings)


def _cut(
    note: Note, start: int, block: Block, text: str, section: _Section, settings: ChunkSettings
) -> Iterator[_Unit]:
    trail, room = section.trail, section.room
    lead = _lead(note.source, block, settings)
    reached = start
    for piece in _pieces(text, len(note.source[start : block.span.start].decode("utf-8")), block.kind, room, settings):
        end = reached + len(piece.encode("utf-8"))
        yield _Unit(reached, end, settings.count(piece), trail, lead if reached > block.span.start else None)
        reached = end


def _pieces(text: str, prefix: int, kind: BlockKind, room: int, settings: ChunkSettings) -> list[str]:
    """A block in pieces, the headings above it with the first one unless they are too long for that."""
    size = min(settings.target, room)
    pieces = cut(text[prefix:], kind, size, settings.count)
    if prefix and settings.count(first := text[:prefix] + pieces[0]) <= room:
        return [first, *pieces[1:]]
    return cut(text[:prefix], "heading", size, settings.count) + pieces


def _lead(source: bytes, block: Block, settings: ChunkSettings) -> Span | None:
    """The table header with its rule, or the opening fence, unless that is long itself."""
    start, end = block.span
    fenced = block.kind == "code" and source[start:end].lstrip()[:1] in (b"`", b"~")
    reached = start
    for _ in range(2 if block.kind == "table" else 1 if fenced else 0):
        reached = source.find(b"\n", reached, end) + 1 or end
    if reached in (start, end):
        return None
    return (
        Span(start, reached) if settings.count(source[start:reached].decode("utf-8")) <= settings.limit // 4 else None
    )


def _shortened(trail: tuple[str, ...], settings: ChunkSettings) -> tuple[tuple[str, ...], int]:
    """The trail within a quarter of the limit, and its tokens: the innermost headings, the last one cut if need be."""
    room = settings.limit // 4
    kept: list[str] = []
    tokens = 0
    for heading in reversed(trail):
        cost = settings.count(heading)
        if cost > room - tokens:
            if not kept:
                kept.append(next(iter(cut(heading, "heading", room, settings.count)), "").strip())
                tokens = settings.count(kept[0])
            break
        kept.append(heading)
        tokens += cost
    return tuple(reversed([heading for heading in kept if heading])), tokens


def _packed_section(section: _Section, source: bytes, settings: ChunkSettings) -> list[_Unit]:
    """The chunks of a section and all below it.

    Sections that fit into one chunk are packed with their neighbours; a larger one keeps to itself.
    """
    packed: list[_Unit] = []
    small = list(section.units)
    for child in section.children:
        units = _packed_section(child, source, settings)
        if len(units) == 1:
            small += units
            continue
        packed += _packed(small, source, settings)
        packed += units
        small = []
    return packed + _packed(small, source, settings)


def _packed(units: list[_Unit], source: bytes, settings: ChunkSettings) -> list[_Unit]:
    """Neighbours put together up to the target.

    A chunk that is half full also ends before a unit whose content says so, so that after an edit the borders soon
    fall where they fell before.
    """
    room = settings.limit - settings.limit // 4 - _JOIN_TOKENS
    target = min(settings.target, room)
    packed: list[_Unit] = []
    for unit in units:
        last = packed[-1] if packed else None
        full = last is None or last.tokens + unit.tokens > target
        if last is None or full or (last.tokens * 2 >= target and _is_border(source, unit)):
            packed.append(unit)
        else:
            packed[-1] = _joined(last, unit)
    if len(packed) > 1 and packed[-1].tokens * 4 < target and packed[-2].tokens + packed[-1].tokens <= room:
        packed[-2:] = [_joined(packed[-2], packed[-1])]
    return packed


def _is_border(source: bytes, unit: _Unit) -> bool:
    return zlib.crc32(source[unit.start : unit.end]) % _BORDER_EVERY == 0


def _joined(first: _Unit, second: _Unit) -> _Unit:
    trail = first.trail
    if trail != second.trail:
        shared = zip(trail, second.trail, strict=False)
        trail = trail[: next((at for at, (one, other) in enumerate(shared) if one != other), len(second.trail))]
    return _Unit(first.start, second.end, first.tokens + second.tokens, trail, first.lead)
