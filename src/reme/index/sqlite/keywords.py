"""Keywords: which of the chunks that answer a filter wants, and what stands around them.

Knows nothing of how postings are kept.
"""

# ruff: noqa: S608  (only constants and placeholders are put into statements)

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import apsw

from reme.index.rows import ANY, Around, ChunkKey, Filter, Standing, StoredChunk, Turn
from reme.index.sqlite.connections import rows
from reme.index.sqlite.notes import condition, ids_of, standings
from reme.index.sqlite.schema import CHUNK_BITS

__all__ = ["Scope", "around", "chunks", "plan", "scope_of", "wanted_of"]

_WIDER: Final = 4
_MOST_HELD: Final = 4_096


class Scope(NamedTuple):
    """What a filter comes to in one state of the index.

    Attributes:
        wanted: What is still to be asked of each chunk.
        without: Files that are not wanted.
        within: The files that may be, where they are so few that most matches would be of others; else None.
    """

    wanted: Filter
    without: frozenset[int]
    within: frozenset[int] | None


def scope_of(db: apsw.Connection, wanted: Filter) -> Scope:
    """The files that a filter leaves out, or those that it wants, if they are few; days are asked of each chunk."""
    without = ids_of(db, wanted.without_layers, wanted.without_paths)
    rest = replace(wanted, without_layers=frozenset(), without_paths=frozenset())
    undated = replace(rest, start_date=None, end_date=None, start_ns=None, end_ns=None)
    if undated == ANY:
        return Scope(rest, without, None)
    where, values = condition(undated)
    most = rows(db, f"SELECT count(*) / {_WIDER} FROM files")[0][0]
    few = rows(db, f"SELECT f.id FROM files f WHERE {where} LIMIT {most + 1}", values)
    if len(few) > most:
        return Scope(rest, without, None)
    first, last = wanted.start_date, wanted.end_date
    days = Filter(start_date=first, end_date=last, start_ns=wanted.start_ns, end_ns=wanted.end_ns)
    return Scope(days, frozenset(), frozenset(file for (file,) in few) - without)


def wanted_of(db: apsw.Connection, ranked: Callable[[int], list[ChunkKey]], scope: Scope, limit: int) -> list[ChunkKey]:
    """The best among those wanted.

    Every match may be looked at, but few are where most are wanted.

    Args:
        db: A reader.
        ranked: Gives as many of the best as are asked for, if there are so many, of the files that may be wanted.
        scope: The filter.
        limit: Most of them.
    """
    wanted, without, _ = scope
    if wanted == ANY and not without:
        return ranked(limit)
    sql, values = plan(wanted)
    found: list[ChunkKey] = []
    seen, size = 0, _WIDER * limit
    while True:
        keys = ranked(size)
        fresh = [key for key in keys[seen:] if key >> CHUNK_BITS not in without]
        if wanted != ANY:
            fitting = {row[0] for row in rows(db, sql, {**values, "keys": json.dumps(fresh)})}
            fresh = [key for key in fresh if key in fitting]
        found += fresh
        if len(found) >= limit or len(keys) < size:
            return found[:limit]
        seen, size = size, _WIDER * _WIDER * size


def plan(wanted: Filter) -> tuple[str, dict[str, Any]]:
    """The question which of some chunks a filter wants: each is looked up by its id, none is searched for."""
    dated = wanted.start_date is not None or wanted.end_date is not None
    where, values = condition(wanted, turns=dated)
    turns = " CROSS JOIN chunks c ON c.id = j.value" if dated else ""
    sql = f"""SELECT j.value FROM json_each(:keys) j CROSS JOIN files f ON f.id = j.value >> {CHUNK_BITS}{turns}
    WHERE {where or "1"}"""
    return sql, values


def around(db: apsw.Connection, held: dict[int, Standing], keys: Sequence[ChunkKey], distance: int) -> Around:
    """These chunks and their neighbours in the same file.

    A file's chunks are numbered without gaps; of what is no note it has to be looked up who says it.

    Args:
        db: A reader.
        held: The standings of files that are known already, to which others are added.
        keys: The chunks.
        distance: At most so many places from one of them.
    """
    places: dict[int, list[ChunkKey]] = {}
    for key in sorted(keys):
        places.setdefault(key >> CHUNK_BITS, []).append(key)
    known = {file: standing for file in places if (standing := held.get(file)) is not None}
    if missing := [file for file in places if file not in known]:
        found = standings(db, missing)
        known |= found
        if len(held) + len(found) > _MOST_HELD:
            held.clear()
        held.update(found)
    near: list[ChunkKey] = []
    turns: list[ChunkKey] = []
    files: list[tuple[Standing, int]] = []
    for file, here in places.items():
        if (standing := known.get(file)) is None:
            continue
        size, first = len(near), file << CHUNK_BITS
        behind, end = first, first + standing.chunks
        for key in here:
            at = max(behind, key - distance)
            behind = min(key + distance + 1, end)
            near += range(at, behind)
        files.append((standing, len(near) - size))
        if standing.format != "note":
            turns += near[size:]
    sql = """SELECT c.id, c.speaker, c.date FROM json_each(?) j CROSS JOIN chunks c ON c.id = j.value
    WHERE c.speaker IS NOT NULL OR c.date IS NOT NULL"""
    said = rows(db, sql, (json.dumps(turns),)) if turns else []
    return Around(near, files, {key: Turn(speaker, date) for key, speaker, date in said})


def chunks(db: apsw.Connection, keys: Sequence[ChunkKey]) -> dict[ChunkKey, StoredChunk]:
    """Chunks to show."""
    sql = """SELECT c.id, t.line, t.end_line, t.trail, t.text, c.speaker, c.date
    FROM json_each(?) j CROSS JOIN chunks c ON c.id = j.value CROSS JOIN texts t ON t.id = c.id"""
    found = rows(db, sql, (json.dumps(list(keys)),))
    trails = json.loads(f"[{','.join(row[3] for row in found)}]")
    return {
        key: StoredChunk(line, end_line, tuple(trail), text, speaker, date)
        for (key, line, end_line, _, text, speaker, date), trail in zip(found, trails, strict=True)
    }
