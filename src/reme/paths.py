"""Vault paths: how any spelling that a person or program gives becomes one contained, relative identity.

Owns the rules for spelling. Knows nothing of the disk: that a path's real location stays inside the vault is checked
by the vault.
"""

import re
import sys
import unicodedata
from typing import Final, NewType
from urllib.parse import unquote

from reme.errors import Refused

__all__ = [
    "MARKDOWN_SUFFIXES",
    "VaultPath",
    "basename",
    "fold",
    "is_hidden",
    "is_markdown",
    "join",
    "parent",
    "parse_path",
    "slug_of",
    "stem",
    "suffix",
]

VaultPath = NewType("VaultPath", str)
"""Vault-relative POSIX path in NFC, without empty, ``.``, ``..`` or dot-folder components: a note's identity."""

MARKDOWN_SUFFIXES: Final = (".md", ".markdown")

_DRIVE = re.compile(r"^[A-Za-z]:" if sys.platform == "win32" else r"^[A-Za-z]:(?:/|$)")
_LONGEST_SLUG = 60
_ENCODED = re.compile(r"%(?:2e|2f|5c|00|25)", re.IGNORECASE)


def parse_path(raw: str, *, root: bool = False) -> VaultPath:
    """Turn a given spelling into a vault path.

    Args:
        raw: A path from the vault's root with ``/`` or ``\\``; a trailing slash is ignored.
        root: Whether the vault's root itself, the empty path, is acceptable.

    Raises:
        Refused: For every spelling that could name something outside the vault or in its machinery: absolute, drive
            letter, UNC, ``~``, NUL or control characters, ``.`` and ``..`` components, dot-folders and dot-files, and
            percent-encodings of these.
    """
    text = unicodedata.normalize("NFC", raw).replace("\\", "/")
    if reason := _unsafe(text) or (_unsafe_encoded(text)):
        raise _refused(raw, reason)
    parts = text.removesuffix("/").split("/")
    if parts == [""]:
        if root:
            return VaultPath("")
        raise _refused(raw, "it is empty")
    if "" in parts:
        raise _refused(raw, "it has an empty component")
    return VaultPath("/".join(parts))


def _unsafe(text: str) -> str:
    if any(ord(char) < 32 or ord(char) == 127 for char in text):
        return "it has a control character"
    if any("\ud800" <= char <= "\udfff" for char in text):
        return "it is not valid Unicode"
    if text.startswith(("/", "~")) or _DRIVE.match(text):
        return "it is absolute"
    for part in text.split("/"):
        if part in (".", ".."):
            return f"it has a '{part}' component"
        if is_hidden(part):
            return f"'{part}' is hidden"
    return ""


def is_hidden(name: str) -> bool:
    """Whether a file or folder of this name is no part of a vault: names with one leading dot."""
    return name.startswith(".") and not name.startswith("..")


def _unsafe_encoded(text: str) -> str:
    """Percent-encodings are not decoded here, but what would be unsafe once decoded is refused in any spelling."""
    decoded = text
    while _ENCODED.search(decoded):
        decoded = unquote(decoded).replace("\\", "/")
        if reason := _unsafe(decoded):
            return f"{reason} once decoded"
    return ""


def _refused(raw: str, reason: str) -> Refused:
    return Refused(
        f"{raw!r} is not a path inside the vault: {reason}",
        hint="Give a path from the vault's root, such as daily/2026-05-15/jwt.md.",
        details={"path": raw},
    )


def parent(path: VaultPath) -> VaultPath:
    """The folder that holds a path; empty for one at the root."""
    return VaultPath(path.rpartition("/")[0])


def basename(path: VaultPath) -> str:
    """The last component."""
    return path.rpartition("/")[2]


def suffix(path: VaultPath) -> str:
    """The last component's extension with its dot, lower-cased; empty where there is none."""
    name = basename(path)
    dot = name.rfind(".")
    return name[dot:].lower() if dot > 0 else ""


def stem(path: VaultPath) -> str:
    """The last component without its extension."""
    name = basename(path)
    dot = name.rfind(".")
    return name[:dot] if dot > 0 else name


def join(folder: VaultPath, name: str) -> VaultPath:
    """The path of ``name`` (one or more safe components) inside a folder."""
    return VaultPath(f"{folder}/{name}" if folder else name)


def is_markdown(path: VaultPath) -> bool:
    """Whether the path names a Markdown note."""
    return suffix(path) in MARKDOWN_SUFFIXES


def slug_of(title: str) -> str:
    """A title as a file name: lower case, any script, a hyphen for all that is no letter or digit, 60 characters."""
    slug = re.sub(r"[^\w]+|_+", "-", title.lower().replace("'", "").replace("’", "")).strip("-")
    if len(slug) > _LONGEST_SLUG:
        slug = slug[:_LONGEST_SLUG].rpartition("-")[0] or slug[:_LONGEST_SLUG]
    return slug or "note"


def fold(text: str) -> str:
    """The form in which names are compared: NFC, case-folded. ``Straße`` and ``STRASSE`` are one name."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
