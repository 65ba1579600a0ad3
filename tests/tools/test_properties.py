"""Frontmatter: one property at a time, one line changes."""

import pytest

from reme.errors import Conflict, InvalidInput, NotFound, Refused
from reme.revision import revision_of
from reme.tools import frontmatter_delete, frontmatter_read, frontmatter_update, properties_text, undo, value_of_word
from tests.tools.house import House

NOTE = (
    "\ufeff---\r\nzeta: 'single'   # why\r\ndate: 2026-05-15\r\n\r\ntags: [b, a]\r\ncount: 007\r\n"
    'alpha: "双引号"\r\nlong: >\r\n  folded\r\n  text\r\n---\r\n正文 ---\r\n'
)


def test_p04_only_the_lines_of_the_property_change(house: House) -> None:
    house.lay({"a.md": NOTE})
    frontmatter_update(house.ask(), "a", "alpha", "新的")
    before, after = NOTE.splitlines(keepends=True), house.text("a.md").splitlines(keepends=True)
    changed = [x for x, y in zip(before, after, strict=True) if x != y]
    assert changed == ['alpha: "双引号"\r\n']
    assert frontmatter_read(house.ask(), "a", "alpha").properties == {"alpha": "新的"}


def test_p04_new_and_removed(house: House) -> None:
    house.lay({"a.md": NOTE})
    made = frontmatter_update(house.ask(), "a", "status", "open")
    assert house.text("a.md").replace("status: open\r\n", "") == NOTE
    frontmatter_delete(house.ask(), "a", "status")
    assert house.text("a.md") == NOTE
    frontmatter_delete(house.ask(), "a", "long")
    assert house.text("a.md") == NOTE.replace("long: >\r\n  folded\r\n  text\r\n", "")
    assert made.outcome == "changed"


def test_a_note_without_frontmatter_gets_one(house: House) -> None:
    house.lay({"a.md": "正文\r\n", "bom.md": "\ufefftext\n"})
    frontmatter_update(house.ask(), "a", "name", "甲")
    assert house.text("a.md") == "---\r\nname: 甲\r\n---\r\n正文\r\n"
    frontmatter_update(house.ask(), "bom", "name", "b")
    assert house.text("bom.md") == "\ufeff---\nname: b\n---\ntext\n"


@pytest.mark.parametrize("text", ["3", "true", "null", "2026-05-15", "[a, b]", "a: b", "# x", "", " x ", "'", "a\nb"])
def test_a_text_stays_a_text(house: House, text: str) -> None:
    house.lay({"a.md": "x\n"})
    frontmatter_update(house.ask(), "a", "k", text)
    assert frontmatter_read(house.ask(), "a").properties == {"k": text}


@pytest.mark.parametrize(("text", "value"), [("3", 3), ("true", True), ("[a, b]", ["a", "b"]), ("{a: 1}", {"a": 1})])
def test_yaml_values(house: House, text: str, value: object) -> None:
    house.lay({"a.md": "x\n"})
    frontmatter_update(house.ask(), "a", "k", text, yaml=True)
    assert frontmatter_read(house.ask(), "a").properties == {"k": value}
    frontmatter_update(house.ask(), "a", "k", value)
    assert frontmatter_read(house.ask(), "a").properties == {"k": value}


WORDS = [
    ("3", 3),
    ("-1.5", -1.5),
    ("true", True),
    ("null", None),
    ("[a, 2]", ["a", 2]),
    ("{a: 1}", {"a": 1}),
    ('"3"', "3"),
    ("'true'", "true"),
    ("yes", "yes"),
    ("2026-05-15", "2026-05-15"),
    ("Tea: a story", "Tea: a story"),
    ("- a", "- a"),
    ("[[Note]]", "[[Note]]"),
    ("# x", "# x"),
    ("a #b", "a #b"),
    ("[unclosed", "[unclosed"),
    ("it's", "it's"),
    ("", ""),
    ("  two words ", "  two words "),
    ("会", "会"),
    ("&a", "&a"),
]


@pytest.mark.parametrize(("word", "value"), WORDS)
def test_a_word_of_a_command_line(house: House, word: str, value: object) -> None:
    assert value_of_word(word) == value
    assert type(value_of_word(word)) is type(value)
    house.lay({"a.md": "x\n"})
    frontmatter_update(house.ask(), "a", "k", value_of_word(word))
    assert frontmatter_read(house.ask(), "a").properties == {"k": value}


def test_errors(house: House) -> None:
    house.lay({"bad.md": "---\na: [\n---\nx\n", "a.txt": "x", "a.md": "---\nk: 1\n---\n"})
    house.lay({"l.md": "caf\xe9".encode("latin-1")})
    before = house.tree()
    with pytest.raises(InvalidInput):
        frontmatter_update(house.ask(), "bad", "k", "v")
    with pytest.raises(InvalidInput):
        frontmatter_delete(house.ask(), "bad", "a")
    assert frontmatter_read(house.ask(), "bad").problems
    with pytest.raises(InvalidInput):
        frontmatter_update(house.ask(), "a.txt", "k", "v")
    with pytest.raises(InvalidInput):
        frontmatter_update(house.ask(), "a", "k", "[a", yaml=True)
    with pytest.raises(Refused):
        frontmatter_update(house.ask(), "l", "k", "v")
    with pytest.raises(NotFound, match="property 'x'"):
        frontmatter_read(house.ask(), "a", "x")
    with pytest.raises(NotFound):
        frontmatter_delete(house.ask(), "a", "x")
    with pytest.raises(Conflict):
        frontmatter_update(house.ask(), "a", "k", "v", expected_revision=revision_of(b"z"))
    assert house.tree() == before


def test_text_and_undo(house: House) -> None:
    house.lay({"a.md": "---\nname: 甲\ntags: [x]\n---\n"})
    text = properties_text(frontmatter_read(house.ask(), "a"))
    assert "name: 甲" in text
    assert revision_of(house.data("a.md")) in text
    run = frontmatter_delete(house.ask(), "a", "tags").run
    undo(house.ask(), run)
    assert house.text("a.md") == "---\nname: 甲\ntags: [x]\n---\n"
