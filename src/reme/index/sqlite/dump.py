"""Everything in the store, without the ids that depend on the order in which it came there."""

# ruff: noqa: S608  (only constants and placeholders are put into statements)

from typing import Any, Final

import apsw

from reme.index.sqlite.connections import rows
from reme.index.sqlite.postings import living
from reme.index.sqlite.schema import CHUNK_BITS

__all__ = ["dump"]

_PLACE: Final = (1 << CHUNK_BITS) - 1
_QUERIES: Final = {
    "files": """SELECT path, folded, base, layer, format, size, mtime_ns, inode, revision, counts, chunks, date, name,
        description, properties FROM files ORDER BY path""",
    "chunks": f"""SELECT f.path, c.id & {_PLACE}, speaker, c.date, line, end_line, start, end,
        trail, hash, text FROM chunks c JOIN texts USING (id) JOIN files f ON f.id = c.id >> {CHUNK_BITS}
        ORDER BY 1, 2""",
    "links": """SELECT s.path, l.place, l.kind, l.raw, l.anchor, l.alias, l.predicate, l.line, l.origin, l.key,
        l.counts, t.path FROM links l JOIN files s ON s.id = l.source LEFT JOIN files t ON t.id = l.target
        ORDER BY 1, 2""",
    "aliases": "SELECT alias, path FROM aliases JOIN files ON id = file ORDER BY 1, 2",
    "tags": "SELECT path, tags.folded, tag FROM tags JOIN files ON id = file ORDER BY 1, 2",
    "fields": "SELECT path, key, value FROM fields JOIN files ON id = file ORDER BY 1, 2, 3",
    "problems": "SELECT path, rule, message, line FROM problems JOIN files ON id = file ORDER BY 1, 2, 3, 4",
    "skipped": "SELECT path, reason FROM skipped ORDER BY 1, 2",
    "totals": "SELECT key, value FROM meta WHERE key IN ('chunks', 'length', 'unsettled') ORDER BY 1",
    "orphans": f"""SELECT 'chunks', count(*) FROM chunks WHERE id >> {CHUNK_BITS} NOT IN (SELECT id FROM files)
        UNION ALL SELECT 'texts', count(*) FROM texts WHERE id NOT IN (SELECT id FROM chunks)
        UNION ALL SELECT 'embedded', count(*) FROM embedded WHERE chunk NOT IN (SELECT id FROM chunks)
        UNION ALL SELECT 'vectors', count(*) FROM embedded WHERE place NOT IN (SELECT place FROM vectors)
        UNION ALL SELECT 'links', count(*) FROM links WHERE source NOT IN (SELECT id FROM files)
        UNION ALL SELECT 'targets', count(*) FROM links WHERE target NOT IN (SELECT id FROM files)""",
}


def dump(db: apsw.Connection) -> dict[str, list[tuple[Any, ...]]]:
    """Every table in a canonical form."""
    found = {name: rows(db, sql) for name, sql in _QUERIES.items()}
    paths: dict[int, str] = dict(rows(db, "SELECT id, path FROM files"))
    keywords = [
        (term, paths.get(key >> CHUNK_BITS), key & _PLACE, counts, length) for term, key, counts, length in living(db)
    ]
    return {**found, "keywords": sorted(keywords, key=str)}
