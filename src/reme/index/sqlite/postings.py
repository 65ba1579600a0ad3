"""Postings: which chunks hold which terms, and how often.

Owns the inverted index, written in segments: what one batch brings is one segment, which is never changed afterwards;
what it replaces is marked dead in the segments before it, and small segments are merged into larger ones now and then
(O'Neil et al. 1996, "The log-structured merge-tree"). A posting is 32 bits: the chunk's ordinal in its segment, then
its packed counts. Knows nothing of files but that a chunk's id begins with its file's.
"""

import sys
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from heapq import merge
from itertools import islice
from typing import Final, NamedTuple

import apsw

from reme.index.counts import COUNT_BITS
from reme.index.rows import ChunkKey, Found
from reme.index.sqlite.connections import each, rows, run, run_many
from reme.index.sqlite.schema import CHUNK_BITS

__all__ = [
    "Postings",
    "Segment",
    "SegmentWriter",
    "bury",
    "crowded",
    "due",
    "living",
    "living_segments",
    "tidy",
    "unpacked",
]

_MOST_CHUNKS: Final = 1 << 16
_MOST_TERMS: Final = 1 << 18
_ROWS_AT_ONCE: Final = 1_000
_MASK: Final = (1 << COUNT_BITS) - 1
_SMALLEST_TIER: Final = 64
_FAN: Final = 16
_MOST_SEGMENTS: Final = 128
_MOST_DEAD: Final = 0.25
_KEYS: Final = "q"
_NUMBERS: Final = "I"
_HALVES: Final = "H"
_UPPER: Final = int(sys.byteorder == "little")
_NONE: Final[frozenset[int]] = frozenset()


Postings = tuple["array[int]", "array[int]"]
"""Of one term in one segment: the ordinals of the chunks that hold it, ascending, and its packed counts there."""


class Segment(NamedTuple):
    """One segment as readers hold it; ``dead`` are ordinals."""

    id: int
    keys: "array[int]"
    lengths: "array[int]"
    dead: frozenset[int]


def living_segments(db: apsw.Connection, known: Iterable[Segment]) -> tuple[Segment, ...]:
    """The segments as they are now; of those that are known, only what is dead is read again."""
    dead = _dead(db)
    before = {segment.id: segment for segment in known}
    numbers = [row[0] for row in rows(db, "SELECT id FROM segments ORDER BY id")]
    found = [before.get(number) or _load(db, number) for number in numbers]
    return tuple(segment._replace(dead=dead.get(segment.id, _NONE)) for segment in found)


def living(db: apsw.Connection) -> Iterator[tuple[str, ChunkKey, int, int]]:
    """Every posting: term, chunk, packed counts, the chunk's length."""
    for segment in living_segments(db, ()):
        for term, blob in rows(db, "SELECT term, places FROM postings WHERE segment = ?", (segment.id,)):
            for ordinal, counts in zip(*unpacked(blob), strict=True):
                if ordinal not in segment.dead:
                    yield term, segment.keys[ordinal], counts, segment.lengths[ordinal]


def _load(db: apsw.Connection, number: int) -> Segment:
    keys, lengths = rows(db, "SELECT keys, lengths FROM segments WHERE id = ?", (number,))[0]
    return Segment(number, array(_KEYS, keys), array(_NUMBERS, lengths), _NONE)


def unpacked(blob: bytes) -> Postings:
    """What is stored of a term in a segment."""
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
        places = map(self._places.__getitem__, found.terms)
        for placed, counts in zip(places, found.terms.values(), strict=True):
            placed.append(first | counts)

    def write(self) -> None:
        """Store what was collected as one segment."""
        if self._keys:
            postings = ((term, self._places[term]) for term in sorted(self._places))
            _store(self._db, self._keys, self._lengths, postings)
        self._empty()


def _store(
    db: apsw.Connection, keys: "array[int]", lengths: "array[int]", postings: Iterable[tuple[str, "array[int]"]]
) -> None:
    """Make a segment.

    Args:
        db: The writer.
        keys: The chunks by their ordinals.
        lengths: Their lengths.
        postings: The places of each term, by term; taken as they come, and not held.
    """
    number = _new_id(db)
    run(db, "INSERT INTO segments VALUES (?,?,?)", (number, keys.tobytes(), lengths.tobytes()))
    coming = ((number, term, places.tobytes()) for term, places in postings)
    while some := list(islice(coming, _ROWS_AT_ONCE)):
        run_many(db, "INSERT INTO postings VALUES (?,?,?)", some)
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
    """Merge some segments, where there are many of one size, or rewrite one of which much is dead."""
    if numbers := due(db):
        _merge(db, numbers)


def crowded(db: apsw.Connection) -> bool:
    """Whether there are so many segments that readers should not be left with them."""
    return rows(db, "SELECT count(*) FROM segments")[0][0] >= _MOST_SEGMENTS


def due(db: apsw.Connection) -> list[int]:
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
    """Put the living of some segments into a new one.

    Their terms are read side by side, so that few are held at a time: together they may have millions.
    """
    dead = _dead(db)
    keys: array[int] = array(_KEYS)
    lengths: array[int] = array(_NUMBERS)
    sources: list[Iterator[tuple[str, int, array[int]]]] = []
    for order, number in enumerate(numbers):
        segment = _load(db, number)._replace(dead=dead.get(number, _NONE))
        moved = array(_KEYS)
        for ordinal, (key, length) in enumerate(zip(segment.keys, segment.lengths, strict=True)):
            moved.append(len(keys) << COUNT_BITS)
            if ordinal not in segment.dead:
                keys.append(key)
                lengths.append(length)
        sources.append(_moved(db, segment, moved, order))
        for table, column in (("dead", "segment"), ("placed", "segment"), ("segments", "id")):
            run(db, f"DELETE FROM {table} WHERE {column} = ?", (number,))  # noqa: S608  (constants only)
    if keys:
        _store(db, keys, lengths, _joined(merge(*sources)))
    for number in numbers:
        run(db, "DELETE FROM postings WHERE segment = ?", (number,))


def _moved(
    db: apsw.Connection, segment: Segment, moved: "array[int]", order: int
) -> Iterator[tuple[str, int, "array[int]"]]:
    """The terms of a segment in their order, with the places in another one of those chunks that live.

    Args:
        db: The writer.
        segment: The segment.
        moved: Where its chunks stand in the other one, by their ordinals.
        order: The segment's own place among those that are put together.
    """
    dead = segment.dead
    for term, blob in each(db, "SELECT term, places FROM postings WHERE segment = ? ORDER BY term", (segment.id,)):
        found = array(_NUMBERS, blob)
        living = (place for place in found if place >> COUNT_BITS not in dead) if dead else found
        if places := array(_NUMBERS, [moved[place >> COUNT_BITS] | place & _MASK for place in living]):
            yield term, order, places


def _joined(found: Iterable[tuple[str, int, "array[int]"]]) -> Iterator[tuple[str, "array[int]"]]:
    """Each term once, with all its places."""
    term, places = "", array(_NUMBERS)
    for other, _, more in found:
        if other != term and places:
            yield term, places
            places = array(_NUMBERS)
        term = other
        places.extend(more)
    if places:
        yield term, places


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
