"""The state of a vault, and building the index anew."""

import threading
from dataclasses import replace
from datetime import timedelta

import pytest

from reme.catalog import as_json
from reme.errors import Unavailable
from reme.index import (
    Keeper,
    PathProblem,
    ProjectorStatus,
    embed,
    open_index,
    refresh,
    refresh_paths,
    report,
    reported,
)
from reme.paths import VaultPath
from reme.testing import SyntheticEmbedder
from reme.tools import reindex, reindex_text, search, status, status_text, wait, waited_text, write
from tests.tools.house import NOW, House


def test_status(house: House) -> None:
    house.lay({"daily/a.md": "[[nope]]\n", "digest/wiki/b.md": "---\na: [\n---\n", "c.txt": "茶\n"})
    (house.root / "link.md").symlink_to(house.root / "c.txt")
    before = status(house.ask())
    assert (before.files, before.pending) == ({"daily": 1, "digest": 1, "other": 1}, 3)
    refresh(house.index, house.vault)
    after = status(house.ask())
    assert (after.vault, after.pending, after.notes, after.unresolved) == ("vault", 0, 2, 1)
    assert after.position > before.position
    assert [(p.path, p.rule.split(".")[0]) for p in after.problems] == [("digest/wiki/b.md", "frontmatter")]
    assert [(s.path, "symlink" in s.reason) for s in after.skipped] == [("link.md", True)]
    text = status_text(after)
    assert "digest/wiki/b.md:" in text
    assert "link.md: " in text
    (house.root / "c.txt").unlink()
    house.lay({"daily/a.md": "changed, and longer\n"})
    assert status(house.ask()).pending == 2
    assert str(house.root) not in text


def test_status_tells_what_is_not_searched_and_why(house: House) -> None:
    house.lay(
        {"a.md": b"\x00\x01\x02\xff" * 50, "b.txt": b"\x00\x01\x02\xff" * 50, "c.md": "caf\xe9\n".encode("latin-1")}
    )
    refresh(house.index, house.vault)
    told = status(house.ask())
    assert [entry.path for entry in told.skipped] == ["a.md", "b.txt"]
    assert [problem.path for problem in told.problems] == ["c.md"]


def test_status_tells_who_keeps_the_index(house: House) -> None:
    said = ProjectorStatus(
        running=True,
        epoch=3,
        watching=True,
        watcher_restarts=0,
        pending=2,
        walk_pending=False,
        last_event=NOW,
        last_scan=NOW - timedelta(hours=1),
        last_change=None,
        problems=(PathProblem(VaultPath("日记/p.md"), 4, "it vanished", NOW + timedelta(seconds=2)),),
        trouble=("background: 3 chunks have no vector yet: nobody answers",),
        pending_paths=(VaultPath("日记/p.md"), VaultPath("a.md")),
    )
    assert reported(report(said)) == said
    assert reported({}) is None
    assert reported({**report(said), "last_scan": "soon"}) is None
    asked = replace(house.ask(), keeper=lambda: Keeper(17, "desk", said), embedder_name="bundled")
    house.lay({"a.md": "pear\n", "b.md": "---\nname: b\n---\n"})
    refresh(house.index, house.vault)
    told = status(asked)
    assert told.keeper == Keeper(17, "desk", said)
    assert (told.embedding.done, told.embedding.pending) == (0, 1)
    assert told.embedding.problem == "3 chunks have no vector yet: nobody answers"
    assert (told.pending, told.pending_paths, told.files) == (2, ("日记/p.md", "a.md"), {"other": 2})
    house.lay({"c.md": "unheard of\n"})
    for doubtful in (replace(said, watching=False), replace(said, walk_pending=True), None):
        looked = status(replace(asked, keeper=lambda doubtful=doubtful: Keeper(17, "desk", doubtful)))
        assert (looked.pending, looked.pending_paths, looked.files) == (1, ("c.md",), {"other": 3})
    assert status(replace(asked, keeper=lambda: Keeper(17, "desk", said, silent=60.0))).pending == 1
    text = status_text(told)
    assert "kept by: process 17 on desk: watching, 2 paths waiting, last event 12:30:00, last scan 11:30:00" in text
    assert "failing: 日记/p.md (4 tries, next 12:30:02): it vanished" in text
    assert "vectors: 0 of 1 chunk; 3 chunks have no vector yet" in text
    document = as_json(told)
    assert document["keeper"]["status"]["problems"][0]["attempts"] == 4
    assert set(document["versions"]) == {"reme", "schema", "tokenizer"}
    alone = status_text(status(house.ask()))
    assert "kept by: nobody" in alone
    assert "vectors" not in alone


def test_status_counts_no_vectors_of_another_model(house: House) -> None:
    pytest.importorskip("numpy")
    house.lay({"a.md": "pear\n", "b.md": "茶\n"})
    refresh(house.index, house.vault)
    old = SyntheticEmbedder(dim=8)
    assert embed(house.index, old).done == 2
    asked = replace(house.ask(), embedder=lambda: old, embedder_name="some")
    told = status(asked).embedding
    assert (told.done, told.pending, told.problem) == (2, 0, "")
    other = replace(asked, embedder=lambda: SyntheticEmbedder(dim=8, name="other"))
    told = status(other).embedding
    assert (told.done, told.pending) == (0, 2)
    assert f"the vectors are of {old.name}, to be made anew with other" in status_text(status(other))

    def missing() -> None:
        raise Unavailable("it is not installed")

    told = status(replace(asked, embedder=missing)).embedding
    assert (told.done, told.pending, told.problem) == (2, 0, "it is not installed")


def test_status_names_what_is_pending(house: House) -> None:
    house.lay({f"{name}.md": "pear\n" for name in "abcde"})
    told = status(house.ask(), limit=2)
    assert (told.pending, told.pending_paths) == (5, ("a.md", "b.md"))
    assert "pending: 5: a.md, b.md, …" in status_text(told)


def test_status_counts_the_notes_of_each_folder_of_the_digest(house: House) -> None:
    house.lay({f"digest/wiki/{number}.md": f"{number}\n" for number in range(27)})
    house.lay(
        {"digest/wiki/茶/a.md": "a\n", "digest/wiki/data.csv": "a,b\n", "digest/top.md": "x\n", "other.md": "x\n"}
    )
    refresh(house.index, house.vault)
    told = status(house.ask())
    assert told.density == {"digest": 1, "digest/wiki": 27, "digest/wiki/茶": 1}
    assert "crowded: digest/wiki (27)" in status_text(told)


def test_wait_brings_the_index_up_to_the_files_where_nobody_keeps_it(house: House) -> None:
    house.lay({"a.md": "pear\n", "日记.md": "梨\n"})
    waited = wait(house.ask(), timeout=5)
    assert waited.position == house.index.status().position > 0
    assert status(house.ask()).pending == 0
    assert waited_text(waited).startswith("everything is in the index")
    assert wait(house.ask(), timeout=0) == waited


def test_wait_leaves_it_to_the_keeper_and_says_what_is_missing(house: House) -> None:
    kept = replace(house.ask(), keeper=lambda: Keeper(17, "desk", None))
    house.lay({f"{name}.md": "pear\n" for name in "abcde"})
    with pytest.raises(Unavailable, match=r"after 0\.05 seconds .* a\.md, b\.md, c\.md and 2 more") as caught:
        wait(kept, timeout=0.05)
    assert "`status`" in (caught.value.hint or "")
    assert house.index.status().notes == 0


def test_a_question_leaves_reading_to_a_keeper_that_lives_and_tells_what_that_has_not_taken_in(house: House) -> None:
    house.lay({"a.md": "pear 梨\n"})
    refresh(house.index, house.vault)
    house.lay({"b.md": "pear 梨\n"})
    position = house.index.position()
    kept = replace(house.ask(), keeper=lambda: Keeper(17, "desk", None))
    found = search(kept, "梨")
    assert [hit.path for hit in found.hits] == ["a.md"]
    assert any("1 changed file could not be taken" in warning for warning in found.warnings)
    assert house.index.position() == position
    keeper = threading.Timer(0.2, refresh, (house.index, house.vault))
    keeper.start()
    assert {hit.path for hit in search(kept, "梨").hits} == {"a.md", "b.md"}
    keeper.join()
    house.lay({"c.md": "pear 梨\n"})
    stalled = replace(house.ask(), keeper=lambda: Keeper(17, "desk", None, silent=60.0))
    assert {hit.path for hit in search(stalled, "梨").hits} == {"a.md", "b.md", "c.md"}


def test_a_question_beside_a_keeper_that_is_current_looks_only_for_what_was_written_through_reme(house: House) -> None:
    house.lay({"a.md": "pear 梨\n", ".remeignore": "未.md\n"})
    refresh(house.index, house.vault)
    said = ProjectorStatus(True, 1, True, 0, 0, False, None, None, None, (), (), generation=house.index.generation())

    def found(said: ProjectorStatus) -> set[str]:
        return {hit.path for hit in search(replace(house.ask(), keeper=lambda: Keeper(17, "desk", said)), "梨").hits}

    house.lay({"保存.md": "pear 梨\n"})
    write(house.ask(), "未.md", "never indexed 梨\n")
    assert found(said) == {"a.md"}, "what another program saved is heard of by the keeper"
    write(house.ask(), "written.md", "pear 梨\n")
    keeper = threading.Timer(0.2, refresh_paths, (house.index, house.vault, [VaultPath("written.md")]))
    keeper.start()
    assert found(said) == {"a.md", "written.md"}
    keeper.join()
    assert house.index.rows_of([VaultPath("保存.md")]) == {}
    for doubtful in (
        replace(said, generation="another index"),
        replace(said, pending=1),
        replace(said, walk_pending=True),
        replace(said, watching=False),
    ):
        asked = replace(house.ask(), keeper=lambda doubtful=doubtful: Keeper(17, "desk", doubtful))
        assert any("1 changed file could not be taken" in warning for warning in search(asked, "梨").warnings)


def test_a_search_may_wait_for_what_is_on_disk(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.lay({"a.md": "pear\n"})
    assert [hit.path for hit in search(house.ask(), "pear", wait=True).hits] == ["a.md"]
    other = open_index(house.vault.state_dir / "index.db", house.vault.layout, timeout=0.05)
    house.lay({"b.md": "plum\n"})
    kept = replace(house.ask(), index=other, keeper=lambda: Keeper(17, "desk", None))
    monkeypatch.setattr(wait, "__defaults__", (0.05,))
    with pytest.raises(Unavailable, match=r"b\.md"):
        search(kept, "plum", wait=True)
    other.close()


def test_wait_says_so_when_another_process_holds_the_index_up(house: House) -> None:
    other = open_index(house.vault.state_dir / "index.db", house.vault.layout, timeout=0.05)
    asked = replace(house.ask(), index=other)
    house.lay({"a.md": "pear\n"})
    with house.index.writing(settle=True), pytest.raises(Unavailable, match=r"a\.md"):
        wait(asked, timeout=0.1)
    assert wait(asked, timeout=5).position > 0
    other.close()


def test_reindex(house: House) -> None:
    house.lay({"a.md": "[[b]]\n", "b.md": "b\n"})
    refresh(house.index, house.vault)
    before = house.index.dump()
    result = reindex(house.ask())
    assert (result.files, result.notes, result.links) == (2, 2, 1)
    assert house.index.dump() == before
    assert reindex_text(result).startswith("indexed 2 files")
