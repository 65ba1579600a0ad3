"""Reading notes: frontmatter, blocks, links, fields, tags, encodings."""

import pytest

from reme.markdown import Note, parse
from reme.markdown.blocks import plain_outline
from tests.markdown.laws import check_note


def read(text: str) -> Note:
    return parse(text.encode("utf-8"))


def targets(note: Note) -> list[str]:
    return [link.target for link in note.links]


def typed(note: Note) -> list[tuple[str | None, str]]:
    return [(link.predicate, link.target) for link in note.links]


BOM = b"\xef\xbb\xbf"


@pytest.mark.parametrize(
    "data",
    [
        BOM + b"---\r\ntitle: Tea\r\ntags: [a]\r\n---\r\nBody\r\n",
        BOM + b"---\ntitle: Tea\ntags: [a]\n---\nBody\n",
        b"---\r\ntitle: Tea\r\ntags: [a]\r\n---\r\nBody\r\n",
        b"--- \ntitle: Tea\ntags: [a]\n---\t\nBody\n",
        b"---\ntitle: Tea\ntags: [a]\n...\nBody\n",
        b"---\ntitle: Tea\ntags: [a]\n---\nBody",
    ],
)
def test_b01_frontmatter_with_bom_crlf_and_trailing_space(data: bytes) -> None:
    note = parse(data)
    assert note.properties == {"title": "Tea", "tags": ["a"]}
    assert note.text(note.body).strip() == "Body"
    assert [note.text(block.span) for block in note.blocks] == ["Body"]
    assert [tag.name for tag in note.tags] == ["a"]
    assert note.headings == ()
    assert note.source == data
    assert note.encoding == "utf-8"


def test_b01_a_rule_that_is_never_closed_is_body() -> None:
    note = read("---\ntitle: Tea\n\nBody\n")
    assert note.frontmatter is None
    assert note.problems == ()
    assert note.blocks[0].kind == "rule"
    assert note.text(note.body) == "---\ntitle: Tea\n\nBody\n"


def test_frontmatter_must_begin_the_file() -> None:
    assert read("\n---\na: 1\n---\n").frontmatter is None
    assert read(" ---\na: 1\n---\n").frontmatter is None


def test_empty_frontmatter() -> None:
    note = read("---\n---\n正文\n")
    assert note.frontmatter is not None
    assert note.frontmatter.valid
    assert note.properties == {}
    assert note.text(note.body) == "正文\n"


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("yes", "yes"),
        ("off", "off"),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("010", 10),
        ("0o10", 8),
        ("0x1F", 31),
        ("-3", -3),
        ("1_000", "1_000"),
        ("1.5e3", 1500.0),
        (".5", 0.5),
        ("-.inf", float("-inf")),
        ("12:30:45", "12:30:45"),
        ("2024-01-02", "2024-01-02"),
        ("2024-01-02 12:30", "2024-01-02 12:30"),
        ("'10'", "10"),
        ("!!str 10", "10"),
        ('!!int "10"', 10),
        ("!custom x", "x"),
        ("<<", "<<"),
        ("北京", "北京"),
        ("a # comment", "a"),
        ("C#", "C#"),
        ("[a, 1, '1']", ["a", 1, "1"]),
        ("{a: yes}", {"a": "yes"}),
        ("9" * 5000, "9" * 5000),
    ],
)
def test_yaml_has_the_core_types_of_1_2(written: str, value: object) -> None:
    for text in (f"key: {written}", f"key: {written}\n'other': x"):
        read_back = read(f"---\n{text}\n---\n").properties["key"]
        assert read_back == value
        assert type(read_back) is type(value)


def test_invalid_yaml_is_a_problem_with_its_line_and_the_body_is_read() -> None:
    note = read("---\nname: x\nbad: [\n---\n# 标题\n\n[[a]]\n")
    assert note.frontmatter is not None
    assert not note.frontmatter.valid
    assert note.properties == {}
    assert [(problem.rule, problem.line) for problem in note.problems] == [("frontmatter.yaml", 4)]
    assert targets(note) == ["a"]


@pytest.mark.parametrize(
    ("yaml", "rule", "line"),
    [
        ("a: 1\nb: 2\na: 3", "frontmatter.duplicate-key", 4),
        ("a: 1\n~: 2", "frontmatter.null-key", 3),
        ("a:\n\tb: 1", "frontmatter.yaml", 3),
        ("- a", "frontmatter.mapping", 2),
        ("date: {{date}}", "frontmatter.key", 2),
        ("a: &a [*a]", "frontmatter.yaml", 2),
        ("a: " + "[" * 5000, "frontmatter.yaml", 2),
    ],
)
def test_odd_yaml_is_reported(yaml: str, rule: str, line: int) -> None:
    note = read(f"---\n{yaml}\n---\n正文 [[x]]\n")
    assert [(problem.rule, problem.line) for problem in note.problems] == [(rule, line)]
    assert targets(note)[-1] == "x"


def test_aliases_that_grow_without_bound_are_refused() -> None:
    lines = ["a: &a [x,x,x,x,x,x,x,x,x]"]
    lines += [f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]" for i in range(9)]
    note = read("---\n" + "\n".join(lines) + "\n---\n")
    assert note.problems[0].rule == "frontmatter.yaml"


def test_b03_fields_are_not_read_out_of_code() -> None:
    note = read(
        "```\nwhen:: [[X]]\n```\n\nuse `[a:: b]` and `[::]:8080` or [::]:8080\n\n%% c:: d %%\n\n"
        "std::vector and http://h/x::y\nstd::move\n\nmood:: calm\n"
    )
    assert {field.key: field.value for field in note.fields} == {"mood": "calm"}
    assert note.links == ()


def test_fields_in_lines_lists_tasks_quotes_and_brackets() -> None:
    note = read(
        "心情:: 平静 。\n- 来源:: [[a]], [[b]]\n- [x] due:: tomorrow\n> said_by:: [[c]]\n\n"
        "text [rates:: [[d]]] and (see:: [[e (f)]]) then [[g]]\n\nk-2:: v\n2k:: no\n-k:: no\nmy key:: no\nempty::\n"
    )
    assert [(field.key, field.value) for field in note.fields] == [
        ("心情", "平静 。"),
        ("来源", "[[a]], [[b]]"),
        ("due", "tomorrow"),
        ("said_by", "[[c]]"),
        ("rates", "[[d]]"),
        ("see", "[[e (f)]]"),
        ("k-2", "v"),
        ("empty", ""),
    ]
    assert typed(note) == [
        ("来源", "a"),
        ("来源", "b"),
        ("said_by", "c"),
        ("rates", "d"),
        ("see", "e (f)"),
        (None, "g"),
    ]
    assert note.text(note.fields[4].span) == "[rates:: [[d]]]"
    assert note.text(note.fields[0].span) == "心情:: 平静 。"


def test_a_predicate_ends_with_its_own_value() -> None:
    note = read("a:: [[x]] [b:: [[y]]] [[z]]\n[[next]]\n![[p.png]] (c:: ![[n]]) [t](u.md)\n")
    assert typed(note) == [
        ("a", "x"),
        ("b", "y"),
        ("a", "z"),
        (None, "next"),
        (None, "p.png"),
        ("c", "n"),
        (None, "u.md"),
    ]


CODE = (
    "write `see [[Hub]]`\n\n~~~\n[[Hub]]\n~~~\n\n``a ` [[Hub]]``\n\n    [[Hub]]\n\n"
    "````md\n```\n[[Hub]]\n```\n````\n\n<!-- [[Hub]] -->\n\n<div>\n[[Hub]]\n</div>\n\n%% [[Hub]] %%\n\n"
    "%%\n\n[[Hub]]\n\n# no heading\n\n%%\n\n$[[Hub]]$\n\n$$\n[[Hub]]\n$$\n\n```\n[[Hub]]"
)


def test_b05_quoted_links_are_no_links() -> None:
    note = read(CODE)
    assert note.links == ()
    assert read("\\[[Hub]] \\[\\[Hub]]").links == ()
    assert note.headings == ()


def test_p06_fences_comments_and_indented_code_hold_no_links_fields_or_tags() -> None:
    note = read(CODE.replace("[[Hub]]", "[[Hub]] #tag k:: v [t](f.md)"))
    assert (note.links, note.fields, note.tags) == ((), (), ())


def test_text_after_an_unclosed_comment_mark_is_text() -> None:
    assert targets(read("sure 100%% [[a]]\n\n[[b]]")) == ["a", "b"]


def test_b09_links_in_frontmatter() -> None:
    text = '---\nrelated: ["[[Plan A]]", "[[Dir/Plan B#Goals|b]]"]\nmeta: {owner: "[[Ann]]"}\n---\n'
    note = read(text)
    assert typed(note) == [("related", "Plan A"), ("related", "Dir/Plan B"), ("owner", "Ann")]
    assert [(link.anchor, link.alias, link.line, link.origin) for link in note.links] == [
        (None, None, 2, "frontmatter"),
        ("Goals", "b", 2, "frontmatter"),
        (None, None, 3, "frontmatter"),
    ]
    assert [note.text(link.target_span) for link in note.links] == targets(note)


def test_links_in_every_kind_of_yaml_string() -> None:
    note = read(
        "---\n名: 甲 [[甲]] 乙\nsingle: '[[it''s]]'\ndouble: \"[[say \\\"hi\\\"]]\"\n"
        "block: |\n  看 [[丙|三]]\n  `[[no]]`\nfolded: >-\n  ![[图.png]]\n"
        "nest:\n  - deep:\n      up: '[[a#b]]'\n    list: ['[[c]]', {in: '[[d]]'}]\n"
        "code: use `[[x]]`\n# [[comment]]\nagain: &z '[[e]]'\nalias: *z\n---\n"
    )
    assert typed(note) == [
        ("名", "甲"),
        ("single", "it's"),
        ("double", 'say "hi"'),
        ("block", "丙"),
        ("folded", "图.png"),
        ("up", "a"),
        ("list", "c"),
        ("in", "d"),
        ("again", "e"),
    ]
    assert [note.text(link.span) for link in note.links][:3] == ["[[甲]]", "[[it''s]]", '[[say \\"hi\\"]]']
    assert note.links[4].kind == "image"


def test_forms_of_wikilinks() -> None:
    note = read(
        "[[ a b | 甲 乙 ]] ![[n]] ![[p.PNG|300]] [[#x]] [[n#h#i]] [[n#^id]] [[]] [[ ]] [[|x]] [[a\nb]] [[[c]]]"
        " [[d|e [f] `g`]] \\![[h]] [[i]](2024) [[j#]] [[k]]]"
    )
    assert [(link.kind, link.target, link.anchor, link.alias) for link in note.links] == [
        ("wiki", "a b", None, "甲 乙"),
        ("embed", "n", None, None),
        ("image", "p.PNG", None, "300"),
        ("wiki", "", "x", None),
        ("wiki", "n", "h#i", None),
        ("wiki", "n", "^id", None),
        ("wiki", "c", None, None),
        ("wiki", "d", None, "e [f] `g`"),
        ("wiki", "h", None, None),
        ("wiki", "i", None, None),
        ("wiki", "j", None, None),
        ("wiki", "k", None, None),
    ]
    assert note.text(note.links[1].span) == "![[n]]"
    assert note.text(note.links[0].target_span) == "a b"


def test_an_escaped_pipe_in_a_table_separates_the_alias() -> None:
    note = read("| 甲 | b |\n|---|---|\n| [[x\\|y]] | ![[z.png\\|9]] |\n")
    assert [(link.target, link.alias, link.line) for link in note.links] == [("x", "y", 3), ("z.png", "9", 3)]
    assert note.text(note.links[0].target_span) == "x"


def test_markdown_links_to_files() -> None:
    note = read(
        '[甲](my%20note.md#Part%201 "t") [b](<sp ace.md>) [c](a(b).md) ![d](p.png) [e](../up.md) [f](/root.md)\n'
        "[g](%E5%8C%97%E4%BA%AC.md) [h](100%25.md) [i](a&amp;b.md) [j](x&#35;y.md#z)\n\n"
        "[k](http://h/a.md) [l](#only) [m](mailto:a@b) [n](//h/x.md) [o]() <http://h/x.md> [p][q]\n[r](bad%ff.md)\n\n"
        "[q]: ref.md\n"
    )
    assert [(link.kind, link.target, link.anchor, link.alias) for link in note.links] == [
        ("markdown", "my note.md", "Part 1", "甲"),
        ("markdown", "sp ace.md", None, "b"),
        ("markdown", "a(b).md", None, "c"),
        ("image", "p.png", None, "d"),
        ("markdown", "../up.md", None, "e"),
        ("markdown", "/root.md", None, "f"),
        ("markdown", "北京.md", None, "g"),
        ("markdown", "100%.md", None, "h"),
        ("markdown", "a&b.md", None, "i"),
        ("markdown", "x", "y.md#z", "j"),
        ("markdown", "bad%ff.md", None, "r"),
        ("markdown", "ref.md", None, "q"),
    ]
    assert note.text(note.links[0].target_span) == "my%20note.md"
    assert note.text(note.links[1].target_span) == "sp ace.md"
    assert note.text(note.links[0].span) == '[甲](my%20note.md#Part%201 "t")'


def test_tags() -> None:
    note = read(
        "---\ntags: [项目, a/b, '#c', 2024]\n---\n#旅行/北京，好 word#no (#e) #12 #1a #y-z_w/ `#no` [[x #no]] http://h/#no\n"
        '"#/no"\n# heading\n## second #f\n&#39; ##no \\#no [t](u.md#no)\n中文，#g。 #😀 end\n'
    )
    assert [(tag.name, tag.origin) for tag in note.tags] == [
        ("项目", "frontmatter"),
        ("a/b", "frontmatter"),
        ("c", "frontmatter"),
        ("2024", "frontmatter"),
        ("旅行/北京", "body"),
        ("e", "body"),
        ("1a", "body"),
        ("y-z_w", "body"),
        ("f", "body"),
        ("g", "body"),
        ("😀", "body"),
    ]
    assert note.tags[4].line == 4
    assert [tag.name for tag in read("---\ntags: one, two three\n---\n").tags] == ["one", "two", "three"]


def test_blocks_and_headings() -> None:
    note = read(
        "# 一 *x* `c` [[a|b]] &amp; d #\n\npara\nmore\n- i1\n  - sub\n\n  more\n- i2\n\n1. n\n\n> q\n\n"
        "| a |\n|---|\n| b |\n\n---\n\nSet\n===\n\n[r]: x.md\n\n<!-- c -->\n\n<p>\nh\n</p>\n\n$$\nm\n$$\n\n    code\n\n"
        "[^1]: foot\n\n- > # quoted\n"
    )
    assert [(block.kind, note.text(block.span)) for block in note.blocks] == [
        ("heading", "# 一 *x* `c` [[a|b]] &amp; d #"),
        ("paragraph", "para\nmore"),
        ("item", "- i1\n  - sub\n\n  more"),
        ("item", "- i2"),
        ("item", "1. n"),
        ("quote", "> q"),
        ("table", "| a |\n|---|\n| b |"),
        ("rule", "---"),
        ("heading", "Set\n==="),
        ("paragraph", "[r]: x.md"),
        ("comment", "<!-- c -->"),
        ("html", "<p>\nh\n</p>"),
        ("math", "$$\nm\n$$"),
        ("code", "    code"),
        ("paragraph", "[^1]: foot"),
        ("item", "- > # quoted"),
    ]
    assert [(heading.level, heading.text, heading.line) for heading in note.headings] == [
        (1, "一 x c b & d", 1),
        (1, "Set", 21),
    ]
    assert [(block.line, block.end_line) for block in note.blocks][:4] == [(1, 1), (3, 4), (5, 8), (9, 9)]


def test_lines_and_spans_with_crlf() -> None:
    note = parse(BOM + "---\r\na: 1\r\n---\r\n# 标题\r\n\r\n第一\r\nk:: [[x]]\r\n".encode())
    assert [(block.line, note.text(block.span)) for block in note.blocks] == [(4, "# 标题"), (6, "第一\r\nk:: [[x]]")]
    assert [(field.key, field.value, note.text(field.span)) for field in note.fields] == [("k", "[[x]]", "k:: [[x]]")]
    assert note.links[0].line == 7


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("今天和小组讨论了季度预算的问题。", "gb18030"),
        ("繁體中文的筆記本，記錄會議", "big5"),
        ("昨日は新しい会議室を予約した", "cp932"),
        ("지난주에 새로운 회의실을 예약했다", "cp949"),
        ("naïve café", "cp1252"),
        ("[[ä]] 中文", "utf-16"),
    ],
)
def test_other_encodings_are_read_and_reported(text: str, encoding: str) -> None:
    note = parse(text.encode(encoding))
    assert note.text(note.body) == text
    assert note.encoding == encoding
    assert [problem.rule for problem in note.problems] == ["encoding"]


@pytest.mark.parametrize("data", [b"PNG\0\x89\xff", b"text\0text", b"\xff\xfe\0\xd8"])
def test_binaries_are_empty_notes_with_a_problem(data: bytes) -> None:
    note = parse(data)
    assert (note.source, note.blocks, note.links) == (b"", (), ())
    assert [problem.rule for problem in note.problems] == ["encoding"]


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "[[a|" * 50_000,
        "> " * 50_000,
        "`" * 100_000,
        "%% [[a]] " * 20_000,
        "[a:: [b:: (c:: " * 20_000,
        "a:: b " * 50_000,
        "![a](" * 50_000,
        "[x](a" + "&#35;" * 50_000 + ")",
        "词" * 500_000,
        "---\na: b" + " " * 100_000 + "#\nc: [\n---\n",
        "---\na: " + "[" * 50_000 + "\n---\n",
        "---\n" * 50_000,
        "<!--" * 50_000,
        "#" * 500_000,
    ],
    ids=lambda text: text[:12],
)
def test_hostile_input_is_read(text: str) -> None:
    note = read(text)
    assert note.source == text.encode("utf-8")


def test_a_definition_at_the_end_without_a_line_ending_is_a_block() -> None:
    note = read("text\n\n[x]: y.md")
    assert [note.text(block.span) for block in note.blocks] == ["text", "[x]: y.md"]
    note = read("[a]: b.md\n[x]: 茶.md")
    assert [(note.text(block.span), block.line, block.end_line) for block in note.blocks] == [
        (note.text(note.body), 1, 2)
    ]


def test_a_definition_before_a_field_has_no_predicate() -> None:
    assert typed(read("[x]: y.md\n\nk:: [t](z.md) [[茶]]\n")) == [(None, "y.md"), ("k", "z.md"), ("k", "茶")]


@pytest.mark.parametrize(
    "text",
    [
        "# Title\n\nA paragraph\nof two lines.\n\n- one\n- 二\nlazy\n\n## Next\nmore",
        "- [ ] task\n- [[a]] k:: [[b]]\n\n\n- last\n# H\n\n",
        '![[图.png]]\n(k:: v)\n\n"quoted"\n   \n',
        "",
        "\n\n",
    ],
)
def test_plain_bodies_need_no_parser(text: str) -> None:
    data = text.encode("utf-8")
    assert plain_outline(data, 0) is not None
    check_note(data)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "a\n---\n",
            "a `b`",
            "a <b>c</b>",
            "a $b$",
            "[t](u.md)",
            "[t]: u.md",
            "a\r\nb",
            "1. a",
            "> a",
            "    a",
            "* a",
        ),
        *("# *a*", "| a |\n|---|", "- - a", "- # a", "-\n", "***", "# a # b", " # a", "a\n===\n", "~~~\nb", "+ a"),
    ],
)
def test_other_bodies_are_left_to_the_parser(text: str) -> None:
    assert plain_outline(text.encode("utf-8"), 0) is None


def test_fields_stand_in_fields_but_not_without_end() -> None:
    note = read("(a:: (b:: [[甲]]))")
    assert [(field.key, field.value) for field in note.fields] == [("a", "(b:: [[甲]])"), ("b", "[[甲]]")]
    assert typed(note) == [("b", "甲")]
    assert len(read("(k:: " * 1_000 + ")" * 1_000).fields) == 20
