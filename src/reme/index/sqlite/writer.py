"""One batch of changes to the tables.

Owns every row that is written. Knows nothing of files: it is given entries.
"""

# ruff: noqa: S608  (only constants and placeholders are put into statements)

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from json.encoder import encode_basestring
from typing import Any, Final

import apsw

from reme.errors import InvalidInput
from reme.index.rows import ChunkEntry, Entry, Stamp, Taken
from reme.index.sqlite.connections import Row, rows, run, run_many
from reme.index.sqlite.names import link_key, path_keys, resolve_some
from reme.index.sqlite.postings import SegmentWriter, bury, crowded, tidy
from reme.index.sqlite.schema import CHUNK_BITS
from reme.paths import VaultPath, basename, fold
from reme.revision import Revision

__all__ = ["SqliteWriter"]

_INSERTS: Final = {
    "files": """INSERT INTO files VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT(id) DO UPDATE SET
    format = excluded.format, size = excluded.size, mtime_ns = excluded.mtime_ns, inode = excluded.inode,
    ctime_ns = excluded.ctime_ns, revision = excluded.revision, counts = excluded.counts, chunks = excluded.chunks,
    date = excluded.date, name = excluded.name, description = excluded.description, properties = excluded.properties""",
    "chunks": "INSERT OR REPLACE INTO chunks VALUES (?,?,?)",
    "texts": "INSERT OR REPLACE INTO texts VALUES (?,?,?,?,?,?,?,?,?,?)",
    "embedded": "INSERT INTO embedded SELECT ?, place FROM vectors WHERE hash = ?",
}
_OF_A_FILE: Final = {
    "links": ("source", 2, "source, place, kind, raw, anchor, alias, predicate, line, origin, key, counts"),
    "aliases": ("file", 2, "file, alias"),
    "tags": ("file", 2, "file, folded, tag"),
    "fields": ("file", 3, "file, key, value"),
    "problems": ("file", 4, "file, rule, message, line"),
}
"""Tables with any number of rows of a file: the column that names it, how many of the columns tell rows apart, all."""
_MOST_COLLECTED: Final = 2_000
_CHUNKS: Final = """SELECT id, line, end_line, start, end, trail, hash, words, length, speaker, date
FROM texts JOIN chunks USING (id) WHERE id >= ? AND id < ?"""


@dataclass(slots=True)
class _Opened:
    """The file whose chunks are being taken, how many there are so far, and whether the store has more of it."""

    file: int
    entry: Entry
    known: bool
    chunks: int = 0
    more: bool = False


class SqliteWriter:
    """Collects rows and writes them table by table; ``finish`` must be called before the transaction ends.

    What a file has as before keeps its rows, and a chunk that is found by the same words keeps its postings.
    """

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._pending: dict[str, list[tuple[Any, ...]]] = {table: [] for table in (*_INSERTS, *_OF_A_FILE)}
        self._known: set[int] = set()
        self._postings = SegmentWriter(db)
        self._ids: dict[VaultPath, int | None] = {}
        self._keys: set[str] = set()
        self._files: set[int] = set()
        self._linking: set[int] = set()
        self._opened: _Opened | None = None
        self._last: int | None = None
        self._chunks = 0
        self._length = 0
        self._collected = 0
        self._changed = False
        self._has_vectors = bool(rows(db, "SELECT 1 FROM vectors LIMIT 1"))

    def stamps(self, paths: Iterable[VaultPath]) -> dict[VaultPath, Stamp]:
        """What the index has seen of those of these files that it knows."""
        asked = [*paths]
        sql = """SELECT path, id, size, mtime_ns, inode, revision, ctime_ns FROM files
        WHERE path IN (SELECT value FROM json_each(?))"""
        found = {VaultPath(path): row for path, *row in rows(self._db, sql, (json.dumps(asked),))}
        self._ids |= {path: found[path][0] if path in found else None for path in asked}
        return {path: Stamp(*seen) for path, (_, *seen) in found.items()}

    def put(self, entry: Entry) -> None:
        """Make the index hold this of a file."""
        self._changed = True
        self._close()
        known = self._id(entry.path)
        if known in self._files:
            self._flush()
        if known is None:
            self._keys |= path_keys(entry.path)
        file = self._new_id() if known is None else known
        self._ids[entry.path] = file
        self._files.add(file)
        if known is not None:
            self._known.add(file)
        self._add_rows(file, entry)
        self._opened = _Opened(file, entry, known is not None)
        self._add_chunks(self._opened, entry.chunks)

    def extend(self, path: VaultPath, chunks: Sequence[ChunkEntry]) -> None:
        """Add further chunks of the file that was put last."""
        if self._opened is None or self._opened.entry.path != path:
            raise InvalidInput(f"{path} is not the file that was put last")
        self._add_chunks(self._opened, chunks)

    def leave(self) -> int:
        """Leave the file that was put last unfinished."""
        if (opened := self._opened) is None:
            raise InvalidInput("there is no file to go on with")
        self._opened = None
        entry = replace(opened.entry, stamp=opened.entry.stamp.unfinished)
        self._pending["files"].append(_file_row(opened.file, entry, opened.chunks))
        return opened.chunks

    def resume(self, entry: Entry, chunks: int) -> None:
        """Go on with a file that an earlier batch left unfinished."""
        self._changed = True
        self._close()
        if (file := self._id(entry.path)) is None:
            raise InvalidInput(f"{entry.path} was not left unfinished")
        self._files.add(file)
        self._opened = _Opened(file, entry, known=True, chunks=chunks)

    def kept_text(self, revision: Revision, made_by: str) -> Taken | None:
        """The text of a document of this content, if this converter has taken it out."""
        sql = "SELECT made_by, parts, problem FROM documents WHERE revision = ? AND made_by = ?"
        found = rows(self._db, sql, (revision, made_by))
        return Taken(*found[0]) if found else None

    def keep_text(self, revision: Revision, taken: Taken) -> None:
        """Keep the text of a document of this content."""
        sql = "INSERT OR REPLACE INTO documents VALUES (?,?,?,?)"
        run(self._db, sql, (revision, taken.made_by, taken.parts, taken.problem))

    def touch(self, path: VaultPath, stamp: Stamp) -> None:
        """Note that a file has new times but the same bytes."""
        self._changed = True
        run(
            self._db,
            "UPDATE files SET size = ?, mtime_ns = ?, inode = ?, ctime_ns = ? WHERE path = ?",
            (stamp.size, stamp.mtime_ns, stamp.inode, stamp.ctime_ns, path),
        )

    def remove(self, path: VaultPath) -> None:
        """Forget a file."""
        file = self._id(path)
        if file is None:
            return
        self._changed = True
        if file in self._files:
            self._flush()
        self._ids[path] = None
        aliases = rows(self._db, "SELECT alias FROM aliases WHERE file = ?", (file,))
        self._keys |= {link_key(alias) for (alias,) in aliases} | path_keys(path)
        self._drop_chunks(file, 0)
        for table, (column, _, _) in _OF_A_FILE.items():
            run(self._db, f"DELETE FROM {table} WHERE {column} = ?", (file,))
        run(self._db, "UPDATE links SET target = NULL WHERE target = ?", (file,))
        run(self._db, "DELETE FROM files WHERE id = ?", (file,))

    def skip(self, skipped: Sequence[tuple[str, str]]) -> None:
        """Note what of the vault is not indexed, with reasons."""
        self._changed = True
        run(self._db, "DELETE FROM skipped")
        run_many(self._db, "INSERT INTO skipped VALUES (?,?)", list(skipped))

    def finish(self, *, settle: bool) -> None:
        """Write what was collected; resolve the links concerned, or note that this is still to be done."""
        if not self._changed:
            return
        self._flush()
        if settle:
            resolve_some(self._db, self._keys, self._linking)
            if crowded(self._db):
                tidy(self._db)
        else:
            run(self._db, "UPDATE meta SET value = 1 WHERE key = 'unsettled'")
        run(self._db, "UPDATE meta SET value = value + 1 WHERE key = 'position'")
        run(self._db, "UPDATE meta SET value = value + ? WHERE key = 'chunks'", (self._chunks,))
        run(self._db, "UPDATE meta SET value = value + ? WHERE key = 'length'", (self._length,))

    def _new_id(self) -> int:
        if self._last is None:
            self._last = int(rows(self._db, "SELECT coalesce(max(id), 0) FROM files")[0][0])
        self._last += 1
        return self._last

    def _id(self, path: VaultPath) -> int | None:
        if path not in self._ids:
            self.stamps([path])
        return self._ids[path]

    def _add_rows(self, file: int, entry: Entry) -> None:
        pending = self._pending
        pending["links"] += [
            (file, place, kind, target, *said, line, origin, link_key(target), entry.counts and kind != "image")
            for place, (kind, target, *said, _, _, line, origin) in enumerate(entry.links)
        ]
        pending["aliases"] += [(file, alias) for alias in entry.aliases]
        pending["tags"] += [(file, *tag) for tag in {fold(tag): tag for tag in reversed(entry.tags)}.items()]
        pending["fields"] += [(file, key, value) for key, value in entry.fields]
        pending["problems"] += [(file, *problem) for problem in dict.fromkeys(entry.problems)]
        self._collected += len(entry.links)

    def _add_chunks(self, opened: _Opened, chunks: Sequence[ChunkEntry]) -> None:
        pending = self._pending
        first = (opened.file << CHUNK_BITS) + opened.chunks
        known = rows(self._db, _CHUNKS, (first, first + len(chunks) + 1)) if opened.known else []
        before = {row[0]: row for row in known}
        opened.more = before.pop(first + len(chunks), None) is not None
        for key, chunk in enumerate(chunks, first):
            trail = f"[{', '.join(map(encode_basestring, chunk.trail))}]"
            place = (key, chunk.line, chunk.end_line, chunk.start, chunk.end, trail, chunk.hash, chunk.words)
            *had, length, speaker, date = before.get(key, (*(None,) * 8, 0, None, None))
            if had[7] != chunk.words:
                if key in before:
                    bury(self._db, opened.file, key - first + opened.chunks, key - first + opened.chunks + 1)
                found = chunk.found()
                self._postings.add(key, found)
                self._length += found.length - length
                length = found.length
            if (*had, speaker, date) != (*place, chunk.speaker, chunk.date):
                pending["chunks"].append((key, chunk.speaker, chunk.date))
                pending["texts"].append((*place, length, chunk.text))
            if had[6] != chunk.hash and self._has_vectors:
                run(self._db, "DELETE FROM embedded WHERE chunk = ?", (key,))
                pending["embedded"].append((key, chunk.hash))
        opened.chunks += len(chunks)
        self._chunks += len(chunks) - len(before)
        self._collected += len(chunks)
        if self._collected > _MOST_COLLECTED:
            self._write_pending()

    def _close(self) -> None:
        """Take in that the file which was put last has no further chunks."""
        if (opened := self._opened) is None:
            return
        self._opened = None
        if opened.more:
            self._drop_chunks(opened.file, opened.chunks)
        self._pending["files"].append(_file_row(opened.file, opened.entry, opened.chunks))

    def _drop_chunks(self, file: int, start: int) -> None:
        """Forget the chunks of a file from a position on."""
        reach = ((file << CHUNK_BITS) + start, (file + 1) << CHUNK_BITS)
        sql = "SELECT count(*), coalesce(sum(length), 0) FROM texts WHERE id >= ? AND id < ?"
        chunks, length = rows(self._db, sql, reach)[0]
        if not chunks:
            return
        self._chunks -= chunks
        self._length -= length
        bury(self._db, file, start, 1 << CHUNK_BITS)
        for table, key in (("chunks", "id"), ("texts", "id"), ("embedded", "chunk")):
            run(self._db, f"DELETE FROM {table} WHERE {key} >= ? AND {key} < ?", reach)

    def _flush(self) -> None:
        self._close()
        self._write_pending()
        self._postings.write()

    def _write_pending(self) -> None:
        self._collected = 0
        for table in _OF_A_FILE:
            self._write_rows(table)
        self._known.clear()
        for table, insert in _INSERTS.items():
            run_many(self._db, insert, self._pending[table])
            self._pending[table].clear()

    def _write_rows(self, table: str) -> None:
        """Make the rows that a table has of the files which were put be those that were collected."""
        file, keys, columns = _OF_A_FILE[table]
        wanted, new = self._pending[table], self._pending[table]
        gone: set[Row] = set()
        if self._known:
            sql = f"SELECT {columns} FROM {table} WHERE {file} IN (SELECT value FROM json_each(?))"
            had = set(rows(self._db, sql, (json.dumps([*self._known]),)))
            new, gone = [row for row in wanted if row not in had], had.difference(wanted)
        names = columns.split(", ")
        condition = " AND ".join(f"{name} = ?" for name in names[:keys])
        run_many(self._db, f"DELETE FROM {table} WHERE {condition}", [row[:keys] for row in gone])
        run_many(self._db, f"INSERT INTO {table}({columns}) VALUES ({','.join('?' * len(names))})", new)
        if table == "links":
            self._linking.update(row[0] for row in new)
        elif table == "aliases":
            self._keys.update(link_key(alias) for _, alias in (*new, *gone))
        wanted.clear()


def _file_row(file: int, entry: Entry, chunks: int) -> tuple[Any, ...]:
    stamp = entry.stamp
    return (
        file,
        entry.path,
        fold(entry.path),
        fold(basename(entry.path)),
        entry.layer,
        entry.format,
        stamp.size,
        stamp.mtime_ns,
        stamp.inode,
        stamp.ctime_ns,
        stamp.revision,
        entry.counts,
        chunks,
        entry.date,
        entry.name,
        entry.description,
        entry.properties,
    )
