"""What a model wrote, as it may stand in a note: one line, without marks of its own.

Owns the cleaning. No word is changed: marks of Markdown go, and so does what would make a block of a statement.
"""

import re
from datetime import date
from typing import Final

from reme.markdown import words

__all__ = ["as_date", "as_predicate", "heading", "statement"]

_FENCED: Final = re.compile(r"(`{3,}|~{3,})(?:[^\n`]*\n)?(?P<code>.*?)\s*\1", re.DOTALL)
_FENCE: Final = re.compile(r"`{3,}|~{3,}")
_DATE: Final = re.compile(r"[0-9]{4}(?:-[0-9]{2}){0,2}")
_LONGEST_HEADING: Final = 300


def statement(text: str) -> str:
    """A statement on one line; code in a fence becomes code in the line."""
    inline = _FENCED.sub(lambda match: f"`{match['code'].strip()}`", text)
    return words(_FENCE.sub(" ", inline))


def heading(text: str) -> str:
    """A name or a description on one line, not longer than one is."""
    line = statement(text)
    return line if len(line) <= _LONGEST_HEADING else f"{line[:_LONGEST_HEADING].rstrip()} …"


def as_date(about: str) -> str:
    """A date, month or year that there is; else empty."""
    about = about.strip()
    if not _DATE.fullmatch(about):
        return ""
    try:
        date.fromisoformat(f"{about}-01-01"[:10])
    except ValueError:
        return ""
    return about


def as_predicate(words_of_it: str) -> str:
    """A predicate as an identifier."""
    return re.sub(r"[\s-]+", "_", words_of_it.strip()).lower()
