"""The description of the HTTP face, and the page of documentation that is made of the same tables."""

import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from reme.app import build_catalog
from reme.config import load_settings
from reme.faces.http.openapi import description
from reme.faces.http.routes import ROUTES

from .http_client import Face

PAGE = Path(__file__).parents[2] / "docs" / "http.md"
CATALOG = build_catalog(load_settings(None, {"TZ": "UTC"}))
DESCRIBED = description(CATALOG, ROUTES)


def schemas(value: Any) -> list[dict[str, Any]]:
    """Every schema in a description."""
    if isinstance(value, dict):
        own = [value["schema"]] if isinstance(value.get("schema"), dict) else []
        return own + [found for item in value.values() for found in schemas(item)]
    return [found for item in value for found in schemas(item)] if isinstance(value, list) else []


def references(value: Any) -> set[str]:
    if isinstance(value, dict):
        own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set[str]()
        return own.union(*(references(item) for item in value.values()))
    return set[str]().union(*(references(item) for item in value)) if isinstance(value, list) else set()


def at(pointer: str) -> Any:
    found: Any = DESCRIBED
    for step in pointer.removeprefix("#/").split("/"):
        found = found[step]
    return found


def validator(schema: dict[str, Any]) -> Any:
    registry: Any = Registry().with_resource("urn:described", Resource(DESCRIBED, DRAFT202012))
    placed = {"$ref": "urn:described#/x"}
    document = {**DESCRIBED, "x": schema}
    registry = Registry().with_resource("urn:described", Resource(document, DRAFT202012))
    return Draft202012Validator(placed, registry=registry)


def test_every_operation_and_every_route_is_described_once() -> None:
    assert DESCRIBED["openapi"] == "3.1.0"
    paths = DESCRIBED["paths"]
    assert set(paths) == {f"/api/{o.name}" for o in CATALOG} | {route.address for route in ROUTES[1:]}
    names = [method["operationId"] for path in paths.values() for key, method in path.items() if key != "parameters"]
    assert len(names) == len(set(names))
    for route in ROUTES[1:]:
        assert set(paths[route.address]) - {"parameters"} == {method.lower() for method in route.methods}
    assert paths["/api/accept"]["post"]["x-reme-roles"] == ["curator", "person"]


def test_every_schema_is_one_and_every_reference_leads_somewhere() -> None:
    found = [*schemas(DESCRIBED["paths"]), *DESCRIBED["components"]["schemas"].values()]
    assert len(found) > 100
    for schema in found:
        Draft202012Validator.check_schema(schema)
    for pointer in references(DESCRIBED):
        assert isinstance(at(pointer), dict), pointer
    assert not [name for name in DESCRIBED["components"]["schemas"] if "$defs" in name]


def test_it_is_served_and_what_is_answered_is_as_it_says(vault: Path) -> None:
    with Face(vault) as face:
        assert face.ask("GET", "/openapi.json").json == DESCRIBED
        for name, arguments in (
            ("search", {"query": "green tea", "expand_depth": 1}),
            ("read", {"path": "茶"}),
            ("list", {}),
            ("status", {}),
            ("write", {"path": "新", "content": "见 [[茶]]。"}),
            ("traverse", {"seeds": ["新"]}),
            ("delete", {"path": "茶"}),
            ("lint", {}),
            ("log", {}),
            ("auto_dream", {"dry_run": True}),
        ):
            told = DESCRIBED["paths"][f"/api/{name}"]["post"]
            validator(told["requestBody"]["content"]["application/json"]["schema"]).validate(arguments)
            answer = face.call(name, **arguments)
            assert answer.status == 200
            validator(told["responses"]["200"]["content"]["application/json"]["schema"]).validate(answer.json)
        problem = validator(DESCRIBED["components"]["schemas"]["Problem"])
        for answer in (
            face.call("read"),
            face.call("nothing"),
            face.ask("GET", "/notes/%2e%2e"),
            face.ask("PUT", "/x"),
        ):
            problem.validate(answer.json)


def tables() -> dict[str, str]:
    """The generated parts of the page, by name."""
    routes = ["| method | address | what |", "|---|---|---|"]
    routes += [
        f"| {method} | `{route.address}` | {what} |" for route in ROUTES for method, (_, what) in route.methods.items()
    ]
    calls = ["| operation | what | effects | takes |", "|---|---|---|---|"]
    for operation in CATALOG:
        takes = "a moment" if operation.cost == "cheap" else "long"
        calls.append(f"| `{operation.name}` | {operation.summary} | {operation.effects} | {takes} |")
    return {"routes": "\n".join(routes), "operations": "\n".join(calls)}


@pytest.mark.parametrize("name", tables())
def test_the_page_has_the_tables_as_they_are(name: str) -> None:
    shown = re.search(rf"<!-- {name} -->\n(.*?)\n<!-- end -->", PAGE.read_text("utf-8"), re.DOTALL)
    assert shown is not None
    assert shown[1] == tables()[name], f"put this between the marks in docs/http.md:\n{tables()[name]}"
