"""Generated regions: what a program writes between markers inside a file that a person also writes in.

A region is everything between a line ``<!-- reme:begin NAME -->`` and a line ``<!-- reme:end NAME -->``. What stands
around the markers is never changed.
"""

import re
from typing import Final

from reme.errors import InvalidInput

__all__ = ["region", "with_region", "with_regions_of", "without_regions"]

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_MARKER: Final = re.compile(
    rb"^[ \t]*<!--[ \t]*reme:(begin|end)[ \t]+([A-Za-z0-9][A-Za-z0-9._-]*)[ \t]*-->[ \t]*(?:\r?\n|\r?\Z)", re.MULTILINE
)


def region(data: bytes, name: str) -> bytes | None:
    """What stands between the markers of a region, or None if the file has no such region.

    Args:
        data: The file.
        name: Letters, digits, ``.``, ``_``, ``-``.
    """
    return next((data[start:end] for _, start, end, _, found in _regions(data) if found == name), None)


def with_region(data: bytes, name: str, content: bytes) -> bytes:
    """The file with a region's content replaced, or with the region added at its end.

    Args:
        data: The file; its line ending is used for what is added.
        name: Letters, digits, ``.``, ``_``, ``-``.
        content: UTF-8 with ``\\n`` line endings.

    Raises:
        InvalidInput: The name is malformed, or the content itself has markers.
    """
    if not _NAME.fullmatch(name):
        raise InvalidInput(f"{name!r} is not a name for a region.", hint="Use letters, digits, '.', '_' and '-'.")
    if _MARKER.search(content):
        raise InvalidInput(f"The content for region {name!r} has region markers in it.")
    newline = b"\r\n" if b"\r\n" in data else b"\n"
    if content and not content.endswith(b"\n"):
        content += b"\n"
    written = content.replace(b"\r\n", b"\n").replace(b"\n", newline)
    for _, start, end, _, found in _regions(data):
        if found == name:
            return data[:start] + written + data[end:]
    block = b"<!-- reme:begin %b -->%b%b<!-- reme:end %b -->%b" % (
        name.encode(),
        newline,
        written,
        name.encode(),
        newline,
    )
    gap = b"" if not data or data.endswith((b"\n\n", b"\n\r\n")) else newline if data.endswith(b"\n") else newline * 2
    return data + gap + block


def with_regions_of(data: bytes, other: bytes) -> bytes:
    """The file with the content of its generated regions as it is in another file, where that has them too."""
    if b"reme:begin" not in data:
        return data
    contents = {name: other[start:end] for _, start, end, _, name in _regions(other)}
    pieces: list[bytes] = []
    reached = 0
    for _, start, end, _, name in _regions(data):
        pieces += (data[reached:start], contents.get(name, data[start:end]))
        reached = end
    return b"".join((*pieces, data[reached:]))


def without_regions(data: bytes) -> bytes:
    """The file without its generated regions, markers included."""
    if b"reme:begin" not in data:
        return data
    kept: list[bytes] = []
    reached = 0
    for first, _, _, last, _ in _regions(data):
        kept.append(data[reached:first])
        reached = last
    return b"".join((*kept, data[reached:]))


def _regions(data: bytes) -> list[tuple[int, int, int, int, str]]:
    """Start of the opening marker, start and end of the content, end of the closing marker, name; in order."""
    found: list[tuple[int, int, int, int, str]] = []
    opened: re.Match[bytes] | None = None
    for match in _MARKER.finditer(data):
        if match[1] == b"begin":
            opened = match
        elif opened is not None and opened[2] == match[2]:
            found.append((opened.start(), opened.end(), match.start(), match.end(), match[2].decode()))
            opened = None
    return found
