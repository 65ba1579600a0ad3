"""A small vault on disk with its index."""

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from reme.clock import Clock
from reme.index import Index, Refreshed, open_index, refresh
from reme.vault import Layout, Vault

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)


class Place:
    """A vault, its index, and a way to write files that does not go through the product."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)
        self.clock = Clock(ZoneInfo("UTC"), lambda: NOW)
        self.vault = Vault(root, layout=Layout(), clock=self.clock)
        self.index: Index = open_index(self.store, Layout())

    @property
    def store(self) -> Path:
        return self.vault.state_dir / "index.db"

    def write(self, path: str, text: str | bytes) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())

    def delete(self, path: str) -> None:
        (self.root / path).unlink()

    def refresh(self, *, deep: bool = False) -> Refreshed:
        return refresh(self.index, self.vault, deep=deep)

    def close(self) -> None:
        self.index.close()
        self.vault.close()
