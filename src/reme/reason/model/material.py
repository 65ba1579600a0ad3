"""What a prompt is about: records, one JSON object a line, between tags that nothing in them can close.

Owns the quoting, the cutting of long texts into pieces and of long lists into windows. Knows no decision.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from reme.markdown import count_tokens

__all__ = ["Entry", "cut", "framed", "in_another_language", "is_chinese", "pieces", "record", "size", "windows"]

_PIECE: Final = 4_000
_ANGLES: Final = re.compile(r"[<>]")
_LATIN: Final = re.compile(r"[^\W\d_\u2e80-\U000323af]")
_HAN: Final = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af]")
_LETTERS_A_WORD: Final = 4
_FEWEST_TO_TELL: Final = 24
_MARGIN: Final = 1.3
"""How many more tokens there may be in JSON than in the text that the estimate was made for."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One record as it is shown, and its tokens."""

    line: str
    tokens: int


def record(**values: object) -> Entry:
    """A record. Values that are None are left out.

    Angle brackets and whatever shows nothing, which could pass for something else, are written as JSON escapes.
    """
    line = json.dumps({key: value for key, value in values.items() if value is not None}, ensure_ascii=False)
    line = _ANGLES.sub(_escape, line)
    if not line.isprintable():
        line = "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in line)
    return Entry(line, size(line))


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def framed(entries: Iterable[Entry]) -> str:
    """Records as a prompt shows them."""
    return "\n".join(["<material>", *(entry.line for entry in entries), "</material>"])


def size(text: str) -> int:
    """Tokens of a text, estimated to be rather too many than too few."""
    return int(_MARGIN * count_tokens(text)) + 1


def cut(text: str, longest: int) -> str:
    """The beginning of a text that is too long."""
    return text if len(text) <= longest else f"{text[:longest].rstrip()} …"


def pieces(text: str) -> list[str]:
    """A text in pieces that fit a prompt, cut between words where there are any."""
    found: list[str] = []
    while len(text) > _PIECE:
        end = max(text.rfind(mark, _PIECE // 2, _PIECE) for mark in ("\n", " ", "。")) + 1 or _PIECE
        found.append(text[:end])
        text = text[end:]
    return [*found, text]


def windows(entries: Sequence[Entry], room: Callable[[], int]) -> Iterable[list[Entry]]:
    """Records in order, as many at a time as there is room for; at least one.

    Args:
        room: Tells the tokens that there is room for, each time a window begins.
    """
    window: list[Entry] = []
    left = room()
    for entry in entries:
        if window and entry.tokens > left:
            yield window
            window, left = [], room()
        window.append(entry)
        left -= entry.tokens
    if window:
        yield window


def in_another_language(said: str, about: str, *, chinese: bool) -> bool:
    """Whether a text is plainly in another language than what it is about.

    Args:
        chinese: Whether that is Chinese.
    """
    if len(_LATIN.findall(said)) + len(_HAN.findall(said)) < _FEWEST_TO_TELL:
        return False
    return not _HAN.search(said) if chinese else is_chinese([said]) and not _HAN.search(about)


def is_chinese(texts: Iterable[str]) -> bool:
    """Whether texts together are in Chinese more than in letters."""
    han = letters = 0
    for text in texts:
        han += len(_HAN.findall(text))
        letters += len(_LATIN.findall(text))
    return han * _LETTERS_A_WORD > letters
