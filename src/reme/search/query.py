"""Search: query → candidates → scores → nodes, best first, with their neighbours.

Owns the order of the stages. Read-only; knows neither the store nor any model.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time
from itertools import islice
from typing import Final, NamedTuple

from reme.clock import Clock
from reme.errors import InvalidInput
from reme.index import ChunkPlace, Index, IndexDamaged, Standing, StoredChunk, refresh
from reme.models import Embedder
from reme.paths import VaultPath
from reme.search.expand import expand
from reme.search.legs import Found, find
from reme.search.origin import as_origin
from reme.search.result import Evidence, ExplainedChunk, Explanation, Hit, HitChunk, SearchResult, marks_of
from reme.search.scope import filter_of, within
from reme.search.score import Factors, context, factors, idf
from reme.search.settings import MAX_DEPTH, MAX_LIMIT, SearchSettings
from reme.search.signals import NO_SIGNALS, Signals, Standpoint
from reme.vault import Layer, Vault

__all__ = ["search"]

_SEEDS: Final = 3


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
    query_rewrite: str | None = None,
    include_archived: bool = False,
    weights: Mapping[str, float] | None = None,
    explain: bool = False,
    embedder: Embedder | None = None,
    signals: Signals | None = None,
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
        min_score: Only scores from here on; the scale is that of ``Evidence.score``: 1 is about every word of the
            query in a chunk, or as much likeness; with ``rrf``, 1/60 is about the first place.
        top_chunks_per_path: Most chunks a node.
        expand_depth: How many links away neighbours are listed, 0 to ``MAX_DEPTH``.
        max_links_per_direction: Most neighbours of one node in one direction.
        expand_path_budget: Most neighbours in all.
        query_rewrite: What the vector leg looks for instead of the query, such as an answer that might stand there.
        include_archived: Whether the archive is searched too; also by naming its layer or a path in it.
        weights: Of the legs ``vector`` and ``keyword``, relative to each other; 0 turns a leg off.
        explain: Whether to tell how the result came about.
        embedder: What the index's vectors are of; without it, words alone decide, and the result says so.
        signals: What maintenance knows of the notes: communities, last use, which are archived.
        vault: Where given, nodes whose file is gone are left out, and a damaged index is built anew at once.

    Raises:
        InvalidInput: For a limit, depth, layer, tag or date that cannot be.
        NotFound: For a path that nothing is at.
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
    chosen = _weighted(chosen, weights or {})
    known = signals.at(clock.now()) if signals else NO_SIGNALS

    def answer() -> SearchResult:
        with index.snapshot():
            unsearched = _unsearched(settings, include_archived, paths, index)
            archived = frozenset[str]() if include_archived else known.archived.difference(paths)
            wanted = filter_of(
                index,
                clock,
                layers=layers,
                without_layers=unsearched,
                without_paths=archived,
                paths=paths,
                tags=tags,
                where=where,
                start_date=start_date,
                end_date=end_date,
            )
            found = find(index, chosen, query, query_rewrite or query, wanted, limit, embedder)
            return _answer(index, clock, chosen, found, known, archived, limit, min_score, vault, explain)

    try:
        return answer()
    except IndexDamaged:
        if vault is None:
            raise
        refresh(index, vault)
        return answer()


def _or(given: int | None, default: int) -> int:
    return default if given is None else given


def _weighted(settings: SearchSettings, weights: Mapping[str, float]) -> SearchSettings:
    """The settings with other weights of the legs."""
    for leg, weight in weights.items():
        if leg not in ("vector", "keyword"):
            hint = "Legs are: vector, keyword."
            raise InvalidInput(f"there is no leg {leg!r}", hint=hint, details={"field": "weights"})
        if not 0 <= weight < math.inf:
            raise InvalidInput("a weight must be a number from 0 on", details={"field": "weights"})
    if not weights:
        return settings
    vector, keyword = weights.get("vector", 1.0), weights.get("keyword", 1.0)
    if not vector + keyword:
        raise InvalidInput("one leg must have a weight", details={"field": "weights"})
    return replace(
        settings,
        vector_share=vector / (vector + keyword),
        vector_weight=vector / (vector + keyword),
        text_weight=keyword / (vector + keyword),
    )


def _unsearched(
    settings: SearchSettings, include_archived: bool, paths: Sequence[str], index: Index
) -> frozenset[Layer]:
    """The layers that are searched only where they are asked for."""
    unsearched: set[Layer] = {layer for layer, weight in settings.layer_weights.items() if weight <= 0}
    named = any(index.layout.layer_of(VaultPath(f"{path.strip('/')}/x")) == "archive" for path in paths)
    if not (include_archived or named):
        unsearched.add("archive")
    return frozenset(unsearched)


def _answer(
    index: Index,
    clock: Clock,
    settings: SearchSettings,
    found: Found,
    signals: Standpoint,
    archived: frozenset[str],
    limit: int,
    min_score: float,
    vault: Vault | None,
    explain: bool,
) -> SearchResult:
    chunks, own = found.chunks, found.own
    standings = index.standings(sorted({chunk.note for chunk in chunks})) if chunks else {}
    scores = own
    if settings.fusion == "context":
        standing_out = _standing_out(own, found.vector, settings.vector_share)
        sizes = {note: standing.chunks for note, standing in standings.items()}
        around = context(chunks, standing_out, sizes, settings)
        scores = [score + more - out for score, more, out in zip(own, around, standing_out, strict=True)]
    nodes = [node for node in _nodes(clock, chunks, scores, standings, signals, settings) if node.score >= min_score]
    there = (node for node in nodes if vault is None or vault.exists(node.standing.path))
    shown = list(islice(there, limit))
    best = {node.note: node.chunks[: settings.top_chunks_per_path] for node in shown}
    texts = index.chunks([chunks[i].key for positions in best.values() for i in positions]) if shown else {}
    hits: list[Hit] = []
    for node in shown:
        cut = [(texts[chunks[i].key], scores[i]) for i in best[node.note] if chunks[i].key in texts]
        hits.append(_hit(clock, node, _evidence(node, scores[node.chunks[0]], found), cut, settings))
    return SearchResult(
        query=found.query,
        hits=expand(index, hits, settings, archived) if hits else (),
        truncated=len(nodes) > limit == len(shown),
        legs=found.legs,
        warnings=(*found.warnings, *signals.warnings),
        signals_freshness=dict(signals.freshness),
        explanation=_explanation(settings, found, scores, shown, best, texts) if explain else None,
    )


def _standing_out(own: Sequence[float], vector: Sequence[float | None], share: float) -> list[float]:
    """What of each score counts for what stands around it: likeness only above the median of all that are looked at.

    Texts of one language, or of one kind, are all somewhat alike to a model. Were that to count, the pieces of long
    files would gain by each other, and a note that stands alone would hardly be found by what it means.
    """
    known = sorted(likeness for likeness in vector if likeness is not None)
    if not known:
        return list(own)
    middle = known[(len(known) - 1) // 2]
    return [o if v is None else o - share * min(v, middle) for o, v in zip(own, vector, strict=True)]


class _Node(NamedTuple):
    """A node that answers; ``chunks`` are places in the list of chunks, best first."""

    score: float
    note: int
    standing: Standing
    factors: Factors
    chunks: list[int]


def _nodes(
    clock: Clock,
    chunks: Sequence[ChunkPlace],
    scores: Sequence[float],
    standings: Mapping[int, Standing],
    signals: Standpoint,
    settings: SearchSettings,
) -> list[_Node]:
    """Chunks grouped by node, nodes by score."""
    groups: dict[int, list[int]] = {}
    for i in sorted((i for i, score in enumerate(scores) if score > 0), key=lambda i: -scores[i]):
        groups.setdefault(chunks[i].note, []).append(i)
    near = _near_the_best(groups, standings, signals.communities)
    now = int(clock.now().timestamp() * 1e9)
    nodes: list[_Node] = []
    for note, positions in groups.items():
        standing = standings[note]
        in_community = signals.communities.get(standing.path) in near if signals.communities else None
        multiplied = factors(_as_used(standing, signals, clock), now, in_community, settings)
        nodes.append(_Node(scores[positions[0]] * multiplied.product, note, standing, multiplied, positions))
    nodes.sort(key=lambda node: (-node.score, node.standing.path))
    return nodes


def _as_used(standing: Standing, signals: Standpoint, clock: Clock) -> Standing:
    """A node's standing, as old as its last use where that is later than its last change."""
    if (day := signals.last_use.get(standing.path)) is None:
        return standing
    try:
        used = datetime.combine(date.fromisoformat(day), time(), clock.zone).timestamp()
    except ValueError:
        return standing
    return standing._replace(mtime_ns=max(standing.mtime_ns, int(used * 1e9)))


def _near_the_best(
    groups: Mapping[int, Sequence[int]], standings: Mapping[int, Standing], communities: Mapping[str, str | int]
) -> frozenset[str | int]:
    """The communities of the nodes of the best chunks; groups come in the order of their best chunks."""
    if not communities:
        return frozenset()
    seeds = (standings[note].path for note in islice(groups, _SEEDS))
    return frozenset(communities[path] for path in seeds if path in communities)


def _evidence(node: _Node, base: float, found: Found) -> Evidence:
    multiplied = node.factors
    best = node.chunks[0]
    return Evidence(
        score=node.score,
        base=base,
        keyword=found.keyword[best],
        vector=found.vector[best],
        centrality=multiplied.centrality,
        community=multiplied.community,
        recency=multiplied.recency,
        layer=multiplied.layer,
        inlinks=node.standing.inlinks,
    )


def _hit(
    clock: Clock,
    node: _Node,
    evidence: Evidence,
    cut: Sequence[tuple[StoredChunk, float]],
    settings: SearchSettings,
) -> Hit:
    standing, surfaced = node.standing, settings.surface_node
    modified = clock.local(datetime.fromtimestamp(standing.mtime_ns // 1_000_000_000, UTC))
    return Hit(
        path=standing.path,
        layer=standing.layer,
        name=standing.name if surfaced else "",
        description=standing.description if surfaced else "",
        date=standing.date or modified.date().isoformat(),
        origin=as_origin(standing.origin),
        score=evidence.score,
        evidence=evidence,
        chunks=tuple(
            HitChunk(
                text.line, text.end_line, text.trail, text.text, score, text.speaker, text.date, marks_of(text.text)
            )
            for text, score in cut
            if text.text.strip()  # a note without a body is found by its name and properties alone
        ),
    )


def _explanation(
    settings: SearchSettings,
    found: Found,
    scores: Sequence[float],
    shown: Sequence[_Node],
    best: Mapping[int, Sequence[int]],
    texts: Mapping[int, StoredChunk],
) -> Explanation:
    statistics = found.statistics
    explained = [
        ExplainedChunk(
            path=node.standing.path,
            line=texts[key].line,
            keyword_rank=found.keyword_ranks.get(key),
            vector_rank=found.vector_ranks.get(key),
            keyword=found.keyword[i],
            cosine=found.cosines.get(key),
            own=found.own[i],
            with_context=scores[i],
        )
        for node in shown
        for i in best[node.note]
        if (key := found.chunks[i].key) in texts
    ]
    frequencies = statistics.frequencies
    return Explanation(
        fusion=settings.fusion,
        terms=tuple((term, count, idf(statistics.chunks, count)) for term, count in frequencies.items()),
        chosen=found.chosen,
        keyword_candidates=len(found.keyword_ranks),
        vector_candidates=len(found.vector_ranks),
        vector_query=found.vector_query if found.vector_query != found.query else None,
        chunks=tuple(explained),
    )
