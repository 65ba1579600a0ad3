"""Postings: which chunks hold which terms, and how often.

Owns the inverted index, written in segments: what one batch brings is one segment, which is never changed afterwards;
what it replaces is marked dead in the segments before it, and small segments are merged into larger ones now and then
(O'Neil et al. 1996, "The log-structured merge-tree"). A posting is 32 bits: the chunk's ordinal in its segment, then
its packed counts. Knows nothing of files but that a chunk's id begins with its file's.
"""

import json
import sys
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, NamedTuple

import apsw

from reme.index.counts import COUNT_BITS, weighted
from reme.index.rows import Bm25, ChunkKey, Found
from reme.index.sqlite.connections import rows, run, run_many
from reme.index.sqlite.schema import CHUNK_BITS

__all__ = ["SegmentWriter", "Segments", "bury", "living", "relevance", "scores", "tidy"]

_MOST_CHUNKS: Final = 1 << 16
_MOST_TERMS: Final = 1 << 18
_MASK: Final = (1 << COUNT_BITS) - 1
_BYTES: Final = 4
_SMALLEST_TIER: Final = 64
_FAN: Final = 16
_MOST_DEAD: Final = 0.25
_KEYS: Final = "q"
_NUMBERS: Final = "I"
_HALVES: Final = "H"
_UPPER: Final = int(sys.byteorder == "little")
_NONE: Final[frozenset[int]] = frozenset()


class _Segment(NamedTuple):
    """One segment as readers hold it; ``dead`` are ordinals."""

    id: int
    keys: "array[int]"
    lengths: "array[int]"
    dead: frozenset[int]


@dataclass(frozen=True, slots=True)
class Segments:
    """The segments in one state of the index.

    Attributes:
        store: Names the tables that they are in, which are made anew now and then, and count from the beginning then.
        position: The state.
    """

    store: str = ""
    position: int = -1
    mean_length: float = 0.0
    all: tuple[_Segment, ...] = ()
    _impacts: dict[Bm25, "_Impacts"] = field(default_factory=dict[Bm25, "_Impacts"])

    @staticmethod
    def read(db: apsw.Connection, store: str, position: int, mean_length: float, before: "Segments") -> "Segments":
        """The segments as they are now; what ``before`` holds already is not read again."""
        dead = _dead(db)
        known = {segment.id: segment for segment in before.all} if before.store == store else {}
        found: list[_Segment] = []
        for (number,) in rows(db, "SELECT id FROM segments ORDER BY id"):
            segment = known.get(number) or _load(db, number)
            found.append(segment._replace(dead=dead.get(number, _NONE)))
        return Segments(store, position, mean_length, tuple(found))

    def impacts(self, bm25: Bm25) -> "_Impacts":
        """What terms add, remembered for as long as this state is the present one."""
        if bm25 not in self._impacts:
            self._impacts[bm25] = _Impacts(bm25, self.mean_length)
        return self._impacts[bm25]

    def frequencies(self, db: apsw.Connection, terms: Iterable[str]) -> dict[str, int]:
        """In how many chunks each term stands."""
        found: dict[str, int] = {}
        for term in terms:
            found[term] = 0
            for segment in self.all:
                if not segment.dead:
                    sql = "SELECT length(places) FROM postings WHERE segment = ? AND term = ?"
                    size = rows(db, sql, (segment.id, term))
                    found[term] += size[0][0] // _BYTES if size else 0
                else:
                    ordinals, _ = _postings(db, segment.id, term)
                    found[term] += len(ordinals) - sum(map(segment.dead.__contains__, ordinals))
        return found


def scores(db: apsw.Connection, segments: Segments, weights: Mapping[str, float], bm25: Bm25) -> dict[ChunkKey, float]:
    """BM25 of every chunk that holds one of the terms.

    Args:
        db: A reader.
        segments: The state that it reads.
        weights: The terms, each with its inverse document frequency.
        bm25: The constants.
    """
    impact = segments.impacts(bm25).__getitem__
    found: dict[ChunkKey, float] = {}
    for segment in segments.all:
        sums: dict[int, float] = {}
        for term, weight in weights.items():
            ordinals, counts = _postings(db, segment.id, term)
            impacts = map(impact, zip(counts, map(segment.lengths.__getitem__, ordinals), strict=True))
            added = {ordinal: weight * part for ordinal, part in zip(ordinals, impacts, strict=True)}
            for ordinal in sums.keys() & added.keys():
                added[ordinal] += sums[ordinal]
            sums |= added
        for ordinal in segment.dead.intersection(sums) if segment.dead else ():
            del sums[ordinal]
        found.update(zip(map(segment.keys.__getitem__, sums), sums.values(), strict=True))
    return found


def relevance(
    db: apsw.Connection, segments: Segments, weights: Mapping[str, float], bm25: Bm25, keys: Iterable[ChunkKey]
) -> dict[ChunkKey, float]:
    """BM25 of these chunks, as ``scores`` has it; chunks that hold none of the terms are left out."""
    impacts = segments.impacts(bm25)
    asked = _ordinals(db, keys)
    found: dict[ChunkKey, float] = {}
    for segment in segments.all:
        if not (wanted := asked.get(segment.id)):
            continue
        for term, weight in weights.items():
            ordinals, counts = _postings(db, segment.id, term)
            at, end = 0, len(ordinals)
            for ordinal in wanted:
                at = bisect_left(ordinals, ordinal, at)
                if at == end:
                    break
                if ordinals[at] == ordinal:
                    key = segment.keys[ordinal]
                    part = weight * impacts[counts[at], segment.lengths[ordinal]]
                    found[key] = found.get(key, 0.0) + part
    return found


class _Impacts(dict[tuple[int, int], float]):
    """What a term adds to a chunk's BM25, but for its weight, by its packed counts and the chunk's length."""

    def __init__(self, bm25: Bm25, mean_length: float) -> None:
        super().__init__()
        self._weights = bm25.column_weights
        self._top = bm25.k1 + 1
        self._still = bm25.k1 * (1 - bm25.b)
        self._growing = bm25.k1 * bm25.b / (mean_length or 1.0)

    def __missing__(self, at: tuple[int, int]) -> float:
        packed, length = at
        frequency = weighted(packed, self._weights)
        self[at] = impact = self._top * frequency / (frequency + self._still + self._growing * length)
        return impact


def _ordinals(db: apsw.Connection, keys: Iterable[ChunkKey]) -> dict[int, list[int]]:
    """Where chunks stand: ordinals by segment, ascending."""
    wanted = sorted(set(keys))
    sql = """SELECT p.file, p.position, p.segment, p.first, p.chunks FROM json_each(?) j
    CROSS JOIN placed p ON p.file = j.value"""
    files = sorted({key >> CHUNK_BITS for key in wanted})
    found: dict[int, list[int]] = {}
    at = 0
    for file, position, segment, first, chunks in rows(db, sql, (json.dumps(files),)):
        low = (file << CHUNK_BITS) + position
        while at < len(wanted) and wanted[at] < low:
            at += 1
        while at < len(wanted) and wanted[at] < low + chunks:
            found.setdefault(segment, []).append(first + wanted[at] - low)
            at += 1
    for ordinals in found.values():
        ordinals.sort()
    return found


def living(db: apsw.Connection) -> Iterator[tuple[str, ChunkKey, int, int]]:
    """Every posting: term, chunk, packed counts, the chunk's length."""
    for segment in Segments.read(db, "", -1, 0.0, Segments()).all:
        for term, blob in rows(db, "SELECT term, places FROM postings WHERE segment = ?", (segment.id,)):
            for ordinal, counts in zip(*_unpacked(blob), strict=True):
                if ordinal not in segment.dead:
                    yield term, segment.keys[ordinal], counts, segment.lengths[ordinal]


def _load(db: apsw.Connection, number: int) -> _Segment:
    keys, lengths = rows(db, "SELECT keys, lengths FROM segments WHERE id = ?", (number,))[0]
    return _Segment(number, array(_KEYS, keys), array(_NUMBERS, lengths), _NONE)


def _postings(db: apsw.Connection, segment: int, term: str) -> tuple["array[int]", "array[int]"]:
    found = rows(db, "SELECT places FROM postings WHERE segment = ? AND term = ?", (segment, term))
    return _unpacked(found[0][0] if found else b"")


def _unpacked(blob: bytes) -> tuple["array[int]", "array[int]"]:
    """Ordinals and packed counts."""
    halves = array(_HALVES, blob)
    return halves[_UPPER::2], halves[1 - _UPPER :: 2]


def _dead(db: apsw.Connection) -> dict[int, frozenset[int]]:
    found: dict[int, set[int]] = {}
    for segment, first, count in rows(db, "SELECT segment, first, chunks FROM dead"):
        found.setdefault(segment, set()).update(range(first, first + count))
    return {segment: frozenset(ordinals) for segment, ordinals in found.items()}


# Writing


class SegmentWriter:
    """Collects the postings of one batch; nothing is stored before ``write``."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._empty()

    def _empty(self) -> None:
        self._keys: array[int] = array(_KEYS)
        self._lengths: array[int] = array(_NUMBERS)
        self._places: defaultdict[str, array[int]] = defaultdict(partial(array, _NUMBERS))

    def add(self, key: ChunkKey, found: Found) -> None:
        """Take what a chunk is found by."""
        if len(self._keys) == _MOST_CHUNKS or len(self._places) >= _MOST_TERMS:
            self.write()
        first = len(self._keys) << COUNT_BITS
        self._keys.append(key)
        self._lengths.append(found.length)
        places = self._places
        for term, counts in found.terms.items():
            places[term].append(first | counts)

    def write(self) -> None:
        """Store what was collected as one segment."""
        if self._keys:
            _store(self._db, self._keys, self._lengths, self._places)
        self._empty()


def _store(db: apsw.Connection, keys: "array[int]", lengths: "array[int]", places: Mapping[str, "array[int]"]) -> None:
    number = _new_id(db)
    run(db, "INSERT INTO segments VALUES (?,?,?)", (number, keys.tobytes(), lengths.tobytes()))
    found = [(number, term, places[term].tobytes()) for term in sorted(places)]
    run_many(db, "INSERT INTO postings VALUES (?,?,?)", found)
    run_many(db, "INSERT INTO placed VALUES (?,?,?,?,?)", _placed(number, keys))


def _new_id(db: apsw.Connection) -> int:
    """A number that no segment of this store ever had: readers keep what they have read by it."""
    run(db, "UPDATE meta SET value = value + 1 WHERE key = 'segments'")
    return rows(db, "SELECT value FROM meta WHERE key = 'segments'")[0][0]


def bury(db: apsw.Connection, file: int, start: int, end: int) -> None:
    """Mark the chunks of a file dead that are at these positions."""
    sql = """SELECT position, segment, first, chunks FROM placed
    WHERE file = ? AND position < ? AND position + chunks > ?"""
    for position, segment, first, chunks in rows(db, sql, (file, end, start)):
        low, high, stop = max(position, start), min(position + chunks, end), position + chunks
        run(db, "INSERT INTO dead VALUES (?,?,?)", (segment, first + low - position, high - low))
        run(db, "DELETE FROM placed WHERE file = ? AND position = ?", (file, position))
        for left, right in ((position, low), (high, stop)):
            if left < right:
                values = (file, left, segment, first + left - position, right - left)
                run(db, "INSERT INTO placed VALUES (?,?,?,?,?)", values)


def tidy(db: apsw.Connection) -> None:
    """Merge segments where there are many of one size, and rewrite those of which much is dead."""
    while due := _due(db):
        _merge(db, due)


def _due(db: apsw.Connection) -> list[int]:
    """Which segments to merge next, if any."""
    tiers: dict[int, list[tuple[int, int]]] = {}
    sql = """SELECT s.id, length(s.lengths) / 4, (SELECT coalesce(sum(d.chunks), 0) FROM dead d WHERE d.segment = s.id)
    FROM segments s ORDER BY s.id"""
    for number, chunks, dead in rows(db, sql):
        if dead > chunks * _MOST_DEAD:
            return [number]
        tier, size = 0, _SMALLEST_TIER
        while size <= chunks - dead:
            tier, size = tier + 1, size * _FAN
        tiers.setdefault(tier, []).append((number, chunks - dead))
    for members in tiers.values():
        room = _MOST_CHUNKS
        fitting = [number for number, chunks in members[:_FAN] if (room := room - chunks) >= 0]
        if len(members) >= _FAN and len(fitting) > 1:
            return fitting
    return []


def _merge(db: apsw.Connection, numbers: Sequence[int]) -> None:
    """Put the living of some segments into a new one."""
    dead = _dead(db)
    keys: array[int] = array(_KEYS)
    lengths: array[int] = array(_NUMBERS)
    places: defaultdict[str, array[int]] = defaultdict(partial(array, _NUMBERS))
    for number in numbers:
        segment = _load(db, number)._replace(dead=dead.get(number, _NONE))
        shift = len(keys) << COUNT_BITS
        moved: list[int] = []
        for ordinal, (key, length) in enumerate(zip(segment.keys, segment.lengths, strict=True)):
            moved.append(len(keys) << COUNT_BITS)
            if ordinal not in segment.dead:
                keys.append(key)
                lengths.append(length)
        for term, blob in rows(db, "SELECT term, places FROM postings WHERE segment = ?", (number,)):
            found = array(_NUMBERS, blob)
            if not segment.dead:
                places[term].extend([shift + place for place in found])
            elif living := [
                moved[place >> COUNT_BITS] | place & _MASK for place in found if place >> COUNT_BITS not in segment.dead
            ]:
                places[term].extend(living)
        for table, column in (("postings", "segment"), ("dead", "segment"), ("placed", "segment"), ("segments", "id")):
            run(db, f"DELETE FROM {table} WHERE {column} = ?", (number,))  # noqa: S608  (constants only)
    if keys:
        _store(db, keys, lengths, places)


def _placed(segment: int, keys: "array[int]") -> list[tuple[int, int, int, int, int]]:
    """Which chunks stand one after the other: file, position of the first of them, segment, its ordinal, how many."""
    found: list[tuple[int, int, int, int, int]] = []
    low = (1 << CHUNK_BITS) - 1
    first = 0
    for ordinal in range(1, len(keys) + 1):
        if ordinal == len(keys) or keys[ordinal] != keys[ordinal - 1] + 1:
            found.append((keys[first] >> CHUNK_BITS, keys[first] & low, segment, first, ordinal - first))
            first = ordinal
    return found
