"""The two legs of a search: by words and by vectors, and what each chunk scores by itself.

Owns the choice of candidates and the honesty about a leg that is missing: the other one then decides alone.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from reme.index import ChunkKey, ChunkPlace, Filter, Index, KeywordStatistics, Matches
from reme.models import Embedder
from reme.paths import fold
from reme.search.score import choosing_terms, coverages, fused, idf, likeness, reciprocal
from reme.search.settings import SearchSettings

__all__ = ["Found", "find"]

_FEWEST_CANDIDATES: Final = 50
_MOST_CANDIDATES: Final = 200


class Found(NamedTuple):
    """What the legs found.

    Attributes:
        chunks: The candidates and those near them, in the order of files and places.
        keyword: Coverage of the query by each chunk's own words.
        vector: Calibrated likeness of each chunk; None without a vector, or without the leg.
        own: Both fused: what each chunk scores by itself.
        chosen: The terms that candidates were looked for by.
    """

    query: str
    vector_query: str
    statistics: KeywordStatistics
    chosen: tuple[str, ...]
    chunks: Sequence[ChunkPlace]
    keyword: Sequence[float]
    vector: Sequence[float | None]
    own: Sequence[float]
    cosines: Mapping[ChunkKey, float]
    keyword_ranks: Mapping[ChunkKey, int]
    vector_ranks: Mapping[ChunkKey, int]
    legs: dict[str, str]
    warnings: tuple[str, ...]


def find(
    index: Index,
    settings: SearchSettings,
    query: str,
    vector_query: str,
    wanted: Filter,
    limit: int,
    embedder: Embedder | None,
) -> Found:
    """The candidates of both legs, and their scores by themselves."""
    most = min(_MOST_CANDIDATES, max(_FEWEST_CANDIDATES, limit * 5))
    legs = {"keyword": "used" if settings.vector_share < 1 else "off"}
    warnings: list[str] = []
    asked = _asked(index, settings, vector_query, embedder, legs, warnings)
    terms = index.terms(query) if settings.vector_share < 1 else ()
    statistics = index.statistics(terms)
    chosen = choosing_terms(terms, statistics, settings)
    weights = {term: idf(statistics.chunks, frequency) for term, frequency in statistics.frequencies.items()}
    looked_for, matches = _matches(index, weights, chosen, statistics, wanted, limit, most, settings)
    by_words = matches.best
    nearest = index.nearest(asked, wanted, most) if asked is not None else []
    keys = list(dict.fromkeys((*by_words, *nearest)))
    chunks = [chunk for chunk in index.around(keys, len(settings.near)) if _in_time(chunk, wanted)]
    further = {term: weights[term] for term in terms if statistics.frequencies[term] and term not in looked_for}
    relevance = _relevance(index, matches, further, chunks, settings)
    keyword = coverages(relevance, sum(weights.values()), chunks, _named_speakers(chunks, query), settings)
    cosines = index.cosines(asked, [chunk.key for chunk in chunks]) if asked is not None else {}
    vector = _likenesses(chunks, cosines, embedder, settings)
    keyword_ranks = {key: rank for rank, key in enumerate(by_words, 1)}
    vector_ranks = {key: rank for rank, key in enumerate(nearest, 1)}
    if settings.fusion == "rrf":
        shares = (settings.text_weight, settings.vector_weight)
        own = [reciprocal(keyword_ranks.get(c.key), vector_ranks.get(c.key), shares, settings.rrf_k) for c in chunks]
    else:
        own = fused(keyword, vector, settings.vector_share)
    return Found(
        query=query,
        vector_query=vector_query,
        statistics=statistics,
        chosen=tuple(chosen),
        chunks=chunks,
        keyword=keyword,
        vector=vector,
        own=own,
        cosines=cosines,
        keyword_ranks=keyword_ranks,
        vector_ranks=vector_ranks,
        legs=legs,
        warnings=tuple(warnings),
    )


def _likenesses(
    chunks: Sequence[ChunkPlace],
    cosines: Mapping[ChunkKey, float],
    embedder: Embedder | None,
    settings: SearchSettings,
) -> list[float | None]:
    if embedder is None or not cosines:
        return [None] * len(chunks)
    calibration, cap = embedder.calibration, settings.cosine_cap
    found = (cosines.get(chunk.key) for chunk in chunks)
    return [None if cosine is None else likeness(cosine, calibration, cap) for cosine in found]


def _asked(
    index: Index,
    settings: SearchSettings,
    query: str,
    embedder: Embedder | None,
    legs: dict[str, str],
    warnings: list[str],
) -> bytes | None:
    """The query's vector, or None, and in ``legs`` why."""
    if settings.vector_share <= 0:
        legs["vector"] = "off"
    elif embedder is None:
        legs["vector"] = "no embedder"
    elif (model := index.model()) is None:
        legs["vector"] = "nothing is embedded yet"
    elif model != (embedder.name, embedder.dim):
        legs["vector"] = f"the vectors are of {model[0]}, to be made anew with {embedder.name}"
    elif not query.strip():
        legs["vector"] = "nothing to look for"
    else:
        try:
            vector = _vector(embedder, query)
        except Exception as error:  # whatever a plug-in may raise
            legs["vector"] = f"failed: {str(error) or type(error).__name__}"
            warnings.append(f"words alone decided: the embedder {embedder.name} failed")
        else:
            legs["vector"] = "used"
            return vector
    return None


def _vector(embedder: Embedder, query: str) -> bytes:
    import numpy as np

    made: Any = np.ascontiguousarray(embedder.embed([query], query=True), dtype=np.float32)
    if made.shape != (1, embedder.dim) or not np.isfinite(made).all():
        raise ValueError(f"it gave no {embedder.dim} numbers")
    if (centre := embedder.calibration.centre) is not None:
        made = np.asarray(made - centre, dtype=np.float32)
    return made.tobytes()


def _matches(
    index: Index,
    weights: Mapping[str, float],
    chosen: Sequence[str],
    statistics: KeywordStatistics,
    wanted: Filter,
    fewest: int,
    most: int,
    settings: SearchSettings,
) -> tuple[frozenset[str], Matches]:
    """The matches of the rarer terms, or of all of them if a filter leaves too few; and which terms these are."""
    terms = frozenset(chosen)
    matches = index.matches({term: weights[term] for term in chosen}, settings.bm25, wanted, most)
    if len(matches.best) < fewest:
        occurring = [term for term in weights if statistics.frequencies[term]][: settings.most_terms]
        if len(occurring) > len(chosen):
            terms = frozenset(occurring)
            further = index.matches({term: weights[term] for term in occurring}, settings.bm25, wanted, most)
            matches = Matches(list(dict.fromkeys((*matches.best, *further.best)))[:most], further.scores)
    return terms, matches


def _relevance(
    index: Index,
    matches: Matches,
    further: Mapping[str, float],
    chunks: Sequence[ChunkPlace],
    settings: SearchSettings,
) -> list[float]:
    """BM25 of each chunk by all terms: by those that were looked for, and by the further ones that occur."""
    known = matches.scores
    if not further:
        return [known.get(chunk.key, 0.0) for chunk in chunks]
    rest = index.relevance(further, settings.bm25, [chunk.key for chunk in chunks])
    return [known.get(chunk.key, 0.0) + rest.get(chunk.key, 0.0) for chunk in chunks]


def _in_time(chunk: ChunkPlace, wanted: Filter) -> bool:
    if chunk.date is None:
        return True
    return not (wanted.start_date and chunk.date < wanted.start_date) and not (
        wanted.end_date and chunk.date > wanted.end_date
    )


def _named_speakers(chunks: Sequence[ChunkPlace], query: str) -> frozenset[str]:
    """The speaker whom the query names, if it names exactly one of those who speak here."""
    speakers = {chunk.speaker for chunk in chunks if chunk.speaker}
    asked = fold(query)
    named = frozenset(speaker for speaker in speakers if re.search(rf"(?<!\w){re.escape(fold(speaker))}(?!\w)", asked))
    return named if len(named) == 1 else frozenset()
