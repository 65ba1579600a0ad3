"""B71: no tool reaches outside the vault, whatever the spelling, and all say so with one kind of error."""

from collections.abc import Callable
from pathlib import Path

import pytest

from reme.errors import Refused
from reme.paths import VaultPath
from reme.tools import (
    Workspace,
    append,
    copy,
    daily_read,
    daily_write,
    delete,
    download,
    edit,
    frontmatter_delete,
    frontmatter_read,
    frontmatter_update,
    lint,
    list_files,
    log,
    move,
    read,
    read_image,
    search,
    stat,
    tags,
    undo,
    upload,
    write,
)
from tests.tools.house import House

OUTSIDE = [
    "../x.md",
    "a/../../x.md",
    "/etc/x.md",
    "C:\\x.md",
    "..\\x.md",
    "//h/s/x.md",
    "\\\\h\\s\\x.md",
    "%2e%2e%2fx.md",
    "%252e%252e%252fx.md",
    "a\0.md",
    "~/x.md",
    ".git/config",
    ".reme/index.db",
    "a/./b.md",
]

TOOLS: dict[str, Callable[[Workspace, str], object]] = {
    "read": read,
    "stat": stat,
    "tags": tags,
    "list": list_files,
    "search": lambda w, p: search(w, "x", paths=[p]),
    "write": lambda w, p: write(w, p, "x"),
    "overwrite": lambda w, p: write(w, p, "x", overwrite=True, force=True),
    "append": lambda w, p: append(w, p, "x"),
    "edit": lambda w, p: edit(w, p, "a", "b"),
    "move from": lambda w, p: move(w, p, "b"),
    "move to": lambda w, p: move(w, "a", p),
    "move folder to": lambda w, p: move(w, "folder", p),
    "copy from": lambda w, p: copy(w, p, "b"),
    "copy to": lambda w, p: copy(w, "a", p),
    "delete": lambda w, p: delete(w, p, recursive=True),
    "frontmatter_read": frontmatter_read,
    "frontmatter_update": lambda w, p: frontmatter_update(w, p, "k", "v"),
    "frontmatter_delete": lambda w, p: frontmatter_delete(w, p, "k"),
    "download": download,
    "read_image": read_image,
    "upload": lambda w, p: upload(w, "AAAA", p),
    "lint": lambda w, p: lint(w, [p]),
    "daily_read": daily_read,
    "daily_write": lambda w, p: daily_write(w, p, "x"),
    "daily_write material": lambda w, p: daily_write(w, "daily/2026-05-15/e.md", "x", material=p),
    "log": lambda w, p: log(w, path=p),
    "undo": lambda w, p: undo(w, "run-1", paths=[p]),
}


@pytest.mark.parametrize("path", OUTSIDE)
def test_b71_outside(house: House, path: str) -> None:
    house.lay({"a.md": "a\n", "folder/b.md": "b\n", "daily/2026-05-15/e.md": "e\n"})
    (house.root.parent / "x.md").write_text("secret")
    before = house.tree()
    for name, tool in TOOLS.items():
        with pytest.raises(Refused):
            pytest.fail(f"{name} returned {tool(house.ask(), path)!r}")
    assert house.tree() == before
    assert sorted(p.name for p in house.root.parent.iterdir()) == ["vault", "x.md"]


@pytest.mark.parametrize("path", OUTSIDE)
def test_b71_links_lead_nowhere_outside(house: House, path: str) -> None:
    (house.root.parent / "x.md").write_text("secret")
    house.lay({"n.md": f"![[{path}]] [x](<{path}>)\n", "a/n.md": f"[[{path}]]\n"})
    assert stat(house.ask(), "n").backlinks == ()
    led_to = [edge.target for note in ("n.md", "a/n.md") for edge in house.index.links_from(VaultPath(note))]
    assert set(led_to) <= {None}


@pytest.mark.parametrize("name", ["a..b.md", "..hidden.md", "v1..2/n.md", "日記 100% #1.md", "C++.md"])
def test_b71_ordinary_names_work(house: House, name: str) -> None:
    write(house.ask(), name, "x")
    assert read(house.ask(), name).text == "x"
    move(house.ask(), name, "elsewhere.md")
    move(house.ask(), "elsewhere.md", name)
    delete(house.ask(), name)


def test_symlinks_are_not_followed(house: House, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.md").write_text("secret")
    (house.root / "file.md").symlink_to(outside / "x.md")
    (house.root / "folder").symlink_to(outside, target_is_directory=True)
    house.lay({"a.md": "a\n"})
    for name, tool in TOOLS.items():
        if name in ("list", "search", "lint", "log", "undo", "upload") or name.startswith("daily"):
            continue
        for path in ("file.md", "folder/x.md", "folder/new.md"):
            if name == "move folder to":
                continue
            with pytest.raises(Refused):
                pytest.fail(f"{name} {path} returned {tool(house.ask(), path)!r}")
    assert (outside / "x.md").read_text() == "secret"
    assert [p.name for p in outside.iterdir()] == ["x.md"]
