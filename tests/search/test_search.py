"""Search: what is asked for is found, first, whatever the script, and nothing in a query is syntax."""

import math
import os
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reme.errors import InvalidInput, NotFound, Refused
from reme.search import MAX_LIMIT, SearchResult, SearchSettings, search, search_text
from tests.index.place import NOW, Place

PLAIN = SearchSettings()


def ask(place: Place, query: str, **options: object) -> SearchResult:
    place.refresh()
    return search(place.index, place.clock, PLAIN, query, **options)  # pyright: ignore[reportArgumentType]


def paths(place: Place, query: str, **options: object) -> list[str]:
    return [hit.path for hit in ask(place, query, **options).hits]


@pytest.fixture
def scripts(place: Place) -> Place:
    place.write("1.md", "今天和小组讨论了季度预算的问题。")
    place.write("2.md", "昨日は新しい会議室を予約した")
    place.write("3.md", "지난주에 새로운 회의실을 예약했다")
    place.write("4.md", "部署api网关之后检查日志")
    return place


@pytest.mark.parametrize(
    ("query", "first"),
    [("季度预算", "1.md"), ("预算", "1.md"), ("会議室", "2.md"), ("회의실", "3.md"), ("api", "4.md"), ("小组", "1.md")],
)
def test_b15_unspaced_scripts_are_found_by_keywords_alone(scripts: Place, query: str, first: str) -> None:
    assert paths(scripts, query)[0] == first


def test_b15_a_query_across_notes_is_no_error(scripts: Place) -> None:
    assert set(paths(scripts, "预算会议室")) >= {"1.md"}


def test_b17_an_exact_name_is_found_and_ranked_by_frequency(place: Place) -> None:
    filler = "plain words about other things. " * 5
    place.write("a.md", f"{filler}\nZK-4471\n{filler}")
    place.write("b.md", "ZK-4471 " * 6 + "\n")
    for i in range(20):
        place.write(f"other{i}.md", filler)
    result = ask(place, "ZK-4471")
    assert [hit.path for hit in result.hits] == ["b.md", "a.md"]
    first, second = result.hits
    assert first.evidence.keyword > second.evidence.keyword > 0
    assert [hit.path for hit in ask(place, "ZK-4471", min_score=1.0).hits] == ["b.md"]
    assert paths(place, "4471") == ["b.md", "a.md"]


def test_p02_a_unique_token_finds_its_note_within_the_first_three(place: Place) -> None:
    for i in range(200):
        place.write(f"n{i}.md", f"rotation of signing keys in service {i} " * 20)
    place.write("rare.md", "words " * 300 + "\n\nqzxv\n\n" + "words " * 300)
    for query in ("qzxv", "rotation of the signing keys qzxv"):
        assert "rare.md" in paths(place, query)[:3]


def test_b19_a_filter_is_applied_before_the_cut(place: Place) -> None:
    for i in range(300):
        place.write(f"work/n{i}.md", "zebra zebra zebra\n")
    place.write("home/one.md", '---\ntags: ["O\'Brien", x]\n---\n' + "quiet words " * 50 + "zebra\n")
    assert paths(place, "zebra", paths=["home"], limit=5) == ["home/one.md"]
    assert paths(place, "zebra", paths=["home/"], limit=5) == ["home/one.md"]
    assert paths(place, "zebra", paths=["h*/o*.md"], limit=5) == ["home/one.md"]
    assert paths(place, "zebra", tags=["O'Brien"], limit=5) == ["home/one.md"]
    assert paths(place, "zebra", tags=["o'brien", "#X"]) == ["home/one.md"]
    with pytest.raises(InvalidInput, match="no note has the tag"):
        ask(place, "zebra", tags=["' OR 1=1 --"])
    place.write("home/two.md", "---\ntags: [茶/绿茶]\n---\nzebra\n")
    assert paths(place, "zebra", tags=["茶"]) == paths(place, "zebra", tags=["#茶/绿茶/"]) == ["home/two.md"]
    with pytest.raises(InvalidInput, match="no note has the tag '茶/绿'") as raised:
        ask(place, "zebra", tags=["x", "茶/绿"])
    assert raised.value.hint == "The nearest: 茶/绿茶."
    (place.root / "home/two.md").unlink()
    assert paths(place, "zebra quiet", paths=["work/n7.md"]) == ["work/n7.md"]
    assert len(paths(place, "zebra", paths=["home", "work"], limit=5)) == 5


def test_b19_a_common_word_is_searched_where_the_rare_one_is_filtered_away(place: Place) -> None:
    for i in range(1100):
        place.write(f"work/n{i}.md", "common\n")
    place.write("work/special.md", "rareword\n")
    place.write("home/one.md", "common\n")
    assert paths(place, "common rareword", paths=["home"]) == ["home/one.md"]


def test_p07_a_name_ranks_before_its_characters_apart(place: Place) -> None:
    place.write("apart.md", "北方的京城里有一所很大的小学。北 京 大 学。大学在北方，京剧也学。")
    place.write("name.md", "他去年从北京大学毕业。")
    assert paths(place, "北京大学")[0] == "name.md"


def test_p08_name_description_alias_tag_and_file_name_are_found(place: Place) -> None:
    place.write(
        "digest/wiki/jwt-rotation.md",
        "---\nname: Key ceremony\ndescription: 轮换签名密钥\naliases: [Schlüsseltausch]\n---\n",
    )
    place.write("b.md", "---\ntags: [observability]\nauthor: Grace Hopper\n---\nbody\n")
    for query in ("key ceremony", "签名密钥", "Schlüsseltausch", "jwt rotation", "jwt-rotation"):
        assert paths(place, query) == ["digest/wiki/jwt-rotation.md"], query
    assert paths(place, "observability") == ["b.md"]
    assert paths(place, "hopper") == ["b.md"]
    (hit,) = ask(place, "ceremony").hits
    assert (hit.name, hit.description) == ("Key ceremony", "轮换签名密钥")


def test_p20_mixed_words(place: Place) -> None:
    place.write("cpp.md", "用C++写的解析器")
    place.write("c.md", "C is a language, c c c")
    place.write("gpt.md", "训练GPT模型需要数据")
    place.write("py.md", "安装Python3之后运行")
    assert paths(place, "C++") == ["cpp.md"]
    assert paths(place, "GPT模型")[0] == "gpt.md"
    assert paths(place, "Python3") == ["py.md"]
    assert paths(place, "python") == ["py.md"]


def test_p15_limits_are_documented_and_truncation_is_told(place: Place) -> None:
    for i in range(7):
        place.write(f"n{i}.md", "pear\n")
    assert ask(place, "pear", limit=5).truncated
    assert not ask(place, "pear", limit=7).truncated
    for limit in (0, -1, MAX_LIMIT + 1, 10**9):
        with pytest.raises(InvalidInput, match="limit"):
            ask(place, "pear", limit=limit)
    with pytest.raises(InvalidInput, match="expand_depth"):
        ask(place, "pear", expand_depth=4)


@pytest.mark.parametrize(
    "query",
    [
        "",
        "   ",
        "the of and",
        "的了在",
        '"',
        "'",
        "a AND b OR NOT (c",
        "body:*",
        "\0",
        "🌱🚀",
        "NEAR(a b)",
        "x" * 100_000,
        "词 " * 50_000,
    ],
)
def test_any_query_is_data(scripts: Place, query: str) -> None:
    assert isinstance(ask(scripts, query).hits, tuple)


@given(st.text(max_size=60))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_is_a_query(scripts: Place, query: str) -> None:
    scripts.refresh()
    search(scripts.index, scripts.clock, PLAIN, query)


def test_p17_nothing_found_reads_no_file(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.write("a.md", "alpha\n")
    place.refresh()
    monkeypatch.setattr(place.vault, "scan", None)
    monkeypatch.setattr(place.vault, "read", None)
    assert search(place.index, place.clock, PLAIN, "nothing like it", vault=place.vault).hits == ()


def test_b41_a_hit_whose_file_is_gone_is_left_out(place: Place) -> None:
    for i in range(10):
        place.write(f"n{i}.md", "pear\n")
    place.refresh()
    for i in range(5):
        place.delete(f"n{i}.md")
    found = search(place.index, place.clock, PLAIN, "pear", limit=5, vault=place.vault)
    assert [hit.path for hit in found.hits] == [f"n{i}.md" for i in range(5, 10)]


def test_unknown_scopes_are_refused(place: Place) -> None:
    place.write("a.md", "alpha\n")
    with pytest.raises(InvalidInput, match="no layer 'diggest'") as caught:
        ask(place, "alpha", layers=["diggest"])
    assert "digest" in caught.value.hint
    with pytest.raises(NotFound, match="nothing at 'nope'"):
        ask(place, "alpha", paths=["nope"])
    with pytest.raises(Refused):
        ask(place, "alpha", paths=["../x"])
    with pytest.raises(InvalidInput, match="start_date"):
        ask(place, "alpha", start_date="last week")
    with pytest.raises(InvalidInput, match="is after"):
        ask(place, "alpha", start_date="2026-02-01", end_date="2026-01-01")


def test_days_of_any_year_are_days(place: Place) -> None:
    place.write("daily/2026-05-15/b.md", "alpha")
    place.write("茶.md", "alpha")
    both = ["daily/2026-05-15/b.md", "茶.md"]
    assert sorted(paths(place, "alpha", start_date="0001-01-01", end_date="9999-12-31")) == both
    assert paths(place, "alpha", start_date="9999-12-31") == []
    assert paths(place, "alpha", end_date="0001-01-01") == []


def test_filters_by_date_layer_and_property(place: Place) -> None:
    place.write("daily/2026-05-14/a.md", "alpha\n")
    place.write("daily/2026-05-15/b.md", "alpha\n")
    place.write("digest/wiki/c.md", "---\nstatus: Open\npriority: 2\n---\nalpha\n")
    os.utime(place.root / "digest/wiki/c.md", (0, 0))
    assert paths(place, "alpha", start_date="2026-05-15", end_date="2026-05-15") == ["daily/2026-05-15/b.md"]
    assert paths(place, "alpha", end_date="1970-01-01") == ["digest/wiki/c.md"]
    assert paths(place, "alpha", layers=["digest"]) == ["digest/wiki/c.md"]
    assert paths(place, "alpha", where={"status": "open", "priority": 2}) == ["digest/wiki/c.md"]
    assert paths(place, "alpha", where={"status": "closed"}) == []


def test_reports_are_searched_only_by_name_of_their_layer(place: Place) -> None:
    place.write("audit/2026-05-15/r.md", "alpha\n")
    place.write("a.md", "alpha\n")
    assert paths(place, "alpha") == ["a.md"]
    assert paths(place, "alpha", layers=["audit"]) == ["audit/2026-05-15/r.md"]


def test_topics_of_a_day_are_found_only_by_their_name(place: Place) -> None:
    said, topics = "the 青禾 budget is cut", "daily/2026-05-14/interests.yaml"
    place.write("daily/2026-05-14/budget.md", said)
    place.write(topics, f"- title: {said}\n  evidence: [{said}]\n")
    place.write("notes/interests.yaml", f"mine: {said}\n")
    assert sorted(paths(place, "青禾 budget")) == ["daily/2026-05-14/budget.md", "notes/interests.yaml"]
    assert paths(place, "青禾 budget", layers=["daily"]) == ["daily/2026-05-14/budget.md"]
    assert paths(place, "青禾 budget", paths=[topics]) == [topics]


def test_a_score_computed_by_hand(place: Place) -> None:
    place.write("x.md", "alpha beta\n")
    place.write("y.md", "alpha alpha gamma delta\n")
    place.write("digest/wiki/z.md", "epsilon [[y]]\n")
    for file in ("x.md", "y.md", "digest/wiki/z.md"):
        os.utime(place.root / file, (NOW.timestamp() - 30 * 86_400,) * 2)
    result = ask(place, "alpha beta")
    lengths = {"x.md": 3, "y.md": 5, "digest/wiki/z.md": 3}
    mean = sum(lengths.values()) / 3
    rarity = {"alpha": math.log(1 + (3 - 2 + 0.5) / 2.5), "beta": math.log(1 + (3 - 1 + 0.5) / 1.5)}

    def part(term: str, frequency: float, path: str) -> float:
        return rarity[term] * frequency * 1.9 / (frequency + 0.9 * (0.6 + 0.4 * lengths[path] / mean))

    covered = {
        "x.md": (part("alpha", 1, "x.md") + part("beta", 1, "x.md")) / sum(rarity.values()),
        "y.md": part("alpha", 2, "y.md") / sum(rarity.values()),
    }
    factor = 0.9 * math.exp(-0.5)
    central = {"x.md": 1.0, "y.md": 1 + 0.15 * math.log(2)}
    assert [hit.path for hit in result.hits] == ["x.md", "y.md"]
    for hit in result.hits:
        keyword = covered[hit.path] ** 1.5
        assert hit.evidence.keyword == pytest.approx(keyword)
        assert hit.evidence.base == pytest.approx(keyword * 1.4)
        assert hit.score == pytest.approx(keyword * 1.4 * factor * central[hit.path])


@pytest.mark.parametrize(
    ("three", "query"),
    [(("badger", "lantern", "quarry"), "quarry badger lantern"), (("雪豹", "灯笼", "琴弦"), "琴弦 雪豹 灯笼")],
)
def test_words_that_one_note_has_in_different_pieces_find_it(
    place: Place, three: tuple[str, str, str], query: str
) -> None:
    talk = "plain talk of this and that day. " * 40
    place.write("home.md", "".join(f"## Part {i}\n\n{talk}\n\n{word}\n\n" for i, word in enumerate(three)))
    for i in range(80):
        place.write(f"two{i:02}.md", f"{three[i % 3]} {three[(i + 1) % 3]} {talk}\n")
    first, *others = ask(place, query, limit=20, top_chunks_per_path=9).hits
    assert (first.path, len(first.chunks)) == ("home.md", 3)
    assert first.evidence.keyword == pytest.approx(1 / (1 + 0.05 * 2))
    off = replace(PLAIN, scattering=None)
    without = search(place.index, place.clock, off, query, limit=20).hits
    assert "home.md" not in [hit.path for hit in without]
    assert [hit.evidence for hit in without[:19]] == [hit.evidence for hit in others], "these are as they were"
    assert paths(place, query, paths=["two*"])[0].startswith("two")
    assert paths(place, query, paths=["home.md"]) == ["home.md"]


def test_turns_of_other_days_do_not_count_where_days_are_asked_for(place: Place) -> None:
    said = [("alpha 茶", "2026-05-10"), ("beta 梨", "2026-05-11"), ("x", "2026-05-11")]
    rows = [f'{{"speaker": "Ann", "text": "{text}", "at": "{day}"}}' for text, day in said]
    place.write("session/dialog/a.jsonl", "\n".join(rows))
    for query in ("alpha beta", "茶 梨"):
        whole = ask(place, query).hits[0].evidence.keyword
        part = ask(place, query, start_date="2026-05-11").hits[0].evidence.keyword
        assert whole == pytest.approx(1 / (1 + 0.05 * 2))
        assert part < 0.5


def test_what_stands_around_counts(place: Place) -> None:
    turns = [
        f'{{"role": "user", "text": "{text}", "at": "2026-05-1{i}"}}' for i, text in enumerate(["zero", "alpha", "two"])
    ]
    place.write("session/dialog/a.jsonl", "\n".join(turns))
    (hit,) = ask(place, "alpha", top_chunks_per_path=3).hits
    own = hit.evidence.keyword
    mean = (own + 0.2 * own + 0.2 * own) / 3
    assert [chunk.line for chunk in hit.chunks] == [2, 1, 3]
    assert [chunk.score for chunk in hit.chunks] == pytest.approx([own + 0.4 * mean] + [0.2 * own + 0.4 * mean] * 2)


def test_the_one_named_speaker_is_preferred(place: Place) -> None:
    rows = [f'{{"speaker": "{who}", "text": "I like hiking", "at": "2026-05-10"}}' for who in ("Ann", "Bob")]
    place.write("session/dialog/a.jsonl", "\n".join(rows))
    best = [ask(place, query).hits[0].chunks[0].speaker for query in ("does Ann like hiking", "does Bob like hiking")]
    assert best == ["Ann", "Bob"]


def test_factors_are_clamped_and_can_be_off(place: Place) -> None:
    place.write("old.md", "alpha\n")
    os.utime(place.root / "old.md", (0, 0))
    (hit,) = ask(place, "alpha").hits
    assert (hit.evidence.recency, hit.evidence.centrality, hit.evidence.layer) == (0.5, 1.0, 0.9)
    off = replace(PLAIN, alpha=None, tau_days=None)
    (bare,) = search(place.index, place.clock, off, "alpha").hits
    assert (bare.evidence.recency, bare.evidence.centrality) == (None, None)
    assert bare.score == pytest.approx(bare.evidence.base * 0.9)


def test_rrf_is_exactly_as_specified(place: Place) -> None:
    place.write("a.md", "alpha alpha\n")
    place.write("b.md", "alpha beta gamma delta\n")
    rrf = replace(PLAIN, fusion="rrf", alpha=None, tau_days=None, layer_weights={"other": 1.0})
    place.refresh()
    hits = search(place.index, place.clock, rrf, "alpha").hits
    assert [(hit.path, hit.score) for hit in hits] == [("a.md", 0.3 / 61), ("b.md", 0.3 / 62)]


def test_chunks_are_exact_with_lines_and_trail(place: Place) -> None:
    section = "\n".join(f"Sentence {i} about the ceremony of signing keys." for i in range(60))
    text = f"---\nname: Keys\n---\n# Rotation\n\nintro\n\n## Steps\n\n{section}\n\n## 之后\n\n检查日志\n"
    place.write("a.md", text)
    (hit,) = ask(place, "日志 rotation").hits
    lines = text.split("\n")
    for chunk in hit.chunks:
        assert chunk.text.strip() == "\n".join(lines[chunk.line - 1 : chunk.end_line]).strip()
    assert any(chunk.trail[-1:] == ("之后",) for chunk in hit.chunks)
    assert len(hit.chunks) == 2
    assert len(ask(place, "ceremony", top_chunks_per_path=1).hits[0].chunks) == 1


def test_results_do_not_depend_on_how_the_index_came_to_be(place: Place) -> None:
    from reme.index import rebuild

    for i in range(30):
        place.write(f"n{i}.md", f"alpha word{i} [[n{(i * 7) % 30}]]\n")
        if i % 5 == 0:
            place.refresh()
    place.write("n3.md", "beta [[n4]]\n")
    place.delete("n5.md")
    incremental = ask(place, "alpha word7 beta", limit=20)
    rebuild(place.index, place.vault)
    assert ask(place, "alpha word7 beta", limit=20) == incremental


def test_words_alone_need_no_numpy(place: Place) -> None:
    place.write("a.md", "alpha beta\n")
    script = f"""
import sys
sys.modules["numpy"] = None
from pathlib import Path
from zoneinfo import ZoneInfo
from reme.clock import system_clock
from reme.index import open_index, refresh
from reme.search import SearchSettings, search
from reme.vault import Layout, Vault
clock = system_clock(ZoneInfo("UTC"))
vault = Vault(Path({str(place.root)!r}), layout=Layout(), clock=clock)
index = open_index(vault.state_dir / "index.db", Layout())
refresh(index, vault)
result = search(index, clock, SearchSettings(), "alpha")
print([hit.path for hit in result.hits], result.legs["vector"])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "['a.md'] no embedder\n"


def test_unknown_filters_name_the_nearest(place: Place) -> None:
    place.write("digest/wiki/tea.md", "---\ntags: [drink/tea, 饮料]\nstatus: open\n状态: 新\n---\nalpha\n")
    place.write("daily/2026-05-15/b.md", "alpha\n")
    for options, near in (
        ({"layers": ["diggest"]}, "The nearest: digest."),
        ({"paths": ["digest/wik"]}, "digest/wiki"),
        ({"paths": ["tea.md"]}, "digest/wiki/tea.md"),
        ({"paths": ["notes/tea"]}, "digest/wiki/tea.md"),
        ({"paths": ["daily/2026-05-16"]}, "daily/2026-05-15"),
        ({"tags": ["drinks/tea"]}, "drink/tea"),
        ({"tags": ["饮料水"]}, "饮料"),
        ({"where": {"statis": "open"}}, "status"),
        ({"where": {"状态值": "open"}}, "状态"),
    ):
        with pytest.raises(NotFound if "paths" in options else InvalidInput) as caught:
            ask(place, "alpha", **options)
        assert near in caught.value.hint
    assert paths(place, "alpha", tags=["#Drink"]) == ["digest/wiki/tea.md"]
    assert paths(place, "alpha", tags=["饮料", "drink/tea"]) == ["digest/wiki/tea.md"]
    with pytest.raises(InvalidInput, match="no note has the tag"):
        ask(place, "alpha", tags=["qzxv"])
    assert paths(place, "alpha", where={"status": "closed"}) == [], "a value that nothing has now is no mistake"
    assert len(paths(place, "alpha", where={"qzxv": None})) == 2


def test_a_hit_has_a_date_from_its_properties_its_path_or_its_time(place: Place) -> None:
    place.write("daily/2026-05-14/a.md", "---\ndate: 2026-05-01\n---\nalpha\n")
    place.write("daily/2026-05-14/b.md", "alpha\n")
    place.write("c.md", "alpha\n")
    os.utime(place.root / "c.md", (NOW.timestamp() - 86_400,) * 2)
    dates = {hit.path: hit.date for hit in ask(place, "alpha").hits}
    assert dates == {"daily/2026-05-14/a.md": "2026-05-01", "daily/2026-05-14/b.md": "2026-05-14", "c.md": "2026-05-19"}
    found = {p: paths(place, "alpha", start_date=d, end_date=d) for p, d in dates.items()}
    assert found == {path: [path] for path in dates}


def test_the_origin_of_a_note_is_told(place: Place) -> None:
    for name, origin in (("a", "person"), ("b", "web"), ("c", "Berlin"), ("d", "[1]")):
        place.write(f"{name}.md", f"---\norigin: {origin}\n---\nalpha\n")
    place.write("e.md", "alpha\n")
    result = ask(place, "alpha")
    told = {hit.path: hit.origin for hit in result.hits}
    assert told == {"a.md": "person", "b.md": "web", "c.md": None, "d.md": None, "e.md": None}
    lines = search_text(replace(result, full=True)).splitlines()
    assert sum(line.endswith(" layer=0.90 origin=web]") for line in lines) == 1
    assert sum(line.endswith(" layer=0.90]") for line in lines) == 3


def test_the_origin_of_a_note_whose_properties_are_odd(place: Place) -> None:
    deep = "[" * 1500 + "]" * 1500
    place.write("a.md", "---\norigin: web\nnumber: .nan\nmore: .inf\n---\nalpha 茶\n")
    place.write("b.md", f"---\norigin: web\ndeep: {deep}\n---\nalpha 茶\n")
    place.write("c.md", "---\norigin: [web]\n---\nalpha 茶\n")
    found = {hit.path: hit.origin for hit in ask(place, "alpha 茶").hits}
    assert found.keys() == {"a.md", "b.md", "c.md"}
    assert found["a.md"] == "web"
    assert found["c.md"] is None
