"""A real vault with its index and state in a temporary folder, as one caller sees them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tools.house import House


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path / "vault")
    yield made
    made.close()
