"""What was found or read is written when a vault is closed, becomes a signal once a day, and can be left uncounted."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from reme.app import open_vault
from reme.state import State

NOW = datetime.now(UTC)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "reme.yaml").write_text("vault:\n  timezone: UTC\n")
    for name in ("tea", "茶"):
        (tmp_path / f"{name}.md").write_text(f"{name} is kept cold\n", encoding="utf-8")
    return tmp_path


def ask(root: Path, query: str, after: timedelta = timedelta()) -> list[str]:
    with open_vault(root, instant=lambda: NOW + after) as app:
        return [hit.path for hit in app.call("search", {"query": query}, role="person", actor="test").hits]


def days(root: Path) -> dict[str, list[str]]:
    return json.loads((root / ".reme/meta/access_log.json").read_text("utf-8"))["access_log"]


def test_it_is_flushed_at_exit_and_merged_once_a_day(root: Path) -> None:
    today, later = NOW.date(), NOW.date() + timedelta(days=2)
    assert ask(root, "tea") == ["tea.md"]
    assert days(root) == {"tea.md": [today.isoformat()]}
    assert ask(root, "茶") == ["茶.md"]
    assert days(root) == {"tea.md": [today.isoformat()]}
    ask(root, "tea", timedelta(days=2))
    assert days(root) == {"tea.md": [today.isoformat(), later.isoformat()], "茶.md": [today.isoformat()]}


def test_it_can_be_off(root: Path) -> None:
    with (root / "reme.yaml").open("a") as file:
        file.write("search:\n  access_log: false\n")
    assert ask(root, "tea") == ["tea.md"]
    assert not (root / ".reme/meta").exists()
    assert not (root / ".reme/state.db").exists()


def test_a_broken_state_costs_no_answer(root: Path) -> None:
    ask(root, "nothing")
    (root / ".reme/state.db").write_bytes(b"no database " * 500)
    assert ask(root, "tea") == ["tea.md"]
    (root / ".reme/state.db").unlink()
    (root / ".reme/state.db").mkdir()
    assert ask(root, "tea") == ["tea.md"]


def test_a_signal_that_cannot_be_written_costs_no_answer(root: Path) -> None:
    ask(root, "nothing")
    (root / ".reme/meta").write_text("a file where a folder should be")
    assert ask(root, "tea") == ["tea.md"]
    found: list[tuple[str, str]] = []
    State(root / ".reme/state.db").hand_over_hits(found.extend)
    assert found == [("tea.md", NOW.date().isoformat())]
