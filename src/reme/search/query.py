"""Search: query → candidates → scores → nodes, best first, with their neighbours.

Owns the order of the stages. Read-only; knows neither the store nor any model.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final, NamedTuple

from reme.clock import Clock
from reme.errors import InvalidInput
from reme.index import (
    ChunkTokens,
    Filter,
    Index,
    IndexDamaged,
    IndexedNote,
    KeywordStatistics,
    Standing,
    StoredChunk,
    refresh,
)
from reme.paths import fold
from reme.search.expand import expand
from reme.search.result import Evidence, Hit, HitChunk, SearchResult
from reme.search.scope import filter_of, within
from reme.search.score import Factors, choosing_terms, context, coverages, factors
from reme.search.settings import MAX_DEPTH, MAX_LIMIT, SearchSettings
from reme.vault import Layer, Vault

__all__ = ["search"]

_FEWEST_CANDIDATES: Final = 50
_MOST_CANDIDATES: Final = 200


def search(
    index: Index,
    clock: Clock,
    settings: SearchSettings,
    query: str,
    *,
    limit: int = 5,
    layers: Sequence[str] = (),
    paths: Sequence[str] = (),
    tags: Sequence[str] = (),
    where: Mapping[str, object] | None = None,
    start_date: str | None = None,
    end_date: str | None = None,
    min_score: float = 0.0,
    top_chunks_per_path: int | None = None,
    expand_depth: int | None = None,
    max_links_per_direction: int | None = None,
    expand_path_budget: int | None = None,
    vault: Vault | None = None,
) -> SearchResult:
    """The nodes that answer a query best. Nothing in the query is syntax.

    Args:
        index: The index.
        clock: The present, for recency, and the zone that days are in.
        settings: The constants; what is None below is taken from them.
        query: What to look for, in any language.
        limit: Most nodes, 1 to ``MAX_LIMIT``.
        layers: Only these layers.
        paths: Only below these folders, these files, or matching these globs.
        tags: Only nodes with all of these tags.
        where: Only nodes with these properties or fields.
        start_date: Only nodes (and turns of dialogues) of this day, ``YYYY-MM-DD``, or later; a node without a date has
            that of its last modification.
        end_date: Only those of this day or earlier.
        min_score: Only scores from here on; the scale is that of ``Evidence.score``.
        top_chunks_per_path: Most chunks a node.
        expand_depth: How many links away neighbours are listed, 0 to ``MAX_DEPTH``.
        max_links_per_direction: Most neighbours of one node in one direction.
        expand_path_budget: Most neighbours in all.
        vault: Where given, nodes whose file is gone are left out, and a damaged index is built anew at once.

    Raises:
        InvalidInput: For a limit, depth, layer, path or date that cannot be.
        Unavailable: If the index cannot be read.
    """
    within("limit", limit, 1, MAX_LIMIT)
    chosen = replace(
        settings,
        top_chunks_per_path=within(
            "top_chunks_per_path", _or(top_chunks_per_path, settings.top_chunks_per_path), 1, 100
        ),
        expand_depth=within("expand_depth", _or(expand_depth, settings.expand_depth), 0, MAX_DEPTH),
        max_links_per_direction=within(
            "max_links_per_direction", _or(max_links_per_direction, settings.max_links_per_direction), 0, 1000
        ),
        expand_path_budget=within("expand_path_budget", _or(expand_path_budget, settings.expand_path_budget), 0, 1000),
    )
    if math.isnan(min_score):
        raise InvalidInput("min_score must be a number", details={"field": "min_score"})

    def answer() -> SearchResult:
        with index.snapshot():
            unsearched: frozenset[Layer] = frozenset(x for x, weight in settings.layer_weights.items() if weight <= 0)
            wanted = filter_of(
                index,
                clock,
                layers=layers,
                without_layers=unsearched,
                paths=paths,
                tags=tags,
                where=where,
                start_date=start_date,
                end_date=end_date,
            )
            return _answer(index, clock, chosen, query, wanted, limit, min_score, vault)

    try:
        return answer()
    except IndexDamaged:
        if vault is None:
            raise
        refresh(index, vault)
        return answer()


def _or(given: int | None, default: int) -> int:
    return default if given is None else given


def _answer(
    index: Index,
    clock: Clock,
    settings: SearchSettings,
    query: str,
    wanted: Filter,
    limit: int,
    min_score: float,
    vault: Vault | None,
) -> SearchResult:
    legs = {"keyword": "used", "vector": "no embedder"}
    terms = index.terms(query)
    statistics = index.statistics(terms)
    keys = _candidates(index, terms, statistics, wanted, limit, settings)
    if not keys:
        return SearchResult(query, (), legs=legs)
    chunks = [chunk for chunk in index.around(keys, len(settings.near)) if _in_time(chunk, wanted)]
    standings = index.standings(sorted({chunk.note for chunk in chunks}))
    own = coverages(chunks, terms, statistics, _named_speakers(chunks, query), settings)
    if settings.fusion == "context":
        scores = context(chunks, own, {note: standing.chunks for note, standing in standings.items()}, settings)
    else:
        ranks = {key: rank for rank, key in enumerate(keys, 1)}
        scores = [_reciprocal(ranks.get(chunk.key), settings) for chunk in chunks]
    found = [node for node in _nodes(clock, chunks, scores, standings, settings) if node.score >= min_score]
    there = (node for node in found if vault is None or vault.exists(node.standing.path))
    shown = list(islice(there, limit))
    best = {node.note: node.chunks[: settings.top_chunks_per_path] for node in shown}
    rows = index.rows_of([node.standing.path for node in shown])
    texts = index.chunks([chunks[i].key for positions in best.values() for i in positions])
    hits: list[Hit] = []
    for node in shown:
        cut = [(texts[chunks[i].key], scores[i]) for i in best[node.note] if chunks[i].key in texts]
        evidence = _evidence(node, scores[node.chunks[0]], own[node.chunks[0]])
        hits.append(_hit(rows[node.standing.path], evidence, cut, settings))
    return SearchResult(query, expand(index, hits, settings), truncated=len(found) > limit == len(shown), legs=legs)


def _candidates(
    index: Index,
    terms: Sequence[str],
    statistics: KeywordStatistics,
    wanted: Filter,
    limit: int,
    settings: SearchSettings,
) -> list[int]:
    """The best matches of the rarer terms; of all of them if a filter leaves too few."""
    most = min(_MOST_CANDIDATES, max(_FEWEST_CANDIDATES, limit * 5))
    chosen = choosing_terms(terms, statistics, settings)
    keys = index.candidates(chosen, wanted, most, settings.column_weights)
    if len(keys) < limit:
        occurring = [term for term in terms if statistics.frequencies[term]]
        if len(occurring) > len(chosen):
            further = index.candidates(occurring[: settings.most_terms], wanted, most, settings.column_weights)
            keys = list(dict.fromkeys((*keys, *further)))
    return keys


def _in_time(chunk: ChunkTokens, wanted: Filter) -> bool:
    if chunk.date is None:
        return True
    return not (wanted.start_date and chunk.date < wanted.start_date) and not (
        wanted.end_date and chunk.date > wanted.end_date
    )


def _reciprocal(rank: int | None, settings: SearchSettings) -> float:
    return 0.0 if rank is None else settings.text_weight / (settings.rrf_k + rank)


def _named_speakers(chunks: Sequence[ChunkTokens], query: str) -> frozenset[str]:
    """The speaker whom the query names, if it names exactly one of those who speak here."""
    speakers = {chunk.speaker for chunk in chunks if chunk.speaker}
    asked = fold(query)
    named = frozenset(speaker for speaker in speakers if re.search(rf"(?<!\w){re.escape(fold(speaker))}(?!\w)", asked))
    return named if len(named) == 1 else frozenset()


class _Node(NamedTuple):
    """A node that answers; ``chunks`` are places in the list of chunks, best first."""

    score: float
    note: int
    standing: Standing
    factors: Factors
    chunks: list[int]


def _nodes(
    clock: Clock,
    chunks: Sequence[ChunkTokens],
    scores: Sequence[float],
    standings: Mapping[int, Standing],
    settings: SearchSettings,
) -> list[_Node]:
    """Chunks grouped by node, nodes by score."""
    groups: dict[int, list[int]] = {}
    for i, chunk in enumerate(chunks):
        if scores[i] > 0:
            groups.setdefault(chunk.note, []).append(i)
    now = int(clock.now().timestamp() * 1e9)
    nodes: list[_Node] = []
    for note, positions in groups.items():
        standing = standings[note]
        positions.sort(key=lambda i: -scores[i])
        multiplied = factors(standing, now, settings)
        nodes.append(_Node(scores[positions[0]] * multiplied.product, note, standing, multiplied, positions))
    nodes.sort(key=lambda node: (-node.score, node.standing.path))
    return nodes


def _evidence(node: _Node, base: float, keyword: float) -> Evidence:
    multiplied = node.factors
    return Evidence(
        score=node.score,
        base=base,
        keyword=keyword,
        centrality=multiplied.centrality,
        recency=multiplied.recency,
        layer=multiplied.layer,
        inlinks=node.standing.inlinks,
    )


def _hit(
    note: IndexedNote, evidence: Evidence, cut: Sequence[tuple[StoredChunk, float]], settings: SearchSettings
) -> Hit:
    surfaced = settings.surface_node
    return Hit(
        path=note.path,
        layer=note.layer,
        name=note.name if surfaced else "",
        description=note.description if surfaced else "",
        date=note.date,
        score=evidence.score,
        evidence=evidence,
        chunks=tuple(
            HitChunk(text.line, text.end_line, text.trail, text.text, score, text.speaker, text.date)
            for text, score in cut
        ),
    )
