"""Statements among which those that speak of the same are found without comparing with all of them.

Owns the order of likeness: by how many words two statements share. A few dozen of the likest are enough, since what is
alike or contradicts shares most of its words; and what there is one of at a time is kept by what it is.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Final

from reme.reason.offline.contradicting import Said

__all__ = ["Shelf"]

_LIKEST: Final = 40


class Shelf:
    """Statements, numbered from 1 in the order in which they were put there."""

    def __init__(self, statements: Iterable[Said] = ()) -> None:
        self._statements: list[Said] = []
        self._by_text: dict[str, int] = {}
        self._by_term: defaultdict[str, list[int]] = defaultdict(list)
        self._by_attribute: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        self.terms: set[str] = set()
        """The words of all of them."""
        for said in statements:
            self.put(said)

    def __len__(self) -> int:
        return len(self._statements)

    def put(self, said: Said) -> int:
        """Add a statement, and tell its number."""
        self._statements.append(said)
        number = len(self._statements)
        self._by_text.setdefault(said.text, number)
        for term in said.terms:
            self._by_term[term].append(number)
        for slot, key, *_ in said.attributes:
            self._by_attribute[slot, key].append(number)
        self.terms |= said.terms
        return number

    def near(self, said: Said) -> list[tuple[int, Said]]:
        """Those that may speak of the same, in their order: of the same words, sharing most words, of one attribute."""
        if len(self) <= _LIKEST:
            return list(enumerate(self._statements, start=1))
        shared: Counter[int] = Counter()
        for term in said.terms:
            shared.update(self._by_term.get(term, ()))
        found = {number for number, _ in shared.most_common(_LIKEST)}
        found.update(self._by_text.get(text, 0) for text in (said.text,))
        for slot, key, *_ in said.attributes:
            found.update(self._by_attribute.get((slot, key), [])[-_LIKEST:])
        return [(number, self._statements[number - 1]) for number in sorted(found - {0})]
