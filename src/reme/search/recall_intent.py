"""Intent: what kind of answer a query asks for, read off the nearest of some example sentences.

Owns the routing. The sentences are in ``anchors/*.txt``, one file a language, for anybody to edit. No model is asked
but the embedder, and without one the words decide.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal, cast, get_args

from reme.models import Embedder

__all__ = ["Anchors", "Intent", "Routed", "Routing"]

Intent = Literal["fact", "entity", "relation"]
Routing = Literal["vectors", "keywords", "default"]

_INTENTS: Final[tuple[Intent, ...]] = get_args(Intent)
_NEAREST: Final = 3
_LONGEST: Final = 1_000
_HEAD: Final = re.compile(r"\[(\w+)\]")
_WORD: Final = re.compile(r"[\u3400-\u9fff]+|[^\W\d_]+(?:'\w+)?")
_HAN: Final = re.compile(r"[\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class Routed:
    """What a query asks for.

    Attributes:
        intent: ``entity``, somebody or something as such; ``relation``, how things hang together; ``fact``, one thing.
        routing: What decided: ``vectors``, ``keywords``, or ``default`` where no word spoke for any.
    """

    intent: Intent
    routing: Routing


class Anchors:
    """The example sentences, with the vectors that one embedder makes of them, which are made once."""

    def __init__(self) -> None:
        self._made: tuple[str, int, Any] | None = None

    def route(self, query: str, embedder: Embedder | None) -> Routed:
        """The intent of a query: that whose three nearest sentences are the nearest on average.

        Near is the cosine of vectors; without an embedder, or with one that fails, the cosine of the rare words that
        query and sentence share.
        """
        text = query[:_LONGEST]
        if embedder is not None and text.strip():
            try:
                return Routed(_nearest(self._cosines(text, embedder)), "vectors")
            except Exception:  # whatever a plug-in may raise: the search tells of it
                self._made = None
        shared = _shared(_words(text))
        return Routed(_nearest(shared), "keywords") if any(shared) else Routed("fact", "default")

    def _cosines(self, text: str, embedder: Embedder) -> list[float]:
        import numpy as np

        if self._made is None or self._made[:2] != (embedder.name, embedder.dim):
            made = embedder.embed([sentence for _, sentence in _sentences()], query=True)
            self._made = (embedder.name, embedder.dim, made)
        cosines = np.asarray(self._made[2] @ embedder.embed([text], query=True)[0])
        if not np.isfinite(cosines).all():
            raise ValueError("the embedder gave no numbers")
        return cosines.tolist()


def _nearest(near: Sequence[float]) -> Intent:
    """The intent of the nearest sentences; the first in order of those that are equally near."""
    by_intent: dict[Intent, list[float]] = {intent: [] for intent in _INTENTS}
    for (intent, _), score in zip(_sentences(), near, strict=True):
        by_intent[intent].append(score)
    return max(_INTENTS, key=lambda intent: sum(sorted(by_intent[intent])[-_NEAREST:]))


def _shared(words: Set[str]) -> list[float]:
    """For each sentence: the cosine of the words' rarity among all sentences."""
    rarity, sentences = _rarity()
    asked = sum(rarity.get(word, 0.0) ** 2 for word in words) or 1.0
    found: list[float] = []
    for sentence in sentences:
        common = sum(rarity[word] ** 2 for word in words & sentence)
        found.append(common / math.sqrt(asked * sum(rarity[word] ** 2 for word in sentence)))
    return found


@cache
def _sentences() -> tuple[tuple[Intent, str], ...]:
    """The sentences of all languages with their intents."""
    from importlib.resources import files

    found: list[tuple[Intent, str]] = []
    for file in sorted((files("reme.search") / "anchors").iterdir(), key=lambda file: file.name):
        intent: Intent = "fact"
        for line in file.read_text("utf-8").splitlines():
            if (head := _HEAD.fullmatch(line.strip())) is not None:
                intent = cast("Intent", head[1])
            elif line.strip() and not line.startswith("#"):
                found.append((intent, line.strip()))
    return tuple(found)


@cache
def _rarity() -> tuple[Mapping[str, float], tuple[frozenset[str], ...]]:
    """The rarity of each word of the sentences, and the words of each sentence."""
    sentences = tuple(frozenset(_words(sentence)) for _, sentence in _sentences())
    counts = Counter(word for sentence in sentences for word in sentence)
    return {word: math.log(1 + len(sentences) / count) for word, count in counts.items()}, sentences


def _words(text: str) -> set[str]:
    """The distinct words of a text, stop-words too, which tell most; Chinese by characters and pairs."""
    found: set[str] = set()
    for word in _WORD.findall(text.casefold()):
        if _HAN.match(word):
            found.update(word)
            found.update(word[i : i + 2] for i in range(len(word) - 1))
        else:
            found.add(word)
    return found
