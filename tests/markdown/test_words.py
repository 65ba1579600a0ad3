"""What a text says, whatever its layout and links."""

import pytest

from reme.markdown import display_text, fingerprint, parse, standing_words, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# 标题\n\n- 一\n  - 二\n1. 三\n> 四\n> > 五", "标题 一 二 三 四 五"),
        ("> [!superseded]- 旧的说法 (until 2026)", "旧的说法 (until 2026)"),
        ("Title\n=====\n\n---\n\ntext", "Title text"),
        ("see [[a/b.md|the plan]], [[x/甲.md]] and ![[n#h]]", "see the plan, 甲 and n > h"),
        ("[text](a%20b.md 'x') [t](<a b> \"t\") ![i](p.png)", "[text](a%20b.md 'x') t i"),
        ("- [ ] task\r\n* [x] done", "[ ] task [x] done"),
        ("a   b\u00a0c\n\n\td", "a b c d"),
        ("e\u0301", "\u00e9"),
        ("#tag -no 3.14 *em*", "#tag -no 3.14 *em*"),
    ],
)
def test_words(text: str, expected: str) -> None:
    assert words(text) == expected


def test_display_text() -> None:
    note = parse(b"[[a/b.md]] [[a|x]] [[#h]] [[a#h#i]] [t](u/v.md) ![[w.png]]")
    assert [display_text(link) for link in note.links] == ["b", "x", "h", "a > h > i", "t", "w.png"]


BASE = (
    "---\nname: 茶\ntags: [a]\n---\n# 茶\n\n绿茶来自杭州。\n\n<!-- reme:begin links -->\n- x\n<!-- reme:end links -->\n"
)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("绿茶", "[[digest/wiki/绿茶.md|绿茶]]"),
        ("- x\n", "- [[other]]\n- more\n"),
        ("来自", "来自"),
        ("# 茶\n\n", "#   茶\n\n\n"),
        ("tags: [a]", "tags:\n  - a\nimportance: 3"),
    ],
)
def test_weaving_and_generated_text_keep_the_fingerprint(old: str, new: str) -> None:
    assert fingerprint(parse(BASE.encode())) == fingerprint(parse(BASE.replace(old, new).encode()))


@pytest.mark.parametrize(("old", "new"), [("杭州", "苏州"), ("name: 茶", "name: 绿茶"), ("[a]", "[a, b]")])
def test_what_is_said_changes_the_fingerprint(old: str, new: str) -> None:
    assert fingerprint(parse(BASE.encode())) != fingerprint(parse(BASE.replace(old, new).encode()))


def test_a_move_to_another_folder_keeps_the_fingerprint() -> None:
    assert fingerprint(parse(b"see [[a/tea]]")) == fingerprint(parse(b"see [[b/c/tea]]"))


@pytest.mark.parametrize(("old", "new"), [("old words", "new words"), ("旧的说法", "新的说法")])
def test_what_stands_is_neither_described_nor_superseded(old: str, new: str) -> None:
    note = f"---\ndescription: {old}\n---\n- {new}\n> [!superseded] {old}\n> more of it\n\n> [!conflict] perhaps\n"
    assert standing_words(parse(note.encode())) == f"{new} perhaps"
