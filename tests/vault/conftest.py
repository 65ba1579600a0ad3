"""A real vault in a temporary folder, at a fixed moment."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from reme.clock import Clock
from reme.vault import ChangeSet, Edit, Layout, Role, Vault

NOW = datetime(2026, 5, 15, 12, 30, tzinfo=UTC)


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    root = tmp_path / "vault"
    root.mkdir()
    return Vault(root, layout=Layout(), clock=Clock(ZoneInfo("Asia/Shanghai"), lambda: NOW))


@pytest.fixture
def edits() -> Callable[..., ChangeSet]:
    """Makes a change set of edits."""

    def make(*edits: Edit, role: Role = "person", run: str = "run-1") -> ChangeSet:
        return ChangeSet(edits, role, "test", "because", run)

    return make
