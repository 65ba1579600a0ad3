"""The indexes of days, kept to the events that there are, in the change set that adds, moves or removes one.

Owns which days a change concerns and what their indexes come to. The form of an index is that of ``days``.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final

from reme.markdown import parse_head
from reme.paths import VaultPath, stem
from reme.revision import revision_of
from reme.tools.days import day_folder, day_index, events_of, has_index, index_path, is_generated_alone, listed_in
from reme.tools.workspace import Workspace
from reme.vault import Amend, Content, Edit, Move, Put, Remove, Vault, pieces_of

__all__ = ["day_of", "index_anew", "indexes_concerned", "is_generated_index", "shown_events", "with_day_indexes"]

_HEAD_BYTES: Final = 1 << 16
"""Of an event's note only so much is read for its name and description."""


def with_day_indexes(workspace: Workspace, edits: Sequence[Edit], *, making: date | None = None) -> list[Edit]:
    """The edits, and what brings the indexes of days up to the events that there will be.

    An index that only ever was generated goes with its last event. None is made but for the day that is named.

    Args:
        workspace: Its vault's lock is held.
        edits: What is to be done.
        making: A day that gets an index if it has none.
    """
    vault = workspace.vault
    gone: set[VaultPath] = set()
    come: dict[VaultPath, Content] = {}
    for edit in edits:
        match edit:
            case Put(path, data, retarget=False):
                come[path] = data
            case Remove(path):
                gone.add(path)
            case Move(source, target, _, data):
                gone.add(source)
                come[target] = data if data is not None else vault.content_of(source) or b""
            case _:
                pass
    days = {day for path in (*gone, *come) if (day := day_of(vault, path))}
    if making is not None:
        days.add(making)
    puts = {edit.path: edit for edit in edits if isinstance(edit, Put)}
    found = list(edits)
    for day in sorted(days):
        path = index_path(vault.layout, day)
        if path in gone or path in come:
            continue
        planned = puts.get(path)
        data = planned.data if planned and isinstance(planned.data, bytes) else vault.bytes_of(path)
        if day != making and not has_index(data):
            continue
        if (kept := _kept(vault, day, data, gone, come)) is not None:
            found = [edit for edit in found if edit is not planned] + [kept]
    return found


def _kept(
    vault: Vault, day: date, data: bytes | None, gone: set[VaultPath], come: Mapping[VaultPath, Content]
) -> Put | Remove | None:
    """The edit that keeps a day's index right; None where it is.

    Args:
        data: The index, with the links in it as they will be.
        gone: The files that will not be there any more.
        come: What there will be at paths that are changed.
    """
    folder, path = day_folder(vault.layout, day), index_path(vault.layout, day)
    there = {file.path for file in vault.scan(folder).files} if vault.is_folder(folder) else set[VaultPath]()
    there = (there - gone) | {changed for changed in come if changed.startswith(f"{folder}/")}
    events = [event.path for event in events_of(folder, sorted(there))]
    listed = listed_in(data)
    new = {event: _shown(event, _head(vault, event, come)) for event in events if event in come or event not in listed}
    result = day_index(data, day, new, among=events)
    before = vault.bytes_of(path)
    if before is not None and not events and is_generated_alone(result, day):
        return Remove(path, revision_of(before))
    return None if result == data else Put(path, result, revision_of(before), base=before)


def index_anew(vault: Vault, path: VaultPath) -> list[Edit]:
    """The edit that brings a day's index up to the events that there are, once what it was made from was undone.

    One that only ever was generated goes with the last event. A file that is no day's index is left alone.
    """
    then = _indexed_day(vault, path)
    data = vault.bytes_of(path) if then else None
    if then is None or data is None or not has_index(data):
        return []
    listed = shown_events(vault, then)
    if not listed and is_generated_alone(data, then):
        return [Remove(path, revision_of(data))]
    return [Amend(path, lambda found: day_index(found, then, listed, among=listed))]


def indexes_concerned(vault: Vault, paths: Sequence[VaultPath]) -> list[VaultPath]:
    """The indexes of days among some paths, and those of the days whose events are."""
    days = (_indexed_day(vault, path) or day_of(vault, path) for path in paths)
    return list(dict.fromkeys(index_path(vault.layout, day) for day in days if day))


def is_generated_index(vault: Vault, path: VaultPath, data: bytes) -> bool:
    """Whether a file is a day's index in which nobody has written."""
    then = _indexed_day(vault, path)
    return then is not None and has_index(data) and is_generated_alone(data, then)


def shown_events(vault: Vault, day: date) -> dict[VaultPath, tuple[str, str]]:
    """The events of a day, each with its name and description."""
    folder = day_folder(vault.layout, day)
    files = [file.path for file in vault.scan(folder).files] if vault.is_folder(folder) else []
    return {event.path: _shown(event.path, _head(vault, event.path, {})) for event in events_of(folder, files)}


def _head(vault: Vault, path: VaultPath, come: Mapping[VaultPath, Content]) -> bytes:
    if path in come:
        return next(iter(pieces_of(come[path])), b"")
    with vault.open(path) as stream:
        return stream.read(_HEAD_BYTES)


def _shown(path: VaultPath, head: bytes) -> tuple[str, str]:
    properties = parse_head(head).properties
    return str(properties.get("name") or stem(path)), str(properties.get("description") or "")


def _indexed_day(vault: Vault, path: VaultPath) -> date | None:
    """The day whose index has this path; None if it is none's."""
    try:
        then = date.fromisoformat(stem(path))
    except ValueError:
        return None
    return then if path == index_path(vault.layout, then) else None


def day_of(vault: Vault, path: VaultPath) -> date | None:
    """The day in whose folder a file is; None for one that is elsewhere."""
    folder = f"{vault.layout.daily}/"
    name, inside, _ = path.removeprefix(folder).partition("/")
    if not inside or not path.startswith(folder):
        return None
    try:
        then = date.fromisoformat(name)
    except ValueError:
        return None
    return then if name == then.isoformat() else None
