"""Large files: read in pieces wherever a small one is held, with the same promises."""

import contextlib
import json
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from reme.errors import Conflict
from reme.revision import ABSENT, revision_of
from reme.vault import (
    Append,
    ChangeSet,
    Committed,
    ContentChanged,
    Large,
    Move,
    Put,
    Remove,
    Retention,
    Vault,
    commit,
    content_at,
    diff,
    locked,
    undo,
)
from reme.vault import carry as carrying
from reme.vault import disk as disk_module
from reme.vault import journal as journal_module

OLD = b"".join(b"old line %06d\n" % n for n in range(150_000))
NEW = b"".join("新的一行 %06d\n".encode() % n for n in range(150_000))


class Killed(BaseException):
    """The process dies here."""


def put(vault: Vault, path: str, data: bytes) -> None:
    place = vault.root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)


def tree(root: Path) -> dict[str, bytes]:
    files = (p for p in root.rglob("*") if p.is_file() and ".reme" not in p.relative_to(root).parts)
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in files}


@pytest.fixture
def new(tmp_path: Path) -> Large:
    (tmp_path / "new.bin").write_bytes(NEW)
    content = content_at(tmp_path / "new.bin")
    assert isinstance(content, Large)
    assert (content.size, content.revision) == (len(NEW), revision_of(NEW))
    return content


def everything(new: Large, run: str = "run-1") -> ChangeSet:
    """Every kind of edit with a large file."""
    old = revision_of(OLD)
    edits = (
        Put("made/new.bin", new, ABSENT),
        Put("changed.bin", new, old),
        Put("small.md", new, revision_of(b"small")),
        Put("shrunk.bin", b"small now", old),
        Remove("gone.bin", old),
        Move("here.bin", "there/moved.bin", old),
        Append("log.jsonl", b"one more\n", offset=len(OLD)),
    )
    return ChangeSet(edits, "person", "test", "large", run)


BEFORE = dict.fromkeys(("changed.bin", "shrunk.bin", "gone.bin", "here.bin", "log.jsonl"), OLD) | {"small.md": b"small"}
AFTER = {
    "made/new.bin": NEW,
    "changed.bin": NEW,
    "small.md": NEW,
    "shrunk.bin": b"small now",
    "there/moved.bin": OLD,
    "log.jsonl": OLD + b"one more\n",
}


def lay(vault: Vault) -> None:
    for path, data in BEFORE.items():
        put(vault, path, data)


def test_every_edit_and_its_undoing(vault: Vault, new: Large) -> None:
    lay(vault)
    outcome = commit(vault, everything(new))
    assert isinstance(outcome, Committed)
    assert tree(vault.root) == AFTER
    assert {path: revision_of(data) for path, data in AFTER.items()}.items() <= outcome.revisions.items()
    text = diff(vault, "run-1")
    assert "Large files /dev/null and b/made/new.bin differ" in text
    assert "rename from here.bin" in text
    undo(vault, "run-1", role="person", actor="test", new_run="run-2")
    assert tree(vault.root) == BEFORE
    undo(vault, "run-2", role="person", actor="test", new_run="run-3")
    assert tree(vault.root) == AFTER


def test_an_append_to_a_large_file_is_cut_out_again(vault: Vault, edits) -> None:
    put(vault, "log.jsonl", OLD)
    for run, line in (("run-1", b"one\n"), ("run-2", b"two\n")):
        commit(vault, edits(Append("log.jsonl", line), run=run))
    undo(vault, "run-1", role="person", actor="test", new_run="run-3")
    assert (vault.root / "log.jsonl").read_bytes() == OLD + b"two\n"
    put(vault, "log.jsonl", b"another" + OLD)
    with pytest.raises(Conflict):
        undo(vault, "run-2", role="person", actor="test", new_run="run-4")


def test_large_contents_do_not_merge(vault: Vault, new: Large, edits) -> None:
    put(vault, "a.bin", OLD)
    commit(vault, edits(Put("a.bin", new, revision_of(OLD))))
    put(vault, "a.bin", NEW + b"more\n")
    with pytest.raises(Conflict):
        undo(vault, "run-1", role="person", actor="test", new_run="run-2")
    assert (vault.root / "a.bin").read_bytes() == NEW + b"more\n"


def test_at_most_four_syncs(vault: Vault, new: Large, edits, monkeypatch: pytest.MonkeyPatch) -> None:
    put(vault, "a.md", b"")
    commit(vault, edits(Put("b.md", b"first", ABSENT)))
    synced: list[int] = []
    sync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda descriptor: (synced.append(descriptor), sync(descriptor))[1])
    for path, expects in (("c.bin", ABSENT), ("a.md", revision_of(b""))):
        synced.clear()
        commit(vault, edits(Put(path, new, expects)))
        assert 1 <= len(synced) <= 4
    synced.clear()
    commit(vault, edits(Remove("c.bin", new.revision)))
    assert 1 <= len(synced) <= 4


def test_a_source_that_changes_meanwhile_changes_nothing(vault: Vault, tmp_path: Path, new: Large, edits) -> None:
    put(vault, "a.md", b"a")
    (tmp_path / "new.bin").write_bytes(NEW[:-1] + b"?")
    with pytest.raises(ContentChanged, match=r"new\.bin changed while it was being read"):
        commit(vault, edits(Put("sub/b.bin", new, ABSENT), Put("a.md", b"b", revision_of(b"a"))))
    assert tree(vault.root) == {"a.md": b"a"}
    assert not (vault.root / "sub").exists()
    assert vault.journal.pending() is None
    assert not list(vault.root.rglob("pending*"))
    (tmp_path / "new.bin").write_bytes(NEW)
    assert isinstance(commit(vault, edits(Put("sub/b.bin", new, ABSENT))), Committed)


@pytest.mark.parametrize("meant", [1, 2, 3, 5, 8, 11, 14, 17])
def test_a_death_at_a_sync_leaves_before_or_after(
    vault: Vault, new: Large, monkeypatch: pytest.MonkeyPatch, meant: int
) -> None:
    lay(vault)
    calls = 0

    def die(sync):
        def counted(argument) -> None:
            nonlocal calls
            calls += 1
            if calls == meant:
                raise Killed
            sync(argument)

        return counted

    monkeypatch.setattr(disk_module, "sync_file", die(disk_module.sync_file))
    monkeypatch.setattr(carrying, "sync_file", die(carrying.sync_file))
    monkeypatch.setattr(carrying, "sync_folder", die(carrying.sync_folder))
    monkeypatch.setattr(journal_module, "sync_folder", die(journal_module.sync_folder))
    with contextlib.suppress(Killed):
        commit(vault, everything(new))
    monkeypatch.undo()
    again = Vault(vault.root, layout=vault.layout, clock=vault.clock)
    vault.close()
    with locked(again):
        pass
    assert tree(again.root) in (BEFORE, AFTER)
    assert not list(again.root.rglob(".reme-*"))
    assert again.journal.pending() is None
    again.close()


def test_a_failure_is_taken_back(vault: Vault, new: Large, monkeypatch: pytest.MonkeyPatch) -> None:
    lay(vault)
    change = carrying._change
    calls = 0

    def fail(*arguments, **options) -> None:
        nonlocal calls
        calls += 1
        if calls == 6:
            raise OSError(5, "Input/output error")
        change(*arguments, **options)

    monkeypatch.setattr(carrying, "_change", fail)
    with pytest.raises(Exception, match="Input/output error"):
        commit(vault, everything(new))
    assert tree(vault.root) == BEFORE


def test_what_somebody_wrote_in_the_very_moment_is_kept(
    vault: Vault, new: Large, edits, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(vault, "a.bin", OLD)
    change = carrying._change

    def meddle(vault_: Vault, staged: Path, step, **options) -> None:
        if step.path == "a.bin":
            put(vault, "a.bin", OLD + b"theirs")
        change(vault_, staged, step, **options)

    monkeypatch.setattr(carrying, "_change", meddle)
    outcome = commit(vault, edits(Put("a.bin", new, revision_of(OLD))))
    assert isinstance(outcome, Committed)
    (copy,) = outcome.conflict_copies
    assert (vault.root / copy).read_bytes() == OLD + b"theirs"
    assert (vault.root / "a.bin").read_bytes() == NEW


def test_the_journal_is_an_ordinary_zip_file(vault: Vault, new: Large, edits) -> None:
    put(vault, "a.bin", OLD)
    some = Put("b.md", b"b" * 100_000, ABSENT), Put("c.md", b"c" * 1000, ABSENT)
    commit(vault, edits(Put("a.bin", new, revision_of(OLD)), *some))
    (file,) = (vault.state_dir / "journal").glob("*.zip")
    with zipfile.ZipFile(file) as archive:
        assert archive.testzip() is None
        assert [archive.read(name) for name in ("pre/0", "post/0", "post/1")] == [OLD, NEW, b"b" * 100_000]
        assert archive.getinfo("post/0").compress_type == zipfile.ZIP_STORED
        assert archive.getinfo("post/1").compress_type == zipfile.ZIP_DEFLATED
        assert archive.getinfo("post/2").compress_type == zipfile.ZIP_STORED
        step, *_ = json.loads(archive.read("manifest.json"))["steps"]
    assert step == {"op": "replace", "path": "a.bin", "pre": revision_of(OLD), "post": revision_of(NEW)}


def test_an_entry_that_fits_nowhere_does_not_push_others_out(vault: Vault, new: Large, edits) -> None:
    vault.journal._retention = Retention(days=30, size=100_000)
    commit(vault, edits(Put("a.md", b"a", ABSENT), run="run-1"))
    commit(vault, edits(Put("b.bin", new, ABSENT), run="run-2"))
    commit(vault, edits(Put("c.md", b"c", ABSENT), run="run-3"))
    (vault.state_dir / "journal" / "pruned").unlink()
    vault.journal.prune(vault.clock.now())
    assert [record.run for record in vault.journal.records()] == ["run-3", "run-1"]


def test_reading_finds_out_that_it_is_not_what_it_was(tmp_path: Path) -> None:
    def pieces() -> Iterator[bytes]:
        yield from (b"a", b"b")

    assert b"".join(Large(revision_of(b"ab"), 2, pieces, "x").pieces()) == b"ab"
    with pytest.raises(ContentChanged, match="x changed"):
        list(Large(revision_of(b"ac"), 2, pieces, "x").pieces())
