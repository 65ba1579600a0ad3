"""Text that is wrapped to a width: sentences are read to their ends, and lines that are meant stay lines."""

from datetime import date

import pytest

from reme.actions.statements import source_lines
from reme.markdown import parse, words
from reme.reason.offline.sentences import split


def told(text: str) -> list[str]:
    return [part.text for part in split(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "The heron servers must never be restarted on Friday, and the nightly\nbackup must not be stopped unless "
            "Dr.\n"
            "Weber approves it in writing. Never delete the bucket heron-eu\nbefore 1 March 2027.",
            [
                "The heron servers must never be restarted on Friday, and the nightly backup must not be stopped "
                "unless Dr. Weber approves it in writing.",
                "Never delete the bucket heron-eu before 1 March 2027.",
            ],
        ),
        ("备份服务器在\n三楼，负责人是王芳。", ["备份服务器在三楼，负责人是王芳。"]),
        ("密钥每年轮换一次，\n不得在周五进行", ["密钥每年轮换一次，不得在周五进行"]),
        ("我们用\nPostgres 存数据，不用\nRedis。", None),
    ],
)
def test_soft_breaks_are_joined(text: str, expected: list[str] | None) -> None:
    found = told(text)
    if expected is not None:
        assert found == expected
    assert all(words(sentence) in words(text) for sentence in found)


@pytest.mark.parametrize(
    "lines",
    [
        ["I moved to Lisbon", "My sister came too", "We like it"],
        ["i moved to lisbon", "my sister came too"],
        ["我搬到里斯本了", "妹妹也来了", "我们都喜欢"],
        ["Shopping for Sunday", "Milk and bread", "Two lemons"],
    ],
)
def test_lines_that_are_sentences_without_punctuation_stay(lines: list[str]) -> None:
    assert told("\n".join(lines)) == lines


def test_hard_structure_stays() -> None:
    text = "Rotate the signing keys\n\nbefore the audit.\n- Ask Maria first\n"
    text += "- then tell Ana.\n1. Stop the job.\n2. Start it."
    assert told(text) == [
        "Rotate the signing keys",
        "before the audit.",
        "Ask Maria first",
        "then tell Ana.",
        "Stop the job.",
        "Start it.",
    ]
    assert told("The address is Quay 7,  \nLisbon.") == ["The address is Quay 7,", "Lisbon."]


DOCUMENT = """\
# Heron

Heron signs every token with a key that the platform team keeps. The key
must never be copied to a laptop, unless Dr.
Weber approves it in writing. Tokens live 15 minutes.

- **Clock skew.** Two hosts drift up to four
  seconds; the library allows five.

备份服务器放在三楼的机房里，负责人是王芳，她每周五
检查一次。没有她的同意，任何人不得
关闭它。
"""


def test_a_source_states_whole_sentences_each_at_the_line_where_it_begins() -> None:
    lines = [(line.number, line.text) for line in source_lines(parse(DOCUMENT.encode()), date(2026, 5, 1))]
    assert lines == [
        (
            3,
            "Heron signs every token with a key that the platform team keeps. The key must never be copied to a "
            "laptop, unless Dr. Weber approves it in writing.",
        ),
        (5, "Tokens live 15 minutes."),
        (7, "**Clock skew.** Two hosts drift up to four seconds; the library allows five."),
        (10, "备份服务器放在三楼的机房里，负责人是王芳，她每周五检查一次。"),
        (11, "没有她的同意，任何人不得关闭它。"),
    ]
    assert all(words(text) in words(DOCUMENT) for _, text in lines)
