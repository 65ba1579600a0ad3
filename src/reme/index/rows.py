"""The plain rows that an index takes and answers with.

Owns types only. Knows no store.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from reme.errors import Unavailable
from reme.markdown import Link, LinkKind
from reme.paths import VaultPath
from reme.revision import Revision
from reme.vault import Layer

__all__ = [
    "ANY",
    "UNSEARCHED",
    "Around",
    "Bm25",
    "ChunkEntry",
    "ChunkKey",
    "Direction",
    "Edge",
    "Entry",
    "FileProblem",
    "Filter",
    "Format",
    "Found",
    "IndexDamaged",
    "IndexSettings",
    "IndexUnavailable",
    "IndexedNote",
    "KeywordStatistics",
    "LinkKey",
    "NamedFile",
    "Neighbour",
    "Stamp",
    "Standing",
    "Status",
    "Step",
    "StoredChunk",
    "StoredLink",
    "Taken",
    "Turn",
    "Unembedded",
    "WaitingDocument",
]

Format = Literal["note", "text", "dialogue", "document", "binary", "unreadable"]
Direction = Literal["out", "in"]

ChunkKey = int
"""Names a chunk in one state of one index; not to be kept. The chunk behind it in its file, if any, is one more."""

LinkKey = int
"""Names a link in one state of one index; not to be kept."""

Step = tuple[VaultPath, VaultPath | None, LinkKey]
"""An edge of the graph, as a walk needs it: its source, its target (None where it leads to no file), its link.

A plain tuple, as the store gives it: of a hub there are many, of which few are followed.
"""


UNSEARCHED: Final = frozenset({"undecodable", "document"})
"""The rules of problems that mean: the file is known, but its text is not searched."""


class IndexUnavailable(Unavailable):
    """The store cannot be used now: another process is writing it, the disk is full, or it cannot be opened."""


class IndexDamaged(Unavailable):
    """The store was found broken and has been emptied; the next refresh builds it again from the files."""


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """What the projection depends on besides the files; another value builds the index anew.

    Attributes:
        chunk_target: Size that small sections are packed up to, in tokens as ``markdown.chunk`` estimates them.
        chunk_max: Size that no chunk exceeds, in tokens.
        max_bytes: Larger files are read in parts; links are followed in the first part only.
        generated: Names of files that are views of other files: their links do not count as references.
        uncounted_layers: Layers whose links do not count as references.
    """

    chunk_target: int = 300
    chunk_max: int = 512
    max_bytes: int = 20_000_000
    generated: tuple[str, ...] = ("_buckets.md", "_index.md")
    uncounted_layers: frozenset[Layer] = frozenset({"audit", "session", "archive"})


class Stamp(NamedTuple):
    """The state of a file that the index has seen: times and sizes as ``vault.Stat`` has them."""

    size: int
    mtime_ns: int
    inode: int
    revision: Revision
    ctime_ns: int

    @property
    def unfinished(self) -> "Stamp":
        """The same as no file ever has it: for one that is taken in by several batches, until the last of them."""
        return self._replace(inode=-1, revision=Revision(""))


# What goes in


class Found(NamedTuple):
    """What a chunk is found by.

    Attributes:
        length: Its length in words.
        terms: Terms with their counts in the columns name, labels (aliases, tags, dates), headings and body, packed as
            ``counts`` has it.
    """

    length: int
    terms: Mapping[str, int]


class ChunkEntry(NamedTuple):
    """A piece of a file.

    Attributes:
        start: First byte in the file's UTF-8 text.
        end: Byte behind the last.
        line: 1-based first line.
        end_line: 1-based last line.
        trail: Headings above it, outermost first.
        hash: Content hash.
        text: Exactly what stands there.
        words: Identity of what it is found by.
        found: Makes that; asked only where it is not in the index yet.
        speaker: Who says it, in a dialogue.
        date: When it was said, ISO date, in a dialogue.
    """

    start: int
    end: int
    line: int
    end_line: int
    trail: tuple[str, ...]
    hash: str
    text: str
    words: bytes
    found: Callable[[], Found]
    speaker: str | None = None
    date: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """Everything that the index holds of one file.

    Attributes:
        counts: Whether its links count as references to their targets.
        aliases: Other names that resolve to it, folded.
        tags: Tags as written, without ``#``.
        fields: Property and field values by key, both folded, for filters.
        problems: ``(rule, message, line)``.
    """

    path: VaultPath
    layer: Layer
    format: Format
    stamp: Stamp
    counts: bool = False
    name: str = ""
    description: str = ""
    date: str | None = None
    properties: str = "{}"
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    fields: tuple[tuple[str, str], ...] = ()
    chunks: tuple[ChunkEntry, ...] = ()
    links: tuple[Link, ...] = ()
    problems: tuple[tuple[str, str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Taken:
    """The text that was taken out of a document.

    Attributes:
        made_by: The converter and its version.
        parts: Places with their texts in Markdown, as compressed JSON.
        problem: Why there is none, or empty.
    """

    made_by: str
    parts: bytes
    problem: str = ""


# What comes out


class IndexedNote(NamedTuple):
    """A file of the vault as the index knows it.

    Attributes:
        name: Frontmatter ``name`` or ``title``, else the file's name without extension.
        description: Frontmatter ``description``, or empty.
        frontmatter: What stands there, as JSON, which is read where ``properties`` are asked for: of few notes.
        date: The day that it is about (frontmatter ``date``, else a date in its path), ISO, or None.
        mtime_ns: Time of its last modification, in nanoseconds since 1970.
        chunks: Number of its chunks.
    """

    path: VaultPath
    layer: Layer
    format: Format
    name: str
    description: str
    tags: tuple[str, ...]
    frontmatter: str
    date: str | None
    size: int
    mtime_ns: int
    revision: Revision
    chunks: int

    @property
    def properties(self) -> dict[str, Any]:
        """The frontmatter, with JSON types; read anew each time."""
        return json.loads(self.frontmatter)


class NamedFile(NamedTuple):
    """A file by what it is called and sorted by; fields as ``IndexedNote`` has them, which is several times as dear."""

    path: VaultPath
    layer: Layer
    name: str
    description: str
    date: str | None
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Edge:
    """A link between files.

    Attributes:
        target: The file that it leads to, or None while there is none (or more than one) of that name.
        raw_target: The target as spelt.
    """

    source: VaultPath
    target: VaultPath | None
    raw_target: str
    anchor: str | None
    alias: str | None
    predicate: str | None
    kind: LinkKind
    line: int
    origin: Literal["body", "frontmatter"]


class StoredLink(NamedTuple):
    """How an edge is written, to show."""

    link: LinkKey
    raw_target: str
    predicate: str | None
    anchor: str | None
    line: int


class Neighbour(NamedTuple):
    """A file one link away: a line of a directory, without its text.

    Attributes:
        source: The file that it is a neighbour of.
        predicates: The named relations among the links between the two; empty for plain links.
        direction: ``out`` where the link stands in ``source``, ``in`` where it stands in the neighbour.
    """

    source: VaultPath
    path: VaultPath
    name: str
    description: str
    predicates: tuple[str, ...]
    direction: Direction


@dataclass(frozen=True, slots=True)
class Filter:
    """Which files (and turns of dialogues) a question is about; all conditions must hold.

    Attributes:
        layers: One of these layers; None for all.
        without_layers: None of these.
        without_paths: None of these files.
        paths: At least one: a folder or file (prefix of whole components), or a glob with ``*``, ``?`` or ``[``.
        tags: All of these, or a tag nested below.
        where: Property or Dataview field → a value that it must have (or contain, for lists), case-folded; None for
            notes that give it no value.
        start_date: First day, ISO.
        end_date: Last day, ISO.
        start_ns: The same as an instant in nanoseconds, for files that have no date but their modification time.
        end_ns: The end of the last day, likewise, exclusive.
        formats: One of these formats; None for all.
    """

    layers: frozenset[Layer] | None = None
    without_layers: frozenset[Layer] = frozenset()
    without_paths: frozenset[str] = frozenset()
    paths: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    where: Mapping[str, str | None] = field(default_factory=dict[str, "str | None"])
    start_date: str | None = None
    end_date: str | None = None
    start_ns: int | None = None
    end_ns: int | None = None
    formats: frozenset[Format] | None = None


ANY = Filter()


@dataclass(frozen=True, slots=True)
class KeywordStatistics:
    """How common terms are: the number of chunks, and of those that hold each term."""

    chunks: int
    frequencies: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Bm25:
    """The constants of BM25: ``weight · f · (k1 + 1) / (f + k1 · (1 − b + b · length / mean))``, summed over terms.

    Attributes:
        k1: Saturation.
        b: Share of the length.
        column_weights: What a term's counts are multiplied by before they are summed to ``f``: name, labels, headings,
            body.
    """

    k1: float
    b: float
    column_weights: tuple[float, float, float, float]


class Turn(NamedTuple):
    """Whose words a chunk has, and on which day (ISO) they were said."""

    speaker: str | None
    date: str | None


class Standing(NamedTuple):
    """What ranking and hits need of a file besides its chunks.

    ``inlinks`` as ``Index.inlinks`` counts them; ``origin`` as the property of this name says it.
    """

    path: VaultPath
    layer: Layer
    format: Format
    name: str
    description: str
    date: str | None
    mtime_ns: int
    chunks: int
    origin: object
    inlinks: int


class Around(NamedTuple):
    """What stands around some chunks.

    Attributes:
        keys: These chunks and others, file by file, in the order of places.
        files: The files, each with the number of ``keys`` that are of it.
        turns: Of the chunks that say whose they are.
    """

    keys: list[ChunkKey]
    files: list[tuple[Standing, int]]
    turns: dict[ChunkKey, Turn]


class StoredChunk(NamedTuple):
    """A chunk to show."""

    line: int
    end_line: int
    trail: tuple[str, ...]
    text: str
    speaker: str | None
    date: str | None


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A chunk without a vector.

    Attributes:
        hash: Identity of ``texts``.
        texts: What its vector shall be the mean of: headings and text; and, for a turn of a dialogue, the turn before
            it with the same.
        known: Whether the vector of these texts is there already.
    """

    key: ChunkKey
    hash: str
    texts: tuple[str, ...]
    known: bool


@dataclass(frozen=True, slots=True)
class WaitingDocument:
    """A document whose text has not been taken out yet."""

    path: VaultPath
    revision: Revision


@dataclass(frozen=True, slots=True)
class FileProblem:
    """Something that a person should know of a file."""

    path: VaultPath
    rule: str
    message: str
    line: int


@dataclass(frozen=True, slots=True)
class Status:
    """The state of the index.

    Attributes:
        position: Grows with every applied batch.
        files: Files known, of which ``notes`` are Markdown.
        unresolved: Links whose target is no file.
        embedded: Chunks that have a vector.
        unembedded: Chunks that have text and no vector.
        model: Name of the embedder that the vectors are of, or empty.
        schema: Version of the tables.
        tokenizer: What the tokens depend on.
        bytes: Size of the store.
        rebuilt: Why the store had to be built anew, until that is asked for; or empty.
    """

    position: int
    files: int
    notes: int
    chunks: int
    links: int
    unresolved: int
    problems: int
    embedded: int
    unembedded: int
    model: str
    schema: int
    tokenizer: str
    bytes: int
    rebuilt: str
