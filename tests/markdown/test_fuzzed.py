"""Inputs that fuzzing found a broken law with, each as small as it goes."""

import pytest

from reme.markdown import parse, retarget
from tests.markdown.laws import check_note


@pytest.mark.parametrize(
    "data",
    [
        b"[[a] b](c\\_d.md)",
        b"\v",
    ],
)
def test_a_law_that_was_broken(data: bytes) -> None:
    check_note(data)


@pytest.mark.parametrize("image", ["", "!"])
def test_a_markdown_link_whose_text_begins_with_a_bracket_is_spelled_as_one(image: str) -> None:
    note = parse(f"{image}[[甲] b](c.md)".encode())
    assert retarget(note, lambda _: "d e.md").decode() == f"{image}[[甲] b](d%20e.md)"
