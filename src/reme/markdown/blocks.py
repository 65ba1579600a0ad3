"""Block structure: what CommonMark makes of a body, and which of its bytes are not prose.

Owns the CommonMark parser (pyromark), which is used nowhere else. Knows nothing of wikilinks, fields or tags.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, cast

from pyromark import Markdown, Options

from reme.markdown.note import BlockKind, Span

__all__ = ["Outline", "Reference", "parsed_outline", "plain_outline", "read_outline"]

_COMMONMARK: Final = Markdown(
    options=Options.ENABLE_TABLES | Options.ENABLE_MATH | Options.ENABLE_FOOTNOTES | Options.ENABLE_STRIKETHROUGH
)
_BLOCKS: Final[dict[str, BlockKind]] = {
    "Paragraph": "paragraph",
    "Heading": "heading",
    "BlockQuote": "quote",
    "CodeBlock": "code",
    "HtmlBlock": "html",
    "Table": "table",
    "FootnoteDefinition": "paragraph",
}
_LINKS: Final = frozenset(("Link", "Image"))
_MARKED: Final = _LINKS | {"CodeBlock", "HtmlBlock"}
_TRANSPARENT: Final = frozenset(("FootnoteReference", "TaskListMarker"))
_SPACE: Final = b" \t\r\n"
_NEEDS_PARSER: Final = (b"`", b"<", b"$", b"\r")
_REFERENCE: Final = re.compile(rb"\][:(]")
_PLAIN_BLOCK: Final = re.compile(
    rb"(?:[ \t]*+\n)*+(?:"
    rb"((?:[A-Za-z\x80-\xff\[!(\"'][^\n]*+(?:\n|\Z))++)"
    rb"|(- [A-Za-z0-9\x80-\xff\[!(\"'][^\n]*+(?:\n|\Z)(?:[A-Za-z\x80-\xff\[!(\"'][^\n]*+(?:\n|\Z))*+)"
    rb"|(\#{1,6}) ++([A-Za-z0-9\x80-\xff\[][^\n#*_~&\\]*+)(?:\n|\Z)"
    rb"|[ \t]*+\Z)"
)


@dataclass(frozen=True, slots=True)
class Reference:
    """A Markdown link or image as the CommonMark parser found it, its destination not yet judged.

    Attributes:
        span: The whole construct.
        text: What stands between the square brackets.
        destination: The bytes of the destination, angle brackets excluded.
        url: The destination with backslash escapes and entities resolved.
    """

    image: bool
    span: Span
    text: Span
    destination: Span
    url: str


@dataclass(slots=True)
class Outline:
    """What a body consists of, in byte offsets of the source; blocks may end in blank lines still.

    Attributes:
        blocks: Kind, start and end of each top-level block and each item of a top-level list.
        headings: Level, text and start of each top-level heading; wikilinks in the text are as written.
        opaque: Code, HTML, math and link destinations: nothing in there is a link, field or tag.
        references: Markdown links and images, and the definitions of reference links.
    """

    blocks: list[tuple[BlockKind, int, int]]
    headings: list[tuple[int, str, int]]
    opaque: list[tuple[int, int]]
    references: list[Reference]


def read_outline(source: bytes, start: int) -> Outline:
    """Read the block structure of a body.

    Args:
        source: The note's UTF-8 bytes.
        start: Where its body begins.
    """
    if (plain := plain_outline(source, start)) is not None:
        return plain
    return parsed_outline(source, start)


def plain_outline(source: bytes, start: int) -> Outline | None:
    """The outline of a body that is nothing but plain headings, paragraphs and top-level list items, else None.

    Many notes are; what their lines are needs no parser, and finding them so takes half the time. A line ends what
    stands above it exactly if it begins a heading or an item or comes after a blank one.
    """
    if any(source.find(mark, start) >= 0 for mark in _NEEDS_PARSER) or _REFERENCE.search(source, start):
        return None
    outline = Outline([], [], [], [])
    blocks = outline.blocks
    reached = start
    for match in _PLAIN_BLOCK.finditer(source, start):
        first, last = match.span()
        if first != reached:
            return None
        reached = last
        first = match.start(match.lastindex or 0)
        match match.lastindex:
            case 1:
                blocks.append(("paragraph", first, last))
            case 2:
                blocks.append(("item", first, last))
            case 4:
                first = match.start(3)
                blocks.append(("heading", first, last))
                outline.headings.append((len(match[3]), match[4].decode("utf-8").strip(), first))
            case _:
                pass
    return outline if reached == len(source) else None


def parsed_outline(source: bytes, start: int) -> Outline:
    """The outline of any body, by the CommonMark parser."""
    outline = Outline([], [], [], [])
    body = source[start:].decode("utf-8")
    events = cast("Iterator[tuple[Any, dict[str, int]]]", _COMMONMARK.events_with_range(body, merge_text=True))
    inlines = _Inlines(source, start, outline)
    depth = 0
    in_list = False
    title: list[str] | None = None
    before = here = {"start": 0, "end": 0}
    for event, place in events:
        before, here = here, place
        if event.__class__ is str:
            if event == "Rule":
                if depth == 0:
                    outline.blocks.append(("rule", place["start"] + start, place["end"] + start))
            elif title is not None:
                title.append(" ")
            continue
        name, value = event.popitem()
        if name == "Start":
            tag = value if value.__class__ is str else next(iter(value))
            if depth == 0:
                in_list = tag == "List"
                if kind := _BLOCKS.get(tag):
                    outline.blocks.append((kind, place["start"] + start, place["end"] + start))
                    if kind == "heading":
                        title = []
            elif depth == 1 and in_list and tag == "Item":
                outline.blocks.append(("item", place["start"] + start, place["end"] + start))
            depth += 1
            if tag in _MARKED:
                if tag in _LINKS:
                    inlines.open_link(tag, value[tag], place)
                else:
                    inlines.hide(place)
        elif name == "End":
            depth -= 1
            if value.__class__ is str:
                if value in _LINKS:
                    inlines.close_link(place, before)
            elif depth == 0 and title is not None:
                outline.headings.append((int(value["Heading"][1]), "".join(title).strip(), place["start"] + start))
                title = None
        elif name == "Text":
            if title is not None:
                title.append(value)
        elif name not in _TRANSPARENT:
            inlines.hide(place)
            if name == "Code" and title is not None:
                title.append(value)
            elif name == "DisplayMath" and depth == 1:
                inlines.raise_math(place)
    if b"]:" in source:
        inlines.define(_COMMONMARK.reference_definitions(body))
    return outline


class _Inlines:
    """What the parser's events say of opaque bytes and Markdown links; their places are in bytes of the body."""

    def __init__(self, source: bytes, start: int, outline: Outline) -> None:
        self._source = source
        self._start = start
        self._outline = outline
        self._links: list[tuple[bool, str] | None] = []

    def hide(self, place: dict[str, int]) -> None:
        """Note that a place is no prose."""
        self._outline.opaque.append((place["start"] + self._start, place["end"] + self._start))

    def raise_math(self, place: dict[str, int]) -> None:
        """Make a paragraph that is nothing but a formula a block of mathematics."""
        kind, begin, end = self._outline.blocks[-1]
        first, last = place["start"] + self._start, place["end"] + self._start
        if kind == "paragraph" and begin == first and not self._source[last:end].strip(_SPACE):
            self._outline.blocks[-1] = ("math", begin, end)

    def open_link(self, name: str, link: Any, place: dict[str, int]) -> None:
        """Take in where a Markdown link or image begins."""
        kind = link["link_type"]
        self._links.append((name == "Image", link["dest_url"]) if kind == "Inline" else None)
        if kind in ("Autolink", "Email"):
            self.hide(place)

    def close_link(self, place: dict[str, int], before: dict[str, int]) -> None:
        """Take in where it ends; ``before`` is the place of the event before that."""
        opened = self._links.pop()
        if opened is None:
            return
        image, url = opened
        first, last = place["start"] + self._start, place["end"] + self._start
        begin = first + (2 if image else 1)
        inner = before["end"] + self._start
        text_end = self._source.find(b"](", inner if inner < last else begin, last)
        wikilink_before_parentheses = self._source[begin : begin + 1] == b"[" and self._source[text_end - 1] == 0x5D
        if text_end < 0 or wikilink_before_parentheses:
            return
        self._outline.opaque.append((text_end, last))
        destination = _destination(self._source, text_end + 2, last - 1)
        self._outline.references.append(Reference(image, Span(first, last), Span(begin, text_end), destination, url))

    def define(self, definitions: Any) -> None:
        """Take in ``[label]: destination`` lines, each as the one link that all its uses are."""
        for label, definition in definitions.items():
            first, last = (definition["span"][side] + self._start for side in ("start", "end"))
            first = self._source.find(b"[", first, last)
            text_end = self._source.find(b"]:", first, last)
            while text_end > first and self._source[text_end - 1] == 0x5C:
                text_end = self._source.find(b"]:", text_end + 1, last)
            if first < 0 or text_end < 0 or not label:
                continue
            destination = _destination(self._source, text_end + 2, last)
            text = Span(first + 1, text_end)
            self._outline.references.append(Reference(False, Span(first, last), text, destination, definition["dest"]))


def _destination(source: bytes, start: int, end: int) -> Span:
    """Where the destination stands in ``(destination "title")``, parentheses excluded."""
    while start < end and source[start] in _SPACE:
        start += 1
    if source[start : start + 1] == b"<":
        start += 1
        stop = start
        while stop < end and source[stop] != 0x3E:
            stop += 2 if source[stop] == 0x5C else 1
        return Span(start, min(stop, end))
    stop = start
    while stop < end and source[stop] not in _SPACE:
        stop += 1
    return Span(start, stop)
