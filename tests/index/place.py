"""A small vault on disk with its index."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from reme.clock import Clock
from reme.index import ANY, Bm25, ChunkKey, Filter, Index, Refreshed, open_index, refresh
from reme.paths import VaultPath
from reme.vault import Layout, Vault

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)
BM25 = Bm25(k1=0.9, b=0.4, column_weights=(1.0, 1.0, 1.0, 1.0))


def holding(index: Index, *terms: str, wanted: Filter = ANY, limit: int = 1_000) -> list[ChunkKey]:
    """The chunks that hold any of these terms, best first."""
    return index.matches(dict.fromkeys(terms, 1.0), BM25, wanted, limit)


def paths_of(index: Index, keys: Sequence[ChunkKey]) -> list[VaultPath]:
    """The file of each chunk."""
    return [index.around([key], 0).files[0][0].path for key in keys]


def letters(number: int) -> str:
    """A word of its own for each number, which no tokeniser takes apart."""
    return "zq" + "".join(chr(ord("a") + int(digit)) for digit in str(number)) + "qz"


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
