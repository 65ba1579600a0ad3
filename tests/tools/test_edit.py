"""Editing: literal, exact, and either done or an error."""

import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reme.errors import Conflict, InvalidInput, NotFound, Refused
from reme.index import refresh
from reme.revision import revision_of
from reme.tools import edit, edit_text, undo
from tests.tools.house import House


def test_b29_not_found_changes_nothing(house: House) -> None:
    house.lay({"a.md": "## Errands #home\n\n牛奶\n"})
    refresh(house.index, house.vault)
    before, position = (house.root / "a.md").stat().st_mtime_ns, house.index.status().position
    with pytest.raises(NotFound, match="does not contain"):
        edit(house.ask(), "a", "## Errand list", "x")
    assert house.text("a.md") == "## Errands #home\n\n牛奶\n"
    assert (house.root / "a.md").stat().st_mtime_ns == before
    assert house.index.status().position == position
    assert house.vault.scan().files[0].path == "a.md"


def test_b29_several_places(house: House) -> None:
    house.lay({"a.md": "茶 one\ntwo 茶\n\n茶\n"})
    with pytest.raises(Conflict, match="3 times, in lines 1, 2, 4") as caught:
        edit(house.ask(), "a", "茶", "咖啡")
    assert caught.value.details == {"path": "a.md", "count": 3, "lines": [1, 2, 4]}
    second = edit(house.ask(), "a", "茶", "水", occurrence=2)
    assert (second.replaced, second.lines) == (1, (2,))
    assert house.text("a.md") == "茶 one\ntwo 水\n\n茶\n"
    every = edit(house.ask(), "a", "茶", "咖啡", all=True)
    assert (every.replaced, every.lines) == (2, (1, 4))
    assert house.text("a.md") == "咖啡 one\ntwo 水\n\n咖啡\n"
    assert "2 places" in edit_text(every)
    with pytest.raises(NotFound, match="1 time, not 2"):
        edit(house.ask(), "a", "水", "x", occurrence=2)
    with pytest.raises(InvalidInput):
        edit(house.ask(), "a", "水", "x", occurrence=1, all=True)
    with pytest.raises(InvalidInput):
        edit(house.ask(), "a", "", "x")


def test_b31_both_sides_are_literal(house: House) -> None:
    replacement = r"C:\new\1 $& $' $1 \g<0> \\"
    house.lay({"a.md": "before HERE after\n", "b.md": "a.b*(c)[d] axb*(c)[d]\n"})
    edit(house.ask(), "a", "HERE", replacement)
    assert house.text("a.md") == f"before {replacement} after\n"
    edit(house.ask(), "b", "a.b*(c)[d]", "^$")
    assert house.text("b.md") == "^$ axb*(c)[d]\n"


def test_b33_line_endings(house: House) -> None:
    house.lay({"a.md": b"ash\r\nbirch\r\ncedar", "mixed.md": b"one\ntwo\r\nthree\r\nfour\nfive"})
    edit(house.ask(), "a", "ash\nbirch", "A\nB")
    assert house.data("a.md") == b"A\r\nB\r\ncedar"
    edit(house.ask(), "mixed", "one\r\ntwo\nthree", "1\n2\n3\n3b")
    assert house.data("mixed.md") == b"1\n2\r\n3\r\n3b\r\nfour\nfive"
    edit(house.ask(), "mixed", "five", "5\n6")
    assert house.data("mixed.md") == b"1\n2\r\n3\r\n3b\r\nfour\n5\n6"
    edit(house.ask(), "a", "cedar", "C\nD")
    assert house.data("a.md") == b"A\r\nB\r\nC\r\nD"
    house.lay({"twice.md": b"x\r\ny\n\nx\ny\n"})
    with pytest.raises(Conflict, match="2 times"):
        edit(house.ask(), "twice", "x\ny", "z")


def test_p03_other_encodings_are_refused(house: House) -> None:
    latin = "Caf\xe9 and tea\n".encode("latin-1")
    house.lay({"a.md": latin, "b.txt": latin})
    for path in ("a.md", "b.txt"):
        with pytest.raises(Refused, match="UTF-8"):
            edit(house.ask(), path, "tea", "茶")
        assert house.data(path) == latin


def test_bom_stays(house: House) -> None:
    house.lay({"a.md": b"\xef\xbb\xbf---\r\na: 1\r\n---\r\ntea\r\n"})
    edit(house.ask(), "a", "tea", "茶")
    assert house.data("a.md") == b"\xef\xbb\xbf---\r\na: 1\r\n---\r\n" + "茶\r\n".encode()


@pytest.mark.parametrize(
    ("find", "replace"),
    [("title: Tea", "title: [Tea"), ("---\n\nbody", "\n\nbody"), ("---\ntitle", "title"), ("title: Tea\n", "")],
)
def test_frontmatter_stays_readable(house: House, find: str, replace: str) -> None:
    before = "---\ntitle: Tea\n---\n\nbody\n"
    house.lay({"a.md": before})
    if find == "title: Tea\n":
        edit(house.ask(), "a", find, replace)  # an empty block is still one
        return
    with pytest.raises(Refused, match="frontmatter"):
        edit(house.ask(), "a", find, replace)
    assert house.text("a.md") == before


def test_frontmatter_may_go_as_a_whole_and_be_repaired(house: House) -> None:
    house.lay({"a.md": "---\ntitle: Tea\n---\nbody\n", "b.md": "---\ntitle: [Tea\n---\nbody\n"})
    edit(house.ask(), "a", "---\ntitle: Tea\n---\n", "")
    assert house.text("a.md") == "body\n"
    edit(house.ask(), "b", "body", "text")
    edit(house.ask(), "b", "[Tea", "Tea")
    assert house.text("b.md") == "---\ntitle: Tea\n---\ntext\n"
    with pytest.raises(Refused):
        edit(house.ask(), "a", "body", "---\n[\n---\n")


def test_unchanged_and_expected(house: House) -> None:
    house.lay({"a.md": "tea"})
    same = edit(house.ask(), "a", "tea", "tea")
    assert (same.run, same.revision) == ("", revision_of(b"tea"))
    with pytest.raises(Conflict) as caught:
        edit(house.ask(), "a", "tea", "x", expected_revision=revision_of(b"coffee"))
    assert caught.value.details["actual_revision"] == revision_of(b"tea")
    done = edit(house.ask(), "a", "tea", "茶", expected_revision=same.revision)
    assert done.revision == revision_of("茶".encode())
    undo(house.ask(), done.run)
    assert house.text("a.md") == "tea"


PIECES = st.lists(st.sampled_from(["a", "b", "茶", "\n", "\r\n", ".", "é", "e\u0301", " "]), max_size=12).map("".join)


@given(before=PIECES, after=PIECES, find=PIECES.filter(bool), replacement=PIECES)
def test_only_the_place_changes(
    tmp_path_factory: pytest.TempPathFactory, before: str, after: str, find: str, replacement: str
) -> None:
    from reme.markdown import Span, splice
    from reme.tools.edit import _in_style, _places

    data = f"{before}{find}{after}".encode()
    spans = _places(data, find)
    assert spans
    span: Span = spans[0]
    assert data[span.start : span.end].replace(b"\r\n", b"\n") == find.encode().replace(b"\r\n", b"\n")
    result = splice(data, [(span, _in_style(data, span, replacement))])
    assert result.startswith(data[: span.start])
    assert result.endswith(data[span.end :])
    middle = result[span.start : len(result) - len(data) + span.end]
    assert middle.replace(b"\r\n", b"\n") == replacement.encode().replace(b"\r\n", b"\n")


def test_p19_non_overlapping_edits_all_land(house: House) -> None:
    house.lay({"a.md": "".join(f"line {n:02}\n" for n in range(20))})
    errors: list[BaseException] = []

    def change(number: int) -> None:
        try:
            edit(house.ask(), "a", f"line {number:02}", f"第 {number} 行")
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=change, args=(n,)) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert house.text("a.md") == "".join(f"第 {n} 行\n" for n in range(20))


def test_p19_a_program_that_writes_in_between_is_read_again(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    changes = sys.modules["reme.tools.changes"]
    real, left = changes.commit, [1, 2]

    def late(vault: object, change_set: object) -> object:
        if left:
            Path(house.root / "a.md").write_text(f"one\ntwo {left.pop()}\n")
        return real(vault, change_set)

    house.lay({"a.md": "one\ntwo\n"})
    monkeypatch.setattr(changes, "commit", late)
    edit(house.ask(), "a", "one", "eins")
    assert house.text("a.md") == "eins\ntwo 1\n"
    house.lay({"a.md": "one\ntwo\n"})
    left[:] = [1, 2, 3]
    with pytest.raises(Conflict, match=r"a\.md is at revision"):
        edit(house.ask(), "a", "one", "eins")
