"""What every module and package of the source keeps to."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from reme.actions import register
from reme.catalog import Catalog, add_tools

SRC = Path(__file__).parents[2] / "src" / "reme"
MODULES = sorted(SRC.rglob("*.py"))
PACKAGES = sorted(SRC.rglob("__init__.py"))
FORBIDDEN_NAMES = re.compile(r"^(?:utils?|common|helpers?|managers?|handlers?|misc|.*_v\d+|base)$")
FORBIDDEN_TEXT = re.compile(
    r"TYPE_CHECKING|NotImplementedError|\bTODO\b|\bFIXME\b|\bXXX\b|[\"'](?:/home/|/root/|/tmp/|/work/|/Users/)"
)
PRINTS = re.compile(r"^\s*print\(", re.MULTILINE)
ENVIRONMENT = re.compile(r"\bos\.(?:environ|getenv)\b")


def name(path: Path) -> str:
    return str(path.relative_to(SRC))


SAID_BELOW_FACES = [
    path for path in MODULES if path.relative_to(SRC).parts[:2] not in (("faces", "cli"), ("config", "vaults.py"))
]
OPERATIONS = "|".join(operation.name for operation in Catalog(add_tools, register))
COMMAND_LINE = re.compile(rf"\breme (?:--|(?:{OPERATIONS})\b)|(?<!\w)--[a-z]")
OTHER_PROGRAMS = re.compile(r"pip install")


def strings(tree: ast.AST) -> Iterator[str]:
    """Every string of a module but the docstrings."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value.value = None
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@pytest.mark.parametrize("path", [path for path in SAID_BELOW_FACES if path.name != "git.py"], ids=name)
def test_what_is_said_on_every_face_is_spelled_for_none(path: Path) -> None:
    said = [text for text in strings(ast.parse(path.read_text("utf-8"))) if not OTHER_PROGRAMS.search(text)]
    assert [text for text in said if COMMAND_LINE.search(text)] == []


@pytest.mark.parametrize("path", PACKAGES, ids=name)
def test_package_declares_its_surface(path: Path) -> None:
    stub = path.with_suffix(".pyi")
    tree = ast.parse((stub if stub.is_file() else path).read_text("utf-8"))
    declared = [
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and [ast.unparse(t) for t in node.targets] == ["__all__"]
    ]
    assert len(declared) == 1, "no explicit __all__"
    assert len(declared[0]) == len(set(declared[0])), "a name is listed twice"


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_module_keeps_the_house_rules(path: Path) -> None:
    text = path.read_text("utf-8")
    assert ast.get_docstring(ast.parse(text)), "no module docstring"
    assert not FORBIDDEN_NAMES.match(path.stem)
    assert not FORBIDDEN_TEXT.findall(text)
    room = path.relative_to(SRC).parts[0]
    if room != "faces":
        assert not PRINTS.findall(text), "only faces print"
    if room != "config":
        assert not ENVIRONMENT.findall(text), "only config reads the environment"
