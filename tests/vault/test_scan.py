"""Which files belong to a vault, told by a walk and for one path alone."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from reme.clock import Clock
from reme.paths import VaultPath
from reme.vault import Layout, Vault


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    (tmp_path / "vault").mkdir()
    made = Vault(
        tmp_path / "vault", layout=Layout(), clock=Clock(ZoneInfo("UTC"), lambda: datetime(2026, 5, 20, tzinfo=UTC))
    )
    yield made
    made.close()


def lay(vault: Vault, *paths: str) -> None:
    for path in paths:
        (vault.root / path).parent.mkdir(parents=True, exist_ok=True)
        (vault.root / path).write_bytes(b"pear")


def test_one_path_belongs_exactly_if_a_walk_tells_of_it(vault: Vault) -> None:
    paths = [
        "a.md",
        "日记/今天.md",
        "long name [1].md",
        "x/y/deep.md",
        "x/.hidden.md",
        ".obsidian/a.md",
        "x/a.md~",
        "x/a.md.tmp",
        "reme.yaml",
        "sub/reme.yaml",
        "inner/.reme/lock",
        "inner/a.md",
        "inner/deeper/b.md",
        "ignored/a.md",
        "ignored/keep/b.md",
        "logs/a.log",
        "logs/keep.log",
        "x/..odd.md",
        "x/~$a.md",
        "#a.md#",
        "(draft).md",
        "UPPER.MD",
        "été.md",
        "a b.jsonl",
        "a.bak",
    ]
    lay(vault, *paths)
    (vault.root / ".remeignore").write_text("ignored/\n*.log\n!keep.log\n", encoding="utf-8")
    (vault.root / "link.md").symlink_to("a.md")
    (vault.root / "linked").symlink_to("x")
    told = {file.path for file in vault.scan().files}
    for path in [*paths, "link.md", "linked/y/deep.md", "x", "x/y", "absent.md", "a.md/b.md"]:
        assert vault.belongs(VaultPath(path)) == (path in told), path
    assert {"a.md", "日记/今天.md", "x/y/deep.md", "logs/keep.log", "sub/reme.yaml"} <= told
    assert {"(draft).md", "UPPER.MD", "été.md", "a b.jsonl"} <= told
    assert not told & {"x/a.md~", "x/a.md.tmp", "x/~$a.md", "#a.md#", "a.bak", "reme.yaml", "inner/a.md"}


def test_a_line_of_remeignore_that_is_no_pattern_is_told_and_spoils_nothing(vault: Vault) -> None:
    lay(vault, "a.md", "b.txt", "[.md", "c.log")
    (vault.root / ".remeignore").write_text("*.txt\n[z-a]\n!\n[[]*.md\n[[:alpha:]].png\n*.log\n", encoding="utf-8")
    scan = vault.scan()
    assert [file.path for file in scan.files] == ["a.md"]
    assert scan.skipped == (
        (".remeignore", "line 2 is no pattern: [z-a]"),
        (".remeignore", "line 3 is no pattern: !"),
    )
    (vault.root / ".remeignore").write_text("", encoding="utf-8")
    assert len(vault.scan().files) == 4
    (vault.root / ".remeignore").write_bytes(b"\xff\xfe*")
    assert len(vault.scan().files) == 4
