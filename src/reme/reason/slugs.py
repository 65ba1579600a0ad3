"""Slugs: a title as a file name.

Owns their form. Any script is kept; nothing in a slug can leave a folder or hide a file.
"""

import re
from typing import Final

__all__ = ["slug_of"]

_LONGEST: Final = 60


def slug_of(title: str) -> str:
    """A title in lower case, with a hyphen for every run of what is no letter or digit, at most 60 characters."""
    slug = re.sub(r"[^\w]+|_+", "-", title.lower().replace("'", "").replace("’", "")).strip("-")
    if len(slug) > _LONGEST:
        slug = slug[:_LONGEST].rpartition("-")[0] or slug[:_LONGEST]
    return slug or "note"
