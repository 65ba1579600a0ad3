"""Both legs of a search, each alone and together, and what a result says of a leg that is missing."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reme.errors import InvalidInput, Unavailable
from reme.index import embed
from reme.models import Embedder
from reme.search import SearchResult, SearchSettings, Signals, search
from reme.testing import SyntheticEmbedder
from tests.index.place import NOW, Place

np = pytest.importorskip("numpy")

PLAIN = SearchSettings(alpha=None, tau_days=None)
RANKS = replace(PLAIN, fusion="rrf", layer_weights={"other": 1.0})


def ask(
    place: Place, query: str, embedder: Embedder | None, settings: SearchSettings = PLAIN, **options: object
) -> SearchResult:
    return search(
        place.index,
        place.clock,
        settings,
        query,
        embedder=embedder,
        **options,  # pyright: ignore[reportArgumentType]
    )


def paths(result: SearchResult) -> list[str]:
    return [hit.path for hit in result.hits]


class _Silent:
    """An embedder behind an address where nobody answers, not even how long its vectors are."""

    name = SyntheticEmbedder().name
    calibration = SyntheticEmbedder().calibration

    @property
    def dim(self) -> int:
        raise Unavailable("nobody answers")

    def embed(self, texts: object, *, query: bool = False) -> object:
        raise Unavailable("nobody answers")


def ready(place: Place, embedder: SyntheticEmbedder) -> None:
    place.refresh()
    embed(place.index, embedder)


@pytest.fixture
def cars(place: Place) -> Place:
    place.write("one.md", "automobile repair\n")
    place.write("two.md", "green tea\n")
    place.write("three.md", "the vehicle tax\n")
    return place


SYNONYMS = {"vehicle": "automobile", "car": "automobile"}


def test_what_shares_no_word_is_found_by_its_vector(cars: Place) -> None:
    embedder = SyntheticEmbedder(synonyms=SYNONYMS)
    ready(cars, embedder)
    assert paths(ask(cars, "car repair", None)) == ["one.md"]
    assert paths(ask(cars, "car", None)) == []
    result = ask(cars, "car", embedder)
    assert paths(result)[0] == "one.md"
    assert result.legs == {"keyword": "used", "vector": "used"}
    assert result.hits[0].evidence.keyword == 0
    assert result.hits[0].evidence.vector is not None


def test_a_dead_leg_is_named_and_the_other_decides_alone(cars: Place) -> None:
    working = SyntheticEmbedder(synonyms=SYNONYMS)
    cars.refresh()
    assert ask(cars, "repair", working).legs["vector"] == "nothing is embedded yet"
    ready(cars, working)
    alone = ask(cars, "repair", None)
    assert alone.legs == {"keyword": "used", "vector": "no embedder"}
    broken = ask(cars, "repair", SyntheticEmbedder(fails=lambda text: True))
    assert broken.legs["vector"].startswith("failed: ")
    assert broken.warnings
    other = ask(cars, "repair", SyntheticEmbedder("other", 16))
    assert "to be made anew" in other.legs["vector"]
    longer = ask(cars, "repair", SyntheticEmbedder(dim=working.dim + 1))
    assert "to be made anew" in longer.legs["vector"]
    silent = ask(cars, "repair", _Silent())
    assert silent.legs["vector"] == "failed: nobody answers"
    off = ask(cars, "repair", working, weights={"vector": 0})
    assert off.legs["vector"] == "off"
    assert alone.hits == broken.hits == other.hits == longer.hits == silent.hits == off.hits
    by_vectors = ask(cars, "automobile", working, weights={"keyword": 0})
    assert by_vectors.legs["keyword"] == "off"
    assert {"one.md", "three.md"} <= set(paths(by_vectors)[:2])


@pytest.mark.parametrize("settings", [PLAIN, RANKS])
def test_b17_without_the_vector_leg_the_exact_name_is_found(place: Place, settings: SearchSettings) -> None:
    for i in range(30):
        place.write(f"n{i}.md", f"plain words {i}\n")
    place.write("key.md", "ZK-4471\n")
    embedder = SyntheticEmbedder(random=True)
    ready(place, embedder)
    for leg in (None, SyntheticEmbedder(random=True, fails=lambda text: True)):
        assert paths(ask(place, "ZK-4471", leg, settings)) == ["key.md"]


class _Across(SyntheticEmbedder):
    """An embedder whose texts are orthogonal to every query."""

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Any:
        rows = super().embed(texts, query=query)
        rows[:, : self.dim // 2 if query else None] = 0
        rows[:, 0 if not query else -1] = 1
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize("name", ["ZK-4471", "密钥四四七一"])
def test_b17_beside_vectors_that_are_orthogonal_to_every_query(place: Place, name: str) -> None:
    filler = "plain words about other things. " * 5
    place.write("a.md", f"{filler}\n{name}\n{filler}")
    place.write("b.md", f"{name} " * 6 + "\n")
    for i in range(20):
        place.write(f"other{i}.md", filler)
    embedder = _Across()
    ready(place, embedder)
    found = search(place.index, place.clock, SearchSettings(), name, embedder=embedder)
    assert found.legs == {"keyword": "used", "vector": "used"}
    assert paths(found)[:2] == ["b.md", "a.md"]
    first, second = found.hits[:2]
    assert first.evidence.keyword > second.evidence.keyword > 0
    assert (first.evidence.vector, second.evidence.vector) == (0, 0)
    alone = ask(place, name, None, min_score=1.0)
    assert "b.md" in paths(alone)


@pytest.mark.parametrize("weights", [{"vector": 0}, {"keyword": 0}, {}], ids=["words", "vectors", "both"])
@pytest.mark.parametrize("settings", [PLAIN, RANKS], ids=["context", "rrf"])
def test_b19_a_filter_is_applied_before_the_cut_of_either_leg(
    place: Place, weights: dict[str, float], settings: SearchSettings
) -> None:
    for i in range(300):
        place.write(f"work/n{i}.md", "zebra\n")
    quiet = "quiet words"
    place.write("home/one.md", f'---\ntags: ["O\'Brien", x]\nkind: Pläne\n---\n{quiet} zebra\n')
    place.write("daily/2026-05-02/day.md", f"{quiet} zebra\n")
    embedder = SyntheticEmbedder()
    ready(place, embedder)

    def found(**options: object) -> list[str]:
        return paths(ask(place, "zebra", embedder, settings, weights=weights, limit=5, **options))

    assert found(paths=["home"]) == ["home/one.md"]
    assert found(tags=["O'Brien"]) == ["home/one.md"]
    assert found(where={"kind": "pläne"}) == ["home/one.md"]
    assert found(layers=["daily"]) == ["daily/2026-05-02/day.md"]
    assert found(start_date="2026-05-02", end_date="2026-05-02") == ["daily/2026-05-02/day.md"]
    assert not {"home/one.md", "daily/2026-05-02/day.md"} & set(found())


def test_p02_a_unique_token_is_found_beside_random_vectors(place: Place) -> None:
    embedder = SyntheticEmbedder(random=True, dim=48)
    for i in range(300):
        place.write(f"n{i}.md", f"rotation of signing keys in service {i} " * 5)
    place.write("rare.md", "words " * 300 + "\n\nqzxv\n\n" + "words " * 300)
    ready(place, embedder)
    assert "rare.md" in paths(ask(place, "qzxv", embedder))[:3]
    assert "rare.md" in paths(ask(place, "rotation of the signing keys qzxv", embedder))[:3]


def test_context_is_half_of_each_leg(place: Place) -> None:
    place.write("a.md", "alpha beta\n")
    place.write("b.md", "gamma delta\n")
    embedder = SyntheticEmbedder()
    ready(place, embedder)
    hit = ask(place, "alpha", embedder).hits[0]
    (cosine,) = embedder.embed(["alpha"]) @ embedder.embed(["alpha beta"]).T[:, 0:1]
    likeness = min(max((float(cosine[0]) - 0.2) / 0.6, 0), 1.2)
    keyword = ask(place, "alpha", None).hits[0].evidence.keyword
    assert hit.path == "a.md"
    assert hit.evidence.vector == pytest.approx(likeness, abs=0.01)
    assert hit.evidence.base == pytest.approx((0.5 * keyword + 0.5 * likeness) * 1.4, abs=0.02)


def test_ranks_are_fused_exactly(place: Place) -> None:
    place.write("both.md", "alpha\n")
    place.write("word.md", "alpha beta gamma delta epsilon\n")
    place.write("vector.md", "omega\n")
    embedder = SyntheticEmbedder(synonyms={"omega": "alpha"})
    ready(place, embedder)
    result = ask(place, "alpha", embedder, RANKS, explain=True)
    scores = {hit.path: hit.score for hit in result.hits}
    explained = {chunk.path: chunk for chunk in result.explanation.chunks} if result.explanation else {}
    assert (explained["vector.md"].keyword_rank, explained["both.md"].keyword_rank) == (None, 1)
    for path, chunk in explained.items():
        expected = 0.7 / (60 + chunk.vector_rank) if chunk.vector_rank else 0.0
        expected += 0.3 / (60 + chunk.keyword_rank) if chunk.keyword_rank else 0.0
        assert scores[path] == pytest.approx(expected)
    assert list(scores) == sorted(scores, key=lambda path: (-scores[path], path))


@pytest.mark.parametrize("settings", [PLAIN, RANKS])
def test_what_is_archived_takes_no_room_in_either_leg(place: Place, tmp_path: Path, settings: SearchSettings) -> None:
    embedder = SyntheticEmbedder(synonyms={"pear": "fruit", "梨": "fruit"})
    for i in range(300):
        place.write(f"old/n{i:03}.md", "pear 梨 pear 梨\n")
    place.write("new.md", "a pear 梨 and much else that was said in this place on that day\n")
    place.write("kin.md", "fruit of the garden\n")
    ready(place, embedder)
    (tmp_path / "meta").mkdir()
    marked = dict.fromkeys((f"old/n{i:03}.md" for i in range(300)), "2026-05-01")
    made = {"version": 1, "computed_at": NOW.isoformat(), "archived": marked}
    (tmp_path / "meta" / "archived.json").write_text(json.dumps(made))
    signals = Signals(tmp_path / "meta")
    for query in ("pear", "梨"):
        assert paths(ask(place, query, None, settings, signals=signals)) == ["new.md"]
        assert paths(ask(place, query, embedder, settings, signals=signals, weights={"keyword": 0}))[:2] == [
            "kin.md",
            "new.md",
        ]
        assert set(paths(ask(place, query, embedder, settings, signals=signals))) == {"kin.md", "new.md"}
        assert len(paths(ask(place, query, embedder, settings, signals=signals, include_archived=True, limit=9))) == 9
    assert paths(ask(place, "pear", embedder, settings, signals=signals, paths=["old/n007.md"])) == ["old/n007.md"]
    place.write("old/n300.md", "pear 梨 pear 梨\n")
    ready(place, embedder)
    assert "old/n300.md" in paths(ask(place, "pear", embedder, settings, signals=signals)), "it is not marked"


def test_query_rewrite_is_for_the_vectors_alone(cars: Place) -> None:
    embedder = SyntheticEmbedder(synonyms=SYNONYMS)
    ready(cars, embedder)
    result = ask(cars, "tax", embedder, query_rewrite="automobile repair", explain=True)
    assert embedder.queries[-1] == "automobile repair"
    assert set(paths(result)[:2]) == {"three.md", "one.md"}
    assert result.explanation is not None
    assert result.explanation.vector_query == "automobile repair"
    assert [term for term, _, _ in result.explanation.terms] == ["tax"]


def test_a_hit_of_one_leg_can_pass_min_score(cars: Place) -> None:
    embedder = SyntheticEmbedder(synonyms=SYNONYMS)
    ready(cars, embedder)
    assert paths(ask(cars, "automobile repair car", embedder, min_score=0.5)) == ["one.md"]


def test_weights_are_checked(cars: Place) -> None:
    cars.refresh()
    for weights in ({"vectors": 1.0}, {"vector": -1.0}, {"vector": 0.0, "keyword": 0.0}, {"vector": float("nan")}):
        with pytest.raises(InvalidInput):
            ask(cars, "tea", None, weights=weights)


def test_a_chunk_that_waits_for_its_vector_is_found_by_words(cars: Place) -> None:
    embedder = SyntheticEmbedder()
    ready(cars, embedder)
    cars.write("new.md", "fresh tea leaves\n")
    cars.refresh()
    hits = {hit.path: hit for hit in ask(cars, "fresh leaves", embedder).hits}
    assert hits["new.md"].evidence.vector is None
    assert next(iter(hits)) == "new.md"


def test_the_order_is_the_same_every_time(place: Place) -> None:
    embedder = SyntheticEmbedder()
    for i in range(60):
        place.write(f"n{i}.md", f"alpha beta {i % 7}\n")
    ready(place, embedder)
    first = ask(place, "alpha 3", embedder, limit=20)
    assert all(ask(place, "alpha 3", embedder, limit=20) == first for _ in range(20))
