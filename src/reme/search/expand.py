"""Expansion: the neighbours of hits as a directory, under a budget.

Owns whose neighbours are listed first. Lists names, never bodies.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Final

from reme.index import Direction, Index, Neighbour
from reme.paths import VaultPath
from reme.search.result import Linked
from reme.search.settings import SearchSettings
from reme.vault import Layer

__all__ = ["expand"]

_HIDDEN: Final[frozenset[Layer]] = frozenset({"archive", "audit"})
Key = tuple[VaultPath, Direction]
"""A hit, and the way in which its neighbours lie."""
_DIRECTIONS: Final[tuple[Direction, Direction]] = ("out", "in")


def expand(
    index: Index, paths: Sequence[VaultPath], settings: SearchSettings, archived: Set[str] = frozenset()
) -> dict[Key, tuple[Linked, ...]]:
    """The neighbours of hits, by hit and direction, without those that are archived.

    Near ones come before far ones, and the budget is dealt out in turns over the hits and directions, so that no hub
    takes it all. Within one hit and direction no node is listed twice.
    """
    found: dict[Key, list[Linked]] = {(path, way): [] for path in paths for way in _DIRECTIONS}
    seen = {key: {key[0]} for key in found}
    frontier = {key: [key[0]] for key in found}
    left = settings.expand_path_budget if settings.max_links_per_direction else 0
    for distance in range(1, settings.expand_depth + 1):
        near = _near(index, frontier, settings)
        coming = {key: _fresh(near, paths, key[1], seen[key], archived) for key, paths in frontier.items()}
        frontier: dict[Key, list[VaultPath]] = {key: [] for key in found}
        while coming and left:
            for key, neighbours in [*coming.items()][:left]:
                if (neighbour := next(neighbours, None)) is None:
                    del coming[key]
                    continue
                found[key].append(Linked.of(neighbour, distance))
                frontier[key].append(neighbour.path)
                left -= 1
    return {key: tuple(linked) for key, linked in found.items()}


def _near(
    index: Index, frontier: Mapping[Key, Sequence[VaultPath]], settings: SearchSettings
) -> dict[Key, list[Neighbour]]:
    """What is one link further, by file and direction."""
    near: dict[Key, list[Neighbour]] = {}
    for way in _DIRECTIONS:
        at = sorted({path for key, paths in frontier.items() if key[1] == way for path in paths})
        for neighbour in index.neighbours(at, way, settings.max_links_per_direction, _HIDDEN):
            near.setdefault((neighbour.source, way), []).append(neighbour)
    return near


def _fresh(
    near: Mapping[Key, Sequence[Neighbour]],
    paths: Sequence[VaultPath],
    way: Direction,
    seen: set[VaultPath],
    archived: Set[str],
) -> Iterator[Neighbour]:
    """What of it has not been seen."""
    for path in paths:
        for neighbour in near.get((path, way), ()):
            if neighbour.path not in seen and neighbour.path not in archived:
                seen.add(neighbour.path)
                yield neighbour
