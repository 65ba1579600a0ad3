"""Origin: where the words of a note come from, as its frontmatter states it.

Owns the names, and the order of trust: ``person`` > ``agent`` > ``tool`` > ``web``. What becomes of a note's
origin is for those who write notes.
"""

from collections.abc import Iterable
from typing import Final, Literal, get_args

__all__ = ["ORIGINS", "Origin", "as_origin", "lowest"]

Origin = Literal["person", "agent", "tool", "web"]

ORIGINS: Final[tuple[Origin, ...]] = get_args(Origin)
"""The most trusted first."""


def as_origin(stated: object) -> Origin | None:
    """What metadata says, if it is an origin."""
    return next((origin for origin in ORIGINS if origin == stated), None)


def lowest(origins: Iterable[Origin]) -> Origin:
    """The least trusted of some origins; ``person`` for none."""
    places = [ORIGINS.index(origin) for origin in origins]
    return ORIGINS[max(places, default=0)]
