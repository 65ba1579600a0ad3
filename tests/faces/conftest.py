"""Vaults to reach through a face, and ways to reach them."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest

import reme.app
from reme.catalog import Catalog, Operation, add_tools
from reme.config import create_vault
from reme.errors import ConfigError, Conflict, InvalidInput, NotFound, Refused, Unavailable
from reme.faces.cli import operations

from ..catalog.toys import ECHO, Echo, echo_text

SRC = Path(__file__).parents[2] / "src"
KINDS = {error.kind: error for error in (ConfigError, Conflict, InvalidInput, NotFound, Refused, Unavailable)}

Run = Callable[..., subprocess.CompletedProcess[bytes]]


def fail(workspace: Any, kind: Annotated[str, "Which kind of error"]) -> Echo:
    """Fail in the way that is asked for."""
    if kind == "bug":
        raise ValueError("nobody foresaw it")
    raise KINDS[kind](f"the {kind} thing", hint="Do otherwise.", details={"path": "a.md"})


def add_tools_and_toys(catalog: Catalog) -> None:
    """Add the built-in operations and some that do next to nothing."""
    add_tools(catalog)
    catalog.add(ECHO, Operation("fail", "ask", fail, "write", echo_text))


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A new vault with one note."""
    root = tmp_path / "vault"
    create_vault(root, {"TZ": "Asia/Shanghai"})
    (root / "茶.md").write_text("---\nname: 茶\n---\n\n# Tea\n\nGreen tea is brewed at 80 degrees.\n", encoding="utf-8")
    return root


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Offers the toy operations on every face of this process."""
    for place in (reme.app, operations):
        monkeypatch.setattr(place, "add_tools", add_tools_and_toys)
    operations.catalog.cache_clear()
    yield
    operations.catalog.cache_clear()


def environment() -> dict[str, str]:
    """What a process of ours needs, and no settings."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("REME_")}
    return {**kept, "PYTHONPATH": str(SRC)}


@pytest.fixture
def reme_process(vault: Path) -> Run:
    """Runs ``reme`` in the vault as a process of its own."""

    def run(*arguments: str, stdin: bytes = b"", cwd: Path = vault) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-W", "error", "-m", "reme", *arguments],
            input=stdin,
            capture_output=True,
            cwd=cwd,
            env=environment(),
            timeout=60,
            check=False,
        )

    return run
