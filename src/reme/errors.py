"""The error tree: one class per way a request can fail, the same on every face.

Owns the kinds, their exit codes and their JSON shape. Knows nothing of files, notes or faces.
"""

from typing import ClassVar

__all__ = [
    "ConfigError",
    "Conflict",
    "InvalidInput",
    "NotFound",
    "ReMeError",
    "Refused",
    "Unavailable",
]


class ReMeError(Exception):
    """A request that could not be carried out; nothing was changed.

    Args:
        message: What is wrong, naming the thing.
        hint: The way out, one sentence, or empty. Parameters stand in backquotes, here and in the message, so that a
            face can spell them as they are given to it; ``=false`` behind one means turning it off. So do operations,
            alone or with one argument, as in ``show run=ID``.
        details: JSON-compatible facts for programs (paths, lines, counts).
    """

    kind: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 70
    http_status: ClassVar[int] = 500

    def __init__(self, message: str, *, hint: str = "", details: dict[str, object] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details: dict[str, object] = details or {}

    def as_dict(self) -> dict[str, object]:
        """The error as every face shows it: kind, message, and hint and details where there are any."""
        shown: dict[str, object] = {"kind": self.kind, "message": self.message}
        if self.hint:
            shown["hint"] = self.hint
        if self.details:
            shown["details"] = self.details
        return shown


class InvalidInput(ReMeError):
    """An argument that is malformed, whatever the state of the vault."""

    kind = "invalid_input"
    exit_code = 2
    http_status = 422


class NotFound(ReMeError):
    """The named note, run, heading or text does not exist."""

    kind = "not_found"
    exit_code = 1
    http_status = 404


class Conflict(ReMeError):
    """The vault is not in the state that the request expected."""

    kind = "conflict"
    exit_code = 3
    http_status = 409


class Refused(ReMeError):
    """A rule forbids it: a path outside the vault, a role without the right, a conservation law."""

    kind = "refused"
    exit_code = 4
    http_status = 403


class Unavailable(ReMeError):
    """Something that is needed does not answer: a lock, the disk, a provider."""

    kind = "unavailable"
    exit_code = 5
    http_status = 503


class ConfigError(ReMeError):
    """A setting is unknown or has an impossible value, or there is no vault."""

    kind = "config"
    exit_code = 2
    http_status = 500
