"""Block structure: what CommonMark makes of a body, and which of its bytes are not prose.

Owns the CommonMark parser (pyromark), which is used nowhere else. Knows nothing of wikilinks, fields or tags.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, cast

from pyromark import Markdown, Options

from reme.markdown.note import BlockKind, Span

__all__ = ["Outline", "Reference", "read_outline"]

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
_SPACE: Final = b" \t\r\n"


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

    blocks: list[tuple[BlockKind, int, int]] = field(default_factory=list[tuple[BlockKind, int, int]])
    headings: list[tuple[int, str, int]] = field(default_factory=list[tuple[int, str, int]])
    opaque: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    references: list[Reference] = field(default_factory=list[Reference])


def read_outline(source: bytes, start: int) -> Outline:
    """Read the block structure of a body.

    Args:
        source: The note's UTF-8 bytes.
        start: Where its body begins.
    """
    walk = _Walk(source, start)
    body = source[start:].decode("utf-8")
    events = cast("Iterator[tuple[Any, dict[str, int]]]", _COMMONMARK.events_with_range(body, merge_text=True))
    for event, place in events:
        if event.__class__ is str:
            walk.mark(event, place)
        else:
            name, value = event.popitem()
            if name == "Text":
                if walk.title is not None:
                    walk.title.append(value)
            elif name == "Start":
                walk.open(value, place)
            elif name == "End":
                walk.close(value, place)
            else:
                walk.inline(name, value, place)
        walk.before = place
    if b"]:" in source:
        walk.define(_COMMONMARK.reference_definitions(body))
    return walk.outline


class _Walk:
    """One pass over the parser's events, whose places are in bytes of the body."""

    def __init__(self, source: bytes, start: int) -> None:
        self.outline = Outline()
        self.title: list[str] | None = None
        self.before: dict[str, int] = {"start": 0, "end": 0}
        self._source = source
        self._start = start
        self._depth = 0
        self._in_list = False
        self._links: list[tuple[bool, str] | None] = []

    def mark(self, name: str, place: dict[str, int]) -> None:
        if name == "Rule":
            if self._depth == 0:
                self._add("rule", place)
        elif self.title is not None:
            self.title.append(" ")

    def inline(self, name: str, value: Any, place: dict[str, int]) -> None:
        if name in ("FootnoteReference", "TaskListMarker"):
            return
        self._hide(place)
        if name == "Code" and self.title is not None:
            self.title.append(value)
        elif name == "DisplayMath" and self._depth == 1 and self.outline.blocks[-1][0] == "paragraph":
            _, begin, end = self.outline.blocks[-1]
            first, last = place["start"] + self._start, place["end"] + self._start
            if begin == first and not self._source[last:end].strip(_SPACE):
                self.outline.blocks[-1] = ("math", begin, end)

    def open(self, tag: Any, place: dict[str, int]) -> None:
        name = tag if tag.__class__ is str else next(iter(tag))
        if self._depth == 0:
            if name in _BLOCKS:
                self._add(_BLOCKS[name], place)
                if name == "Heading":
                    self.title = []
            self._in_list = name == "List"
        elif self._depth == 1 and self._in_list and name == "Item":
            self._add("item", place)
        self._depth += 1
        if name in ("Link", "Image"):
            self._open_link(name, tag[name], place)
        elif name in ("CodeBlock", "HtmlBlock"):
            self._hide(place)

    def close(self, tag: Any, place: dict[str, int]) -> None:
        self._depth -= 1
        if tag in ("Link", "Image"):
            self._close_link(place)
        elif self._depth == 0 and self.title is not None:
            self.outline.headings.append(
                (int(tag["Heading"][1]), "".join(self.title).strip(), place["start"] + self._start)
            )
            self.title = None

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
            self.outline.references.append(Reference(False, Span(first, last), text, destination, definition["dest"]))

    def _add(self, kind: BlockKind, place: dict[str, int]) -> None:
        self.outline.blocks.append((kind, place["start"] + self._start, place["end"] + self._start))

    def _hide(self, place: dict[str, int]) -> None:
        self.outline.opaque.append((place["start"] + self._start, place["end"] + self._start))

    def _open_link(self, name: str, link: Any, place: dict[str, int]) -> None:
        kind = link["link_type"]
        self._links.append((name == "Image", link["dest_url"]) if kind == "Inline" else None)
        if kind in ("Autolink", "Email"):
            self._hide(place)

    def _close_link(self, place: dict[str, int]) -> None:
        opened = self._links.pop()
        if opened is None:
            return
        image, url = opened
        first, last = place["start"] + self._start, place["end"] + self._start
        begin = first + (2 if image else 1)
        inner = self.before["end"] + self._start
        text_end = self._source.find(b"](", inner if inner < last else begin, last)
        wikilink_before_parentheses = self._source[begin : begin + 1] == b"[" and self._source[text_end - 1] == 0x5D
        if text_end < 0 or wikilink_before_parentheses:
            return
        self.outline.opaque.append((text_end, last))
        destination = _destination(self._source, text_end + 2, last - 1)
        self.outline.references.append(Reference(image, Span(first, last), Span(begin, text_end), destination, url))


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
