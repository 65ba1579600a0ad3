"""How often a term stands in a chunk: once for each column that a chunk is found by, packed into 16 bits.

Owns the packing. A count past what its bits hold is the greatest that they do: BM25 hardly tells the two apart.
"""

from collections.abc import Mapping, Sequence
from typing import Final

__all__ = ["COUNT_BITS", "tally", "weighted"]

COUNT_BITS: Final = 16

_BITS: Final = (3, 3, 3, 7)
_SHIFTS: Final = (13, 10, 7, 0)
_MOST: Final = tuple((1 << bits) - 1 for bits in _BITS)
_BODY: Final = 3


def tally(
    name: Mapping[str, int], labels: Mapping[str, int], headings: Mapping[str, int], body: Mapping[str, int]
) -> dict[str, int]:
    """The packed counts of every term of a chunk, from how often it stands in each column."""
    counts = dict(body)
    most = _MOST[_BODY]
    if counts and max(counts.values()) > most:
        counts = {term: min(count, most) for term, count in counts.items()}
    for terms, shift, most in zip((name, labels, headings), _SHIFTS, _MOST, strict=False):
        for term, count in terms.items():
            counts[term] = counts.get(term, 0) + ((count if count < most else most) << shift)
    return counts


def weighted(packed: int, weights: Sequence[float]) -> float:
    """The frequency of a term: its counts, each times the weight of its column."""
    columns = zip(weights, _SHIFTS, _MOST, strict=True)
    return sum(weight * ((packed >> shift) & most) for weight, shift, most in columns)
