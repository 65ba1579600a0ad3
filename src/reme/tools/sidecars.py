"""Sidecars: what is known of a resource beside its content, in ``<name>.meta.yaml``, only ever appended to.

Owns the form: a YAML list with one entry for each time that the content was brought in, the first one included.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from reme.errors import InvalidInput
from reme.paths import VaultPath
from reme.revision import Revision
from reme.search import Origin, as_origin, lowest
from reme.vault import SIDECAR_SUFFIX, Vault

__all__ = [
    "Sighting",
    "check_sidecar",
    "recorded_origin",
    "recorded_revisions",
    "resource_origin",
    "sidecar_of",
    "sighting_entry",
]


@dataclass(frozen=True, slots=True)
class Sighting:
    """One time that a content was brought in.

    Attributes:
        at: When.
        revision: Of the content.
        name: What the file was called where it came from.
        actor: Who brought it.
        origin: How far its words are to be trusted.
        source: Where it came from, as the caller says; empty where unknown.
        media_type: Its kind, as the name tells.
    """

    at: datetime
    revision: Revision
    name: str
    actor: str
    origin: Origin
    source: str = ""
    media_type: str = ""


def sidecar_of(path: VaultPath) -> VaultPath:
    """The path of a resource's sidecar."""
    return VaultPath(path + SIDECAR_SUFFIX)


def sighting_entry(sighting: Sighting) -> bytes:
    """The lines that record a sighting."""
    facts = {
        "at": sighting.at.isoformat(timespec="seconds"),
        "revision": sighting.revision,
        "name": sighting.name,
        "actor": sighting.actor,
        "origin": sighting.origin,
        "source": sighting.source,
        "media_type": sighting.media_type,
    }
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in facts.items() if value]
    return ("- " + "\n  ".join(lines) + "\n").encode("utf-8")


def recorded_revisions(data: bytes) -> frozenset[str]:
    """The revisions that a sidecar records of its resource; none where it cannot be read as one."""
    found = (entry.get("revision") for entry in _entries(data))
    return frozenset(revision for revision in found if isinstance(revision, str))


def recorded_origin(data: bytes) -> Origin:
    """The least trusted of those who brought a resource in; ``web`` where an entry, or the whole, does not tell."""
    entries = _entries(data)
    return lowest(as_origin(entry.get("origin")) or "web" for entry in entries) if entries else "web"


def resource_origin(vault: Vault, path: VaultPath) -> Origin:
    """What a resource's sidecar records of its origin; ``web`` where there is none."""
    return recorded_origin(vault.bytes_of(sidecar_of(path)) or b"")


def check_sidecar(path: VaultPath, data: bytes) -> None:
    """Make sure that bytes can be read as a sidecar.

    Raises:
        InvalidInput: If they are no list of entries.
    """
    document = _document(data)
    if not isinstance(document, list) or len(_entries(data)) < len(cast("list[object]", document)):
        raise InvalidInput(
            f"{path} would no longer be a list of entries",
            hint="Append an entry of its own, such as: - note: read twice",
            details={"path": path},
        )


def _entries(data: bytes) -> list[Mapping[str, object]]:
    document = _document(data)
    entries = cast("list[object]", document if isinstance(document, list) else [document])
    return [cast("Mapping[str, object]", entry) for entry in entries if isinstance(entry, Mapping)]


def _document(data: bytes) -> object:
    """What the YAML says; None where it is none."""
    import yaml

    try:
        return yaml.load(data, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
    except (yaml.YAMLError, ValueError):
        return None
