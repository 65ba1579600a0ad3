"""Unigram segmentation against every possible segmentation."""

import itertools
import math

from hypothesis import given
from hypothesis import strategies as st

from reme.models.unigram import Unigram

PIECES = ["<unk>", "▁", "▁a", "a", "b", "ab", "▁ab", "ba", "bab", "c", "▁c"]
SCORES = [-20.0, -3.0, -2.5, -2.0, -2.1, -3.0, -2.9, -3.5, -4.2, -1.0, -2.0]
UNIGRAM = Unigram({piece: number for number, piece in enumerate(PIECES)}, SCORES, 0, {ord("A"): "a", ord("\n"): " "})


def best_score(word: str) -> float:
    """The best score of all ways to cut a word into pieces."""
    best = -math.inf
    for cuts in itertools.product((False, True), repeat=len(word) - 1):
        places = [0, *(n for n, cut in enumerate(cuts, 1) if cut), len(word)]
        score = 0.0
        for start, end in itertools.pairwise(places):
            piece = word[start:end]
            if piece in PIECES[1:]:
                score += SCORES[PIECES.index(piece)]
            else:
                score += min(SCORES) - 10 if len(piece) == 1 else -math.inf
        best = max(best, score)
    return best


def score(pieces: list[int]) -> float:
    return sum(SCORES[number] if number else min(SCORES) - 10 for number in pieces)


@given(st.text("abcAx", min_size=1, max_size=8))
def test_the_likeliest_segmentation_is_found(word: str) -> None:
    assert math.isclose(score(UNIGRAM.encode(word, 100)), best_score("▁" + word.replace("A", "a")))


@given(st.text("ab cA\n", max_size=30), st.integers(1, 20))
def test_words_are_apart_and_the_limit_holds(text: str, limit: int) -> None:
    pieces = UNIGRAM.encode(text, limit)
    assert len(pieces) <= limit
    assert pieces == UNIGRAM.encode(text, 1000)[:limit]
    assert UNIGRAM.encode(text.lstrip(" \n"), 1000) == UNIGRAM.encode(text, 1000)
