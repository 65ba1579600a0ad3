"""Which file a link names, and how links are spelled after a move."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reme.markdown import parse, resolution, resolve, spellings
from reme.paths import VaultPath, fold


@dataclass
class Taken:
    """Names of a vault given as paths and aliases."""

    paths: Sequence[str]
    aliases: dict[str, list[str]] = field(default_factory=dict)

    def exact(self, folded_path: str) -> Sequence[VaultPath]:
        return [VaultPath(path) for path in self.paths if fold(path) == folded_path]

    def by_basename(self, folded_basename: str) -> Sequence[VaultPath]:
        return [VaultPath(path) for path in self.paths if fold(path.rpartition("/")[2]) == folded_basename]

    def by_alias(self, folded_alias: str) -> Sequence[VaultPath]:
        return [
            VaultPath(path) for alias, paths in self.aliases.items() for path in paths if fold(alias) == folded_alias
        ]


HERE = VaultPath("daily/2026-05-15/here.md")


def test_b07_a_name_is_whole_components() -> None:
    names = Taken(["tea.md", "green-tea.md", "x/iced.tea.md"])
    assert resolve("tea", HERE, names) == "tea.md"
    assert resolve("tea.md", HERE, names) == "tea.md"
    assert resolve("x/iced.tea", HERE, names) == "x/iced.tea.md"
    assert resolve("iced.tea", HERE, names) == "x/iced.tea.md"
    assert resolve("ea", HERE, names) is None
    assert resolution("reen-tea", HERE, names).reason == "missing"


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("", HERE),
        ("a/tea", "a/tea.md"),
        ("/a/tea", "a/tea.md"),
        ("a\\tea", "a/tea.md"),
        ("TEA", None),
        ("sibling", "daily/2026-05-15/sibling.md"),
        ("./sibling", "daily/2026-05-15/sibling.md"),
        ("../2026-05-14/old", "daily/2026-05-14/old.md"),
        ("../../a/tea.md", "a/tea.md"),
        ("../../../a/tea", None),
        ("./a/tea", None),
        ("deep/note", "x/deep/note.md"),
        ("eep/note", None),
        ("绿茶", "饮/绿茶.md"),
        ("Strasse", "Straße.md"),
        ("DE\u0301POT", "d\u00e9pot.md"),
        ("d\u0435pot", None),
        ("pic.png", "img/pic.png"),
        ("pic", None),
        ("iced", "x/iced.md"),
        ("The Title", "x/iced.md"),
        ("two", None),
    ],
)
def test_order_of_resolution(target: str, path: str | None) -> None:
    names = Taken(
        [
            *("a/tea.md", "b/tea.md", "daily/2026-05-15/sibling.md", "other/sibling.md", "daily/2026-05-14/old.md"),
            *("x/deep/note.md", "饮/绿茶.md", "Straße.md", "d\u00e9pot.md", "img/pic.png", "x/iced.md", HERE),
        ],
        {"the title": ["x/iced.md"], "sibling": ["a/tea.md"], "two": ["a/tea.md", "b/tea.md"], "iced": ["a/tea.md"]},
    )
    assert resolve(target, HERE, names) == path


def test_ambiguous_names_are_told_from_missing_ones() -> None:
    names = Taken(["a/tea.md", "b/tea.md", "Depot.md", "depot.md"], {"t": ["a/tea.md", "b/tea.md"]})
    assert resolution("tea", HERE, names).candidates == ("a/tea.md", "b/tea.md")
    assert resolution("tea", HERE, names).reason == "ambiguous"
    assert resolution("t", HERE, names).reason == "ambiguous"
    assert resolution("none", HERE, names).reason == "missing"
    assert resolve("depot", HERE, names) == "depot.md"
    assert resolve("Depot.md", HERE, names) == "Depot.md"
    assert resolution("DEPOT", HERE, names).reason == "ambiguous"


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        ("[[Ops/Plan]]", "Ops/Plan.md", "Ops/Road map.md", ("Ops/Road map", "Ops/Road map.md")),
        ("[[Ops/Plan.md]]", "Ops/Plan.md", "Z/Plan.md", ("Z/Plan.md",)),
        ("[[Plan]]", "Ops/Plan.md", "Z/Road.md", ("Plan", "Road", "Z/Road", "Z/Road.md")),
        ("[[Ops/Plan]]", "x/Ops/Plan.md", "y/z/P.md", ("Ops/Plan", "z/P", "y/z/P", "y/z/P.md")),
        ("[[./s]]", "daily/2026-05-15/s.md", "daily/t.md", ("../t", "daily/t", "daily/t.md")),
        ("[[../../a.md]]", "a.md", "daily/2026-05-15/b.md", ("b.md", "daily/2026-05-15/b.md")),
        ("[t](s.md)", "daily/2026-05-15/s.md", "daily/t.md", ("../t.md", "daily/t.md")),
        ("[t](/s.md)", "s.md", "q/t.md", ("/q/t.md", "q/t.md")),
        ("![[p.png]]", "i/p.png", "j/q.png", ("p.png", "q.png", "j/q.png")),
        ("[[绿茶]]", "饮/绿茶.md", "饮/红茶.md", ("绿茶", "红茶", "饮/红茶", "饮/红茶.md")),
    ],
)
def test_a_moved_file_is_spelled_in_the_links_own_style(
    text: str, old: str, new: str, expected: tuple[str, ...]
) -> None:
    (link,) = parse(text.encode("utf-8")).links
    assert spellings(link, VaultPath(old), VaultPath(new), HERE) == expected


def test_relative_links_of_a_moved_note() -> None:
    (link,) = parse(b"[[../up]]").links
    found = spellings(link, VaultPath("a/up.md"), VaultPath("a/up.md"), VaultPath("a/b/n.md"), VaultPath("c/n.md"))
    assert found == ("../a/up", "a/up", "a/up.md")


component = st.sampled_from(["a", "B", "tea", "茶", "x.y", "Straße"])
path = st.lists(component, min_size=1, max_size=3).map(lambda parts: "/".join(parts) + ".md")


@given(st.sets(path, min_size=1, max_size=8), path, path)
def test_the_last_spelling_always_resolves(paths: set[str], old: str, new: str) -> None:
    (link,) = parse(f"[[{old.removesuffix('.md')}]]".encode()).links
    taken = {known for known in paths if fold(known) != fold(new)} | {new}
    found = spellings(link, VaultPath(old), VaultPath(new), HERE)
    assert resolve(found[-1], HERE, Taken(sorted(taken))) == new
    assert resolve(found[-1], HERE, Taken(sorted(taken, reverse=True))) == new
