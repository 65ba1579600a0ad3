"""Keywords: which chunks answer to which terms, and what stands around them.

Owns the choice among the matches of what a filter wants. Knows nothing of how postings are kept.
"""

# ruff: noqa: S608  (only constants and placeholders are put into statements)

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import apsw

from reme.index.rows import ANY, ChunkKey, ChunkPlace, Filter, StoredChunk
from reme.index.sqlite.connections import rows
from reme.index.sqlite.notes import condition
from reme.index.sqlite.schema import CHUNK_BITS

__all__ = ["around", "best", "chunks", "plan"]

_FIRST_LOOK: Final = 4


def best(db: apsw.Connection, scores: Mapping[ChunkKey, float], wanted: Filter, limit: int) -> list[ChunkKey]:
    """The best of scored chunks among those wanted, best first, ties by id.

    Every match may be looked at, but few are where most are wanted.
    """
    if wanted == ANY:
        return _top(scores, limit)
    sql, values = plan(wanted)
    size = _FIRST_LOOK * limit
    ranked = _top(scores, size)
    found: list[ChunkKey] = []
    while ranked and len(found) < limit:
        fitting = {row[0] for row in rows(db, sql, {**values, "keys": json.dumps(ranked)})}
        found += [key for key in ranked if key in fitting]
        ranked = _top(scores, len(scores))[size:] if size < len(scores) else []
        size = len(scores)
    return found[:limit]


def _top(scores: Mapping[ChunkKey, float], limit: int) -> list[ChunkKey]:
    return sorted(sorted(scores), key=scores.__getitem__, reverse=True)[:limit]


def plan(wanted: Filter) -> tuple[str, dict[str, Any]]:
    """The question which of some chunks a filter wants: each is looked up by its id, none is searched for."""
    dated = wanted.start_date is not None or wanted.end_date is not None
    where, values = condition(wanted, turns=dated)
    turns = " CROSS JOIN chunks c ON c.id = j.value" if dated else ""
    sql = f"""SELECT j.value FROM json_each(:keys) j CROSS JOIN files f ON f.id = j.value >> {CHUNK_BITS}{turns}
    WHERE {where or "1"}"""
    return sql, values


def around(db: apsw.Connection, keys: Iterable[ChunkKey], distance: int) -> list[ChunkPlace]:
    """These chunks and their neighbours in the same file."""
    sql = """SELECT DISTINCT c.id, c.speaker, c.date FROM json_each(:keys) j
    CROSS JOIN chunks c ON c.id BETWEEN j.value - :distance AND j.value + :distance ORDER BY c.id"""
    found = rows(db, sql, {"keys": json.dumps(list(keys)), "distance": distance})
    low = (1 << CHUNK_BITS) - 1
    return [ChunkPlace(key, key >> CHUNK_BITS, key & low, speaker, date) for key, speaker, date in found]


def chunks(db: apsw.Connection, keys: Sequence[ChunkKey]) -> dict[ChunkKey, StoredChunk]:
    """Chunks to show."""
    sql = """SELECT c.id, t.line, t.end_line, t.trail, t.text, c.speaker, c.date
    FROM json_each(?) j CROSS JOIN chunks c ON c.id = j.value CROSS JOIN texts t ON t.id = c.id"""
    return {
        key: StoredChunk(line, end_line, tuple(json.loads(trail)), text, speaker, date)
        for key, line, end_line, trail, text, speaker, date in rows(db, sql, (json.dumps(list(keys)),))
    }
