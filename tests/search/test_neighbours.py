"""Neighbours and the text form of results."""

import json
import os
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from reme.search import SearchResult, SearchSettings, Signals, search, search_text
from reme.search.snippet import snippet
from reme.testing import SyntheticEmbedder
from tests.index.place import NOW, Place


@pytest.fixture
def linked(place: Place) -> Place:
    place.write(
        "digest/wiki/jwt-rotation.md",
        "---\nname: JWT key rotation\ndescription: Rotating signing keys without downtime\n---\n# Rotation\n\n"
        "rotate the JWT keys\n\ndepends_on:: [[digest/procedure/key-ceremony.md]]\n\nsee [[daily/2026-05-15/jwt.md]] "
        "and [[daily/2026-05-15/jwt.md#again]]\n",
    )
    place.write(
        "digest/procedure/key-ceremony.md",
        '---\nname: Key "ceremony"\ndescription: 仪式\n---\n[[digest/wiki/deep.md]]\n',
    )
    place.write("digest/wiki/deep.md", "---\nname: Deep\n---\nfar away\n")
    place.write("daily/2026-05-15/jwt.md", "---\nname: incident\n---\nit happened\n")
    place.write("digest/wiki/oauth.md", "---\nname: OAuth\n---\npart_of:: [[jwt-rotation]]\n")
    place.write("daily/2026-05-15.md", "[[digest/wiki/jwt-rotation.md]]\n")
    place.write("archive/old.md", "[[digest/wiki/jwt-rotation.md]]\n")
    for file in place.root.rglob("*.md"):
        os.utime(file, (NOW.timestamp(),) * 2)
    place.refresh()
    return place


def test_the_text_form_exactly(linked: Place) -> None:
    result = search(linked.index, linked.clock, SearchSettings(), "rotate JWT keys", limit=1)
    (hit,) = result.hits
    score = f"score={hit.score:.4f} keyword={hit.evidence.keyword:.4f}"
    assert search_text(replace(result, full=True)) == (
        "========== digest/wiki/jwt-rotation.md ==========\n"
        "[node] JWT key rotation — Rotating signing keys without downtime\n"
        f"[{score} centrality=1.10 recency=1.00 layer=1.00]\n"
        "--- @5-11 Rotation ---\n"
        "# Rotation\n\nrotate the JWT keys\n\ndepends_on:: [[digest/procedure/key-ceremony.md]]\n\n"
        "see [[daily/2026-05-15/jwt.md]] and [[daily/2026-05-15/jwt.md#again]]\n"
        "outlinks (2):\n"
        '  → digest/procedure/key-ceremony.md name="Key \\"ceremony\\"" description="仪式" via depends_on\n'
        '  → daily/2026-05-15/jwt.md name="incident" via plain\n'
        "inlinks (1):\n"
        '  ← digest/wiki/oauth.md name="OAuth" via part_of'
    )


def test_the_short_text_form_exactly(linked: Place) -> None:
    result = search(linked.index, linked.clock, SearchSettings(), "rotating JWT keys", limit=1)
    (hit,) = result.hits
    shown = f"digest/wiki/jwt-rotation.md:5-11 {hit.score:.4f} JWT key rotation\n  rotate the JWT keys"
    assert search_text(result) == shown
    linked.write("digest/wiki/gatehouse.md", "---\nname: Gatehouse\ndescription: 门房\n---\n")
    linked.refresh()
    (hit,) = search(linked.index, linked.clock, SearchSettings(), "gatehouse").hits
    assert search_text(SearchResult("gatehouse", (hit,))) == f"{hit.path} {hit.score:.4f} Gatehouse\n  门房"


def test_a_snippet_is_the_line_that_says_most() -> None:
    long = " ".join(f"w{i}" for i in range(80))
    cases = {
        ("# Kettles\n\nfirst\n\nthe kettle boils fast\n", "boiling kettles"): "the kettle boils fast",
        ("# Only a heading\n", "heading"): "# Only a heading",
        ("第一行\n\n令牌每年轮换一次\n", "轮换令牌"): "令牌每年轮换一次",
        ("  none\tof  them \n\nb\n", "zebra"): "none of them",
        ("source:: [[session/dialog/轮换.jsonl]]\n\n-\n\nKeys live long.\n", "轮换"): "Keys live long.",
        ("", "zebra"): "",
        ("a\n", ""): "a",
    }
    assert {case: snippet(*case) for case in cases} == cases
    cut = snippet(f"{long} zebra {long}\n", "zebra")
    assert cut.startswith("… ")
    assert cut.endswith(" …")
    assert " zebra " in cut
    assert len(cut) < 300
    wide = snippet("长" * 400 + "轮换" + "长" * 400, "轮换")
    assert "轮换" in wide
    assert len(wide.encode()) < 300


def test_a_turn_of_a_dialogue_is_shown_as_what_was_said(place: Place) -> None:
    place.write("session/dialog/s.jsonl", '{"speaker": "Ana", "text": "the kettle\\nis new", "at": "2026-05-01"}\n')
    place.refresh()
    result = search(place.index, place.clock, SearchSettings(), "kettle")
    assert search_text(result).splitlines()[1] == "  Ana: the kettle"


def test_neighbours_are_those_of_the_present_state(linked: Place) -> None:
    def around() -> tuple[list[str], list[str]]:
        (hit,) = search(linked.index, linked.clock, SearchSettings(), "rotate JWT keys", limit=1).hits
        return [one.name for one in hit.outlinks], [one.path for one in hit.inlinks]

    before = around()
    assert before == around()
    linked.write("digest/wiki/new.md", "[[jwt-rotation]]\n")
    linked.write("daily/2026-05-15/jwt.md", "---\nname: another name\n---\nit happened\n")
    linked.delete("digest/wiki/oauth.md")
    linked.refresh()
    assert before == (['Key "ceremony"', "incident"], ["digest/wiki/oauth.md"])
    assert around() == (['Key "ceremony"', "another name"], ["digest/wiki/new.md"])


def test_what_is_to_be_known_of_a_result_follows_it(linked: Place, tmp_path: Path) -> None:
    (tmp_path / "meta").mkdir()
    (tmp_path / "meta" / "communities.json").write_text("{")
    signals, embedder = Signals(tmp_path / "meta"), SyntheticEmbedder()
    result = search(linked.index, linked.clock, SearchSettings(), "仪式", signals=signals, embedder=embedder)
    plain = search(linked.index, linked.clock, SearchSettings(), "仪式")
    assert search_text(result).startswith(search_text(plain))
    leg, warning = search_text(result).splitlines()[-2:]
    assert leg == "vector leg: nothing is embedded yet"
    assert warning.startswith("warning: communities are not used: ")


def test_how_a_result_came_about_can_be_read(linked: Place) -> None:
    result = search(linked.index, linked.clock, SearchSettings(), "JWT 仪式", limit=1, explain=True)
    assert result.explanation is not None
    (chunk,) = result.explanation.chunks
    lines = search_text(result).splitlines()
    first = lines.index("how it came about (context):")
    assert lines[first + 1].startswith("  looked for ")
    assert lines[-1] == (
        f"  {chunk.path}:{chunk.line} keyword_rank={chunk.keyword_rank} keyword={chunk.keyword:.4f} "
        f"own={chunk.own:.4f} with_context={chunk.with_context:.4f}"
    )
    assert [line.split()[1] for line in lines if line.startswith("  term ")] == ["jwt:", "仪式:"]


def test_results_are_plain_data(linked: Place) -> None:
    result = search(linked.index, linked.clock, SearchSettings(), "rotate JWT keys")
    loaded = json.loads(json.dumps(asdict(result), ensure_ascii=False))
    assert loaded["version"] == 1
    assert loaded["hits"][0]["outlinks"][0]["predicates"] == ["depends_on"]


def test_depth_and_budget(linked: Place) -> None:
    def outlinks(**options: int) -> list[tuple[str, int]]:
        found = search(linked.index, linked.clock, SearchSettings(), "rotate JWT keys", limit=1, **options)
        return [(one.path, one.distance) for one in found.hits[0].outlinks]

    near = [("digest/procedure/key-ceremony.md", 1), ("daily/2026-05-15/jwt.md", 1)]
    assert outlinks() == near
    assert outlinks(expand_depth=0) == []
    assert outlinks(expand_depth=2) == [*near, ("digest/wiki/deep.md", 2)]
    assert outlinks(expand_depth=3, expand_path_budget=3) == near
    assert outlinks(expand_path_budget=1) == near[:1]
    assert outlinks(max_links_per_direction=1) == near[:1]
    assert outlinks(max_links_per_direction=0) == []


def test_a_hub_does_not_take_the_whole_budget(place: Place) -> None:
    for i in range(40):
        place.write(f"l{i:02}.md", "[[hub]] [[small]]\n" if i == 0 else "[[hub]]\n")
    place.write("hub.md", "pear pear\n")
    place.write("small.md", "pear\n")
    place.refresh()
    settings = SearchSettings(max_links_per_direction=30, expand_path_budget=10)
    hits = search(place.index, place.clock, settings, "pear").hits
    assert sum(len(hit.inlinks) for hit in hits) == 10
    assert [one.path for hit in hits if hit.path == "small.md" for one in hit.inlinks] == ["l00.md"]


def test_no_hits(place: Place) -> None:
    assert search_text(search(place.index, place.clock, SearchSettings(), "x")).startswith("no hits: ")
