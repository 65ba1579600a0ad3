"""A process that does everything with one large file, and tells by how much its memory grew.

Run as ``python -m tests.tools.large FOLDER MEGABYTES``; prints the growth after each operation, in bytes, as JSON.
"""

import json
import random
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from reme.revision import revision_of_pieces
from reme.tools import LocalFile, append, copy, delete, download, move, read, show, stat, undo, upload
from tests.tools.house import House

MEGABYTE = 1 << 20


def make(place: Path, megabytes: int) -> None:
    """A text file of lines that differ, without holding it."""
    numbers = random.Random(7)
    with place.open("wb") as stream:
        for _ in range(megabytes):
            lines = b"".join(b"%064x\n" % numbers.getrandbits(256) for _ in range(MEGABYTE // 65))
            stream.write(lines + b"-" * (MEGABYTE - len(lines) - 1) + b"\n")


def revision(place: Path) -> str:
    with place.open("rb") as stream:
        return revision_of_pieces(iter(lambda: stream.read(MEGABYTE), b""))


def peak() -> int:
    """The most memory that this process has had, in bytes. What a child inherits of its parent's does not count."""
    status = Path("/proc/self/status")
    if status.exists():
        return 1024 * int(next(line for line in status.read_text().splitlines() if line.startswith("VmHWM")).split()[1])
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


def main() -> None:
    folder, megabytes = Path(sys.argv[1]), int(sys.argv[2])
    make(folder / "big.bin", megabytes)
    house = House(folder / "vault")
    house.lay({"n.md": "[[resource/2026-05-15/big.bin]]\n"})
    before = revision(folder / "big.bin")
    grown: dict[str, int] = {}
    upload(house.ask(), "eA==", "warm.bin")
    start = peak()

    def done(name: str, work: Callable[[], Any]) -> Any:
        result = work()
        grown[name] = peak() - start
        return result

    made = done("upload", lambda: upload(house.ask(), LocalFile(folder / "big.bin"), "big.bin"))
    assert made.revision == before == revision(house.root / made.path), made
    again = done("upload again", lambda: upload(house.ask(), LocalFile(folder / "big.bin"), "again.bin"))
    assert (again.outcome, again.path) == ("known", made.path)
    facts = done("stat", lambda: stat(house.ask(), made.path))
    assert (facts.size, facts.revision) == (megabytes * MEGABYTE, before)
    part = done("read", lambda: read(house.ask(), made.path, start_line=900_000 * megabytes // 64, end_line=None))
    assert (part.revision, part.truncated) == (before, True)
    tail = done("read the last line", lambda: read(house.ask(), made.path, start_line=part.total_lines))
    assert tail.text.endswith("-\n")
    copied = done("copy", lambda: copy(house.ask(), made.path, "notes/copy.bin"))
    assert copied.files[0].revision == before
    moved = done("move", lambda: move(house.ask(), "notes/copy.bin", "elsewhere/moved.bin"))
    assert revision(house.root / "elsewhere/moved.bin") == before
    done("undo move", lambda: undo(house.ask(), moved.run))
    gone = done("delete", lambda: delete(house.ask(), "notes/copy.bin"))
    assert not (house.root / "notes/copy.bin").exists()
    assert "Large files" in done("show", lambda: show(house.ask(), gone.run)).diff
    back = done("undo delete", lambda: undo(house.ask(), gone.run))
    assert revision(house.root / "notes/copy.bin") == before
    done("undo undo", lambda: undo(house.ask(), back.undo_run))
    assert not (house.root / "notes/copy.bin").exists()
    done("download", lambda: download(house.ask(), made.path, into=LocalFile(folder / "down.bin")))
    assert revision(folder / "down.bin") == before
    done("undo upload", lambda: undo(house.ask(), made.run))
    assert not (house.root / made.path).exists()
    text = house.root / "notes" / "long.txt"
    (folder / "big.bin").rename(text)
    with text.open("ab") as stream:
        stream.write("表\r\n".encode())
    added = done("append", lambda: append(house.ask(), "notes/long.txt", "新\nlast"))
    assert added.revision == revision(text)
    with text.open("rb") as stream:
        stream.seek(-24, 2)
        assert stream.read().endswith("\n表\r\n\r\n新\r\nlast\r\n".encode())
    done("undo append", lambda: undo(house.ask(), added.run))
    assert text.stat().st_size == megabytes * MEGABYTE + 5
    house.close()
    print(json.dumps(grown))


if __name__ == "__main__":
    main()
