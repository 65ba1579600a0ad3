"""Edits by span: retargets, properties, regions, splices."""

import pytest

from reme.errors import InvalidInput
from reme.markdown import (
    Span,
    delete_property,
    known_links,
    link_text,
    parse,
    region,
    retarget,
    set_property,
    splice,
    with_region,
    without_regions,
)


def moved(text: str, old: str, new: str) -> str:
    note = parse(text.encode("utf-8"))
    return retarget(note, lambda link: new if link.target == old else None).decode("utf-8")


def test_b25_only_targets_change() -> None:
    text = "[[Ops/Plan|Ops/Plan]] [[Ops/Plan#Goals|the plan]] ![[Ops/Plan]] k:: [[Ops/Plan]] [[Ops/Planner]] Ops/Plan"
    assert moved(text, "Ops/Plan", "Ops/Road map") == (
        "[[Ops/Road map|Ops/Plan]] [[Ops/Road map#Goals|the plan]] ![[Ops/Road map]] k:: [[Ops/Road map]] "
        "[[Ops/Planner]] Ops/Plan"
    )


def test_p06_a_retarget_leaves_code_and_comments() -> None:
    text = "[[a]] `[[a]]`\n\n```\n[[a]]\n```\n\n<!-- [[a]] -->\n\n%% [[a]] %%\n\n    [[a]]\n"
    assert moved(text, "a", "乙") == text.replace("[[a]]", "[[乙]]", 1)


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        ("[[ 甲 # h | x ]]", "甲", "乙/丙", "[[ 乙/丙 # h | x ]]"),
        ("| [[a\\|b]] |\n|---|\n", "a", "c d", "| [[c d\\|b]] |\n|---|\n"),
        ("[t](a.md#x)", "a.md", "b c(1).md", "[t](b%20c%281%29.md#x)"),
        ("[t](<a b.md> 'T')", "a b.md", "c (d) %.md", "[t](<c (d) %25.md> 'T')"),
        ("[t](a.md)", "a.md", "北京.md", "[t](北京.md)"),
        ("[t](%E5%8C%97.md)", "北.md", "京.md", "[t](%E4%BA%AC.md)"),
        ("![t](a.png)", "a.png", "R&D:1.png", "![t](R%26D%3A1.png)"),
        ("---\nk: '[[a]]'\n---\n", "a", "it's", "---\nk: '[[it''s]]'\n---\n"),
        ('---\nk: "[[a]]"\n---\n', "a", 'say "x"', '---\nk: "[[say \\"x\\"]]"\n---\n'),
        ("---\nk: see [[a]] # c\n---\n", "a", "b", "---\nk: see [[b]] # c\n---\n"),
        ("---\nk: it's [[a]] # c\n---\n", "a", "b: c", "---\nk: 'it''s [[b: c]]' # c\n---\n"),
        ("---\r\nk:\r\n  - '[[a]]'\r\nn: |\r\n  [[a]]\r\n---\r\n[[a]]\r\n", "a", "b: c",
         "---\r\nk:\r\n  - '[[b: c]]'\r\nn: |\r\n  [[b: c]]\r\n---\r\n[[b: c]]\r\n"),
    ],
)  # fmt: skip
def test_targets_are_spelled_as_their_place_demands(text: str, old: str, new: str, expected: str) -> None:
    assert moved(text, old, new) == expected


def test_b09_a_rename_leaves_valid_yaml() -> None:
    text = '---\nrelated: ["[[Plan A]]", "[[Dir/Plan B#Goals|b]]"]\nmeta: {owner: "[[Ann]]"}\n---\n'
    result = moved(text, "Plan A", "计划 A")
    assert result == text.replace("[[Plan A]]", "[[计划 A]]")
    assert parse(result.encode()).properties["related"] == ["[[计划 A]]", "[[Dir/Plan B#Goals|b]]"]


@pytest.mark.parametrize("target", ["a|b", "a]]b", "a#b", "a\nb"])
def test_what_a_wikilink_cannot_hold_is_refused(target: str) -> None:
    with pytest.raises(InvalidInput):
        moved("see [[x]]", "x", target)


def test_links_that_are_known_are_found_without_reading_the_rest() -> None:
    text = "---\nname: x\n---\n[[Tea]] k:: [[ Tea#Green|茶]]\n\n| [[Tea\\|t]] | [[Teapot]] |\n"
    note = parse(text.encode())
    known = known_links(note.source, {"Tea": [4, 4, 6]})
    assert known is not None
    assert [(x.target_span, x.span) for x in known.links] == [(x.target_span, x.span) for x in note.links[:3]]
    moved_text = "---\nname: x\n---\n[[it's]] k:: [[ it's#Green|茶]]\n\n| [[it's\\|t]] | [[Teapot]] |\n"
    assert retarget(known, lambda _: "it's").decode() == moved_text


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("`[[Tea]]` [[Tea]]", [1]),
        ("`[[Tea]]` [[Tea|a[b]]", [1]),
        ("`[[Tea]]` [[\u3000Tea]]", [1]),
        ("[[Tea]]\n[[Tea]]", [1]),
        ("[[Tea]]", [2]),
        ("[[Tea]] [x](y.md)", [1]),
        ("[[Tea]] <b>", [1]),
    ],
)
def test_a_note_in_which_they_are_not_plain_must_be_parsed(text: str, lines: list[int]) -> None:
    assert known_links(text.encode(), {"Tea": lines}) is None
    assert known_links("[[Tea]] caf\u00e9".encode("latin-1"), {"Tea": [1]}) is None
    assert known_links(b"[[Te%a]]", {"Te%a": [1]}) is None


def test_link_text_is_what_retarget_writes() -> None:
    note = parse(b"[[a]] [t](a.md)")
    assert [link_text(note, link, "b c") for link in note.links] == ["b c", "b%20c"]


SOURCE = (
    '\ufeff---\r\n# 顶部\r\ntitle: "Tea" # c\r\ntags:   # tt\r\n  - a\r\n  - b\r\n# mid\r\n\r\ncreated: 2024-01-01\r\n'
    "empty:\r\nlit: |\r\n  x\r\n  y\r\n\r\nobj: {a: 1}\r\nnums: [1, 2] # n\r\nq: 'one'\r\n---\r\n# 正文\r\n\r\nBody"
)


@pytest.mark.parametrize(
    ("key", "value", "old", "new"),
    [
        ("title", "绿茶", 'title: "Tea" # c', 'title: "绿茶" # c'),
        ("title", ["a", True, None, 1.5], 'title: "Tea" # c', "title: [a, true, null, 1.5] # c"),
        ("tags", ["a", "c: d"], "  - a\r\n  - b", '  - a\r\n  - "c: d"'),
        ("tags", "x", "tags:   # tt\r\n  - a\r\n  - b", "tags: x   # tt"),
        ("tags", [], "tags:   # tt\r\n  - a\r\n  - b", "tags: []   # tt"),
        ("created", "2025-02-03", "created: 2024-01-01", "created: 2025-02-03"),
        ("empty", 5, "empty:", "empty: 5"),
        ("empty", {"a": {"b": ["x", {"c": "yes"}]}}, "empty:", 'empty:\r\n  a:\r\n    b: [x, {c: "yes"}]'),
        ("lit", "z\n", "lit: |\r\n  x\r\n  y", 'lit: "z\\n"'),
        ("obj", {"a": 2, "中": "文"}, "obj: {a: 1}", "obj: {a: 2, 中: 文}"),
        ("nums", [1, "x,y"], "nums: [1, 2] # n", 'nums: [1, "x,y"] # n'),
        ("q", "it's", "q: 'one'", "q: 'it''s'"),
        ("new", "- dash", "q: 'one'\r\n", "q: 'one'\r\nnew: \"- dash\"\r\n"),
        ("新", "12:30", "q: 'one'\r\n", "q: 'one'\r\n新: 12:30\r\n"),
    ],
)
def test_p04_one_property_changes_its_own_lines(key: str, value: object, old: str, new: str) -> None:
    note = parse(SOURCE.encode("utf-8"))
    result = set_property(note, key, value)
    assert result.decode("utf-8") == SOURCE.replace(old, new, 1)
    assert parse(result).properties == {**note.properties, key: value}


def test_p04_setting_what_is_there_changes_nothing() -> None:
    note = parse(SOURCE.encode("utf-8"))
    assert all(set_property(note, key, value) == note.source for key, value in note.properties.items())


@pytest.mark.parametrize(
    ("key", "lines"),
    [
        ("title", 'title: "Tea" # c\r\n'),
        ("tags", "tags:   # tt\r\n  - a\r\n  - b\r\n"),
        ("lit", "lit: |\r\n  x\r\n  y\r\n"),
    ],
)
def test_p04_deleting_removes_its_own_lines(key: str, lines: str) -> None:
    note = parse(SOURCE.encode("utf-8"))
    assert delete_property(note, key).decode("utf-8") == SOURCE.replace(lines, "")
    assert delete_property(note, "absent") == note.source


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "---\nk: v\n---\n"),
        ("# 标题\n", "---\nk: v\n---\n# 标题\n"),
        ("\ufeff# H\r\nx", "\ufeff---\r\nk: v\r\n---\r\n# H\r\nx"),
        ("---\n---\nx", "---\nk: v\n---\nx"),
        ("---\nunclosed\n", "---\nk: v\n---\n---\nunclosed\n"),
    ],
)
def test_frontmatter_is_added_in_the_files_own_way(text: str, expected: str) -> None:
    assert set_property(parse(text.encode("utf-8")), "k", "v").decode("utf-8") == expected


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"---\nok: 1\nbad: [\n---\n", "Line 4"),
        (b"---\njust text\n---\n", "Line 2"),
        (b"---\n{a: 1}\n---\n", "Line 2"),
        ("né à".encode("latin-1"), "not UTF-8"),
        (b"---\na: &x 1\nb: *x\n---\n", "cannot be changed"),
    ],
)
def test_what_cannot_be_rewritten_is_refused(data: bytes, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        set_property(parse(data), "a", 2)


def test_a_value_that_repeats_another_is_changed_where_it_stands() -> None:
    note = parse("---\r\na: &x\r\n  - 茶\r\nb: *x # c\r\nc: 1\r\n---\r\n".encode())
    assert set_property(note, "b", "水") == note.source.replace(b"*x", "水".encode())
    assert delete_property(note, "b") == note.source.replace(b"b: *x # c\r\n", b"")


def test_values_that_yaml_cannot_hold_are_refused() -> None:
    with pytest.raises(InvalidInput, match="object"):
        set_property(parse(b""), "k", object())


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_regions_keep_what_is_around_them(newline: str) -> None:
    text = f"上面{newline}{newline}<!-- reme:begin day -->{newline}old{newline}<!-- reme:end day -->{newline}下面"
    data = text.encode("utf-8")
    assert region(data, "day") == f"old{newline}".encode()
    assert region(data, "other") is None
    assert with_region(data, "day", "- 新\n- b".encode()).decode() == text.replace("old", f"- 新{newline}- b")
    assert with_region(data, "day", b"").decode() == text.replace(f"old{newline}", "")
    assert without_regions(data).decode() == f"上面{newline}{newline}下面"
    added = with_region(data, "other", b"x")
    assert added.startswith(data)
    assert region(added, "other") == f"x{newline}".encode()
    assert with_region(added, "other", b"x") == added


def test_regions_refuse_markers_inside() -> None:
    with pytest.raises(InvalidInput):
        with_region(b"", "a b", b"")
    with pytest.raises(InvalidInput):
        with_region(b"", "a", b"<!-- reme:end a -->\n")


def test_splice() -> None:
    assert splice(b"abcdef", [(Span(4, 5), b"X"), (Span(0, 1), b""), (Span(2, 2), b"__")]) == b"b__cdXf"
    with pytest.raises(ValueError, match="overlaps"):
        splice(b"abc", [(Span(0, 2), b""), (Span(1, 3), b"")])
    with pytest.raises(ValueError, match="leaves"):
        splice(b"abc", [(Span(2, 4), b"")])
