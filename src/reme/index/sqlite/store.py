"""The SQLite index: the port, put together from connections and queries."""

import json
import threading
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

import apsw

from reme.index.renames import Renames
from reme.index.rows import (
    ANY,
    Around,
    Bm25,
    ChunkKey,
    Direction,
    Edge,
    FileProblem,
    Filter,
    IndexedNote,
    IndexSettings,
    KeywordStatistics,
    LinkKey,
    NamedFile,
    Neighbour,
    Stamp,
    Standing,
    Status,
    Step,
    StoredChunk,
    StoredLink,
    Unembedded,
    WaitingDocument,
)
from reme.index.sqlite import graph, keywords
from reme.index.sqlite import notes as files
from reme.index.sqlite.connections import Connections, Row, each, rows, run, run_many
from reme.index.sqlite.dump import dump
from reme.index.sqlite.keywords import Scope, scope_of
from reme.index.sqlite.matching import Segments, best, best_of_files, held, relevance
from reme.index.sqlite.names import StoredNames, resolve_all
from reme.index.sqlite.postings import due, tidy
from reme.index.sqlite.schema import DROP, SCHEMA, VECTORS, VERSION, identity
from reme.index.sqlite.writer import SqliteWriter
from reme.index.tokens import Tokenizer
from reme.markdown import Names
from reme.paths import VaultPath
from reme.revision import Revision
from reme.vault import Layer, Layout, Stat

__all__ = ["SqliteIndex"]


_COUNTS: Final = """SELECT (SELECT count(*) FROM files), (SELECT count(*) FROM files WHERE format = 'note'),
(SELECT count(*) FROM links), (SELECT count(*) FROM links WHERE kind = 'image'),
(SELECT count(*) FROM links WHERE target IS NULL AND kind != 'image')"""
"""Each read from an index alone."""


class SqliteIndex:
    """An ``Index`` in one file; may be used from several threads and several processes at once.

    Args:
        path: The file; made if absent, emptied if it is of another schema, tokeniser or configuration.
        layout: Which folder is which layer.
        settings: What the contents depend on.
        timeout: Seconds to wait for another process that writes.

    Raises:
        Unavailable: If the file cannot be made or opened.
    """

    def __init__(self, path: Path, layout: Layout, settings: IndexSettings, timeout: float) -> None:
        self.layout = layout
        self.settings = settings
        self._guard: Callable[[], None] | None = None
        self._identity = identity(layout, settings)
        self.tokenizer = Tokenizer()
        self._asking = Tokenizer()
        self._tokenizing = threading.Lock()
        self._segments = Segments()
        self._within = threading.local()
        self._scoped: tuple[object, Scope] = (None, Scope(ANY, frozenset(), None))
        self._scanner: object | None = None  # needs numpy, which only vectors do
        self._connections = Connections(path, prepare=self._prepare, is_current=self._is_current, timeout=timeout)

    def close(self) -> None:
        """Give everything back. Idempotent."""
        self._connections.close()

    def guarded(self, guard: Callable[[], None]) -> "SqliteIndex":
        """The same index, which asks the guard in each write transaction."""
        made = copy(self)
        made._guard = guard
        return made

    @contextmanager
    def snapshot(self) -> Generator[None]:
        """Have this thread's reads in the block see one state."""
        if getattr(self._within, "snapshot", False):
            yield
            return
        with self._connections.reading():
            self._within.snapshot, self._within.segments = True, None
            try:
                yield
            finally:
                self._within.snapshot, self._within.segments = False, None

    def _is_current(self, db: apsw.Connection) -> bool:
        return rows(db, "SELECT value FROM meta WHERE key = 'identity'") == [(self._identity,)]

    def _prepare(self, db: apsw.Connection, reason: str) -> str:
        tables = {row[0] for row in rows(db, "SELECT name FROM sqlite_master WHERE type = 'table'")}
        if "meta" in tables and self._is_current(db):
            return reason
        self._empty(db)
        if not reason and "meta" in tables:
            reason = "made by another version or with other settings"
        run(db, "INSERT INTO meta VALUES ('rebuilt', ?)", (reason,))
        return reason

    def _empty(self, db: apsw.Connection) -> None:
        """Make the tables anew; positions go on from where they were, so that nothing old passes for current."""
        reached: list[Row] = []
        if rows(db, "SELECT 1 FROM sqlite_master WHERE name = 'meta'"):
            reached = rows(db, "SELECT value + 1, key FROM meta WHERE key = 'position'")
        for table in DROP:
            run(db, f"DROP TABLE IF EXISTS {table}")
        run(db, SCHEMA)
        run(db, VECTORS)
        run(db, "DELETE FROM documents WHERE problem != ''")
        run(db, "INSERT INTO meta VALUES ('identity', ?)", (self._identity,))
        run_many(db, "UPDATE meta SET value = ? WHERE key = ?", reached)

    # Files

    def note(self, path: VaultPath) -> IndexedNote | None:
        """One file, or None."""
        with self._connections.reading() as db:
            return files.one(db, path)

    def notes(self, wanted: Filter = ANY) -> list[IndexedNote]:
        """Files, by path."""
        with self._connections.reading() as db:
            return files.notes(db, wanted)

    def files(self, wanted: Filter = ANY) -> list[NamedFile]:
        """What files are called, by path."""
        with self._connections.reading() as db:
            return files.named(db, wanted)

    def rows_of(self, paths: Sequence[VaultPath]) -> dict[VaultPath, NamedFile]:
        """Those of these files that there are."""
        with self._connections.reading() as db:
            return files.named_by_path(db, paths)

    def tags(self) -> list[tuple[str, int]]:
        """Tags with the number of files that have them."""
        with self._connections.reading() as db:
            return files.tags(db)

    def tags_among(self, tags: Sequence[str]) -> frozenset[str]:
        """Those of these tags that any file has, or one nested below."""
        with self._connections.reading() as db:
            return files.tags_among(db, tags)

    def keys(self, among: Sequence[str] = ()) -> frozenset[str]:
        """The keys of properties and fields that any note gives a value, case-folded."""
        with self._connections.reading() as db:
            return files.keys(db, among)

    def layers(self) -> dict[Layer, int]:
        """How many files there are of each layer."""
        with self._connections.reading() as db:
            return dict(rows(db, "SELECT layer, count(*) FROM files GROUP BY layer"))

    def densities(self, folder: str) -> dict[str, int]:
        """How many notes lie directly in each folder at or below this one."""
        with self._connections.reading() as db:
            return files.densities(db, folder)

    def has_folder(self, path: str) -> bool:
        """Whether any indexed file is at or below a path, or matches a glob."""
        with self._connections.reading() as db:
            return files.folder_exists(db, path)

    def problems(self) -> list[FileProblem]:
        """What is wrong with files."""
        with self._connections.reading() as db:
            return files.problems(db)

    def skipped(self) -> list[tuple[str, str]]:
        """What of the vault is not indexed, with reasons."""
        with self._connections.reading() as db:
            return [
                (path, reason) for path, reason in rows(db, "SELECT path, reason FROM skipped ORDER BY path, reason")
            ]

    def generation(self) -> str:
        """Names the tables since they were last made."""
        with self._connections.reading() as db:
            return str(rows(db, "SELECT value FROM meta WHERE key = 'store'")[0][0])

    def position(self) -> int:
        """Grows with every applied batch."""
        with self._connections.reading() as db:
            return self._meta(db, "position")

    def status(self) -> Status:
        """Counts and state."""
        with self._connections.reading() as db:
            known, in_notes, links, images, open_ends = rows(db, _COUNTS)[0]
            chunks = self._meta(db, "chunks")
            empty, embedded = rows(
                db, "SELECT (SELECT count(*) FROM texts WHERE end = start), (SELECT count(*) FROM embedded)"
            )[0]
            return Status(
                position=self._meta(db, "position"),
                files=known,
                notes=in_notes,
                chunks=chunks,
                links=links - images,
                unresolved=open_ends,
                problems=rows(db, "SELECT count(*) FROM problems")[0][0],
                embedded=embedded,
                unembedded=chunks - empty - embedded,
                model=(self._model(db) or ("", 0))[0],
                schema=VERSION,
                tokenizer=Tokenizer.fingerprint(),
                bytes=rows(db, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")[0][0],
                rebuilt=next((row[0] for row in rows(db, "SELECT value FROM meta WHERE key = 'rebuilt'")), ""),
            )

    def dump(self) -> dict[str, list[tuple[Any, ...]]]:
        """Everything that it holds, in a canonical form."""
        with self._connections.reading() as db:
            return dump(db)

    # Links

    @property
    def names(self) -> Names:
        """The names by which links find files."""
        return _LiveNames(self._connections)

    def links_from(self, path: VaultPath) -> list[Edge]:
        """The links of a file, in order, images included."""
        with self._connections.reading() as db:
            return graph.links_from(db, path)

    def links_to(self, path: VaultPath) -> list[Edge]:
        """The links that lead to a file, images included."""
        with self._connections.reading() as db:
            return graph.links_to(db, path)

    def steps(
        self,
        paths: Sequence[VaultPath],
        direction: Direction,
        predicates: Sequence[str] = (),
        among: Sequence[VaultPath] | None = None,
    ) -> list[Step]:
        """The edges that leave or reach any of these files."""
        with self._connections.reading() as db:
            return graph.steps(db, paths, direction, predicates, among)

    def links(self, keys: Sequence[LinkKey]) -> dict[LinkKey, StoredLink]:
        """How these links are written."""
        with self._connections.reading() as db:
            return graph.links(db, keys)

    def predicates(self) -> frozenset[str]:
        """The predicates that any edge has."""
        with self._connections.reading() as db:
            return graph.predicates(db)

    def unresolved(self) -> list[Edge]:
        """The edges whose target is no file."""
        with self._connections.reading() as db:
            return graph.unresolved(db)

    def referrers(self, path: VaultPath) -> list[VaultPath]:
        """The files that have a link to this one."""
        with self._connections.reading() as db:
            return graph.referrers(db, path)

    def sources_naming(self, name: str) -> list[VaultPath]:
        """The files that have a link whose last component is this name."""
        with self._connections.reading() as db:
            return graph.sources_naming(db, name)

    def links_naming(self, name: str) -> list[Edge]:
        """The links whose last component is this name."""
        with self._connections.reading() as db:
            return graph.links_naming(db, name)

    def inlinks(self, paths: Sequence[VaultPath]) -> dict[VaultPath, int]:
        """How many other files refer to each."""
        with self._connections.reading() as db:
            return graph.inlinks(db, paths)

    def neighbours(
        self,
        paths: Sequence[VaultPath],
        direction: Direction,
        limit: int,
        without_layers: frozenset[Layer] = frozenset(),
    ) -> list[Neighbour]:
        """The files one link away."""
        with self._connections.reading() as db:
            return graph.neighbours(db, self._current(db).neighbours, paths, direction, limit, without_layers)

    # Keywords

    def terms(self, query: str) -> tuple[str, ...]:
        """The distinct terms of a query."""
        with self._tokenizing:
            return self._asking.query(query)

    def statistics(self, terms: Sequence[str]) -> KeywordStatistics:
        """How common the terms are."""
        with self._connections.reading() as db:
            segments = self._current(db)
            known = segments.terms(db, terms)
            return KeywordStatistics(segments.chunks, {term: known[term].frequency for term in terms})

    def matches(self, weights: Mapping[str, float], bm25: Bm25, wanted: Filter, limit: int) -> list[ChunkKey]:
        """The chunks that answer best to some terms."""
        with self._connections.reading() as db:
            scope = self._scope(db, wanted)
            ranked = partial(best, db, self._current(db), weights, bm25, scope.within)
            return keywords.wanted_of(db, ranked, scope, limit)

    def gathered(
        self, weights: Mapping[str, float], bm25: Bm25, wanted: Filter, known: Collection[ChunkKey], limit: int
    ) -> list[ChunkKey]:
        """The best chunks of the files that hold most of several terms."""
        with self._connections.reading() as db:
            scope = self._scope(db, wanted)
            ranked = partial(best_of_files, db, self._current(db), weights, bm25, scope.within, known)
            return keywords.wanted_of(db, ranked, scope, limit)

    def held(self, weights: Mapping[str, float], bm25: Bm25, keys: Sequence[ChunkKey]) -> list[tuple[float, float]]:
        """How much of the terms these chunks hold, and their files."""
        with self._connections.reading() as db:
            return held(db, self._current(db), weights, bm25, keys)

    def relevance(self, weights: Mapping[str, float], bm25: Bm25, keys: Sequence[ChunkKey]) -> dict[ChunkKey, float]:
        """BM25 of these chunks."""
        with self._connections.reading() as db:
            return relevance(db, self._current(db), weights, bm25, keys)

    def standings(self, paths: Sequence[VaultPath]) -> dict[VaultPath, Standing]:
        """What ranking needs of these files."""
        with self._connections.reading() as db:
            found = files.standings(db, sorted(files.ids_of(db, (), paths)))
            return {standing.path: standing for standing in found.values()}

    def around(self, keys: Sequence[ChunkKey], distance: int) -> Around:
        """These chunks and their neighbours."""
        with self._connections.reading() as db:
            return keywords.around(db, self._current(db).standings, keys, distance)

    def _scope(self, db: apsw.Connection, wanted: Filter) -> Scope:
        """What a filter comes to, looked up only once."""
        segments = self._current(db)
        asked = (segments.store, segments.position, wanted)
        known, scope = self._scoped
        if known != asked:
            scope = scope_of(db, wanted)
            self._scoped = (asked, scope)
        return scope

    def _current(self, db: apsw.Connection) -> Segments:
        """The segments in the state that this reader sees."""
        if (known := getattr(self._within, "segments", None)) is not None:
            return known
        found: dict[str, Any] = dict(rows(db, "SELECT key, value FROM meta"))
        segments = self._segments
        if (segments.store, segments.position) != (found["store"], found["position"]):
            segments = Segments.read(db, found, segments)
            self._segments = segments
        if getattr(self._within, "snapshot", False):
            self._within.segments = segments
        return segments

    def chunks(self, keys: Sequence[ChunkKey]) -> dict[ChunkKey, StoredChunk]:
        """Chunks to show."""
        with self._connections.reading() as db:
            return keywords.chunks(db, keys)

    # Vectors

    def model(self) -> tuple[str, int] | None:
        """Whose the vectors are."""
        with self._connections.reading() as db:
            return self._model(db)

    def use_model(self, name: str, dim: int) -> None:
        """Forget all vectors unless they are of this embedder."""
        if self.model() == (name, dim):
            return
        with self._connections.writing(self._guard) as db:
            for table in ("model", "vectors", "blocks", "embedded"):
                run(db, f"DELETE FROM {table}")  # noqa: S608
            run(db, "INSERT INTO model VALUES (?,?)", (name, dim))

    def unembedded(self) -> list[ChunkKey]:
        """Chunks with text and without a vector, newest file first."""
        from reme.index.sqlite import vectors

        with self._connections.reading() as db:
            return vectors.unembedded(db)

    def to_embed(self, keys: Sequence[ChunkKey]) -> list[Unembedded]:
        """What of these chunks is to be embedded."""
        from reme.index.sqlite import vectors

        with self._connections.reading() as db:
            return vectors.to_embed(db, keys)

    def put_vectors(self, vectors: Sequence[tuple[ChunkKey, str, bytes | None]]) -> None:
        """Give chunks their vectors."""
        from reme.index.sqlite.vectors import put_vectors

        with self._connections.writing(self._guard) as db:
            put_vectors(db, vectors)

    def nearest(self, vector: bytes, wanted: Filter, limit: int) -> list[ChunkKey]:
        """The chunks nearest to a vector, among those wanted."""
        from reme.index.sqlite.vectors import Scanner

        with self._connections.reading() as db:
            if self._scanner is None:
                self._scanner = Scanner()
            return cast("Scanner", self._scanner).nearest(db, vector, self._scope(db, wanted), limit)

    def cosines(self, vector: bytes, keys: Sequence[ChunkKey]) -> dict[ChunkKey, float]:
        """The cosine of each of these chunks that has a vector."""
        from reme.index.sqlite import vectors

        with self._connections.reading() as db:
            return vectors.cosines(db, vector, keys)

    # Renames

    def keep_renames(self, renamed: Renames) -> None:
        """Remember that files have other paths now."""
        with self._connections.writing(self._guard) as db:
            for old, new in renamed:
                run(db, "UPDATE renames SET new = ? WHERE new = ?", (new, old))
                run(db, "INSERT OR REPLACE INTO renames VALUES (?,?)", (old, new))
            run(
                db,
                """DELETE FROM renames WHERE old = new OR new NOT IN (SELECT path FROM files)
                OR old IN (SELECT path FROM files)""",
            )

    def renames(self) -> dict[VaultPath, VaultPath]:
        """Old and present path of files that have another one now."""
        sql = """SELECT old, new FROM renames JOIN files ON path = new
        WHERE old NOT IN (SELECT path FROM files) ORDER BY old"""
        with self._connections.reading() as db:
            return {VaultPath(old): VaultPath(new) for old, new in rows(db, sql)}

    # Documents

    def waiting_documents(self, made_by: str) -> list[WaitingDocument]:
        """The documents whose text this converter has not taken out, that of the newest file first."""
        sql = """SELECT path, revision FROM files WHERE format = 'document' AND size <= ? AND revision NOT IN
        (SELECT revision FROM documents WHERE made_by = ?) ORDER BY mtime_ns DESC, path"""
        with self._connections.reading() as db:
            found = rows(db, sql, (self.settings.max_bytes, made_by))
            return [WaitingDocument(VaultPath(path), Revision(revision)) for path, revision in found]

    # Changes

    def stamps(self, paths: Iterable[VaultPath] | None = None) -> dict[VaultPath, Stamp]:
        """What it has seen of these files, or of every one."""
        sql = "SELECT path, size, mtime_ns, inode, revision, ctime_ns FROM files"
        with self._connections.reading() as db:
            if paths is None:
                found = rows(db, sql)
            else:
                named = f"{sql} WHERE path IN (SELECT value FROM json_each(?))"  # noqa: S608
                found = rows(db, named, (json.dumps([*paths]),))
            return {
                VaultPath(path): Stamp(size, mtime, inode, Revision(rev), ctime)
                for path, size, mtime, inode, rev, ctime in found
            }

    def unmet(self, files: Mapping[VaultPath, Stat]) -> tuple[list[Stat], dict[VaultPath, Stamp]]:
        """The files that it has not met as they are, and what it has seen of files that are gone."""
        sql = "SELECT path, size, mtime_ns, inode, ctime_ns FROM files"
        with self._connections.reading() as db:
            other = [VaultPath(row[0]) for row in each(db, sql) if files.get(row[0]) != row]
            gone = [path for path in other if path not in files]
            changed = [files[path] for path in other if path in files]
            if rows(db, "SELECT count(*) FROM files")[0][0] - len(gone) < len(files):
                met = {path for (path,) in each(db, "SELECT path FROM files")}
                changed += [stat for path, stat in files.items() if path not in met]
            return sorted(changed), self.stamps(gone) if gone else {}

    @contextmanager
    def writing(self, *, settle: bool) -> Generator[SqliteWriter]:
        """A batch of changes."""
        with self._connections.writing(self._guard) as db:
            writer = SqliteWriter(db)
            yield writer
            writer.finish(settle=settle)

    def settle(self) -> None:
        """Resolve all links anew if that is still to be done."""
        with self._connections.reading() as db:
            if not self._meta(db, "unsettled"):
                return
        with self._connections.writing(self._guard) as db:
            resolve_all(db)
            run(db, "UPDATE meta SET value = 0 WHERE key = 'unsettled'")
            run(db, "UPDATE meta SET value = value + 1 WHERE key = 'position'")

    def tidy(self) -> None:
        """Merge segments, one transaction after the other, so that others have their turn between them."""
        while self._is_untidy():
            with self._connections.writing(self._guard) as db:
                tidy(db)
                run(db, "UPDATE meta SET value = value + 1 WHERE key = 'position'")

    def _is_untidy(self) -> bool:
        with self._connections.reading() as db:
            return bool(due(db))

    def clear(self) -> None:
        """Forget everything but the vectors, which are kept by what they are of."""
        with self._connections.writing(self._guard) as db:
            self._empty(db)

    @staticmethod
    def _model(db: apsw.Connection) -> tuple[str, int] | None:
        found = rows(db, "SELECT name, dim FROM model")
        return (found[0][0], found[0][1]) if found else None

    @staticmethod
    def _meta(db: apsw.Connection, key: str) -> int:
        return rows(db, "SELECT value FROM meta WHERE key = ?", (key,))[0][0]


class _LiveNames:
    """The names as they are at the moment of each question."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def exact(self, folded_path: str) -> Sequence[VaultPath]:
        """Files with this path in any case."""
        with self._connections.reading() as db:
            return StoredNames(db).exact(folded_path)

    def by_basename(self, folded_basename: str) -> Sequence[VaultPath]:
        """Files with this name in any folder and any case."""
        with self._connections.reading() as db:
            return StoredNames(db).by_basename(folded_basename)

    def by_alias(self, folded_alias: str) -> Sequence[VaultPath]:
        """Files with this alias, title or name."""
        with self._connections.reading() as db:
            return StoredNames(db).by_alias(folded_alias)
