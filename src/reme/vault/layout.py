"""Which folder is which layer: all that the vault knows of what its folders are for, given by configuration."""

from dataclasses import dataclass
from typing import Final, Literal

from reme.errors import Refused
from reme.paths import VaultPath, parse_path

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
                if other != layer and f"{name}/".startswith(f"{taken}/"):
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

    def layer_of(self, path: VaultPath) -> Layer:
        """The layer that a path belongs to."""
        for layer, folder in self.folders().items():
            if path == folder or path.startswith(folder + "/"):
                return layer
        return "other"

    @property
    def ledger(self) -> VaultPath:
        """The file of decisions that could not be derived again, one JSON object a line."""
        return VaultPath(f"{self.audit}/ledger.jsonl")
