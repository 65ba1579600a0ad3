"""The catalogue: operations read off their functions, found by name."""

import dataclasses

import pytest

from reme.catalog import Catalog
from reme.errors import InvalidInput

from .toys import ECHO


def test_an_operation_is_read_off_its_function() -> None:
    assert ECHO.summary == "Say something back, just as it was given."
    text, tags, limit, loud, order = ECHO.parameters
    assert (text.name, text.description, text.required) == ("text", "What to say", True)
    assert (tags.is_list, tags.required, tags.default) == (True, False, None)
    assert (limit.default, limit.types, limit.is_list, limit.is_flag) == (5, (int,), False, False)
    assert loud.is_flag
    assert order.choices == ("up", "down")


def test_names_are_unique_and_both_owners_are_told() -> None:
    catalog = Catalog()
    catalog.add(ECHO)
    with pytest.raises(ValueError, match=r"'echo_back' is defined twice, by .*toys and .*toys"):
        catalog.add(dataclasses.replace(ECHO))


def test_dashes_count_as_underscores() -> None:
    catalog = Catalog()
    catalog.add(ECHO)
    assert catalog["echo-back"] is ECHO
    assert "echo-back" in catalog
    assert list(catalog) == [ECHO]


def test_an_unknown_name_leads_to_the_nearest() -> None:
    catalog = Catalog()
    catalog.add(ECHO)
    with pytest.raises(InvalidInput) as caught:
        _ = catalog["ehco_back"]
    assert "'ehco_back'" in caught.value.message
    assert caught.value.hint == "Did you mean 'echo_back'?"
