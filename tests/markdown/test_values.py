"""What the values of Dataview fields are."""

import pytest

from reme.markdown import field_value, number_text, parse


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("4.50", 4.5),
        ("-3", -3),
        ("true", True),
        ("False", False),
        ("", None),
        ("null", None),
        ('"quoted, \\"text\\""', 'quoted, "text"'),
        ("2026-06-01", "2026-06-01"),
        ("2026-06-01T10:00", "2026-06-01T10:00"),
        ("7 hours", "7 hours"),
        ("[[Ann]]", "[[Ann]]"),
        ("[[安]], [[Ben|b, c]]", ["[[安]]", "[[Ben|b, c]]"]),
        ('1, 2.5, "三", true, null', [1, 2.5, "三", True, None]),
        ("2026-06-01, #tag, [[a]]", ["2026-06-01", "#tag", "[[a]]"]),
        ("1, 2, three", "1, 2, three"),
        ("Tea, 茶", "Tea, 茶"),
        ("3 USD", "3 USD"),
        ("1,", "1,"),
        ("1.2.3", "1.2.3"),
        ('"open', '"open'),
        ("yes", "yes"),
    ],
)
def test_a_value_is_what_it_is_written_as(written: str, value: object) -> None:
    assert repr(field_value(written)) == repr(value)


def test_fields_of_every_form() -> None:
    note = parse("评分:: 4.50\n- done:: true\n\nby [who:: [[Ann]]], (cost:: 3 USD)\n- [ ] t [n:: 1, 2]\n".encode())
    assert {field.key: field_value(field.value) for field in note.fields} == {
        "评分": 4.5,
        "done": True,
        "who": "[[Ann]]",
        "cost": "3 USD",
        "n": [1, 2],
    }


@pytest.mark.parametrize(
    ("text", "number"),
    [("4.50", "4.5"), ("3.0", "3"), ("007", "7"), ("1e3", "1000"), ("三", "三"), ("1.2.3", "1.2.3"), ("", "")],
)
def test_numbers_are_compared_by_value(text: str, number: str) -> None:
    assert number_text(text) == number


def test_a_long_value_takes_linear_time() -> None:
    assert field_value('"a", ' * 100_000 + "b").endswith("b")  # type: ignore[union-attr]
    assert field_value('"' * 300_001) == '"' * 300_001
