"""A vault that a projector keeps indexed, seen by a reader of its own."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from reme.index import Filter, Index, open_index, rebuild
from reme.paths import VaultPath
from reme.runtime import Projector
from reme.vault import Layout, Vault
from tests.index.place import Place

PATIENCE_S = 20.0


def until(true: Callable[[], object], seconds: float = PATIENCE_S) -> float:
    """Wait until something holds; returns the seconds that it took."""
    began = time.monotonic()
    while not true():
        assert time.monotonic() - began < seconds, "it did not happen"
        time.sleep(0.002)
    return time.monotonic() - began


def letters(number: int) -> str:
    """A word of its own for each number, which no tokeniser takes apart."""
    return "zq" + "".join(chr(ord("a") + int(digit)) for digit in str(number)) + "qz"


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
            keys = self.index.candidates(terms, Filter(), 1000, (1.0, 1.0, 1.0, 1.0))
            notes = {chunk.note for chunk in self.index.around(keys, 0)}
            return sorted(standing.path for standing in self.index.standings(sorted(notes)).values())

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

    def close(self) -> None:
        self.projector.close()
        self.written.close()
        super().close()
