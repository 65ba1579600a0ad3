"""The state of a vault, and building the index anew."""

from reme.index import refresh
from reme.tools import reindex, reindex_text, status, status_text
from tests.tools.house import House


def test_status(house: House) -> None:
    house.lay({"daily/a.md": "[[nope]]\n", "digest/wiki/b.md": "---\na: [\n---\n", "c.txt": "茶\n"})
    (house.root / "link.md").symlink_to(house.root / "c.txt")
    before = status(house.ask())
    assert (before.files, before.pending) == ({"daily": 1, "digest": 1, "other": 1}, 3)
    refresh(house.index, house.vault)
    after = status(house.ask())
    assert (after.vault, after.pending, after.notes, after.unresolved) == ("vault", 0, 2, 1)
    assert after.position > before.position
    assert [(p.path, p.rule.split(".")[0]) for p in after.problems] == [("digest/wiki/b.md", "frontmatter")]
    assert [(s.path, "symlink" in s.reason) for s in after.skipped] == [("link.md", True)]
    text = status_text(after)
    assert "digest/wiki/b.md:" in text
    assert "link.md: " in text
    (house.root / "c.txt").unlink()
    house.lay({"daily/a.md": "changed, and longer\n"})
    assert status(house.ask()).pending == 2
    assert str(house.root) not in text


def test_reindex(house: House) -> None:
    house.lay({"a.md": "[[b]]\n", "b.md": "b\n"})
    refresh(house.index, house.vault)
    before = house.index.dump()
    result = reindex(house.ask())
    assert (result.files, result.notes, result.links) == (2, 2, 1)
    assert house.index.dump() == before
    assert reindex_text(result).startswith("indexed 2 files")
