"""Vectors: made once for what they are of, found exactly, and never in the way of the rows."""

import os
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from reme.errors import Unavailable
from reme.index import ANY, ChunkKey, Filter, IndexSettings, embed, large, open_index, rebuild
from reme.index.sqlite.schema import CHUNK_BITS
from reme.testing import SyntheticEmbedder
from reme.vault import Layout
from tests.index.place import Place, letters, paths_of

np = pytest.importorskip("numpy")


def asked(embedder: SyntheticEmbedder, text: str) -> bytes:
    return embedder.embed([text], query=True)[0].tobytes()


def path_of(place: Place, key: ChunkKey) -> str:
    (path,) = paths_of(place.index, [key])
    return path


def nearest(place: Place, embedder: SyntheticEmbedder, text: str, wanted: Filter = ANY, limit: int = 3) -> list[str]:
    return [path_of(place, key) for key in place.index.nearest(asked(embedder, text), wanted, limit)]


@pytest.fixture
def embedder() -> SyntheticEmbedder:
    return SyntheticEmbedder()


def test_the_nearest_is_found_and_its_cosine_is_exact(place: Place, embedder: SyntheticEmbedder) -> None:
    for i in range(40):
        place.write(f"n{i}.md", f"word{i} other{i} third{i}\n")
    place.refresh()
    assert embed(place.index, embedder).done == 40
    assert nearest(place, embedder, "word7 other7", limit=1) == ["n7.md"]
    (key,) = place.index.nearest(asked(embedder, "word7 other7"), ANY, 1)
    exact = float(embedder.embed(["word7 other7"])[0] @ embedder.embed(["word7 other7 third7"])[0])
    assert place.index.cosines(asked(embedder, "word7 other7"), [key])[key] == pytest.approx(exact, abs=2e-3)


def test_int8_scan_and_rescoring_find_what_a_full_scan_finds(place: Place) -> None:
    embedder = SyntheticEmbedder(random=True, dim=32)
    place.write("d.jsonl", "\n".join(f'{{"role": "user", "text": "turn {i}"}}' for i in range(2_500)))
    place.refresh()
    assert embed(place.index, embedder, batch=700).done == 2_500
    query = asked(embedder, "anything")
    keys = place.index.nearest(query, ANY, 20)
    everything = [key for first in keys[:1] for key in range(first - 3_000, first + 3_000)]
    exact = place.index.cosines(query, everything)
    assert len(exact) == 2_500
    assert keys == sorted(exact, key=lambda key: (-exact[key], key))[:20]


WORDS = [*(letters(i) for i in range(40)), *"山 川 河 海 云 雨 风 雪 花 草 树 石 鱼 鸟 马 牛 羊 米 茶 酒".split()]  # noqa: SIM905


def test_of_very_many_vectors_the_nearest_are_found_without_comparing_each(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    from reme.index.sqlite import vectors

    monkeypatch.setattr(vectors, "_COMPARED", 400)
    embedder, chance = SyntheticEmbedder(dim=300), random.Random(3)

    def write(path: str, turns: int) -> None:
        said = (" ".join(chance.choices(WORDS, k=6)) for _ in range(turns))
        place.write(path, "\n".join(f'{{"text": "{line}"}}' for line in said))
        place.refresh()
        embed(place.index, embedder, batch=700)

    def found(*paths: str) -> float:
        """Which part of the ten nearest is found, of twenty questions; of those equally near, any."""
        count = 0
        for _ in range(20):
            query = asked(embedder, " ".join(chance.sample(WORDS, 3)))
            files = [place.index.nearest(query, Filter(paths=(path,)), 1)[0] >> CHUNK_BITS for path in paths]
            keys = [(file << CHUNK_BITS) + at for file in files for at in range(3_000)]
            exact = place.index.cosines(query, keys)
            tenth = sorted(exact.values())[-10]
            count += sum(exact[key] >= tenth for key in place.index.nearest(query, Filter(paths=paths), 10))
        return count / 200

    write("work/a.jsonl", 2_300)
    assert found("work/a.jsonl") > 0.98
    write("home/b.jsonl", 900)
    assert found("work/a.jsonl", "home/b.jsonl") > 0.98
    assert found("home/b.jsonl") > 0.98
    write("home/c.jsonl", 60)
    assert found("home/c.jsonl") == 1


def test_b75_only_what_is_new_is_embedded(place: Place, embedder: SyntheticEmbedder) -> None:
    sections = [f"# Heading {i}\n\n" + f"sentence number {i} says something. " * 40 for i in range(10)]
    for i in range(50):
        place.write(f"n{i}.md", f"note {i}\n")
    place.write("long.md", "\n\n".join(sections))
    place.refresh()
    first = embed(place.index, embedder)
    assert first.done == len(embedder.texts) >= 60

    def embedded_by(change: str) -> int:
        embedder.texts.clear()
        place.refresh()
        assert embed(place.index, embedder).pending == 0, change
        return len(embedder.texts)

    assert embedded_by("nothing") == 0
    for file in place.root.glob("*.md"):
        os.utime(file, (1_000_000, 1_000_000))
    assert embedded_by("touch") == 0
    sections[4] = sections[4].replace("sentence number 4", "another sentence")
    place.write("long.md", "\n\n".join(sections))
    assert 1 <= embedded_by("one section") <= 2
    (place.root / "n3.md").rename(place.root / "renamed.md")
    assert embedded_by("rename") == 0
    assert nearest(place, embedder, "note 3", limit=1) == ["renamed.md"]


def test_b45_what_comes_back_is_searchable_at_once(place: Place, embedder: SyntheticEmbedder) -> None:
    place.write("n.md", "a pear in the garden\n")
    place.write("m.md", "something else\n")
    place.refresh()
    embed(place.index, embedder)
    for path in ("n.md", "elsewhere/n.md"):
        for file in [*place.root.rglob("n.md")]:
            file.unlink()
        place.refresh()
        assert nearest(place, embedder, "pear garden", limit=1) == ["m.md"]
        place.write(path, "a pear in the garden\n")
        place.refresh()
        assert nearest(place, embedder, "pear garden", limit=1) == [path]
    assert len(embedder.texts) == 2


def test_b39_one_text_that_fails_stops_no_other_and_is_tried_again(place: Place) -> None:
    broken = {"poison"}
    embedder = SyntheticEmbedder(fails=lambda text: any(word in text for word in broken))
    for i in range(5):
        place.write(f"n{i}.md", f"fine {i}\n")
    place.write("p.md", "poison\n")
    place.refresh()
    done = embed(place.index, embedder)
    assert (done.done, done.failed, done.pending, done.answers) == (5, 1, 1, True)
    assert "told to" in done.problem
    broken.clear()
    assert embed(place.index, embedder).done == 1


def test_b75_a_huge_file_is_embedded_after_all_others(place: Place, embedder: SyntheticEmbedder) -> None:
    place.write("old.md", "a pear\n")
    os.utime(place.root / "old.md", (1_000_000, 1_000_000))
    place.write("huge.log", "\n\n".join(f"entry {i} " + "of many words " * 20 for i in range(9_000)))
    place.refresh()
    assert place.index.status().chunks > 2_001
    embed(place.index, embedder, batch=1, most=1)
    assert embedder.texts == ["a pear"]
    assert place.index.status().unembedded == place.index.status().chunks - 1


def test_an_embedder_that_does_not_answer_is_asked_once_a_run(place: Place) -> None:
    class Down(SyntheticEmbedder):
        calls = 0

        def embed(self, texts: Sequence[str], *, query: bool = False) -> Any:
            self.calls += 1
            raise Unavailable("nobody answers")

    for i in range(50):
        place.write(f"n{i}.md", f"fine {i}\n")
    place.refresh()
    embedder = Down()
    done = embed(place.index, embedder, batch=8)
    assert embedder.calls == 1
    assert (done.done, done.pending, done.problem, done.answers) == (0, 50, "nobody answers", False)
    assert embed(place.index, SyntheticEmbedder(), batch=8).done == 50


def test_embedding_is_resumed_and_begins_with_the_newest(place: Place, embedder: SyntheticEmbedder) -> None:
    for i in range(10):
        place.write(f"n{i}.md", f"note {i}\n")
        os.utime(place.root / f"n{i}.md", (1_000_000 + i, 1_000_000 + i))
    place.refresh()
    done = embed(place.index, embedder, batch=2, most=4)
    assert (done.done, done.pending) == (4, 6)
    assert embedder.texts == ["note 9", "note 8", "note 7", "note 6"]
    place.index.close()
    place.index = open_index(place.store, Layout())
    assert embed(place.index, embedder).done == 6
    assert embed(place.index, embedder, stop=lambda: True).done == 0


def test_another_model_makes_the_vectors_anew(place: Place, embedder: SyntheticEmbedder) -> None:
    place.write("a.md", "alpha\n")
    place.refresh()
    embed(place.index, embedder)
    other = SyntheticEmbedder("other", 16)
    assert place.index.model() == ("synthetic", 64)
    assert embed(place.index, other).done == 1
    assert place.index.model() == ("other", 16)
    assert nearest(place, other, "alpha") == ["a.md"]


def test_a_rebuild_keeps_the_vectors(place: Place, embedder: SyntheticEmbedder) -> None:
    place.write("a.md", "alpha\n")
    place.refresh()
    embed(place.index, embedder)
    before = place.index.dump()
    rebuild(place.index, place.vault)
    assert place.index.dump() == before
    assert place.index.status().embedded == 1
    assert embed(place.index, embedder).done == 0
    assert len(embedder.texts) == 1


def test_a_filter_is_applied_before_the_cut(place: Place, embedder: SyntheticEmbedder) -> None:
    for i in range(120):
        place.write(f"work/n{i}.md", f"zebra stripes {i}\n")
    place.write("home/one.md", "quiet words about a zebra and more\n")
    place.write("home/two.md", "nothing of the kind\n")
    place.refresh()
    embed(place.index, embedder)
    assert nearest(place, embedder, "zebra stripes", Filter(paths=("home",)), 2) == ["home/one.md", "home/two.md"]


def test_two_files_of_one_text_share_a_vector(place: Place, embedder: SyntheticEmbedder) -> None:
    for path in ("a.md", "b.md"):
        place.write(path, "the same\n")
    place.refresh()
    assert embed(place.index, embedder).done == 2
    assert len(embedder.texts) <= 2
    assert set(nearest(place, embedder, "the same")) == {"a.md", "b.md"}


def test_vectors_of_what_is_gone_do_not_pile_up(place: Place, embedder: SyntheticEmbedder) -> None:
    for version in range(4):
        place.write("d.jsonl", "\n".join(f'{{"text": "v{version} turn {i}"}}' for i in range(600)))
        place.write("stays.md", "this stays\n")
        place.refresh()
        embed(place.index, embedder, batch=300)
    assert nearest(place, embedder, "this stays", limit=1) == ["stays.md"]
    embedder.texts.clear()
    place.write("d.jsonl", "\n".join(f'{{"text": "v0 turn {i}"}}' for i in range(600)))
    place.refresh()
    embed(place.index, embedder, batch=300)
    assert len(embedder.texts) == 600
    assert nearest(place, embedder, "v0 turn 17", limit=1) == ["d.jsonl"]


def test_a_note_without_text_waits_for_nothing(place: Place, embedder: SyntheticEmbedder) -> None:
    place.write("a.md", "---\nname: Only a name\n---\n")
    place.refresh()
    assert embed(place.index, embedder) == replace(embed(place.index, embedder), done=0, pending=0)


def test_an_embedder_of_the_wrong_shape_is_a_failure(place: Place) -> None:
    embedder = SyntheticEmbedder(dim=8)
    place.write("a.md", "alpha\n")
    place.refresh()
    embedder.dim = 9
    embedder.embed = lambda texts, *, query=False: np.zeros((len(texts), 3), np.float32)
    assert embed(place.index, embedder).failed == 1


def test_another_process_that_makes_the_vectors_anew_is_noticed(place: Place, embedder: SyntheticEmbedder) -> None:
    for i in range(5):
        place.write(f"n{i}.md", f"note {i}\n")
    place.refresh()
    embed(place.index, embedder)
    assert nearest(place, embedder, "note 3", limit=1) == ["n3.md"]
    elsewhere = open_index(place.store, Layout())
    other = SyntheticEmbedder("other", 64, synonyms={"3": "4", "4": "3"})
    embed(elsewhere, other)
    elsewhere.close()
    assert nearest(place, other, "note 3", limit=1) == ["n3.md"]
    assert nearest(place, SyntheticEmbedder(), "note 3", limit=1) == ["n4.md"]


TURNS = (
    '{"role": "user", "text": "Which island did you sail to?"}',
    '{"role": "assistant", "text": "Sardinia."}',
    '{"role": "user", "text": "你们坐船去了哪个岛?"}',
    '{"role": "assistant", "text": "撒丁岛。"}',
)


def test_a_turn_is_found_by_what_the_turn_before_it_asks(place: Place, embedder: SyntheticEmbedder) -> None:
    place.write("d.jsonl", "\n".join(TURNS))
    place.write("alone.md", "assistant\n" + TURNS[1])
    place.refresh()
    assert embed(place.index, embedder).done == 5
    keys = sorted(place.index.nearest(asked(embedder, "anything"), Filter(paths=("d.jsonl",)), 9))
    assert place.index.nearest(asked(embedder, "which island did you sail to"), ANY, 2) == keys[:2]
    assert place.index.nearest(asked(embedder, "你们坐船去了哪个岛"), ANY, 2) == keys[2:]
    for i, turn in enumerate(TURNS):
        own = f"{'user' if i % 2 == 0 else 'assistant'}\n{turn}"
        texts = [own, f"{TURNS[i - 1]}\n{own}"] if i else [own]
        for query in ("sail island", "坐船 哪个岛", "Sardinia"):
            exact = float((embedder.embed(texts) @ embedder.embed([query], query=True)[0]).mean())
            assert place.index.cosines(asked(embedder, query), keys)[keys[i]] == pytest.approx(exact, abs=2e-3)


@pytest.mark.parametrize(("turn", "other"), [(0, "Which island do you like?"), (2, "你们喜欢哪个岛?")])
def test_a_turn_after_another_turn_is_embedded_anew(
    place: Place, embedder: SyntheticEmbedder, turn: int, other: str
) -> None:
    place.write("d.jsonl", "\n".join(TURNS))
    place.refresh()
    embed(place.index, embedder)
    embedder.texts.clear()
    changed = [*TURNS]
    changed[turn] = f'{{"role": "user", "text": "{other}"}}'
    place.write("d.jsonl", "\n".join(changed))
    place.refresh()
    assert embed(place.index, embedder).pending == 0
    again = [text for text in embedder.texts if TURNS[turn + 1] in text]
    assert len(embedder.texts) == (4 if turn else 3)
    assert again[-1] == f"{changed[turn]}\nassistant\n{TURNS[turn + 1]}"
    embedder.texts.clear()
    place.write("d.jsonl", "\n".join(TURNS))
    place.refresh()
    assert embed(place.index, embedder).pending == 0
    assert embedder.texts == []


def test_lines_without_a_speaker_stand_each_for_itself(place: Place, embedder: SyntheticEmbedder) -> None:
    place.write("d.jsonl", '{"text": "one"}\n{"text": "two"}\n{"role": "user", "text": "three"}')
    place.refresh()
    embed(place.index, embedder)
    assert sorted(embedder.texts) == ['user\n{"role": "user", "text": "three"}', '{"text": "one"}', '{"text": "two"}']


def test_the_end_of_a_long_turn_is_what_the_next_one_answers(place: Place, embedder: SyntheticEmbedder) -> None:
    long = '{"role": "user", "text": "' + "early " * 150 + "late " * 100 + '"}'
    place.write("d.jsonl", f"{long}\n{TURNS[1]}")
    place.refresh()
    embed(place.index, embedder)
    (both,) = (text for text in embedder.texts if text.endswith(TURNS[1]) and "late" in text)
    assert "early" not in both
    assert len(both) < 600


def test_a_dialogue_that_is_read_in_parts_has_the_same_vectors(
    place: Place, embedder: SyntheticEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write("d.jsonl", "\n".join(f'{{"role": "user", "text": "第{i}行 {letters(i)}"}}' for i in range(100)))
    place.refresh()
    assert embed(place.index, embedder).done == 100
    embedder.texts.clear()
    monkeypatch.setattr(large.windows, "__defaults__", (1000,))
    place.index.close()
    place.index = open_index(place.store, Layout(), IndexSettings(max_bytes=2000))
    place.refresh()
    done = embed(place.index, embedder)
    assert (place.index.status().embedded, done.pending, embedder.texts) == (100, 0, [])
