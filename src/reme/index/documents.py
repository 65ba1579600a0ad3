"""Files that are not Markdown, cut into pieces: dialogues turn by turn, other text by its lines.

Owns how such files are read. Knows nothing of tokens or stores.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, cast

__all__ = ["Piece", "dialogue_pieces", "iso_date", "text_pieces"]

_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_UNSAID: Final = frozenset({"id", "role", "speaker", "name", "at", "timestamp", "date", "type", "text", "content"})
_DEEPEST: Final = 4


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a file: an exact range of its bytes with its lines.

    Attributes:
        words: What it is found by, where that is not its text.
        complaint: What is wrong with it, or empty.
    """

    start: int
    end: int
    line: int
    end_line: int
    speaker: str | None = None
    date: str | None = None
    words: str | None = None
    complaint: str = ""


def iso_date(value: object) -> str | None:
    """The calendar date at the head of a date or a timestamp, or None."""
    from datetime import date

    text = str(value)
    if (match := _DATE.match(text)) is None:
        return None
    try:
        return date.fromisoformat(match[0]).isoformat()
    except ValueError:
        return None


def text_pieces(data: bytes, target: int) -> Iterator[Piece]:
    """Whole lines up to about ``target`` bytes a piece; a longer line is cut, never inside a character."""
    start = line = 0
    first = 0
    position = 0
    for line, end in enumerate(_line_ends(data)):
        if end - start > target and position > start:
            if data[start:position].strip():
                yield Piece(start, position, first + 1, line)
            start, first = position, line
        while end - start > 2 * target:
            cut = _character_start(data, start + target)
            if data[start:cut].strip():
                yield Piece(start, cut, first + 1, line + 1)
            start, first = cut, line
        position = end
    if data[start:position].strip():
        yield Piece(start, position, first + 1, line + 1)


def dialogue_pieces(data: bytes) -> Iterator[Piece]:
    """One piece a turn.

    A turn is a JSON object on a line of its own with the text said (``text`` or ``content``), who said it (``speaker``
    or ``role``) and when (``at``). A line that is none is still found by what it holds, and complained of.
    """
    start = 0
    for number, end in enumerate(_line_ends(data), 1):
        raw = data[start:end].rstrip(b"\r\n")
        if raw.strip():
            if (turn := _turn(raw)) is None:
                complaint = f"line {number} is not a JSON object"
                yield Piece(start, start + len(raw), number, number, complaint=complaint)
            else:
                said, speaker, date = turn
                yield Piece(start, start + len(raw), number, number, speaker, date, said)
        start = end


def _turn(raw: bytes) -> tuple[str, str | None, str | None] | None:
    try:
        loaded: object = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    if not isinstance(loaded, dict):
        return None
    turn = cast("dict[str, Any]", loaded)
    said = " ".join(_strings(turn.get("text", turn.get("content", ""))))
    further = " ".join(word for key, value in turn.items() if key not in _UNSAID for word in _strings(value))
    speaker = turn.get("speaker") or turn.get("role")
    when = turn.get("at") or turn.get("timestamp") or turn.get("date")
    return f"{said} {further}", str(speaker) if speaker else None, iso_date(when) if when else None


def _strings(value: object, depth: int = _DEEPEST) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth and isinstance(value, list):
        for item in cast("list[object]", value):
            yield from _strings(item, depth - 1)
    elif depth and isinstance(value, dict):
        for item in cast("dict[str, object]", value).values():
            yield from _strings(item, depth - 1)


def _line_ends(data: bytes) -> Iterator[int]:
    position = 0
    while position < len(data):
        found = data.find(b"\n", position)
        position = len(data) if found < 0 else found + 1
        yield position


def _character_start(data: bytes, position: int) -> int:
    while position > 0 and data[position] & 0xC0 == 0x80:
        position -= 1
    return position
