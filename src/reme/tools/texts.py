"""What the tools that edit text in place have in common: which bytes they may touch and how lines end there.

Pure but for its errors.
"""

from reme.errors import Refused
from reme.markdown import parse
from reme.paths import is_markdown
from reme.vault import File

__all__ = ["check_editable", "check_frontmatter_kept", "line_ending"]


def check_editable(file: File) -> None:
    """Make sure that a file is text in UTF-8: others are never edited in place.

    Raises:
        Refused: If it is not.
    """
    try:
        file.data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Refused(
            f"{file.path} is not in UTF-8 (byte {error.start}), so it is not edited in place",
            hint="Convert it to UTF-8 with a program that knows its encoding; what reading shows of it is a guess.",
            details={"path": file.path, "rule": "encoding"},
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
    old, new = parse(before.data).frontmatter, parse(after).frontmatter
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
