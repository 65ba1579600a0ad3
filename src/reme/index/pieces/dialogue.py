"""Dialogues: a JSON object a line, each one turn."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final, cast

from reme.index.pieces.data import unescaped
from reme.index.pieces.packing import Piece, Size, cut_part
from reme.markdown import count_tokens

__all__ = ["dialogue_pieces", "iso_date"]

_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_UNSAID: Final = frozenset({"id", "role", "speaker", "name", "at", "timestamp", "date", "type"})


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


def dialogue_pieces(data: bytes, size: Size | None = None) -> Iterator[Piece]:
    """One piece a turn, more for one that is longer than the limit.

    A turn is a JSON object on a line of its own with the text said (``text`` or ``content``), who said it (``speaker``,
    ``name`` or ``role``) and when (``at``). Another object is found by all that it holds; so is a line that is none,
    which is complained of.

    Args:
        data: The file, or some of its lines.
        size: How large pieces are; None for whole turns whatever their length.
    """
    start = 0
    for number, end in enumerate(_line_ends(data), 1):
        raw = data[start:end].rstrip(b"\r\n")
        if raw.strip():
            piece = _turn_piece(raw, start, number)
            if size is None or count_tokens(piece.words or "") <= size.limit:
                yield piece
            else:
                yield from _cut_turn(data, piece, size)
        start = end


def _turn_piece(raw: bytes, start: int, number: int) -> Piece:
    turn = _loaded(raw)
    end = start + len(raw)
    if turn is None:
        text = raw.decode("utf-8", "replace")
        return Piece(start, end, number, number, words=text, complaint=f"line {number} is not a JSON object")
    speaker = turn.get("speaker") or turn.get("name") or turn.get("role")
    when = turn.get("at") or turn.get("timestamp") or turn.get("date")
    who, date = str(speaker) if speaker else None, iso_date(when) if when else None
    saying = next((key for key in ("text", "content") if key in turn), None)
    if saying is None:
        return Piece(start, end, number, number, who, date, unescaped(raw.decode("utf-8", "replace")))
    said = turn.pop(saying)
    said = str(said) if isinstance(said, int | float) else " ".join(_strings(said))
    further = " ".join(word for key, value in turn.items() if key not in _UNSAID for word in _strings(value))
    return Piece(start, end, number, number, who, date, f"{said} {further}")


def _cut_turn(data: bytes, turn: Piece, size: Size) -> Iterator[Piece]:
    for part in cut_part(data, turn.start, turn.end, (), size.target):
        words = unescaped(part.words)
        yield Piece(part.start, part.end, turn.line, turn.end_line, turn.speaker, turn.date, words, turn.complaint)


def _loaded(raw: bytes) -> dict[str, Any] | None:
    try:
        loaded: object = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", loaded) if isinstance(loaded, dict) else None


def _strings(value: object) -> Iterator[str]:
    """The texts in a value, in order, however deep they lie."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            waiting += reversed(cast("list[object]", value))
        elif isinstance(value, dict):
            waiting += reversed(cast("dict[str, object]", value).values())


def _line_ends(data: bytes) -> Iterator[int]:
    position = 0
    while position < len(data):
        found = data.find(b"\n", position)
        position = len(data) if found < 0 else found + 1
        yield position
