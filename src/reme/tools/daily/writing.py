"""Writing by day: new events, more text for them, materials beside them, and the day's index made anew.

Owns that a day's index is changed in the same change set as what it lists.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Len

from reme.errors import Conflict, InvalidInput
from reme.markdown import parse, set_property
from reme.paths import VaultPath, join, parent, parse_path, slug_of, stem
from reme.revision import ABSENT, revision_of
from reme.tools.append import appended
from reme.tools.changes import DryRun, Written, read_expected, submit, written
from reme.tools.daily.promotion import with_promotion
from reme.tools.day_indexes import day_of, shown_events, with_day_indexes
from reme.tools.days import day_index, event_path, find_event, index_path
from reme.tools.places import check_new
from reme.tools.workspace import Workspace
from reme.vault import Amend, Edit, Put, Unchanged
from reme.wording import counted

__all__ = [
    "DailyReindexed",
    "daily_create",
    "daily_reindex",
    "daily_reindex_text",
    "daily_write",
]

_Date = Annotated[str | None, "The day, as 2026-05-15; today by default"]


@dataclass(frozen=True, slots=True)
class DailyReindexed:
    """A day's index after it was made anew.

    Attributes:
        events: How many events it lists.
    """

    path: VaultPath
    outcome: Literal["created", "changed", "unchanged"]
    events: int
    run: str
    dry_run: bool = False


def daily_create(
    workspace: Workspace,
    name: Annotated[str, "What happened, in a few words; the file is named after it", Len(1)],
    description: Annotated[str, "One line on it"] = "",
    content: Annotated[str, "The text"] = "",
    slug: Annotated[str | None, "Another file name, in any script"] = None,
    date: _Date = None,
    session_id: Annotated[str | None, "The session that it belongs to"] = None,
    dry_run: DryRun = False,
) -> Written:
    """Make the note of an event and list it in its day's index; asking again with the same text changes nothing.

    Raises:
        Conflict: If the day has an event of that name already.
        InvalidInput: If the day is no date.
    """
    vault = workspace.vault
    then = workspace.clock.day(date) or workspace.clock.today()
    path = event_path(vault.layout, then, slug_of(slug or name))
    data = _event(name, description, content, session_id)
    existed = False

    def gather() -> list[Edit]:
        nonlocal existed
        existed = vault.bytes_of(path) == data
        if not existed:
            _check_free(workspace, path)
        made = Put(path, data, revision_of(data) if existed else ABSENT)
        return with_day_indexes(workspace, [made], making=then)

    outcome = submit(workspace, gather, reason=f"create {path}", dry_run=dry_run)
    return written(workspace, path, outcome, existed=existed, dry_run=dry_run)


def daily_write(
    workspace: Workspace,
    event: Annotated[str, "The event's slug, or its path"],
    content: Annotated[str, "What to add at its end; with material, that file's whole text"] = "",
    date: _Date = None,
    description: Annotated[str | None, "Another line on it"] = None,
    material: Annotated[str | None, "Name of a new file beside the note, which gets a folder for it"] = None,
    expected_revision: Annotated[str | None, "The revision that reading it returned; not needed for adding"] = None,
    dry_run: DryRun = False,
) -> Written:
    """Add to an event's note, or put a new file beside it; nothing that is there is ever replaced.

    Raises:
        NotFound: If the day has no such event.
        Conflict: If it is not at the expected revision, or there is such a file already.
        Refused: If the note is not in UTF-8.
        InvalidInput: If there is nothing to write.
    """
    path = find_event(workspace.vault, workspace.clock.day(date) or workspace.clock.today(), event)
    if material is not None:
        return _material(workspace, path, material, content, dry_run=dry_run)
    if not content.strip() and description is None:
        raise InvalidInput("there is nothing to write", hint="Give `content`, `description` or `material`.")

    def gather() -> list[Edit]:
        file = read_expected(workspace, path, expected_revision)
        data = appended(file.path, file.data, content) if content.strip() else file.data
        if description is not None:
            data = set_property(parse(data), "description", description)
        return with_day_indexes(workspace, [Put(path, data, file.revision)], making=day_of(workspace.vault, path))

    outcome = submit(workspace, gather, reason=f"add to {path}", dry_run=dry_run)
    return written(workspace, path, outcome, existed=True, dry_run=dry_run)


def daily_reindex(workspace: Workspace, date: _Date = None, dry_run: DryRun = False) -> DailyReindexed:
    """Make a day's index anew from the event notes that there are; what a person wrote around it stays."""
    vault = workspace.vault
    then = workspace.clock.day(date) or workspace.clock.today()
    path = index_path(vault.layout, then)
    listed: dict[VaultPath, tuple[str, str]] = {}
    existed = False

    def gather() -> list[Edit]:
        nonlocal existed, listed
        listed = shown_events(vault, then)
        existed = vault.exists(path)
        if not existed and not listed:
            return []
        return [Amend(path, lambda data: day_index(data, then, listed, among=listed))]

    outcome = submit(workspace, gather, reason=f"index {then.isoformat()} anew", dry_run=dry_run)
    if isinstance(outcome, Unchanged):
        return DailyReindexed(path, "unchanged", len(listed), "", dry_run)
    run = "" if dry_run else workspace.caller.run
    return DailyReindexed(path, "changed" if existed else "created", len(listed), run, dry_run)


def daily_reindex_text(result: DailyReindexed) -> str:
    """One line."""
    run = f", run {result.run}" if result.run else ", only looked at" if result.dry_run else ""
    return f"{result.outcome} {result.path} ({counted(result.events, 'event')}{run})"


def _event(name: str, description: str, content: str, session_id: str | None) -> bytes:
    text = content.strip("\n")
    data = f"\n{text}\n".encode() if text else b"\n"
    if parse(content.encode()).frontmatter is not None:
        data = content.encode()
    wanted = {"name": name, "description": description, "session_id": session_id}
    for key, value in wanted.items():
        if value is not None:
            data = set_property(parse(data), key, value)
    return data


def _check_free(workspace: Workspace, path: VaultPath) -> None:
    promoted = join(join(parent(path), stem(path)), f"{stem(path)}.md")
    try:
        check_new(workspace, path)
        check_new(workspace, promoted)
    except Conflict as error:
        raise Conflict(
            error.message, hint="Add to it with daily_write, or give another `slug`.", details=error.details
        ) from error


def _material(workspace: Workspace, path: VaultPath, name: str, content: str, *, dry_run: bool) -> Written:
    own = parent(path)
    folder = own if own.rpartition("/")[2] == stem(path) else join(own, stem(path))
    target = parse_path(f"{folder}/{name}")
    if "/" in parse_path(name):
        raise InvalidInput(f"{name!r} is no file name", hint="Give a name without folders.")

    def gather() -> list[Edit]:
        check_new(workspace, target)
        return [Put(target, content.encode(), ABSENT)]

    outcome = submit(workspace, gather, reason=f"add {target}", dry_run=dry_run)
    return with_promotion(workspace, written(workspace, target, outcome, existed=False, dry_run=dry_run))
