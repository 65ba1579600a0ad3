"""Deleting files and folders, and telling which links are left without their target.

Owns what may be deleted at once. The bytes stay in the journal until it forgets them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from reme.errors import InvalidInput, Refused
from reme.markdown import parse
from reme.paths import VaultPath
from reme.tools.changes import conflict_lines, content_expected, submit
from reme.tools.day_indexes import with_day_indexes
from reme.tools.freshness import catch_up
from reme.tools.places import Place, find_place
from reme.tools.workspace import Workspace
from reme.vault import Committed, Edit, Put, Remove, revision_of_content
from reme.wording import counted

__all__ = ["Deleted", "Inbound", "delete", "delete_text"]


@dataclass(frozen=True, slots=True)
class Inbound:
    """A link that leads to something deleted: where it stands, how it is spelled, which file it led to."""

    path: VaultPath
    line: int
    target: str
    led_to: VaultPath


@dataclass(frozen=True, slots=True)
class Deleted:
    """What was deleted, or with ``dry_run`` would be.

    Attributes:
        paths: The files.
        inbound: The links of other notes that now lead nowhere.
        left_behind: What stayed in a deleted folder, since no vault path can name it.
        run: The run to show or undo; empty where nothing was written.
        conflict_copies: Files that hold what somebody else wrote in the moment of the commit.
    """

    paths: tuple[VaultPath, ...]
    inbound: tuple[Inbound, ...]
    left_behind: tuple[str, ...]
    run: str
    conflict_copies: tuple[VaultPath, ...] = ()
    dry_run: bool = False


def delete(
    workspace: Workspace,
    path: Annotated[str, "The file or folder; .md may be left out"],
    recursive: Annotated[bool, "Delete a folder with everything in it"] = False,
    expected_revision: Annotated[str | None, "The file's revision that reading it returned"] = None,
    dry_run: Annotated[bool, "Only say what would be deleted"] = False,
) -> Deleted:
    """Delete a file, or a folder with everything in it, and tell which links now lead nowhere.

    Raises:
        NotFound: If there is nothing of that name.
        Conflict: If the file is not at the expected revision.
        Refused: If the path is outside the vault, its root or a layer's folder, a folder that is not empty and
            ``recursive`` is not given, or the role may not.
    """
    place = find_place(workspace, path)
    _check_asked(place, recursive=recursive, expected_revision=expected_revision)
    inbound: tuple[Inbound, ...] = ()

    def gather() -> list[Edit]:
        nonlocal inbound
        catch_up(workspace)
        contents = {path: content_expected(workspace, path, expected_revision) for path in place.files}
        removed = [Remove(path, revision_of_content(content)) for path, content in contents.items()]
        edits = with_day_indexes(workspace, removed)
        inbound = _inbound(workspace, place.files, edits)
        return edits

    outcome = submit(workspace, gather, reason=f"delete {place.path}", dry_run=dry_run)
    if dry_run:
        return Deleted(place.files, inbound, place.left, "", dry_run=True)
    if place.folder:
        workspace.vault.drop_empty_folders(place.path)
    run, copies = (workspace.caller.run, outcome.conflict_copies) if isinstance(outcome, Committed) else ("", ())
    return Deleted(place.files, inbound, place.left, run, copies)


def delete_text(result: Deleted) -> str:
    """What was deleted and which links lead nowhere now."""
    verb = "would delete" if result.dry_run else "deleted"
    run = f" (run {result.run})" if result.run else ""
    shown = result.paths[0] if len(result.paths) == 1 else f"{len(result.paths)} files"
    lines = [f"{verb} {shown}{run}"]
    if len(result.paths) > 1:
        lines += [f"  {path}" for path in result.paths]
    if result.inbound:
        lead = "would lead" if result.dry_run else "now leads" if len(result.inbound) == 1 else "now lead"
        lines.append(f"{counted(len(result.inbound), 'link')} {lead} nowhere:")
        lines += [f"  {link.path}:{link.line} {link.target}" for link in result.inbound]
    lines += [f"left behind: {path}" for path in result.left_behind]
    return "\n".join([*lines, *conflict_lines(result.conflict_copies)])


def _check_asked(place: Place, *, recursive: bool, expected_revision: str | None) -> None:
    if not place.folder:
        return
    if (place.files or place.left) and not recursive:
        count = len(place.files) + len(place.left)
        raise Refused(
            f"{place.path} is a folder with {counted(count, 'file')} in it",
            hint="Give `recursive` to delete it with everything in it.",
            details={"path": place.path, "files": count},
        )
    if expected_revision is not None:
        raise InvalidInput(f"{place.path} is a folder, which has no revision", hint="Leave `expected_revision` out.")


def _inbound(workspace: Workspace, paths: Sequence[VaultPath], edits: Sequence[Edit]) -> tuple[Inbound, ...]:
    """The links to what is deleted, but for those that go with it or that a day's index has no more afterwards."""
    gone = {edit.path for edit in edits if isinstance(edit, Remove)}
    left = {
        edit.path: {link.target for link in parse(whole).links}
        for edit in edits
        if isinstance(edit, Put) and isinstance(whole := edit.data, bytes)
    }
    edges = (edge for path in paths for edge in workspace.index.links_to(path) if edge.source not in gone)
    found = {
        Inbound(edge.source, edge.line, edge.raw_target, edge.target): None
        for edge in edges
        if edge.target is not None and edge.raw_target in left.get(edge.source, (edge.raw_target,))
    }
    return tuple(found)
