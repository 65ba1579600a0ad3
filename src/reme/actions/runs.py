"""What all actions share of a run: its rights, its time, the report that it leaves in ``audit/``.

Owns how an action commits. Knows nothing of what any action does.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from reme.actions.notes import with_frontmatter
from reme.paths import VaultPath, parse_path
from reme.revision import ABSENT
from reme.tools import Workspace, with_links_kept
from reme.vault import ChangeSet, Edit, Law, Outcome, Put, check, commit, locked

__all__ = [
    "ATTEMPTS",
    "MOST_LISTED",
    "NODE_LAWS",
    "NOTE_LAWS",
    "commit_as_system",
    "report_path",
    "some",
    "write_report",
]

NOTE_LAWS: Final[frozenset[Law]] = frozenset[Law]({"keep-links", "keep-words"})
"""What every automatic change of a note keeps."""

NODE_LAWS: Final[frozenset[Law]] = NOTE_LAWS | frozenset[Law]({"cite-source"})
"""What every automatic change of a digest node keeps."""

MOST_LISTED: Final = 20
"""How much of one kind a report lists before it only counts."""

ATTEMPTS: Final = 3
"""How often a change is gathered and decided anew when its files change meanwhile."""


def commit_as_system(workspace: Workspace, edits: Sequence[Edit], reason: str, *, dry_run: bool = False) -> Outcome:
    """Commit edits in the caller's run and name, with the rights of ReMe's own actions; links elsewhere lead on.

    Args:
        dry_run: Whether to write nothing, and only tell what it would come to.

    Raises:
        Refused: By a law.
        Unavailable: If the vault cannot be written.
    """
    caller = replace(workspace.caller, role="system")
    with locked(workspace.vault):
        kept = tuple(with_links_kept(workspace, edits))
        change_set = ChangeSet(kept, role=caller.role, actor=caller.actor, reason=reason, run=caller.run)
        return (check if dry_run else commit)(workspace.vault, change_set)


def report_path(workspace: Workspace, action: str) -> VaultPath:
    """Where the report of a run is kept."""
    day = workspace.clock.today().isoformat()
    return parse_path(f"{workspace.vault.layout.audit}/{day}/{workspace.caller.run}-{action}.md")


def write_report(workspace: Workspace, action: str, summary: str, lines: Sequence[str]) -> Put:
    """The edit that leaves a report."""
    head = with_frontmatter(
        {"name": f"{action} {workspace.caller.run}", "description": summary, "run": workspace.caller.run}
    )
    body = "\n".join(("", f"# {action}", "", summary, "", *lines)).rstrip("\n") + "\n"
    return Put(report_path(workspace, action), head + body.encode("utf-8"), ABSENT)


def some(lines: Sequence[str]) -> list[str]:
    """The first of many lines of a report, and how many more there are."""
    return [*lines[:MOST_LISTED], *([f"- and {len(lines) - MOST_LISTED} more"] if len(lines) > MOST_LISTED else [])]
