"""A vault in a temporary folder, with everything that actions are given."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from reme.clock import Clock, zone_named
from reme.index import open_index
from reme.paths import VaultPath
from reme.search import SearchSettings
from reme.state import State
from reme.tools import Caller, Workspace
from reme.vault import Layout, Vault


@dataclass
class Ticking:
    """A clock's hands: each look is a second later."""

    at: datetime

    def __call__(self) -> datetime:
        self.at += timedelta(seconds=1)
        return self.at


@dataclass(frozen=True)
class Room:
    """A vault to act in; every use of ``workspace`` is a run of its own."""

    root: Path
    shared: Workspace
    hands: Ticking

    @property
    def workspace(self) -> Workspace:
        return replace(self.shared, caller=Caller("agent", "test", self.shared.vault.new_id()))

    def text(self, path: str) -> str:
        return (self.root / path).read_text("utf-8")

    def write(self, path: str, text: str) -> VaultPath:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode("utf-8"))
        return VaultPath(path)

    def files(self) -> dict[str, bytes]:
        return {stat.path: (self.root / stat.path).read_bytes() for stat in self.shared.vault.scan().files}

    def daily(self) -> list[str]:
        return [path for path in self.files() if path.startswith("daily/") and path.count("/") > 1]

    def digest(self) -> list[str]:
        return [path for path in self.files() if path.startswith("digest/") and path.count("/") > 1]


MakeRoom = Callable[..., Room]


@pytest.fixture
def make_room(tmp_path: Path) -> Iterator[MakeRoom]:
    opened: list[Workspace] = []

    def make(zone: str = "Europe/Berlin", now: str = "2026-05-15T12:00:00+02:00", name: str = "vault") -> Room:
        root = tmp_path / name
        root.mkdir(exist_ok=True)
        hands = Ticking(datetime.fromisoformat(now).astimezone(UTC))
        clock = Clock(zone_named(zone), hands)
        vault = Vault(root, layout=Layout(), clock=clock)
        vault.state_dir.mkdir(exist_ok=True)
        index = open_index(vault.state_dir / "index.db", vault.layout)
        state = State(vault.state_dir / "state.db")
        workspace = Workspace(vault, index, state, clock, SearchSettings(), Caller("agent", "test", "run"))
        opened.append(workspace)
        return Room(root, workspace, hands)

    yield make
    for workspace in opened:
        workspace.state.close()
        workspace.index.close()
        workspace.vault.close()


@pytest.fixture
def room(make_room: MakeRoom) -> Room:
    return make_room()
