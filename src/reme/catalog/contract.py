"""What goes into an operation and what comes out, checked and described from the annotations alone.

Owns the one validation that every face uses, which is pydantic's, and the JSON form of results.
"""

import inspect
import json
import math
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from datetime import date
from functools import cache
from typing import Any, Final, cast, get_origin

from reme.catalog.operation import Operation, Parameter, nearest
from reme.errors import InvalidInput

__all__ = ["as_json", "input_schema", "output_schema", "valid_arguments"]

_SHOWN: Final = 60
_NUMBER: Final = re.compile(r"0|[1-9][0-9]{0,14}")


def valid_arguments(operation: Operation, given: Mapping[str, object]) -> dict[str, Any]:
    """The arguments to call an operation's function with; defaults are left to the function.

    Strings stay strings. A list may also be given as a JSON list in a string, or as one plain string. Null stands for
    "not given" where a parameter has a default.

    Raises:
        InvalidInput: Naming every parameter that is unknown, missing or unacceptable, its value, and the way out.
    """
    parameters = {parameter.name: parameter for parameter in operation.parameters}
    arguments: dict[str, Any] = {}
    problems: list[tuple[str, str, str]] = []
    for name, value in given.items():
        if (parameter := parameters.get(name)) is None:
            problems.append((name, f"{operation.name} has no parameter {name!r}", nearest(name, parameters)))
        elif value is not None or parameter.required:
            accepted, problem = _accept(parameter, value)
            if problem:
                problems.append((name, problem, _way_out(parameter)))
            else:
                arguments[name] = accepted
    missing = [parameter for parameter in parameters.values() if parameter.required and parameter.name not in given]
    problems += [(parameter.name, f"{parameter.name} is missing", _way_out(parameter)) for parameter in missing]
    if problems:
        raise InvalidInput(
            "; ".join(message for _, message, _ in problems),
            hint=" ".join(dict.fromkeys(hint for *_, hint in problems if hint)),
            details={"operation": operation.name, "parameters": [name for name, *_ in problems]},
        )
    return arguments


def _is_unicode(value: object) -> bool:
    """Whether all text in a value can be written down: half of a surrogate pair cannot."""
    try:
        json.dumps(value, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        return False
    return True


def _accept(parameter: Parameter, value: object) -> tuple[Any, str]:
    """The value in the parameter's type, or the problem with it in words."""
    if not _is_unicode(value):
        return None, f"{parameter.name}: {_short(value)} is not acceptable: it is not valid Unicode text"
    value = _listed(parameter, value)
    if (plain := _plainly(parameter, value)) is not None:
        return plain, ""
    from pydantic import ValidationError

    try:
        return _adapter(parameter.annotation).validate_python(value), ""
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        place = "".join(f"[{step}]" for step in first["loc"] if isinstance(step, int))
        reason = first["msg"][:1].lower() + first["msg"][1:]
        return None, f"{parameter.name}{place}: {_short(first['input'])} is not acceptable: {reason}"


def _plainly(parameter: Parameter, value: Any) -> Any:
    """What pydantic makes of a value of the commonest kinds that is plainly acceptable, and None of every other: so
    most calls need not load it."""
    kinds, choices = parameter.types, parameter.choices
    made: Any = None
    match value:
        case str() if str in kinds or (value in choices and not parameter.is_list):
            made = value
        case str() if kinds == (int,) and _NUMBER.fullmatch(value):
            made = int(value)
        case bool() | int() if kinds == (type(value),):
            made = value
        case [*items] if kinds == (list[str],) or (choices and get_origin(kinds[0]) is list):
            made = items if all(isinstance(item, str) and (not choices or item in choices) for item in items) else None
        case _:
            pass
    return made if made is not None and all(_meets(made, constraint) for constraint in parameter.constraints) else None


def _meets(value: Any, constraint: object) -> bool:
    """Whether a value is known to meet a constraint."""
    from annotated_types import Ge, Le, Len

    match constraint:
        case Ge(ge=least):
            return value >= least
        case Le(le=most):
            return value <= most
        case Len(min_length=least, max_length=most):
            return least <= len(value) and (most is None or len(value) <= most)
        case _:
            return False


def _listed(parameter: Parameter, value: object) -> object:
    if not (parameter.is_list and isinstance(value, str)):
        return value
    if value.lstrip().startswith("["):
        try:
            decoded = json.loads(value)
        except ValueError:
            return [value]
        if isinstance(decoded, list):
            return cast("list[object]", decoded)
    return [value]


def _short(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= _SHOWN else shown[: _SHOWN - 1] + "…"


def _way_out(parameter: Parameter) -> str:
    described = parameter.description.rstrip(".")
    allowed = f" One of {', '.join(parameter.choices)}." if parameter.choices else ""
    return f"{parameter.name}: {described}.{allowed}" if described else allowed.strip()


@cache
def _adapter(annotation: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(annotation)


def input_schema(operation: Operation) -> dict[str, Any]:
    """The JSON schema (2020-12) of an operation's arguments: one object, nothing beside its parameters.

    That null stands for "not given" is not said of every parameter that may be left out.
    """
    properties: dict[str, Any] = {}
    definitions: dict[str, Any] = {}
    for parameter in operation.parameters:
        if parameter.is_local:
            continue
        schema = _without_null(_untitled(_adapter(parameter.annotation).json_schema()))
        definitions |= schema.pop("$defs", {})
        if parameter.description:
            schema["description"] = parameter.description
        if not parameter.required and parameter.default not in (None, False, ""):
            schema["default"] = _plain(parameter.default)
        properties[parameter.name] = schema
    whole: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    if required := [parameter.name for parameter in operation.parameters if parameter.required]:
        whole["required"] = required
    if definitions:
        whole["$defs"] = definitions
    return whole


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema of the same values but null."""
    kinds: list[dict[str, Any]] = [kind for kind in schema.pop("anyOf", []) if kind != {"type": "null"}]
    if len(kinds) == 1:
        return kinds[0] | schema
    return schema | {"anyOf": kinds} if kinds else schema


def output_schema(operation: Operation) -> dict[str, Any]:
    """The JSON schema (2020-12) of what ``as_json`` gives for an operation's result: one object."""
    return _untitled(_adapter(_described(operation)).json_schema(mode="serialization"))


def as_json(result: Any) -> dict[str, Any]:
    """A result in JSON's own types, as ``output_schema`` describes it.

    Not a number becomes null, an undecodable character a question mark, a set a sorted list.
    """
    document = _plain(result)
    if not isinstance(document, dict):
        raise TypeError(f"a result is a dataclass, not {type(result).__name__}")
    return cast("dict[str, Any]", document)


def _plain(value: Any) -> Any:
    match value:  # the commonest kinds first
        case str():
            return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
        case None | bool() | int():
            return value
        case float():
            return value if math.isfinite(value) else None
        case list() | tuple():
            return [_plain(item) for item in cast("Sequence[Any]", value)]
        case _ if is_dataclass(value):
            return {name: _plain(getattr(value, name)) for name in _fields_of(type(value))}
        case Mapping():
            entries = cast("Mapping[Any, Any]", value).items()
            return {_plain(str(key)): _plain(item) for key, item in entries}
        case set() | frozenset():
            return [_plain(item) for item in sorted(cast("Set[Any]", value))]
        case date():
            return value.isoformat()
        case _:
            raise TypeError(f"{type(value).__name__} has no JSON form")


@cache
def _fields_of(kind: type[Any]) -> tuple[str, ...]:
    return tuple(item.name for item in fields(kind))


def _described(operation: Operation) -> Any:
    if operation.result is None or operation.result is inspect.Signature.empty:
        raise TypeError(f"operation {operation.name!r} has no result type")
    return operation.result


def _untitled(schema: Any) -> Any:
    """A schema without the titles that pydantic derives from names, which only cost a model's attention."""
    if isinstance(schema, list):
        return [_untitled(item) for item in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    cleaned: dict[str, Any] = {}
    for key, value in cast("dict[str, Any]", schema).items():
        if key in ("properties", "$defs"):
            cleaned[key] = {name: _untitled(item) for name, item in value.items()}
        elif key in ("default", "const", "enum", "examples"):
            cleaned[key] = value
        elif not (key == "title" and isinstance(value, str)):
            cleaned[key] = _untitled(value)
    return cleaned
