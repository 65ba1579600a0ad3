"""The catalogue: one entry per operation, from which every face is generated.

Owns what an operation is and how its parameters are read off its function. Knows no face, and no operation by name.
"""

import inspect
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from reme.errors import InvalidInput
from reme.tools import LocalFile
from reme.vault import Role

__all__ = ["EVERYONE", "Catalog", "Content", "Cost", "Effects", "Group", "Named", "Operation", "Parameter", "nearest"]

Effects = Literal["read", "write", "destructive"]
Cost = Literal["cheap", "slow", "model"]
Group = Literal["ask", "files", "properties", "daily", "health", "learn", "review", "index"]

EVERYONE: frozenset[Role] = frozenset({"agent", "curator", "person"})


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of an operation.

    Attributes:
        name: As in the function; faces spell it their own way (``--start-date`` on a command line).
        annotation: Its type with constraints, as pydantic reads it.
        description: What to give, one line.
        default: Its default, or ``inspect.Parameter.empty`` where it must be given.
    """

    name: str
    annotation: Any
    description: str
    default: Any

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is inspect.Parameter.empty

    @property
    def types(self) -> tuple[Any, ...]:
        """The types that a value may have, bare of annotations and without None."""
        return tuple(kind for kind in _alternatives(self.annotation) if kind is not types.NoneType)

    @property
    def is_flag(self) -> bool:
        """Whether it is either on or off."""
        return self.types == (bool,)

    @property
    def is_list(self) -> bool:
        """Whether it takes several values, and never a single string as such."""
        kinds = self.types
        return str not in kinds and any(get_origin(kind) in (list, tuple, set, frozenset, Sequence) for kind in kinds)

    @property
    def is_local(self) -> bool:
        """Whether it takes a file of the caller's own, and so can be given on this machine only."""
        return self.types == (LocalFile,)

    @property
    def takes_bytes(self) -> bool:
        """Whether it takes bytes: in base64, or, on this machine, from a file of the caller's own."""
        return self.types == (str, LocalFile)

    @property
    def takes_any_value(self) -> bool:
        """Whether it takes a value of any type, so that a face of words has to tell them apart."""
        return self.types == (Any,)

    @property
    def constraints(self) -> tuple[Any, ...]:
        """What a value has to meet beside its type."""
        return tuple(mark for mark in _marks(self.annotation) if not isinstance(mark, str))

    @property
    def choices(self) -> tuple[str, ...]:
        """The only words that are accepted, for a list those of its items; empty where there is no such limit."""
        kinds = self.types
        if self.is_list:
            kinds = tuple(item for kind in kinds for arg in get_args(kind)[:1] for item in _alternatives(arg))
        literal = all(get_origin(kind) is Literal for kind in kinds)
        values = tuple(value for kind in kinds for value in get_args(kind)) if literal else ()
        return values if all(isinstance(value, str) for value in values) else ()


def _alternatives(annotation: Any) -> tuple[Any, ...]:
    origin = get_origin(annotation)
    if origin is Annotated:
        return _alternatives(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        return tuple(kind for member in get_args(annotation) for kind in _alternatives(member))
    return (annotation,)


def _marks(annotation: Any) -> tuple[Any, ...]:
    """What an annotation says beside the type."""
    if get_origin(annotation) is Annotated:
        inner, *marks = get_args(annotation)
        return (*marks, *_marks(inner))
    return tuple(mark for member in get_args(annotation) for mark in _marks(member))


@dataclass(frozen=True, slots=True)
class Content:
    """Bytes of some kind: ``data`` in base64."""

    media_type: str
    data: str


class Named:
    """A function of a room, loaded when it is first called or looked at, so that a table of many costs next to nothing.

    Args:
        room: Dotted name of the package that offers it.
        name: What it is called there.
        summary: What its docstring begins with, where that is to be known before it is loaded.
        settings: Makes what it is given as ``settings``, where it takes any.
    """

    def __init__(self, room: str, name: str, summary: str = "", settings: Callable[[], object] | None = None) -> None:
        self.__module__ = room
        self.__name__ = name
        self.__doc__ = summary
        self._settings = settings

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if self._settings is not None:
            named["settings"] = self._settings()
        return self.__wrapped__(*arguments, **named)

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        """The function itself."""
        function = getattr(import_module(self.__module__), self.__name__, None)
        if function is None:  # an AttributeError would pass for a function that wraps none
            raise ImportError(f"{self.__module__} offers no {self.__name__}")
        return function


@dataclass(frozen=True, slots=True)
class Operation:
    """A thing that ReMe can be asked to do, on every face alike.

    Attributes:
        name: Snake-case name, unique.
        group: Where help lists it.
        function: ``function(workspace, **parameters)``, or, where ``reasons``, a coroutine function
            ``function(workspace, reasoner, **parameters)``. Each parameter is annotated
            ``Annotated[type, "description", *constraints]``; what is given by keyword alone is no caller's to give.
        effects: Whether it reads, writes, or may replace or remove what was there.
        text: Its result in words, for a terminal and for a model.
        positional: Optional parameters that a command line takes by position too, behind those that must be given.
        roles: Who may call it at all.
        tool: Whether the hosts of agents are offered it.
        idempotent: Whether asking twice comes to the same as asking once.
        cost: How long it may take.
        reasons: Whether it takes the reasoner.
        findings: Whether a result is an answer that a script should stop at: of a check, that it found something; of a
            search or a list, that it found nothing.
        content: The bytes that a result is about, where it carries bytes: its ``data`` then says the same in base64.
    """

    name: str
    group: Group
    function: Callable[..., Any]
    effects: Effects
    text: Callable[[Any], str]
    positional: tuple[str, ...] = ()
    roles: frozenset[Role] = EVERYONE
    tool: bool = True
    idempotent: bool = False
    cost: Cost = "cheap"
    reasons: bool = False
    findings: Callable[[Any], bool] | None = None
    content: Callable[[Any], Content | None] | None = None

    @property
    def summary(self) -> str:
        """The first paragraph of the function's docstring, on one line."""
        return " ".join((inspect.getdoc(self.function) or "").split("\n\n")[0].split())

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What a caller gives: the function's parameters behind the workspace and the reasoner, up to its settings."""
        return _parameters(self.function, 2 if self.reasons else 1)

    @property
    def result(self) -> Any:
        """The type of the result."""
        return get_type_hints(inspect.unwrap(self.function), include_extras=True)["return"]


@cache
def _parameters(function: Callable[..., Any], behind: int) -> tuple[Parameter, ...]:
    """A function's parameters behind the first ones, up to those that are given by keyword alone."""
    hints = get_type_hints(inspect.unwrap(function), include_extras=True)
    given = list(inspect.signature(function).parameters.values())[behind:]
    return tuple(_parameter(p.name, hints[p.name], p.default) for p in given if p.kind is not p.KEYWORD_ONLY)


def _parameter(name: str, hint: Any, default: Any) -> Parameter:
    texts = [m for m in get_args(hint)[1:] if isinstance(m, str)] if get_origin(hint) is Annotated else []
    return Parameter(name, hint, texts[0] if texts else "", default)


class Catalog:
    """Operations by name, in the order in which they were added.

    Args:
        sources: Functions that add operations. One is called only when something is asked for that those before it have
            not added, so that a single operation costs no more than its own source.
    """

    def __init__(self, *sources: "Callable[[Catalog], None]") -> None:
        self._operations: dict[str, Operation] = {}
        self._sources = list(sources)

    def add(self, *operations: Operation) -> None:
        """Add operations.

        Raises:
            ValueError: If a name is taken, naming both owners.
        """
        for operation in operations:
            if (taken := self._operations.get(operation.name)) is not None:
                owners = f"{taken.function.__module__} and {operation.function.__module__}"
                raise ValueError(f"operation {operation.name!r} is defined twice, by {owners}")
            self._operations[operation.name] = operation

    def get(self, name: str) -> Operation | None:
        """The operation of this name, if there is one; dashes count as underscores."""
        name = name.replace("-", "_")
        while name not in self._operations and self._sources:
            self._sources.pop(0)(self)
        return self._operations.get(name)

    def __getitem__(self, name: str) -> Operation:
        """The operation of this name.

        Raises:
            InvalidInput: If there is none, with the nearest name.
        """
        if (operation := self.get(name)) is None:
            raise InvalidInput(f"there is no operation {name!r}", hint=nearest(name, self._operations))
        return operation

    def __contains__(self, name: str) -> bool:
        return self.get(name) is not None

    def __iter__(self) -> Iterator[Operation]:
        while self._sources:
            self._sources.pop(0)(self)
        return iter(self._operations.values())


def nearest(name: str, names: Iterable[str]) -> str:
    """The way out of a misspelt name, as a sentence: the nearest of the names that exist, else all of them."""
    import difflib

    known = sorted(names)
    close = difflib.get_close_matches(name, known, n=1)
    return f"Did you mean {close[0]!r}?" if close else f"There are: {', '.join(known)}."
