"""Names that some system or some link cannot hold: refused where they are new, served where they are there already."""

import base64
from collections.abc import Callable
from pathlib import Path

import pytest

from reme.errors import Conflict, InvalidInput
from reme.revision import ABSENT, revision_of
from reme.tools import (
    Workspace,
    append,
    copy,
    daily_create,
    daily_write,
    delete,
    edit,
    frontmatter_update,
    list_files,
    move,
    read,
    search,
    undo,
    upload,
    write,
)
from reme.vault import Amend, Append, ChangeSet, Move, Put, commit
from tests.tools.house import House

BAD = ["a:b.md", "谁?.md", "a|b.md", 'a"b.md', "a<b>.md", "*.md", "con.md", "x/NUL", "folder./n.md", "folder /n.md",
       "会" * 90 + ".md", "/".join(["f" * 200] * 5) + "/n.md"]  # fmt: skip

CREATING: dict[str, Callable[[Workspace, str], object]] = {
    "write": lambda w, p: write(w, p, "x"),
    "overwrite": lambda w, p: write(w, p, "x", overwrite=True, force=True),
    "copy": lambda w, p: copy(w, "a", p),
    "move": lambda w, p: move(w, "a", p),
    "move without retarget": lambda w, p: move(w, "a", p, retarget=False),
    "copy a folder": lambda w, p: copy(w, "folder", p),
    "move a folder": lambda w, p: move(w, "folder", p),
    "upload": lambda w, p: upload(w, base64.b64encode(b"x").decode(), p.rpartition("/")[2]),
    "material": lambda w, p: daily_write(w, "e", "x", material=p.rpartition("/")[2]),
}


@pytest.mark.parametrize("path", BAD)
def test_a_new_name_that_some_system_cannot_keep(house: House, path: str) -> None:
    house.lay({"a.md": "[[folder/b]]\n", "folder/b.md": "b\n", "daily/2026-05-15/e.md": "e\n"})
    before = house.tree()
    for name, create in CREATING.items():
        if "/" in path and name in ("upload", "material") and path.rpartition("/")[2] == "n.md":
            continue
        for _ in range(2):
            with pytest.raises(InvalidInput) as refused:
                pytest.fail(f"{name} made {path}: {create(house.ask(), path)}")
        assert "is no name" in refused.value.message or "too long" in refused.value.message, (
            name,
            refused.value.message,
        )
        assert refused.value.hint
    assert house.tree() == before


def test_what_is_offered_is_accepted(house: House) -> None:
    for path in BAD[:-1]:
        with pytest.raises(InvalidInput) as refused:
            write(house.ask(), path, "x")
        write(house.ask(), str(refused.value.details["suggestion"]), "x", overwrite=True, force=True)


def test_a_change_set_is_held_to_it_whatever_the_edit(house: House) -> None:
    house.lay({"a.md": "a"})
    for edit_ in (
        Put("n?.md", b"x", ABSENT),
        Amend("n?.md", lambda data: b"x"),
        Append("n?.md", b"x"),
        Move("a.md", "n?.md", revision_of(b"a")),
    ):
        with pytest.raises(InvalidInput, match=r"it has a \?"):
            commit(house.vault, ChangeSet((edit_,), "system", "test", "names", "run-1"))
    assert house.tree() == {"a.md": b"a"}


def test_what_is_there_already_is_served(house: House) -> None:
    house.lay({"who: 谁?.md": "---\nk: v\n---\nzebra\n", "old: folder/x.md": "x\n", "n.md": "[[who: 谁?]]\n"})
    assert read(house.ask(), "who: 谁?").text.endswith("zebra\n")
    assert [f.path for f in list_files(house.ask(), where=["k=v"]).files] == ["who: 谁?.md"]
    assert [hit.path for hit in search(house.ask(), "zebra").hits] == ["who: 谁?.md"]
    edit(house.ask(), "who: 谁?", "zebra", "zebras")
    append(house.ask(), "who: 谁?", "more")
    frontmatter_update(house.ask(), "who: 谁?", "k", "w")
    write(house.ask(), "who: 谁?", "new\n", overwrite=True, force=True)
    write(house.ask(), "old: folder/new", "in it\n")
    moved = move(house.ask(), "who: 谁?", "who")
    assert house.text("n.md") == "[[who]]\n"
    undo(house.ask(), moved.run)
    assert house.text("n.md") == "[[who: 谁?]]\n"
    gone = delete(house.ask(), "who: 谁?")
    undo(house.ask(), gone.run)
    assert house.text("who: 谁?.md") == "new\n"
    move(house.ask(), "old: folder", "kept")
    assert sorted(house.tree()) == ["kept/new.md", "kept/x.md", "n.md", "who: 谁?.md"]


def test_a_folder_takes_the_names_in_it_along(house: House) -> None:
    house.lay({"a/b: c/d?.md": "x"})
    move(house.ask(), "a", "z/y")
    assert list(house.tree()) == ["z/y/b: c/d?.md"]
    with pytest.raises(InvalidInput):
        copy(house.ask(), "z", "copied")


def test_daily_notes_are_named_so_that_they_can_be(house: House) -> None:
    made = daily_create(house.ask(), 'Who said: "what?"')
    assert made.path == "daily/2026-05-15/who-said-what.md"
    assert daily_create(house.ask(), "CON").path == "daily/2026-05-15/con-note.md"


def test_the_longest_name_and_its_conflict_copy(house: House) -> None:
    name = "n" * 252 + ".md"
    write(house.ask(), name, "x")
    assert read(house.ask(), name).text == "x"
    resource = "r" * 245
    upload(house.ask(), "eA==", resource)
    with pytest.raises(InvalidInput, match=r"too long to have a \.meta\.yaml"):
        upload(house.ask(), "eQ==", "r" * 246)


def test_the_longest_name_keeps_what_somebody_wrote_in_the_very_moment(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    from reme.vault import carry as carrying

    name = "会" * 84 + ".md"
    house.lay({name: "mine"})
    change = carrying._change

    def meddle(vault, staged: Path, step, **options) -> None:
        if step.path == name:
            house.lay({name: "theirs"})
        change(vault, staged, step, **options)

    monkeypatch.setattr(carrying, "_change", meddle)
    done = edit(house.ask(), name, "mine", "ours")
    (copied,) = done.conflict_copies
    assert (house.text(name), house.text(copied)) == ("ours", "theirs")
    assert len(copied.encode()) <= 255


@pytest.mark.parametrize(
    ("target", "because", "offered"),
    [("a#b", "# has another meaning", "ab.md"), ("a]]b|c#d^", "", ""), ("x/[[y]]", "[ ] has another", "x/((y)).md")],
)
def test_a_name_that_a_link_cannot_spell(house: House, target: str, because: str, offered: str) -> None:
    house.lay({"X.md": "x\n", "n.md": "text\n\n[[X]]\n", "lone.md": "lone\n"})
    before = house.tree()
    with pytest.raises(InvalidInput) as refused:
        move(house.ask(), "X", target)
    assert house.tree() == before
    if because:
        assert because in refused.value.message
        assert "n.md, line 3" in refused.value.message
        assert refused.value.details["suggestion"] == offered
        move(house.ask(), "lone", target)
        move(house.ask(), "X", offered)
        assert house.text("n.md") != "text\n\n[[X]]\n"


def test_a_file_is_no_folder(house: House) -> None:
    house.lay({"a.md": "a"})
    with pytest.raises((InvalidInput, Conflict)):
        write(house.ask(), "a.md/b", "x")
