"""Words as the offline reasoner compares them: stems for Latin scripts, dictionary words for Chinese.

Owns tokens, their weights and how much two texts share. Knows nothing of what they are compared for.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from reme.reason.offline.rules import has_cjk, rules_of

__all__ = ["Lexicon", "Token", "cosine", "inverse_frequencies", "overlap", "values_of"]

_VOCABULARY = 32_768
_WORD = re.compile(r"[^\W_]+(?:['’][a-z]+)?")
_NOUN_TAGS = ("n", "vn", "eng", "j")
_PROPER_TAGS = ("nr", "ns")
_NAMING_TAGS = ("n", "vn", "eng", "j", "i", "l", "x")
_BEFORE_ACTIONS = ("把", "将", "用")
_CONTENT_TAGS = ("n", "v", "a", "eng", "j", "i", "l", "m", "t", "z", "s", "b")
_VALUE = re.compile(
    r"\d[\d.,:/-]*\d|\d+|《[^》]+》|“[^”]+”|\"[^\"]+\"|`[^`]+`|(?<![.!?]\s)(?<!^)(?<![A-Za-z\d_])(?!I\b)[A-Z][A-Za-z]*(?![A-Za-z\d_])|"
    r"\b(?i:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|one|two|three|four|five|six|seven|eight|nine|ten|"
    r"eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|"
    r"first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|"
    r"mornings?|noon|afternoons?|evenings?|nights?|midnight)\b|"
    r"(?:周|星期|礼拜)[一二三四五六日天]|早上|早晨|上午|中午|下午|傍晚|晚上|夜里|凌晨|午夜|"
    r"[一二三四五六七八九十百千万两]{2,}(?=[了，。；！]|$)|第?[一二三四五六七八九十百千万两]+(?=公斤|[点个次年天岁号月只人楼名位遍周元块斤层期季种页本台辆倍升度米章版步届轮节杯瓶片粒颗顿趟]|小时|分钟|公里)"
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a text.

    Attributes:
        text: As written.
        term: The form in which it is compared; empty for words without content.
        naming: Whether it could be part of a title.
        start: Its offset in characters.
        noun: Whether a title could end with it.
        proper: Whether a dictionary has it as the name of a person or a place.
    """

    text: str
    term: str
    naming: bool
    start: int
    noun: bool = True
    proper: bool = False

    @property
    def end(self) -> int:
        """The offset behind it."""
        return self.start + len(self.text)


class Lexicon:
    """Turns texts into tokens; loads its stemmer and dictionary when first used."""

    def __init__(self) -> None:
        self._stem: Callable[[str], str] | None = None
        self._word = lru_cache(_VOCABULARY)(self._read_word)
        self._tag: Callable[[str], list[tuple[str, str]]] | None = None

    def tokens(self, text: str) -> list[Token]:
        """The words of a text, in order."""
        if not has_cjk(text):
            return self._latin(text, 0)
        tokens: list[Token] = []
        offset = 0
        for word, tag in self._tagged(text):
            at = text.find(word, offset)
            if at < 0:
                continue
            offset = at + len(word)
            tokens.extend(self._chinese(word, tag, at) if has_cjk(word) else self._latin(word, at))
        return tokens

    def terms(self, text: str) -> frozenset[str]:
        """The different words with content."""
        return frozenset(token.term for token in self.tokens(text) if token.term)

    def subjects(self, text: str) -> frozenset[str]:
        """The different words that could be part of a title."""
        return frozenset(token.term for token in self.tokens(text) if token.naming)

    def begins_with_verb(self, text: str) -> bool:
        """Whether a Chinese text begins with a verb, or with what an action is done to or with."""
        word, tag = next(iter(self._tagged(text)), ("", "")) if has_cjk(text[:1]) else ("", "")
        return (tag.startswith("v") and word not in rules_of("chinese").stop) or word in _BEFORE_ACTIONS

    def all_terms(self, texts: Iterable[str]) -> frozenset[str]:
        """The different words with content of all texts together."""
        return frozenset(term for text in texts for term in self.terms(text))

    def _latin(self, text: str, offset: int) -> list[Token]:
        return [
            Token(match.group(), *self._word(match.group().lower()), offset + match.start())
            for match in _WORD.finditer(text)
        ]

    def _read_word(self, lowered: str) -> tuple[str, bool]:
        """The term of a word, and whether it could be part of a title."""
        stem, rules = self._stemming(), rules_of("english")
        word = lowered.replace("’", "'")
        bare = word.removesuffix("'s")
        if word in rules.stop or bare in rules.stop:
            return "", False
        naming = bare not in rules.weak and len(bare) > 1 and not bare.isdigit() and "'" not in bare
        return stem(rules.irregular.get(bare, bare)), naming

    def _stemming(self) -> Callable[[str], str]:
        if self._stem is None:
            import Stemmer

            stem = Stemmer.Stemmer("english").stemWord  # pyright: ignore[reportUnknownMemberType,reportUnknownVariableType]
            self._stem = cast("Callable[[str], str]", stem)
        return self._stem

    def _tagged(self, text: str) -> list[tuple[str, str]]:
        if self._tag is None:
            import rjieba

            tag: Callable[[str], list[tuple[str, str]]] = rjieba.tag
            self._tag = tag
        return self._tag(text)

    @staticmethod
    def _chinese(word: str, tag: str, at: int) -> list[Token]:
        rules = rules_of("chinese")
        content = word not in rules.stop and tag.startswith(_CONTENT_TAGS) and tag not in ("ul", "uj")
        timed = rules.time.fullmatch(word.removeprefix("每")) is not None
        naming = content and not timed and tag.startswith(_NAMING_TAGS) and word not in rules.weak
        noun, proper = tag.startswith(_NOUN_TAGS), tag.startswith(_PROPER_TAGS)
        return [Token(word, word if content else "", naming, at, noun, proper)]


def inverse_frequencies(texts: Iterable[frozenset[str]]) -> dict[str, float]:
    """The weight of each term by how few of the texts have it: ``ln(1 + N/df)``."""
    counted: Counter[str] = Counter()
    total = 0
    for terms in texts:
        counted.update(terms)
        total += 1
    return {term: math.log(1 + total / count) for term, count in counted.items()}


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of the smaller set that the larger one has too, 0 to 1."""
    return len(one & other) / min(len(one), len(other)) if one and other else 0.0


def cosine(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Cosine of two weighted sets of terms."""
    if len(other) < len(one):
        one, other = other, one
    dot = sum(weight * other.get(term, 0.0) for term, weight in one.items())
    length = math.sqrt(sum(w * w for w in one.values()) * sum(w * w for w in other.values()))
    return dot / length if length else 0.0


def values_of(text: str) -> frozenset[str]:
    """What could change while the rest of a statement stays: numbers, weekdays, names, quotations."""
    return frozenset(match.group().lower() for match in _VALUE.finditer(text))
