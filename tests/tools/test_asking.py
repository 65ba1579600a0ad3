"""Search and traversal over what is on disk now."""

import pytest

from reme.errors import InvalidInput, NotFound
from reme.tools import search, search_text, traverse, traverse_text, write
from tests.tools.house import House


def test_search_finds_what_was_just_written(house: House) -> None:
    write(house.ask(), "digest/wiki/令牌轮换", "旧令牌在换密钥之后失效。见 [[b]]。\n", name="令牌轮换")
    house.lay({"b.md": "ZK-4471\n"})
    result = search(house.ask(), "令牌")
    assert [hit.path for hit in result.hits] == ["digest/wiki/令牌轮换.md"]
    assert "========== digest/wiki/令牌轮换.md ==========" in search_text(result)
    assert [hit.path for hit in search(house.ask(), "ZK-4471").hits] == ["b.md"]
    assert search_text(search(house.ask(), "nothing of the kind")) == "no hits"


def test_b19_filters(house: House) -> None:
    house.lay({f"work/{n}.md": "zebra\n" for n in range(30)} | {"home/a.md": '---\ntags: ["O\'Brien"]\n---\nzebra\n'})
    assert [hit.path for hit in search(house.ask(), "zebra", paths=["home"]).hits] == ["home/a.md"]
    assert [hit.path for hit in search(house.ask(), "zebra", tags=["#O'Brien"]).hits] == ["home/a.md"]
    with pytest.raises(InvalidInput):
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
