"""Inputs that fuzzing found a broken law with, each as small as it goes."""

import pytest

from reme.markdown import parse, retarget, set_property
from tests.markdown.laws import check_note


@pytest.mark.parametrize(
    "data",
    [
        b"[[a] b](c\\_d.md)",
        b"\v",
        b"---\n\xef\xbb\xbfa: b\n---\n",
    ],
)
def test_a_law_that_was_broken(data: bytes) -> None:
    check_note(data)


@pytest.mark.parametrize("image", ["", "!"])
def test_a_markdown_link_whose_text_begins_with_a_bracket_is_spelled_as_one(image: str) -> None:
    note = parse(f"{image}[[甲] b](c.md)".encode())
    assert retarget(note, lambda _: "d e.md").decode() == f"{image}[[甲] b](d%20e.md)"


def test_a_byte_order_mark_behind_the_fence_shifts_nothing() -> None:
    note = parse("---\n\ufeff\ufeff关联: see [[茶]]\nkind: x\n---\n".encode())
    (link,) = note.links
    assert (link.target, note.text(link.target_span)) == ("茶", "茶")
    assert set_property(note, "kind", "其他").decode() == "---\n\ufeff\ufeff关联: see [[茶]]\nkind: 其他\n---\n"
    assert set_property(note, "关联", "z").decode() == "---\n\ufeff\ufeff关联: z\nkind: x\n---\n"
