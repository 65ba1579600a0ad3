"""Postings: what segments hold equals what a plain count of the chunks gives, however they came to hold it."""

import math
import random
import tracemalloc
from collections import Counter
from collections.abc import Sequence

import apsw
import pytest

from reme.index import ANY, Bm25, Filter, open_index, rebuild, refresh_paths
from reme.index.counts import tally, weighted
from reme.index.sqlite import matching, postings
from reme.paths import VaultPath
from reme.vault import Layout
from tests.index.place import Place, holding, paths_of

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
    counts = tally({"tea": 1}, {"tea": 1, "day": 1}, {}, {"tea": 2, "pot": 1})
    assert weighted(counts["tea"], (1000, 100, 10, 1)) == 1102
    assert weighted(counts["day"], (1000, 100, 10, 1)) == 100
    assert weighted(counts["pot"], (1000, 100, 10, 1)) == 1
    many = tally({"x": 99}, {"x": 99}, {"x": 99}, {"x": 999})
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
        weights = dict.fromkeys(stems, 1.0)
        best = place.index.matches(weights, BM25, ANY, 100)
        scores = place.index.relevance(weights, BM25, best)
        found = dict(zip(paths_of(place.index, best), scores.values(), strict=True))
        assert found == pytest.approx(expected(texts, terms)), step
        assert list(scores.values()) == sorted(scores.values(), reverse=True)
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
    db = apsw.Connection(str(place.store), flags=apsw.SQLITE_OPEN_READONLY)
    (segments,) = next(db.execute("SELECT count(*) FROM segments"))
    (dead,) = next(db.execute("SELECT count(*) FROM dead"))
    db.close()
    assert segments <= 3 * (math.log(100, postings._FAN) + 1) + 100 / postings._MOST_CHUNKS * 2
    assert dead == 0
    assert len(holding(place.index, "alpha")) == 100


@pytest.mark.usefixtures("small_segments")
def test_what_batches_bring_is_put_together_afterwards_but_never_piles_up(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def segments() -> int:
        return len(postings.living_segments(db, ()))

    monkeypatch.setattr(postings, "_MOST_SEGMENTS", 12)
    db = apsw.Connection(str(place.store), flags=apsw.SQLITE_OPEN_READONLY)
    most = 0
    for i in range(40):
        place.write(f"n{i}.md", f"alpha word{i} 绿茶\n")
        refresh_paths(place.index, place.vault, [VaultPath(f"n{i}.md")])
        most = max(most, segments())
    assert 9 < most <= 12
    before = place.index.dump(), place.index.position()
    place.index.tidy()
    assert segments() < 9
    assert place.index.dump() == before[0]
    assert place.index.position() > before[1]  # so that readers do not look into segments that are gone
    assert len(holding(place.index, "alpha")) == 40
    tidied = place.index.position()
    place.index.tidy()
    assert place.index.position() == tidied
    db.close()


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
    assert paths_of(place.index, [key]) == ["home/far.md"]
    assert holding(place.index, "zebra", wanted=Filter(paths=("nowhere",)), limit=5) == []
    best = holding(place.index, "zebra", wanted=Filter(paths=("work",)), limit=60)
    assert best == holding(place.index, "zebra", limit=60)


@pytest.mark.usefixtures("small_segments")
@pytest.mark.parametrize("most_held", [matching._MOST_HELD, 2_000])
def test_the_best_are_those_of_scoring_everything(
    place: Place, monkeypatch: pytest.MonkeyPatch, most_held: int
) -> None:
    monkeypatch.setattr(matching, "_MOST_HELD", most_held)
    rng = random.Random(11)
    words = [f"w{letter}w" for letter in "abcdefghijklmnop"] + ["北京", "绿茶", "茶叶"]
    shares = [1 / (i + 1) for i in range(len(words))]

    def text() -> str:
        return "\n\n".join(
            f"# Part {part}\n" + " ".join(rng.choices(words, shares, k=rng.choice((3, 9, 400)))) for part in range(4)
        )

    for i in range(60):
        place.write(f"{rng.choice(('work', 'home'))}/n{i}.md", text())
    place.refresh()
    for _ in range(4):
        for path in rng.sample(sorted(place.index.stamps()), 6):
            place.write(path, text())
            place.refresh()
        every = holding(place.index, *(term for word in words for term in place.index.terms(word)))
        for count in (1, 2, 3, 7, 16):
            asked = [term for word in rng.sample(words, count) for term in place.index.terms(word)]
            weights = {term: rng.choice((0.3, 1.0, 4.0)) for term in asked}
            scores = place.index.relevance(weights, BM25, every)
            plain = sorted((key for key in every if scores[key] > 0), key=lambda key: (-scores[key], key))
            for limit in (1, 5, 50, 1_000):
                found = place.index.matches(weights, BM25, ANY, limit)
                assert [scores[key] for key in found] == pytest.approx([scores[key] for key in plain[:limit]])
                assert len(set(found)) == len(found)
            paths = dict(zip(plain, paths_of(place.index, plain), strict=True))
            at_home = [key for key in plain if paths[key].startswith("home/")]
            found = place.index.matches(weights, BM25, Filter(paths=("home",)), 5)
            assert [scores[key] for key in found] == pytest.approx([scores[key] for key in at_home[:5]])


def test_equal_scores_stand_in_the_order_of_files_and_places(place: Place) -> None:
    for i in range(30):
        place.write(f"n{i}.md", "pear\n")
    place.refresh()
    for i in (3, 1):
        place.write(f"n{i}.md", "pear\n\nplum\n")
        place.refresh()
        place.write(f"n{i}.md", "pear\n")
        place.refresh()
    found = holding(place.index, "pear", limit=10)
    assert found == sorted(holding(place.index, "pear"))[:10]


def test_what_another_connection_changes_is_seen_by_the_next_question(place: Place) -> None:
    place.write("a.md", "zebra\n")
    place.refresh()
    other = open_index(place.store, Layout())
    try:
        assert paths_of(other, holding(other, "zebra")) == ["a.md"]
        place.write("a.md", "pear\n")
        place.write("b.md", "zebra zebra\n")
        place.refresh()
        assert paths_of(other, holding(other, "zebra")) == ["b.md"]
        assert other.statistics(["zebra", "pear"]).frequencies == {"zebra": 1, "pear": 1}
    finally:
        other.close()


def test_merging_segments_of_unlike_words_holds_few_of_them(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(8)
    characters = [chr(code) for code in range(0x4E00, 0x9F00)]
    for number in range(3):
        place.write(f"n{number}.md", "\n\n".join("".join(rng.choices(characters, k=200)) for _ in range(60)))
    peaks: list[int] = []
    merge = postings._merge

    def measured(db: apsw.Connection, numbers: Sequence[int]) -> None:
        tracemalloc.start()
        merge(db, numbers)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()

    monkeypatch.setattr(postings, "_MOST_TERMS", 2_000)
    monkeypatch.setattr(postings, "_merge", measured)
    place.refresh()
    assert len({row[0] for row in place.index.dump()["keywords"]}) > 30_000
    assert 0 < max(peaks) < 2_000_000  # a hundred bytes a term would be more


@pytest.mark.usefixtures("small_segments")
def test_the_files_that_hold_most_are_those_of_adding_everything_up(place: Place) -> None:
    rng = random.Random(3)
    words = [f"w{letter}w" for letter in "abcdefgh"]
    shares = [1 / (i + 1) for i in range(len(words))]
    pieces = {
        f"n{i}.md": [" ".join(rng.choices(words, shares, k=rng.choice((1, 2, 300)))) for _ in range(rng.choice((1, 3)))]
        for i in range(40)
    }
    for path, parts in pieces.items():
        place.write(path, "\n\n".join(f"# {part[:3]}\n{part}" for part in parts))
    place.refresh()
    for count in (1, 2, 4):
        weights = {place.index.terms(word)[0]: 1.0 + i / 7 for i, word in enumerate(rng.sample(words, count))}
        keys = place.index.matches(weights, BM25, ANY, 1_000)
        scores, paths = (
            place.index.relevance(weights, BM25, keys),
            dict(zip(keys, paths_of(place.index, keys), strict=True)),
        )
        held = {
            path: sum(w for term, w in weights.items() if any(term in p for p in pieces[path]))
            for path in paths.values()
        }
        best = {path: max((key for key in keys if paths[key] == path), key=lambda key: scores[key]) for path in held}
        assert [by_file for _, by_file in place.index.held(weights, BM25, keys)] == pytest.approx(
            [held[paths[key]] for key in keys]
        )
        alone = {term: place.index.relevance({term: weight}, BM25, keys) for term, weight in weights.items()}

        heaviest: dict[str, float] = {}
        for path in held:
            term = max((term for term in weights if any(term in p for p in pieces[path])), key=weights.__getitem__)
            heaviest[path] = max(alone[term][key] for key in keys if paths[key] == path)
        several = [path for path in held if held[path] > max(weights.values()) + 0.1]  # no two weigh less together
        for limit, known in ((1, 0), (5, 0), (100, 0), (5, 3), (30, 10), (100, 20)):
            passed = {paths[key] for key in keys[:known]}
            order = sorted(several, key=lambda path: (-held[path], path not in passed, -heaviest[path]))
            expected = [path for path in order[:limit] if path not in passed]
            found = place.index.gathered(weights, BM25, ANY, keys[:known], limit)
            assert [held[paths[key]] for key in found] == [held[path] for path in expected]
            assert [heaviest[paths[key]] for key in found] == [heaviest[path] for path in expected]
            assert [scores[key] for key in found] == pytest.approx([scores[best[paths[key]]] for key in found])
