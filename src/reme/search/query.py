"""Search: query → candidates → scores → nodes, best first, with their neighbours.

Owns the order of the stages. Read-only; knows neither the store nor any model.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, time
from heapq import heappop, heappush
from itertools import takewhile
from operator import itemgetter
from types import MappingProxyType
from typing import Final, NamedTuple

from reme.clock import Clock
from reme.errors import InvalidInput
from reme.index import ChunkKey, Index, IndexDamaged, Standing, StoredChunk, refresh
from reme.models import Embedder
from reme.paths import VaultPath
from reme.search.expand import expand
from reme.search.legs import Found, find
from reme.search.origin import Origin, as_origin, lowest
from reme.search.result import Evidence, ExplainedChunk, Explanation, Hit, HitChunk, Linked, SearchResult, marks_about
from reme.search.scope import filter_of, topic_files, within
from reme.search.score import Factors, context, factors, idf, most_of_factors
from reme.search.settings import MAX_DEPTH, MAX_LIMIT, SearchSettings
from reme.search.signals import NO_SIGNALS, Signals, Standpoint
from reme.vault import SIDECAR_SUFFIX, Layer, Vault

__all__ = ["search"]

_SEEDS: Final = 3
_RANGES: Final[Mapping[str, tuple[int, int]]] = MappingProxyType(
    {
        "top_chunks_per_path": (1, 100),
        "expand_depth": (0, MAX_DEPTH),
        "max_links_per_direction": (0, 1_000),
        "expand_path_budget": (0, 1_000),
    }
)


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
    resource_origin: Callable[[VaultPath], Origin] | None = None,
) -> SearchResult:
    """The nodes that answer a query best. Nothing in the query is syntax.

    Args:
        index: The index.
        clock: The present, for recency, and the zone that days are in.
        settings: The constants; what is None below is taken from them.
        query: What to look for, in any language.
        limit: Most nodes, 1 to ``MAX_LIMIT``.
        layers: Only these layers.
        paths: Only below these folders, these files, or matching these globs. What a day takes up as topics, which only
            repeats what notes say, is searched where it is named here.
        tags: Only nodes with all of these tags.
        where: Only nodes with these properties or fields.
        start_date: Only nodes (and turns of dialogues) of this day, as ``Clock.day`` takes it, or later; a node without
            a date has that of its last modification.
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
        resource_origin: Tells what is recorded of a resource, which is trusted no more than that.

    Raises:
        InvalidInput: For a limit, depth, layer, tag or date that cannot be.
        NotFound: For a path that nothing is at.
        Unavailable: If the index cannot be read.
    """
    within("limit", limit, 1, MAX_LIMIT)
    asked = {
        "top_chunks_per_path": top_chunks_per_path,
        "expand_depth": expand_depth,
        "max_links_per_direction": max_links_per_direction,
        "expand_path_budget": expand_path_budget,
    }
    given = {name: number for name, number in asked.items() if number is not None}
    chosen = replace(settings, **given) if given else settings
    for name, (low, high) in _RANGES.items():
        within(name, getattr(chosen, name), low, high)
    if math.isnan(min_score):
        raise InvalidInput("min_score must be a number", details={"field": "min_score"})
    chosen = _weighted(chosen, weights or {})
    known = signals.at(clock.now()) if signals else NO_SIGNALS

    def answer() -> SearchResult:
        with index.snapshot():
            unsearched = _unsearched(settings, include_archived, paths, index)
            put_aside = known.archived.difference(paths) if paths else known.archived
            archived = frozenset[str]() if include_archived else put_aside
            wanted = filter_of(
                index,
                clock,
                layers=layers,
                without_layers=unsearched,
                without_paths=archived | topic_files(index).difference(paths),
                paths=paths,
                tags=tags,
                where=where,
                start_date=start_date,
                end_date=end_date,
            )
            found = find(index, chosen, query, query_rewrite or query, wanted, limit, embedder)
            result = _answer(index, clock, chosen, found, known, archived, limit, min_score, vault, explain)
            if resource_origin is not None:
                result = replace(result, hits=tuple(_trusted(hit, resource_origin) for hit in result.hits))
            return result

    try:
        return answer()
    except IndexDamaged:
        if vault is None:
            raise
        refresh(index, vault)
        return answer()


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
    own = scores = found.own
    if settings.fusion == "context":
        standing_out = _standing_out(own, found.vector, settings.vector_share)
        around = context(found.keys, standing_out, found.files, settings)
        scores = [score + more - out for score, more, out in zip(own, around, standing_out, strict=True)]
    resources = _resources(index, found.files)
    shown: list[_Node] = []
    met: set[VaultPath] = set()
    for node in takewhile(
        lambda node: node.score >= min_score, _nodes(clock, found.files, resources, scores, signals, settings)
    ):
        if (path := node.standing.path) in met:
            continue  # a resource that is found by its sidecar, too
        met.add(path)
        if len(shown) == limit:
            break
        if vault is None or vault.exists(path):
            shown.append(node)
    best = [_best(node, scores)[: settings.top_chunks_per_path] for node in shown]
    texts = index.chunks([found.keys[i] for places in best for i in places]) if shown else {}
    linked = expand(index, [node.standing.path for node in shown], settings, archived) if shown else {}
    statistics = found.statistics
    weights = {term: idf(statistics.chunks, count) for term, count in statistics.frequencies.items()}

    def weight(line: str) -> float:
        return sum(weights.get(term, 0.0) for term in index.terms(line))

    hits: list[Hit] = []
    for node, places in zip(shown, best, strict=True):
        cut = [(texts[found.keys[i]], scores[i]) for i in places if found.keys[i] in texts]
        path = node.standing.path
        evidence = _evidence(node, places[0], scores, found)
        hits.append(_hit(clock, node, evidence, cut, linked[path, "out"], linked[path, "in"], settings, weight))
    return SearchResult(
        query=found.query,
        hits=tuple(hits),
        truncated=len(met) > limit == len(shown),
        legs=found.legs,
        warnings=(*found.warnings, *signals.warnings),
        signals_freshness=dict(signals.freshness),
        explanation=_explanation(settings, found, scores, zip(shown, best, strict=True), texts) if explain else None,
    )


def _resources(index: Index, files: Sequence[tuple[Standing, int]]) -> Mapping[VaultPath, Standing]:
    """The resources that sidecars among these files tell of: what is found in a sidecar is a hit of its resource."""
    sidecars = [
        standing.path
        for standing, _ in files
        if standing.layer == "resource" and standing.path.endswith(SIDECAR_SUFFIX)
    ]
    if not sidecars:
        return {}
    there = index.standings([VaultPath(path.removesuffix(SIDECAR_SUFFIX)) for path in sidecars])
    found = ((path, there.get(VaultPath(path.removesuffix(SIDECAR_SUFFIX)))) for path in sidecars)
    return {path: resource for path, resource in found if resource is not None}


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
    """A node that answers; its chunks are from place ``first`` to before ``end`` in the list of chunks.

    They stand in the file ``beside`` it, where that is given.
    """

    score: float
    standing: Standing
    factors: Factors
    first: int
    end: int
    beside: VaultPath | None


def _nodes(
    clock: Clock,
    files: Sequence[tuple[Standing, int]],
    resources: Mapping[VaultPath, Standing],
    scores: Sequence[float],
    signals: Standpoint,
    settings: SearchSettings,
) -> Iterator[_Node]:
    """The nodes, best first; the factors of one are worked out when no other can come before it any more."""
    groups: list[tuple[float, int, int, Standing, VaultPath | None]] = []
    first = 0
    for standing, count in files:
        end = first + count
        if (base := max(scores[first:end])) > 0:
            if (resource := resources.get(standing.path)) is not None:
                groups.append((base, first, end, resource, standing.path))
            else:
                groups.append((base, first, end, standing, None))
        first = end
    groups.sort(key=itemgetter(0), reverse=True)
    near = _near_the_best([group[3].path for group in groups[:_SEEDS]], signals.communities)
    most = most_of_factors(max((group[3].inlinks for group in groups), default=0), settings)
    now = int(clock.now().timestamp() * 1e9)
    waiting: list[tuple[float, VaultPath, _Node]] = []
    for base, first, end, standing, beside in groups:
        while waiting and -waiting[0][0] > base * most:
            yield heappop(waiting)[2]
        in_community = signals.communities.get(standing.path) in near if signals.communities else None
        multiplied = factors(_as_used(standing, signals, clock), now, in_community, settings)
        node = _Node(base * multiplied.product, standing, multiplied, first, end, beside)
        heappush(waiting, (-node.score, standing.path, node))
    while waiting:
        yield heappop(waiting)[2]


def _best(node: _Node, scores: Sequence[float]) -> list[int]:
    """The places of a node's chunks that answer, best first."""
    found = [i for i in range(node.first, node.end) if scores[i] > 0]
    return sorted(found, key=scores.__getitem__, reverse=True)


def _as_used(standing: Standing, signals: Standpoint, clock: Clock) -> Standing:
    """A node's standing, as old as its last use where that is later than its last change."""
    if (day := signals.last_use.get(standing.path)) is None:
        return standing
    try:
        used = datetime.combine(date.fromisoformat(day), time(), clock.zone).timestamp()
    except ValueError:
        return standing
    return standing._replace(mtime_ns=max(standing.mtime_ns, int(used * 1e9)))


def _near_the_best(seeds: Sequence[VaultPath], communities: Mapping[str, str | int]) -> frozenset[str | int]:
    """The communities of the nodes of the best chunks."""
    return frozenset(communities[path] for path in seeds if path in communities)


def _evidence(node: _Node, best: int, scores: Sequence[float], found: Found) -> Evidence:
    multiplied = node.factors
    return Evidence(
        score=node.score,
        base=scores[best],
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
    outlinks: tuple[Linked, ...],
    inlinks: tuple[Linked, ...],
    settings: SearchSettings,
    weight: Callable[[str], float],
) -> Hit:
    standing, surfaced = node.standing, settings.surface_node
    return Hit(
        path=standing.path,
        layer=standing.layer,
        name=standing.name if surfaced else "",
        description=standing.description if surfaced else "",
        date=standing.date or _modified(clock, standing),
        origin=as_origin(standing.origin),
        score=evidence.score,
        evidence=evidence,
        chunks=tuple(
            HitChunk(
                text.line,
                text.end_line,
                text.trail,
                text.text,
                score,
                text.speaker,
                text.date,
                marks_about(text.text, weight),
                node.beside,
            )
            for text, score in cut
            if text.text.strip()  # a note without a body is found by its name and properties alone
        ),
        outlinks=outlinks,
        inlinks=inlinks,
    )


def _modified(clock: Clock, standing: Standing) -> str:
    return datetime.fromtimestamp(standing.mtime_ns // 1_000_000_000, clock.zone).date().isoformat()


def _trusted(hit: Hit, resource_origin: Callable[[VaultPath], Origin]) -> Hit:
    """A hit that is of no better origin than what is recorded of the resource that it is."""
    if hit.layer != "resource":
        return hit
    return replace(hit, origin=lowest((hit.origin or "person", resource_origin(hit.path))))


def _explanation(
    settings: SearchSettings,
    found: Found,
    scores: Sequence[float],
    shown: Iterable[tuple[_Node, Sequence[int]]],
    texts: Mapping[ChunkKey, StoredChunk],
) -> Explanation:
    statistics = found.statistics
    explained = [
        ExplainedChunk(
            path=node.beside or node.standing.path,
            line=texts[key].line,
            keyword_rank=found.keyword_ranks.get(key),
            vector_rank=found.vector_ranks.get(key),
            keyword=found.keyword[i],
            cosine=found.cosines.get(key),
            own=found.own[i],
            with_context=scores[i],
        )
        for node, best in shown
        for i in best
        if (key := found.keys[i]) in texts
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
