"""Vaults that other programs wrote open as they are: every note is found, and not one byte of them changes."""

from pathlib import Path

import pytest
from evals.vaults import examine, unpack


@pytest.mark.parametrize(
    ("name", "resolved"), [("foam-docs", 0.95), ("dataview", 0.9), ("kepano-obsidian", 0.65), ("logseq-docs", 0.3)]
)
def test_a_vault_of_another_program(shared: Path, tmp_path: Path, name: str, resolved: float) -> None:
    found = examine(unpack(shared / "data" / "vaults" / f"{name}.tar.xz", tmp_path))
    assert found.changed == ()
    assert found.indexed == found.notes > 40
    assert found.resolved / found.links >= resolved
