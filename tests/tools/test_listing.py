"""What is there: lists, one file's particulars, tags."""

import os
from typing import Any

import pytest

from reme.errors import InvalidInput, NotFound
from reme.revision import revision_of
from reme.tools import list_files, list_text, search, stat, stat_text, tags, tags_text
from tests.tools.house import House

FILES = {
    "daily/2026-05-14/茶.md": "---\nname: 茶\ndescription: 关于茶\ntags: [drink/tea, home]\nstatus: open\n---\n内容\n",
    "daily/2026-05-15/b.md": "---\nstatus: done\n---\n#home [[茶]]\n",
    "digest/wiki/c.md": "#drink\n",
    "resource/2026-05-15/data.csv": "a,b\n1,2\n",
}


@pytest.fixture(autouse=True)
def _files(house: House) -> None:
    house.lay(FILES)


def paths(listing: object) -> list[str]:
    return [file.path for file in listing.files]  # type: ignore[attr-defined]


def test_everything(house: House) -> None:
    result = list_files(house.ask())
    assert (paths(result), result.total, result.truncated) == (sorted(FILES), 4, False)
    tea = result.files[0]
    assert (tea.name, tea.description, tea.layer, tea.date) == ("茶", "关于茶", "daily", "2026-05-14")
    assert tea.revision == revision_of(house.data(tea.path))
    assert "daily/2026-05-14/茶.md 茶 — 关于茶" in list_text(result)


def test_narrowed(house: House) -> None:
    ask = house.ask()
    assert paths(list_files(ask, "daily")) == ["daily/2026-05-14/茶.md", "daily/2026-05-15/b.md"]
    assert paths(list_files(ask, "daily/2026-05-14/")) == ["daily/2026-05-14/茶.md"]
    assert paths(list_files(ask, "daily/*/b.md")) == ["daily/2026-05-15/b.md"]
    assert paths(list_files(ask, layers=["digest", "resource"])) == ["digest/wiki/c.md", "resource/2026-05-15/data.csv"]
    assert paths(list_files(ask, tags=["#drink"])) == ["daily/2026-05-14/茶.md", "digest/wiki/c.md"]
    assert paths(list_files(ask, tags=["drink", "home"])) == ["daily/2026-05-14/茶.md"]
    assert paths(list_files(ask, where=["status=Open"])) == ["daily/2026-05-14/茶.md"]
    assert list_text(list_files(ask, layers=["archive"])) == "no files: ask with fewer conditions"


def test_pages(house: House) -> None:
    ask = house.ask()
    first = list_files(ask, limit=3)
    assert (len(first.files), first.total, first.truncated) == (3, 4, True)
    assert "go on with offset 3" in list_text(first)
    rest = list_files(ask, limit=3, offset=3)
    assert (len(rest.files), rest.truncated) == (1, False)
    assert paths(first) + paths(rest) == sorted(FILES)
    assert paths(list_files(ask, sort="size", descending=True))[0] == "daily/2026-05-14/茶.md"
    assert paths(list_files(ask, sort="name", limit=1)) == ["daily/2026-05-15/b.md"]


def test_b61_unknown_scope_is_an_error(house: House) -> None:
    with pytest.raises(NotFound, match="nope"):
        list_files(house.ask(), "nope")
    for near, meant in (
        ("dialy", "daily"),
        ("digest/wikki", "digest/wiki"),
        ("digest/c", "digest/wiki/c.md"),
    ):
        with pytest.raises(NotFound) as unknown:
            list_files(house.ask(), near)
        assert meant in unknown.value.hint
        with pytest.raises(NotFound):
            search(house.ask(), "x", paths=[near])
    for condition in ("status", "=x"):
        with pytest.raises(InvalidInput):
            list_files(house.ask(), where=[condition])


def test_stat(house: House) -> None:
    facts = stat(house.ask(), "daily/2026-05-14/茶")
    assert (facts.format, facts.properties["status"], facts.backlinks) == ("note", "open", ("daily/2026-05-15/b.md",))
    assert facts.size == len(FILES["daily/2026-05-14/茶.md"].encode())
    assert "backlinks: daily/2026-05-15/b.md" in stat_text(facts)
    house.lay({".remeignore": "ignored.md\n", "ignored.md": "x"})
    facts = stat(house.ask(), "ignored")
    assert (facts.format, facts.size, facts.revision) == (None, 1, revision_of(b"x"))
    with pytest.raises(NotFound):
        stat(house.ask(), "nope")


def test_tags(house: House) -> None:
    counts = {entry.tag: entry.files for entry in tags(house.ask()).tags}
    assert counts == {"drink": 1, "drink/tea": 1, "home": 2}
    assert [entry.tag for entry in tags(house.ask(), "daily/2026-05-14/茶").tags] == ["drink/tea", "home"]
    assert "#home 2" in tags_text(tags(house.ask()))


def test_without_a_value(house: House) -> None:
    house.lay(
        {
            "null/a.md": "---\nDue:\n---\n",
            "null/b.md": "---\ndue: 2026-05-15\nowner: null\n---\n",
            "null/c.md": "no frontmatter\n",
            "null/d.md": "---\ndue: []\nkind: 'null'\n---\n",
            "null/e.csv": "a,b\n",
        }
    )
    assert chosen(house, path="null", where=["due=null"]) == ["null/a.md", "null/c.md", "null/d.md"]
    assert chosen(house, path="null", where=["due=2026-05-15", "owner=NULL"]) == ["null/b.md"]
    assert chosen(house, path="null", where=["kind='null'"]) == ["null/d.md"]
    assert chosen(house, path="null", where=["kind=null"]) == ["null/a.md", "null/b.md", "null/c.md"]
    house.lay({"null/f.md": "due:: 2026-05-15\n", "null/g.md": "- [owner:: [[Ann]]] and (due:: )\n"})
    assert chosen(house, path="null", where=["due=null"]) == ["null/a.md", "null/c.md", "null/d.md", "null/g.md"]
    assert chosen(house, path="null", where=["due=2026-05-15"]) == ["null/b.md", "null/f.md"]
    assert "null/f.md" not in {hit.path for hit in search(house.ask(), "due", where=["due=null"]).hits}
    house.lay({"null/h.md": "---\ndescription: d\ntags: [x]\n---\n"})
    assert "null/h.md" not in chosen(house, path="null", where=["description=null"])
    assert "null/h.md" not in chosen(house, path="null", where=["tags=null"])


def test_values_are_compared_as_what_they_are(house: House) -> None:
    house.lay(
        {
            "typed/a.md": '---\nn: 3.0\nv: \'4.50\'\n---\n评分:: 4.50\n- list:: 1, "三", [[茶]]\nq:: "quoted"\n',
            "typed/b.md": "评分:: 4.5\n\n(评分:: 5) text\n",
        }
    )
    for where in ("n=3", "n=3.0", "v=4.50", "list=1", "list=三", "list=[[茶]]", "q=quoted"):
        assert chosen(house, path="typed", where=[where]) == ["typed/a.md"], where
    assert chosen(house, path="typed", where=["评分=4.500"]) == ["typed/a.md", "typed/b.md"]
    assert chosen(house, path="typed", where=["v=4.5"]) == []
    facts = stat(house.ask(), "typed/a")
    assert facts.fields == {"评分": 4.5, "list": [1, "三", "[[茶]]"], "q": "quoted"}
    assert 'fields: 评分: 4.5, list: [1, "三", "[[茶]]"], q: "quoted"' in stat_text(facts)
    assert stat(house.ask(), "typed/b").fields == {"评分": [4.5, 5]}


def test_by_state_and_day(house: House) -> None:
    house.lay(
        {
            "s/alone.md": "words\n",
            "s/linked.md": "[[s/linked-to]]\n",
            "s/linked-to.md": "x\n",
            "resource/2026-01-02/unread.txt": "x\n",
            "resource/2026-01-02/read.txt": "x\n",
            "s/reader.md": "[[resource/2026-01-02/read.txt]]\n",
            "daily/2026-01-02/old.md": "x\n",
        }
    )
    os.utime(house.root / "daily/2026-01-02/old.md", (0, 0))
    assert chosen(house, path="s", state="orphan") == ["s/alone.md"]
    assert chosen(house, layers=["resource"], state="orphan", end_date="2026-01-02") == [
        "resource/2026-01-02/unread.txt"
    ]
    assert chosen(house, path="resource/2026-01-02", state="undigested") == ["resource/2026-01-02/unread.txt"]
    assert "daily/2026-01-02/old.md" in chosen(house, state="stale")
    assert chosen(house, start_date="2026-01-02", end_date="2026-01-02", layers=["daily"]) == [
        "daily/2026-01-02/old.md"
    ]
    with pytest.raises(InvalidInput):
        list_files(house.ask(), start_date="last week")


def chosen(house: House, **wanted: Any) -> list[str]:
    return paths(list_files(house.ask(), **wanted))
