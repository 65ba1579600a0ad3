"""Bad input and bad luck: a specified error, every byte of the vault as it was, and an index that tells the truth."""

import contextlib
import errno
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from reme.errors import Conflict, InvalidInput, NotFound, Refused, ReMeError, Unavailable
from reme.index import refresh
from reme.revision import revision_of
from reme.tools import (
    LocalFile,
    Workspace,
    append,
    copy,
    daily_write,
    delete,
    download,
    edit,
    frontmatter_delete,
    frontmatter_read,
    frontmatter_update,
    list_files,
    move,
    read,
    search,
    undo,
    upload,
    write,
)
from reme.tools import changes as changes_module
from reme.vault import carry as carrying
from tests.tools.house import House
from tests.tools.test_dry_run import outcome

FILES: dict[str, str | bytes] = {
    "a.md": "---\nk: v\n---\n# One\n\nzebra 斑马\n\n## Two\n\ntwice twice\n",
    "b.md": "[[a]]\n",
    "folder/c.md": "c\n",
    "taken.md": "taken\n",
    "daily/2026-05-15/e.md": "e\n",
}
STALE = "0" * 32

Call = Callable[[Workspace], object]

BAD: dict[str, tuple[type[ReMeError], Call]] = {
    "stale revision: write": (Conflict, lambda w: write(w, "a", "x", overwrite=True, expected_revision=STALE)),
    "a folder's spelling: write": (InvalidInput, lambda w: write(w, "x/", "x")),
    "a folder's spelling: write over a note": (InvalidInput, lambda w: write(w, "a/", "x", overwrite=True, force=True)),
    "a folder's spelling: read": (InvalidInput, lambda w: read(w, "a/")),
    "a folder's spelling: append": (InvalidInput, lambda w: append(w, "a\\", "x")),
    "a folder's spelling: edit": (InvalidInput, lambda w: edit(w, "a/", "zebra", "x")),
    "a folder's spelling: move": (NotFound, lambda w: move(w, "a/", "z")),
    "a folder's spelling: delete": (NotFound, lambda w: delete(w, "a/", recursive=True)),
    "stale revision: append": (Conflict, lambda w: append(w, "a", "x", expected_revision=STALE)),
    "stale revision: edit": (Conflict, lambda w: edit(w, "a", "zebra", "x", expected_revision=STALE)),
    "stale revision: move": (Conflict, lambda w: move(w, "a", "z", expected_revision=STALE)),
    "stale revision: copy": (Conflict, lambda w: copy(w, "a", "z", expected_revision=STALE)),
    "stale revision: delete": (Conflict, lambda w: delete(w, "a", expected_revision=STALE)),
    "stale revision: update": (Conflict, lambda w: frontmatter_update(w, "a", "k", 1, expected_revision=STALE)),
    "stale revision: remove": (Conflict, lambda w: frontmatter_delete(w, "a", "k", expected_revision=STALE)),
    "stale revision: daily": (Conflict, lambda w: daily_write(w, "e", "x", expected_revision=STALE)),
    "revision of what is gone": (Conflict, lambda w: write(w, "new", "x", overwrite=True, expected_revision=STALE)),
    "unknown heading": (NotFound, lambda w: read(w, "a", heading="Three")),
    "unknown line": (NotFound, lambda w: read(w, "a", start_line=100)),
    "lines the wrong way round": (InvalidInput, lambda w: read(w, "a", start_line=2, end_line=1)),
    "empty find": (InvalidInput, lambda w: edit(w, "a", "", "x")),
    "unknown find": (NotFound, lambda w: edit(w, "a", "giraffe", "x")),
    "repeated find": (Conflict, lambda w: edit(w, "a", "twice", "x")),
    "occurrence that is not": (NotFound, lambda w: edit(w, "a", "twice", "x", occurrence=3)),
    "nothing to append": (InvalidInput, lambda w: append(w, "a", " \n")),
    "existing target: write": (Conflict, lambda w: write(w, "taken", "x")),
    "existing target: other case": (Conflict, lambda w: write(w, "TAKEN", "x")),
    "existing target: move": (Conflict, lambda w: move(w, "a", "taken")),
    "existing target: copy": (Conflict, lambda w: copy(w, "a", "taken")),
    "existing target: material": (Conflict, lambda w: daily_write(w, "e", "x", material="e.md")),
    "overwriting unseen": (InvalidInput, lambda w: write(w, "a", "x", overwrite=True)),
    "folder for a file: read": (InvalidInput, lambda w: read(w, "folder")),
    "folder for a file: edit": (InvalidInput, lambda w: edit(w, "folder", "c", "d")),
    "folder for a file: append": (InvalidInput, lambda w: append(w, "folder/", "d")),
    "folder for a file: properties": (InvalidInput, lambda w: frontmatter_read(w, "folder")),
    "folder for a file: download": (InvalidInput, lambda w: download(w, "folder")),
    "folder for a file: upload": (InvalidInput, lambda w: upload(w, LocalFile(Path(__file__).parent), "x.bin")),
    "file for a folder": (InvalidInput, lambda w: write(w, "a.md/x", "x")),
    "folder into itself": (InvalidInput, lambda w: move(w, "folder", "folder/in")),
    "folder without recursive": (Refused, lambda w: delete(w, "folder")),
    "forbidden name": (InvalidInput, lambda w: write(w, "what?", "x")),
    "path through a symlink: read": (Refused, lambda w: read(w, "link/x")),
    "path through a symlink: write": (Refused, lambda w: write(w, "link/new", "x")),
    "path through a symlink: move": (Refused, lambda w: move(w, "a", "link/a")),
    "no such file": (NotFound, lambda w: read(w, "gone")),
    "no such run": (NotFound, lambda w: undo(w, "run-99")),
    "no such property": (NotFound, lambda w: frontmatter_delete(w, "a", "other")),
    "no such place": (NotFound, lambda w: list_files(w, "nowhere")),
    "a right that an agent has not": (Refused, lambda w: write(w, "digest/wiki/x", "x")),
}


@contextlib.contextmanager
def untouched(house: House) -> Iterator[None]:
    """Nothing of the vault changes, and the index says what is there."""
    before = house.tree()
    yield
    assert house.tree() == before
    check_index(house)


def check_index(house: House) -> None:
    list_files(house.ask())
    listed = {note.path: note.revision for note in house.index.notes()}
    tree = {path: data for path, data in house.tree().items() if not path.startswith(("outside", "link"))}
    assert listed == {path: revision_of(data) for path, data in tree.items()}
    zebras = {path for path, data in tree.items() if b"zebra" in data}
    assert {hit.path for hit in search(house.ask(), "zebra").hits} == zebras
    assert not refresh(house.index, house.vault).modified


@pytest.fixture
def laid(house: House, tmp_path: Path) -> House:
    house.lay(FILES)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "x.md").write_text("secret")
    (house.root / "link").symlink_to(tmp_path / "outside", target_is_directory=True)
    refresh(house.index, house.vault)
    return house


@pytest.mark.parametrize("what", BAD)
def test_bad_input(laid: House, what: str) -> None:
    kind, call = BAD[what]
    with untouched(laid), pytest.raises(kind) as raised:
        call(laid.ask("agent"))
    assert type(raised.value) is kind
    assert raised.value.message
    assert str(laid.root) not in raised.value.message


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes of this kind")
@pytest.mark.parametrize(
    ("kind", "call"),
    [
        (NotFound, lambda w: read(w, "pipe")),
        (NotFound, lambda w: delete(w, "pipe")),
        (InvalidInput, lambda w: write(w, "pipe", "x", overwrite=True, force=True)),
        (Conflict, lambda w: move(w, "a", "pipe")),
        (Conflict, lambda w: copy(w, "a", "Pipe")),
    ],
)
def test_nobody_waits_for_the_other_end_of_a_pipe(laid: House, kind: type[ReMeError], call: Call) -> None:
    os.mkfifo(laid.root / "pipe.md")
    with untouched(laid), pytest.raises(kind):
        call(laid.ask())


WRITES: dict[str, Call] = {
    "write": lambda w: write(w, "new", "zebra"),
    "append": lambda w: append(w, "a", "more"),
    "edit": lambda w: edit(w, "a", "zebra", "zebras"),
    "move": lambda w: move(w, "a", "sub/z"),
    "copy": lambda w: copy(w, "a", "sub/z"),
    "delete": lambda w: delete(w, "a"),
    "upload": lambda w: upload(w, "AAAA", "x.bin"),
    "update": lambda w: frontmatter_update(w, "a", "k", 2),
}


@pytest.mark.parametrize("at", [1, 2, 3, 4])
@pytest.mark.parametrize("name", WRITES)
def test_an_error_of_the_device_at_any_sync(laid: House, name: str, at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0
    sync = os.fsync

    def fail(descriptor: int) -> None:
        nonlocal calls
        calls += 1
        if calls == at:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", fail)
    before = laid.tree()
    failure = outcome(lambda: WRITES[name](laid.ask()))
    assert (failure is not None) == (calls >= at)
    if failure:
        assert failure[0] is Unavailable
        assert "Input/output error" in failure[1]
        assert laid.tree() == before
    monkeypatch.undo()
    check_index(laid)
    if laid.tree() == before:
        WRITES[name](laid.ask())
    assert laid.tree() != before
    check_index(laid)


@pytest.mark.parametrize("name", ["append", "edit", "move", "copy", "delete", "update"])
def test_a_file_that_disappears_before_the_commit(laid: House, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = changes_module.commit

    def late(*arguments: Any) -> Any:
        (laid.root / "a.md").unlink(missing_ok=True)
        return commit(*arguments)

    monkeypatch.setattr(changes_module, "commit", late)
    if name == "copy":
        WRITES[name](laid.ask())
        assert laid.data("sub/z.md") == FILES["a.md"].encode()  # type: ignore[union-attr]
    elif name == "append":
        WRITES[name](laid.ask())
        assert laid.data("a.md") == b"more\n"
    else:
        with pytest.raises(NotFound, match=r"no file a\.md"):
            WRITES[name](laid.ask())
        assert sorted(laid.tree()) == sorted(set(FILES) - {"a.md"})
    check_index(laid)


@pytest.mark.parametrize("name", ["edit", "update"])
def test_a_file_that_disappears_in_the_very_moment_is_there_with_the_change(
    laid: House, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = carrying._change

    def meddle(vault: Any, staged: Path, step: Any, **options: Any) -> None:
        (laid.root / "a.md").unlink()
        change(vault, staged, step, **options)

    monkeypatch.setattr(carrying, "_change", meddle)
    WRITES[name](laid.ask())
    assert "zebra" in laid.text("a.md")
    assert set(laid.tree()) == set(FILES)
    check_index(laid)


@pytest.mark.parametrize("name", ["append", "edit", "update"])
def test_an_editor_that_saves_in_the_middle_loses_nothing(
    laid: House, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its text and ours both stand where they do not touch; else its text is kept beside the note."""
    change = carrying._change
    meddled: list[object] = []
    saved = FILES["a.md"].replace("twice twice", "编辑器 wrote")  # type: ignore[union-attr]

    def meddle(vault: Any, staged: Path, step: Any, **options: Any) -> None:
        if not meddled:
            meddled.append(step)
            laid.lay({"a.md": saved})
        change(vault, staged, step, **options)

    monkeypatch.setattr(carrying, "_change", meddle)
    WRITES[name](laid.ask())
    ours = {"append": "more", "edit": "zebras", "update": "k: 2"}[name]
    assert ours in laid.text("a.md")
    assert "编辑器 wrote" in laid.text("a.md")
    assert set(laid.tree()) - set(FILES) == {"audit/ledger.jsonl"}
    check_index(laid)
    laid.lay({"a.md": FILES["a.md"]})
    meddled.clear()
    done = edit(laid.ask(), "a", "twice twice", "ours")
    (kept,) = done.conflict_copies
    assert "ours" in laid.text("a.md")
    assert "编辑器 wrote" in laid.text(kept)
    check_index(laid)


@pytest.mark.skipif(sys.platform == "win32", reason="rights of another kind")
@pytest.mark.parametrize("name", ["new", "edit", "move from", "move to", "delete"])
def test_an_unwritable_folder(name: str) -> None:
    """Run with the rights of nobody, where these tests have all rights."""
    calls: dict[str, Call] = {
        "new": lambda w: write(w, "closed/new", "x"),
        "edit": lambda w: edit(w, "closed/x", "x", "y"),
        "move from": lambda w: move(w, "closed/x", "x"),
        "move to": lambda w: move(w, "a", "closed/a"),
        "delete": lambda w: delete(w, "closed/x"),
    }
    root = Path(tempfile.mkdtemp())
    root.chmod(0o755)
    house = House(root / "vault")
    house.lay({**FILES, "closed/x.md": "x\n"})
    refresh(house.index, house.vault)
    mine = os.geteuid()
    try:
        if mine == 0:
            for place in [root / "vault", *(root / "vault").rglob("*")]:
                os.chown(place, 65534, 65534)
        (house.root / "closed").chmod(0o555)
        with untouched(house):
            if mine == 0:
                os.seteuid(65534)
            try:
                with pytest.raises(Unavailable, match="Permission denied"):
                    calls[name](house.ask())
            finally:
                os.seteuid(mine)
        assert house.vault.journal.pending() is None
        assert not list(house.root.rglob(".reme-*"))
    finally:
        (house.root / "closed").chmod(0o755)
        house.close()
        shutil.rmtree(root)


@pytest.mark.skipif(sys.platform == "win32", reason="rights of another kind")
def test_a_base_or_canvas_that_cannot_be_read_does_not_keep_a_note_from_moving() -> None:
    """Run with the rights of nobody, where these tests have all rights."""
    root = Path(tempfile.mkdtemp())
    root.chmod(0o755)
    house = House(root / "vault")
    house.lay({"茶.md": "t\n", "closed.base": "link('茶')\n", "open.canvas": '"茶.md"'})
    refresh(house.index, house.vault)
    mine = os.geteuid()
    try:
        if mine == 0:
            for place in [root / "vault", *(root / "vault").rglob("*")]:
                os.chown(place, 65534, 65534)
        (house.root / "closed.base").chmod(0)
        if mine == 0:
            os.seteuid(65534)
        try:
            moved = move(house.ask(), "茶", "水")
        finally:
            os.seteuid(mine)
        told = [(link.path, link.target, link.reason) for link in moved.links_left]
        unread = "whether it names what moved is not known: closed.base cannot be read: Permission denied"
        assert told == [("closed.base", "closed.base", unread), ("open.canvas", "茶.md", told[1][2])]
    finally:
        house.close()
        shutil.rmtree(root)


@pytest.mark.parametrize("name", ["write", "copy", "upload", "append"])
def test_a_full_disk(tmp_path: Path, name: str, request: pytest.FixtureRequest) -> None:
    disk = tmp_path / "small"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount a small disk")
    request.addfinalizer(lambda: subprocess.run(["umount", str(disk)], check=True))
    house = House(disk / "vault", state_dir=tmp_path / "state")
    request.addfinalizer(house.close)
    house.lay(FILES | {"big.bin": os.urandom(600_000)})
    (tmp_path / "in.bin").write_bytes(os.urandom(600_000))
    calls: dict[str, Call] = {
        "write": lambda w: write(w, "new/large", "x" * 600_000),
        "copy": lambda w: copy(w, "big.bin", "new/copy.bin"),
        "upload": lambda w: upload(w, LocalFile(tmp_path / "in.bin"), "in.bin"),
        "append": lambda w: append(w, "a", "x" * 600_000),
    }
    with untouched(house), pytest.raises(Unavailable, match="the disk is full"):
        calls[name](house.ask())
    assert not (house.root / "new").exists()
    write(house.ask(), "small", "zebra")
    check_index(house)
