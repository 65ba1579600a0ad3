"""Event notes: how statements become sections."""

from datetime import date

import pytest

from reme.actions.notes import add_items
from reme.actions.statements import Item

ENGLISH = "We ship on Friday."
CHINESE = "我们周五发布。"


@pytest.mark.parametrize(
    ("texts", "heading"),
    [
        ((ENGLISH, ENGLISH, CHINESE), "## Facts"),
        ((CHINESE, ENGLISH, CHINESE), "## 事实"),
        ((CHINESE,), "## 事实"),
        ((ENGLISH,), "## Facts"),
    ],
)
def test_a_heading_is_in_the_language_of_most_statements_below_it(texts: tuple[str, ...], heading: str) -> None:
    cited = [(Item(text, "user", date(2026, 5, 15)), "[[session/dialog/a.jsonl#L1|L1]]") for text in texts]
    other = [(Item("我喜欢茶。", "user", date(2026, 5, 15)), "[[session/dialog/a.jsonl#L2|L2]]")]
    written = add_items(b"", {"fact": cited, "preference": other}).decode("utf-8")
    assert [line for line in written.splitlines() if line.startswith("## ")] == [heading, "## 偏好"]
