"""Three-way merge of lines, byte for byte.

Owns the merge. Source: Khanna, Kunal and Pierce, "A Formal Investigation of Diff3" (2007), over difflib's matching.
"""

from collections.abc import Iterator
from difflib import SequenceMatcher

__all__ = ["merge"]


def merge(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Both changes to a common base, where they do not touch; None where they do.

    Lines that one only added at the end do not touch what the other did; where both only added, theirs come first.

    Args:
        base: What both started from.
        ours: One changed version.
        theirs: The other.
    """
    if ours == base:
        return theirs
    if theirs in (base, ours):
        return ours
    if ours.startswith(base) and theirs.startswith(base):
        return theirs + ours[len(base) :]
    merged = _by_lines(base, ours, theirs)
    return _with_added(base, ours, theirs) if merged is None else merged


def _by_lines(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    lines = tuple(data.splitlines(keepends=True) for data in (base, ours, theirs))
    merged: list[bytes] = []
    at = (0, 0, 0)
    for stable in _stable(*lines):
        chunk = [part[a:b] for part, a, b in zip(lines, at, stable[:3], strict=True)]
        if (piece := _one_sided(*chunk)) is None:
            return None
        length = stable[3]
        merged += piece + lines[0][stable[0] : stable[0] + length]
        at = (stable[0] + length, stable[1] + length, stable[2] + length)
    return b"".join(merged)


def _with_added(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """One version with the lines that the other only added at the end; None where neither did just that."""
    for added, other in ((ours, theirs), (theirs, ours)):
        if added.startswith(base) and base.endswith(b"\n") and other.endswith(b"\n"):
            addition = added[len(base) :]
            return other if other.endswith(addition) else other + addition
    return None


def _one_sided(base: list[bytes], ours: list[bytes], theirs: list[bytes]) -> list[bytes] | None:
    if ours == base:
        return theirs
    return ours if theirs in (base, ours) else None


def _stable(base: list[bytes], ours: list[bytes], theirs: list[bytes]) -> Iterator[tuple[int, int, int, int]]:
    """Runs of lines that all three share: their starts in each and their length; last, the ends with length 0."""
    mine = _matches(base, ours)
    other = _matches(base, theirs)
    start = 0
    while start < len(base):
        if start in mine and start in other:
            length = 1
            while (
                mine.get(start + length) == mine[start] + length and other.get(start + length) == other[start] + length
            ):
                length += 1
            yield start, mine[start], other[start], length
            start += length
        else:
            start += 1
    yield len(base), len(ours), len(theirs), 0


def _matches(base: list[bytes], changed: list[bytes]) -> dict[int, int]:
    blocks = SequenceMatcher(None, base, changed, autojunk=False).get_matching_blocks()
    return {a + n: b + n for a, b, size in blocks for n in range(size)}
