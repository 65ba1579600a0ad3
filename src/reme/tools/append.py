"""Appending: text at the end of a file, as a block of its own, however many do it at once.

Owns how the new block is set apart.
"""

from typing import Annotated, Final

from annotated_types import Len

from reme.errors import InvalidInput
from reme.markdown import find_frontmatter
from reme.paths import VaultPath
from reme.revision import revision_of
from reme.tools.changes import DryRun, Written, content_expected, submit, written
from reme.tools.sidecars import SIDECAR_SUFFIX, check_sidecar
from reme.tools.texts import check_editable, line_ending
from reme.tools.workspace import Workspace
from reme.vault import Amend, Append, Edit, Large, Put, Vault

__all__ = ["append", "appended"]

_LAST_PART: Final = 1 << 20
"""Bytes: in the last so many of a large file its line ending is looked for."""


def append(
    workspace: Workspace,
    path: Annotated[str, "The existing note or text file; .md may be left out"],
    content: Annotated[str, "What to add", Len(1)],
    expected_revision: Annotated[str | None, "The revision that reading it returned; not needed for appending"] = None,
    dry_run: DryRun = False,
) -> Written:
    """Add text at the end of an existing note, one blank line after what is there; simultaneous appends all land.

    What is there stays byte for byte, however large. The addition gets the file's own line ending and ends with one.

    Raises:
        NotFound: If there is no such file.
        Conflict: If it is not at the expected revision.
        Refused: If it is not in UTF-8.
        InvalidInput: If there is nothing to add, it would close frontmatter that is left open, or a resource's sidecar
            would no longer be a list of entries.
    """
    if not content.strip():
        raise InvalidInput("there is nothing to append", hint="Give some text as `content`.")
    vault = workspace.vault
    target = vault.find(path)

    def gather() -> list[Edit]:
        before = content_expected(workspace, target, expected_revision)
        check_editable(target, before)
        if isinstance(before, Large):
            return [Append(target, _addition(_end(vault, target, before.size), content), before.size)]
        if target.endswith(SIDECAR_SUFFIX) and vault.layer_of(target) == "resource":
            data = appended(target, before, content)
            check_sidecar(target, data)
            return [Append(target, data[len(before) :], len(before))]
        if expected_revision is not None:
            return [Put(target, appended(target, before, content), revision_of(before))]
        return [Amend(target, lambda data: appended(target, data or b"", content))]

    outcome = submit(workspace, gather, reason=f"append to {target}", dry_run=dry_run)
    return written(workspace, target, outcome, existed=True, dry_run=dry_run)


def appended(path: VaultPath, data: bytes, content: str) -> bytes:
    """These bytes with a text behind them that is a block of its own.

    Args:
        path: The file's, to be named in an error.
        data: Its bytes, kept as a prefix.
        content: What to add; blank lines around it do not count.

    Raises:
        InvalidInput: If it would make what is there frontmatter, which begins as such and is not closed.
    """
    result = data + _addition(data, content)
    comes = find_frontmatter(result)
    if comes and comes[0].start < len(data) and not find_frontmatter(data):
        raise InvalidInput(
            f"{path} begins with a line --- that nothing closes: the addition would, and make frontmatter of it",
            hint="Add the text without its line ---, or edit the file's first line.",
            details={"path": path},
        )
    return result


def _addition(data: bytes, content: str) -> bytes:
    """The text as it is put behind these bytes."""
    ending = line_ending(data)
    lines = content.replace("\r\n", "\n").strip("\n").split("\n")
    return _gap(data, ending) + ending.join(line.encode("utf-8") for line in lines) + ending


def _end(vault: Vault, path: VaultPath, size: int) -> bytes:
    """The last part of a large file."""
    with vault.open(path) as stream:
        stream.seek(max(size - _LAST_PART, 0))
        return stream.read(_LAST_PART)


def _gap(data: bytes, ending: bytes) -> bytes:
    """What lacks to one blank line."""
    if not data.removeprefix(b"\xef\xbb\xbf").strip():
        return b""
    gap = b"" if data.endswith(b"\n") else ending
    last_is_blank = data.removesuffix(b"\n").removesuffix(b"\r").rstrip(b" \t")[-1:] in (b"", b"\n")
    return gap if last_is_blank else gap + ending
