"""Undo takes back what a run did, over what came later, and nothing else."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reme.clock import Clock, system_clock
from reme.errors import Conflict, NotFound, Refused
from reme.revision import ABSENT, revision_of
from reme.vault import (
    Append,
    ChangeSet,
    Committed,
    Layout,
    Move,
    Put,
    Remove,
    Retention,
    Unchanged,
    Vault,
    commit,
    diff,
    history,
    undo,
)
from reme.vault.merge import merge

from .scenario import AFTER, BEFORE, change_set, lay, tree


def go_back(vault: Vault, run: str, role="person", paths=None):
    return undo(vault, run, role=role, actor="test", new_run=f"undo-{run}", paths=paths)


def test_undo_restores_every_byte_and_undo_of_undo_redoes(vault) -> None:
    lay(vault.root)
    commit(vault, change_set("r1"))
    assert tree(vault.root) == AFTER
    assert isinstance(go_back(vault, "r1"), Committed)
    assert tree(vault.root) == BEFORE
    go_back(vault, "undo-r1")
    assert tree(vault.root) == AFTER
    assert [record.run for record in history(vault)] == ["undo-undo-r1", "undo-r1", "r1"]


def test_a_run_of_several_sets_is_undone_as_one(vault, edits) -> None:
    commit(vault, edits(Put("a.md", b"1", ABSENT)))
    commit(vault, edits(Put("a.md", b"2", revision_of(b"1"))))
    commit(vault, edits(Move("a.md", "b.md", revision_of(b"2"))))
    commit(vault, edits(Append("b.md", b"3")))
    go_back(vault, "run-1")
    assert tree(vault.root) == {}
    assert isinstance(go_back(vault, "run-1"), Unchanged)


def test_an_undo_removes_the_folders_that_the_run_made_and_no_others(vault, edits) -> None:
    (vault.root / "空" / "leer").mkdir(parents=True)
    commit(
        vault,
        edits(Put("空/leer/a.md", b"1", ABSENT), Put("空/neu/tief/b.md", b"2", ABSENT), Put("新/c.md", b"3", ABSENT)),
    )
    (vault.root / "新" / "mine.txt").write_bytes(b"somebody else's")
    go_back(vault, "run-1")
    folders = {place.relative_to(vault.root).as_posix() for place in vault.root.rglob("*") if place.is_dir()}
    assert {f for f in folders if not f.startswith(".reme")} == {"空", "空/leer", "新"}
    go_back(vault, "undo-run-1")
    assert tree(vault.root)["空/neu/tief/b.md"] == b"2"
    go_back(vault, "undo-undo-run-1")
    assert not (vault.root / "空" / "neu").exists()


def test_a_folder_of_several_runs_goes_with_the_last_of_them_whichever_that_is(vault, edits) -> None:
    (vault.root / "mine").mkdir()
    for number, path in enumerate(("新/tief/a.md", "新/tief/b.md", "mine/c.md", "新/d.md")):
        commit(vault, edits(Put(path, b"x", ABSENT), run=f"run-{number}"))
    for number in range(4):
        go_back(vault, f"run-{number}")
    assert {place.name for place in vault.root.iterdir()} - {".reme"} == {"mine"}


def test_what_was_edited_since_is_undone_after_the_runs_that_did_it_or_deleted(vault, edits) -> None:
    def put(run: str, path: str, data: bytes) -> None:
        change = edits(Put(path, data, vault.revision_at(path)))
        commit(vault, replace(change, run=run))

    for run, text in (("r1", "neu 新\n"), ("r2", "anders 改\n"), ("r3", "wieder 又\n")):
        put(run, "a.md", text.encode())
    put("r4", "b.md", b"elsewhere\n")
    go_back(vault, "r3")
    with pytest.raises(Conflict) as told:
        go_back(vault, "r1")
    assert told.value.details == {"paths": ["a.md"], "later_runs": ["r2"]}
    assert "`undo run=r2`; or delete what it created: `delete path=a.md`" in told.value.hint
    go_back(vault, "r2")
    go_back(vault, "r1")
    assert tree(vault.root) == {"b.md": b"elsewhere\n"}
    (vault.root / "b.md").write_bytes(b"by hand\n")
    with pytest.raises(Conflict) as told:
        go_back(vault, "r4")
    assert told.value.details["later_runs"] == []
    assert told.value.hint.startswith("Delete what it created: `delete path=b.md`; or see")


def test_a_move_is_undone_as_a_move(vault, edits) -> None:
    (vault.root / "a.md").write_bytes(b"a")
    inode = (vault.root / "a.md").stat().st_ino
    commit(vault, edits(Move("a.md", "sub/b.md", revision_of(b"a"))))
    go_back(vault, "run-1")
    assert (vault.root / "a.md").stat().st_ino == inode
    assert not (vault.root / "sub").exists()


def test_later_edits_survive_where_they_do_not_touch(vault, edits) -> None:
    old = "# 计划\n\n周四部署\n\n中\n\n尾\n".encode()
    (vault.root / "计划.md").write_bytes(old)
    new = old.replace("周四".encode(), "周二".encode())
    commit(vault, edits(Put("计划.md", new, revision_of(old))))
    later = new + "后来补充\n".encode()
    commit(vault, edits(Put("计划.md", later, revision_of(new)), run="later"))
    go_back(vault, "run-1")
    assert vault.read("计划.md").data == old + "后来补充\n".encode()


def test_overlapping_later_edits_are_a_conflict(vault, edits) -> None:
    commit(vault, edits(Put("a.md", b"one\n", ABSENT), Put("b.md", b"b", ABSENT)))
    commit(vault, edits(Put("a.md", b"other\n", revision_of(b"one\n")), run="later"))
    before = tree(vault.root)
    with pytest.raises(Conflict, match=r"a\.md changed since"):
        go_back(vault, "run-1")
    assert tree(vault.root) == before
    go_back(vault, "run-1", paths=["b.md"])
    assert tree(vault.root) == {"a.md": b"other\n"}


def test_appends_are_cut_out_from_between_later_ones(vault, edits) -> None:
    commit(vault, edits(Append("log", b"0\n"), run="r0"))
    commit(vault, edits(Append("log", b"1\n"), run="r1"))
    commit(vault, edits(Append("log", b"2\n"), run="r2"))
    go_back(vault, "r1")
    assert vault.read("log").data == b"0\n2\n"
    go_back(vault, "r0")
    assert vault.read("log").data == b"2\n"


def test_what_was_added_to_and_then_deleted_comes_back_as_it_was_before(vault, edits) -> None:
    (vault.root / "空.md").write_bytes(b"")
    commit(vault, edits(Append("空.md", b"a")))
    commit(vault, edits(Remove("空.md", revision_of(b"a"))))
    go_back(vault, "run-1")
    assert tree(vault.root) == {"空.md": b""}


def test_who_may_undo(vault, edits) -> None:
    commit(vault, edits(Put("digest/wiki/a.md", b"a", ABSENT), role="system", run="dream"))
    added = (Put("resource/a.txt", b"a", ABSENT), Append("resource/a.txt.meta.yaml", b"- at: now\n"))
    commit(vault, edits(*added, role="agent", run="upload"))
    with pytest.raises(Refused, match="may not undo dream"):
        go_back(vault, "dream", role="agent")
    go_back(vault, "upload", role="agent")
    go_back(vault, "dream", role="person")
    assert tree(vault.root) == {}


@pytest.mark.parametrize("run", ["nothing", "../../x", "", "*"])
def test_an_unknown_run(vault, run) -> None:
    with pytest.raises(NotFound, match="knows no run"):
        go_back(vault, run)


def test_the_journal_keeps_to_its_limits(vault, edits) -> None:
    now = vault.clock.now()

    def at(days: int, retention: Retention) -> Vault:
        clock = Clock(vault.clock.zone, lambda: now + timedelta(days=days))
        return Vault(vault.root, layout=Layout(), clock=clock, retention=retention)

    for day in range(5):
        commit(at(day, Retention()), edits(Append("log", b"x" * 1000), run=f"day-{day}"))
    commit(at(32, Retention()), edits(Append("log", b"y"), run="later"))
    assert [record.run for record in history(vault)] == ["later", "day-4", "day-3", "day-2"]
    commit(at(34, Retention(size=1)), edits(Append("log", b"z"), run="last"))
    assert history(vault) == []
    assert vault.read("log").data == b"x" * 5000 + b"yz"


def test_the_diff_of_a_run(vault, edits) -> None:
    (vault.root / "a.md").write_bytes("eins\n旧\n".encode())
    new = "eins\n新\n".encode()
    commit(vault, edits(Put("a.md", new, revision_of("eins\n旧\n".encode())), Put("b.bin", b"\0", ABSENT)))
    shown = diff(vault, "run-1")
    assert "-旧\n+新\n" in shown
    assert "Binary files /dev/null and b/b.bin differ" in shown
    with pytest.raises(NotFound):
        diff(vault, "run-2")


paths = st.sampled_from(["a.md", "b.md", "目录/c.md", "目录/d.txt"])
texts = st.text("ab行\n\r", max_size=8).map(str.encode)


@given(
    initial=st.dictionaries(paths, texts),
    steps=st.lists(st.tuples(paths, st.sampled_from("pram"), texts, paths), max_size=8),
)
@example(
    {"目录/d.txt": b"", "b.md": b""},
    [("目录/d.txt", "r", b"", ""), ("b.md", "m", b"", "目录/d.txt"), ("目录/d.txt", "m", b"", "a.md")],
)
@example(
    {"目录/d.txt": b""},
    [
        *(("a.md", "p", b"", ""), ("目录/d.txt", "r", b"", ""), ("a.md", "m", b"", "目录/d.txt")),
        *(("目录/d.txt", "m", b"", "b.md"), ("a.md", "p", b"", "")),
    ],
)
def test_commit_then_undo_is_identity(tmp_path_factory, initial, steps) -> None:
    from zoneinfo import ZoneInfo

    vault = Vault(tmp_path_factory.mktemp("v"), layout=Layout(), clock=system_clock(ZoneInfo("UTC")))
    for path, data in initial.items():
        (vault.root / path).parent.mkdir(exist_ok=True)
        (vault.root / path).write_bytes(data)
    for path, kind, data, other in steps:
        now = vault.bytes_of(path)
        match kind:
            case "p":
                edit = Put(path, data, revision_of(now))
            case "r":
                edit = Remove(path, revision_of(now))
            case "a":
                edit = Append(path, data)
            case _:
                edit = Move(path, other, revision_of(now))
                if path == other or now is None or vault.exists(other):
                    continue
        commit(vault, ChangeSet((edit,), "person", "t", "t", "r"))
    if history(vault):
        undo(vault, "r", role="person", actor="t", new_run="u")
    assert tree(vault.root) == initial


lines = st.lists(st.sampled_from([b"a\n", b"b\n", "丙\n".encode(), b"d\r\n"]), max_size=6)


@given(base=lines, ours=lines, theirs=lines)
def test_merge_laws(base, ours, theirs) -> None:
    b, o, t = b"".join(base), b"".join(ours), b"".join(theirs)
    assert merge(b, o, b) == o
    assert merge(b, b, t) == t
    assert merge(b, o, o) == o
    if o.startswith(b) and t.startswith(b):
        assert sorted(merge(b, o, t)) == sorted(merge(b, t, o))
    else:
        assert merge(b, o, t) == merge(b, t, o)
