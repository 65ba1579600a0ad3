"""Edits by span: the bytes that are replaced change and no others."""

from collections.abc import Iterable

from reme.markdown.note import Span

__all__ = ["splice"]


def splice(data: bytes, edits: Iterable[tuple[Span, bytes]]) -> bytes:
    """Replace spans of some bytes.

    Args:
        data: The bytes that the spans refer to.
        edits: Spans that do not overlap, in any order, each with what shall stand there; an empty span inserts.

    Raises:
        ValueError: Spans overlap or leave the data.
    """
    pieces: list[bytes] = []
    reached = 0
    for span, replacement in sorted(edits, key=lambda edit: edit[0]):
        if not reached <= span.start <= span.end <= len(data):
            raise ValueError(f"the span {span.start}-{span.end} overlaps another one or leaves the data")
        pieces += (data[reached : span.start], replacement)
        reached = span.end
    return b"".join((*pieces, data[reached:]))
