"""Reading a note: one pass over its bytes that never fails.

Owns the order of the steps and the detection of encodings. What each step reads belongs to its own module.
"""

import re
from bisect import bisect_right
from typing import Final

from reme.markdown.blocks import Outline, read_outline
from reme.markdown.frontmatter import BOM, find_frontmatter, read_frontmatter, tag_names
from reme.markdown.inline import blank, comment_spans, scan_prose, wikilinks
from reme.markdown.note import Block, Frontmatter, Heading, Link, Note, Problem, Span, Tag
from reme.markdown.words import shown
from reme.markdown.yaml12 import Text, unquoted

__all__ = ["parse", "parse_head"]

_COMMON_CODECS: Final = ("gb18030", "cp1252", "big5", "cp932", "cp949", "cp1251")
_UNLIKELY_CODECS: Final = [
    *("cp037", "cp273", "cp424", "cp500", "cp875", "cp1026", "cp1140"),
    *("utf_16", "utf_16_be", "utf_16_le", "utf_32", "utf_32_be", "utf_32_le", "utf_7"),
]
_RARITY: Final = 0.12
_UTF16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
_WHITE: Final = b" \t\r\n"
_BACKTICKS: Final = re.compile(rb"`[^`]*`")


def parse(data: bytes) -> Note:
    """Read a note.

    Never raises: invalid YAML, unknown encodings and the like are in ``problems``, and everything else is read. Bytes
    that are no text at all give an empty note.

    Args:
        data: The bytes of the file.
    """
    source, encoding, problems = _decoded(data)
    prose = bytearray(source)
    start = 3 if source.startswith(BOM) else 0
    frontmatter: Frontmatter | None = None
    links: list[Link] = []
    tags: list[Tag] = []
    if found := find_frontmatter(source):
        span, content = found
        frontmatter, texts, issues = read_frontmatter(source, span, content)
        problems += issues
        start = span.end
        links = _text_links(source, prose, texts)
        if "tags" in frontmatter.data:
            line = source.count(b"\n", 0, max(source.find(b"tags", content.start), content.start)) + 1
            tags = [Tag(name, line, "frontmatter") for name in tag_names(frontmatter.data["tags"])]
    outline = read_outline(source, start)
    blank(prose, outline.opaque)
    comments = comment_spans(prose, start)
    blank(prose, comments)
    found_in = scan_prose(source, prose, start, outline)
    blocks, headings = _blocks(source, start, outline, comments)
    return Note(
        source=source,
        encoding=encoding,
        frontmatter=frontmatter,
        body=Span(start, len(source)),
        headings=headings,
        blocks=blocks,
        links=(*links, *found_in.links),
        fields=tuple(found_in.fields),
        tags=(*tags, *found_in.tags),
        problems=tuple(problems),
    )


def parse_head(data: bytes) -> Note:
    """Read of a note no more than its frontmatter, however long the body is.

    Args:
        data: The bytes of the file.
    """
    found = find_frontmatter(data)
    return parse(data[: found[0].end] if found else b"")


def _decoded(data: bytes) -> tuple[bytes, str, list[Problem]]:
    """The text as UTF-8, the codec that it was in, and what is wrong with it."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return _transcribed(data)
    if b"\0" in data:
        return _unreadable("The file is binary, not text.")
    return data, "utf-8", []


def _transcribed(data: bytes) -> tuple[bytes, str, list[Problem]]:
    if data.startswith(_UTF16_MARKS):
        encoding = "utf-16"
    elif b"\0" in data:
        return _unreadable("The file is binary, not text.")
    else:
        encoding = _detected(data)
    try:
        source = data.decode(encoding or "utf-8").removeprefix("\ufeff").encode("utf-8")
    except (UnicodeError, LookupError):
        return _unreadable("The file's encoding could not be recognised.")
    if b"\0" in source:
        return _unreadable("The file is binary, not text.")
    return source, encoding, [Problem("encoding", f"The file is not UTF-8; it was read as {encoding}.", 1)]


def _detected(data: bytes) -> str:
    """The likeliest codec, empty if there is none.

    A short text is equally plausible in many; one of the common ones is taken unless another reads clearly better.
    """
    from charset_normalizer import from_bytes

    ranked: list[tuple[float, float, int, str]] = []
    for match in from_bytes(data, cp_exclusion=_UNLIKELY_CODECS):
        common = match.encoding in _COMMON_CODECS
        rank = _COMMON_CODECS.index(match.encoding) if common else len(_COMMON_CODECS)
        ranked.append((match.chaos + (0 if common else _RARITY), -match.coherence, rank, match.encoding))
    return min(ranked)[-1] if ranked else ""


def _unreadable(message: str) -> tuple[bytes, str, list[Problem]]:
    return b"", "unknown", [Problem("encoding", message, 1)]


def _text_links(source: bytes, prose: bytearray, texts: list[tuple[Text, Span]]) -> list[Link]:
    """The wikilinks of the frontmatter's strings; what these quote in backticks is no link."""
    links: list[Link] = []
    line, counted = 1, 0
    for text, place in texts:
        line += source.count(b"\n", counted, place.start)
        counted = place.start
        blank(prose, [match.span() for match in _BACKTICKS.finditer(source, *place)])
        found = wikilinks(source, prose, *place, line, lambda _start, _end, key=text.key: key, "frontmatter")
        links += [_unquoted(link, text.style) for link in found] if text.style in ("'", '"') else found
    return links


def _unquoted(link: Link, style: str) -> Link:
    anchor, alias = link.anchor, link.alias
    return link._replace(
        target=unquoted(link.target, style),
        anchor=anchor and unquoted(anchor, style),
        alias=alias and unquoted(alias, style),
    )


def _blocks(
    source: bytes, start: int, outline: Outline, comments: list[tuple[int, int]]
) -> tuple[tuple[Block, ...], tuple[Heading, ...]]:
    """Blocks in whole lines, what the parser passed over (link definitions) included."""
    blocks: list[Block] = []
    titled: dict[int, Block] = {}
    line, counted, reached = 1, 0, start
    for kind, first, last in outline.blocks:
        begin = first if source[first - 1] == 0x0A else source.rfind(b"\n", reached, first) + 1 or reached
        if begin > reached + 1 and not source[reached:begin].isspace():
            blocks.append(_passed_over(source, reached, begin, line, counted))
        stop = last - 1
        if source[stop] != 0x0A or source[stop - 1] in _WHITE:
            stop = _end_of_last_line(source, begin, last)
        line += source.count(b"\n", counted, begin)
        end_line = line + source.count(b"\n", begin, stop)
        if (kind == "html" and source.startswith(b"<!--", first)) or (comments and _within(comments, first)):
            kind = "comment"  # noqa: PLW2901
        block = Block(kind, Span(begin, stop), line, end_line)
        blocks.append(block)
        if kind == "heading":
            titled[first] = block
        line, counted, reached = end_line, stop, last
    if reached < len(source) and not source[reached:].isspace():
        blocks.append(_passed_over(source, reached, len(source), line, counted))
    headings = tuple(
        Heading(level, shown(text), block.span, block.line)
        for level, text, first in outline.headings
        if (block := titled.get(first))
    )
    return tuple(blocks), headings


def _passed_over(source: bytes, start: int, end: int, line: int, counted: int) -> Block:
    begin = end - len(source[start:end].lstrip(_WHITE))
    begin = source.rfind(b"\n", start, begin) + 1 or start
    stop = _end_of_last_line(source, begin, end)
    line += source.count(b"\n", counted, begin)
    return Block("paragraph", Span(begin, stop), line, line + source.count(b"\n", begin, stop))


def _end_of_last_line(source: bytes, start: int, end: int) -> int:
    """The end of the last line between two offsets that is not blank, white space before its line ending included."""
    stop = start + len(source[start:end].rstrip(_WHITE))
    while source[stop : stop + 1] in (b" ", b"\t"):
        stop += 1
    return stop


def _within(spans: list[tuple[int, int]], offset: int) -> bool:
    index = bisect_right(spans, (offset, 1 << 62)) - 1
    return index >= 0 and offset < spans[index][1]
