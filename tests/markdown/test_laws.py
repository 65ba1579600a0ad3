"""What holds for every note."""

import string

from hypothesis import given
from hypothesis import strategies as st

from reme.errors import InvalidInput
from reme.markdown import delete_property, parse, retarget, set_property
from reme.markdown.yaml12 import read_yaml
from tests.markdown.laws import check_note, outside

FRAGMENTS = [
    *(
        "---\n",
        "...\n",
        "\r\n",
        "\n",
        "\n\n",
        "\ufeff",
        "key: value\n",
        "tags: [a, 茶]\n",
        "up: '[[甲]]'\n",
        "k: |\n  x\n",
    ),
    *(
        "# 标题\n",
        "- ",
        "> ",
        "    ",
        "```\n",
        "~~~",
        "`",
        "``",
        "$",
        "$$\n",
        "%%",
        "<!--",
        "-->",
        "<div>\n",
        "\\",
        "|",
        "| a |\n|---|\n",
    ),
    *(
        "[[",
        "]]",
        "[",
        "](",
        ")",
        "!",
        "[[a|b]]",
        "![[图.png]]",
        "[t](b%20c.md#x)",
        "[t](<d e.md>)",
        "k:: ",
        "[m:: [[n]]]",
        "(p:: q)",
    ),
    *(
        "#tag",
        "#旅行/北京",
        " ",
        "\t",
        "::",
        "#",
        "中文",
        "word",
        "é",
        "👩‍👩‍👧",
        "https://h/x",
        "&amp;",
        "[x]: y.md\n",
        "[^1]: z\n",
    ),
]
notes = st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=6)), max_size=25).map(
    lambda parts: "".join(parts).encode("utf-8", errors="ignore")
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(max_size=12),
    st.sampled_from(FRAGMENTS),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=6), inner, max_size=3)),
    max_leaves=6,
)


plain_lines = [
    *(
        "word\n",
        "Two words",
        "[[a]]\n",
        "![[图.png]]\n",
        "- item\n",
        "- 项",
        "- [ ] task\n",
        "# 标题\n",
        "## Two [[a]] ##\n",
    ),
    *(
        "\n",
        "\n\n",
        " \n",
        "\t",
        "---\n",
        "===\n",
        "- ",
        "-\n",
        "#\n",
        "* b\n",
        "1. c\n",
        "| a |\n",
        "> q\n",
        "(k:: v)\n",
    ),
    *(
        "k:: [[v]]\n",
        "a_b_c",
        "**b**",
        "~~",
        "&amp;",
        "\\",
        "%%",
        "#tag",
        "\ufeff",
        "\u2028",
        "\x0b",
        "[x]",
        "^1",
        "+ d\n",
    ),
]
plain_notes = st.lists(st.sampled_from(plain_lines), max_size=12).map(lambda parts: "".join(parts).encode("utf-8"))


@given(st.one_of(st.binary(max_size=80), notes, plain_notes))
def test_every_law_holds_for_any_bytes(data: bytes) -> None:
    check_note(data)


@given(notes, st.text(string.ascii_letters + "茶é /&()%'\".:", min_size=1, max_size=10).map(str.strip).filter(bool))
def test_a_retarget_touches_only_targets(data: bytes, target: str) -> None:
    note = parse(data)
    try:
        result = parse(retarget(note, lambda link: target if link.target else None))
    except InvalidInput:
        return
    assert [link.target for link in result.links] == [target if link.target else "" for link in note.links]
    assert [(link.anchor, link.alias, link.predicate) for link in result.links] == [
        (link.anchor, link.alias, link.predicate) for link in note.links
    ]
    assert outside(result) == outside(note) or note.frontmatter is not None


@given(st.one_of(notes, plain_notes), st.text(string.ascii_letters + "茶é /.-,'", min_size=1, max_size=300))
def test_a_plain_target_changes_nothing_else_that_is_read(data: bytes, target: str) -> None:
    note, target = parse(data), target.strip() or "x"
    try:
        result = parse(retarget(note, lambda link: target if link.target else None))
    except InvalidInput:
        return
    assert [link._replace(target="", span=note.body, target_span=note.body) for link in result.links] == [
        link._replace(target="", span=note.body, target_span=note.body) for link in note.links
    ]
    assert [block.kind for block in result.blocks] == [block.kind for block in note.blocks]


@given(notes, st.sampled_from(["key", "tags", "新键", "k", "a b", "null", "#x"]), values)
def test_setting_a_property_changes_that_property_alone(data: bytes, key: str, value: object) -> None:
    note = parse(data)
    try:
        result = set_property(note, key, value)
    except InvalidInput:
        return
    after = parse(result)
    assert after.source[after.body.start :] == note.source[note.body.start :]
    assert repr(after.properties[key]) == repr(value)
    rest = {name: item for name, item in after.properties.items() if name != key}
    assert repr(rest) == repr({name: item for name, item in note.properties.items() if name != key})
    removed = parse(delete_property(after, key))
    assert key not in removed.properties
    assert removed.source[removed.body.start :] == note.source[note.body.start :]


@given(values)
def test_any_value_can_be_set_in_a_new_note(value: object) -> None:
    assert repr(parse(set_property(parse("正文".encode()), "键", value)).properties["键"]) == repr(value)


plain = st.text("ab1.-_ ,:#'\"[]{}!&*?|>%@`\\/茶\t", max_size=12)
yaml_lines = st.lists(
    st.one_of(
        st.builds("{}: {}\n".format, st.sampled_from(["a", "b-c", "茶", "d"]), plain),
        plain.map(lambda text: text + "\n"),
    ),
    max_size=4,
).map("".join)


@given(yaml_lines)
def test_the_short_way_through_yaml_reads_the_same(text: str) -> None:
    short, long = read_yaml(text), read_yaml(text, with_entries=True)
    assert repr(short.data) == repr(long.data)
    assert short.complaints == long.complaints
