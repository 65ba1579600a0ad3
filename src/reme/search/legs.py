"""The two legs of a search: by words and by vectors, and what each chunk scores by itself.

Owns the choice of candidates and the honesty about a leg that is missing: the other one then decides alone.
"""

import re
from collections.abc import Mapping, Sequence, Set
from typing import Any, Final, NamedTuple

from reme.index import Around, ChunkKey, Filter, Index, KeywordStatistics, Standing, Turn
from reme.models import Embedder
from reme.paths import fold
from reme.search.score import choosing_terms, coverages, fused, idf, likeness, reciprocal, scattered
from reme.search.settings import SearchSettings

__all__ = ["Found", "find"]

_FEWEST_CANDIDATES: Final = 40
_MOST_CANDIDATES: Final = 200
_FEWEST_GATHERED: Final = 20
_ALL: Final = 1 - 1e-9  # sums in another order may differ by that much


class Found(NamedTuple):
    """What the legs found.

    Attributes:
        keys: The candidates and the chunks near them, file by file.
        files: The files, each with the number of ``keys`` that are of it.
        keyword: Coverage of the query by each chunk's own words; of a note's best one, by the note's if that is more.
        vector: Calibrated likeness of each chunk; None without a vector, or without the leg.
        own: Both fused: what each chunk scores by itself.
        chosen: The terms that candidates were looked for by.
    """

    query: str
    vector_query: str
    statistics: KeywordStatistics
    chosen: tuple[str, ...]
    keys: Sequence[ChunkKey]
    files: Sequence[tuple[Standing, int]]
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
    occurring = {term: weight for term, weight in weights.items() if statistics.frequencies[term]}
    total = sum(weights.values())
    looked_for, by_words = _matches(index, occurring, chosen, wanted, limit, most, settings)
    nearest = index.nearest(asked, wanted, most) if asked is not None else []
    gathering = _is_gathering(index, looked_for, by_words, limit, settings)
    fewest = max(limit, _FEWEST_GATHERED)
    gathered = index.gathered(looked_for, settings.bm25, wanted, by_words, fewest) if gathering else []
    around = index.around(list(dict.fromkeys((*by_words, *gathered, *nearest))), len(settings.near))
    if wanted.start_date or wanted.end_date:
        around = _in_time(around, wanted)
    keys = around.keys
    relevance = index.relevance(occurring, settings.bm25, keys) if occurring else {}
    keyword = coverages(relevance, total, keys, _of_named(around.turns, query), settings)
    if gathering:
        keyword = _whole(index, keyword, around, looked_for, total, wanted, settings)
    cosines = index.cosines(asked, keys) if asked is not None else {}
    vector = _likenesses(keys, cosines, embedder, settings)
    keyword_ranks = {key: rank for rank, key in enumerate(by_words, 1)}
    vector_ranks = {key: rank for rank, key in enumerate(nearest, 1)}
    if settings.fusion == "rrf":
        shares = (settings.text_weight, settings.vector_weight)
        own = [reciprocal(keyword_ranks.get(k), vector_ranks.get(k), shares, settings.rrf_k) for k in keys]
    else:
        own = fused(keyword, vector, settings.vector_share)
    return Found(
        query=query,
        vector_query=vector_query,
        statistics=statistics,
        chosen=tuple(chosen),
        keys=keys,
        files=around.files,
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
    keys: Sequence[ChunkKey],
    cosines: Mapping[ChunkKey, float],
    embedder: Embedder | None,
    settings: SearchSettings,
) -> list[float | None]:
    if embedder is None or not cosines:
        return [None] * len(keys)
    calibration, cap = embedder.calibration, settings.cosine_cap
    return [None if (cosine := cosines.get(key)) is None else likeness(cosine, calibration, cap) for key in keys]


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
    elif model[0] != embedder.name:
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
            if embedder.dim == model[1]:
                legs["vector"] = "used"
                return vector
            legs["vector"] = f"the vectors have {model[1]} numbers, to be made anew with {embedder.dim}"
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
    occurring: Mapping[str, float],
    chosen: Sequence[str],
    wanted: Filter,
    fewest: int,
    most: int,
    settings: SearchSettings,
) -> tuple[dict[str, float], list[ChunkKey]]:
    """The matches of the rarer terms, or of all of them if a filter leaves too few; and which terms these are."""
    weights = {term: occurring[term] for term in chosen}
    matches = index.matches(weights, settings.bm25, wanted, most)
    if len(matches) < fewest and len(terms := list(occurring)[: settings.most_terms]) > len(chosen):
        weights = {term: occurring[term] for term in terms}
        further = index.matches(weights, settings.bm25, wanted, most)
        matches = list(dict.fromkeys((*matches, *further)))[:most]
    return weights, matches


def _is_gathering(
    index: Index,
    weights: Mapping[str, float],
    matches: Sequence[ChunkKey],
    limit: int,
    settings: SearchSettings,
) -> bool:
    """Whether notes may have most of the terms though no piece has them all; not where enough pieces have them all."""
    if settings.scattering is None or settings.fusion == "rrf" or len(weights) < 2:
        return False
    last = matches[limit - 1 : limit]
    return not last or index.held(weights, settings.bm25, last)[0][0] < sum(weights.values()) * _ALL


def _whole(
    index: Index,
    keyword: Sequence[float],
    around: Around,
    weights: Mapping[str, float],
    total: float,
    wanted: Filter,
    settings: SearchSettings,
) -> list[float]:
    """The coverages, where the best chunk of a note that has more of the terms than this chunk counts for the note.

    Where days are asked for, a dialogue does not count as a whole: other turns of it may be of other days.
    """
    days = wanted.start_date is not None or wanted.end_date is not None
    dated = {key for key, turn in around.turns.items() if days and turn.date}
    best: list[tuple[int, int]] = []
    end = 0
    for standing, count in around.files:
        first, end = end, end + count
        i = max(range(first, end), key=keyword.__getitem__)
        if keyword[i] and around.keys[i] not in dated:
            best.append((i, standing.chunks))
    raised = list(keyword)
    found = index.held(weights, settings.bm25, [around.keys[i] for i, _ in best])
    for (i, chunks), (by_chunk, by_file) in zip(best, found, strict=True):
        if by_chunk < by_file * _ALL:
            raised[i] = max(raised[i], scattered(by_file / total, chunks, settings))
    return raised


def _in_time(around: Around, wanted: Filter) -> Around:
    """The same without the turns of days before or after."""
    first, last = wanted.start_date or "", wanted.end_date
    days = ((key, turn.date) for key, turn in around.turns.items() if turn.date is not None)
    left_out = {key for key, day in days if day < first or (last is not None and day > last)}
    files: list[tuple[Standing, int]] = []
    at = 0
    for standing, count in around.files:
        here = around.keys[at : at + count]
        at += count
        if kept := count - len(left_out.intersection(here)):
            files.append((standing, kept))
    return around._replace(keys=[key for key in around.keys if key not in left_out], files=files)


def _of_named(turns: Mapping[ChunkKey, Turn], query: str) -> Set[ChunkKey]:
    """The turns of the speaker whom the query names, if it names exactly one of those who speak here."""
    speakers = {turn.speaker for turn in turns.values() if turn.speaker}
    asked = fold(query) if speakers else ""
    named = [speaker for speaker in speakers if re.search(rf"(?<!\w){re.escape(fold(speaker))}(?!\w)", asked)]
    return {key for key, turn in turns.items() if [turn.speaker] == named}
