"""Vault paths: how any spelling that a person or program gives becomes one contained, relative identity.

Owns the rules for spelling. Knows nothing of the disk: that a path's real location stays inside the vault is checked
by the vault.
"""

import re
import sys
import unicodedata
from collections.abc import Collection
from typing import Final, NewType
from urllib.parse import unquote

from reme.errors import InvalidInput, Refused

__all__ = [
    "MARKDOWN_SUFFIXES",
    "VaultPath",
    "basename",
    "check_portable",
    "fold",
    "is_hidden",
    "is_markdown",
    "is_within",
    "join",
    "parent",
    "parse_path",
    "portable_name",
    "slug_of",
    "stem",
    "suffix",
    "unlinkable",
]

VaultPath = NewType("VaultPath", str)
"""Vault-relative POSIX path in NFC, without empty, ``.``, ``..`` or dot-folder components: a note's identity."""

MARKDOWN_SUFFIXES: Final = (".md", ".markdown")

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_DRIVE = re.compile(r"^[A-Za-z]:" if sys.platform == "win32" else r"^[A-Za-z]:(?:/|$)")
_LONGEST_SLUG = 60
_LONGEST_NAME = 255
"""UTF-8 bytes of one component, on most file systems."""
_LONGEST_PATH = 900
"""UTF-8 bytes; macOS takes 1,024 together with the vault's own place."""
_UNPORTABLE = {":": "-", "|": "-", '"': "'", "<": "(", ">": ")", "?": "", "*": ""}
"""What Windows has in no name, each with what may stand in its place."""
_UNLINKABLE = {"#": "", "^": "", "|": "-", "[": "(", "]": ")"}
"""What has a meaning of its own in a link, likewise."""
_DEVICE = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³]) *(?:\.|$)", re.IGNORECASE)
"""Names that Windows keeps for devices, whatever their extension."""
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
    if _CONTROL.search(text):
        return "it has a control character"
    if _SURROGATE.search(text):
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


def is_within(path: str, place: str) -> bool:
    """Whether a path is a place, or in it where that is a folder."""
    return path == place or path.startswith(place + "/")


def slug_of(title: str) -> str:
    """A title as a file name: lower case, any script, a hyphen for all that is no letter or digit, 60 characters."""
    slug = re.sub(r"[^\w]+|_+", "-", title.lower().replace("'", "").replace("’", "")).strip("-")
    if len(slug) > _LONGEST_SLUG:
        slug = slug[:_LONGEST_SLUG].rpartition("-")[0] or slug[:_LONGEST_SLUG]
    return f"{slug}-note" if _DEVICE.match(slug) else slug or "note"


def check_portable(path: VaultPath, besides: Collection[str] = ()) -> None:
    """Make sure that a new path can be kept on every system, so that a vault can be taken to any.

    Args:
        path: A path that shall be.
        besides: Components that are there already, and so are nobody's choice now.

    Raises:
        InvalidInput: Naming the component, what is wrong with it, and the nearest name that is right.
    """
    parts = path.split("/")
    for number, part in enumerate(parts):
        if part not in besides and (problem := _unportable(part)):
            better = "/".join([*parts[:number], portable_name(part), *parts[number + 1 :]])
            shown = part if len(part) < _LONGEST_SLUG else part[: _LONGEST_SLUG - 1] + "…"
            raise InvalidInput(
                f"{shown!r} is no name that every system can keep: {problem}",
                hint=f"Choose another, such as {better}",
                details={"path": path, "component": part, "suggestion": better},
            )
    if len(path.encode()) > _LONGEST_PATH:
        raise InvalidInput(
            f"{path[:60]}… is too long for a path: {len(path.encode())} bytes, and more than {_LONGEST_PATH} are too "
            "many for some systems",
            hint="Choose shorter names, or fewer folders.",
            details={"path": path},
        )


def _unportable(name: str) -> str:
    """What keeps a name from some system, in words; empty where nothing does."""
    if found := next((char for char in name if char in _UNPORTABLE), ""):
        return f"it has a {found}"
    if name.endswith((".", " ")):
        return "it ends with a " + ("dot" if name.endswith(".") else "space")
    if _DEVICE.match(name):
        return "it is a device on Windows"
    if (size := len(name.encode("utf-8", "replace"))) > _LONGEST_NAME:
        return f"it is too long, with {size} bytes where {_LONGEST_NAME} are the most"
    return ""


def portable_name(name: str, *, linked: bool = False, room: int = 0) -> str:
    """The name most like this one that every system can keep.

    Args:
        name: One component.
        linked: Whether links shall be able to spell it, too.
        room: Bytes to leave free for something that is to follow the name.
    """
    swapped = name.translate(str.maketrans(_UNPORTABLE | _UNLINKABLE if linked else _UNPORTABLE)).rstrip(". ")
    if not swapped or (is_hidden(swapped) and not is_hidden(name)):
        swapped = f"note{swapped}"
    if _DEVICE.match(swapped):
        device, dot, rest = swapped.partition(".")
        swapped = f"{device.rstrip()}-note{dot}{rest}"
    at = swapped.rfind(".")
    own, ending = (swapped[:at], swapped[at:]) if at > 0 and len(swapped) - at < _LONGEST_SLUG else (swapped, "")
    left = _LONGEST_NAME - room - len(ending.encode("utf-8", "replace"))
    return (own.encode("utf-8", "replace")[:left].decode("utf-8", "ignore") + ending).rstrip(". ")


def unlinkable(path: VaultPath) -> str:
    """The characters of a path that have a meaning of their own in a link."""
    return "".join(dict.fromkeys(char for char in path if char in _UNLINKABLE))


def fold(text: str) -> str:
    """The form in which names are compared: NFC, case-folded. ``Straße`` and ``STRASSE`` are one name."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
