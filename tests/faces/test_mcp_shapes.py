"""What the tools cost a host: it reads all of their definitions at the start of every session."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from reme.app import build_catalog, open_vault
from reme.catalog import Operation, as_json, input_schema, output_schema
from reme.config import Settings
from reme.faces.mcp.shapes import definition

OFFERED = [operation for operation in build_catalog(Settings()) if operation.tool]
EACH = pytest.mark.parametrize("operation", OFFERED, ids=lambda operation: operation.name)


def size(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def test_all_definitions_together_are_small() -> None:
    definitions = [definition(operation) for operation in OFFERED]
    assert size({"tools": definitions}) < 40_000
    shown = [{key: each[key] for key in ("name", "description", "inputSchema")} for each in definitions]
    assert size(shown) < 24_000, "what hosts show to models"


@EACH
def test_a_tool_says_what_it_is_for_and_what_it_takes(operation: Operation) -> None:
    tool = definition(operation)
    assert 10 < len(tool["description"]) <= 140
    given = [parameter for parameter in operation.parameters if not parameter.is_local]
    assert list(tool["inputSchema"]["properties"]) == [parameter.name for parameter in given]
    assert all(field["description"] for field in tool["inputSchema"]["properties"].values())
    assert '"type": "null"' not in json.dumps(tool["inputSchema"])


@EACH
def test_the_outline_of_a_result_names_its_fields(operation: Operation) -> None:
    outline = definition(operation)["outputSchema"]
    Draft202012Validator.check_schema(outline)
    assert list(outline["properties"]) == list(output_schema(operation)["properties"])
    assert all(set(field) == {"type"} for field in outline["properties"].values())


@EACH
def test_hints_tell_reading_from_writing_from_destroying(operation: Operation) -> None:
    hints = definition(operation)["annotations"]
    assert hints["openWorldHint"] is False
    assert hints["readOnlyHint"] is (operation.effects == "read")
    if operation.effects != "read":
        assert hints["destructiveHint"] is (operation.effects == "destructive")


@dataclass(frozen=True, slots=True)
class Inner:
    """A part of it."""

    text: str


@dataclass(frozen=True, slots=True)
class Found:
    """A result of a plug-in's."""

    anything: Any
    either: int | str | None
    inner: Inner | None


def find(workspace: Any) -> Found:
    """Find something that a plug-in knows."""
    return Found(workspace, None, Inner(""))


def test_what_a_result_may_be_is_told_for_every_kind_of_field() -> None:
    outline = definition(Operation("find", "ask", find, "read", str))["outputSchema"]
    assert outline["properties"] == {
        "anything": {},
        "either": {"type": ["integer", "string", "null"]},
        "inner": {"type": ["object", "null"]},
    }


def test_results_are_as_their_outlines_say(vault: Path) -> None:
    with open_vault(vault) as app:
        calls = [("search", {"query": "tea"}), ("read", {"path": "茶"}), ("status", {}), ("tags", {}), ("log", {})]
        for name, arguments in calls:
            document = as_json(app.call(name, arguments, role="agent", actor="test"))
            Draft202012Validator(definition(app.catalog[name])["outputSchema"]).validate(document)


def test_null_is_taken_for_what_is_left_out_although_no_schema_says_so(vault: Path) -> None:
    with open_vault(vault) as app:
        assert '"null"' not in json.dumps(input_schema(app.catalog["search"]))
        found = app.call("search", {"query": "tea", "layers": None, "limit": None}, role="agent", actor="test")
        assert [hit.path for hit in found.hits] == ["茶.md"]
