"""A full disk, a folder that two machines share, an embedder that never answers."""

import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from reme.errors import Unavailable
from reme.index import open_index, report
from reme.runtime import Projector, embedding, holder
from reme.testing import SyntheticEmbedder
from reme.vault import Layout, Vault
from tests.runtime.watched import Watched, letters, until


def test_a_full_disk_stops_projection_with_a_clear_status_and_it_resumes(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)]
    try:
        mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        mounted = False
    if not mounted:
        pytest.skip("this user may not mount a small disk")
    request.addfinalizer(lambda: subprocess.run(["umount", str(disk)], check=True))
    place = Watched(tmp_path / "vault")
    vault = Vault(place.root, layout=Layout(), clock=place.clock, state_dir=disk / "state")
    index = open_index(disk / "state" / "index.db", Layout())
    projector = Projector(vault, index)
    try:
        place.write("before.md", "pear")
        projector.start()
        until(lambda: index.status().notes == 1)
        filler = disk / "filler"
        filler.write_bytes(b"x" * 3_000_000)
        for number in range(60):
            place.write(f"{number}.md", " ".join(letters(number * 1000 + word) for word in range(1500)))
        until(lambda: any("the disk is full" in what for what in projector.status().trouble), 60)
        assert projector.status().running
        assert index.note(place.vault.find("before")) is not None  # readers go on
        filler.unlink()
        for number in range(20, 60):  # so that all the rest has room
            place.delete(f"{number}.md")
        until(lambda: index.status().notes == 21, 90)
        until(lambda: not projector.status().trouble)
    finally:
        projector.close()
        index.close()
        vault.close()
        place.close()


def test_two_machines_on_a_synced_folder_each_keep_an_index_of_their_own(tmp_path: Path) -> None:
    root = tmp_path / "synced"
    root.mkdir()
    machines: list[tuple[Vault, Any, Projector]] = []
    place = Watched(tmp_path / "elsewhere")
    for name in ("desk", "lap"):
        state = tmp_path / name
        vault = Vault(root, layout=Layout(), clock=place.clock, state_dir=state)
        index = open_index(state / "index.db", Layout())
        machines.append((vault, index, Projector(vault, index)))
        machines[-1][2].start()
    until(lambda: all(projector.status().watching for _, _, projector in machines))
    for number in range(20):
        (root / f"{number}.md").write_text(f"梨 {letters(number)} [[{number + 1}]]\n", encoding="utf-8")
    (root / "3.md").rename(root / "drei.md")
    until(lambda: all(index.status().notes == 20 for _, index, _ in machines))
    until(lambda: machines[0][1].dump() == machines[1][1].dump())
    assert all(projector.status().epoch == 1 for _, _, projector in machines)
    assert {path.name for path in root.iterdir() if path.suffix != ".md"} == set()
    for vault, index, projector in machines:
        projector.close()
        assert holder(vault.state_dir) is None
        index.close()
        vault.close()
    place.close()


def test_an_embedder_that_never_answers_is_told_and_holds_up_nothing(tmp_path: Path) -> None:
    pytest.importorskip("numpy")

    class Down(SyntheticEmbedder):
        asked = 0

        def embed(self, texts: Sequence[str], *, query: bool = False) -> Any:
            self.asked += 1
            time.sleep(0.05)
            raise Unavailable("nobody answers at port 11434")

    embedder = Down()
    watched = Watched(tmp_path / "vault", background=embedding(embedder))
    watched.start()
    for number in range(100):
        watched.write(f"{number}.md", f"pear {letters(number)}")
    until(lambda: len(watched.finds("pear")) == 100)
    until(lambda: any("nobody answers" in what for what in watched.projector.status().trouble))
    assert watched.index.status().unembedded == 100
    assert embedder.asked < 40  # once a round, and ever later
    assert "nobody answers" in str(report(watched.projector.status())["trouble"])
    watched.close()
