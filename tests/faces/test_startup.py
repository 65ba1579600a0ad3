"""What a command loads before it answers: nothing that it does not use. Times are measured in ``bench/startup.py``."""

import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import environment

NEVER = {
    *("asyncio", "ctypes", "importlib.metadata", "http.client", "numpy", "onnxruntime", "pathspec", "pydantic", "rich"),
    "zipfile",
}
"""Heavy libraries that no quick command needs."""
WRITING = {"reme.vault.commit", "reme.vault.carry", "reme.vault.undo", "reme.vault.git"}
THINKING = {"reme.actions", "reme.reason", "reme.runtime"}
OPEN = {"reme.app", "reme.config", "reme.index.sqlite", "Stemmer"}
"""What only an open vault needs."""
READING = {"yaml", "pyromark", "reme.markdown.parse", "reme.index.intake", "reme.index.project", "reme.index.pieces"}
OTHER_TOOLS = {
    f"reme.tools.{name}"
    for name in ("changes", "daily", "health", "history", "lint", "listing", "move", "recalling", "transfer", "write")
}
PROGRAM = """
import sys
sys.argv[0] = "reme"
from reme.faces.cli import main
try:
    main()
finally:
    with open({out!r}, "w") as stream:
        stream.write("\\n".join(sys.modules))
"""


def loaded(vault: Path, *arguments: str) -> set[str]:
    """The modules that a process has loaded when a command has ended."""
    out = vault / ".reme" / "loaded"
    command = [sys.executable, "-c", PROGRAM.format(out=str(out)), *arguments]
    made = subprocess.run(command, capture_output=True, cwd=vault, env=environment(), timeout=60, check=False)
    assert made.returncode == 0, made.stderr.decode()
    return set(out.read_text("utf-8").split())


def test_the_version_is_told_by_next_to_nothing(vault: Path) -> None:
    ours = {name for name in loaded(vault, "--version") if name.split(".")[0] in ("reme", "click")}
    assert ours == {"reme", "reme.faces", "reme.faces.cli"}


@pytest.mark.parametrize("arguments", [("--help",), ("serve", "--help"), ("search", "tea"), ("status",)])
def test_only_serving_loads_a_server(vault: Path, arguments: tuple[str, ...]) -> None:
    modules = loaded(vault, *arguments)
    assert not {name for name in modules if name.startswith("reme.faces.http")}
    assert not modules & {"starlette", "uvicorn", "h11", "anyio"}


def test_help_loads_nothing_of_what_it_tells_of(vault: Path) -> None:
    modules = loaded(vault, "--help")
    rooms = ("reme.actions.", "reme.index", "reme.reason", "reme.search", "reme.tools.")
    assert {name for name in modules if name.startswith(rooms)} == {"reme.actions.table", "reme.tools.local"}
    assert not modules & (NEVER | OPEN | READING | WRITING)


@pytest.mark.parametrize("command", ["search", "read", "append", "traverse"])
def test_the_help_of_a_command_loads_that_command_alone(vault: Path, command: str) -> None:
    modules = loaded(vault, command, "--help")
    assert not modules & (NEVER | THINKING | OPEN)


def test_a_search_of_notes_that_are_known_reads_none_of_them(vault: Path) -> None:
    assert "reme.index.intake" in loaded(vault, "search", "tea")
    assert not loaded(vault, "search", "tea") & (NEVER | WRITING | THINKING | READING | OTHER_TOOLS)


def test_options_of_the_usual_kinds_are_taken_without_pydantic(vault: Path) -> None:
    assert not loaded(vault, "list", "--limit", "5", "--layers", "other", "--sort", "name", "--descending") & NEVER


def test_reading_a_note_loads_no_search_and_nothing_that_writes(vault: Path) -> None:
    others = OTHER_TOOLS | {"reme.search.query", "reme.tools.asking"}
    assert not loaded(vault, "read", "茶") & (NEVER | WRITING | THINKING | others)
