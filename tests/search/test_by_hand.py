"""Ten notes whose scores are computed here by the published formulas, every factor and both fusions."""

import json
import math
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reme.index import embed
from reme.models import Calibration
from reme.search import SearchResult, SearchSettings, Signals, search
from tests.index.place import NOW, Place

np = pytest.importorskip("numpy")

NOTES = {  # path: body, cosine with the query, age in days
    "digest/wiki/ka.md": ("alpha beta", 0.90, 0),
    "digest/wiki/b.md": ("alpha gamma", 0.80, 10),
    "digest/wiki/c.md": ("delta delta", 0.88, 30),
    "daily/d.md": ("alpha alpha alpha", 0.74, 60),
    "daily/e.md": ("beta gamma delta", 0.70, 90),
    "other/f.md": ("gamma [[ka]]", 0.60, 0),
    "other/g.md": ("epsilon [[ka]]", 0.72, 0),
    "session/h.md": ("beta", 0.78, 5),
    "resource/i.md": ("zeta eta theta", 0.95, 400),
    "resource/j.md": ("alpha beta gamma delta", 0.71, 1),
}
QUERY = ("alpha", "beta")
COMMUNITIES = {"digest/wiki/ka.md": 1, "digest/wiki/b.md": 1, "digest/wiki/c.md": 2}
LAYERS = {"digest": 1.0, "daily": 0.9, "other": 0.9, "session": 0.8, "resource": 0.7}
CONTEXT = SearchSettings(top_chunks_per_path=1, expand_depth=0)


class Known:
    """An embedder whose cosines with the query are written down."""

    name, dim = "known", 2

    def __init__(self, calibration: Calibration | None = None) -> None:
        self.calibration = calibration or Calibration(0.7, 0.2)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Any:
        cosines = [1.0 if query else next(c for body, c, _ in NOTES.values() if body == text) for text in texts]
        return np.array([[c, math.sqrt(1 - c * c)] for c in cosines], np.float32)


@pytest.fixture
def ten(place: Place, tmp_path: Path) -> Place:
    for path, (body, _, age) in NOTES.items():
        place.write(path, body + "\n")
        os.utime(place.root / path, (NOW.timestamp() - age * 86_400,) * 2)
    (tmp_path / "meta").mkdir()
    signal = {"version": 1, "computed_at": NOW.isoformat(), "communities": COMMUNITIES}
    (tmp_path / "meta" / "communities.json").write_text(json.dumps(signal))
    place.refresh()
    embed(place.index, Known())
    return place


def ask(place: Place, tmp_path: Path, settings: SearchSettings, embedder: Known | None) -> SearchResult:
    signals = Signals(tmp_path / "meta")
    return search(place.index, place.clock, settings, " ".join(QUERY), limit=10, embedder=embedder, signals=signals)


def words(path: str) -> list[str]:
    return NOTES[path][0].replace("[[", "").replace("]]", "").split()


def coverage(path: str) -> float:
    lengths = {other: len(words(other)) + 1 for other in NOTES}  # its name is a word, too
    mean = sum(lengths.values()) / len(lengths)
    rarity = {}
    for term in QUERY:
        having = sum(term in words(other) for other in NOTES)
        rarity[term] = math.log(1 + (len(NOTES) - having + 0.5) / (having + 0.5))
    bm25 = 0.0
    for term in QUERY:
        frequency = words(path).count(term)
        bm25 += rarity[term] * frequency * 1.9 / (frequency + 0.9 * (0.6 + 0.4 * lengths[path] / mean))
    return min(bm25 / sum(rarity.values()), 1.5) ** 1.5


def likeness(path: str) -> float:
    return min(max((NOTES[path][1] - 0.7) / 0.2, 0), 1.2)


def factor(path: str, seeds: Sequence[str]) -> float:
    inlinks = 2 if path.endswith("/ka.md") else 0
    recency = min(max(math.exp(-NOTES[path][2] / 60), 0.5), 2.0)
    near = {COMMUNITIES[seed] for seed in seeds if seed in COMMUNITIES}
    community = 1.2 if COMMUNITIES.get(path) in near else 1.0
    return (1 + 0.15 * math.log(1 + inlinks)) * recency * community * LAYERS[path.split("/", maxsplit=1)[0]]


def check(result: SearchResult, base: dict[str, float]) -> None:
    seeds = sorted(base, key=lambda path: -base[path])[:3]
    expected = {path: score * factor(path, seeds) for path, score in base.items() if score > 0}
    assert {hit.path: hit.score for hit in result.hits} == pytest.approx(expected, rel=5e-3, abs=2e-3)
    assert [hit.path for hit in result.hits] == sorted(expected, key=lambda path: (-expected[path], path))


def test_context_with_both_legs(ten: Place, tmp_path: Path) -> None:
    middle = sorted(map(likeness, NOTES))[(len(NOTES) - 1) // 2]
    own = {path: 0.5 * coverage(path) + 0.5 * likeness(path) for path in NOTES}
    base = {path: own[path] + 0.4 * (own[path] - 0.5 * min(likeness(path), middle)) for path in NOTES}
    check(ask(ten, tmp_path, CONTEXT, Known()), base)


def test_what_is_near_to_every_question_counts_for_less(ten: Place, tmp_path: Path) -> None:
    def centred(path: str) -> float:
        cosine = NOTES[path][1]
        return min(max((cosine - 0.5 * cosine - 0.5 * math.sqrt(1 - cosine * cosine) - 0.1) / 0.4, 0), 1.2)

    middle = sorted(map(centred, NOTES))[(len(NOTES) - 1) // 2]
    own = {path: 0.5 * coverage(path) + 0.5 * centred(path) for path in NOTES}
    base = {path: own[path] + 0.4 * (own[path] - 0.5 * min(centred(path), middle)) for path in NOTES}
    usual = np.array([0.5, 0.5], np.float32)
    check(ask(ten, tmp_path, CONTEXT, Known(Calibration(0.1, 0.4, usual))), base)


def test_context_with_words_alone(ten: Place, tmp_path: Path) -> None:
    check(ask(ten, tmp_path, CONTEXT, None), {path: 1.4 * coverage(path) for path in NOTES})


def test_reciprocal_ranks(ten: Place, tmp_path: Path) -> None:
    result = search(
        ten.index,
        ten.clock,
        replace(CONTEXT, fusion="rrf"),
        " ".join(QUERY),
        limit=10,
        embedder=Known(),
        signals=Signals(tmp_path / "meta"),
        explain=True,
    )
    assert result.explanation is not None
    by_words = {chunk.path: chunk.keyword_rank for chunk in result.explanation.chunks}
    by_vector = {path: i for i, path in enumerate(sorted(NOTES, key=lambda path: -NOTES[path][1]), 1)}
    assert {chunk.path: chunk.vector_rank for chunk in result.explanation.chunks} == by_vector
    assert {path for path, rank in by_words.items() if rank} == {path for path in NOTES if coverage(path)}
    base = {path: 0.7 / (60 + by_vector[path]) for path in NOTES}
    base |= {path: base[path] + 0.3 / (60 + rank) for path, rank in by_words.items() if rank}
    check(result, base)


def test_every_factor_can_be_off(ten: Place, tmp_path: Path) -> None:
    off = replace(CONTEXT, alpha=None, beta=None, tau_days=None, layer_weights=dict.fromkeys(LAYERS, 1.0))
    for hit in ask(ten, tmp_path, off, Known()).hits:
        assert (hit.evidence.centrality, hit.evidence.community, hit.evidence.recency) == (None, None, None)
        assert hit.score == hit.evidence.base
