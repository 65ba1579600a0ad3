"""Contents: the bytes of a file, held where they are few, and otherwise read in pieces from wherever they lie.

Owns the two forms and what can be asked of both. Knows no vault paths and writes nothing.
"""

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from reme.errors import Conflict, InvalidInput
from reme.revision import Revision, digest, revision_of, revision_of_pieces

__all__ = [
    "LARGEST_HELD",
    "READING",
    "Content",
    "ContentChanged",
    "Large",
    "begins_with",
    "content_at",
    "content_in",
    "pieces_at",
    "pieces_of",
    "rest_of",
    "revision_of_content",
    "whole",
]

LARGEST_HELD: Final = 1 << 20
"""Bytes: the content of a larger file is not held as a whole."""

READING: Final = os.O_RDONLY | getattr(os, "O_BINARY", 0)
"""Flags for the system: a file is opened to read its bytes."""

_PIECE: Final = 1 << 20


class ContentChanged(Conflict):
    """What is read in pieces is no longer what it was when its revision was taken."""


@dataclass(frozen=True, slots=True)
class Large:
    """Bytes that are read in pieces, each time that they are needed.

    Attributes:
        revision: Theirs.
        size: How many.
        source: Begins to read them.
        name: Where they come from, for people to read.
    """

    revision: Revision
    size: int
    source: Callable[[], Iterable[bytes]] = field(compare=False, repr=False)
    name: str = field(default="", compare=False)

    def pieces(self) -> Iterator[bytes]:
        """The bytes.

        Raises:
            ContentChanged: Behind the last of them, if they are not those of this revision.
        """
        found = digest()
        for piece in self.source():
            found.update(piece)
            yield piece
        if found.hexdigest() != self.revision:
            raise ContentChanged(
                f"{self.name} changed while it was being read", hint="Try again when nobody is writing it."
            )


Content = bytes | Large


def pieces_at(place: str | Path) -> Iterator[bytes]:
    """A file's bytes, a piece at a time."""
    with open(place, "rb") as stream:
        while piece := stream.read(_PIECE):
            yield piece


def content_at(place: str | Path, name: str = "") -> Content:
    """What a file holds.

    Args:
        place: Where it is; it is read again whenever a large content is.
        name: How messages call it; its file name by default.

    Raises:
        InvalidInput: If it is large and no file, such as a pipe, which gives its bytes only once.
    """
    name = name or os.path.basename(place)
    descriptor = os.open(place, READING)
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            with open(descriptor, "rb", closefd=False) as stream:
                held = stream.read(LARGEST_HELD + 1)
            if len(held) <= LARGEST_HELD:
                return held
            raise InvalidInput(
                f"{name} is no file but a stream, and has more than {LARGEST_HELD:,} bytes",
                hint="Save it to a file first, or give it as standard input.",
            )
        if facts.st_size <= LARGEST_HELD:
            return rest_of(descriptor, facts.st_size)
    finally:
        os.close(descriptor)
    return content_in(lambda: pieces_at(place), name)


def rest_of(descriptor: int, size: int) -> bytes:
    """All that can be read from an open file, of which there were so many bytes a moment ago."""
    room = size + 1 if size else _PIECE  # some files say that they are empty and are not
    found = os.read(descriptor, room)
    while more := os.read(descriptor, room):
        found += more
    return found


def content_in(source: Callable[[], Iterator[bytes]], name: str) -> Content:
    """The bytes that a source gives: held if they are few."""
    held = bytearray()
    size, found = 0, digest()
    for piece in source():
        size += len(piece)
        found.update(piece)
        if size <= LARGEST_HELD:
            held += piece
        else:
            held.clear()
    return bytes(held) if size <= LARGEST_HELD else Large(Revision(found.hexdigest()), size, source, name)


def pieces_of(content: Content) -> Iterable[bytes]:
    """The bytes of a content, a piece at a time."""
    return content.pieces() if isinstance(content, Large) else (content,)


def revision_of_content(content: Content | None) -> Revision:
    """The revision of a content; ``ABSENT`` for None."""
    return content.revision if isinstance(content, Large) else revision_of(content)


def whole(content: Content) -> bytes:
    """The bytes of a content as a whole, for what is text and edited as such."""
    return b"".join(content.pieces()) if isinstance(content, Large) else content


def begins_with(content: Content, part: Content) -> bool:
    """Whether a content begins with the bytes of another, or is the same."""
    if not isinstance(part, Large):
        return _head(content, len(part)) == part
    size = content.size if isinstance(content, Large) else len(content)
    return part.size <= size and revision_of_pieces(_cut(pieces_of(content), part.size)) == part.revision


def _head(content: Content, size: int) -> bytes:
    return b"".join(_cut(pieces_of(content), size))


def _cut(pieces: Iterable[bytes], size: int) -> Iterator[bytes]:
    for piece in pieces:
        yield piece[:size]
        size -= len(piece)
        if size <= 0:
            return
