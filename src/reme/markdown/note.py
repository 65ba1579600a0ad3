"""A parsed note: plain frozen data with byte spans into the source that it was parsed from.

Owns the types. What a note has many of is a named tuple, which is made in a third of the time that a frozen dataclass
takes. Knows nothing of files, vaults or indexes.
"""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

__all__ = [
    "Block",
    "BlockKind",
    "Field",
    "Frontmatter",
    "Heading",
    "Link",
    "LinkKind",
    "Note",
    "Problem",
    "Span",
    "Tag",
]

LinkKind = Literal["wiki", "embed", "image", "markdown"]
BlockKind = Literal["heading", "paragraph", "item", "quote", "code", "table", "html", "math", "rule", "comment"]


class Span(NamedTuple):
    """A half-open byte range ``[start, end)`` of ``Note.source``."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in a note that a person should know of; it never stops the rest from being read.

    Attributes:
        rule: Stable identifier such as ``frontmatter.yaml`` or ``encoding``.
        message: One sentence.
        line: 1-based line.
    """

    rule: str
    message: str
    line: int


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """The YAML block at the top of a note.

    Attributes:
        span: The whole block: from the opening fence through the closing fence's line ending.
        content: The YAML text between the fences.
        data: The mapping, with YAML 1.2 core types; empty when the YAML is invalid.
        valid: False when the YAML could not be read as a mapping; such a block is never rewritten.
    """

    span: Span
    content: Span
    data: dict[str, Any]
    valid: bool


class Heading(NamedTuple):
    """A heading: its level 1–6, its text without marks, its whole span and 1-based line."""

    level: int
    text: str
    span: Span
    line: int


class Block(NamedTuple):
    """A top-level block of the body; each top-level list item is a block of its own.

    Attributes:
        span: From the first byte to the end of the last line, line ending excluded.
        line: 1-based first line.
        end_line: 1-based last line.
    """

    kind: BlockKind
    span: Span
    line: int
    end_line: int


class Link(NamedTuple):
    """A reference to another file, as written.

    Attributes:
        kind: ``wiki`` ``[[x]]``, ``embed`` ``![[note]]``, ``image`` (an embed or Markdown image of a picture,
            which is no edge), ``markdown`` ``[text](path)``.
        target: The target without anchor and alias, trimmed and, for Markdown links, percent-decoded once; empty for
            the note itself.
        anchor: What follows the first ``#`` of the target, or None.
        alias: The display text given, or None.
        predicate: The Dataview or frontmatter key in whose value the link stands, or None.
        span: The whole construct, embed mark and brackets included.
        target_span: Exactly the bytes that spell ``target``, so that a retarget can replace them alone.
        line: 1-based line.
        origin: Whether it stands in the body or in a frontmatter string.
    """

    kind: LinkKind
    target: str
    anchor: str | None
    alias: str | None
    predicate: str | None
    span: Span
    target_span: Span
    line: int
    origin: Literal["body", "frontmatter"] = "body"


class Field(NamedTuple):
    """A Dataview field of the body: ``key:: value``, ``[key:: value]`` or ``(key:: value)``; value as written."""

    key: str
    value: str
    span: Span
    line: int


class Tag(NamedTuple):
    """A tag without its ``#``; ``origin`` tells whether it stands in the body or in the frontmatter."""

    name: str
    line: int
    origin: Literal["body", "frontmatter"] = "body"


@dataclass(frozen=True, slots=True)
class Note:
    """Everything that is read from one Markdown file in one pass.

    Attributes:
        source: The UTF-8 bytes that all spans refer to. For a UTF-8 file these are the file's own bytes, BOM and
            line endings included; for another encoding they are its transcription.
        encoding: ``utf-8``, or the codec that the file was detected to be in (such a note is never edited in place).
        frontmatter: The YAML block, or None.
        body: Span of what follows the frontmatter (or the BOM).
    """

    source: bytes
    encoding: str
    frontmatter: Frontmatter | None
    body: Span
    headings: tuple[Heading, ...]
    blocks: tuple[Block, ...]
    links: tuple[Link, ...]
    fields: tuple[Field, ...]
    tags: tuple[Tag, ...]
    problems: tuple[Problem, ...]

    def text(self, span: Span) -> str:
        """The text of a span of the source."""
        return self.source[span.start : span.end].decode("utf-8")

    @property
    def properties(self) -> dict[str, Any]:
        """The frontmatter mapping, empty where there is none."""
        return self.frontmatter.data if self.frontmatter else {}
