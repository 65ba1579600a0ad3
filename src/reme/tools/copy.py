"""Copying files and folders: the same bytes under another path, links as they are.

Owns nothing else.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated

from reme.errors import InvalidInput, NotFound
from reme.paths import VaultPath
from reme.revision import ABSENT, Revision
from reme.tools.changes import DryRun, conflict_lines, content_expected, submit, written
from reme.tools.daily import with_promotion
from reme.tools.day_indexes import with_day_indexes
from reme.tools.places import Place, check_new, file_target, find_place, folder_target
from reme.tools.workspace import Workspace
from reme.vault import Committed, Edit, Put

__all__ = ["Copied", "CopiedFile", "copy", "copy_text"]


@dataclass(frozen=True, slots=True)
class CopiedFile:
    """A file's path, its copy's, and the copy's revision."""

    source: VaultPath
    target: VaultPath
    revision: Revision


@dataclass(frozen=True, slots=True)
class Copied:
    """What a copy did, or with ``dry_run`` would do.

    Attributes:
        files: The files that were copied.
        left_behind: What of a folder was not, since no vault path can name it.
        run: The run to show or undo; empty where nothing was written.
        conflict_copies: Files that hold what somebody else wrote in the moment of the commit.
    """

    files: tuple[CopiedFile, ...]
    left_behind: tuple[str, ...]
    run: str
    conflict_copies: tuple[VaultPath, ...] = ()
    dry_run: bool = False


def copy(
    workspace: Workspace,
    source: Annotated[str, "The file or folder; .md may be left out"],
    target: Annotated[str, "Its copy's path, which must be free; an existing folder takes it in under its name"],
    expected_revision: Annotated[str | None, "The revision of the source file that reading it returned"] = None,
    dry_run: DryRun = False,
) -> Copied:
    """Copy a file or a folder to a path that is free; links stay as they are.

    Raises:
        NotFound: If there is nothing of that name.
        Conflict: If the target exists, or the source is not at the expected revision.
        Refused: If either end is outside the vault, the source is a layer's folder, or the role may not.
        InvalidInput: If a folder would be copied into itself.
    """
    place = find_place(workspace, source)
    if place.folder and expected_revision is not None:
        raise InvalidInput(f"{place.path} is a folder, which has no revision", hint="Leave `expected_revision` out.")
    targets = _targets(workspace, place, target)

    def gather() -> list[Edit]:
        for to in targets.values():
            check_new(workspace, to)
        made = [Put(to, content_expected(workspace, path, expected_revision), ABSENT) for path, to in targets.items()]
        return with_day_indexes(workspace, made)

    outcome = submit(workspace, gather, reason=f"copy {place.path} to {target}", dry_run=dry_run)
    copies = outcome.conflict_copies if isinstance(outcome, Committed) else ()
    files = [CopiedFile(path, to, outcome.revisions[to]) for path, to in targets.items()]
    if not place.folder:
        made = with_promotion(workspace, written(workspace, files[0].target, outcome, existed=False, dry_run=dry_run))
        files = [replace(files[0], revision=made.revision)]
    return Copied(tuple(files), place.left, "" if dry_run else workspace.caller.run, copies, dry_run)


def copy_text(result: Copied) -> str:
    """One line a file."""
    verb = "would copy" if result.dry_run else "copied"
    lines = [f"{verb} {file.source} to {file.target}" for file in result.files]
    lines[0] += f" (revision {result.files[0].revision}" if len(lines) == 1 else f" ({len(lines)} files"
    lines[0] += f", run {result.run})" if result.run else ")"
    lines += [f"left behind: {path}" for path in result.left_behind]
    return "\n".join([*lines, *conflict_lines(result.conflict_copies)])


def _targets(workspace: Workspace, place: Place, target: str) -> Mapping[VaultPath, VaultPath]:
    if not place.folder:
        return {place.path: file_target(workspace, place.path, target)}
    if not place.files:
        raise NotFound(f"there is no file in {place.path} to copy", details={"path": place.path})
    folder = folder_target(workspace, place.path, target)
    return {path: VaultPath(folder + path[len(place.path) :]) for path in place.files}
