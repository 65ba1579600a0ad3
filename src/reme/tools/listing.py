"""Listing: which files the vault has, by folder, layer, tag, property, state and day; one file's particulars; the tags.

Owns the answer to "what is there". Reads the index, after bringing it up to date.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from annotated_types import Ge, Le

from reme.index import IndexedNote, NamedFile
from reme.paths import VaultPath, fold
from reme.revision import Revision
from reme.search import filter_of
from reme.tools.conditions import parse_where
from reme.tools.freshness import look
from reme.tools.workspace import Workspace
from reme.vault import SIDECAR_SUFFIX, Content, Layer
from reme.wording import counted

__all__ = [
    "FileFacts",
    "Listed",
    "Listing",
    "TagCount",
    "TagCounts",
    "list_files",
    "list_text",
    "stat",
    "stat_text",
    "tags",
    "tags_text",
]

Order = Literal["path", "name", "date", "modified", "size"]
State = Literal["active", "open", "done", "stale", "digested", "orphan", "undigested"]


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
        fields: The Dataview fields of a note, typed; the values of one that it has several times are a list. Empty for
            a note of more than 1 MiB.
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
    fields: dict[str, Any]
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
    where: Annotated[
        list[str] | None,
        "Only files with these properties or Dataview fields, each as key=value; key=null for notes without a value",
    ] = None,
    state: Annotated[
        State | None,
        "Only events in this state, or notes and resources that are orphans, or resources that are undigested: "
        "nothing refers to them",
    ] = None,
    start_date: Annotated[str | None, "Only what is of this day or later, as 2026-05-15"] = None,
    end_date: Annotated[str | None, "Only what is of this day or earlier"] = None,
    sort: Annotated[Order, "What to sort by"] = "path",
    descending: Annotated[bool, "Greatest or latest first"] = False,
    limit: Annotated[int, "How many, at most", Ge(1), Le(1000)] = 100,
    offset: Annotated[int, "How many to pass over", Ge(0)] = 0,
) -> Listing:
    """List the files of the vault by folder, layer, tags, properties, state and day.

    Raises:
        NotFound: If nothing is at the path, with what is called most like it.
        InvalidInput: If a condition in ``where`` is no ``key=value``, or a day is no date.
        Refused: If the path is outside the vault.
    """
    look(workspace)
    conditions = parse_where(where)
    wanted = filter_of(
        workspace.index,
        workspace.clock,
        layers=layers or (),
        paths=() if path is None else (path,),
        tags=[tag.removeprefix("#") for tag in tags or ()],
        where=conditions,
        start_date=start_date,
        end_date=end_date,
    )
    chosen = None if state is None else _in_state(workspace, state)
    with workspace.index.snapshot():
        files = workspace.index.files(wanted)
        if absent := [fold(key) for key, value in conditions.items() if value is None]:
            notes = workspace.index.notes(wanted)
            lacking = {note.path for note in notes if all(_lacks(note, key) for key in absent)}
            chosen = lacking if chosen is None else lacking & chosen
        if chosen is not None:
            files = [file for file in files if file.path in chosen]
        files = _without_sidecars(workspace, files, wanted.paths[:1])
        files.sort(key=_ORDERS[sort], reverse=descending)
        page = [note for file in files[offset : offset + limit] if (note := workspace.index.note(file.path))]
    listed = tuple(_listed(workspace, note) for note in page)
    return Listing(listed, len(files), offset, offset + len(listed) < len(files))


def stat(workspace: Workspace, path: Annotated[str, "The file; .md may be left out"]) -> FileFacts:
    """Tell what is known of one file: size, times, revision, properties, who links to it.

    Raises:
        NotFound: If there is no such file.
    """
    vault, index = workspace.vault, workspace.index
    found = vault.find(path)
    look(workspace)
    note = index.note(found)
    if note is None:
        facts, layer = vault.stat(found), vault.layer_of(found)
        size, modified = (facts.size, workspace.moment(facts.mtime_ns)) if facts else (0, workspace.moment(0))
        return FileFacts(found, layer, None, size, modified, vault.revision_at(found), "", "", (), {}, {}, 0, (), ())
    return FileFacts(
        found,
        note.layer,
        note.format,
        note.size,
        workspace.moment(note.mtime_ns),
        note.revision,
        note.name,
        note.description,
        note.tags,
        note.properties,
        _fields(vault.content_of(found)) if note.format == "note" else {},
        len(index.links_from(found)),
        tuple(index.referrers(found)),
        tuple(f"line {p.line}: {p.message}" for p in index.problems() if p.path == found),
    )


def _fields(content: Content | None) -> dict[str, Any]:
    from reme.markdown import field_value, parse

    values: defaultdict[str, list[Any]] = defaultdict(list)
    for field in parse(content).fields if isinstance(content, bytes) else ():
        values[field.key].append(field_value(field.value))
    return {key: found[0] if len(found) == 1 else found for key, found in values.items()}


def tags(
    workspace: Workspace, path: Annotated[str | None, "Only the tags of this file; .md may be left out"] = None
) -> TagCounts:
    """List the tags of the vault with how many files have each, or the tags of one file.

    Raises:
        NotFound: If there is no such file.
    """
    found = None if path is None else workspace.vault.find(path)
    look(workspace)
    counts = workspace.index.tags()
    if found is not None:
        note = workspace.index.note(found)
        own = {tag.casefold() for tag in note.tags} if note else set[str]()
        counts = [(tag, count) for tag, count in counts if tag.casefold() in own]
    return TagCounts(tuple(TagCount(tag, count) for tag, count in counts))


def list_text(result: Listing) -> str:
    """One line a file, then how many there are."""
    if not result.files:
        of_all = f" behind the first {result.offset}: there are {result.total}" if result.total else ""
        return f"no files{of_all or ': ask with fewer conditions'}"
    last = result.offset + len(result.files)
    more = f", go on with offset {last}" if result.truncated else ""
    return "\n".join([*map(_line, result.files), f"{result.offset + 1}-{last} of {result.total}{more}"])


def stat_text(result: FileFacts) -> str:
    """One fact a line."""
    facts = {
        "path": result.path,
        "name": result.name,
        "description": result.description,
        "layer": result.layer,
        "format": result.format or "not indexed",
        "size": counted(result.size, "byte"),
        "modified": f"{result.modified:%Y-%m-%d %H:%M:%S}",
        "revision": result.revision,
        "tags": ", ".join(result.tags),
        "fields": ", ".join(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in result.fields.items()),
        "links": str(result.links),
        "backlinks": ", ".join(result.backlinks),
        "problems": "; ".join(result.problems),
    }
    return "\n".join(f"{key}: {value}" for key, value in facts.items() if value)


def tags_text(result: TagCounts) -> str:
    """One tag a line with its count."""
    if not result.tags:
        return "no tags: a note has them as #tag in its text, or in its property tags"
    return "\n".join(f"#{entry.tag} {entry.files}" for entry in result.tags)


def _without_sidecars(workspace: Workspace, files: list[NamedFile], asked: Sequence[str]) -> list[NamedFile]:
    """The files without what only tells of a resource that is there; such a file is listed where it is asked for."""
    told = {
        file.path: VaultPath(file.path.removesuffix(SIDECAR_SUFFIX))
        for file in files
        if file.layer == "resource" and file.path.endswith(SIDECAR_SUFFIX) and file.path not in asked
    }
    there = workspace.index.rows_of(list(told.values())) if told else {}
    return [file for file in files if told.get(file.path) not in there] if there else files


def _lacks(note: IndexedNote, key: str) -> bool:
    """Whether a note's frontmatter has no value of a (folded) key, be it one that the index keeps elsewhere."""
    values = (value for name, value in note.properties.items() if fold(name) == key)
    return note.format == "note" and all(value is None or value in ("", [], {}) for value in values)


def _in_state(workspace: Workspace, state: State) -> Set[VaultPath]:
    from reme.tools.daily import event_states
    from reme.tools.lint import orphan_paths, undigested_paths

    if state == "orphan":
        return orphan_paths(workspace)
    if state == "undigested":
        return undigested_paths(workspace)
    return {path for path, found in event_states(workspace).items() if found == state}


def _by_path(file: NamedFile) -> tuple[Any, ...]:
    return (file.path,)


_ORDERS: Final[dict[Order, Callable[[NamedFile], tuple[Any, ...]]]] = {
    "path": _by_path,
    "name": lambda file: (file.name.casefold(), file.path),
    "date": lambda file: (file.date or "", file.path),
    "modified": lambda file: (file.mtime_ns, file.path),
    "size": lambda file: (file.size, file.path),
}


def _listed(workspace: Workspace, note: IndexedNote) -> Listed:
    modified = workspace.moment(note.mtime_ns)
    return Listed(
        note.path, note.layer, note.name, note.description, note.tags, note.date, note.size, modified, note.revision
    )


def _line(file: Listed) -> str:
    about = f" — {file.description}" if file.description else ""
    marks = " ".join(f"#{tag}" for tag in file.tags)
    return f"{file.path} {file.name}{about}{' ' + marks if marks else ''}"
