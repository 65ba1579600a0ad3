"""One batch of changes to the tables.

Owns every row that is written. Knows nothing of files: it is given entries.
"""

# ruff: noqa: S608  (only constants and placeholders are put into statements)

import json
from collections.abc import Sequence
from typing import Any, Final

import apsw

from reme.errors import InvalidInput
from reme.index.rows import ChunkEntry, Entry, Stamp, Taken
from reme.index.sqlite.connections import rows, run, run_many
from reme.index.sqlite.names import link_key, path_keys, resolve_some
from reme.index.sqlite.postings import SegmentWriter, bury, tidy
from reme.index.sqlite.schema import CHUNK_BITS
from reme.paths import VaultPath, basename, fold
from reme.revision import Revision

__all__ = ["SqliteWriter"]

_INSERTS: Final = {
    "files": "INSERT OR REPLACE INTO files VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    "chunks": "INSERT INTO chunks VALUES (?,?,?)",
    "texts": "INSERT INTO texts VALUES (?,?,?,?,?,?,?,?)",
    "embedded": "INSERT INTO embedded SELECT ?, place FROM vectors WHERE hash = ?",
    "placed": "INSERT INTO placed VALUES (?,?,?,?,?,?)",
    "links": "INSERT INTO links VALUES (?,?,?,?,?,?,?,?,?,?,?,NULL)",
    "aliases": "INSERT OR IGNORE INTO aliases VALUES (?,?)",
    "tags": "INSERT OR IGNORE INTO tags VALUES (?,?,?)",
    "fields": "INSERT OR IGNORE INTO fields VALUES (?,?,?)",
    "problems": "INSERT INTO problems VALUES (?,?,?,?)",
}
_MOST_COLLECTED: Final = 2_000
_OWNED: Final = (
    "links WHERE source",
    "aliases WHERE file",
    "tags WHERE file",
    "fields WHERE file",
    "problems WHERE file",
)


class SqliteWriter:
    """Collects rows and writes them table by table; ``finish`` must be called before the transaction ends."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._pending: dict[str, list[tuple[Any, ...]]] = {table: [] for table in _INSERTS}
        self._postings = SegmentWriter(db)
        self._ids: dict[VaultPath, int | None] = {}
        self._keys: set[str] = set()
        self._files: set[int] = set()
        self._last: int | None = None
        self._chunks = 0
        self._length = 0
        self._collected = 0
        self._changed = False
        self._has_vectors = bool(rows(db, "SELECT 1 FROM vectors LIMIT 1"))

    def stamp(self, path: VaultPath) -> Stamp | None:
        """What the index has seen of a path."""
        found = rows(
            self._db, "SELECT size, mtime_ns, inode, revision, ctime_ns, id FROM files WHERE path = ?", (path,)
        )
        if not found:
            self._ids[path] = None
            return None
        size, mtime_ns, inode, revision, ctime_ns, self._ids[path] = found[0]
        return Stamp(size, mtime_ns, inode, Revision(revision), ctime_ns)

    def put(self, entry: Entry) -> None:
        """Make the index hold this of a file."""
        self._changed = True
        known = self._id(entry.path)
        if known in self._files:
            self._write_pending()
        before = self._forget_contents(known) if known is not None else set[str]()
        file = self._new_id() if known is None else known
        if known is None:
            self._keys |= path_keys(entry.path)
        self._ids[entry.path] = file
        self._keys |= {link_key(alias) for alias in before.symmetric_difference(entry.aliases)}
        self._files.add(file)
        self._add_contents(file, entry)
        if self._collected > _MOST_COLLECTED:
            self._write_pending()

    def extend(self, path: VaultPath, chunks: Sequence[ChunkEntry]) -> None:
        """Add further chunks of a file that was put in this batch."""
        file = self._id(path)
        if file is None or file not in self._files:
            raise InvalidInput(f"{path} was not put in this batch")
        self._write_pending()
        place = int(rows(self._db, "SELECT chunks FROM files WHERE id = ?", (file,))[0][0])
        self._add_chunks(file, place, chunks)
        run(self._db, "UPDATE files SET chunks = ? WHERE id = ?", (place + len(chunks), file))
        self._write_pending()

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
        self._write_pending()
        self._ids[path] = None
        self._keys |= {link_key(alias) for alias in self._forget_contents(file)} | path_keys(path)
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
        self._write_pending()
        self._postings.write()
        if settle:
            resolve_some(self._db, self._keys, self._files)
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
            self.stamp(path)
        return self._ids[path]

    def _forget_contents(self, file: int) -> set[str]:
        """Drop what a file's row owns; returns the aliases that it had."""
        low, high = file << CHUNK_BITS, (file + 1) << CHUNK_BITS
        chunks, length = bury(self._db, file)
        self._chunks -= chunks
        self._length -= length
        run(self._db, "DELETE FROM chunks WHERE id >= ? AND id < ?", (low, high))
        run(self._db, "DELETE FROM texts WHERE id >= ? AND id < ?", (low, high))
        run(self._db, "DELETE FROM embedded WHERE chunk >= ? AND chunk < ?", (low, high))
        aliases = {row[0] for row in rows(self._db, "SELECT alias FROM aliases WHERE file = ?", (file,))}
        for owned in _OWNED:
            run(self._db, f"DELETE FROM {owned} = ?", (file,))
        return aliases

    def _add_contents(self, file: int, entry: Entry) -> None:
        pending = self._pending
        pending["files"].append(_file_row(file, entry))
        self._add_chunks(file, 0, entry.chunks)
        self._collected += len(entry.links)
        for place, link in enumerate(entry.links):
            counts = entry.counts and link.kind != "image"
            key = link_key(link.target)
            pending["links"].append(
                (
                    file,
                    place,
                    link.kind,
                    link.target,
                    link.anchor,
                    link.alias,
                    link.predicate,
                    link.line,
                    link.origin,
                    key,
                    counts,
                )
            )
        pending["aliases"].extend((alias, file) for alias in entry.aliases)
        pending["tags"].extend((file, fold(tag), tag) for tag in entry.tags)
        pending["fields"].extend((file, key, value) for key, value in entry.fields)
        pending["problems"].extend((file, *problem) for problem in entry.problems)

    def _add_chunks(self, file: int, place: int, chunks: Sequence[ChunkEntry]) -> None:
        pending = self._pending
        pending["placed"] += self._postings.add(file, place, chunks)
        first = (file << CHUNK_BITS) + place
        for key, chunk in enumerate(chunks, first):
            pending["chunks"].append((key, chunk.speaker, chunk.date))
            trail = json.dumps(chunk.trail, ensure_ascii=False) if chunk.trail else "[]"
            pending["texts"].append(
                (key, chunk.line, chunk.end_line, chunk.start, chunk.end, trail, chunk.hash, chunk.text)
            )
            self._length += chunk.length
        if self._has_vectors:
            pending["embedded"].extend((key, chunk.hash) for key, chunk in enumerate(chunks, first))
        self._chunks += len(chunks)
        self._collected += len(chunks)

    def _write_pending(self) -> None:
        self._collected = 0
        for table, collected in self._pending.items():
            if collected:
                run_many(self._db, _INSERTS[table], collected)
                collected.clear()


def _file_row(file: int, entry: Entry) -> tuple[Any, ...]:
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
        len(entry.chunks),
        entry.date,
        entry.name,
        entry.description,
        entry.properties,
    )
