"""Signals: what consolidation has found out about the notes, read from small files and never required.

Owns the reading of ``<state>/meta/*.json``. A file that is absent, broken or of another version switches its factor
off, with a warning; an old one is used, with a warning.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, cast

__all__ = ["NO_SIGNALS", "Signals", "Standpoint"]

_VERSION: Final = 1
_OLD: Final = timedelta(days=14)
_COMMUNITIES: Final = "communities"


@dataclass(frozen=True, slots=True)
class Standpoint:
    """The signals as one search sees them.

    Attributes:
        communities: Community of each path; empty where the factor is off.
        freshness: By signal: when it was made (ISO), or ``absent`` or ``unusable``.
        warnings: What a person should know of them.
    """

    communities: Mapping[str, str | int]
    freshness: Mapping[str, str]
    warnings: tuple[str, ...] = ()


NO_SIGNALS: Final = Standpoint({}, {})


class Signals:
    """The signals of one vault; a file is read when it is first needed and when it has changed since.

    Each file is ``{"version": 1, "made_at": ISO instant, "<name>": …}``; ``communities.json`` maps paths to ids.

    Args:
        folder: Where the files are; need not exist.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seen: dict[str, tuple[tuple[int, int], Mapping[str, Any] | str]] = {}

    def at(self, now: datetime) -> Standpoint:
        """The signals at an instant (with a zone). Never raises."""
        loaded = self._load(_COMMUNITIES)
        if loaded is None:
            return Standpoint({}, {_COMMUNITIES: "absent"})
        if isinstance(loaded, str):
            return Standpoint({}, {_COMMUNITIES: "unusable"}, (f"communities are not used: {loaded}",))
        made: datetime = loaded["made_at"]
        late = now - made > _OLD
        warnings = (f"communities are {(now - made).days} days old",) if late else ()
        return Standpoint(loaded[_COMMUNITIES], {_COMMUNITIES: made.isoformat()}, warnings)

    def _load(self, name: str) -> Mapping[str, Any] | str | None:
        """A signal's contents, what is wrong with them, or None if there is no such file."""
        file = self._folder / f"{name}.json"
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


def _read(file: Path, name: str) -> Mapping[str, Any] | str:
    try:
        loaded: object = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        return f"{file.name} cannot be read: {error}"
    if not isinstance(loaded, dict):
        return f"{file.name} is of another kind"
    signal = cast("dict[str, Any]", loaded)
    if signal.get("version") != _VERSION:
        return f"{file.name} is of version {signal.get('version')}, not {_VERSION}"
    try:
        made = datetime.fromisoformat(str(signal.get("made_at")))
    except ValueError:
        return f"{file.name} does not say when it was made"
    values = signal.get(name)
    if made.tzinfo is None or not isinstance(values, dict):
        return f"{file.name} is of another kind"
    kept = cast("dict[str, Any]", values)
    return {"made_at": made, name: {path: value for path, value in kept.items() if isinstance(value, int | str)}}
