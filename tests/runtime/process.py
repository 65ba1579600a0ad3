"""A projector in a process of its own, for tests that kill, stop and replace it.

Usage: python -m tests.runtime.process ROOT EXPIRY EMBEDDER. Prints ``lease EPOCH`` for each lease that it gets or
loses, and ``wrote`` for each transaction that it carries out.
"""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from reme.clock import Clock
from reme.index import Index, open_index
from reme.models import open_embedder
from reme.runtime import Projector, embedding, run
from reme.vault import Layout, Vault


class Telling:
    """An index that tells of each transaction."""

    def __init__(self, index: Index) -> None:
        self.index = index

    def __getattr__(self, name: str) -> Any:
        return getattr(self.index, name)

    def guarded(self, guard: Callable[[], None]) -> "Telling":
        return Telling(self.index.guarded(guard))

    @contextmanager
    def writing(self, *, settle: bool) -> Generator[Any]:
        with self.index.writing(settle=settle) as writer:
            yield writer
        print("wrote", flush=True)


def main(root: Path, expiry: float, embedder: str) -> int:
    clock = Clock(ZoneInfo("UTC"), lambda: datetime.now(UTC))
    vault = Vault(root, layout=Layout(), clock=clock)
    index = open_index(vault.state_dir / "index.db", Layout())
    model = open_embedder(embedder)
    projector = Projector(
        vault,
        Telling(index),  # pyright: ignore[reportArgumentType]
        expiry=expiry,
        background=embedding(model) if model else None,
    )
    try:
        return run(projector, tell=lambda status: print(f"lease {status.epoch}", flush=True))
    finally:
        index.close()
        vault.close()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3]) and 0)
