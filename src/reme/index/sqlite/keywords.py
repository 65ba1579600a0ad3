"""Keywords: which chunks hold which terms.

Owns the FTS5 query, which is made of quoted tokens only: no text of a user is ever syntax.
"""

# ruff: noqa: S608  (only constants and placeholders are put into statements)

import json
from collections.abc import Iterable, Sequence
from typing import Any

import apsw

from reme.index.rows import ChunkKey, ChunkTokens, Filter, StoredChunk
from reme.index.sqlite.connections import rows
from reme.index.sqlite.notes import condition
from reme.index.sqlite.schema import CHUNK_BITS

__all__ = ["around", "candidates", "chunks", "frequencies", "plan"]


def frequencies(db: apsw.Connection, terms: Iterable[str]) -> dict[str, int]:
    """In how many chunks each term stands."""
    found: dict[str, int] = {}
    for term in terms:
        row = rows(db, "SELECT doc FROM terms WHERE term = ?", (term,))
        found[term] = row[0][0] if row else 0
    return found


def plan(terms: Sequence[str], wanted: Filter) -> tuple[str, dict[str, Any]]:
    """The candidates' query: the matches outside, every filter inside, so that each match is looked at once."""
    dated = wanted.start_date is not None or wanted.end_date is not None
    where, values = condition(wanted, turns=dated)
    joins = f" CROSS JOIN files f ON f.id = k.rowid >> {CHUNK_BITS}" if where else ""
    joins += " CROSS JOIN chunks c ON c.id = k.rowid" if where and dated else ""
    matched = "keywords MATCH :match AND rank MATCH :rank"
    sql = f"""SELECT k.rowid FROM keywords k{joins} WHERE {matched}{" AND " + where if where else ""}
    ORDER BY k.rank LIMIT :limit"""
    return sql, {**values, "match": " OR ".join(f'"{term}"' for term in terms)}


def candidates(
    db: apsw.Connection, terms: Sequence[str], wanted: Filter, limit: int, weights: Sequence[float]
) -> list[ChunkKey]:
    """The best matches by FTS5's own ranking, among those wanted."""
    if not terms:
        return []
    sql, values = plan(terms, wanted)
    values |= {"limit": limit, "rank": f"bm25({', '.join(str(float(weight)) for weight in weights)})"}
    return [row[0] for row in rows(db, sql, values)]


def around(
    db: apsw.Connection, keys: Sequence[ChunkKey], distance: int, among: Sequence[ChunkKey] | None
) -> list[ChunkTokens]:
    """These chunks and their neighbours in the same file."""
    reach = {key + step for key in keys for step in range(-distance, distance + 1)}
    read = reach if among is None else reach.intersection(among).union(keys)
    sql = "FROM json_each(?) j CROSS JOIN chunks c ON c.id = j.value"
    found = rows(db, f"SELECT c.id, c.length, c.tokens, c.speaker, c.date {sql}", (_array(read),))
    if len(read) < len(reach):
        found += rows(db, f"SELECT c.id, c.length, '', c.speaker, c.date {sql}", (_array(reach - read),))
        found.sort()
    low = (1 << CHUNK_BITS) - 1
    return [
        ChunkTokens(key, key >> CHUNK_BITS, key & low, length, tokens, speaker, date)
        for key, length, tokens, speaker, date in found
    ]


def _array(keys: Iterable[ChunkKey]) -> str:
    return json.dumps(sorted(keys))


def chunks(db: apsw.Connection, keys: Sequence[ChunkKey]) -> dict[ChunkKey, StoredChunk]:
    """Chunks to show."""
    sql = """SELECT c.id, t.line, t.end_line, t.trail, t.text, c.speaker, c.date
    FROM json_each(?) j CROSS JOIN chunks c ON c.id = j.value CROSS JOIN texts t ON t.id = c.id"""
    return {
        key: StoredChunk(line, end_line, tuple(json.loads(trail)), text, speaker, date)
        for key, line, end_line, trail, text, speaker, date in rows(db, sql, (json.dumps(list(keys)),))
    }
