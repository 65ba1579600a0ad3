"""Deleting: only what was asked for, telling what it leaves dangling, and always to be had back."""

import pytest

from reme.errors import Conflict, NotFound, Refused
from reme.revision import revision_of
from reme.tools import delete, delete_text, undo
from tests.tools.house import House


def test_note_and_its_inbound_links(house: House) -> None:
    house.lay({"X.md": "x [[X]]\n", "n.md": "\n[[X]] [x](X.md)\n", "m.md": "[[n]]\n"})
    result = delete(house.ask(), "X")
    assert result.paths == ("X.md",)
    assert [(link.path, link.line, link.target, link.led_to) for link in result.inbound] == [
        ("n.md", 2, "X", "X.md"),
        ("n.md", 2, "X.md", "X.md"),
    ]
    assert "n.md:2 X" in delete_text(result)
    assert sorted(house.tree()) == ["m.md", "n.md"]
    undo(house.ask(), result.run)
    assert house.data("X.md") == b"x [[X]]\n"


@pytest.mark.parametrize("path", ["", ".", "./", "/", "..", "daily", "daily/", "digest", "Daily", "session", "*"])
@pytest.mark.parametrize("recursive", [False, True])
def test_p01_root_and_layers_stay(house: House, path: str, recursive: bool) -> None:
    house.lay({"daily/a.md": "a\n", "digest/wiki/b.md": "b\n", "session/dialog/s.jsonl": "{}\n", "c.md": "c\n"})
    before = house.tree()
    with pytest.raises(NotFound if path in ("*", "Daily") else Refused):
        delete(house.ask(), path, recursive=recursive)
    assert house.tree() == before


def test_folder_needs_recursive(house: House) -> None:
    house.lay({"d/a.md": "[[b]]\n", "d/sub/b.md": "b\n", "n.md": "[[b]] [[d/a]]\n"})
    with pytest.raises(Refused, match="2 files"):
        delete(house.ask(), "d")
    preview = delete(house.ask(), "d", recursive=True, dry_run=True)
    assert (preview.run, len(preview.paths), len(preview.inbound)) == ("", 2, 2)
    result = delete(house.ask(), "d", recursive=True)
    assert {(link.path, link.led_to) for link in result.inbound} == {("n.md", "d/sub/b.md"), ("n.md", "d/a.md")}
    assert sorted(house.tree()) == ["n.md"]
    assert not (house.root / "d").exists()
    undo(house.ask(), result.run)
    assert house.data("d/sub/b.md") == b"b\n"


def test_empty_folder(house: House) -> None:
    (house.root / "空/子").mkdir(parents=True)
    result = delete(house.ask(), "空")
    assert (result.paths, result.run) == ((), "")
    assert not (house.root / "空").exists()


def test_expected_revision_and_rights(house: House) -> None:
    house.lay({"a.md": "a", "digest/wiki/b.md": "b", "resource/r.txt": "r"})
    with pytest.raises(Conflict):
        delete(house.ask(), "a", expected_revision=revision_of(b"z"))
    with pytest.raises(Refused):
        delete(house.ask("agent"), "digest/wiki/b")
    with pytest.raises(Refused):
        delete(house.ask("person"), "resource/r.txt")
    delete(house.ask(), "a", expected_revision=revision_of(b"a"))
    with pytest.raises(NotFound):
        delete(house.ask(), "a")
