"""What goes into an operation and what comes out: one validation, one JSON form, for every face."""

import json
from datetime import date
from typing import Annotated, Any, Literal

import pytest
from annotated_types import Ge, Le, Len
from hypothesis import given as drawn
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter, ValidationError

from reme.catalog import Operation, as_json, input_schema, output_schema, valid_arguments
from reme.errors import InvalidInput

from .toys import ECHO, Echo


@pytest.mark.parametrize("text", ["12345", "007", "true", "null", '{"a":1}', "[1]", "[", "  ", "预算"])
def test_b55_strings_stay_strings(text: str) -> None:
    assert valid_arguments(ECHO, {"text": text}) == {"text": text}


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        (["a", "b"], ["a", "b"]),
        ('["a", "b"]', ["a", "b"]),
        (' ["甲"]', ["甲"]),
        ("a", ["a"]),
        ("a,b", ["a,b"]),
        ("[not json", ["[not json"]),
        ('{"a": 1}', ['{"a": 1}']),
        ([], []),
    ],
)
def test_b55_a_list_may_come_as_a_string(given: object, taken: list[str]) -> None:
    assert valid_arguments(ECHO, {"text": "x", "tags": given})["tags"] == taken


def of_every_kind(
    workspace: Any,
    text: str = "",
    name: Annotated[str, Len(1, 3)] = "a",
    flag: bool = False,
    count: Annotated[int | None, Ge(0), Le(100)] = None,
    number: int = 0,
    share: float = 1.0,
    day: date | None = None,
    order: Literal["up", "down"] = "up",
    level: Literal[1, 2] = 1,
    tags: list[str] | None = None,
    seeds: Annotated[list[str], Len(1)] = ["a"],  # noqa: B006
    names: list[Annotated[str, Len(2)]] | None = None,
    ways: list[Literal["up", "down"]] | None = None,
    pair: tuple[Literal["up", "down"], ...] = (),
    either: list[Any] | str = "",
) -> Echo:
    raise AssertionError


KINDS = Operation("of_every_kind", "ask", of_every_kind, "read", str)
WORDS = st.one_of(st.text(max_size=4), st.sampled_from("up down 1 0 -3 007 1e2 true 2026-05-14".split()))  # noqa: SIM905
SINGLE = st.one_of(WORDS, st.integers(-5, 105), st.integers(), st.booleans(), st.floats(allow_nan=False))
LISTS = st.one_of(st.lists(SINGLE, max_size=3), st.lists(st.sampled_from(["up", "down"])))


@pytest.mark.parametrize("parameter", KINDS.parameters, ids=lambda parameter: parameter.name)
@drawn(value=st.one_of(SINGLE.filter(lambda value: "[" not in str(value)), LISTS))
def test_what_is_taken_is_what_pydantic_takes(parameter: Any, value: Any) -> None:
    listed = [value] if parameter.is_list and isinstance(value, str) else value
    try:
        expected = {parameter.name: TypeAdapter(parameter.annotation).validate_python(listed)}
    except ValidationError:
        with pytest.raises(InvalidInput):
            valid_arguments(KINDS, {parameter.name: value})
    else:
        taken = valid_arguments(KINDS, {parameter.name: value})
        assert taken == expected
        assert type(taken[parameter.name]) is type(expected[parameter.name])


def test_null_means_not_given_where_there_is_a_default() -> None:
    assert valid_arguments(ECHO, {"text": "x", "limit": None, "tags": None}) == {"text": "x"}


def test_numbers_and_flags_may_come_as_text() -> None:
    valid = valid_arguments(ECHO, {"text": "x", "limit": "7", "loud": "true"})
    assert (valid["limit"], valid["loud"]) == (7, True)


@pytest.mark.parametrize(
    ("given", "message", "hint"),
    [
        ({"text": "x", "limit": -5}, "limit: -5 is not acceptable", "limit: How often at most."),
        ({"text": "x", "limit": 51}, "limit: 51 is not acceptable", "limit: How often at most."),
        ({"text": "x", "limit": "many"}, "limit: 'many' is not acceptable", "limit: How often at most."),
        ({"text": 12345}, "text: 12345 is not acceptable", "text: What to say."),
        ({"text": None}, "text: None is not acceptable", "text: What to say."),
        ({"text": ""}, "text: '' is not acceptable", "text: What to say."),
        ({"text": "\ud800"}, "text: '\\ud800' is not acceptable", "text: What to say."),
        ({}, "text is missing", "text: What to say."),
        ({"text": "x", "tags": ["a", 2]}, "tags[1]: 2 is not acceptable", "tags: Words that describe it."),
        ({"text": "x", "order": "left"}, "order: 'left' is not acceptable", "One of up, down."),
        ({"text": "x", "limits": 3}, "echo_back has no parameter 'limits'", "Did you mean 'limit'?"),
        ({"text": "x", "limit": "9" * 500}, "…", "limit: How often at most."),
    ],
)
def test_what_is_wrong_is_named_with_its_value_and_the_way_out(
    given: dict[str, object], message: str, hint: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        valid_arguments(ECHO, given)
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert len(caught.value.message) < 300


def test_every_wrong_parameter_is_named_at_once() -> None:
    with pytest.raises(InvalidInput) as caught:
        valid_arguments(ECHO, {"limit": 0, "nope": 1})
    assert caught.value.details == {"operation": "echo_back", "parameters": ["limit", "nope", "text"]}


def test_schemas_describe_what_is_taken_and_given() -> None:
    taken = input_schema(ECHO)
    Draft202012Validator.check_schema(taken)
    assert taken["required"] == ["text"]
    assert taken["additionalProperties"] is False
    assert taken["properties"]["limit"] == {
        "type": "integer", "minimum": 1, "maximum": 50, "default": 5, "description": "How often at most"
    }  # fmt: skip
    given = output_schema(ECHO)
    Draft202012Validator.check_schema(given)
    assert given["type"] == "object"
    assert "title" not in json.dumps(taken) + json.dumps(given)


@pytest.mark.parametrize(
    ("extra", "plain"),
    [
        ({"x": float("nan"), "y": [float("inf")]}, {"x": None, "y": [None]}),
        ({"name": "caf\udce9"}, {"name": "caf?"}),
        ({"名": ("a", "b")}, {"名": ["a", "b"]}),
        ({1: True}, {"1": True}),
    ],
)
def test_results_are_json_whatever_is_in_them(extra: dict[Any, Any], plain: dict[str, Any]) -> None:
    document = as_json(Echo("x", ("a",), 1, extra))
    assert document == {"text": "x", "tags": ["a"], "limit": 1, "extra": plain}
    json.dumps(document, allow_nan=False).encode()
    Draft202012Validator(output_schema(ECHO)).validate(document)
