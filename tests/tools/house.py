"""A vault to test tools in: files laid out and looked at on disk, tools called as a given caller."""

from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from zoneinfo import ZoneInfo

from reme.clock import Clock
from reme.index import open_index
from reme.search import SearchSettings
from reme.state import State
from reme.tools import Caller, SchemaSettings, Workspace
from reme.vault import Layout, Role, Vault

NOW = datetime(2026, 5, 15, 12, 30, tzinfo=UTC)


class House:
    """An open vault.

    Args:
        root: Its folder, made if absent.
        state_dir: Where its machinery lies, if elsewhere.
    """

    def __init__(self, root: Path, layout: Layout | None = None, state_dir: Path | None = None) -> None:
        root.mkdir(parents=True, exist_ok=True)
        self.root = root
        self.clock = Clock(ZoneInfo("Asia/Shanghai"), lambda: NOW)
        self.vault = Vault(root, layout=layout or Layout(), clock=self.clock, state_dir=state_dir)
        self.index = open_index(self.vault.state_dir / "index.db", self.vault.layout)
        self.state = State(self.vault.state_dir / "state.db")
        self._runs = count(1)

    def close(self) -> None:
        self.index.close()
        self.state.close()
        self.vault.close()

    def ask(self, role: Role = "person", schema: SchemaSettings | None = None) -> Workspace:
        """The vault as a caller sees it, in a run of its own."""
        caller = Caller(role, "test", f"run-{next(self._runs)}")
        asked = schema or SchemaSettings()
        return Workspace(self.vault, self.index, self.state, self.clock, SearchSettings(), caller, asked)

    def lay(self, files: dict[str, str | bytes]) -> None:
        """Put files on disk as another program would."""
        for path, text in files.items():
            place = self.root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text if isinstance(text, bytes) else text.encode())

    def data(self, path: str) -> bytes:
        return (self.root / path).read_bytes()

    def text(self, path: str) -> str:
        return self.data(path).decode()

    def tree(self) -> dict[str, bytes]:
        """Every file outside the machinery's folder."""
        places = (p for p in self.root.rglob("*") if p.is_file())
        relative = ((p.relative_to(self.root), p) for p in places)
        return {r.as_posix(): p.read_bytes() for r, p in relative if r.parts[0] != ".reme"}
