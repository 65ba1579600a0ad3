"""The surface of a room, of which each name is loaded when it is first asked for.

A room says what it offers in ordinary imports, in the ``__init__.pyi`` beside its ``__init__.py``: type checkers read
them there, and here they tell where a name is to be found. So a process pays for what it uses and not for all that the
rooms have. Knows no room by name.
"""

import ast
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["offer"]


class _Room(ModuleType):
    """A package whose names are loaded late. What it offers goes before a module inside it that has the same name."""

    _origins: dict[str, str]

    def __getattr__(self, name: str) -> Any:
        if (origin := self._origins.get(name)) is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        value = getattr(import_module(origin), name)
        super().__setattr__(name, value)
        return value

    def __setattr__(self, name: str, value: object) -> None:
        if not (isinstance(value, ModuleType) and name in self._origins):
            super().__setattr__(name, value)


def offer(package: str) -> None:
    """Have a package offer what its ``__init__.pyi`` imports and lists in ``__all__``.

    Args:
        package: Its dotted name; called from its ``__init__.py`` as ``offer(__name__)``.
    """
    module: Any = sys.modules[package]
    stub = Path(module.__file__).with_suffix(".pyi")
    origins: dict[str, str] = {}
    for node in ast.parse(module.__loader__.get_data(str(stub))).body:
        match node:
            case ast.ImportFrom(module=str(origin), names=names):
                origins |= {name.name: origin for name in names}
            case ast.Assign(targets=[ast.Name("__all__")], value=listed):
                module.__all__ = ast.literal_eval(listed)
            case _:
                pass
    module._origins = {name: origins[name] for name in module.__all__}
    module.__class__ = _Room
