"""How a tool's edits become a change set: gathered under the vault's lock, committed, gathered again if need be.

Owns the retry and the errors that a caller sees. Knows nothing of what any one tool does.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from reme.errors import Conflict, NotFound
from reme.paths import VaultPath
from reme.revision import ABSENT, Revision
from reme.tools.kept_links import with_links_kept
from reme.tools.texts import check_editable, check_size
from reme.tools.workspace import Workspace
from reme.vault import (
    ChangeSet,
    Committed,
    Conflicted,
    Content,
    ContentChanged,
    Edit,
    File,
    Move,
    Put,
    Remove,
    Unchanged,
    check,
    commit,
    locked,
    revision_of_content,
)

__all__ = [
    "DryRun",
    "Written",
    "conflict_lines",
    "content_expected",
    "read_expected",
    "revision_conflict",
    "submit",
    "written",
    "written_text",
]

_ATTEMPTS = 3
_WOULD: Final = {"created": "would create", "changed": "would change", "unchanged": "would leave as it is"}


@dataclass(frozen=True, slots=True)
class Written:
    """What became of one file.

    Attributes:
        path: The file's path.
        revision: What to give as ``expected_revision`` next.
        outcome: Whether it was made, changed, or was like that already.
        run: The run to show or undo; empty where nothing was written.
        conflict_copies: Files that hold what somebody else wrote in the moment of the commit.
        dry_run: Whether this only says what would become of it.
    """

    path: VaultPath
    revision: Revision
    outcome: Literal["created", "changed", "unchanged"]
    run: str
    conflict_copies: tuple[VaultPath, ...] = ()
    dry_run: bool = False


DryRun = Annotated[bool, "Only say what would be done"]
"""The parameter of every tool that writes."""


def submit(
    workspace: Workspace, gather: Callable[[], Sequence[Edit]], *, reason: str, dry_run: bool = False
) -> Committed | Unchanged:
    """Commit what ``gather`` finds to be done, and what keeps links from following names that this brings.

    Gathering and commit happen under one hold of the vault's lock, so that no other ReMe process can come between
    them; where another program did, everything is gathered again, three times at most.

    Args:
        workspace: Whose caller's role, actor and run the change set carries.
        gather: Reads the vault as it is and returns the edits; raises if what the caller expected does not hold.
        reason: One line for the journal.
        dry_run: Whether to write nothing and only tell what it would come to.

    Raises:
        Conflict: If a path kept changing, naming it, the revision that was read and the one that was found.
        Refused: By policy or a law.
    """
    for attempt in range(1, _ATTEMPTS + 1):
        with locked(workspace.vault):
            edits = tuple(with_links_kept(workspace, gather()))
            if not edits:
                return Unchanged({})
            caller = workspace.caller
            change_set = ChangeSet(edits, role=caller.role, actor=caller.actor, reason=reason, run=caller.run)
            try:
                outcome = (check if dry_run else commit)(workspace.vault, change_set)
            except ContentChanged:
                if attempt == _ATTEMPTS:
                    raise
                continue
        if not isinstance(outcome, Conflicted):
            return outcome
        if attempt == _ATTEMPTS:
            raise _conflict(edits, outcome)
    raise AssertionError("unreachable")


def read_expected(workspace: Workspace, path: VaultPath, expected: str | None) -> File:
    """Read a file that is to be edited in place and must have the expected revision, if one is given.

    Raises:
        NotFound: If it is gone.
        Conflict: If it has another revision.
        Refused: If it is too large, or not in UTF-8.
    """
    check_size(workspace.vault, path)
    file = workspace.vault.read(path)
    if expected is not None and expected != file.revision:
        raise revision_conflict(path, expected, file.revision)
    check_editable(path, file.data)
    return file


def content_expected(workspace: Workspace, path: VaultPath, expected: str | None) -> Content:
    """The content of a file that must have the expected revision, if one is given; a large one is not held.

    Raises:
        NotFound: If it is gone.
        Conflict: If it has another revision.
    """
    content = workspace.vault.content_of(path)
    if content is None:
        raise NotFound(f"there is no file {path}", hint="See what is there with: `list`", details={"path": path})
    if expected is not None and expected != (found := revision_of_content(content)):
        raise revision_conflict(path, expected, found)
    return content


def revision_conflict(path: VaultPath, expected: str, actual: str) -> Conflict:
    """The error for a file that is not as the caller last saw it."""
    state = "does not exist" if actual == ABSENT else f"is at revision {actual}"
    return Conflict(
        f"{path} {state}, not at {expected}",
        hint="Read it again, look at what changed, and repeat with the revision that the read returned.",
        details={"path": path, "expected_revision": expected, "actual_revision": actual},
    )


def written(
    workspace: Workspace, path: VaultPath, outcome: Committed | Unchanged, *, existed: bool, dry_run: bool = False
) -> Written:
    """The result for one file of a change set that went through."""
    revision = outcome.revisions[path]
    if isinstance(outcome, Unchanged):
        return Written(path, revision, "unchanged", "", dry_run=dry_run)
    run = "" if dry_run else workspace.caller.run
    return Written(path, revision, "changed" if existed else "created", run, outcome.conflict_copies, dry_run)


def written_text(result: Written) -> str:
    """One line for a write's result."""
    run = f", run {result.run}" if result.run else ""
    outcome = _WOULD[result.outcome] if result.dry_run else result.outcome
    first = f"{outcome} {result.path} (revision {result.revision}{run})"
    return "\n".join([first, *conflict_lines(result.conflict_copies)])


def conflict_lines(copies: Sequence[VaultPath]) -> list[str]:
    """One line for each file that was set aside."""
    return [f"another program's version was kept as {copy}" for copy in copies]


def _conflict(edits: Sequence[Edit], outcome: Conflicted) -> Conflict:
    path, actual = next(iter(outcome.actual.items()))
    expected = next((found for edit in edits if (found := _expected(edit, path)) is not None), Revision(""))
    return revision_conflict(path, expected, actual)


def _expected(edit: Edit, path: VaultPath) -> Revision | None:
    match edit:
        case Move(source=source, target=target, expects=expects):
            return {source: expects, target: ABSENT}.get(path)
        case Put(path=there, expects=expects) | Remove(path=there, expects=expects) if there == path:
            return expects
        case _:
            return None
