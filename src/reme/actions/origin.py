"""Origin: where the words of a note come from, and so how far they are to be trusted.

Owns the rule that a note is of the lowest origin among its sources. Repeating a thing never raises it.
"""

from reme.markdown import Note, parse, set_property
from reme.search import Origin, as_origin, lowest

__all__ = ["Origin", "as_origin", "lowest", "origin_of", "with_origin"]


def origin_of(note: Note, default: Origin) -> Origin:
    """What a note says of its origin, if that is one that there is."""
    return as_origin(note.properties.get("origin")) or default


def with_origin(data: bytes, origin: Origin) -> bytes:
    """A note with its origin lowered to this one; unchanged if it is that low, or its frontmatter cannot be read."""
    note = parse(data)
    stated = origin_of(note, "person")
    fallen = lowest((stated, origin))
    if (fallen == stated and "origin" in note.properties) or (note.frontmatter and not note.frontmatter.valid):
        return data
    return set_property(note, "origin", fallen)
