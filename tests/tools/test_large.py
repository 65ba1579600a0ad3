"""A large file goes in, through and out again without ever being held."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from reme.errors import Conflict, InvalidInput, NotFound, Refused
from reme.tools import LocalFile, download, download_text, upload
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
