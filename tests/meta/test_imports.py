"""No module reaches past the surface of another room."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src"
MODULES = sorted(SRC.rglob("*.py"))


def dotted(path: Path) -> list[str]:
    """The module's name in parts; a package's is its folder's."""
    parts = list(path.relative_to(SRC).with_suffix("").parts)
    return parts[:-1] if parts[-1] == "__init__" else parts


def imported(tree: ast.AST) -> Iterator[tuple[int, list[str]]]:
    """Line and dotted name, in parts, of every module of ReMe that is imported anywhere in a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: relative import"
            names = [[*(node.module or "").split("."), alias.name] for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
        else:
            continue
        for parts in names:
            if parts[0] == "reme":
                yield node.lineno, parts


def is_module(parts: list[str]) -> bool:
    path = SRC.joinpath(*parts)
    return path.is_dir() or path.with_suffix(".py").is_file()


@cache
def surface(package: Path) -> frozenset[str]:
    """The names that a package offers; a name of its surface may be that of a module inside it."""
    stub, own = package / "__init__.pyi", package / "__init__.py"
    if not own.is_file():
        return frozenset()
    for node in ast.parse((stub if stub.is_file() else own).read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["__all__"]:
            return frozenset(ast.literal_eval(node.value))
    return frozenset()


def reaches_past(importer: list[str], target: list[str]) -> bool:
    """Whether the target is a module inside a package of which the importer is no part."""
    if target[-1] in surface(SRC.joinpath(*target[:-1])):
        target = target[:-1]
    while not is_module(target):
        target = target[:-1]
    package = target[:-1]
    if package == ["reme", "faces"]:
        return False  # each face is a room of its own
    return len(package) > 1 and importer[: len(package)] != package


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SRC)))
def test_imports_only_surfaces(path: Path) -> None:
    importer = dotted(path)
    offences = [
        f"line {line}: {'.'.join(target)}"
        for line, target in imported(ast.parse(path.read_text("utf-8")))
        if reaches_past(importer, target)
    ]
    assert not offences


def test_the_rule_is_sharp() -> None:
    vault = ["reme", "vault"]
    assert reaches_past(["reme", "tools", "read"], [*vault, "layout", "Layout"])
    assert not reaches_past(["reme", "tools", "read"], [*vault, "Vault"])
    assert not reaches_past(["reme", "vault", "files"], [*vault, "layout", "Layout"])
