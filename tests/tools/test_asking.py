"""Search and traversal over what is on disk now."""

import json
from dataclasses import replace

import pytest

from reme.errors import InvalidInput, NotFound
from reme.search import AccessLog, Signals
from reme.tools import (
    list_files,
    read,
    recall,
    recall_text,
    search,
    search_text,
    stat,
    traverse,
    traverse_text,
    write,
)
from tests.tools.house import House


def test_search_finds_what_was_just_written(house: House) -> None:
    write(house.ask(), "digest/wiki/令牌轮换", "旧令牌在换密钥之后失效。见 [[b]]。\n", name="令牌轮换")
    house.lay({"b.md": "ZK-4471\n"})
    result = search(house.ask(), "令牌")
    assert [hit.path for hit in result.hits] == ["digest/wiki/令牌轮换.md"]
    assert search_text(result).startswith("digest/wiki/令牌轮换.md:4 ")
    assert search_text(result).splitlines()[1:] == ["  旧令牌在换密钥之后失效。见 [[b]]。"]
    full = search_text(search(house.ask(), "令牌", full=True))
    assert "========== digest/wiki/令牌轮换.md ==========" in full
    assert full in search_text(search(house.ask(), "令牌", explain=True))
    assert [hit.path for hit in search(house.ask(), "ZK-4471").hits] == ["b.md"]
    assert search_text(search(house.ask(), "nothing of the kind")).startswith("no hits: ")


def test_b19_filters(house: House) -> None:
    house.lay({f"work/{n}.md": "zebra\n" for n in range(30)} | {"home/a.md": '---\ntags: ["O\'Brien"]\n---\nzebra\n'})
    assert [hit.path for hit in search(house.ask(), "zebra", paths=["home"]).hits] == ["home/a.md"]
    assert [hit.path for hit in search(house.ask(), "zebra", tags=["#O'Brien"]).hits] == ["home/a.md"]
    with pytest.raises(NotFound):
        search(house.ask(), "zebra", paths=["nope"])
    with pytest.raises(InvalidInput):
        search(house.ask(), "zebra", where=["x"])


def test_traverse(house: House) -> None:
    house.lay({"a.md": "part_of:: [[b]]\n", "b.md": "[[c]] [[later]]\n", "c.md": "[[a]]\n"})
    result = traverse(house.ask(), ["a"], depth=2)
    assert [(node.path, node.distance) for node in result.nodes] == [("a.md", 0), ("b.md", 1), ("c.md", 2)]
    assert "a.md:1 → b.md via part_of" in traverse_text(result)
    back = traverse(house.ask(), ["b.md"], direction="backward", predicates=["part_of"])
    assert [node.path for node in back.nodes] == ["b.md", "a.md"]
    with pytest.raises(NotFound):
        traverse(house.ask(), ["nope"])


def test_b21_a_link_leads_somewhere_as_soon_as_the_note_is_there(house: House) -> None:
    house.lay({"a.md": "[[Later]]\n"})
    edges = traverse(house.ask(), ["a"], unresolved=True).edges
    assert [(edge.target, edge.resolved) for edge in edges] == [("Later", False)]
    write(house.ask(), "Later", "x\n")
    assert [node.path for node in traverse(house.ask(), ["a"]).nodes] == ["a.md", "Later.md"]


def test_recall_is_a_block_with_sources(house: House) -> None:
    house.lay({"a.md": "---\nname: Tea\n---\nGreen tea is kept cold.\n\npart_of:: [[b]]\n", "b.md": "绿茶和红茶\n"})
    result = recall(house.ask(), "what is tea?")
    assert recall_text(result).startswith("<reme-recall ")
    assert "a.md:4\n  > Green tea is kept cold." in result.block
    assert "- part_of → b.md (b)" in result.block
    assert recall(house.ask(), "绿茶").facts[0].path == "b.md"
    assert recall_text(recall(house.ask(), "nothing of the kind")).startswith("nothing recalled: ")
    with pytest.raises(NotFound):
        recall(house.ask(), "tea", paths=["nope"])


def test_what_is_found_or_read_is_counted(house: House) -> None:
    pages = {"a.md": "zebra\n", "digest/_buckets.md": "zebra\n", "daily/2026-05-15.md": "zebra\n"}
    house.lay(
        pages | {"daily/2026-05-15/b.md": "zebra\n", "archive/c.md": "zebra\n", "audit/2026-05-15/d.md": "zebra\n"}
    )
    log = AccessLog(house.state, house.clock)
    workspace = replace(house.ask(), access=log)
    assert len(search(workspace, "zebra", limit=10, include_archived=True).hits) == 5
    recall(workspace, "zebra")
    for path in ("archive/c", "audit/2026-05-15/d", "daily/2026-05-15", "a"):
        read(workspace, path)
    with pytest.raises(NotFound):
        read(workspace, "gone")
    log.close()
    found: list[tuple[str, str]] = []
    house.state.hand_over_hits(found.extend)
    assert found == [("a.md", "2026-05-15"), ("daily/2026-05-15/b.md", "2026-05-15")]


def test_traverse_leaves_out_what_is_marked_as_archived(house: House) -> None:
    house.lay({"a.md": "[[b]] [[c]]\n", "b.md": "x\n", "c.md": "x\n"})
    folder = house.root.parent / "meta"
    folder.mkdir()
    signal = {"version": 1, "computed_at": "2026-05-15T00:00:00+00:00", "archived": {"b.md": "2026-05-01"}}
    (folder / "archived.json").write_text(json.dumps(signal))
    workspace = replace(house.ask(), signals=Signals(folder))
    assert [node.path for node in traverse(workspace, ["a"], exclude_archived=True).nodes] == ["a.md", "c.md"]
    assert [node.path for node in traverse(workspace, ["a"]).nodes] == ["a.md", "b.md", "c.md"]


def test_a_resource_is_of_the_origin_that_is_recorded_beside_it(house: House) -> None:
    recorded = "- at: 2026-05-15T10:00:00+00:00\n  origin: {}\n"
    house.lay(
        {
            "resource/2026-05-15/a.md": "zebra 斑马\n",
            "resource/2026-05-15/a.md.meta.yaml": recorded.format("tool"),
            "resource/2026-05-15/b.md": "---\norigin: web\n---\nzebra 斑马\n",
            "resource/2026-05-15/b.md.meta.yaml": recorded.format("person"),
            "resource/2026-05-15/c.md": "zebra 斑马\n",
            "d.md": "zebra 斑马\n",
        }
    )
    for query in ("zebra", "斑马"):
        told = {hit.path.rpartition("/")[2]: hit.origin for hit in search(house.ask(), query).hits}
        assert told == {"a.md": "tool", "b.md": "web", "c.md": "web", "d.md": None}
        facts = recall(house.ask(), query).facts
        assert [fact.evidence.origin for fact in facts] == sorted((f.evidence.origin for f in facts), reverse=True)
        assert {fact.origin for fact in facts} <= {"tool", "web", None}


def test_legs_can_be_weighed(house: House) -> None:
    house.lay({"a.md": "zebra\n"})
    result = search(house.ask(), "zebra", weights=["vector=0", "keyword=2"])
    assert (result.legs["vector"], [hit.path for hit in result.hits]) == ("off", ["a.md"])
    assert search(house.ask(), "zebra", weights=["keyword=0"]).legs["keyword"] == "off"
    for wrong in (["vector"], ["vector=x"], ["words=1"], ["vector=-1"], ["vector=0", "keyword=0"], ["vector=nan"]):
        with pytest.raises(InvalidInput):
            search(house.ask(), "zebra", weights=wrong)


def test_what_is_known_of_a_resource_is_found_as_the_resource(house: House) -> None:
    house.lay(
        {
            "resource/2026-05-15/plan.png": "\x89PNG\0\0",
            "resource/2026-05-15/plan.png.meta.yaml": "- revision: x\n  source: the wharf 码头\n  origin: tool\n",
            "resource/2026-05-15/notes.txt": "the wharf is closed\n",
            "resource/2026-05-15/notes.txt.meta.yaml": "- note: wharf 码头\n",
            "resource/2026-05-15/gone.txt.meta.yaml": "- note: wharf 码头\n",
            "other/plan.meta.yaml": "note: wharf 码头\n",
        }
    )
    alone = {"resource/2026-05-15/gone.txt.meta.yaml", "other/plan.meta.yaml"}
    resources = {"resource/2026-05-15/plan.png", "resource/2026-05-15/notes.txt"}
    for asked in ("wharf", "码头"):
        found = search(house.ask(), asked)
        assert len(found.hits) == 4
        assert {hit.path for hit in found.hits} == resources | alone
        plan = next(hit for hit in found.hits if hit.path.endswith("plan.png"))
        assert (plan.origin, plan.chunks[0].path) == ("tool", "resource/2026-05-15/plan.png.meta.yaml")
        line = f"{plan.path} {plan.score:.4f} {plan.name} (origin tool)"
        lines = search_text(found).splitlines()
        assert lines[lines.index(line) + 1] == "  source: the wharf 码头"
        full = search_text(search(house.ask(), asked, full=True)).splitlines()
        assert "--- @1-3 resource/2026-05-15/plan.png.meta.yaml ---" in full
    (only,) = search(house.ask(), "wharf", paths=["resource/2026-05-15/plan.png"]).hits
    assert only.path == "resource/2026-05-15/plan.png"
    assert {file.path for file in list_files(house.ask()).files} == resources | alone
    assert list_files(house.ask()).total == 4
    (beside,) = list_files(house.ask(), "resource/2026-05-15/plan.png.meta.yaml").files
    assert stat(house.ask(), beside.path).path == beside.path
    assert "wharf" in read(house.ask(), beside.path).text
    fact = next(fact for fact in recall(house.ask(), "wharf 码头").facts if "revision" in fact.text)
    assert (fact.path, fact.line) == (beside.path, 1)
