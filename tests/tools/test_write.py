"""Writing whole notes: nothing is overwritten by accident."""

import base64
from collections.abc import Callable

import pytest

from reme.errors import Conflict, InvalidInput, Refused
from reme.index import refresh
from reme.revision import revision_of
from reme.tools import (
    Workspace,
    copy,
    daily_create,
    edit,
    frontmatter_read,
    frontmatter_update,
    log,
    read,
    undo,
    upload,
    write,
    written_text,
)
from tests.tools.house import House


def test_create(house: House) -> None:
    result = write(house.ask("agent"), "daily/2026-05-15/令牌轮换", "旧令牌失效。\n")
    assert (result.path, result.outcome) == ("daily/2026-05-15/令牌轮换.md", "created")
    assert house.text(result.path) == "旧令牌失效。\n"
    assert result.revision == read(house.ask(), result.path).revision
    assert "created" in written_text(result)


@pytest.mark.parametrize("content", ["12345", "007", "true", "null", '{"a":1}', "[1]", "", "a\r\nb"])
def test_content_is_kept_exactly(house: House, content: str) -> None:
    write(house.ask(), "a", content)
    assert house.data("a.md") == content.encode()


def test_title_and_description(house: House) -> None:
    write(house.ask(), "a", "正文\n", name="令牌: 轮换", description='Says "how"')
    assert frontmatter_read(house.ask(), "a").properties == {"name": "令牌: 轮换", "description": 'Says "how"'}
    assert house.text("a.md").endswith("---\n正文\n")
    write(house.ask(), "b", "---\ntags: [x]  # mine\n---\ntext\n", name="B")
    assert "tags: [x]  # mine\n" in house.text("b.md")
    assert frontmatter_read(house.ask(), "b").properties == {"tags": ["x"], "name": "B"}
    with pytest.raises(InvalidInput):
        write(house.ask(), "c.txt", "x", name="C")


def test_p16_existing_note_is_not_overwritten(house: House) -> None:
    house.lay({"a.md": "mine"})
    with pytest.raises(Conflict, match=r"a\.md exists") as caught:
        write(house.ask(), "a", "yours")
    assert "overwrite" in caught.value.hint
    with pytest.raises(InvalidInput, match="revision"):
        write(house.ask(), "a", "yours", overwrite=True)
    assert house.text("a.md") == "mine"


def test_p16_machinery_is_out_of_reach(house: House) -> None:
    for path in (".reme/index.db", ".reme/x.md", ".git/config", "notes/.hidden/a.md"):
        with pytest.raises(Refused):
            write(house.ask(), path, "x")


def test_overwrite(house: House) -> None:
    house.lay({"a.md": "mine"})
    with pytest.raises(Conflict) as caught:
        write(house.ask(), "a", "yours", overwrite=True, expected_revision=revision_of(b"older"))
    assert caught.value.details == {
        "path": "a.md",
        "expected_revision": revision_of(b"older"),
        "actual_revision": revision_of(b"mine"),
    }
    result = write(house.ask(), "a", "yours", overwrite=True, expected_revision=revision_of(b"mine"))
    assert (result.outcome, house.text("a.md")) == ("changed", "yours")
    assert write(house.ask(), "a", "theirs", overwrite=True, force=True).outcome == "changed"
    again = write(house.ask(), "a", "theirs")
    assert (again.outcome, again.run) == ("unchanged", "")


def test_a_name_that_differs_in_case_only_is_taken(house: House) -> None:
    house.lay({"Plan.md": "x", "Ops/a.md": "y"})
    with pytest.raises(Conflict, match=r"Plan\.md"):
        write(house.ask(), "plan", "z")


def test_roles(house: House) -> None:
    with pytest.raises(Refused, match="digest"):
        write(house.ask("agent"), "digest/wiki/a.md", "x")
    house.lay({"resource/a.txt": "x"})
    with pytest.raises(Refused, match="resource"):
        write(house.ask("person"), "resource/a.txt", "y", overwrite=True, force=True)


def test_write_can_be_undone(house: House) -> None:
    made = write(house.ask(), "a", "x")
    assert log(house.ask()).runs[0].run == made.run
    undo(house.ask(), made.run)
    assert house.tree() == {}


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf---\r\ntitle: Tea\r\n---\r\nBody\r\n",
        b"\xef\xbb\xbf# BOM alone\n",
        b"---\r\ntitle: Tea\r\n---\r\n\xe8\x8c\xb6\r\n\nmixed\r",
        b"--- \ntitle: Tea\n---\nno end",
        b"\xef\xbb\xbf",
        b"",
    ],
)
def test_b01_what_was_read_and_is_written_back_is_unchanged(house: House, data: bytes) -> None:
    house.lay({"a.md": data})
    seen = read(house.ask(), "a")
    done = write(house.ask(), "a", seen.text, overwrite=True, expected_revision=seen.revision)
    assert (done.outcome, house.data("a.md")) == ("unchanged", data)
    write(house.ask(), "a", seen.text + "more\n", overwrite=True, force=True)
    assert house.data("a.md") == data + b"more\n"


def test_a_large_file_is_replaced_without_being_held(house: House) -> None:
    house.lay({"big.txt": b"x" * 3_000_000})
    done = write(house.ask(), "big.txt", "small", overwrite=True, force=True)
    assert house.text("big.txt") == "small"
    undo(house.ask(), done.run)
    assert len(house.data("big.txt")) == 3_000_000


def test_links_by_a_name_that_a_new_file_has_too_are_lengthened(house: House) -> None:
    files = {
        "digest/wiki/茶.md": "---\naliases: [绿茶]\n---\ntea\n",
        "notes/n.md": "[[茶]], ![[茶#Kinds|kinds]], [[绿茶]], [[digest/wiki/茶]] and `[[茶]]`\n",
        "digest/wiki/m.md": "---\nsee: '[[茶]]'\n---\n[[missing]]\n",
        "session/dialog/s.md": "[[茶]]\n",
    }
    house.lay(files)
    refresh(house.index, house.vault)
    foreseen = write(house.ask("agent"), "茶", "another\n", dry_run=True)
    assert (house.tree(), foreseen.run) == ({path: text.encode() for path, text in files.items()}, "")
    house.vault.notices.clear()
    made = write(house.ask("agent"), "茶", "another\n")
    assert house.text("notes/n.md") == (
        "[[wiki/茶]], ![[wiki/茶#Kinds|kinds]], [[绿茶]], [[digest/wiki/茶]] and `[[茶]]`\n"
    )
    assert house.text("digest/wiki/m.md") == "---\nsee: '[[wiki/茶]]'\n---\n[[missing]]\n"
    assert house.text("session/dialog/s.md") == "[[茶]]\n"
    told = house.vault.notices
    assert told[0] == "digest/wiki/m.md:2 茶: another file has this name now, too; spelled wiki/茶 to lead on"
    assert "it does not lead to digest/wiki/茶.md any more, as the content of the session layer" in told[-1]
    copied = copy(house.ask(), "茶", "notes/绿茶")
    assert "[[绿茶]]" not in house.text("notes/n.md")
    assert write(house.ask(), "missing", "[[茶]]\n").outcome == "created"
    assert house.text("digest/wiki/m.md").endswith("[[missing]]\n")
    for run in (copied.run, made.run):
        undo(house.ask(), run)
    assert {path: house.text(path) for path in files} == files


ALIASED = {
    "digest/wiki/tea.md": "---\ntitle: Green tea\naliases: [绿茶, AC/DC]\n---\ntea\n",
    "notes/n.md": "[[绿茶]], [[Green Tea|cup]], ![[绿茶#Kinds]], [[ac/dc]], [[nobody]] and `[[绿茶]]`\n",
    "notes/by name.md": "---\nsee: '[[green tea]]'\n---\n[[Tea]] and [[NOBODY]]\n",
}
KEPT = {
    "notes/n.md": "[[tea]], [[tea|cup]], ![[tea#Kinds]], [[wiki/tea]], [[nobody]] and `[[绿茶]]`\n",
    "notes/by name.md": "---\nsee: '[[tea]]'\n---\n[[Tea]] and [[NOBODY]]\n",
}
NAMED = "---\nname: green tea\nalias: [绿茶, Nobody, ac/dc]\n---\n"
NAMING: dict[str, Callable[[Workspace], object]] = {
    "write": lambda w: write(w, "x/new", NAMED + "new\n"),
    "overwrite": lambda w: write(w, "plain", NAMED + "plain\n", overwrite=True, force=True),
    "edit": lambda w: edit(w, "plain", "plain", NAMED + "plain"),
    "copy": lambda w: copy(w, "digest/wiki/tea", "x/copy"),
    "copy a folder": lambda w: copy(w, "digest/wiki", "x/wiki"),
    "upload": lambda w: upload(w, base64.b64encode(NAMED.encode()).decode(), "raw.md"),
    "frontmatter_update": lambda w: [
        frontmatter_update(w, "plain", "aliases", ["绿茶", "AC/dc"]),
        frontmatter_update(w, "plain", "title", "green tea"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("way", NAMING)
def test_links_by_an_alias_or_title_that_another_note_gets_lead_on(house: House, way: str) -> None:
    files = ALIASED | {"plain.md": "plain\n"}
    house.lay(files)
    refresh(house.index, house.vault)
    done = NAMING[way](house.ask("person"))
    if way.startswith("copy"):  # to a name that two files have, or to a path of its own
        assert "[[绿茶]]" not in house.text("notes/n.md").replace("`[[绿茶]]`", "")
    else:
        assert {path: house.text(path) for path in KEPT} == KEPT
    refresh(house.index, house.vault)
    led = [edge.target for edge in house.index.links_from("notes/n.md") if edge.raw_target != "nobody"]
    assert led == ["digest/wiki/tea.md"] * 4
    for result in reversed(done if isinstance(done, list) else [done]):
        undo(house.ask("person"), result.run)
    assert {path: house.text(path) for path in files} == files


def test_a_new_name_is_foreseen_and_heals_what_leads_nowhere(house: House) -> None:
    house.lay(ALIASED)
    refresh(house.index, house.vault)
    foreseen = write(house.ask(), "x/new", NAMED, dry_run=True)
    assert (foreseen.run, house.tree()) == ("", {path: text.encode() for path, text in ALIASED.items()})
    assert "notes/n.md:1 绿茶: another file has this name now, too; spelled tea to lead on" in house.vault.notices
    write(house.ask(), "x/new", "---\nname: Nobody\n---\n")
    assert {path: house.text(path) for path in ALIASED} == ALIASED
    refresh(house.index, house.vault)
    assert [e.target for e in house.index.links_from("notes/n.md")][-1] == "x/new.md"


def test_a_days_index_takes_no_links_by_its_date(house: House) -> None:
    house.lay({"Journal/2026-05-15.md": "mine\n", "n.md": "[[2026-05-15]] 和 [[2026-05-15|今天]]\n"})
    refresh(house.index, house.vault)
    daily_create(house.ask(), "Tea")
    assert house.text("n.md") == "[[Journal/2026-05-15]] 和 [[Journal/2026-05-15|今天]]\n"
