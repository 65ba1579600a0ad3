"""Revisions: the compare-and-swap token of a file.

Owns how bytes become a token. Knows nothing of where the bytes come from.
"""

from collections.abc import Iterable
from typing import Any, Final, NewType

__all__ = ["ABSENT", "Revision", "digest", "revision_of", "revision_of_pieces"]

Revision = NewType("Revision", str)
"""Hex BLAKE2b-128 (RFC 7693) of a file's bytes, or ``ABSENT``."""

_SIZE: Final = 16

ABSENT: Final = Revision("absent")


def revision_of(data: bytes | None) -> Revision:
    """The revision of these bytes; ``ABSENT`` for None."""
    if data is None:
        return ABSENT
    return Revision(digest(data).hexdigest())


def revision_of_pieces(pieces: Iterable[bytes]) -> Revision:
    """The revision of bytes that come in pieces, none of which is kept."""
    found = digest()
    for piece in pieces:
        found.update(piece)
    return Revision(found.hexdigest())


def digest(data: bytes = b"") -> Any:
    """A hash (of ``hashlib``) to be fed with bytes, whose hex digest is then their revision."""
    from hashlib import blake2b

    return blake2b(data, digest_size=_SIZE)
