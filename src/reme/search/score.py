"""Scoring: how well a chunk answers a query by its words and by what stands around it. Pure arithmetic.

Owns the formulas. Knows no store. Sources: BM25 with Lucene's idf (Robertson & Zaragoza 2009, section 3); coverage and
context were tuned on LoCoMo with two-fold cross-validation.
"""

import math
from collections.abc import Mapping, Sequence, Set
from typing import Final, NamedTuple

from reme.index import ChunkKey, KeywordStatistics, Standing
from reme.models import Calibration
from reme.search.settings import SearchSettings

__all__ = [
    "Factors",
    "choosing_terms",
    "context",
    "coverages",
    "factors",
    "fused",
    "idf",
    "likeness",
    "most_of_factors",
    "reciprocal",
    "scattered",
]

_DAY_NS: Final = 86_400_000_000_000


def idf(chunks: int, frequency: int) -> float:
    """Lucene's inverse document frequency, never negative."""
    return math.log(1 + (chunks - frequency + 0.5) / (frequency + 0.5))


class Factors(NamedTuple):
    """What multiplies a node's score; None is off."""

    product: float
    layer: float
    centrality: float | None
    community: float | None
    recency: float | None


def factors(standing: Standing, now_ns: int, in_community: bool | None, settings: SearchSettings) -> Factors:
    """The factors of a node at an instant, each within ``factor_range``.

    Args:
        standing: The node.
        now_ns: The instant, in nanoseconds since 1970.
        in_community: Whether it is in the community of one of the best nodes; None where no communities are known.
        settings: The constants.
    """
    low, high = settings.factor_range
    layer = product = min(max(settings.layer_weights.get(standing.layer, 1.0), low), high)
    centrality = community = recency = None
    if settings.alpha is not None:
        centrality = min(max(1 + settings.alpha * math.log1p(standing.inlinks), low), high)
        product *= centrality
    if settings.beta is not None and in_community is not None:
        community = min(max(settings.beta, low), high) if in_community else 1.0
        product *= community
    if settings.tau_days is not None:
        age = max(now_ns - standing.mtime_ns, 0) / _DAY_NS
        recency = min(max(math.exp(-age / settings.tau_days), low), high)
        product *= recency
    return Factors(product, layer, centrality, community, recency)


def most_of_factors(inlinks: int, settings: SearchSettings) -> float:
    """What the factors of no node exceed that so many files refer to at most."""
    low, high = settings.factor_range
    centrality = 1 + max(settings.alpha or 0.0, 0.0) * math.log1p(inlinks)
    greatest = (max(settings.layer_weights.values(), default=1.0), centrality, settings.beta or 1.0, 1.0)
    return math.prod(max(min(max(one, low), high), 1.0) for one in greatest)


def likeness(cosine: float, calibration: Calibration, cap: float) -> float:
    """A cosine on the scale of ``coverages``: ``(cosine − lo) / span``, from 0 to ``cap``."""
    return min(max((cosine - calibration.lo) / calibration.span, 0.0), cap)


def fused(keyword: Sequence[float], vector: Sequence[float | None], share: float) -> list[float]:
    """``(1 − share) · keyword + share · vector``; the keyword score itself for a chunk that has no vector yet."""
    rest = 1 - share
    return [b if v is None else rest * b + share * v for b, v in zip(keyword, vector, strict=True)]


def reciprocal(keyword_rank: int | None, vector_rank: int | None, weights: tuple[float, float], k: int) -> float:
    """Reciprocal rank fusion: ``w_vector / (k + rank) + w_keyword / (k + rank)``, ranks from 1; absent adds 0."""
    by_words = weights[0] / (k + keyword_rank) if keyword_rank else 0.0
    return by_words + (weights[1] / (k + vector_rank) if vector_rank else 0.0)


def choosing_terms(terms: Sequence[str], statistics: KeywordStatistics, settings: SearchSettings) -> list[str]:
    """The terms that candidates are looked for by: those that occur, without the common where rarer ones are there."""
    frequency = statistics.frequencies
    found = sorted((term for term in terms if frequency[term]), key=lambda term: frequency[term])
    most = max(statistics.chunks * settings.common_share, 100)
    rare = [term for term in found if frequency[term] <= most]
    return (rare or found[:3])[: settings.most_terms]


def coverages(
    relevance: Mapping[ChunkKey, float],
    total: float,
    keys: Sequence[ChunkKey],
    named: Set[ChunkKey],
    settings: SearchSettings,
) -> list[float]:
    """How much of the query each chunk covers: ``min(BM25 / Σ idf, cap) ** power``.

    The idf of terms that no chunk has counts in the sum: what cannot be found lowers every score. 1 is about: every
    word of the query once, in a chunk of ordinary length.

    Args:
        relevance: BM25 by chunk.
        total: ``Σ idf`` of the query's terms.
        keys: The chunks.
        named: Those that get the speaker's bonus, where they hold a term.
        settings: The constants.
    """
    cap, power, bonus = settings.coverage_cap, settings.coverage_power, settings.speaker_bonus
    return [
        (min(bm25 / total, cap) ** power + (bonus if key in named else 0.0)) if (bm25 := relevance.get(key)) else 0.0
        for key in keys
    ]


def scattered(share: float, chunks: int, settings: SearchSettings) -> float:
    """What a note covers of a query by words that stand in different chunks: ``share ** power``, less for many chunks.

    A few words in one place mean more than the same words here and there in a long note.

    Args:
        share: Of the query's terms, by idf, that the note has in whichever of its chunks; 0 to 1.
        chunks: Number of chunks of the note.
        settings: The constants.
    """
    return share**settings.coverage_power / (1 + (settings.scattering or 0.0) * (chunks - 1))


def context(
    keys: Sequence[ChunkKey],
    scores: Sequence[float],
    files: Sequence[tuple[Standing, int]],
    settings: SearchSettings,
) -> list[float]:
    """Scores with what stands around: neighbours in the note, then the note's own best chunks.

    Args:
        keys: The chunks, as ``Around`` has them.
        scores: Of each chunk by itself.
        files: Their files, likewise.
        settings: The shares.
    """
    near = dict(zip(keys, scores, strict=True))
    shares = tuple(enumerate(settings.near, 1))
    for key, score in zip(keys, scores, strict=True):
        if score:
            for distance, share in shares:
                if (other := key - distance) in near:
                    near[other] += share * score
                if (other := key + distance) in near:
                    near[other] += share * score
    summed = list(near.values())
    top = settings.own_evidence_top
    found: list[float] = []
    for standing, count in files:
        here = summed[len(found) : len(found) + count]
        best = here if count <= top else sorted(here, reverse=True)[:top]
        own = settings.own_evidence * sum(best) / min(top, max(standing.chunks, 1))
        found += [score + own for score in here]
    return found
