"""Postings: what segments hold equals what a plain count of the chunks gives, however they came to hold it."""

import math
import random
from collections import Counter

import pytest

from reme.index import ANY, Bm25, Filter, rebuild
from reme.index.counts import tally, weighted
from reme.index.sqlite import postings
from tests.index.place import Place, holding

BM25 = Bm25(k1=0.9, b=0.4, column_weights=(2.0, 1.5, 1.5, 1.0))
WORDS = ("alpha", "beta", "gamma", "delta", "北京", "绿茶")


@pytest.fixture
def small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Segments so small that a few files fill, merge and split them."""
    monkeypatch.setattr(postings, "_MOST_CHUNKS", 40)
    monkeypatch.setattr(postings, "_SMALLEST_TIER", 2)
    monkeypatch.setattr(postings, "_FAN", 3)


def expected(texts: dict[str, str], terms: tuple[str, ...]) -> dict[str, float]:
    """BM25 of one-chunk notes by plain counting; a note named ``n<number>`` has one more word, its name."""
    lengths = {path: len(text.split()) + 1 for path, text in texts.items()}
    mean = sum(lengths.values()) / len(lengths)
    found: dict[str, float] = {}
    for path, text in texts.items():
        counts = Counter(text.split())
        for term in terms:
            if count := counts[term]:
                norm = BM25.k1 * (1 - BM25.b + BM25.b * lengths[path] / mean)
                found[path] = found.get(path, 0.0) + count * (BM25.k1 + 1) / (count + norm)
    return found


def test_counts_are_packed_by_column_and_capped() -> None:
    counts = tally(["tea"], ["tea", "day"], [], ["tea", "tea", "pot"])
    assert weighted(counts["tea"], (1000, 100, 10, 1)) == 1102
    assert weighted(counts["day"], (1000, 100, 10, 1)) == 100
    assert weighted(counts["pot"], (1000, 100, 10, 1)) == 1
    many = tally(["x"] * 99, ["x"] * 99, ["x"] * 99, ["x"] * 999)
    assert weighted(many["x"], (1, 0, 0, 0)) == weighted(many["x"], (0, 0, 1, 0)) == 7
    assert weighted(many["x"], (0, 0, 0, 1)) == 127


@pytest.mark.usefixtures("small_segments")
def test_scores_equal_plain_counting_after_every_change(place: Place) -> None:
    rng = random.Random(5)
    texts: dict[str, str] = {}
    for step in range(120):
        path = f"n{rng.randrange(25)}.md"
        if path in texts and rng.random() < 0.3:
            del texts[path]
            place.delete(path)
        else:
            texts[path] = " ".join(rng.choices([word for word in WORDS if word.isascii()], k=rng.randrange(1, 9)))
            place.write(path, texts[path])
        place.refresh()
        terms = tuple(rng.sample(WORDS[:4], 2))
        stems = [place.index.terms(term)[0] for term in terms]
        matches = place.index.matches(dict.fromkeys(stems, 1.0), BM25, ANY, 100)
        places = {chunk.key: chunk.note for chunk in place.index.around(list(matches.scores), 0)}
        standings = place.index.standings(sorted(set(places.values())))
        found = {standings[places[key]].path: score for key, score in matches.scores.items()}
        assert found == pytest.approx(expected(texts, terms)), step
        assert [matches.scores[key] for key in matches.best] == sorted(matches.scores.values(), reverse=True)
        assert place.index.relevance(dict.fromkeys(stems, 1.0), BM25, matches.best) == pytest.approx(matches.scores)
        frequencies = place.index.statistics(stems).frequencies
        assert frequencies == {
            stem: sum(term in text.split() for text in texts.values()) for stem, term in zip(stems, terms, strict=True)
        }
    incremental = place.index.dump()
    rebuild(place.index, place.vault)
    assert place.index.dump() == incremental


@pytest.mark.usefixtures("small_segments")
def test_a_file_larger_than_a_segment_is_found_from_end_to_end(place: Place) -> None:
    turns = [f'{{"role": "user", "text": "turn word{i} 北京"}}' for i in range(150)]
    place.write("session/dialog/long.jsonl", "\n".join(turns))
    place.write("other.md", "word7\n")
    place.refresh()
    for number in (0, 39, 40, 80, 149):
        (key,) = holding(place.index, f"word{number}", wanted=Filter(paths=("session",)))
        assert f"word{number} " in place.index.chunks([key])[key].text
    assert len(holding(place.index, "北京")) == 150
    place.write("session/dialog/long.jsonl", "\n".join(turns[:60]))
    place.refresh()
    assert len(holding(place.index, "北京")) == 60
    assert holding(place.index, "word149") == []
    incremental = place.index.dump()
    rebuild(place.index, place.vault)
    assert place.index.dump() == incremental


@pytest.mark.usefixtures("small_segments")
def test_segments_stay_few(place: Place) -> None:
    for i in range(100):
        place.write(f"n{i}.md", f"alpha word{i} 绿茶\n")
        place.refresh()
    import apsw

    db = apsw.Connection(str(place.store), flags=apsw.SQLITE_OPEN_READONLY)
    (segments,) = next(db.execute("SELECT count(*) FROM segments"))
    (dead,) = next(db.execute("SELECT count(*) FROM dead"))
    db.close()
    assert segments <= 3 * (math.log(100, postings._FAN) + 1) + 100 / postings._MOST_CHUNKS * 2
    assert dead == 0
    assert len(holding(place.index, "alpha")) == 100


def test_a_store_that_is_made_anew_is_not_taken_for_the_one_before(place: Place) -> None:
    place.write("a.md", "alpha\n")
    place.refresh()
    assert len(holding(place.index, "alpha")) == 1
    for ending in ("", "-wal", "-shm"):
        place.store.with_name(place.store.name + ending).unlink(missing_ok=True)
    place.write("b.md", "beta 绿茶\n")
    place.write("c.md", "gamma 绿茶\n")
    place.refresh()
    (key,) = holding(place.index, "gamma")
    assert [chunk.text.strip() for chunk in place.index.chunks([key]).values()] == ["gamma 绿茶"]
    assert len(place.index.chunks(holding(place.index, "绿茶"))) == 2


def test_a_filter_leaves_the_best_of_what_it_wants(place: Place) -> None:
    for i in range(60):
        place.write(f"work/n{i}.md", "zebra " * 3)
    place.write("home/far.md", "zebra among a good many other words that make it the last of all of them\n")
    place.refresh()
    (key,) = holding(place.index, "zebra", wanted=Filter(paths=("home",)), limit=5)
    assert "far" in place.index.standings([key >> 24])[key >> 24].path
    assert holding(place.index, "zebra", wanted=Filter(paths=("nowhere",)), limit=5) == []
    best = holding(place.index, "zebra", wanted=Filter(paths=("work",)), limit=60)
    assert best == holding(place.index, "zebra", limit=60)
