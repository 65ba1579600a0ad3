"""Every spelling of a path becomes one contained identity, or is refused with one kind of error."""

import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reme.errors import Refused
from reme.paths import basename, fold, is_markdown, join, parent, parse_path, stem, suffix


@pytest.mark.parametrize(
    "raw",
    [
        "../x.md", "a/../../x.md", "/etc/x.md", "C:\\x.md", "C:/x.md", "..\\x.md", "//h/s/x.md", "\\\\h\\s\\x.md",
        "%2e%2e%2fx.md", "%252e%252e/x.md", "a%2f..%2f..%2fx", "a\0.md", "a%00.md", "~/x.md", "~root/x.md",
        ".git/config", "a/.reme/x", ".", "..", "", "/", "a//b.md", "a/./b.md", "a\nb.md", "%5c%5ch/x.md",
    ],
)  # fmt: skip
def test_b71_paths_that_could_lead_outside(raw: str) -> None:
    with pytest.raises(Refused, match="is not a path inside the vault"):
        parse_path(raw)


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        ("a..b.md", "a..b.md"),
        ("..hidden.md", "..hidden.md"),
        ("v1..2/n.md", "v1..2/n.md"),
        ("daily\\2026\\茶.md", "daily/2026/茶.md"),
        ("cafe\u0301/", "caf\u00e9"),
        ("🌱 log/日記 100% #1?.md", "🌱 log/日記 100% #1?.md"),
        ("50%25 off%2Fnow.md", "50%25 off%2Fnow.md"),
    ],
)
def test_b71_paths_that_only_look_odd(raw: str, path: str) -> None:
    assert parse_path(raw) == path
    assert parse_path(path) == path


def test_the_root_is_a_path_only_where_asked_for() -> None:
    assert parse_path("", root=True) == ""


@given(st.text(st.sampled_from("ab.%25eEfF/\\~:茶\0 "), max_size=14))
def test_an_accepted_path_stays_inside_and_is_stable(raw: str) -> None:
    try:
        path = parse_path(raw)
    except Refused:
        return
    assert parse_path(path) == path
    assert posixpath.normpath(path) == path
    assert not posixpath.isabs(path)
    assert ".." not in path.split("/")


def test_the_parts_of_a_path() -> None:
    path = parse_path("x/y.tar.GZ")
    assert (parent(path), basename(path), stem(path), suffix(path)) == ("x", "y.tar.GZ", "y.tar", ".gz")
    assert (parent(parse_path("a")), suffix(parse_path("..a")), stem(parse_path("..a"))) == ("", ".a", ".")
    assert join(parse_path("", root=True), "a.md") == "a.md"
    assert is_markdown(parse_path("a.MD"))


def test_names_are_compared_folded() -> None:
    assert fold("Straße") == fold("STRASSE")
    assert fold("CAFE\u0301") == fold("café")
    assert fold("depot") != fold("de\u0440ot")


def test_half_a_surrogate_pair_is_no_path() -> None:
    with pytest.raises(Refused, match="not valid Unicode"):
        parse_path("a\ud83d.md")
