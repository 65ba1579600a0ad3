"""Tokens: who shows one has its role's rights in the vaults that it is for.

Owns the file that they are in. No token leaves this module but into that file.
"""

import hashlib
import hmac
import os
import secrets
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, cast

from reme.errors import ConfigError
from reme.vault import Role

__all__ = ["Tokens", "make_tokens", "read_tokens"]

_ROLES: Final[tuple[Role, ...]] = ("agent", "curator", "person")
_SHORTEST: Final = 32
_FRESH_BYTES: Final = 32
_ABOUT: Final = """\
# Tokens of ReMe, one a line: the token, its role (agent, curator or person), and the vaults that it is for; for every
# vault if none is named. Whoever has a token may do what its role may do: keep this file to yourself.
"""


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens for one vault, as hashes, each with its role."""

    _known: tuple[tuple[bytes, Role], ...] = field(repr=False)

    def role_of(self, token: str) -> Role | None:
        """The role of a token, or None if it is not known. Takes as long whichever it is."""
        shown, found = _hashed(token), None
        for known, role in self._known:
            if hmac.compare_digest(known, shown):
                found = role
        return found


def make_tokens(file: Path) -> None:
    """Make a file with one fresh token of an agent, which nobody else may read.

    Raises:
        ConfigError: If it cannot be made.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(f"{_ABOUT}{secrets.token_urlsafe(_FRESH_BYTES)} agent\n")
    except OSError as error:
        raise ConfigError(f"the token file {file} cannot be made: {error.strerror}") from error


def read_tokens(file: Path, vault: Path) -> Tokens:
    """The tokens that are for a vault.

    Raises:
        ConfigError: If the file is not there or can be read by others, a line is not right, or none is for the vault.
            No message says what a token is.
    """
    try:
        mode = file.stat().st_mode
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the token file {file} cannot be read: {getattr(error, 'strerror', '') or error}") from None
    if sys.platform != "win32" and mode & 0o077:
        raise ConfigError(f"others may read the token file {file}", hint=f"Keep it to yourself: chmod 600 {file}")
    given = [_parsed(file, number, line) for number, line in enumerate(lines, 1)]
    root = vault.resolve()
    known: tuple[tuple[bytes, Role], ...] = tuple(
        (_hashed(token), role)
        for token, role, vaults in filter(None, given)
        if not vaults or root in {Path(named).expanduser().resolve() for named in vaults}
    )
    if not known:
        raise ConfigError(f"the token file {file} has no token for this vault", hint="Add a line: TOKEN ROLE [VAULT …]")
    return Tokens(known)


def _parsed(file: Path, number: int, line: str) -> tuple[str, Role, Sequence[str]] | None:
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        words = [""]
    if not words:
        return None
    token, role, *vaults = words if len(words) > 1 else [*words, "agent"]
    place = f"the token file {file}, line {number}"
    if len(token) < _SHORTEST or not token.isascii():
        raise ConfigError(
            f"{place}: a token has {_SHORTEST} characters or more, of ASCII alone",
            hint='Make one with: python -c "import secrets; print(secrets.token_urlsafe(32))"',
        )
    if role not in _ROLES:
        raise ConfigError(f"{place}: {role!r} is no role", hint=f"One of {', '.join(_ROLES)}.")
    return token, cast("Role", role), vaults


def _hashed(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()
