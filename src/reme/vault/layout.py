"""Which folder is which layer: all that the vault knows of what its folders are for, given by configuration."""

import os
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, Literal

from reme.errors import Refused
from reme.paths import VaultPath, fold, parse_path

__all__ = ["SETTINGS_FILE", "SIDECAR_SUFFIX", "Layer", "Layout"]

SETTINGS_FILE: Final = VaultPath("reme.yaml")
"""The vault's settings decide what roles and layers mean, so no agent may write them."""
SIDECAR_SUFFIX: Final = ".meta.yaml"

Layer = Literal["resource", "daily", "digest", "session", "archive", "audit", "other"]


@dataclass(frozen=True, slots=True)
class Layout:
    """The names of the layer folders, each one or more path components from the vault's root."""

    resource: str = "resource"
    daily: str = "daily"
    digest: str = "digest"
    session: str = "session"
    archive: str = "archive"
    audit: str = "audit"

    def __post_init__(self) -> None:
        """Raise ``ValueError`` for names that are no paths inside a vault or lie inside each other."""
        names = self.folders()
        for layer, name in names.items():
            try:
                plain = parse_path(name) == name
            except Refused as refusal:
                raise ValueError(f"{layer}: {refusal.message}") from refusal
            if not plain:
                raise ValueError(f"{layer}: {name!r} is not a plain path; write {parse_path(name)!r}")
            for other, taken in names.items():
                if other != layer and fold(f"{name}/").startswith(fold(f"{taken}/")):
                    raise ValueError(f"{layer} and {other} share the folder {name!r}; give each its own")

    def folders(self) -> dict[Layer, str]:
        """The folder of each layer but ``other``."""
        return {
            "resource": self.resource,
            "daily": self.daily,
            "digest": self.digest,
            "session": self.session,
            "archive": self.archive,
            "audit": self.audit,
        }

    def spelled_as_in(self, root: Path) -> "Layout":
        """The same folders, each in the letter case in which it is there already, if it is in only one other.

        A disk that does not tell ``Daily`` from ``daily`` has no room for both, and a vault that is synced to one
        neither; so the one that people have made is the layer's.

        Args:
            root: The vault's folder.
        """
        folders = cache(_folders)
        return Layout(**{str(layer): _on_disk(root, name, folders) for layer, name in self.folders().items()})

    def layer_of(self, path: VaultPath) -> Layer:
        """The layer that a path belongs to, in whatever letter case: to some disks it is the same place."""
        within = f"{fold(path)}/"
        for layer, start in _starts(self):
            if within.startswith(start):
                return layer
        return "other"

    @property
    def ledger(self) -> VaultPath:
        """The file of decisions that could not be derived again, one JSON object a line."""
        return VaultPath(f"{self.audit}/ledger.jsonl")


@lru_cache(maxsize=8)
def _starts(layout: Layout) -> tuple[tuple[Layer, str], ...]:
    """What the folded paths of each layer begin with."""
    return tuple((layer, f"{fold(folder)}/") for layer, folder in layout.folders().items())


def _on_disk(root: Path, name: str, folders: Callable[[Path], dict[str, dict[str, Path]]]) -> str:
    """The path of a folder in the spelling that the disk has, as far as it is there."""
    place, spelled = root, list[str]()
    for part in name.split("/"):
        there = folders(place).get(fold(part), {})
        known = part if part in there or len(there) != 1 else next(iter(there))
        spelled.append(known)
        place = there.get(known, place / known)
    return "/".join(spelled)


def _folders(place: Path) -> dict[str, dict[str, Path]]:
    """The folders in a folder: by their folded names, the spellings that are there."""
    found: dict[str, dict[str, Path]] = {}
    with suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                name = unicodedata.normalize("NFC", entry.name)
                found.setdefault(fold(name), {})[name] = Path(entry.path)
    return found
