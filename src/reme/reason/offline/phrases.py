"""Key phrases: what a person would call a stretch of text.

Owns titles and descriptions.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reme.reason.offline.rules import has_cjk
from reme.reason.offline.sentences import Sentence
from reme.reason.offline.terms import Lexicon, Token

__all__ = ["Phrase", "brief", "key_phrases", "title_of"]

_LONGEST_WORDS = 3
_LONGEST_BRIEF = 160
_SECOND = 0.45
_QUOTED = re.compile(r"《([^》]{2,24})》|“([^”]{2,24})”|「([^」]{2,24})」")
_INFLECTED = re.compile(r"(?:ing|ed|ly)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Phrase:
    """A candidate for a title: its text as written, its terms, what it is worth."""

    text: str
    terms: frozenset[str]
    score: float


def key_phrases(
    lexicon: Lexicon, sentences: Sequence[Sentence], weights: Mapping[str, float], names: frozenset[str] = frozenset()
) -> list[Phrase]:
    """The phrases that name what the sentences are about, best first.

    Args:
        weights: Inverse frequencies of terms in the wider material, so that what is everywhere names nothing.
        names: Names of the speakers, lower-cased; never a title by themselves.
    """
    spread = Counter(term for sentence in sentences for term in sentence.terms)
    best: dict[frozenset[str], Phrase] = {}
    counted: Counter[frozenset[str]] = Counter()
    for sentence in sentences:
        for text, tokens, bonus in _runs(lexicon, sentence.text, names):
            terms = frozenset(token.term for token in tokens)
            counted[terms] += 1
            worth = sum(spread[t] * weights.get(t, 1.0) for t in terms) / len(terms)
            length = (0.6, 1.0, 1.1)[min(len(terms), 3) - 1]
            single = len(tokens) == 1 and _INFLECTED.search(text) is not None
            score = worth * length * bonus * (1 + 0.08 * max(0.0, sentence.score)) * (0.4 if single else 1.0)
            if terms not in best or best[terms].score < score:
                best[terms] = Phrase(text, terms, score)
    scored = [Phrase(p.text, t, p.score * (1.5 if counted[t] > 1 else 1.0)) for t, p in best.items()]
    return sorted(scored, key=lambda phrase: (-phrase.score, phrase.text))


def _runs(lexicon: Lexicon, text: str, names: frozenset[str]) -> list[tuple[str, list[Token], float]]:
    runs: list[tuple[str, list[Token], float]] = []
    run: list[Token] = []
    for token in [*lexicon.tokens(text), None]:
        named = token is not None and token.naming and token.text.lower().removesuffix("'s") not in names
        if named and token and (not run or _adjacent(text, run[-1], token)):
            run.append(token)
            continue
        if run:
            runs.append(_phrase(text, run[-_LONGEST_WORDS:]))
        run = [token] if named and token else []
    for match in _QUOTED.finditer(text):
        inside = next(group for group in match.groups() if group)
        tokens = [token for token in lexicon.tokens(inside) if token.term]
        if tokens:
            runs.append((inside, tokens, 1.3))
    return runs


def _adjacent(text: str, left: Token, right: Token) -> bool:
    between = text[left.end : right.start]
    if has_cjk(left.text) and has_cjk(right.text):
        return between == ""
    return between in (" ", "-", "/", "_", ".", "") and len(between) < 2


def _phrase(text: str, run: list[Token]) -> tuple[str, list[Token], float]:
    shown = text[run[0].start : run[-1].end]
    capital = any(token.text[:1].isupper() and token.start > 0 for token in run) or any(t.text.isupper() for t in run)
    short = has_cjk(shown) and len(shown) < 2
    return shown, run, (1.25 if capital else 1.0) * (0.4 if short else 1.0)


def title_of(phrases: Sequence[Phrase], fallback: str) -> str:
    """A title of one phrase, or of two where one alone says little."""
    if not phrases:
        return fallback
    first = phrases[0]
    shown = _bare(first.text)
    if len(first.terms) == 1:
        longer = next((p for p in phrases[1:6] if first.text in p.text), None)
        other = next((p for p in phrases[1:6] if p.score >= _SECOND * first.score and not p.terms & first.terms), None)
        if longer is not None:
            shown = _bare(longer.text)
        elif other is not None:
            both_chinese = has_cjk(shown) and has_cjk(other.text)
            shown = f"{shown}{'、' if both_chinese else ', '}{_bare(other.text)}"
    return shown[:1].upper() + shown[1:]


def _bare(phrase: str) -> str:
    return phrase.removesuffix("'s").removesuffix("’s")


def brief(text: str) -> str:
    """The beginning of a sentence as a one-line description, cut at a clause where it is long."""
    if len(text) <= _LONGEST_BRIEF:
        return text
    cut = max(text.rfind(mark, 0, _LONGEST_BRIEF) for mark in (", ", "; ", " - ", "，", "；", "。"))
    return text[
        : cut if cut > 40 else text.rfind(" ", 0, _LONGEST_BRIEF) if " " in text[40:_LONGEST_BRIEF] else _LONGEST_BRIEF
    ]
