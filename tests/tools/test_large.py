"""A large file goes in, through and out again without ever being held."""

import contextlib
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from reme.errors import Conflict, InvalidInput, NotFound, Refused
from reme.revision import revision_of
from reme.tools import (
    LocalFile,
    Uploaded,
    append,
    download,
    download_text,
    edit,
    frontmatter_delete,
    frontmatter_read,
    frontmatter_update,
    move,
    show,
    undo,
    upload,
)
from reme.tools.texts import LARGEST_PARSED
from tests.tools import large
from tests.tools.house import House


def grown(folder: Path, megabytes: int) -> dict[str, int]:
    command = [sys.executable, "-m", "tests.tools.large", str(folder), str(megabytes)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(large.__file__).parents[2])
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_everything_in_bounded_memory(tmp_path: Path) -> None:
    """A file of 32 MB is brought in, read, copied, moved, deleted, undone and handed out in less than 12 MB."""
    found = grown(tmp_path, 32)
    assert max(found.values()) < 12 * large.MEGABYTE, found


@pytest.mark.slow
def test_500_megabytes(tmp_path: Path) -> None:
    found = grown(tmp_path, 500)
    assert max(found.values()) < 24 * large.MEGABYTE, found


def test_a_file_of_the_callers(house: House, tmp_path: Path) -> None:
    (tmp_path / "表.bin").write_bytes(b"\0\1")
    made = upload(house.ask("agent"), LocalFile(tmp_path / "表.bin"), "表.bin")
    assert house.data(made.path) == b"\0\1"
    saved = download(house.ask(), made.path, into=LocalFile(tmp_path / "out.bin"))
    assert (saved.data, saved.saved_as, saved.size) == ("", str(tmp_path / "out.bin"), 2)
    assert saved.revision == made.revision
    assert download_text(saved).endswith(f"saved as {tmp_path / 'out.bin'}")
    (tmp_path / "folder").mkdir()
    assert download(house.ask(), made.path, into=LocalFile(tmp_path / "folder")).saved_as.endswith("表.bin")
    assert (tmp_path / "folder" / "表.bin").read_bytes() == (tmp_path / "out.bin").read_bytes() == b"\0\1"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_a_pipe_of_the_callers_is_read_once(house: House, tmp_path: Path) -> None:
    def uploaded(data: bytes, name: str) -> Uploaded:
        pipe = tmp_path / name
        os.mkfifo(pipe)
        writer = threading.Thread(target=_write_as_far_as_it_is_read, args=(pipe, data))
        writer.start()
        try:
            return upload(house.ask(), LocalFile(pipe), name)
        finally:
            writer.join()

    assert house.data(uploaded(b"\0\1", "few.bin").path) == b"\0\1"
    with pytest.raises(InvalidInput, match=r"is no file but a stream, and has more than 1,048,576 bytes"):
        uploaded(bytes(3 << 20), "many.bin")


def _write_as_far_as_it_is_read(pipe: Path, data: bytes) -> None:
    with contextlib.suppress(BrokenPipeError), pipe.open("wb") as stream:
        stream.write(data)


def test_what_is_no_file_of_the_callers(house: House, tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"a")
    house.lay({"n.md": "n"})
    for place, error in ((tmp_path / "gone", NotFound), (tmp_path, InvalidInput)):
        with pytest.raises(error):
            upload(house.ask(), LocalFile(place), "x.bin")
    with pytest.raises(Refused):
        upload(house.ask("curator"), LocalFile(tmp_path / "a.bin"), "x.bin")
    for place, error in (
        (tmp_path / "a.bin", Conflict),
        (tmp_path / "gone" / "n.md", NotFound),
        (house.root / "copy.md", InvalidInput),
    ):
        with pytest.raises(error):
            download(house.ask(), "n", into=LocalFile(place))
    assert house.tree() == {"n.md": b"n"}
    assert (tmp_path / "a.bin").read_bytes() == b"a"


def test_a_note_too_large_to_be_parsed_is_moved_and_added_to_but_not_edited(house: House) -> None:
    body = "---\nname: 大\n---\n[own](n.md) [[n]] [[big]]\n".encode() + b"\n" * LARGEST_PARSED
    files = {
        "a/big.md": body,
        "a/n.md": "[[big]], [[a/big.md]]\n",
        "b/big.canvas": b'"a/big.md"' + b" " * LARGEST_PARSED,
    }
    house.lay(files)
    before = house.tree()
    for call in (
        lambda: edit(house.ask(), "a/big", "own", "mine"),
        lambda: frontmatter_update(house.ask(), "a/big", "name", "x"),
        lambda: frontmatter_delete(house.ask(), "a/big", "name"),
    ):
        with pytest.raises(
            Refused, match=r"has 20,000,0\d\d bytes, and a file of more than 20,000,000 is not edited"
        ) as told:
            call()
        assert "append" in told.value.hint
    assert house.tree() == before
    assert frontmatter_read(house.ask(), "a/big").properties == {"name": "大"}
    moved = move(house.ask(), "a/big", "c/large")
    assert house.text("a/n.md") == "[[large]], [[c/large.md]]\n"
    assert house.data("c/large.md") == body
    assert [(link.path, link.target, link.reason.partition(" of")[0]) for link in moved.links_left] == [
        ("c/large.md", "n.md", "a file"),
        ("c/large.md", "big", "a file"),
        ("b/big.canvas", "a/big.md", "only links"),
    ]
    undo(house.ask(), moved.run)
    assert house.tree() == before
    added = append(house.ask("agent"), "a/big", "more", revision_of(body))
    assert house.data("a/big.md") == body + b"more\n"
    with pytest.raises(Conflict):
        append(house.ask(), "a/big", "more", revision_of(body))
    assert append(house.ask(), "a/big", "more", dry_run=True).revision == revision_of(body + b"more\n\nmore\n")
    assert "bytes added at" in show(house.ask(), added.run).diff
    house.lay({"latin.txt": "caf\xe9 ".encode("latin-1") * 300_000})
    with pytest.raises(Refused, match="not in UTF-8"):
        append(house.ask(), "latin.txt", "more")
    undo(house.ask(), added.run)
    assert house.data("a/big.md") == body
