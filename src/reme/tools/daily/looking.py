"""Looking at days: which events there are, what they say, and how far each has got.

Owns the states of an event, which are derived here and never written anywhere.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any, Final, Literal

from annotated_types import Ge, Le

from reme.index import Filter, IndexedNote
from reme.markdown import fingerprint, parse
from reme.paths import VaultPath
from reme.tools.days import events_of, find_event, index_path
from reme.tools.freshness import look
from reme.tools.read import Text, read
from reme.tools.workspace import Workspace
from reme.wording import counted

__all__ = [
    "DailyEvent",
    "DailyEvents",
    "DailyListing",
    "DailyStatus",
    "TaskState",
    "daily_list",
    "daily_list_text",
    "daily_read",
    "daily_status",
    "daily_status_text",
    "event_states",
]

TaskState = Literal["active", "done", "stale", "digested", "open"]

_ACTIVE: Final = timedelta(minutes=30)
_STALE: Final = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class DailyEvent:
    """An event.

    Attributes:
        materials: The files beside its note.
        state: *digested*: brought into the digest as it is now; *active*: changed in the last half hour; *done*: a
            later event of its session, or without one of its day, followed; *stale*: untouched for seven days; else
            *open*.
    """

    path: VaultPath
    name: str
    description: str
    session_id: str
    materials: tuple[VaultPath, ...]
    modified: datetime
    state: TaskState


@dataclass(frozen=True, slots=True)
class DailyEvents:
    """A day with its events; ``index`` is its index's path, or None where it has none."""

    day: str
    index: VaultPath | None
    events: tuple[DailyEvent, ...]


@dataclass(frozen=True, slots=True)
class DailyListing:
    """DailyListing, the latest first; ``truncated`` where there are earlier ones."""

    days: tuple[DailyEvents, ...]
    truncated: bool


@dataclass(frozen=True, slots=True)
class DailyStatus:
    """How far events have got.

    Attributes:
        counts: How many are in each state.
        events: Those that are not digested, the latest changed first.
    """

    counts: dict[TaskState, int]
    events: tuple[DailyEvent, ...]
    truncated: bool


_Date = Annotated[str | None, "Only this day, as 2026-05-15"]


def daily_list(
    workspace: Workspace, date: _Date = None, limit: Annotated[int, "How many days, at most", Ge(1), Le(366)] = 7
) -> DailyListing:
    """List the events of the latest days, or of one day, each with its state and materials.

    Raises:
        InvalidInput: If the day is no date.
    """
    look(workspace)
    events = _events(workspace)
    if (day := workspace.clock.day(date)) is not None:
        wanted = day.isoformat()
        return DailyListing((_day(workspace, wanted, events.get(wanted, ())),), truncated=False)
    latest = sorted(events, reverse=True)
    return DailyListing(tuple(_day(workspace, each, events[each]) for each in latest[:limit]), len(latest) > limit)


def daily_read(
    workspace: Workspace,
    event: Annotated[str | None, "The event's slug, or its path; without, the day's index is read"] = None,
    date: Annotated[str | None, "The day, as 2026-05-15; today by default"] = None,
    heading: Annotated[str | None, "Only the section under this heading"] = None,
) -> Text:
    """Read an event's note, or a day's index.

    Raises:
        NotFound: If there is no such event, index or heading.
        InvalidInput: If the day is no date.
    """
    then = workspace.clock.day(date) or workspace.clock.today()
    vault = workspace.vault
    path = index_path(vault.layout, then) if event is None else find_event(vault, then, event)
    return read(workspace, path, heading=heading)


def daily_status(
    workspace: Workspace,
    date: _Date = None,
    limit: Annotated[int, "How many events to name, at most", Ge(1), Le(1000)] = 50,
) -> DailyStatus:
    """Tell how far events have got: active, done, stale, digested, or open.

    Raises:
        InvalidInput: If the day is no date.
    """
    look(workspace)
    wanted = None if (day := workspace.clock.day(date)) is None else day.isoformat()
    events = [event for each, found in _events(workspace).items() if wanted in (None, each) for event in found]
    counts: dict[TaskState, int] = dict.fromkeys(("active", "open", "done", "stale", "digested"), 0)
    for event in events:
        counts[event.state] += 1
    waiting = sorted((e for e in events if e.state != "digested"), key=lambda e: e.path)
    waiting.sort(key=lambda e: e.modified, reverse=True)
    return DailyStatus(counts, tuple(waiting[:limit]), len(waiting) > limit)


def event_states(workspace: Workspace) -> Mapping[VaultPath, TaskState]:
    """The state of every event's note, as the index knows them."""
    return {event.path: event.state for events in _events(workspace).values() for event in events}


def daily_list_text(result: DailyListing) -> str:
    """A line a day, and one for each event below it."""
    lines: list[str] = []
    for day in result.days:
        lines.append(
            f"{day.day}: {counted(len(day.events), 'event')}" + ("" if day.index or not day.events else ", no index")
        )
        lines += [_line(event) for event in day.events]
    if result.truncated:
        lines.append("earlier days: raise the limit")
    return "\n".join(lines) or "no events"


def daily_status_text(result: DailyStatus) -> str:
    """The counts, then the events that wait."""
    counts = ", ".join(f"{count} {state}" for state, count in result.counts.items() if count)
    lines = [counts or "no events", *(_line(event) for event in result.events)]
    return "\n".join([*lines, "more: raise the limit"] if result.truncated else lines)


def _line(event: DailyEvent) -> str:
    about = f" — {event.description}" if event.description else ""
    materials = f" (+{counted(len(event.materials), 'file')})" if event.materials else ""
    return f"  [{event.state}] {event.path} {event.name}{about}{materials}"


def _day(workspace: Workspace, day: str, events: Sequence[DailyEvent]) -> DailyEvents:
    path = VaultPath(f"{workspace.vault.layout.daily}/{day}.md")
    return DailyEvents(day, path if workspace.index.note(path) else None, tuple(events))


def _events(workspace: Workspace) -> dict[str, list[DailyEvent]]:
    """Every event, by day."""
    layout, index = workspace.vault.layout, workspace.index
    rows = {note.path: note for note in index.notes(Filter(paths=(layout.daily,)))}
    by_day: defaultdict[str, list[VaultPath]] = defaultdict(list)
    for path in rows:
        day, slash, _ = path.removeprefix(layout.daily + "/").partition("/")
        if slash and _is_day(day):
            by_day[day].append(path)
    found = {day: events_of(VaultPath(f"{layout.daily}/{day}"), paths) for day, paths in sorted(by_day.items())}
    notes = {event.path: rows[event.path] for events in found.values() for event in events}
    states = _states(workspace, notes)
    return {
        day: [_event(workspace, notes[e.path], e.materials, states[e.path]) for e in events]
        for day, events in found.items()
        if events
    }


def _is_day(name: str) -> bool:
    try:
        return datetime.strptime(name, "%Y-%m-%d").strftime("%Y-%m-%d") == name
    except ValueError:
        return False


def _event(workspace: Workspace, note: IndexedNote, materials: tuple[VaultPath, ...], state: TaskState) -> DailyEvent:
    modified = workspace.moment(note.mtime_ns)
    return DailyEvent(note.path, note.name, note.description, _session(note), materials, modified, state)


def _session(note: IndexedNote) -> str:
    return str(note.properties.get("session_id") or "")


def _states(workspace: Workspace, notes: Mapping[VaultPath, IndexedNote]) -> dict[VaultPath, TaskState]:
    digested = _digested(workspace)
    latest: dict[str, int] = {}
    for note in notes.values():
        latest[_thread(note)] = max(latest.get(_thread(note), 0), note.mtime_ns)
    now = int(workspace.clock.now().timestamp() * 1e9)
    states: dict[VaultPath, TaskState] = {}
    for path, note in notes.items():
        age = timedelta(microseconds=(now - note.mtime_ns) // 1000)
        if _is_digested(workspace, note, digested.get(path)):
            states[path] = "digested"
        elif age < _ACTIVE:
            states[path] = "active"
        elif latest[_thread(note)] > note.mtime_ns:
            states[path] = "done"
        else:
            states[path] = "stale" if age >= _STALE else "open"
    return states


def _thread(note: IndexedNote) -> str:
    """What an event goes on from: its session, or without one its day."""
    return f"session {session}" if (session := _session(note)) else f"day {note.date}"


def _is_digested(workspace: Workspace, note: IndexedNote, entry: tuple[str, str] | None) -> bool:
    if entry is None:
        return False
    revision, mark = entry
    if revision == note.revision:
        return True
    return fingerprint(parse(workspace.vault.bytes_of(note.path) or b"")) == mark


def _digested(workspace: Workspace) -> dict[VaultPath, tuple[str, str]]:
    """What the ledger says is in the digest: by source, its revision then and the fingerprint of its words."""
    vault = workspace.vault
    found: dict[VaultPath, tuple[str, str]] = {}
    for raw in (vault.bytes_of(vault.layout.ledger) or b"").splitlines():
        if b'"digested"' in raw:
            try:
                record: Any = json.loads(raw)
                found[VaultPath(record["source"])] = str(record["revision"]), str(record["fingerprint"])
            except (ValueError, KeyError, TypeError):
                continue
    return found
