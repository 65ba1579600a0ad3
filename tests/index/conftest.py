"""A small vault on disk with its index."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.index.place import Place


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path / "vault")
    yield made
    made.close()
