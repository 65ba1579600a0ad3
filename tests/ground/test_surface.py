"""Rooms whose names are loaded late offer what they say, and nothing is loaded for it before it is asked for."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src"
ROOMS = sorted(".".join(stub.relative_to(SRC).parent.parts) for stub in (SRC / "reme").rglob("__init__.pyi"))


def run(program: str) -> str:
    made = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    return made.stdout.strip()


def imported(room: str) -> list[tuple[str, str]]:
    """Module and name of everything that the room's stub imports."""
    stub = SRC.joinpath(*room.split("."), "__init__.pyi")
    body = ast.parse(stub.read_text("utf-8")).body
    return [(node.module or "", name.name) for node in body if isinstance(node, ast.ImportFrom) for name in node.names]


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_offers_what_its_stub_imports(room: str) -> None:
    module = importlib.import_module(room)
    assert sorted(module.__all__) == sorted(name for _, name in imported(room))
    for origin, name in imported(room):
        assert getattr(module, name) is getattr(importlib.import_module(origin), name)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_is_entered_without_loading_what_is_in_it(room: str) -> None:
    loaded = run(f"import sys, {room}; print(*(name for name in sys.modules if name.startswith('{room}.')))")
    assert not loaded


def test_what_is_offered_goes_before_a_module_of_the_same_name() -> None:
    first = run("import importlib, reme.tools; importlib.import_module('reme.tools.edit'); print(reme.tools.edit)")
    assert first.startswith("<function edit")
    assert run("from reme.vault import undo; print(undo)").startswith("<function undo")


def test_a_name_that_is_not_offered_is_missed_as_in_any_module() -> None:
    with pytest.raises(ImportError, match="cannot import name 'nothing'"):
        exec("from reme.tools import nothing")
    with pytest.raises(AttributeError, match=r"module 'reme\.tools' has no attribute 'nothing'"):
        _ = importlib.import_module("reme.tools").nothing
