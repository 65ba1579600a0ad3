"""Signals: what maintenance has found out about the notes, read from small files and never required.

Owns the reading of ``<state>/meta/*.json``. Each file is ``{"version": 1, "computed_at": ISO instant with offset,
"<name>": {…}}``, and is named as the mapping in it:

* ``communities``: path → id of its community
* ``archived``: path → day on which it was put aside without being moved
* ``access_log``: path → days on which it was found or read

A file that is absent, broken or of another version switches its factor off, the latter two with a warning; an old one
is used, with a warning.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

__all__ = ["NO_SIGNALS", "SIGNAL_VERSION", "Signals", "Standpoint"]

SIGNAL_VERSION: Final = 1
_OLD: Final = timedelta(days=14)


@dataclass(frozen=True, slots=True)
class Standpoint:
    """The signals as one search sees them; a mapping is empty where its factor is off.

    Attributes:
        communities: Community of each path.
        archived: Paths that are searched only on request, as if they were in the archive.
        last_use: The last day, ISO, on which each path was found or read.
        freshness: By signal: when it was made (ISO), or ``absent`` or ``unusable``.
        warnings: What a person should know of them.
    """

    communities: Mapping[str, str | int] = field(default_factory=dict[str, str | int])
    archived: frozenset[str] = frozenset()
    last_use: Mapping[str, str] = field(default_factory=dict[str, str])
    freshness: Mapping[str, str] = field(default_factory=dict[str, str])
    warnings: tuple[str, ...] = ()


NO_SIGNALS: Final = Standpoint()


class _Loaded(NamedTuple):
    """A signal's contents: when it was made, and its values by path."""

    computed_at: datetime
    values: Mapping[str, Any]


class Signals:
    """The signals of one vault; a file is read when it is first needed and when it has changed since.

    Args:
        folder: Where the files are; need not exist.
    """

    def __init__(self, folder: Path) -> None:
        self._files = {name: folder / f"{name}.json" for name in _SIGNALS}
        self._seen: dict[str, tuple[tuple[int, int], _Loaded | str]] = {}
        self._archived: tuple[Mapping[str, Any], frozenset[str]] = ({}, frozenset())

    def at(self, now: datetime) -> Standpoint:
        """The signals at an instant (with a zone). Never raises."""
        found: dict[str, Mapping[str, Any]] = {}
        freshness: dict[str, str] = {}
        warnings: list[str] = []
        for name, file in self._files.items():
            loaded = self._load(name, file)
            if loaded is None:
                freshness[name] = "absent"
            elif isinstance(loaded, str):
                freshness[name] = "unusable"
                warnings.append(f"{_shown(name)} not used: {loaded}")
            else:
                found[name], freshness[name] = loaded.values, loaded.computed_at.isoformat()
                if (age := now - loaded.computed_at) > _OLD:
                    warnings.append(f"{_shown(name)} {age.days} days old")
        archived = self._archived
        if archived[0] is not (values := found.get("archived", {})):
            archived = self._archived = (values, frozenset(values))
        return Standpoint(
            found.get("communities", {}), archived[1], found.get("access_log", {}), freshness, tuple(warnings)
        )

    def _load(self, name: str, file: Path) -> _Loaded | str | None:
        """A signal's contents, what is wrong with them, or None if there is no such file."""
        try:
            stat = file.stat()
        except OSError:
            self._seen.pop(name, None)
            return None
        stamp = (stat.st_mtime_ns, stat.st_size)
        known = self._seen.get(name)
        if known is None or known[0] != stamp:
            known = self._seen[name] = (stamp, _read(file, name))
        return known[1]


def _shown(name: str) -> str:
    return "the access log is" if name == "access_log" else f"{name} notes are" if name == "archived" else f"{name} are"


def _read(file: Path, name: str) -> _Loaded | str:
    try:
        loaded: object = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        return f"{file.name} cannot be read: {error}"
    if not isinstance(loaded, dict):
        return f"{file.name} is of another kind"
    signal = cast("dict[str, Any]", loaded)
    if signal.get("version") != SIGNAL_VERSION:
        return f"{file.name} is of version {signal.get('version')}, not {SIGNAL_VERSION}"
    try:
        computed = datetime.fromisoformat(str(signal.get("computed_at")))
    except ValueError:
        return f"{file.name} does not say when it was made"
    values = signal.get(name)
    if computed.tzinfo is None or not isinstance(values, dict):
        return f"{file.name} is of another kind"
    acceptable = _SIGNALS[name]
    kept = ((path, acceptable(value)) for path, value in cast("dict[str, Any]", values).items())
    return _Loaded(computed, {path: value for path, value in kept if value is not None})


def _community(value: object) -> str | int | None:
    return value if isinstance(value, str | int) else None


def _last_day(value: object) -> str | None:
    """The last of some ISO days, or None if there is none."""
    days = cast("list[object]", value) if isinstance(value, list) else []
    return max((day for day in days if isinstance(day, str) and len(day) == len("2026-05-15")), default=None)


def _any(value: object) -> object:
    return value if value is not None else ""


_SIGNALS: Final[Mapping[str, Callable[[object], Any]]] = {
    "communities": _community,
    "archived": _any,
    "access_log": _last_day,
}
