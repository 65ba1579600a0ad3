"""Appending: text at the end of a file, as a block of its own, however many do it at once.

Owns how the new block is set apart.
"""

import re
from typing import Annotated, Final

from annotated_types import Len

from reme.errors import InvalidInput
from reme.tools.changes import DryRun, Written, read_expected, submit, written
from reme.tools.sidecars import SIDECAR_SUFFIX, check_sidecar
from reme.tools.texts import check_editable, line_ending
from reme.tools.workspace import Workspace
from reme.vault import Amend, Append, Edit, Put

__all__ = ["append", "appended"]

_BLANK_LINE: Final = re.compile(rb"(?:^|\n)[ \t]*\r?\n[ \t]*\Z")


def append(
    workspace: Workspace,
    path: Annotated[str, "The existing note or text file; .md may be left out"],
    content: Annotated[str, "What to add", Len(1)],
    expected_revision: Annotated[str | None, "The revision that reading it returned; not needed for appending"] = None,
    dry_run: DryRun = False,
) -> Written:
    """Add text at the end of an existing note, one blank line after what is there; simultaneous appends all land.

    What is there stays byte for byte. The addition gets the file's own line ending and ends with one.

    Raises:
        NotFound: If there is no such file.
        Conflict: If it is not at the expected revision.
        Refused: If it is not in UTF-8.
        InvalidInput: If there is nothing to add, or a resource's sidecar would no longer be a list of entries.
    """
    if not content.strip():
        raise InvalidInput("there is nothing to append", hint="Give some text as `content`.")
    vault = workspace.vault
    target = vault.find(path)

    def gather() -> list[Edit]:
        file = read_expected(workspace, target, expected_revision)
        check_editable(file)
        if target.endswith(SIDECAR_SUFFIX) and vault.layer_of(target) == "resource":
            data = appended(file.data, content)
            check_sidecar(target, data)
            return [Append(target, data[len(file.data) :], len(file.data))]
        if expected_revision is not None:
            return [Put(target, appended(file.data, content), file.revision)]
        return [Amend(target, lambda data: appended(data or b"", content))]

    outcome = submit(workspace, gather, reason=f"append to {target}", dry_run=dry_run)
    return written(workspace, target, outcome, existed=True, dry_run=dry_run)


def appended(data: bytes, content: str) -> bytes:
    """These bytes with a text behind them that is a block of its own.

    Args:
        data: A file's bytes, kept as a prefix.
        content: What to add; blank lines around it do not count.
    """
    ending = line_ending(data)
    lines = content.replace("\r\n", "\n").strip("\n").split("\n")
    addition = ending.join(line.encode("utf-8") for line in lines) + ending
    return data + _gap(data, ending) + addition


def _gap(data: bytes, ending: bytes) -> bytes:
    """What lacks to one blank line."""
    if not data.removeprefix(b"\xef\xbb\xbf").strip():
        return b""
    gap = b"" if data.endswith(b"\n") else ending
    return gap if _BLANK_LINE.search(data + gap) else gap + ending
