"""SentencePiece's unigram segmentation, in Python: the likeliest way to write a text in pieces of a vocabulary.

Owns the algorithm (Viterbi over the characters of a word). Knows no model.
"""

import math
import re
from collections.abc import Mapping
from typing import Final

__all__ = ["Unigram"]

_SPACE: Final = "\N{LOWER ONE EIGHTH BLOCK}"
_SPACES: Final = re.compile(" +")
_MOST_KNOWN: Final = 50_000
_LONGEST_KNOWN: Final = 24
_UNKNOWN_PENALTY: Final = 10.0


class Unigram:
    """Segments texts.

    Args:
        pieces: Each piece with its number.
        scores: The logarithm of each piece's probability, by number.
        unknown: The number that stands for a character which no piece covers.
        normalization: What each character is replaced by before anything else, for ``str.translate``.
    """

    def __init__(
        self, pieces: Mapping[str, int], scores: list[float], unknown: int, normalization: Mapping[int, str]
    ) -> None:
        self._pieces = pieces
        self._scores = scores
        self._unknown = unknown
        self._normalization = normalization
        self._unknown_score = min(scores) - _UNKNOWN_PENALTY
        self._longest = max(map(len, pieces))
        self._known: dict[str, list[int]] = {}

    def encode(self, text: str, limit: int) -> list[int]:
        """The numbers of the pieces of a text, at most so many."""
        found: list[int] = []
        known = self._known
        for word in _SPACES.split(text[: limit * self._longest].translate(self._normalization).lstrip(" ")):
            pieces = known.get(word)
            if pieces is None:
                pieces = self._segment(_SPACE + word)
                if len(word) <= _LONGEST_KNOWN:
                    if len(known) >= _MOST_KNOWN:
                        known.clear()
                    known[word] = pieces
            found += pieces
            if len(found) >= limit:
                break
        return found[:limit]

    def _segment(self, word: str) -> list[int]:
        length = len(word)
        best = [0.0] + [-math.inf] * length
        came: list[tuple[int, int]] = [(0, 0)] * (length + 1)
        pieces, scores, unknown = self._pieces, self._scores, self._unknown
        for start in range(length):
            here = best[start]
            for end in range(start + 1, min(start + self._longest, length) + 1):
                number = pieces.get(word[start:end])
                if number is not None and number != unknown and (score := here + scores[number]) > best[end]:
                    best[end] = score
                    came[end] = (start, number)
            if (score := here + self._unknown_score) > best[start + 1]:
                best[start + 1] = score
                came[start + 1] = (start, unknown)
        found: list[int] = []
        at = length
        while at > 0:
            at, number = came[at]
            found.append(number)
        found.reverse()
        return found
