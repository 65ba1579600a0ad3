"""Revisions: the compare-and-swap token of a file.

Owns how bytes become a token. Knows nothing of where the bytes come from.
"""

import hashlib
from typing import Final, NewType

__all__ = ["ABSENT", "Revision", "revision_of"]

Revision = NewType("Revision", str)
"""Hex BLAKE2b-128 (RFC 7693) of a file's bytes, or ``ABSENT``."""

ABSENT: Final = Revision("absent")


def revision_of(data: bytes | None) -> Revision:
    """The revision of these bytes; ``ABSENT`` for None."""
    if data is None:
        return ABSENT
    return Revision(hashlib.blake2b(data, digest_size=16).hexdigest())
