"""Vectors: float16 rows by the hash of what they are of, and blocks of int8 rows that are scanned exactly.

Owns both forms and their scan. A block has 1,000 rows in the order of their places, and a stamp that is another one
whenever it has changed; a reader keeps the blocks and loads only those with a new stamp. numpy is needed here alone;
numkong's kernel scans where it is installed, else numpy's own loops, which start no threads.
"""

# ruff: noqa: S608  (only constants and placeholders are put into statements)

import importlib
import json
import threading
from collections.abc import Sequence, Set
from typing import Any, Final

import apsw
import numpy as np
from numpy.typing import NDArray

from reme.index.rows import ChunkKey, Filter, Unembedded
from reme.index.sqlite.connections import rows, run, run_many
from reme.index.sqlite.notes import condition
from reme.index.sqlite.schema import CHUNK_BITS

__all__ = ["Scanner", "cosines", "put_vectors", "to_embed", "unembedded"]

_Floats = NDArray[np.float32]
_BLOCK_ROWS: Final = 1_000
_LARGEST: Final = 127
_SPARE: Final = 1_000
_WIDER: Final = 4
_RESCORED: Final = 50
_BATCH: Final = 500
_HUGE: Final = 2_000
_LONGEST_BEFORE: Final = 500  # characters: more of the turn before would drown the turn


def unembedded(db: apsw.Connection) -> list[ChunkKey]:
    """Chunks with text and without a vector: newest file first, but huge files last."""
    sql = f"""WITH had(file, chunks) AS (SELECT chunk >> {CHUNK_BITS}, count(*) FROM embedded GROUP BY 1)
    SELECT t.id FROM files f LEFT JOIN had ON had.file = f.id
    CROSS JOIN texts t ON t.id >= f.id << {CHUNK_BITS} AND t.id < (f.id + 1) << {CHUNK_BITS}
    WHERE f.chunks > coalesce(had.chunks, 0) AND t.end > t.start AND t.id NOT IN (SELECT chunk FROM embedded)
    ORDER BY f.chunks > {_HUGE}, f.mtime_ns DESC, t.id"""
    return [row[0] for row in rows(db, sql)]


def to_embed(db: apsw.Connection, keys: Sequence[ChunkKey]) -> list[Unembedded]:
    """What is to be embedded of chunks: their headings and their text; of a turn, also with the turn before it."""
    sql = """SELECT t.id, t.hash, t.trail, t.text, v.place IS NOT NULL, (SELECT before.text FROM chunks c, chunks p
        CROSS JOIN texts before ON before.id = p.id WHERE c.id = t.id AND p.id = t.id - 1 AND c.speaker IS NOT NULL
        AND p.speaker IS NOT NULL)
    FROM json_each(?) j CROSS JOIN texts t ON t.id = j.value LEFT JOIN vectors v ON v.hash = t.hash
    WHERE t.id NOT IN (SELECT chunk FROM embedded)"""
    return [
        Unembedded(key, digest, _texts(json.loads(trail), text, before), bool(known))
        for key, digest, trail, text, known, before in rows(db, sql, (json.dumps(list(keys)),))
    ]


def _texts(trail: Sequence[str], text: str, before: str | None) -> tuple[str, ...]:
    own = "\n".join([*trail, text])
    return (own,) if before is None else (own, f"{before[-_LONGEST_BEFORE:]}\n{own}")


def put_vectors(db: apsw.Connection, vectors: Sequence[tuple[ChunkKey, str, bytes | None]]) -> None:
    """Give chunks their vectors."""
    sql = "SELECT hash FROM vectors WHERE hash IN (SELECT value FROM json_each(?))"
    known = {row[0] for row in rows(db, sql, (json.dumps([digest for _, digest, _ in vectors]),))}
    new = {digest: vector for _, digest, vector in vectors if vector is not None and digest not in known}
    if new:
        first = int(rows(db, "SELECT coalesce(max(place), -1) + 1 FROM vectors")[0][0])
        numbers = np.frombuffer(b"".join(new.values()), np.float32).reshape(len(new), -1)
        _insert(db, first, list(new), numbers)
    sql = """INSERT OR REPLACE INTO embedded SELECT t.id, v.place FROM texts t, vectors v
    WHERE t.id = ?1 AND t.hash = ?2 AND v.hash = ?2"""
    run_many(db, sql, [(key, digest) for key, digest, _ in vectors])
    used, kept = rows(db, "SELECT (SELECT count(*) FROM embedded), (SELECT count(*) FROM vectors)")[0]
    if kept > 2 * used + _SPARE:
        _drop_unused(db)


def _insert(db: apsw.Connection, first: int, hashes: Sequence[str], numbers: _Floats) -> None:
    """Add vectors at the end: their rows, and their part of the blocks."""
    half = numbers.astype(np.float16)
    run_many(
        db,
        "INSERT INTO vectors VALUES (?,?,?)",
        [(first + i, digest, half[i].tobytes()) for i, digest in enumerate(hashes)],
    )
    scales = np.maximum(np.abs(numbers).max(axis=1), np.float32(1e-9)) / np.float32(_LARGEST)
    small = np.rint(numbers / scales[:, None]).astype(np.int8)
    done = 0
    while done < len(small):
        block, slot = divmod(first + done, _BLOCK_ROWS)
        size = min(_BLOCK_ROWS - slot, len(small) - done)
        added = (scales[done : done + size].tobytes(), small[done : done + size].tobytes())
        before = rows(db, "SELECT scales, rows FROM blocks WHERE id = ?", (block,)) if slot else []
        old_scales, old_rows = before[0] if before else (b"", b"")
        sql = "INSERT OR REPLACE INTO blocks VALUES (?,random(),?,?)"
        run(db, sql, (block, old_scales + added[0], old_rows + added[1]))
        done += size


def _drop_unused(db: apsw.Connection) -> None:
    """Forget the vectors that no chunk has, and close the gaps."""
    chunks = rows(db, "SELECT chunk, hash FROM embedded JOIN vectors USING (place)")
    kept = rows(db, "SELECT hash, vector FROM vectors WHERE place IN (SELECT place FROM embedded) ORDER BY place")
    for table in ("vectors", "blocks", "embedded"):
        run(db, f"DELETE FROM {table}")
    for start in range(0, len(kept), _BATCH):
        part = kept[start : start + _BATCH]
        numbers = np.frombuffer(b"".join(vector for _, vector in part), np.float16).astype(np.float32)
        _insert(db, start, [digest for digest, _ in part], numbers.reshape(len(part), -1))
    run_many(db, "INSERT INTO embedded SELECT ?, place FROM vectors WHERE hash = ?", chunks)


def cosines(db: apsw.Connection, vector: bytes, keys: Sequence[ChunkKey]) -> dict[ChunkKey, float]:
    """The cosine of each of these chunks that has a vector, from its half-precision row."""
    sql = """SELECT e.chunk, v.vector FROM json_each(?) j CROSS JOIN embedded e ON e.chunk = j.value
    CROSS JOIN vectors v ON v.place = e.place"""
    found = rows(db, sql, (json.dumps(list(keys)),))
    if not found:
        return {}
    numbers = np.frombuffer(b"".join(row[1] for row in found), np.float16).reshape(len(found), -1)
    asked = np.frombuffer(vector, np.float32)
    values = np.einsum("ij,j->i", numbers.astype(np.float32), asked)
    return {row[0]: float(value) for row, value in zip(found, values, strict=True)}


class Scanner:
    """The int8 blocks of one store, as far as they have been loaded, for all readers of the process."""

    def __init__(self) -> None:
        self._blocks: dict[int, tuple[int, _Floats, NDArray[np.int8]]] = {}
        self._lock = threading.Lock()
        try:
            self._kernel: Any = importlib.import_module("numkong")
        except ImportError:
            self._kernel = None

    def nearest(
        self, db: apsw.Connection, vector: bytes, wanted: Filter, without: Set[int], limit: int
    ) -> list[ChunkKey]:
        """The chunks with the greatest cosines among those wanted and of no file ``without``.

        Exact, but for ties within int8.
        """
        asked = np.frombuffer(vector, np.float32)
        scores = self._scores(db, asked)
        if not len(scores):
            return []
        best = _top(scores, limit * _WIDER)
        found = _chunks_at(db, best, wanted, without)
        if len(found) < limit and len(best) < len(scores):
            found = _chunks_wanted(db, wanted, without)
        found = [(key, place) for key, place in found if place < len(scores)]
        if not found:
            return []
        places = np.array([place for _, place in found])
        order: list[int] = _top(scores[places], limit + _RESCORED).tolist()
        exact = cosines(db, vector, [found[i][0] for i in order])
        return sorted(exact, key=lambda key: (-exact[key], key))[:limit]

    def _scores(self, db: apsw.Connection, asked: _Floats) -> _Floats:
        """The approximate cosine of every place."""
        blocks = self._loaded(db)
        if not blocks:
            return np.empty(0, np.float32)
        scale = max(float(np.abs(asked).max()), 1e-9) / _LARGEST
        small = np.rint(asked / np.float32(scale)).astype(np.int8)
        parts: list[_Floats] = []
        for scales, numbers in blocks:
            if self._kernel is None:
                parts.append(np.einsum("ij,j->i", numbers.astype(np.float32), asked) * scales)
            else:
                dots = np.asarray(self._kernel.cdist(small[None], numbers, "dot"), np.float32)[0]
                parts.append(dots * scales * np.float32(scale))
        return np.concatenate(parts)

    def _loaded(self, db: apsw.Connection) -> list[tuple[_Floats, NDArray[np.int8]]]:
        stamps: dict[int, int] = dict(rows(db, "SELECT id, stamp FROM blocks ORDER BY id"))
        with self._lock:
            for gone in self._blocks.keys() - stamps.keys():
                del self._blocks[gone]
            for block, stamp in stamps.items():
                if block not in self._blocks or self._blocks[block][0] != stamp:
                    scales, numbers = rows(db, "SELECT scales, rows FROM blocks WHERE id = ?", (block,))[0]
                    held = np.frombuffer(scales, np.float32)
                    self._blocks[block] = (stamp, held, np.frombuffer(numbers, np.int8).reshape(len(held), -1))
            return [self._blocks[block][1:] for block in stamps]


def _top(scores: _Floats, most: int) -> NDArray[np.intp]:
    """Where the greatest scores are, in no order."""
    return np.argpartition(-scores, most - 1)[:most] if most < len(scores) else np.arange(len(scores))


def _chunks_at(
    db: apsw.Connection, places: NDArray[np.intp], wanted: Filter, without: Set[int]
) -> list[tuple[ChunkKey, int]]:
    """The chunks at some places, of those wanted."""
    joins, where, values = _scope(wanted)
    files = f"CROSS JOIN files f ON f.id = e.chunk >> {CHUNK_BITS}" if where else ""
    sql = f"""SELECT e.chunk, e.place FROM json_each(:places) j CROSS JOIN embedded e ON e.place = j.value
    {files}{joins} WHERE {where or "1"}"""
    found = rows(db, sql, {**values, "places": json.dumps(places.tolist())})
    return [(key, place) for key, place in found if key >> CHUNK_BITS not in without]


def _chunks_wanted(db: apsw.Connection, wanted: Filter, without: Set[int]) -> list[tuple[ChunkKey, int]]:
    """All chunks that are wanted and have a vector, found from the side of the filter."""
    joins, where, values = _scope(wanted)
    sql = f"""SELECT e.chunk, e.place FROM files f CROSS JOIN embedded e ON e.chunk >= f.id << {CHUNK_BITS}
    AND e.chunk < (f.id + 1) << {CHUNK_BITS}{joins} WHERE {where or "1"}"""
    return [(key, place) for key, place in rows(db, sql, values) if key >> CHUNK_BITS not in without]


def _scope(wanted: Filter) -> tuple[str, str, dict[str, Any]]:
    dated = wanted.start_date is not None or wanted.end_date is not None
    where, values = condition(wanted, turns=dated)
    return " CROSS JOIN chunks c ON c.id = e.chunk" if dated and where else "", where, values
