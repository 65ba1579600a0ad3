"""The projector against a real file system: what is on disk is what is found, without a word from anybody."""

import os
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from reme.errors import Unavailable
from reme.index import Index, behind, intake, open_index, refresh_paths, wait
from reme.index.sqlite import postings
from reme.paths import VaultPath
from reme.runtime import Projector, embedding, projector, watch
from reme.search import SearchSettings
from reme.state import State
from reme.testing import SyntheticEmbedder
from reme.tools import Caller, Workspace, append, write
from reme.vault import Layout, Vault
from tests.runtime.watched import Watched, letters, until


def test_what_happened_while_nobody_watched_is_found_at_the_start(watched: Watched) -> None:
    watched.write("a.md", "pear")
    watched.start()
    assert watched.finds("pear") == ["a.md"]


def test_b21_a_link_finds_its_note_however_that_is_made_and_loses_it_again(watched: Watched) -> None:
    watched.write("a.md", "see [[Later]]")
    watched.start()
    state = State(watched.vault.state_dir / "state.db")
    caller = Caller(role="person", actor="test", run=watched.vault.new_id())
    workspace = Workspace(watched.vault, watched.written, state, watched.clock, SearchSettings(), caller)
    before = (watched.root / "a.md").read_bytes()

    def drop() -> None:
        watched.write("Later.md", "here")

    def rename_into_place() -> None:
        watched.write(".draft", "here")
        (watched.root / ".draft").rename(watched.root / "Later.md")

    def move_a_folder_into_place() -> None:
        outside = watched.root.parent / "outside"
        outside.mkdir()
        (outside / "Later.md").write_text("here")
        outside.rename(watched.root / "box")

    ways = {
        "Later.md": [drop, rename_into_place, lambda: write(workspace, "Later", "here")],
        "box/Later.md": [move_a_folder_into_place],
    }
    for path, makers in ways.items():
        for make in makers:
            [edge] = watched.index.links_from(VaultPath("a.md"))
            assert (edge.target, edge.raw_target) == (None, "Later")
            make()
            until(lambda path=path: [edge.target for edge in watched.index.links_from(VaultPath("a.md"))] == [path])
            assert [edge.source for edge in watched.index.links_to(VaultPath(path))] == ["a.md"]
            watched.delete(path)
            until(lambda: [edge.target for edge in watched.index.links_from(VaultPath("a.md"))] == [None])
    state.close()
    assert (watched.root / "a.md").read_bytes() == before


def test_b35_one_event_leaves_the_other_notes_alone(watched: Watched) -> None:
    for name in "abc":
        watched.write(f"{name}.md", f"pear {name}")
    watched.start()
    assert watched.finds("pear") == ["a.md", "b.md", "c.md"]
    watched.write("b.md", "pear plum")
    until(lambda: watched.finds("plum") == ["b.md"])
    assert watched.finds("pear") == ["a.md", "b.md", "c.md"]
    watched.delete("c.md")
    until(lambda: watched.finds("pear") == ["a.md", "b.md"])
    watched.write("a.md", "pear quince")
    watched.write("d.md", "pear quince")
    until(lambda: watched.finds("quince") == ["a.md", "d.md"])
    assert watched.finds("pear") == ["a.md", "b.md", "d.md"]


def test_b37_it_starts_and_closes_any_number_of_times(watched: Watched) -> None:
    watched.projector.close()
    watched.start()
    watched.projector.close()
    watched.projector.close()
    watched.start()
    watched.projector.start()
    watched.write("a.md", "pear")
    until(lambda: watched.finds("pear"))
    names = [thread.name for thread in threading.enumerate()]
    assert names.count("reme-projector") == 1
    assert names.count("reme-watch") == 1
    began = time.monotonic()
    watched.projector.close()
    assert time.monotonic() - began < 1
    assert not watched.projector.status().running
    watched.write("b.md", "pear")
    time.sleep(0.2)
    assert watched.finds("pear") == ["a.md"]


def test_b39_a_path_that_fails_is_tried_again_and_holds_up_nobody(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, failing = projector.refresh_paths, 3
    watched.write("p.md", "one")
    watched.write("q.md", "one")
    watched.start()

    def fails_at_first(index: Any, vault: Any, paths: Any, **options: Any) -> Any:
        nonlocal failing
        if "p.md" in paths and failing:
            failing -= 1
            raise RuntimeError("this one is broken")
        return real(index, vault, paths, **options)

    monkeypatch.setattr(projector, "refresh_paths", fails_at_first)
    watched.write("p.md", "pear")
    watched.write("q.md", "plum")
    assert until(lambda: watched.finds("plum")) < 5
    until(lambda: watched.projector.status().problems)
    [problem] = watched.projector.status().problems
    assert (problem.path, problem.message) == ("p.md", "this one is broken")
    assert problem.attempts >= 1
    until(lambda: watched.finds("pear"))
    until(lambda: not watched.projector.status().problems)
    until(lambda: watched.projector.status().pending == 0)  # its news may come twice


def test_a_file_that_the_disk_does_not_give_is_tried_ever_later(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_read = Vault.read

    def read(vault: Vault, path: VaultPath) -> Any:
        if path == "坏.md":
            raise Unavailable(f"{path} cannot be read: input/output error")
        return real_read(vault, path)

    monkeypatch.setattr(Vault, "read", read)
    watched.start()
    watched.write("坏.md", "pear")
    until(lambda: any(problem.attempts >= 3 for problem in watched.projector.status().problems))
    position = watched.index.position()
    until(lambda: any(problem.attempts >= 4 for problem in watched.projector.status().problems))
    assert watched.index.position() == position
    monkeypatch.undo()
    until(lambda: watched.finds("pear"))
    until(lambda: not watched.projector.status().problems)


def test_a_file_that_breaks_every_walk_is_found_out(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    real_read = Vault.read

    def read(vault: Vault, path: VaultPath) -> Any:
        if path == "broken.md":
            raise ValueError("no way to read this")
        return real_read(vault, path)

    monkeypatch.setattr(Vault, "read", read)
    monkeypatch.setattr(intake, "_BATCH_FILES", 7)
    for number in range(20):
        watched.write(f"{number}.md", f"pear [[{(number + 7) % 20}]]")
    watched.write("broken.md", "pear")
    watched.start()
    until(lambda: len(watched.finds("pear")) == 20)
    assert watched.index.unresolved() == []
    assert [problem.path for problem in watched.projector.status().problems] == ["broken.md"]
    watched.write("later.md", "plum")
    until(lambda: watched.finds("plum"))
    monkeypatch.undo()
    until(lambda: len(watched.finds("pear")) == 21)


def test_background_work_may_fail_and_take_long(tmp_path: Path) -> None:
    calls: list[str] = []

    def work(_: Index, stop: Callable[[], bool]) -> bool:
        calls.append("called")
        if len(calls) < 3:
            raise Unavailable("the model does not answer")
        if len(calls) == 6:
            until(stop)
        return len(calls) < 5

    watched = Watched(tmp_path / "vault", background=work)
    watched.start()
    until(lambda: "background: the model does not answer" in watched.projector.status().trouble)
    until(lambda: len(calls) == 5)
    until(lambda: not watched.projector.status().trouble)
    watched.write("a.md", "pear")
    until(lambda: len(calls) == 6)
    watched.write("b.md", "plum")
    until(lambda: watched.finds("plum"))
    began = time.monotonic()
    watched.projector.close()
    assert time.monotonic() - began < 1
    watched.start()
    watched.write("c.md", "quince")
    until(lambda: len(calls) >= 7)
    watched.close()


def test_b39_chunks_get_their_vectors_although_the_embedder_fails_at_first(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    failing = True
    embedder = SyntheticEmbedder(fails=lambda text: failing and "pear" in text)
    watched = Watched(tmp_path / "vault", background=embedding(embedder))
    watched.start()
    watched.write("p.md", "pear")
    watched.write("q.md", "plum")
    until(lambda: watched.finds("pear") and watched.finds("plum"))
    until(lambda: watched.index.status().embedded == 1)
    until(lambda: any("1 chunk without a vector" in trouble for trouble in watched.projector.status().trouble))
    failing = False
    until(lambda: watched.index.status().embedded == 2)
    until(lambda: not watched.projector.status().trouble)
    watched.close()


def test_b39_a_text_that_never_gets_a_vector_holds_up_none_that_comes_after_it(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    embedder = SyntheticEmbedder(fails=lambda text: "毒" in text)
    watched = Watched(tmp_path / "vault", background=embedding(embedder))
    watched.start()
    watched.write("p.md", "毒 poison")
    until(lambda: sum("毒" in text for text in embedder.texts) > 3)  # the pauses have grown
    for number in range(8):
        watched.write(f"{number}.md", f"pear {letters(number)}")
        until(lambda number=number: watched.index.status().embedded == number + 1, 5)
    assert any("1 chunk without a vector" in trouble for trouble in watched.projector.status().trouble)
    watched.close()


def test_b75_what_did_not_change_is_not_embedded_again(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    embedder = SyntheticEmbedder()
    watched = Watched(tmp_path / "vault", background=embedding(embedder))
    for number in range(10):
        watched.write(f"{number}.md", f"pear {letters(number)}")
    watched.start()
    until(lambda: watched.index.status().embedded == 10)
    asked = len(embedder.texts)
    for number in range(10):
        (watched.root / f"{number}.md").touch()
    (watched.root / "1.md").rename(watched.root / "renamed.md")
    watched.write("2.md", "plum")
    until(lambda: watched.finds("plum") and watched.finds(letters(1)) == ["renamed.md"])
    until(lambda: watched.index.status().embedded == 10)
    assert embedder.texts[asked:] == [text for text in embedder.texts[asked:] if "plum" in text]
    watched.close()


def test_b41_what_was_deleted_meanwhile_is_gone(watched: Watched) -> None:
    for number in range(10):
        watched.write(f"{number}.md", f"pear #tag{number} [[0]]")
    watched.start()
    watched.projector.close()
    for number in range(5):
        watched.delete(f"{number}.md")
    watched.start()
    assert watched.finds("pear") == [f"{number}.md" for number in range(5, 10)]
    assert {edge.target for edge in watched.index.links_from(VaultPath("7.md"))} == {None}
    assert [name for name, _ in watched.index.tags()] == [f"tag{number}" for number in range(5, 10)]
    assert watched.equals_rebuilt(watched.root.parent / "scratch")


def test_b43_many_processes_write_notes_while_one_projects(watched: Watched) -> None:
    watched.start()

    def write_notes(folder: str, count: int) -> None:
        for number in range(count):
            watched.write(f"{folder}/{number}.md", f"pear {folder}")

    writers = [threading.Thread(target=write_notes, args=(f"w{n}", 50)) for n in range(4)]
    blocker = open_index(watched.store, Layout())
    with blocker.writing(settle=False):
        for writer in writers:
            writer.start()
        for _ in range(20):
            watched.finds("pear")
            time.sleep(0.02)
    blocker.close()
    for writer in writers:
        writer.join()
    until(lambda: len(watched.finds("pear")) == 200)


def test_b45_what_comes_back_is_found_again(watched: Watched) -> None:
    watched.write("hub.md", "hub")
    watched.start()
    text = "pear [[hub]] #fruit"
    for path in ("n.md", "n.md", "other/n.md"):
        watched.write(path, text)
        until(lambda path=path: watched.finds("pear") == [path])
        assert [edge.source for edge in watched.index.links_to(VaultPath("hub.md"))] == [path]
        watched.delete(path)
        until(lambda: watched.finds("pear") == [])
        assert watched.index.tags() == []
    watched.write("n.md", text)
    until(lambda: watched.finds("pear") == ["n.md"])
    (watched.root / "n.md").rename(watched.root / "m.md")
    until(lambda: watched.finds("pear") == ["m.md"])
    (watched.root / "m.md").rename(watched.root / "n.md")
    until(lambda: watched.finds("pear") == ["n.md"])
    assert watched.equals_rebuilt(watched.root.parent / "scratch")


def test_p10_an_edit_that_keeps_size_and_times_is_seen(watched: Watched) -> None:
    watched.write("a.md", "pear")
    watched.start()
    file = watched.root / "a.md"
    before = file.stat()
    file.write_text("plum")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    until(lambda: watched.finds("plum") == ["a.md"])


def test_p10_and_by_every_sixth_reconciliation_when_it_was_not_heard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watched(tmp_path / "vault", reconcile=0.1)
    watched.write("a.md", "pear")
    watched.start()
    monkeypatch.setattr(watched.projector, "_hear", lambda *_: None)
    monkeypatch.setattr(watched.projector._watch, "_news", lambda *_: None)
    file = watched.root / "a.md"
    before = file.stat()
    file.write_text("plum")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    until(lambda: watched.finds("plum") == ["a.md"])
    watched.close()


def test_p12_readers_are_served_while_a_large_note_is_taken_in(watched: Watched) -> None:
    watched.write("small.md", "pear")
    watched.start()
    watched.write("large.md", "# Large\n\n" + "plum words and more words\n\n" * 60_000)
    served = 0

    def ask() -> bool:
        nonlocal served
        assert watched.finds("pear") == ["small.md"]
        served += 1
        return "large.md" in watched.finds("plum")

    until(ask, 60)
    assert served > 5


def test_p12_what_is_saved_beside_a_large_file_does_not_wait_for_all_of_it(watched: Watched) -> None:
    watched.write("other.md", "[[large]]\n")
    watched.start()
    watched.write("大/large.md", "\n\n".join(f"# {n}\n\n" + "green tea 绿茶 " * 60 for n in range(4_000)) + " the-end")
    until(lambda: watched.finds("tea"))
    told = watched.projector.status()
    assert told.walk_pending or "大/large.md" in told.pending_paths
    watched.write("small.md", "pear")
    until(lambda: watched.finds("pear"))
    assert not watched.finds("the-end")
    assert behind(watched.index, watched.vault.scan().files) == {"大/large.md"}
    assert not wait(watched.vault, watched.index, 120)
    assert watched.finds("the-end") == ["大/large.md"]
    assert watched.equals_rebuilt(watched.root.parent / "scratch")


def test_bursts_are_taken_in_whole(watched: Watched) -> None:
    watched.start()
    for number in range(1000):
        watched.write(f"burst/{number % 7}/{number}.md", f"pear {letters(number)}")
    until(lambda: watched.index.status().notes == 1000, 60)
    assert watched.finds(letters(789)) == ["burst/5/789.md"]
    shutil.rmtree(watched.root / "burst")
    until(lambda: watched.index.status().files == 0, 60)


def test_p21_a_checkout_is_one_look_at_everything(watched: Watched) -> None:
    for number in range(500):
        watched.write(f"{number % 9}/{number}.md", "pear")
    watched.start()
    position = watched.index.status().position
    for number in range(400):
        watched.write(f"{number % 9}/{number}.md", "plum")
    until(lambda: len(watched.finds("plum")) == 400)
    assert watched.index.status().position - position < 40
    assert watched.equals_rebuilt(watched.root.parent / "scratch")


def test_atomic_saves_and_editors_leftovers(watched: Watched) -> None:
    watched.write("a.md", "pear")
    watched.start()
    for number in range(5):
        word = letters(number)
        watched.write("a.md.tmp", word)
        (watched.root / "a.md").rename(watched.root / "a.md~")
        (watched.root / "a.md.tmp").rename(watched.root / "a.md")
        until(lambda word=word: watched.finds(word) == ["a.md"])
    assert watched.index.status().files == 1


def test_files_that_do_not_belong_are_not_looked_for_again_and_again(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched.write("notes/a.md", "pear")
    watched.start()
    time.sleep(0.8)
    walks: list[int] = []
    scan = Vault.scan

    def counted(vault: Vault) -> Any:
        walks.append(1)
        return scan(vault)

    monkeypatch.setattr(Vault, "scan", counted)
    for number in range(30):
        watched.write("notes/draft.tmp", str(number))
        time.sleep(0.05)
    assert len(walks) <= 2
    (watched.root / "notes/draft.tmp").rename(watched.root / "notes/draft.md")
    until(lambda: watched.index.status().files == 2)


def test_a_file_that_is_rewritten_all_the_time_stops_nobody(watched: Watched) -> None:
    watched.write("busy.md", "busy")
    watched.start()
    stop = threading.Event()

    def scribble() -> None:
        number = 0
        while not stop.wait(0.002):
            number += 1
            (watched.root / "busy.md").write_text(f"busy {number}")

    scribbler = threading.Thread(target=scribble)
    scribbler.start()
    try:
        for number in range(5):
            watched.write("calm.md", letters(number))
            assert until(lambda number=number: watched.finds(letters(number))) < 10
    finally:
        stop.set()
        scribbler.join()
    until(lambda: not behind(watched.index, watched.vault.scan().files))


def test_the_machinery_never_wakes_it(watched: Watched) -> None:
    watched.write("a.md", "pear")
    watched.start()
    time.sleep(0.8)
    position, last = watched.index.status().position, watched.projector.status().last_event
    for number in range(20):
        watched.write(f".reme/junk{number}", "x")
        watched.write(f".git/junk{number}", "x")
    time.sleep(0.3)
    assert watched.index.status().position == position
    assert watched.projector.status().last_event == last


def test_what_does_not_belong_to_the_vault_stays_out(watched: Watched) -> None:
    watched.write(".remeignore", "private/\n")
    watched.write("a.md", "pear")
    watched.start()
    watched.write("private/b.md", "pear")
    watched.write("nested/.reme/x", "")
    watched.write("nested/c.md", "pear")
    (watched.root / "link.md").symlink_to("a.md")
    watched.write("last.md", "plum")
    until(lambda: watched.finds("plum"))
    until(lambda: len(watched.index.skipped()) == 2)
    assert watched.finds("pear") == ["a.md"]
    watched.write(".remeignore", "")
    until(lambda: watched.finds("pear") == ["a.md", "private/b.md"])
    watched.write("nested2/d.md", "quince")
    until(lambda: watched.finds("quince"))
    (watched.root / "nested2/.reme").mkdir()
    until(lambda: not watched.finds("quince"))
    (watched.root / "a.md").unlink()
    (watched.root / "a.md").symlink_to(watched.root.parent)
    until(lambda: watched.finds("pear") == ["private/b.md"])
    assert watched.equals_rebuilt(watched.root.parent / "scratch")


def test_a_dead_watcher_is_reported_and_replaced(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    import watchfiles

    real, failing = watchfiles.watch, 2

    def watching(*args: Any, **options: Any) -> Any:
        nonlocal failing
        if failing:
            failing -= 1
            raise OSError("no more watches")
        return real(*args, **options)

    monkeypatch.setattr(watchfiles, "watch", watching)
    watched.projector.start()
    until(lambda: watched.projector.status().watcher_restarts)
    assert not watched.projector.status().watching
    until(lambda: watched.projector.status().watching)
    assert watched.projector.status().watcher_restarts == 2
    watched.write("a.md", "pear")
    until(lambda: watched.finds("pear"))


def test_a_deaf_watcher_is_noticed(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    import watchfiles

    monkeypatch.setattr(watch, "_PATIENCE_S", 0.2)
    monkeypatch.setattr(projector, "_BEAT_S", 0.05)
    watched.projector.close()
    deaf = Projector(watched.vault, watched.written)
    real, first = watchfiles.watch, True

    def watching(*args: Any, stop_event: threading.Event, **options: Any) -> Any:
        nonlocal first
        if first:
            first = False
            stop_event.wait()
            return iter(())
        return real(*args, stop_event=stop_event, **options)

    monkeypatch.setattr(watchfiles, "watch", watching)
    deaf.start()
    until(lambda: deaf.status().watcher_restarts)
    until(lambda: deaf.status().watching)
    watched.write("a.md", "pear")
    until(lambda: watched.finds("pear"))
    deaf.close()


def test_an_index_that_another_process_throws_away_is_filled_again(watched: Watched) -> None:
    for number in range(5):
        watched.write(f"{number}.md", f"pear 梨 {number}")
    watched.start()
    for lose in (watched.index.clear, watched.store.unlink):
        lose()
        until(lambda: len(watched.finds("pear")) == len(watched.finds("梨")) == 5)
    assert not wait(watched.vault, watched.index, 0)


def test_state_may_live_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    place = Watched(tmp_path / "vault")
    vault = Vault(place.root, layout=Layout(), clock=place.clock, state_dir=tmp_path / "state")
    index = open_index(tmp_path / "state" / "index.db", Layout())
    elsewhere = Projector(vault, index)
    elsewhere.start()
    until(lambda: elsewhere.status().watching)
    place.write("a.md", "pear")
    until(lambda: index.status().notes == 1)
    elsewhere.close()
    index.close()
    vault.close()
    place.close()


def test_wait_waits_for_the_projector(watched: Watched) -> None:
    watched.start()
    watched.write("a.md", "pear")
    assert wait(watched.vault, watched.index, 10) == frozenset()
    assert watched.finds("pear")
    watched.delete("a.md")
    assert wait(watched.vault, watched.index, 10) == frozenset()
    assert not watched.finds("pear")
    watched.projector.close()
    watched.write("b.md", "pear")
    assert wait(watched.vault, watched.index, 0.05) == {"b.md"}


def test_waiting_for_many_files_tells_exactly_which_are_left(watched: Watched) -> None:
    paths = [f"n{number:03d}.md" for number in range(300)]
    for path in paths:
        watched.write(path, "pear")
    done: list[VaultPath] = []

    def meanwhile() -> None:
        done.extend(VaultPath(path) for path in paths[len(done) :][:50])
        refresh_paths(watched.index, watched.vault, done[-50:])

    assert wait(watched.vault, watched.index, 0, meanwhile=meanwhile) == {*paths[50:]}
    assert wait(watched.vault, watched.index, 60, meanwhile=meanwhile, sleep=lambda _: None) == frozenset()
    assert len(done) == 300


def test_what_came_in_pieces_is_put_together_when_it_is_quiet(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postings, "_FAN", 3)
    monkeypatch.setattr(projector, "_QUIET_S", 0.3)
    watched.start()
    for number in range(6):
        watched.write(f"n{number}.md", "pear 梨")
        until(lambda number=number: watched.index.note(VaultPath(f"n{number}.md")) is not None)
    db = apsw.Connection(str(watched.vault.state_dir / "index.db"), flags=apsw.SQLITE_OPEN_READONLY)
    until(lambda: len(postings.living_segments(db, ())) < 3)
    db.close()
    assert len(watched.finds("梨")) == 6


def test_appends_by_a_tool_are_found(watched: Watched) -> None:
    watched.write("daily/a.md", "morning\n")
    watched.start()
    state = State(watched.vault.state_dir / "state.db")
    caller = Caller(role="person", actor="test", run=watched.vault.new_id())
    workspace = Workspace(watched.vault, watched.written, state, watched.clock, SearchSettings(), caller)
    append(workspace, "daily/a.md", "今天和小组讨论了季度预算的问题。")
    until(lambda: watched.finds("季度预算") == ["daily/a.md"])
    state.close()
