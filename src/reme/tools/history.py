"""Looking back and going back: which runs changed the vault, what they changed, and undoing them.

Owns what a reader sees of the journal. The journal itself is the vault room's.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Annotated, Final

from annotated_types import Ge, Le

from reme.errors import Conflict, NotFound, Unavailable
from reme.paths import VaultPath, is_within, parse_path
from reme.revision import Revision
from reme.tools.changes import submit
from reme.tools.day_indexes import index_anew, indexes_concerned, is_generated_index
from reme.tools.workspace import Workspace
from reme.vault import Committed, Edit, Outcome, Record, Unchanged, after_undo, diff, history, locked
from reme.vault import undo as undo_run

__all__ = [
    "Changed",
    "Log",
    "RunDiff",
    "Undone",
    "log",
    "log_text",
    "run_meant",
    "show",
    "show_text",
    "undo",
    "undo_text",
]

_LAST: Final = "last"
_SHOWN: Final = 5
_FEWEST: Final = 4

_Run = Annotated[str, "The run's id, or how it begins; last is the newest"]


@dataclass(frozen=True, slots=True)
class Changed:
    """One run that changed the vault.

    Attributes:
        run: Its id, for ``show`` and ``undo``.
        at: When its last change was made.
        role: With whose rights.
        actor: Who asked.
        reasons: What its change sets were for, in order.
        paths: Every path that it touched.
        undoes: The run that it undid, or None.
        operation: What was asked for; empty where the log of runs does not know any more.
    """

    run: str
    at: datetime
    role: str
    actor: str
    reasons: tuple[str, ...]
    paths: tuple[VaultPath, ...]
    undoes: str | None = None
    operation: str = ""


@dataclass(frozen=True, slots=True)
class Log:
    """Runs, newest first; ``truncated`` where there are older ones."""

    runs: tuple[Changed, ...]
    truncated: bool


@dataclass(frozen=True, slots=True)
class RunDiff:
    """What a run changed: ``diff`` in unified form."""

    run: str
    changes: tuple[Changed, ...]
    diff: str


@dataclass(frozen=True, slots=True)
class Undone:
    """What an undo did, or with ``dry_run`` would do.

    Attributes:
        run: The run that was undone.
        undo_run: The undo's own run, itself to be shown and undone; empty where nothing changed.
        paths: The paths that changed, moves at both ends.
        revisions: What they have become.
        conflict_copies: Files that hold what somebody else wrote in the moment of the commit.
        unsourced: Nodes of the digest that state what the paths no longer say (with ``dry_run``: would no longer say),
            since it was learnt from what is undone.
    """

    run: str
    undo_run: str
    paths: tuple[VaultPath, ...]
    revisions: dict[VaultPath, Revision]
    conflict_copies: tuple[VaultPath, ...] = ()
    dry_run: bool = False
    unsourced: tuple[VaultPath, ...] = ()


def log(
    workspace: Workspace,
    limit: Annotated[int, "How many runs, at most", Ge(1), Le(1000)] = 20,
    path: Annotated[str | None, "Only runs that touched this file or folder, which need not exist any more"] = None,
) -> Log:
    """List the runs that changed the vault, newest first."""
    touched = None if path is None else _path_touched(workspace, path)
    asked = 4 * limit
    records = history(workspace.vault, limit=asked, path=touched)
    while len({record.run for record in records}) <= limit and len(records) == asked:
        asked *= 4
        records = history(workspace.vault, limit=asked, path=touched)
    runs: dict[str, Changed] = {}
    for record in records:
        known = runs.get(record.run)
        runs[record.run] = _changed(record) if known is None else _joined(_changed(record), known)
    return Log(_with_operations(workspace, list(runs.values())[:limit]), truncated=len(runs) > limit)


def run_meant(given: str, runs: Sequence[str], unknown: NotFound) -> str:
    """The run that is meant by its id, by how that begins, or by the word ``last``.

    Args:
        runs: Those that there are, newest first.
        unknown: What to raise where none is meant.

    Raises:
        NotFound: ``unknown``.
        Conflict: If several ids begin so, naming them.
    """
    if given == _LAST and runs:
        return runs[0]
    found = [given] if given in runs else [run for run in runs if len(given) >= _FEWEST and run.startswith(given)]
    if not found:
        raise unknown
    if len(found) > 1:
        shown = ", ".join(found[:_SHOWN]) + (f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else "")
        raise Conflict(
            f"{given} may mean {len(found)} runs: {shown}", hint="Give more of the id.", details={"runs": found}
        )
    return found[0]


def _meant(workspace: Workspace, given: str) -> str:
    unknown = NotFound(
        f"the journal knows no run {given}",
        hint="See what there is with: `log`. Four characters of an id may do.",
        details={"run": given},
    )
    return run_meant(given, workspace.vault.journal.runs(), unknown)


def show(workspace: Workspace, run: _Run) -> RunDiff:
    """Show what a run changed, as a unified diff of every file.

    Raises:
        NotFound: If the journal knows no such run.
        Conflict: If several ids begin as the one that was given.
    """
    run = _meant(workspace, run)
    text = diff(workspace.vault, run)
    records = history(workspace.vault, run=run)
    return RunDiff(run, _with_operations(workspace, [_changed(record) for record in reversed(records)]), text)


def undo(
    workspace: Workspace,
    run: _Run,
    paths: Annotated[list[str] | None, "Only what it did to these files or folders"] = None,
    dry_run: Annotated[bool, "Only say what would be done"] = False,
) -> Undone:
    """Take back what a run did, keeping what was written later in other places.

    Raises:
        NotFound: If the journal knows no such run, or it did not touch these paths.
        Conflict: If later changes overlap, naming the paths, or several ids begin as the one that was given.
        Refused: If the caller's role may not.
    """
    chosen = None if paths is None else [_path_touched(workspace, path) for path in paths]
    run = _meant(workspace, run)
    vault = workspace.vault
    with locked(vault):
        touched = [path for record in history(vault, run=run) for path in record.paths]
        if chosen is not None:
            chosen = [path for path in touched if any(is_within(path, place) for place in chosen)] or chosen
        outcome = _undo(workspace, run, chosen, dry_run=dry_run)
        if not isinstance(outcome, Committed):
            return Undone(run, "", (), outcome.revisions if isinstance(outcome, Unchanged) else {}, dry_run=dry_run)
        if dry_run:
            anew = {path for path in indexes_concerned(vault, touched) if index_anew(vault, path)}
            would = tuple(sorted(anew | set(outcome.revisions)))
            contents = after_undo(vault, run, chosen, partial(is_generated_index, vault))
            return Undone(run, "", would, {}, dry_run=True, unsourced=workspace.unsourced(contents))
        anew = submit(workspace, lambda: _generated_anew(workspace, touched), reason=f"after the undo of {run}")
    revisions = outcome.revisions | anew.revisions
    changed, copies = tuple(sorted(revisions)), outcome.conflict_copies
    unsourced = workspace.unsourced({path: vault.content_of(path) for path in changed})
    return Undone(run, workspace.caller.run, changed, revisions, copies, unsourced=unsourced)


def _generated_anew(workspace: Workspace, touched: Sequence[VaultPath]) -> list[Edit]:
    """What brings the generated files that a run had touched up to what is left: they are never just restored."""
    vault, paths = workspace.vault, dict.fromkeys(touched)
    indexes = [edit for path in indexes_concerned(vault, touched) for edit in index_anew(vault, path)]
    if not any(vault.layer_of(path) == "digest" for path in paths):
        return indexes
    return [*indexes, *(view for view in workspace.views() if view.path in paths and vault.exists(view.path))]


def _undo(workspace: Workspace, run: str, paths: Sequence[VaultPath] | None, *, dry_run: bool) -> Outcome:
    caller = workspace.caller
    return undo_run(
        workspace.vault,
        run,
        role=caller.role,
        actor=caller.actor,
        new_run=caller.run,
        paths=paths,
        is_generated=partial(is_generated_index, workspace.vault),
        dry_run=dry_run,
    )


def log_text(result: Log) -> str:
    """Two lines a run: when, id, what was asked and by whom; what for and which files."""
    if not result.runs:
        return "no changes: the journal has no run, or none that touched this path"
    lines = [line for run in result.runs for line in _run_lines(run)]
    return "\n".join([*lines, "older runs: raise the limit"] if result.truncated else lines)


def show_text(result: RunDiff) -> str:
    """The change sets of the run, then the diff."""
    heads = [line for change in result.changes for line in _run_lines(change)]
    return "\n".join([*heads, "", result.diff.rstrip("\n")])


def undo_text(result: Undone) -> str:
    """What changed, one path a line."""
    if not result.paths:
        return f"nothing to undo of run {result.run}"
    head = f"would undo run {result.run}:" if result.dry_run else f"undid run {result.run} (run {result.undo_run}):"
    kept = [f"another program's version was kept as {copy}" for copy in result.conflict_copies]
    has = "would have" if result.dry_run else "now has"
    left = [f"{node} states what was learnt from this and {has} no source" for node in result.unsourced]
    left += ["stale lists such statements: undo the dream as well, or take out what no longer holds"] if left else []
    return "\n".join([head, *(f"  {path}" for path in result.paths), *kept, *left])


def _changed(record: Record) -> Changed:
    return Changed(record.run, record.at, record.role, record.actor, (record.reason,), record.paths, record.undoes)


def _with_operations(workspace: Workspace, runs: Sequence[Changed]) -> tuple[Changed, ...]:
    known: dict[str, str] = {}
    with suppress(Unavailable):  # what can be read is told all the same
        known = workspace.state.operations(list(dict.fromkeys(run.run for run in runs)))
    return tuple(replace(run, operation=known.get(run.run, "")) for run in runs)


def _joined(earlier: Changed, later: Changed) -> Changed:
    paths = tuple(dict.fromkeys(earlier.paths + later.paths))
    return replace(later, reasons=tuple(dict.fromkeys(earlier.reasons + later.reasons)), paths=paths)


def _path_touched(workspace: Workspace, raw: str) -> VaultPath:
    """A path that the journal knows, of a file that may be gone; ``.md`` may be left out."""
    path = parse_path(raw)
    for candidate in (path, VaultPath(path + ".md")):
        if history(workspace.vault, limit=1, path=candidate):
            return candidate
    return path


def _run_lines(run: Changed) -> list[str]:
    shown = ", ".join(run.paths[:5]) + (f" and {len(run.paths) - 5} more" if len(run.paths) > 5 else "")
    undoes = f", undoing {run.undoes}" if run.undoes else ""
    asked = f"{run.operation} by " if run.operation else ""
    return [
        f"{run.at:%Y-%m-%d %H:%M:%S} {run.run} {asked}{run.actor} ({run.role}){undoes}",
        f"  {'; '.join(run.reasons)}: {shown}",
    ]
