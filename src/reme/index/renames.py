"""Renames: files that other programs have given another path, known by their content.

Owns what counts as one. Knows neither files nor stores.
"""

from collections import Counter
from collections.abc import Mapping

from reme.paths import VaultPath
from reme.revision import Revision

__all__ = ["Renames", "renames"]

Renames = tuple[tuple[VaultPath, VaultPath], ...]
"""Old and new path of each."""


def renames(lost: Mapping[VaultPath, Revision], gained: Mapping[VaultPath, Revision]) -> Renames:
    """Which of the files that are gone are those that have come: of one content that no other file of either has.

    Args:
        lost: Files that are gone and had something in them.
        gained: Files that have come and have something in them.
    """
    left, came = Counter(lost.values()), Counter(gained.values())
    by_content = {revision: path for path, revision in gained.items()}
    return tuple(
        (path, by_content[revision])
        for path, revision in sorted(lost.items())
        if revision and left[revision] == came[revision] == 1
    )
