"""What the tools that read and edit text have in common: which bytes they may touch, how much of a file they hold, and
how lines end.

Writes nothing.
"""

import codecs
from typing import Final

from reme.errors import Refused
from reme.markdown import parse_head
from reme.paths import VaultPath, is_markdown
from reme.revision import revision_of
from reme.vault import Content, File, Vault, pieces_of

__all__ = [
    "LARGEST_PARSED",
    "check_editable",
    "check_frontmatter_kept",
    "check_size",
    "is_parsed_whole",
    "line_ending",
    "parsed_part",
]

LARGEST_PARSED: Final = 20_000_000
"""Bytes: of a larger file no more than the beginning is parsed, and it is not edited in place but for appending."""

_FIRST_PART: Final = 4_000_000


def is_parsed_whole(vault: Vault, path: VaultPath) -> bool:
    """Whether a file is small enough to be held and parsed; so is one that is gone."""
    facts = vault.stat(path)
    return facts is None or facts.size <= LARGEST_PARSED


def parsed_part(vault: Vault, path: VaultPath) -> File | None:
    """A file to be parsed: all of it, or of a larger one its first lines, with the revision of the whole.

    Returns:
        None if there is no such file.
    """
    content = vault.content_of(path, LARGEST_PARSED)
    if content is None:
        return None
    if isinstance(content, bytes):
        return File(path, content, revision_of(content))
    with vault.open(path) as stream:
        first = stream.read(_FIRST_PART)
    return File(path, first[: first.rfind(b"\n") + 1] or first, content.revision)


def check_size(vault: Vault, path: VaultPath) -> None:
    """Make sure that a file that is there is small enough to be edited in place.

    Raises:
        Refused: If it is not.
    """
    facts = vault.stat(path)
    if facts is not None and facts.size > LARGEST_PARSED:
        raise Refused(
            f"{path} has {facts.size:,} bytes, and a file of more than {LARGEST_PARSED:,} is not edited in place",
            hint="Add to it with append, or write another in its place; both take files of any size.",
            details={"path": path, "rule": "size", "size": facts.size, "limit": LARGEST_PARSED},
        )


def check_editable(path: VaultPath, content: Content) -> None:
    """Make sure that what a file holds is text in UTF-8: others are never edited in place.

    Raises:
        Refused: If it is not.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    read = 0
    try:
        for piece in pieces_of(content):
            decoder.decode(piece)
            read += len(piece)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        where = f" (byte {read + error.start})" if isinstance(content, bytes) else ""
        raise Refused(
            f"{path} is not in UTF-8{where}, so it is not edited in place",
            hint="Convert it to UTF-8 with a program that knows its encoding; what reading shows of it is a guess.",
            details={"path": path, "rule": "encoding"},
        ) from error


def line_ending(data: bytes, at: int | None = None) -> bytes:
    """How lines end around a place of a text, its end by default: as the next line does, or the one before, or LF."""
    start = len(data) if at is None else at
    after = data.find(b"\n", start)
    newline = after if after >= 0 else data.rfind(b"\n", 0, start)
    return b"\r\n" if newline > 0 and data[newline - 1 : newline] == b"\r" else b"\n"


def check_frontmatter_kept(before: File, after: bytes, whole_block_replaced: bool) -> None:
    """Make sure that an edit does not leave a frontmatter that nobody can read.

    Args:
        before: The file before the edit.
        after: Its bytes after it.
        whole_block_replaced: Whether the edit covers the frontmatter block as a whole, so that it may vanish.

    Raises:
        Refused: If the frontmatter could be read, or was not there, and is now unreadable or cut open.
    """
    if not is_markdown(before.path):
        return
    old, new = parse_head(before.data).frontmatter, parse_head(after).frontmatter
    if old is not None and not old.valid:
        return
    broken = new is not None and not new.valid
    lost = old is not None and new is None and not whole_block_replaced
    if broken or lost:
        raise Refused(
            f"{before.path} is not changed: its frontmatter could not be read any more",
            hint="Set properties with frontmatter_update, or keep the text between the --- lines valid YAML.",
            details={"path": before.path, "rule": "frontmatter"},
        )
