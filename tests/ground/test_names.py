"""New names are held to what every system can keep; each refusal offers a name that is accepted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reme.errors import InvalidInput
from reme.paths import VaultPath, check_portable, portable_name, slug_of, unlinkable

NAMES = st.text(
    st.characters(blacklist_categories=["Cs", "Cc"], blacklist_characters="/\\") | st.sampled_from('<>:"|?*#^[]. 会'),
    min_size=1,
    max_size=300,
).filter(lambda name: name not in (".", ".."))


@pytest.mark.parametrize(
    ("name", "reason", "better"),
    [
        ("what: why.md", "it has a :", "what- why.md"),
        ("谁?.md", "it has a ?", "谁.md"),
        ('a "b" <c>|d*.md', 'it has a "', "a 'b' (c)-d.md"),
        ("trailing .", "it ends with a dot", "trailing"),
        ("trailing ", "it ends with a space", "trailing"),
        ("CON", "it is a device on Windows", "CON-note"),
        ("nul.tar.md", "it is a device on Windows", "nul-note.tar.md"),
        ("com¹.md", "it is a device on Windows", "com¹-note.md"),
        ("会" * 85 + ".md", "it is too long, with 258 bytes where 255 are the most", "会" * 84 + ".md"),
        ("???", "it has a ?", "note"),
    ],
)
def test_what_is_refused_and_offered(name: str, reason: str, better: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        check_portable(VaultPath(f"a/{name}/c.md"))
    assert refused.value.message.endswith(reason)
    assert refused.value.details["suggestion"] == f"a/{better}/c.md"


@pytest.mark.parametrize(
    "path",
    [
        "a..b.md",
        "..hidden.md",
        "v1..2/n.md",
        "日記 100% #1.md",
        "C++.md",
        "console.md",
        "a;b,c=d.md",
        "会" * 84 + ".md",
    ],
)
def test_what_is_not(path: str) -> None:
    check_portable(VaultPath(path))


def test_only_what_is_new_counts() -> None:
    check_portable(VaultPath("was: there/new.md"), {"was: there"})
    with pytest.raises(InvalidInput, match="is too long for a path: 1000 bytes"):
        check_portable(VaultPath("/".join(["a" * 90] * 11)))


@given(
    NAMES
    | st.builds(
        "{}{}{}".format,
        st.sampled_from(["con", "LPT3", "nul "]),
        st.sampled_from(["", ".", ". ", ".a"]),
        st.text("a.?", max_size=3),
    ),
    st.integers(0, 40),
)
def test_what_is_offered_is_accepted_and_keeps_what_is_right(name: str, room: int) -> None:
    better = portable_name(name, room=room)
    check_portable(VaultPath(better))
    assert len(better.encode()) + room <= 255
    assert portable_name(better, room=room) == better
    assert not unlinkable(VaultPath(portable_name(name, linked=True)))
    try:
        check_portable(VaultPath(name))
    except InvalidInput:
        return
    assert portable_name(name) == name


@given(st.text())
def test_a_slug_is_always_such_a_name(title: str) -> None:
    check_portable(VaultPath(slug_of(title) + ".md"))


def test_a_slug_is_no_device() -> None:
    assert (slug_of("CON"), slug_of("Aux."), slug_of("console")) == ("con-note", "aux-note", "console")
