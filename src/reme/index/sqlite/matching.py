"""Matching: which chunks answer best to some terms, by BM25, without adding up all that hold one of them.

Owns what is held of postings between questions: it is of one state of the index, and bounded. A chunk that is among the
best either holds several of the terms, or is among the best of the one that it holds. So the chunks of a term are kept
in the order of what it adds to them, and are looked at as far as the worst of the best so far (Fagin et al. 2003,
"Optimal aggregation algorithms for middleware"). Knows nothing of files but that a chunk's id begins with its file's.
"""

import json
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
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
_LIST_BYTES: Final = 200
_POSTING_BYTES: Final = 4
_RANKED_BYTES: Final = 100
_FILE_BYTES: Final = 60
_ROUNDING: Final = 1e-9


class _Term(NamedTuple):
    """In how many chunks a term stands, and its postings in each segment."""

    frequency: int
    postings: list[Postings]


class _Ranked(NamedTuple):
    """What a term adds to the chunks that hold it, but for its weight; and these in the order of that."""

    impacts: dict[ChunkKey, float]
    order: list[ChunkKey]

    def at(self, rank: int) -> float:
        """What it adds to the chunk of this place in the order, from 0; 0 where there are fewer."""
        return self.impacts[self.order[rank]] if rank < len(self.order) else 0.0

    def within(self, files: Set[int]) -> "_Ranked":
        """The same of some files."""
        order = [key for key in self.order if key >> CHUNK_BITS in files]
        return _Ranked({key: self.impacts[key] for key in order}, order)

    def down_to(self, least: float, weight: float) -> list[ChunkKey]:
        """The chunks to which it adds so much, with its weight, in order."""
        return self.order[: bisect_right(self.order, -least, key=lambda key: -weight * self.impacts[key])]


class _Impacts(dict[tuple[int, int], float]):
    """What a term adds to a chunk's BM25, but for its weight, by its packed counts and the chunk's length."""

    def __init__(self, bm25: Bm25, mean_length: float) -> None:
        super().__init__()
        self.ranked: dict[str, _Ranked] = {}
        self.files: dict[str, frozenset[int]] = {}
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
                impacts.files.clear()
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
        self, db: apsw.Connection, bm25: Bm25, wanted: Collection[str], within: Set[int] | None = None
    ) -> dict[str, _Ranked]:
        """The chunks of these terms, of some files or of all, in the order of what the terms add to them."""
        impacts = self.impacts(bm25)
        found = {term: known for term in wanted if (known := impacts.ranked.get(term))}
        if missing := [term for term in wanted if term not in found]:
            for term, (frequency, postings) in self.terms(db, missing).items():
                made: dict[ChunkKey, float] = {}
                for segment, one in zip(self.all, postings, strict=True):
                    made.update(_impacts_of(segment, *one, impacts))
                self._held.make_room(_RANKED_BYTES * frequency)
                impacts.ranked[term] = found[term] = _Ranked(made, sorted(made, key=made.__getitem__, reverse=True))
        return found if within is None else {term: one.within(within) for term, one in found.items()}

    def files(
        self, db: apsw.Connection, bm25: Bm25, wanted: Collection[str], within: Set[int] | None = None
    ) -> dict[str, frozenset[int]]:
        """The files, of some or of all, that hold these terms in whichever of their chunks."""
        held = self.impacts(bm25).files
        found = {term: known for term in wanted if (known := held.get(term))}
        if missing := [term for term in wanted if term not in found]:
            ranked = self.ranked(db, bm25, missing)
            made = {term: frozenset([key >> CHUNK_BITS for key in one.order]) for term, one in ranked.items()}
            self._held.make_room(_FILE_BYTES * sum(map(len, made.values())))
            held.update(made)
            found |= made
        return found if within is None else {term: files & within for term, files in found.items()}

    def impacts(self, bm25: Bm25) -> _Impacts:
        """What terms add."""
        if (known := self._held.impacts.get(bm25)) is None:
            known = self._held.impacts[bm25] = _Impacts(bm25, self.mean_length)
        return known


def _impacts_of(
    segment: Segment, ordinals: "array[int]", counts: "array[int]", impacts: _Impacts
) -> Iterable[tuple[ChunkKey, float]]:
    """What a term adds to each chunk of a segment that holds it."""
    if len(ordinals) < 2:  # of one, ``itemgetter`` picks no sequence
        lengths, keys = map(segment.lengths.__getitem__, ordinals), map(segment.keys.__getitem__, ordinals)
    else:
        picked = itemgetter(*ordinals)  # the same in half the time
        lengths, keys = picked(segment.lengths), picked(segment.keys)
    added = map(impacts.__getitem__, zip(counts, lengths, strict=True))
    if not segment.dead:
        return zip(keys, added, strict=True)
    return [(key, x) for key, x, at in zip(keys, added, ordinals, strict=True) if at not in segment.dead]


_first = itemgetter(0)


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
    ranked = segments.ranked(db, bm25, weights, within)
    asked = [(weight, ranked[term]) for term, weight in weights.items()]
    lists = sorted(((weight * one.at(0), weight, one) for weight, one in asked), key=_first)
    least = max((weight * one.at(limit - 1) for weight, one in asked), default=0.0)  # less is not among the best
    left = sum(map(_first, lists))
    scores: dict[ChunkKey, float] = {}
    while lists:
        most, weight, one = lists.pop()
        left -= most
        both = [*(scores.keys() & one.impacts.keys())]
        sums = [scores[key] + weight * one.impacts[key] for key in both]
        fresh = one.down_to(least - left - _ROUNDING, weight)
        scores.update(zip(fresh, [weight * one.impacts[key] for key in fresh], strict=True))
        scores.update(zip(both, sums, strict=True))
        if len(sums) >= limit:
            least = max(least, sorted(sums)[-limit])
    found = sorted([key for key, score in scores.items() if score >= least])
    return sorted(found, key=scores.__getitem__, reverse=True)[:limit]


def best_of_files(
    db: apsw.Connection,
    segments: Segments,
    weights: Mapping[str, float],
    bm25: Bm25,
    within: Set[int] | None,
    limit: int,
) -> list[ChunkKey]:
    """The best chunks of the files that hold most of the terms: each file's best one, by both together."""
    ranked, files = segments.ranked(db, bm25, weights, within), segments.files(db, bm25, weights, within)
    lists = [(weight, files[term], ranked[term].impacts, ranked[term].order) for term, weight in weights.items()]
    several: set[int] = set()
    met: set[int] = set()
    for _, holding, _, _ in lists:
        several |= holding & met
        met |= holding
    held = dict.fromkeys(several, 0.0)
    shares: list[float] = []
    for weight, holding, _, _ in lists:
        shared = holding & several
        shares += [weight] * min(len(holding) - len(shared), limit)
        for file in shared:
            held[file] += weight
    shares += held.values()
    enough = sorted(shares, reverse=True)[limit - 1] if len(shares) > limit else 0.0
    scores: dict[ChunkKey, float] = {}
    top = {file for file, share in held.items() if share >= enough}
    for weight, holding, impacts, order in lists:
        if not top.isdisjoint(holding):
            for key in [key for key in impacts if key >> CHUNK_BITS in top]:
                scores[key] = scores.get(key, 0.0) + weight * impacts[key]
        if weight >= enough:
            for key in _best_of_each(order, impacts, several, limit):
                held[key >> CHUNK_BITS] = weight
                scores[key] = weight * impacts[key]
    at: dict[int, ChunkKey] = {}
    for key in sorted(scores):
        known = at.setdefault(key >> CHUNK_BITS, key)
        if scores[key] > scores[known]:
            at[key >> CHUNK_BITS] = key
    return sorted(at.values(), key=lambda key: (-held[key >> CHUNK_BITS] - scores[key], key))[:limit]


def _best_of_each(
    order: Sequence[ChunkKey], impacts: Mapping[ChunkKey, float], without: Set[int], limit: int
) -> list[ChunkKey]:
    """The best chunk of each file but some, of as many as are wanted and those that equal the last of them."""
    found: list[ChunkKey] = []
    seen: set[int] = set()
    least = 0.0
    for key in order:
        if (file := key >> CHUNK_BITS) in without:
            continue
        if impacts[key] < least:
            break
        if file not in seen:
            seen.add(file)
            found.append(key)
            least = impacts[key] if len(found) == limit else least
    return found


def held(
    db: apsw.Connection, segments: Segments, weights: Mapping[str, float], bm25: Bm25, keys: Sequence[ChunkKey]
) -> list[tuple[float, float]]:
    """Of each chunk: the weights of the terms that it holds, added up, and of those that its file holds anywhere."""
    ranked, files = segments.ranked(db, bm25, weights), segments.files(db, bm25, weights)
    lists = [(weight, ranked[term].impacts, files[term]) for term, weight in weights.items()]
    found: list[tuple[float, float]] = []
    for key in keys:
        file, by_chunk, by_file = key >> CHUNK_BITS, 0.0, 0.0
        for weight, impacts, holding in lists:
            if file in holding:
                by_file += weight
                if key in impacts:
                    by_chunk += weight
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
        if (known := ranked.get(term)) is None:
            further[term] = weight
            continue
        impacts = known.impacts
        for key in impacts.keys() & sums.keys():
            sums[key] += weight * impacts[key]
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
