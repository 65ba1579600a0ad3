"""Runs: listed, shown, undone as a whole or by file."""

from dataclasses import replace

import pytest

from reme.errors import Conflict, NotFound, Refused
from reme.markdown import with_region
from reme.paths import VaultPath
from reme.revision import ABSENT, revision_of
from reme.tools import Workspace, append, edit, log, log_text, move, show, show_text, undo, undo_text, write
from reme.vault import Amend, ChangeSet, Put, commit
from tests.tools.house import House


def test_log(house: House) -> None:
    first = write(house.ask("agent"), "a", "茶\n").run
    second = edit(house.ask(), "a", "茶", "水").run
    runs = log(house.ask()).runs
    assert [(r.run, r.role, r.paths) for r in runs] == [(second, "person", ("a.md",)), (first, "agent", ("a.md",))]
    page = log(house.ask(), limit=1)
    assert (len(page.runs), page.truncated) == (1, True)
    write(house.ask(), "b", "b\n")
    assert [r.run for r in log(house.ask(), path="a").runs] == [second, first]
    assert f"{second} test (person)" in log_text(log(house.ask()))
    assert log_text(log(house.ask(), path="nowhere")).startswith("no changes: ")


def test_show(house: House) -> None:
    write(house.ask(), "a", "茶\n水\n")
    run = edit(house.ask(), "a", "水", "咖啡").run
    shown = show(house.ask(), run)
    assert "-水\n+咖啡\n" in shown.diff
    assert show_text(shown).endswith("+咖啡")
    with pytest.raises(NotFound):
        show(house.ask(), "nope")


def test_undo_and_redo(house: House) -> None:
    house.lay({"X.md": "x\n", "n.md": "[[X]]\n"})
    before = house.tree()
    run = move(house.ask(), "X", "Y").run
    after = house.tree()
    would = undo(house.ask(), run, dry_run=True)
    assert (would.undo_run, set(would.paths)) == ("", {"X.md", "Y.md", "n.md"})
    assert house.tree() == after
    assert undo_text(would).startswith("would undo")
    undone = undo(house.ask(), run)
    assert house.tree() == before
    assert log(house.ask()).runs[0].undoes == run
    undo(house.ask(), undone.undo_run)
    assert house.tree() == after


def test_undo_keeps_what_came_later(house: House) -> None:
    house.lay({"a.md": "one\n\n\n\nfour\n"})
    run = edit(house.ask(), "a", "one", "eins").run
    edit(house.ask(), "a", "four", "vier")
    undo(house.ask(), run)
    assert house.text("a.md") == "one\n\n\n\nvier\n"
    run = append(house.ask(), "a", "five").run
    edit(house.ask(), "a", "five", "fünf")
    with pytest.raises(Conflict):
        undo(house.ask(), run)


def test_what_was_added_at_the_end_later_stays(house: House) -> None:
    house.lay({"计划.md": "x\n", "n.md": "see [[计划]]\n"})
    moved = move(house.ask(), "计划", "plan").run
    append(house.ask(), "n", "后来")
    undo(house.ask(), moved)
    assert house.tree() == {"计划.md": b"x\n", "n.md": "see [[计划]]\n\n后来\n".encode()}
    first = append(house.ask(), "计划", "one").run
    append(house.ask(), "计划", "two")
    undo(house.ask(), first)
    assert house.text("计划.md") == "x\n\ntwo\n"


def test_a_folder_stands_for_what_was_in_it(house: House) -> None:
    house.lay({"项目/a.md": "a\n", "项目/b/c.md": "c\n", "项目2.md": "d\n"})
    run = move(house.ask(), "项目", "old").run
    other = append(house.ask(), "项目2", "x").run
    assert [changed.run for changed in log(house.ask(), path="项目").runs] == [run]
    assert [changed.run for changed in log(house.ask(), path="old/b").runs] == [run]
    assert [changed.run for changed in log(house.ask(), path="项目2").runs] == [other]
    undo(house.ask(), run, paths=["old/b/"])
    assert sorted(house.tree()) == ["old/a.md", "项目/b/c.md", "项目2.md"]
    with pytest.raises(NotFound, match="did not touch gone"):
        undo(house.ask(), run, paths=["gone"])


def test_undo_of_some_paths_and_rights(house: House) -> None:
    house.lay({"X.md": "x\n", "n.md": "[[X]]\n", "m.md": "[[X]]\n"})
    run = move(house.ask(), "X", "Y").run
    undo(house.ask(), run, paths=["n"])
    assert (house.text("n.md"), house.text("m.md")) == ("[[X]]\n", "[[Y]]\n")
    with pytest.raises(NotFound):
        undo(house.ask(), run, paths=["other"])
    with pytest.raises(Refused):
        undo(house.ask("agent"), run)


def test_an_undo_makes_generated_views_anew_and_does_not_restore_them(house: House) -> None:
    node, view = VaultPath("digest/wiki/a.md"), VaultPath("digest/_buckets.md")
    texts = [with_region("# Mine 我的\n".encode(), "buckets", f"- wiki ({n})\n".encode()) for n in (1, 2, 7)]
    first = (Put(node, b"a\n", ABSENT), Put(view, texts[0], ABSENT))
    commit(house.vault, ChangeSet(first, "system", "dream", "first", "run-a"))
    second = (Put(VaultPath("digest/wiki/b.md"), b"b\n", ABSENT), Put(view, texts[1], revision_of(texts[0])))
    commit(house.vault, ChangeSet(second, "system", "dream", "second", "run-b"))
    before = house.tree()
    anew = Amend(view, lambda data: with_region(data or b"", "buckets", b"- wiki (7)\n"))
    undone = undo(replace(house.ask(), views=lambda: (anew,)), "run-a")
    assert house.tree() == {"digest/wiki/b.md": b"b\n", view: texts[2]}
    assert set(undone.paths) == {node, view}
    undo(replace(house.ask(), views=lambda: ()), undone.undo_run)
    assert house.tree() == before


def test_a_run_is_named_by_how_its_id_begins_or_as_the_last(house: House) -> None:
    house.lay({"茶.md": "一\n"})
    first, second, third = (edit(_in(house, run), "茶", old, new).run for run, old, new in RUNS)
    assert show(house.ask(), "20260515-1201").run == first
    assert show(house.ask(), "last").run == third
    with pytest.raises(Conflict, match=f"2026 may mean 3 runs: {third}, {second}, {first}") as caught:
        undo(house.ask(), "2026")
    assert caught.value.details["runs"] == [third, second, first]
    for unknown in ("202", "", "20260516", "茶"):
        with pytest.raises(NotFound, match="knows no run"):
            undo(house.ask(), unknown)
    assert house.text("茶.md") == "四\n"
    undone = undo(house.ask(), "last")
    assert (undone.run, house.text("茶.md")) == (third, "三\n")
    assert undo(house.ask(), "20260515-1202-b", dry_run=True).run == second
    assert undo(house.ask(), "last").run == undone.undo_run
    assert house.text("茶.md") == "四\n"


def test_an_id_that_another_begins_with_is_itself(house: House) -> None:
    write(_in(house, "aaaa"), "a", "a\n")
    write(_in(house, "aaaabbbb"), "b", "b\n")
    assert show(house.ask(), "aaaa").run == "aaaa"
    with pytest.raises(NotFound):
        show(_in(House(house.root / "new"), "x"), "last")


RUNS = (("20260515-1201-a", "一", "二"), ("20260515-1202-b", "二", "三"), ("20260515-1203-b", "三", "四"))


def _in(house: House, run: str) -> Workspace:
    """The vault as a caller sees it in a run of this id."""
    ask = house.ask()
    return replace(ask, caller=replace(ask.caller, run=run))
