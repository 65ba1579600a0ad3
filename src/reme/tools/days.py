"""Days: where their files lie, which of these are events, and what the day's index says.

Owns the paths and the generated region. Writes nothing.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Final

from reme.errors import NotFound
from reme.markdown import parse, region, set_property, with_region, without_regions
from reme.paths import VaultPath, fold, is_markdown, join, parse_path, stem
from reme.vault import Layout, Vault

__all__ = [
    "EventFile",
    "day_folder",
    "day_index",
    "event_path",
    "events_of",
    "find_event",
    "has_index",
    "index_path",
    "is_generated_alone",
    "listed_in",
    "one_line",
]

_REGION: Final = "index"
_LISTED: Final = re.compile(r"^- \[\[(?P<path>[^\[\]|]+)\|")


@dataclass(frozen=True, slots=True)
class EventFile:
    """An event's note and the files that lie beside it in a folder of its own, if it has one."""

    path: VaultPath
    materials: tuple[VaultPath, ...] = ()


def day_folder(layout: Layout, day: date) -> VaultPath:
    """The folder of a day's events."""
    return VaultPath(f"{layout.daily}/{day.isoformat()}")


def index_path(layout: Layout, day: date) -> VaultPath:
    """The file of a day's index."""
    return VaultPath(f"{day_folder(layout, day)}.md")


def event_path(layout: Layout, day: date, slug: str) -> VaultPath:
    """Where an event of this slug begins its life."""
    return parse_path(f"{day_folder(layout, day)}/{slug}.md")


def events_of(folder: VaultPath, paths: Iterable[VaultPath]) -> list[EventFile]:
    """The events among the files of a day's folder, by path.

    Args:
        folder: The day's.
        paths: Its files.
    """
    notes: list[VaultPath] = []
    inside: dict[str, list[VaultPath]] = {}
    for path in paths:
        first, slash, _ = path.removeprefix(folder + "/").partition("/")
        if slash:
            inside.setdefault(first, []).append(path)
        elif is_markdown(path):
            notes.append(path)
    found = [EventFile(path) for path in notes]
    for name, files in inside.items():
        own = join(join(folder, name), f"{name}.md")
        if own in files:
            found.append(EventFile(own, tuple(sorted(file for file in files if file != own))))
    return sorted(found, key=lambda event: event.path)


def find_event(vault: Vault, day: date, given: str) -> VaultPath:
    """The note of an event, named by slug, with or without ``.md``, or by its path.

    Raises:
        NotFound: If the day has no such event, naming those that it has.
        Refused: If it is no path inside the vault.
    """
    folder = day_folder(vault.layout, day)
    asked = parse_path(given)
    if asked.startswith(vault.layout.daily + "/"):
        return vault.find(given)
    slug = asked.removesuffix(".md")
    for path in (join(folder, f"{slug}.md"), join(folder, f"{slug}/{slug.rpartition('/')[2]}.md")):
        if vault.exists(path):
            return path
    files = (file.path for file in vault.scan(folder).files) if vault.is_folder(folder) else ()
    slugs = [stem(event.path) for event in events_of(folder, files)]
    if (match := next((s for s in slugs if fold(s) == fold(slug)), None)) and match != slug:
        return find_event(vault, day, match)
    raise NotFound(
        f"{day.isoformat()} has no event {given!r}",
        hint=f"It has: {', '.join(slugs[:20])}." if slugs else "It has none; make one with daily_create.",
        details={"day": day.isoformat(), "events": slugs},
    )


def day_index(
    data: bytes | None,
    day: date,
    notes: Mapping[VaultPath, tuple[str, str]],
    *,
    among: Collection[VaultPath] | None = None,
) -> bytes:
    """The day's index with these notes in its generated region; what surrounds it stays.

    Args:
        data: The file as it is, None if absent.
        day: The day.
        notes: By path, name and description.
        among: All the events that there are; what else it lists goes. By default all of it stays.
    """
    if data is None:
        data = set_property(parse(b"\n"), "name", day.isoformat())
        data = set_property(parse(data), "description", "What happened on this day")
    listed = {path: line for path, line in listed_in(data).items() if among is None or path in among}
    for path, (name, description) in notes.items():
        shown = one_line(re.sub(r"[\[\]|]+", " ", name))
        listed[path] = f"- [[{path}|{shown}]] — {one_line(description)}".removesuffix(" — ")
    content = "\n".join(listed[path] for path in sorted(listed))
    return with_region(data, _REGION, content.encode("utf-8"))


def listed_in(data: bytes | None) -> dict[str, str]:
    """The lines of a day's index, by the paths of their events."""
    lines = (region(data or b"", _REGION) or b"").decode("utf-8", "replace").splitlines()
    return {match["path"]: line for line in lines if (match := _LISTED.match(line))}


def is_generated_alone(data: bytes, day: date) -> bool:
    """Whether a day's index has nothing but what was generated, so that it need not be where there is no event."""
    return without_regions(data) == without_regions(day_index(None, day, {}))


def has_index(data: bytes | None) -> bool:
    """Whether a file has a region for a day's index."""
    return data is not None and region(data, _REGION) is not None


def one_line(text: str) -> str:
    """A text on one line, without what would be read as a comment or a link."""
    return " ".join(re.sub(r"<!--|-->|%%|\[\[|\]\]", " ", text).split())
