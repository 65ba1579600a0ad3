"""The operations that ship: each complete enough to be offered on every face."""

import importlib
import inspect
import re

import pytest
from jsonschema import Draft202012Validator

from reme.app import build_catalog
from reme.catalog import Catalog, Named, Operation, add_tools, input_schema, output_schema
from reme.config import Settings

CATALOG = build_catalog(Settings())
OPERATIONS = pytest.mark.parametrize("operation", list(CATALOG), ids=lambda operation: operation.name)


def test_what_is_promised_is_there() -> None:
    promised = (
        "auto_memory auto_dream search traverse list tags read read_image write append edit move copy delete stat "
        "upload download frontmatter_read frontmatter_update frontmatter_delete daily_create daily_list daily_read "
        "daily_write daily_status daily_reindex lint log show undo status reindex"
    )
    assert set(promised.split()) <= {operation.name for operation in CATALOG}


@OPERATIONS
def test_it_is_described(operation: Operation) -> None:
    assert re.fullmatch(r"[a-z][a-z_]*", operation.name)
    assert 10 < len(operation.summary) < 200
    for parameter in operation.parameters:
        assert parameter.description, parameter.name


@OPERATIONS
def test_its_summary_is_what_the_docstring_of_its_function_begins_with(operation: Operation) -> None:
    documented = inspect.getdoc(inspect.unwrap(operation.function)) or ""
    assert operation.summary == " ".join(documented.split("\n\n")[0].split())


@OPERATIONS
def test_every_function_that_it_names_is_there(operation: Operation) -> None:
    for function in (operation.function, operation.text, operation.findings, operation.content):
        if isinstance(function, Named):
            assert function.__name__ in importlib.import_module(function.__module__).__all__
            assert callable(inspect.unwrap(function))


def test_a_name_that_a_room_does_not_offer_is_told_when_it_is_looked_at() -> None:
    with pytest.raises(ImportError, match=r"reme\.tools offers no serch"):
        _ = Operation("serch", "ask", Named("reme.tools", "serch"), "read", str).parameters


@OPERATIONS
def test_its_entry_names_parameters_that_it_has(operation: Operation) -> None:
    names = [parameter.name for parameter in operation.parameters]
    assert set(operation.positional) <= set(names)
    kinds = [parameter.required for parameter in operation.parameters]
    assert kinds == sorted(kinds, reverse=True), "what must be given comes first"


@pytest.mark.parametrize("operation", list(Catalog(add_tools)), ids=lambda operation: operation.name)
def test_a_tool_that_writes_can_be_tried_without_writing(operation: Operation) -> None:
    assert operation.effects == "read" or "dry_run" in {parameter.name for parameter in operation.parameters}


@OPERATIONS
def test_its_schemas_are_valid_objects(operation: Operation) -> None:
    for schema in (input_schema(operation), output_schema(operation)):
        Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"


@OPERATIONS
def test_none_of_its_parameters_hides_an_option_of_every_command(operation: Operation) -> None:
    assert not {parameter.name for parameter in operation.parameters} & {"vault", "role", "json", "quiet", "verbose"}
