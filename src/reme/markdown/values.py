"""What the value of a Dataview field is: a text, a number, a truth value, nothing, or a list of such.

Owns the reading. Source: Dataview's documentation of the types of its fields. Dates, durations, links and tags are
texts as they are written, as in frontmatter; texts are in a list only where they are in quotes.
"""

import re
from typing import Final

from reme.markdown.yaml12 import scalar_value

__all__ = ["field_value", "number_text"]

Scalar = str | int | float | bool | None

_ITEM: Final = re.compile(
    r"""\s*(?:
      "(?P<quoted>(?:[^"\\]|\\.)*)"
      | (?P<number>-?\d+(?:\.\d+)?)
      | (?P<word>[Tt]rue|[Ff]alse|null)
      | (?P<written>!?\[\[[^\[\]]*\]\]|\d{4}-\d\d(?:-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?)?|\#[^\s,;"]+)
    )\s*(?:(?P<more>,)|\Z)""",
    re.VERBOSE | re.ASCII,
)
_ESCAPED: Final = re.compile(r"\\([\"\\])")


def field_value(text: str) -> Scalar | list[Scalar]:
    """What a field's value as it is written stands for.

    Args:
        text: As ``Field.value`` has it. What cannot be read as numbers, truth values, links, dates, tags and quoted
            texts with commas between them is one text.
    """
    if not text.strip():
        return None
    items: list[Scalar] = []
    at = 0
    while match := _ITEM.match(text, at):
        items.append(_item(match))
        if not match["more"]:
            return items if len(items) > 1 else items[0]
        at = match.end()
    return text.strip()


def number_text(text: str) -> str:
    """A number as it is written with the fewest digits, so that 4.50 is 4.5 and 3.0 is 3; any other text as it is."""
    value = scalar_value(text) if text else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return text
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _item(match: re.Match[str]) -> Scalar:
    if (quoted := match["quoted"]) is not None:
        return _ESCAPED.sub(r"\1", quoted)
    if (plain := match["number"] or match["word"]) is not None:
        return scalar_value(plain)
    return match["written"]
