"""Origin: where the words of a note come from, as its frontmatter states it.

Owns the names, from the most to the least trusted. What becomes of a note's origin is for those who write notes.
"""

from typing import Final, Literal, get_args

__all__ = ["ORIGINS", "Origin", "as_origin"]

Origin = Literal["person", "agent", "tool", "web"]

ORIGINS: Final[tuple[Origin, ...]] = get_args(Origin)
"""The most trusted first."""


def as_origin(stated: object) -> Origin | None:
    """What metadata says, if it is an origin."""
    return next((origin for origin in ORIGINS if origin == stated), None)
