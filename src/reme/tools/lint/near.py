"""The names most like a misspelt one. Suggestions for people only: no link is ever resolved by likeness.

Owns the measure: the share of character pairs that two names have in common (Dice's coefficient).
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Final

from reme.paths import VaultPath, fold

__all__ = ["NearNames"]

_LEAST: Final = 0.5
_MOST: Final = 3
_RAREST: Final = 8
_VERIFIED: Final = 50
_GAPS: Final = re.compile(r"[\W_]+")


class NearNames:
    """Names to look among.

    Args:
        names: Each with the file that has it; a file may have several.
    """

    def __init__(self, names: Iterable[tuple[str, VaultPath]]) -> None:
        self._names: list[tuple[frozenset[str], VaultPath]] = []
        self._having: defaultdict[str, list[int]] = defaultdict(list)
        self._known: dict[str, tuple[VaultPath, ...]] = {}
        for name, path in names:
            pairs = _pairs(name)
            for pair in pairs:
                self._having[pair].append(len(self._names))
            self._names.append((pairs, path))

    def to(self, name: str) -> tuple[VaultPath, ...]:
        """The files with the likeliest names, best first, three at most."""
        if name not in self._known:
            self._known[name] = self._found(_pairs(name))
        return self._known[name]

    def _found(self, pairs: frozenset[str]) -> tuple[VaultPath, ...]:
        rarest = sorted((p for p in pairs if p in self._having), key=lambda pair: len(self._having[pair]))[:_RAREST]
        shared: Counter[int] = Counter()
        for pair in rarest:
            shared.update(self._having[pair])
        best: dict[VaultPath, float] = {}
        for number, _ in shared.most_common(_VERIFIED):
            others, path = self._names[number]
            likeness = 2 * len(pairs & others) / (len(pairs) + len(others))
            if likeness >= _LEAST:
                best[path] = max(likeness, best.get(path, 0.0))
        return tuple(sorted(best, key=lambda path: (-best[path], path))[:_MOST])


def _pairs(name: str) -> frozenset[str]:
    text = f" {_GAPS.sub(' ', fold(name)).strip()} "
    return frozenset(text[at : at + 2] for at in range(len(text) - 1))
