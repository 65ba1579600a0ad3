"""What a dream reads: changed daily notes, the texts beside them, the resources behind them.

Owns which files count as sources and as changed. A daily note has changed if its words are not as they were when it
was last digested; so has a text that lies beside it in a folder of the event's own. A resource is read once: when a
changed daily note links it, or when no daily note does and it lies in a folder of the days looked at. Of materials and
resources only text is read, within a size limit.
"""

import contextlib
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from reme.actions.ledger import Ledger
from reme.actions.origin import Origin, lowest, origin_of
from reme.actions.statements import source_lines, unstated
from reme.errors import InvalidInput, Refused
from reme.markdown import Link, Note, fingerprint, parse
from reme.paths import VaultPath, is_markdown, parse_path, stem, suffix
from reme.reason import SourceLine, SourceNote
from reme.revision import Revision, revision_of
from reme.tools import Workspace, day_folder, events_of, resource_origin
from reme.vault import Stat, Vault

__all__ = [
    "Source",
    "changed_resources",
    "changed_sources",
    "daily_paths",
    "days_until",
    "named_source",
    "read_again",
    "unread_events",
]

_TEXTS: Final = frozenset({".md", ".markdown", ".txt"})


@dataclass(frozen=True, slots=True)
class Source:
    """A file as it was read, and what a reasoner sees of it.

    Attributes:
        fingerprint: Of its words: what tells a change that matters.
        origin: How far it is to be trusted.
        resources: The resources that it links.
        unstated: What in it is not read, with its line.
    """

    path: VaultPath
    revision: Revision
    fingerprint: str
    shown: SourceNote
    origin: Origin
    resources: tuple[VaultPath, ...] = ()
    unstated: tuple[tuple[int, str], ...] = ()

    def line(self, number: int) -> SourceLine | None:
        """The line with this number, if it was offered."""
        at = bisect_left(self.shown.lines, number, key=lambda line: line.number)
        return next((line for line in self.shown.lines[at : at + 1] if line.number == number), None)


def changed_sources(vault: Vault, ledger: Ledger, until: date, scan_days: int, largest: int) -> list[Source]:
    """Event notes of the days up to ``until`` whose words are not as they were when last digested, oldest first, each
    followed by the texts beside it.

    The day's index is not among them: it repeats what the notes say.

    Args:
        largest: How many bytes a text beside an event may have.
    """
    found: list[Source] = []
    for day in days_until(until, scan_days):
        read = (_changed(vault, ledger, path, day) for path in daily_paths(vault, day, largest))
        found.extend(source for source in read if source is not None)
    return found


def daily_paths(vault: Vault, day: date, largest: int) -> list[VaultPath]:
    """What may be read of a day: its events, each with its materials, and then notes that belong to no event."""
    files = {stat.path: stat.size for stat in _in(vault, vault.layout.daily, day)}
    events = events_of(day_folder(vault.layout, day), files)
    ordered = [path for event in events for path in (event.path, *event.materials)]
    notes = {event.path for event in events}
    rest = [path for path in files if is_markdown(path)]
    return [
        path
        for path in dict.fromkeys((*ordered, *rest))
        if path in notes or (_is_text(path) and files[path] <= largest)
    ]


def unread_events(vault: Vault, ledger: Ledger, before: date) -> list[VaultPath]:
    """The events of earlier days that nothing was ever learnt from."""
    root = parse_path(vault.layout.daily)
    by_day: defaultdict[date, list[VaultPath]] = defaultdict(list)
    for path in vault.scan(root).found if vault.is_folder(root) else ():
        if (day := _day_of(path)) is not None and day < before:
            by_day[day].append(path)
    events = (event.path for day, files in by_day.items() for event in events_of(day_folder(vault.layout, day), files))
    return [path for path in events if path not in ledger.digested]


def changed_resources(
    workspace: Workspace, ledger: Ledger, notes: Sequence[Source], until: date, scan_days: int, largest: int
) -> list[Source]:
    """Resources that these notes link, and those of the days up to ``until`` that no daily note links.

    Args:
        notes: The changed daily notes.
        largest: How many bytes a resource may have.
    """
    vault, index = workspace.vault, workspace.index
    linked = [path for note in notes for path in note.resources]
    dropped = [stat.path for day in days_until(until, scan_days) for stat in _in(vault, vault.layout.resource, day)]
    loose = (
        path for path in dropped if not any(vault.layer_of(edge.source) == "daily" for edge in index.links_to(path))
    )
    found: list[Source] = []
    for path in dict.fromkeys([*linked, *loose]):
        stat = vault.stat(path)
        if stat is None or stat.size > largest or not _is_text(path):
            continue
        if (source := _changed(vault, ledger, path, _day_of(path) or until)) is not None:
            found.append(source)
    return found


def read_again(vault: Vault, ledger: Ledger, paths: Iterable[VaultPath], until: date) -> list[Source]:
    """These sources, as far as they are there and have changed since they were digested."""
    found = (_changed(vault, ledger, path, _day_of(path) or until) for path in paths)
    return [source for source in found if source is not None]


def named_source(vault: Vault, ledger: Ledger, raw: str, until: date) -> list[Source]:
    """One file that a caller names, if it has changed since it was digested.

    Raises:
        NotFound: If it is not there.
        InvalidInput: If it is no source: neither a text in a folder of ``daily/`` nor one in ``resource/``.
    """
    path = vault.find(raw)
    layer = vault.layer_of(path)
    if not _is_text(path) or not (layer == "resource" or (layer == "daily" and _day_of(path))):
        raise InvalidInput(
            f"{path} is nothing to dream of",
            hint="Name an event note in daily/<date>/, a text beside one, or a text in resource/.",
            details={"path": path},
        )
    return read_again(vault, ledger, [path], until)


def days_until(until: date, count: int) -> list[date]:
    """The days that are looked at, oldest first."""
    return [until - timedelta(days=back) for back in range(min(count, until.toordinal()) - 1, -1, -1)]


def _in(vault: Vault, layer: str, day: date) -> list[Stat]:
    folder = parse_path(f"{layer}/{day.isoformat()}")
    return list(vault.scan(folder).files) if vault.is_folder(folder) else []


def _day_of(path: VaultPath) -> date | None:
    """The day of the folder that a file lies in."""
    for part in path.split("/")[:-1]:
        try:
            return date.fromisoformat(part)
        except ValueError:
            continue
    return None


def _is_text(path: VaultPath) -> bool:
    return suffix(path).lower() in _TEXTS


def _changed(vault: Vault, ledger: Ledger, path: VaultPath, day: date) -> Source | None:
    if (data := vault.bytes_of(path)) is None:  # gone since the folder was listed
        return None
    note = parse(data)
    mark = fingerprint(note)
    last = ledger.digested.get(path)
    if last is not None and last.fingerprint == mark:
        return None
    lines = source_lines(note, day, ledger.taken.get(path, frozenset()))
    name, description = note.properties.get("name") or stem(path), note.properties.get("description") or ""
    shown = SourceNote(str(name), str(description), day, lines)
    resources = () if vault.layer_of(path) == "resource" else _resources(vault, note.links)
    return Source(path, revision_of(data), mark, shown, _origin(vault, path, note), resources, unstated(note))


def _resources(vault: Vault, links: Iterable[Link]) -> tuple[VaultPath, ...]:
    inside = f"{vault.layout.resource}/"
    found: list[VaultPath] = []
    for link in links:
        with contextlib.suppress(Refused):
            if link.target.startswith(inside):
                found.append(parse_path(link.target))
    return tuple(dict.fromkeys(found))


def _origin(vault: Vault, path: VaultPath, note: Note) -> Origin:
    """What a note says of itself, else a person's, and no more than the resource that it is or names as its source.

    A resource is of the origin that its sidecar says, else of the web.
    """
    is_resource = vault.layer_of(path) == "resource"
    named = (link for link in note.links if link.predicate == "source")
    behind = [path] if is_resource else _resources(vault, named)
    return lowest((origin_of(note, "person"), *(resource_origin(vault, resource) for resource in behind)))
