"""The interface described by OpenAPI 3.1, made of the table of routes and the catalogue.

Owns the form. Each operation is an address of its own there, so that programs made of it have a function for each.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from reme import __version__
from reme.catalog import Catalog, Operation, input_schema, output_schema
from reme.faces.http.routes import Route

__all__ = ["description"]

_JSON: Final = "application/json"
_LOCAL_REF: Final = "#/$defs/"
_SHARED_REF: Final = "#/components/schemas/"
_VARIABLE: Final = re.compile(r"\{(\w+)\}")
_PROBLEM: Final[dict[str, Any]] = {
    "type": "object",
    "description": "What is wrong (RFC 9457), in the words of every face.",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "kind": {"type": "string"},
        "hint": {"type": "string"},
        "details": {"type": "object"},
    },
    "required": ["type", "title", "status", "detail", "kind"],
}
_ANY_PROBLEM: Final[dict[str, Any]] = {"$ref": "#/components/responses/Problem"}


def description(catalog: Catalog, routes: Iterable[Route]) -> dict[str, Any]:
    """The description of an interface.

    Args:
        catalog: The operations, each described at an address of its own below the first route.
        routes: All of them; the one that operations are called by comes first.
    """
    calls, *others = routes
    shared: dict[str, Any] = {"Problem": _PROBLEM}
    paths = {calls.address.replace("{operation}", o.name): {"post": _call(o, shared)} for o in catalog}
    for route in others:
        asked = route.methods.items()
        path: dict[str, Any] = {method.lower(): _plainly(what, route, method) for method, (_, what) in asked}
        if names := _VARIABLE.findall(route.address):
            path["parameters"] = [_in_address(name) for name in names]
        paths[route.address] = path
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "ReMe",
            "version": __version__,
            "description": "A memory in Markdown files, for people and their agents.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{}, {"token": []}],
        "paths": paths,
        "components": {
            "schemas": shared,
            "responses": {
                "Problem": {
                    "description": "What is wrong.",
                    "content": {"application/problem+json": {"schema": {"$ref": _SHARED_REF + "Problem"}}},
                }
            },
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _call(operation: Operation, shared: dict[str, Any]) -> dict[str, Any]:
    """One operation: its arguments, and the three forms of its result."""
    events = {"type": "string", "description": "Events: progress, and in the end result or error."}
    return {
        "operationId": operation.name,
        "summary": operation.summary,
        "tags": [operation.group],
        "x-reme-effects": operation.effects,
        "x-reme-cost": operation.cost,
        "x-reme-roles": sorted(operation.roles),
        "requestBody": {
            "required": True,
            "content": {_JSON: {"schema": _placed(input_schema(operation), operation, shared)}},
        },
        "responses": {
            "200": {
                "description": "What came of it.",
                "content": {
                    _JSON: {"schema": _placed(output_schema(operation), operation, shared)},
                    "text/plain": {"schema": {"type": "string", "description": "The same in words."}},
                    "text/event-stream": {"schema": events},
                },
            },
            "default": _ANY_PROBLEM,
        },
    }


def _plainly(what: str, route: Route, method: str) -> dict[str, Any]:
    """A route that stands for itself."""
    name = _VARIABLE.sub("", route.address).strip("/").replace(".", "_")
    described: dict[str, Any] = {
        "operationId": f"{method.lower()}_{name}",
        "summary": what,
        "responses": {"default": _ANY_PROBLEM, "200": {"description": "What is asked for."}},
    }
    if method == "PUT":
        described["requestBody"] = {"content": {"text/markdown": {"schema": {"type": "string"}}}}
        described["responses"]["201"] = {"description": "It was made."}
    if method == "PATCH":
        changes: dict[str, Any] = {
            "type": "object",
            "properties": {"operation": {"type": "string"}},
            "required": ["operation"],
        }
        described["requestBody"] = {"required": True, "content": {_JSON: {"schema": changes}}}
    return described


def _in_address(name: str) -> dict[str, Any]:
    about = "From the vault's root; its slashes stay as they are." if name == "path" else ""
    return {"name": name, "in": "path", "required": True, "description": about, "schema": {"type": "string"}}


def _placed(schema: dict[str, Any], operation: Operation, shared: dict[str, Any]) -> dict[str, Any]:
    """A schema whose definitions are shared by the whole description, unless a name means something else there."""
    own = cast("dict[str, Any]", schema.pop("$defs", {}))
    names = {name: name for name in own}
    if any(shared.get(name, known) != known for name, known in _renamed(own, names).items()):
        names = {name: f"{operation.name}_{name}" for name in own}
    shared |= {names[name]: _renamed(meaning, names) for name, meaning in own.items()}
    return _renamed(schema, names)


def _renamed(schema: Any, names: Mapping[str, str]) -> Any:
    if isinstance(schema, list):
        return [_renamed(item, names) for item in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    renamed: dict[str, Any] = {}
    for key, value in cast("dict[str, Any]", schema).items():
        local = key == "$ref" and isinstance(value, str) and value.startswith(_LOCAL_REF)
        renamed[key] = _SHARED_REF + names[value.removeprefix(_LOCAL_REF)] if local else _renamed(value, names)
    return renamed
