"""What stands inside the prose of a body: wikilinks, Markdown links to files, Dataview fields, tags.

Works on a copy of the body in which everything that is no prose is blanked, byte for byte, so that offsets stay true.
Every pattern is linear in the length of the body. Knows nothing of blocks.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import Final, Literal, NamedTuple
from urllib.parse import unquote

from reme.markdown.blocks import Outline, Reference
from reme.markdown.note import Field, Link, LinkKind, Span, Tag

__all__ = ["IMAGE_SUFFIXES", "Prose", "blank", "comment_spans", "scan_prose", "wikilinks"]

IMAGE_SUFFIXES: Final = (
    ".apng", ".avif", ".bmp", ".gif", ".heic", ".ico", ".jpeg", ".jpg", ".png", ".svg", ".tif", ".tiff", ".webp",
)  # fmt: skip

_BLANKED: Final = bytes(byte if byte in b"\r\n" else 0 for byte in range(256))
_ESCAPE: Final = re.compile(rb"\\[\[\]()!#%\\]")
_COMMENT: Final = re.compile(rb"%%")
_WIKILINK: Final = re.compile(rb"\[\[(?!\[)([^\[\]|\n\r\0]*)(?:\|((?:[^\[\]\n\r]|\](?!\])|\[(?!\[))*))?\]\]")
_VALUE: Final = re.compile(rb"[ \t]|!?\[\[|\r?$", re.MULTILINE)
_KEY: Final = re.compile(rb"[A-Za-z\x80-\xff][A-Za-z0-9_\-\x80-\xff]*")
_LINE_KEY: Final = re.compile(
    rb"[ \t]*(?:>[ \t]*)*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)*(?:\[[^\]\r\n]\][ \t]+)?"
    rb"([A-Za-z\x80-\xff][A-Za-z0-9_\-\x80-\xff]*)"
)
_LONGEST_KEY: Final = 200
_DEEPEST_FIELD: Final = 20
_BRACKET: Final = re.compile(rb"[\[\]()\r\n]")
_TAG: Final = re.compile(rb"#([A-Za-z0-9_\-\x80-\xff][A-Za-z0-9_\-/\x80-\xff]*)")
_BEFORE_TAG: Final = frozenset(b" \t\r\n(>|*\"'")
_WIDE_BEFORE_TAG: Final = frozenset(char.encode() for char in "　、。，；：（「」『』《》“”‘’！？")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:|//")
_NUMERIC_ENTITY: Final = re.compile(rb"&#[A-Za-z0-9]{1,8};")
_CLOSERS: Final = {0x5B: 0x5D, 0x28: 0x29}


class Prose(NamedTuple):
    """What was found, in order."""

    links: list[Link]
    fields: list[Field]
    tags: list[Tag]


class _Value(NamedTuple):
    """The value of a field: links in it carry the key."""

    start: int
    end: int
    key: str


def blank(buffer: bytearray, spans: Iterable[tuple[int, int]]) -> None:
    """Overwrite spans with NULs, line endings excepted."""
    for start, end in spans:
        buffer[start:end] = buffer[start:end].translate(_BLANKED)


def comment_spans(prose: bytearray, start: int) -> list[tuple[int, int]]:
    """``%% … %%`` comments, which may run over several blocks; an unclosed one is text."""
    marks = [match.start() for match in _COMMENT.finditer(prose, start)] if b"%" in prose else []
    return [(first, last + 2) for first, last in zip(marks[::2], marks[1::2], strict=False)]


def scan_prose(source: bytes, prose: bytearray, start: int, outline: Outline) -> Prose:
    """Read a body.

    Args:
        source: The note's bytes.
        prose: A copy of them in which what is opaque or commented out is blanked. Escapes in it are blanked too.
        start: Where the body begins.
        outline: Its block structure.
    """
    if b"\\" in prose:
        blank(prose, [match.span() for match in _ESCAPE.finditer(prose, start)])
    fields, values = _fields(source, prose, start)
    key = _Keys(values).around if values else None
    links = wikilinks(source, prose, start, len(prose), source.count(b"\n", 0, start) + 1, key)
    if outline.references:
        links += _markdown_links(source, prose, outline.references, _Keys(values).around)
        links.sort(key=lambda link: link.span.start)
    return Prose(links, fields, list(_tags(prose, start, links)) if b"#" in prose else [])


class _Keys:
    """Which field's value a place stands in, asked in ascending order."""

    def __init__(self, values: list[_Value]) -> None:
        self._coming = values[::-1]
        self._around: list[_Value] = []

    def around(self, start: int, end: int) -> str | None:
        """The key of the innermost value that holds these bytes."""
        while self._coming and self._coming[-1].start <= start:
            self._around.append(self._coming.pop())
        while self._around and self._around[-1].end <= start:
            self._around.pop()
        return self._around[-1].key if self._around and end <= self._around[-1].end else None


def wikilinks(
    source: bytes,
    prose: bytes | bytearray,
    start: int,
    end: int,
    line: int,
    key: Callable[[int, int], str | None] | None,
    origin: Literal["body", "frontmatter"] = "body",
) -> list[Link]:
    """The wikilinks and embeds between two offsets.

    Args:
        source: Where their text is read from.
        prose: The same bytes with what is no prose blanked: where they are looked for.
        start: First byte.
        end: End.
        line: The line of the first byte.
        key: The predicate of what stands between two offsets, asked in ascending order; None for no predicates.
        origin: Where the links stand.
    """
    links: list[Link] = []
    counted = start
    for match in _WIKILINK.finditer(prose, start, end):
        opened, closed = match.span()
        first, last = match.span(1)
        alias = anchor = None
        if last + 2 != closed:
            alias = trimmed(source, *match.span(2))[0]
            last -= source[last - 1] == 0x5C
        mark = source.find(b"#", first, last)
        if mark >= 0:
            anchor = trimmed(source, mark + 1, last)[0] or None
            last = mark
        written = source[first:last].decode("utf-8")
        target = written.strip()
        target_span = Span(first, last) if target is written else trimmed(source, first, last)[1]
        if not target and not anchor:
            continue
        kind: LinkKind = "wiki"
        if opened > start and prose[opened - 1] == 0x21:
            opened -= 1
            kind = "image" if target.lower().endswith(IMAGE_SUFFIXES) else "embed"
        line += source.count(b"\n", counted, opened)
        counted = opened
        predicate = key(opened, closed) if key else None
        links.append(Link(kind, target, anchor, alias, predicate, Span(opened, closed), target_span, line, origin))
    return links


def trimmed(source: bytes, start: int, end: int) -> tuple[str, Span]:
    """The text between two offsets without white space around it, and where that stands."""
    text = source[start:end].decode("utf-8")
    inner = text.strip()
    if inner is text:
        return text, Span(start, end)
    begin = start + len(text[: len(text) - len(text.lstrip())].encode())
    return inner, Span(begin, begin + len(inner.encode()))


def _markdown_links(
    source: bytes, prose: bytearray, references: list[Reference], key: Callable[[int, int], str | None]
) -> Iterator[Link]:
    """The links to local files that Markdown links are: no URLs, and no anchors of the note itself."""
    line, counted = 1, 0
    for reference in sorted(references, key=lambda reference: reference.span):
        opened, closed = reference.span
        path, _, anchor = reference.url.partition("#")
        if prose[opened] not in b"[!" or not path.strip() or _SCHEME.match(path.strip()):
            continue
        start, end = reference.destination
        mark = source.find(b"#", start, end)
        while mark > start and _NUMERIC_ENTITY.match(source, mark - 1, end):
            mark = source.find(b"#", mark + 1, end)
        text = source[reference.text.start : reference.text.end].decode("utf-8").strip()
        line += source.count(b"\n", counted, opened)
        counted = opened
        yield Link(
            kind="image" if reference.image else "markdown",
            target=_percent_decoded(path.strip()),
            anchor=_percent_decoded(anchor.strip()) or None,
            alias=text or None,
            predicate=key(opened, closed),
            span=reference.span,
            target_span=trimmed(source, start, mark if mark >= 0 else end)[1],
            line=line,
        )


def _percent_decoded(text: str) -> str:
    try:
        return unquote(text, errors="strict") if "%" in text else text
    except UnicodeDecodeError:
        return text


def _fields(source: bytes, prose: bytearray, start: int) -> tuple[list[Field], list[_Value]]:
    """The fields, and what their values span, both in order of their starts."""
    at = prose.find(b"::", start)
    if at < 0:
        return [], []
    found: list[tuple[Span, _Value]] = []
    closers: dict[int, int] = {}
    paired = floor = line_end = start
    while at >= 0:
        first = at + 2
        if _VALUE.match(prose, first):
            begin = max(floor, at - _LONGEST_KEY)
            opener = max(prose.rfind(b"[", begin, at), prose.rfind(b"(", begin, at))
            if opener >= 0 and _KEY.fullmatch(prose, opener + 1, at) and (key := _key(prose, opener + 1, at)):
                if opener >= paired:
                    paired = _pair_brackets(prose, opener, closers)
                close = closers.get(opener, -1)
                if close >= first:
                    found.append((Span(opener, close + 1), _Value(first, close, key)))
            if at >= line_end:
                line = _LINE_KEY.fullmatch(prose, max(prose.rfind(b"\n", line_end, at) + 1, line_end), at)
                line_end = prose.find(b"\n", first)
                line_end = line_end if line_end >= 0 else len(prose)
                if line and (key := _key(prose, line.start(1), at)):
                    found.append((Span(line.start(1), line_end), _Value(first, line_end, key)))
            floor = first
        at = prose.find(b"::", first)
    found = list(_shallow(sorted(found)))
    return list(_placed(source, found)), [value for _, value in found]


def _shallow(found: list[tuple[Span, _Value]]) -> Iterator[tuple[Span, _Value]]:
    """Those that do not stand in so many others that only a program can have written them: each value is a copy."""
    around: list[int] = []
    for span, value in found:
        while around and around[-1] <= span.start:
            around.pop()
        if len(around) < _DEEPEST_FIELD:
            yield span, value
            around.append(value.end)


def _placed(source: bytes, found: list[tuple[Span, _Value]]) -> Iterator[Field]:
    line, counted = 1, 0
    for span, value in found:
        text, inner = trimmed(source, value.start, value.end)
        stop = span.end if span.end > value.end else max(inner.end, value.start)
        line += source.count(b"\n", counted, span.start)
        counted = span.start
        yield Field(value.key, text, Span(span.start, stop), line)


def _key(prose: bytearray, start: int, end: int) -> str:
    """The key if it is a letter of any script followed by letters, digits, ``_`` and ``-``, else empty."""
    key = prose[start:end].decode("utf-8", errors="replace")
    if key.isascii():
        return key
    named = key[0].isalpha() and all(char in "_-" or unicodedata.category(char)[0] in "LMN" for char in key)
    return key if named else ""


def _pair_brackets(prose: bytearray, start: int, closers: dict[int, int]) -> int:
    """Note where each bracket closes that opens between ``start`` and the end of its line; returns that end."""
    opened: dict[int, list[int]] = {0x5D: [], 0x29: []}
    for match in _BRACKET.finditer(prose, start):
        at = match.start()
        byte = prose[at]
        if byte in _CLOSERS:
            opened[_CLOSERS[byte]].append(at)
        elif byte in opened:
            if opened[byte]:
                closers[opened[byte].pop()] = at
        else:
            return at
    return len(prose)


def _tags(prose: bytearray, start: int, links: list[Link]) -> Iterator[Tag]:
    """The tags outside of links, which come in the order of their starts."""
    line, counted = 1, 0
    coming = iter(links)
    link = next(coming, None)
    reached = start
    for match in _TAG.finditer(prose, start):
        at = match.start()
        if at > start and prose[at - 1] not in _BEFORE_TAG and bytes(prose[at - 3 : at]) not in _WIDE_BEFORE_TAG:
            continue
        while link is not None and link.span.start < at:
            reached = max(reached, link.span.end)
            link = next(coming, None)
        if at < reached:
            continue
        name = match[1].decode("utf-8", errors="ignore")
        if not name.isascii():
            name = _tag_start(name)
        name = name.rstrip("/")
        if name and not name.replace("/", "").isdigit():
            line += prose.count(b"\n", counted, at)
            counted = at
            yield Tag(name, line)


def _tag_start(name: str) -> str:
    """As much of a name as is letters, digits, marks, symbols such as emoji, ``_``, ``-`` and ``/``."""
    for index, char in enumerate(name):
        if char not in "_-/" and unicodedata.category(char) not in _TAG_CATEGORIES:
            return name[:index]
    return name


_TAG_CATEGORIES: Final = frozenset(("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "So", "Sk", "Cf"))
