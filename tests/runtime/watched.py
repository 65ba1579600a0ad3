"""A vault that a projector keeps indexed, seen by a reader of its own."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from reme.index import Index, open_index, rebuild
from reme.paths import VaultPath
from reme.runtime import Projector
from reme.search import SearchSettings, search
from reme.vault import Layout, Vault
from tests.index.place import Place, holding, letters

__all__ = ["PATIENCE_S", "Watched", "letters", "until"]

PATIENCE_S = 20.0


def until(true: Callable[[], object], seconds: float = PATIENCE_S) -> float:
    """Wait until something holds; returns the seconds that it took."""
    began = time.monotonic()
    while not true():
        assert time.monotonic() - began < seconds, "it did not happen"
        time.sleep(0.002)
    return time.monotonic() - began


class Watched(Place):
    """The vault with a reader's index (never refreshed) and a projector that has its own."""

    def __init__(self, root: Path, **options: Any) -> None:
        super().__init__(root)
        self.options = options
        self.written: Index = open_index(self.store, Layout())
        self.projector = Projector(self.vault, self.written, **options)

    def start(self) -> None:
        self.projector.start()
        until(lambda: self.projector.status().watching and not self.projector.status().walk_pending)

    def finds(self, word: str) -> list[VaultPath]:
        """The notes that a reader finds by a word, sorted."""
        terms = self.index.terms(word)
        with self.index.snapshot():
            found = self.index.around(holding(self.index, *terms), 0)
            return sorted(standing.path for standing, _ in found.files)

    def equals_rebuilt(self, scratch: Path) -> bool:
        """Whether the index holds what one that is built from nothing holds."""
        vault = Vault(self.root, layout=Layout(), clock=self.clock, state_dir=scratch)
        other = open_index(scratch / "index.db", Layout())
        try:
            rebuild(other, vault)
            return other.dump() == self.index.dump()
        finally:
            other.close()
            vault.close()

    def answers_as_rebuilt(self, scratch: Path, queries: Sequence[str]) -> bool:
        """Whether each query has the same first twenty chunks with the same scores as with an index built anew."""
        vault = Vault(self.root, layout=Layout(), clock=self.clock, state_dir=scratch)
        other = open_index(scratch / "index.db", Layout())
        try:
            rebuild(other, vault)
            return all(self._ranked(self.index, query) == self._ranked(other, query) for query in queries)
        finally:
            other.close()
            vault.close()

    def _ranked(self, index: Index, query: str) -> list[tuple[str, float]]:
        found = search(index, self.clock, SearchSettings(), query, limit=20, expand_depth=0)
        return [(hit.path, hit.score) for hit in found.hits]

    def close(self) -> None:
        self.projector.close()
        self.written.close()
        super().close()
