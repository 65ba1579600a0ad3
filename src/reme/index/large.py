"""Files too large to hold: read window by window, each ending with a line.

Owns where a window ends and how its bytes become UTF-8. Knows nothing of what is in it.
"""

import codecs
from collections.abc import Iterable, Iterator
from typing import Final

__all__ = ["WINDOW_BYTES", "transcoded", "windows"]

WINDOW_BYTES: Final = 4_000_000


def windows(pieces: Iterable[bytes], size: int = WINDOW_BYTES) -> Iterator[bytes]:
    """The same bytes in windows of at most ``size``: whole lines, or whole characters where a line is longer."""
    held = b""
    for piece in pieces:
        held += piece
        while len(held) > size:
            end = held.rfind(b"\n", 0, size) + 1 or _character_start(held, size)
            yield held[:end]
            held = held[end:]
    if held:
        yield held


def transcoded(pieces: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """Bytes of some encoding as UTF-8; what is no character of it is replaced."""
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    for piece in pieces:
        yield decoder.decode(piece).encode("utf-8", "replace")
    yield decoder.decode(b"", final=True).encode("utf-8", "replace")


def _character_start(data: bytes, position: int) -> int:
    while position > 1 and data[position] & 0xC0 == 0x80:
        position -= 1
    return position
