"""Vectors: float16 rows by the hash of what they are of, and blocks of int8 rows that are scanned.

Owns both forms and their scan. A block has 1,000 rows in the order of their places, and a stamp that is another one
whenever it has changed; a reader keeps the blocks and loads only those with a new stamp. Where there are many, it
makes a bit of each number's sign, and compares by int8 only those whose signs differ least from the question's
(Charikar 2002, "Similarity estimation techniques from rounding algorithms"). numpy is needed here alone; of it only
loops are used that start no threads.
"""

# ruff: noqa: S608  (only constants and placeholders are put into statements)

import json
import threading
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import apsw
import numpy as np
from numpy.typing import NDArray

from reme.index.rows import ChunkKey, Filter, Unembedded
from reme.index.sqlite.connections import rows, run, run_many
from reme.index.sqlite.keywords import Scope
from reme.index.sqlite.notes import condition
from reme.index.sqlite.schema import CHUNK_BITS

__all__ = ["Scanner", "cosines", "put_vectors", "to_embed", "unembedded"]

_Floats = NDArray[np.float32]
_Places = NDArray[np.intp]
_BLOCK_ROWS: Final = 1_000
_LARGEST: Final = 127
_SPARE: Final = 1_000
_WIDER: Final = 4
_RESCORED: Final = 50
_COMPARED: Final = 4_000
_COMPARED_SHARE: Final = 50
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


class _Block(NamedTuple):
    stamp: int
    scales: _Floats
    rows: NDArray[np.int8]

    @property
    def vectors(self) -> _Floats:
        """What the rows stand for."""
        return self.rows * self.scales[:, None]


class _Signs(NamedTuple):
    """Which numbers of the vectors are positive when what these have in common is taken from them.

    Attributes:
        centre: What they have in common.
        words: 64 numbers of each place in a row.
    """

    centre: _Floats
    words: NDArray[np.uint64]

    def least_differing(self, asked: _Floats, most: int, among: _Places | None) -> _Places:
        """Which of some places differ in the fewest numbers, in no order."""
        share = np.dot(asked, self.centre) / max(np.dot(self.centre, self.centre), 1e-9)
        words = self.words if among is None else self.words[:, among]
        differing = np.zeros(words.shape[1], np.int32)
        for row, word in zip(words, _signs((asked - share * self.centre)[None]), strict=True):
            differing += np.bitwise_count(row ^ word)
        return _least(differing, most)


def _signs(numbers: _Floats) -> NDArray[np.uint64]:
    packed = np.packbits(numbers > 0, axis=1)
    return np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8))).view(np.uint64).T


_NO_SCALES: Final = np.empty(0, np.float32)


class _Held(NamedTuple):
    """The blocks in one state of the store, by their numbers; and the signs where there are too many to compare all.

    All blocks are full but the last; ``scales`` are those of all places.
    """

    blocks: tuple[_Block, ...] = ()
    scales: _Floats = _NO_SCALES
    signs: _Signs | None = None

    @property
    def size(self) -> int:
        """How many places there are."""
        return len(self.scales)

    def best(self, asked: _Floats, most: int, among: _Places | None = None) -> _Places:
        """The places of the vectors most alike, best first.

        Args:
            asked: The vector.
            most: How many.
            among: Only these places, ascending; all if None.
        """
        places = np.arange(self.size) if among is None else among
        compared = max(_COMPARED, self.size // _COMPARED_SHARE)
        if self.signs is not None and len(places) > compared:
            places = places[np.sort(self.signs.least_differing(asked, compared, among))]
        far = -self._cosines(asked, places)
        nearest = _least(far, most)
        return places[nearest[np.argsort(far[nearest])]]

    def _cosines(self, asked: _Floats, places: _Places) -> _Floats:
        """About the cosines of the vectors at some places, ascending."""
        ends = np.searchsorted(places, np.arange(len(self.blocks) + 1) * _BLOCK_ROWS).tolist()
        slots = places % _BLOCK_ROWS
        numbers = np.empty((len(places), len(asked)), np.int8)
        for block, first, end in zip(self.blocks, ends, ends[1:], strict=False):
            if first < end:
                block.rows.take(slots[first:end], axis=0, out=numbers[first:end], mode="clip")
        return np.einsum("ij,j->i", numbers, asked) * self.scales.take(places)


class Scanner:
    """The int8 blocks of one store, as far as they have been loaded, for all readers of the process."""

    def __init__(self) -> None:
        self._held = _Held()
        self._lock = threading.Lock()

    def nearest(self, db: apsw.Connection, vector: bytes, scope: Scope, limit: int) -> list[ChunkKey]:
        """The chunks with the greatest cosines among those wanted.

        Exact, but for ties within int8, where no more than 4,000 vectors are wanted; else nearly always.
        """
        asked = np.frombuffer(vector, np.float32)
        held = self._loaded(db)
        best = held.best(asked, limit * _WIDER) if scope.within is None else np.empty(0, np.intp)
        found = _chunks_at(db, best, scope)
        if len(found) < limit and len(best) < held.size:
            found = _chunks_wanted(db, scope)
            places = np.unique(np.array([place for _, place in found], np.intp))
            best = held.best(asked, limit + _RESCORED, places)
        at: dict[int, list[ChunkKey]] = {}
        for key, place in found:
            at.setdefault(place, []).append(key)
        near = [place for place in best.tolist() if place in at][: limit + _RESCORED]
        exact = cosines(db, vector, [key for place in near for key in at[place]])
        return sorted(exact, key=lambda key: (-exact[key], key))[:limit]

    def _loaded(self, db: apsw.Connection) -> _Held:
        stamps = [stamp for (stamp,) in rows(db, "SELECT stamp FROM blocks ORDER BY id")]
        with self._lock:
            if stamps != [block.stamp for block in self._held.blocks]:
                self._held = _read(db, stamps, self._held)
            return self._held


def _read(db: apsw.Connection, stamps: Sequence[int], before: _Held) -> _Held:
    """The blocks with these stamps; what ``before`` has of them is taken from it."""
    known = {block.stamp: block for block in before.blocks}
    blocks = tuple(known.get(stamp) or _block(db, number, stamp) for number, stamp in enumerate(stamps))
    held = _Held(blocks, np.concatenate([_NO_SCALES, *(block.scales for block in blocks)]))
    if held.size <= _COMPARED:
        return held
    first, old = blocks[0], before.signs
    if old is None or first is not before.blocks[0]:
        known, old = {}, _Signs(first.vectors.mean(axis=0), np.empty((0, 0), np.uint64))
    words = np.empty((-(-first.rows.shape[1] // 64), held.size), np.uint64)
    for start, block in zip(range(0, held.size, _BLOCK_ROWS), blocks, strict=True):
        places = slice(start, start + len(block.scales))
        words[:, places] = old.words[:, places] if block.stamp in known else _signs(block.vectors - old.centre)
    return held._replace(signs=_Signs(old.centre, words))


def _block(db: apsw.Connection, number: int, stamp: int) -> _Block:
    scales, numbers = rows(db, "SELECT scales, rows FROM blocks WHERE id = ?", (number,))[0]
    held = np.frombuffer(scales, np.float32)
    return _Block(stamp, held, np.frombuffer(numbers, np.int8).reshape(len(held), -1))


def _least(values: NDArray[Any], most: int) -> _Places:
    """Where the least values are, in no order."""
    return np.argpartition(values, most - 1)[:most] if most < len(values) else np.arange(len(values))


def _chunks_at(db: apsw.Connection, places: _Places, scope: Scope) -> list[tuple[ChunkKey, int]]:
    """The chunks at some places, of those wanted."""
    joins, where, values = _asked_of(scope.wanted)
    files = f"CROSS JOIN files f ON f.id = e.chunk >> {CHUNK_BITS}" if where else ""
    sql = f"""SELECT e.chunk, e.place FROM json_each(:places) j CROSS JOIN embedded e ON e.place = j.value
    {files}{joins} WHERE {where or "1"}"""
    found = rows(db, sql, {**values, "places": json.dumps(places.tolist())})
    return [(key, place) for key, place in found if key >> CHUNK_BITS not in scope.without]


def _chunks_wanted(db: apsw.Connection, scope: Scope) -> list[tuple[ChunkKey, int]]:
    """All chunks that are wanted and have a vector, found from the side of the filter."""
    joins, where, values = _asked_of(scope.wanted)
    files = "files f"
    if scope.within is not None:
        files = "json_each(:files) j CROSS JOIN files f ON f.id = j.value"
        values["files"] = json.dumps([*scope.within])
    sql = f"""SELECT e.chunk, e.place FROM {files} CROSS JOIN embedded e ON e.chunk >= f.id << {CHUNK_BITS}
    AND e.chunk < (f.id + 1) << {CHUNK_BITS}{joins} WHERE {where or "1"}"""
    return [(key, place) for key, place in rows(db, sql, values) if key >> CHUNK_BITS not in scope.without]


def _asked_of(wanted: Filter) -> tuple[str, str, dict[str, Any]]:
    dated = wanted.start_date is not None or wanted.end_date is not None
    where, values = condition(wanted, turns=dated)
    return " CROSS JOIN chunks c ON c.id = e.chunk" if dated and where else "", where, values
