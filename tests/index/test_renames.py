"""Files that other programs rename are the same files."""

import subprocess

import pytest

from reme.index import embed, intake, refresh_paths
from reme.paths import VaultPath
from reme.testing import SyntheticEmbedder
from tests.index.place import Place


def rename(place: Place, old: str, new: str) -> None:
    (place.root / new).parent.mkdir(parents=True, exist_ok=True)
    (place.root / old).rename(place.root / new)


def test_a_file_that_is_gone_and_one_of_its_content_that_has_come_are_one(place: Place) -> None:
    place.write("a.md", "# Pear\n梨\n")
    place.write("b.md", "[[a]] [[x/茶]]\n")
    place.write("x/茶.md", "tea\n")
    assert place.refresh().renamed == ()
    rename(place, "a.md", "fruit/pear.md")
    rename(place, "x/茶.md", "x/绿茶.md")
    place.write("b.md", "[[a]] [[x/茶]] edited\n")
    assert place.refresh().renamed == (("a.md", "fruit/pear.md"), ("x/茶.md", "x/绿茶.md"))
    assert place.index.renames() == {"a.md": "fruit/pear.md", "x/茶.md": "x/绿茶.md"}
    rename(place, "fruit/pear.md", "pear.md")
    place.refresh()
    assert place.index.renames()["a.md"] == "pear.md"
    assert place.index.renames()["fruit/pear.md"] == "pear.md"


def test_what_the_watcher_tells_of_together_is_compared_too(place: Place) -> None:
    place.write("a.md", "pear\n")
    place.refresh()
    rename(place, "a.md", "b.md")
    done = refresh_paths(place.index, place.vault, [VaultPath("b.md"), VaultPath("a.md")])
    assert done.renamed == (("a.md", "b.md"),)
    assert place.index.renames() == {"a.md": "b.md"}


def test_what_is_ambiguous_or_empty_is_no_rename(place: Place) -> None:
    for name in ("a.md", "b.md", "twin.md"):
        place.write(name, "same\n")
    place.write("empty.md", "")
    place.write("one.md", "only\n")
    place.refresh()
    for old, new in (("a.md", "x.md"), ("b.md", "y.md"), ("empty.md", "void.md")):
        rename(place, old, new)
    place.write("two.md", "only\n")
    place.write("three.md", "only\n")
    place.delete("one.md")
    assert place.refresh().renamed == ()
    assert place.index.renames() == {}
    rename(place, "x.md", "z.md")  # though another file has the same content all the time
    assert place.refresh().renamed == (("x.md", "z.md"),)


def test_a_rename_is_forgotten_when_something_is_there_again_or_the_file_is_gone(place: Place) -> None:
    place.write("a.md", "pear\n")
    place.refresh()
    rename(place, "a.md", "b.md")
    place.refresh()
    place.write("a.md", "another\n")
    place.refresh()
    assert place.index.renames() == {}
    place.delete("a.md")
    rename(place, "b.md", "c.md")
    place.refresh()
    assert place.index.renames() == {"a.md": "c.md", "b.md": "c.md"}
    rename(place, "c.md", "b.md")
    place.refresh()
    assert place.index.renames() == {"a.md": "b.md", "c.md": "b.md"}
    place.delete("b.md")
    place.refresh()
    assert place.index.renames() == {}


def test_a_folder_that_is_renamed_in_many_batches(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "_BATCH_FILES", 3)
    for number in range(10):
        place.write(f"old/{number}.md", f"pear {number}\n")
    place.refresh()
    rename(place, "old", "new")
    assert len(place.refresh().renamed) == 10
    assert place.index.renames() == {f"old/{number}.md": f"new/{number}.md" for number in range(10)}


def test_git_renames_are_renames_and_vectors_follow(place: Place) -> None:
    pytest.importorskip("numpy")
    embedder = SyntheticEmbedder()
    for number in range(5):
        place.write(f"{number}.md", f"pear {number}\n")
    git = ["git", "-C", str(place.root), "-c", "user.name=x", "-c", "user.email=x@y"]
    (place.root / ".gitignore").write_text(".reme\n")
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "one"], ["mv", "0.md", "zero.md"]):
        subprocess.run([*git, *command], check=True)
    subprocess.run([*git, "stash", "-q"], check=True)
    place.refresh()
    embed(place.index, embedder)
    asked = len(embedder.texts)
    subprocess.run([*git, "stash", "pop", "-q"], check=True)
    assert place.refresh().renamed == (("0.md", "zero.md"),)
    assert place.index.status().unembedded == 0
    embed(place.index, embedder)
    assert len(embedder.texts) == asked
