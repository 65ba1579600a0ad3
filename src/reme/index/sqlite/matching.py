"""Matching: which chunks answer best to some terms, by BM25, without adding up all that hold one of them.

Owns what is held of postings between questions: it is of one state of the index, and bounded. A chunk that is among the
best either holds several of the terms, or is among the best of the one that it holds: so the chunks of a term are kept
in the order of what it adds to them. Files are kept as the bits of a number, so that many are compared at once. Knows
nothing of files but that a chunk's id begins with its file's.
"""

import json
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heappop, heappush, nlargest
from operator import itemgetter
from typing import Any, Final, NamedTuple

import apsw

from reme.index.counts import weighted
from reme.index.rows import Bm25, ChunkKey, Standing
from reme.index.sqlite.connections import rows
from reme.index.sqlite.graph import HeldNeighbours
from reme.index.sqlite.postings import Postings, Segment, living_segments, unpacked
from reme.index.sqlite.schema import CHUNK_BITS

__all__ = ["Segments", "best", "best_of_files", "held", "relevance"]

_MOST_HELD: Final = 1 << 25  # bytes, about
_MOST_DECIDING: Final = 8
_LIST_BYTES: Final = 200
_POSTING_BYTES: Final = 4
_RANKED_BYTES: Final = 130


_second = itemgetter(1)


class _Term(NamedTuple):
    """In how many chunks a term stands, and its postings in each segment."""

    frequency: int
    postings: list[Postings]


class _Ranked:
    """What a term adds, by its weight, to the chunks that hold it."""

    def __init__(self, added: dict[ChunkKey, float]) -> None:
        self.added = added

    @cached_property
    def order(self) -> list[ChunkKey]:
        """The chunks, those to which it adds the most first, ties by id."""
        return sorted(sorted(self.added), key=self.added.__getitem__, reverse=True)

    @cached_property
    def files(self) -> int:
        """The files of the chunks, as bits."""
        return int.from_bytes(self._files, "little")

    @cached_property
    def _files(self) -> bytes:
        return _bits_of_files(self.added)

    @cached_property
    def _keys(self) -> "array[int]":
        return array("q", sorted(self.added))

    def is_in(self, file: int) -> bool:
        """Whether any chunk of a file is among them."""
        bits, byte = self._files, file >> 3
        return byte < len(bits) and bits[byte] >> (file & 7) & 1 == 1

    def of_file(self, file: int) -> "array[int]":
        """The chunks of a file."""
        keys, first = self._keys, file << CHUNK_BITS
        return keys[bisect_left(keys, first) : bisect_left(keys, first + (1 << CHUNK_BITS))]

    def within(self, files: Set[int]) -> "_Ranked":
        """The same of some files."""
        return _Ranked({key: added for key, added in self.added.items() if key >> CHUNK_BITS in files})


def _bits_of_files(keys: Collection[ChunkKey]) -> bytes:
    bits = bytearray((max(keys, default=0) >> CHUNK_BITS + 3) + 1)
    for key in keys:
        bits[key >> CHUNK_BITS + 3] |= 1 << (key >> CHUNK_BITS & 7)
    return bytes(bits)


class _Impacts(dict[tuple[int, int], float]):
    """What a term adds to a chunk's BM25, but for its weight, by its packed counts and the chunk's length."""

    def __init__(self, bm25: Bm25, mean_length: float) -> None:
        super().__init__()
        self.ranked: dict[tuple[str, float], _Ranked] = {}
        self._weights = bm25.column_weights
        self._frequencies: dict[int, float] = {}
        self._top = bm25.k1 + 1
        self._still = bm25.k1 * (1 - bm25.b)
        self._growing = bm25.k1 * bm25.b / (mean_length or 1.0)

    def __missing__(self, at: tuple[int, int]) -> float:
        packed, length = at
        if (frequency := self._frequencies.get(packed)) is None:
            frequency = self._frequencies[packed] = weighted(packed, self._weights)
        self[at] = impact = self._top * frequency / (frequency + self._still + self._growing * length)
        return impact


@dataclass(slots=True)
class _Held:
    """What has been read in one state of the index, and worked out of it."""

    bytes: int = 0
    terms: dict[str, _Term] = field(default_factory=dict[str, _Term])
    impacts: dict[Bm25, _Impacts] = field(default_factory=dict[Bm25, _Impacts])

    def make_room(self, size: int) -> None:
        """Forget what has been read if so many bytes more were too many."""
        if self.bytes + size > _MOST_HELD:
            self.bytes = 0
            self.terms.clear()
            for impacts in [*self.impacts.values()]:
                impacts.ranked.clear()
        self.bytes += size


@dataclass(frozen=True, slots=True)
class Segments:
    """The segments in one state of the index, with what has been read of them in it.

    Attributes:
        store: Names the tables that they are in, which are made anew now and then, and count from the beginning then.
        position: The state.
        chunks: How many there are.
        mean_length: Of the chunks, in words.
        standings: How files stand in it, as far as that has been asked.
        neighbours: What is linked to them, likewise.
    """

    store: str = ""
    position: int = -1
    chunks: int = 0
    mean_length: float = 0.0
    all: tuple[Segment, ...] = ()
    standings: dict[int, Standing] = field(default_factory=dict[int, Standing])
    neighbours: HeldNeighbours = field(default_factory=HeldNeighbours)
    _held: _Held = field(default_factory=_Held)

    @staticmethod
    def read(db: apsw.Connection, meta: Mapping[str, Any], before: "Segments") -> "Segments":
        """The segments as they are now; of those that ``before`` has, only what is dead is read again."""
        store, chunks = meta["store"], meta["chunks"]
        found = living_segments(db, before.all if before.store == store else ())
        return Segments(store, meta["position"], chunks, meta["length"] / chunks if chunks else 0.0, found)

    def terms(self, db: apsw.Connection, wanted: Collection[str]) -> dict[str, _Term]:
        """These terms."""
        held = self._held
        found = {term: known for term in wanted if (known := held.terms.get(term))}
        if missing := [term for term in wanted if term not in found]:
            read = self._read(db, missing)
            sizes = (_LIST_BYTES + _POSTING_BYTES * len(one[0]) for term in read.values() for one in term.postings)
            held.make_room(sum(sizes))
            held.terms.update(read)
            found |= read
        return found

    def _read(self, db: apsw.Connection, wanted: Collection[str]) -> dict[str, _Term]:
        sql = """SELECT p.segment, p.term, p.places FROM json_each(?) s CROSS JOIN json_each(?) t
        CROSS JOIN postings p ON p.segment = s.value AND p.term = t.value"""
        numbers = [segment.id for segment in self.all]
        blobs = {row[:2]: row[2] for row in rows(db, sql, (json.dumps(numbers), json.dumps([*wanted])))}
        found: dict[str, _Term] = {}
        for term in wanted:
            postings = [unpacked(blobs.get((number, term), b"")) for number in numbers]
            dead = sum(len(s.dead.intersection(p[0])) for s, p in zip(self.all, postings, strict=True) if s.dead)
            found[term] = _Term(sum(len(ordinals) for ordinals, _ in postings) - dead, postings)
        return found

    def ranked(
        self, db: apsw.Connection, bm25: Bm25, weights: Mapping[str, float], within: Set[int] | None = None
    ) -> list[_Ranked]:
        """What each of these terms adds, by its weight, to the chunks that hold it: of some files, or of all."""
        impacts = self.impacts(bm25)
        found = {term: known for term, weight in weights.items() if (known := impacts.ranked.get((term, weight)))}
        if missing := [term for term in weights if term not in found]:
            for term, (frequency, postings) in self.terms(db, missing).items():
                weight, added = weights[term], dict[ChunkKey, float]()
                for segment, one in zip(self.all, postings, strict=True):
                    added.update(_added(segment, *one, weight, impacts))
                self._held.make_room(_RANKED_BYTES * frequency + (max(added, default=0) >> CHUNK_BITS + 2))
                impacts.ranked[term, weight] = found[term] = _Ranked(added)
        return [found[term] if within is None else found[term].within(within) for term in weights]

    def impacts(self, bm25: Bm25) -> _Impacts:
        """What terms add."""
        if (known := self._held.impacts.get(bm25)) is None:
            known = self._held.impacts[bm25] = _Impacts(bm25, self.mean_length)
        return known


def _added(
    segment: Segment, ordinals: "array[int]", counts: "array[int]", weight: float, impacts: _Impacts
) -> Iterable[tuple[ChunkKey, float]]:
    """What a term of this weight adds to each chunk of a segment that holds it."""
    if len(ordinals) < 2:  # of one, ``itemgetter`` picks no sequence
        lengths, keys = map(segment.lengths.__getitem__, ordinals), map(segment.keys.__getitem__, ordinals)
    else:
        picked = itemgetter(*ordinals)  # the same in half the time
        lengths, keys = picked(segment.lengths), picked(segment.keys)
    added = [weight * impact for impact in map(impacts.__getitem__, zip(counts, lengths, strict=True))]
    if not segment.dead:
        return zip(keys, added, strict=True)
    return [(key, x) for key, x, at in zip(keys, added, ordinals, strict=True) if at not in segment.dead]


def best(
    db: apsw.Connection,
    segments: Segments,
    weights: Mapping[str, float],
    bm25: Bm25,
    within: Set[int] | None,
    limit: int,
) -> list[ChunkKey]:
    """The chunks that have the greatest BM25, best first, ties by id.

    Args:
        db: A reader.
        segments: The state that it reads.
        weights: The terms, each with its inverse document frequency.
        bm25: The constants.
        within: The files to look in; all if None.
        limit: Most of them.
    """
    ranked = sorted(segments.ranked(db, bm25, weights, within), key=lambda one: len(one.added))
    scores: dict[ChunkKey, float] = {}
    several: dict[ChunkKey, float] = {}
    met: dict[ChunkKey, float] = {}
    for number, one in enumerate(ranked, 1):
        added = one.added
        again = {key: met[key] + added[key] for key in met.keys() & added.keys()}
        scores |= {key: added[key] for key in one.order[:limit]}
        several |= again
        if number < len(ranked):
            met |= added
            met |= again
    scores |= several
    least = sorted(scores.values())[-limit] if len(scores) > limit else 0.0
    found = sorted([key for key, score in scores.items() if score >= least])
    return sorted(found, key=scores.__getitem__, reverse=True)[:limit]


def best_of_files(
    db: apsw.Connection,
    segments: Segments,
    weights: Mapping[str, float],
    bm25: Bm25,
    within: Set[int] | None,
    known: Collection[ChunkKey],
    limit: int,
) -> list[ChunkKey]:
    """The best chunks of the files that hold most of several terms, by weight.

    It is decided term by term which files hold it, and those that may still come to the most are gone on with first.
    Each term may make twice as many kinds of files, so the eight heaviest decide. Of files that hold the same terms,
    those come first to which the heaviest of these adds the most.

    Args:
        db: A reader.
        segments: The state that it reads.
        weights: The terms, each with its inverse document frequency.
        bm25: The constants.
        within: The files to look in; all if None.
        known: The best chunks by BM25, whose files count and are not given again.
        limit: Most files.
    """
    heaviest = dict(nlargest(_MOST_DECIDING, weights.items(), key=_second))
    lists = [*zip(heaviest.values(), segments.ranked(db, bm25, heaviest, within), strict=True)]
    passed = int.from_bytes(_bits_of_files(known), "little")
    undecided = [(-sum(heaviest.values()), 0, 0, -1)]  # of which every bit is set
    found: list[ChunkKey] = []
    while undecided and limit > 0:
        most, at, holding, files = heappop(undecided)
        if at < len(lists):
            weight, one = lists[at]
            for less, held_now, of_these in (
                (0.0, holding | 1 << at, files & one.files),
                (weight, holding, files & ~one.files),
            ):
                if of_these and held_now.bit_count() + len(lists) - at > 2:
                    heappush(undecided, (most + less, at + 1, held_now, of_these))
            continue
        fresh = files & ~passed
        limit -= (files ^ fresh).bit_count()
        if limit > 0:
            here = [one for number, (_, one) in enumerate(lists) if holding >> number & 1]
            taken = _first_of(here[0].order, fresh, min(limit, fresh.bit_count()))
            found += [_best_of(file, here) for file in taken]
            limit -= len(taken)
    return found


def _first_of(order: Iterable[ChunkKey], files: int, count: int) -> Sequence[int]:
    """So many of these files, as bits, in the order in which their chunks come first."""
    bits = files.to_bytes((files.bit_length() + 7) >> 3, "little")
    found: dict[int, None] = {}
    for key in order:
        if len(found) == count:
            break
        file = key >> CHUNK_BITS
        if file >> 3 < len(bits) and bits[file >> 3] >> (file & 7) & 1:
            found[file] = None
    return [*found]


def _best_of(file: int, lists: Sequence[_Ranked]) -> ChunkKey:
    """The chunk of a file that has the greatest BM25."""
    scores: dict[ChunkKey, float] = {}
    for one in lists:
        for key in one.of_file(file):
            scores[key] = scores.get(key, 0.0) + one.added[key]
    return max(sorted(scores), key=scores.__getitem__)


def held(
    db: apsw.Connection, segments: Segments, weights: Mapping[str, float], bm25: Bm25, keys: Sequence[ChunkKey]
) -> list[tuple[float, float]]:
    """Of each chunk: the weights of the terms that it holds, added up, and of those that its file holds anywhere."""
    ranked = [*zip(weights.values(), segments.ranked(db, bm25, weights), strict=True)]
    found: list[tuple[float, float]] = []
    for key in keys:
        by_chunk = by_file = 0.0
        for weight, one in ranked:
            if key in one.added:
                by_chunk += weight
                by_file += weight
            elif one.is_in(key >> CHUNK_BITS):
                by_file += weight
        found.append((by_chunk, by_file))
    return found


def relevance(
    db: apsw.Connection, segments: Segments, weights: Mapping[str, float], bm25: Bm25, keys: Sequence[ChunkKey]
) -> dict[ChunkKey, float]:
    """BM25 of these chunks.

    Args:
        db: A reader.
        segments: The state that it reads.
        weights: The terms, each with its inverse document frequency.
        bm25: The constants.
        keys: The chunks.
    """
    sums = dict.fromkeys(keys, 0.0)
    ranked = segments.impacts(bm25).ranked
    further: dict[str, float] = {}
    for term, weight in weights.items():
        if (known := ranked.get((term, weight))) is None:
            further[term] = weight
            continue
        added = known.added
        for key in added.keys() & sums.keys():
            sums[key] += added[key]
    if further:
        _add(db, segments, further, bm25, sums)
    return sums


def _add(
    db: apsw.Connection, segments: Segments, weights: Mapping[str, float], bm25: Bm25, sums: dict[ChunkKey, float]
) -> None:
    """Add what terms add to some chunks, each of which is looked for among the term's."""
    impacts = segments.impacts(bm25)
    terms = segments.terms(db, weights)
    asked = _ordinals(db, sums)
    for number, segment in enumerate(segments.all):
        wanted = asked.get(segment.id, ())
        for term, weight in weights.items():
            ordinals, counts = terms[term].postings[number]
            at, end = 0, len(ordinals)
            for ordinal in wanted:
                at = bisect_left(ordinals, ordinal, at)
                if at == end:
                    break
                if ordinals[at] == ordinal:
                    sums[segment.keys[ordinal]] += weight * impacts[counts[at], segment.lengths[ordinal]]


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
