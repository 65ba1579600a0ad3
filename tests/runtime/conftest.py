from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.runtime.watched import Watched


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    made = Watched(tmp_path / "vault")
    yield made
    made.close()
