"""Listing: which files the vault has, by folder, layer, tag and property; one file's particulars; the tags.

Owns the answer to "what is there". Reads the index, after bringing it up to date.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal

from annotated_types import Ge, Le

from reme.clock import Clock
from reme.errors import InvalidInput
from reme.index import IndexedNote, refresh
from reme.paths import VaultPath
from reme.revision import Revision
from reme.search import filter_of
from reme.tools.workspace import Workspace
from reme.vault import Layer

__all__ = [
    "FileFacts",
    "Listed",
    "Listing",
    "TagCount",
    "TagCounts",
    "list_files",
    "list_text",
    "parse_where",
    "stat",
    "stat_text",
    "tags",
    "tags_text",
]

Order = Literal["path", "name", "date", "modified", "size"]


@dataclass(frozen=True, slots=True)
class Listed:
    """A file in a list.

    Attributes:
        name: Its title, else its file name.
        date: The day that it is about, ISO, where known.
        size: In bytes.
        modified: Last modification, in the vault's zone.
    """

    path: VaultPath
    layer: Layer
    name: str
    description: str
    tags: tuple[str, ...]
    date: str | None
    size: int
    modified: datetime
    revision: Revision


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of a list.

    Attributes:
        total: How many files match in all.
        offset: How many were passed over.
        truncated: Whether more follow.
    """

    files: tuple[Listed, ...]
    total: int
    offset: int
    truncated: bool


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What is known of one file.

    Attributes:
        format: ``note``, ``text``, ``dialogue``, ``binary``, ``unreadable``; None where it is not indexed.
        size: In bytes.
        modified: Last modification, in the vault's zone.
        links: Number of links in it.
        backlinks: The files that link to it.
        problems: What is wrong with it, one sentence each.
    """

    path: VaultPath
    layer: Layer
    format: str | None
    size: int
    modified: datetime
    revision: Revision
    name: str
    description: str
    tags: tuple[str, ...]
    properties: dict[str, Any]
    links: int
    backlinks: tuple[VaultPath, ...]
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TagCount:
    """A tag and how many files have it."""

    tag: str
    files: int


@dataclass(frozen=True, slots=True)
class TagCounts:
    """Tags, by name."""

    tags: tuple[TagCount, ...]


def list_files(
    workspace: Workspace,
    path: Annotated[str | None, "A folder, a file, or a glob such as 'daily/2026-05-*/*.md'"] = None,
    layers: Annotated[list[Layer] | None, "Only these layers"] = None,
    tags: Annotated[list[str] | None, "Only files with all of these tags, or tags below them"] = None,
    where: Annotated[list[str] | None, "Only files with these properties, each as key=value"] = None,
    sort: Annotated[Order, "What to sort by"] = "path",
    descending: Annotated[bool, "Greatest or latest first"] = False,
    limit: Annotated[int, "How many, at most", Ge(1), Le(1000)] = 100,
    offset: Annotated[int, "How many to pass over", Ge(0)] = 0,
) -> Listing:
    """List the files of the vault by folder, layer, tags and properties.

    Raises:
        InvalidInput: If nothing is at the path, or a condition in ``where`` is no ``key=value``.
        Refused: If the path is outside the vault.
    """
    refresh(workspace.index, workspace.vault)
    wanted = filter_of(
        workspace.index,
        workspace.clock,
        layers=layers or (),
        paths=() if path is None else (path,),
        tags=[tag.removeprefix("#") for tag in tags or ()],
        where=parse_where(where),
    )
    notes = workspace.index.notes(wanted)
    notes.sort(key=_ORDERS[sort], reverse=descending)
    page = tuple(_listed(note, workspace.clock) for note in notes[offset : offset + limit])
    return Listing(page, len(notes), offset, offset + len(page) < len(notes))


def stat(workspace: Workspace, path: Annotated[str, "The file; .md may be left out"]) -> FileFacts:
    """Tell what is known of one file: size, times, revision, properties, who links to it.

    Raises:
        NotFound: If there is no such file.
    """
    vault, index = workspace.vault, workspace.index
    found = vault.find(path)
    refresh(index, vault)
    note = index.note(found)
    if note is None:
        file, facts = vault.read(found), vault.stat(found)
        modified = _moment(facts.mtime_ns if facts else 0, workspace.clock)
        return FileFacts(
            found, vault.layer_of(found), None, len(file.data), modified, file.revision, "", "", (), {}, 0, (), ()
        )
    return FileFacts(
        found,
        note.layer,
        note.format,
        note.size,
        _moment(note.mtime_ns, workspace.clock),
        note.revision,
        note.name,
        note.description,
        note.tags,
        note.properties,
        len(index.links_from(found)),
        tuple(index.referrers(found)),
        tuple(f"line {p.line}: {p.message}" for p in index.problems() if p.path == found),
    )


def tags(
    workspace: Workspace, path: Annotated[str | None, "Only the tags of this file; .md may be left out"] = None
) -> TagCounts:
    """List the tags of the vault with how many files have each, or the tags of one file.

    Raises:
        NotFound: If there is no such file.
    """
    found = None if path is None else workspace.vault.find(path)
    refresh(workspace.index, workspace.vault)
    counts = workspace.index.tags()
    if found is not None:
        note = workspace.index.note(found)
        own = {tag.casefold() for tag in note.tags} if note else set[str]()
        counts = [(tag, count) for tag, count in counts if tag.casefold() in own]
    return TagCounts(tuple(TagCount(tag, count) for tag, count in counts))


def list_text(result: Listing) -> str:
    """One line a file, then how many there are."""
    lines = [_line(file) for file in result.files]
    first = result.offset + 1 if result.files else 0
    last = result.offset + len(result.files)
    more = f", go on with offset {last}" if result.truncated else ""
    return "\n".join([*lines, f"{first}-{last} of {result.total}{more}"] if result.total else ["no files"])


def stat_text(result: FileFacts) -> str:
    """One fact a line."""
    facts = {
        "path": result.path,
        "name": result.name,
        "description": result.description,
        "layer": result.layer,
        "format": result.format or "not indexed",
        "size": f"{result.size} bytes",
        "modified": f"{result.modified:%Y-%m-%d %H:%M:%S}",
        "revision": result.revision,
        "tags": ", ".join(result.tags),
        "links": str(result.links),
        "backlinks": ", ".join(result.backlinks),
        "problems": "; ".join(result.problems),
    }
    return "\n".join(f"{key}: {value}" for key, value in facts.items() if value)


def tags_text(result: TagCounts) -> str:
    """One tag a line with its count."""
    return "\n".join(f"#{entry.tag} {entry.files}" for entry in result.tags) or "no tags"


def parse_where(conditions: list[str] | None) -> dict[str, str]:
    """Conditions ``key=value`` as the index takes them.

    Raises:
        InvalidInput: If one is something else, or two are about one key.
    """
    parsed: dict[str, str] = {}
    for condition in conditions or ():
        key, equals, value = condition.partition("=")
        if not equals or not key.strip():
            raise InvalidInput(f"where: {condition!r} is no condition", hint="Write key=value, such as status=open.")
        if key.strip() in parsed:
            raise InvalidInput(f"where: there are two conditions on {key.strip()!r}", hint="Give one.")
        parsed[key.strip()] = value.strip()
    return parsed


def _by_path(note: IndexedNote) -> tuple[Any, ...]:
    return (note.path,)


_ORDERS: Final[dict[Order, Callable[[IndexedNote], tuple[Any, ...]]]] = {
    "path": _by_path,
    "name": lambda note: (note.name.casefold(), note.path),
    "date": lambda note: (note.date or "", note.path),
    "modified": lambda note: (note.mtime_ns, note.path),
    "size": lambda note: (note.size, note.path),
}


def _listed(note: IndexedNote, clock: Clock) -> Listed:
    modified = _moment(note.mtime_ns, clock)
    return Listed(
        note.path, note.layer, note.name, note.description, note.tags, note.date, note.size, modified, note.revision
    )


def _moment(nanoseconds: int, clock: Clock) -> datetime:
    return clock.local(datetime.fromtimestamp(nanoseconds // 1_000_000_000, UTC))


def _line(file: Listed) -> str:
    about = f" — {file.description}" if file.description else ""
    marks = " ".join(f"#{tag}" for tag in file.tags)
    return f"{file.path} {file.name}{about}{' ' + marks if marks else ''}"
