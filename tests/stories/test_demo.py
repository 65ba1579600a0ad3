"""The demo runs from beginning to end, and leaves a vault that is as it should be."""

import contextlib
import io
from pathlib import Path

import pytest

from reme.app import open_vault
from reme.errors import Conflict
from reme.faces.cli.entry import run


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Where the demo's vault is, and what it printed."""
    root = tmp_path_factory.mktemp("demo") / "vault"
    with contextlib.redirect_stdout(io.StringIO()) as output, contextlib.redirect_stderr(io.StringIO()) as errors:
        assert run(["demo", str(root)]) == 0
    assert errors.getvalue() == ""
    return root, output.getvalue()


@pytest.fixture(scope="module")
def root(told: tuple[Path, str]) -> Path:
    return told[0]


@pytest.mark.parametrize(
    "said",
    ["digest nodes", "derived_from:: [[", "--- @", "12万元砍到9万元", "jwks_cache_ttl", " → ", "undid run", "reme log"],
)
def test_the_tour(told: tuple[Path, str], said: str) -> None:
    assert said in told[1]


def test_days_and_both_languages_are_there(root: Path) -> None:
    days = {path.name for path in (root / "daily").iterdir() if path.is_dir()}
    assert len(days) >= 5
    digest = "".join(path.read_text("utf-8") for path in (root / "digest").rglob("*.md"))
    assert "Calder Pay" in digest
    assert "青禾" in digest


def test_the_recurring_procedure_is_one_node(root: Path) -> None:
    step = "run make smoke against staging"
    nodes = [path.read_text("utf-8") for path in (root / "digest" / "procedure").glob("*.md")]
    (node,) = [text for text in nodes if step in text]
    assert node.count("derived_from:: [[daily/") == 3


def test_every_link_leads_somewhere(root: Path) -> None:
    with open_vault(root) as app:
        files = app.call("list", {"limit": 1000}, role="person", actor="test").files
        seeds = [file.path for file in files]
        arguments = {"seeds": seeds, "unresolved": True, "limit": 1000}
        edges = app.call("traverse", arguments, role="person", actor="test").edges
    assert edges
    assert not [edge for edge in edges if not edge.resolved]


def test_what_was_undone_is_gone(root: Path) -> None:
    assert not list(root.rglob("renamed-by-the-demo.md"))


def test_a_folder_with_something_in_it_is_refused(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["demo", str(root)]) == Conflict.exit_code
    assert "is not an empty folder" in capsys.readouterr().err


def test_the_default_folder_is_always_new(tmp_path: Path) -> None:
    from reme.faces.cli import demo

    (tmp_path / "reme-demo").mkdir()
    with contextlib.chdir(tmp_path):
        assert demo._fresh(None) == Path("reme-demo-2")
