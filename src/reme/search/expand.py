"""Expansion: the neighbours of hits as a directory, under a budget.

Owns whose neighbours are listed first. Lists names, never bodies.
"""

from collections.abc import Mapping, Sequence, Set
from itertools import chain, islice, zip_longest
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
        if left <= 0:
            break
        reached = _reached(index, frontier, seen, archived, settings)
        turns = chain.from_iterable(zip(reached, turn, strict=True) for turn in zip_longest(*reached.values()))
        for key, neighbour in islice(((key, near) for key, near in turns if near is not None), left):
            found[key].append(Linked.of(neighbour, distance))
            left -= 1
        frontier = {key: [n.path for n in neighbours] for key, neighbours in reached.items()}
    return {key: tuple(linked) for key, linked in found.items()}


def _reached(
    index: Index,
    frontier: Mapping[Key, Sequence[VaultPath]],
    seen: Mapping[Key, set[VaultPath]],
    archived: Set[str],
    settings: SearchSettings,
) -> dict[Key, list[Neighbour]]:
    """What is new one link further, for each hit and direction."""
    near: dict[Key, list[Neighbour]] = {}
    for way in _DIRECTIONS:
        at = sorted({path for key, paths in frontier.items() if key[1] == way for path in paths})
        for neighbour in index.neighbours(at, way, settings.max_links_per_direction, _HIDDEN):
            near.setdefault((neighbour.source, way), []).append(neighbour)
    fresh: dict[Key, list[Neighbour]] = {}
    for key, paths in frontier.items():
        fresh[key] = []
        for path in paths:
            for neighbour in near.get((path, key[1]), ()):
                if neighbour.path not in seen[key] and neighbour.path not in archived:
                    seen[key].add(neighbour.path)
                    fresh[key].append(neighbour)
    return fresh
