"""Doubles for the tests of plug-ins and of ReMe itself; nothing else imports this.

Owns stand-ins that are quick, deterministic, and tell what they were asked.
"""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from reme.models import Calibration

__all__ = ["SyntheticEmbedder"]

_WORD: Final = re.compile(r"\w+")


class SyntheticEmbedder:
    """An embedder without a model: texts that share words are alike, all others are orthogonal or nearly so.

    Attributes:
        calibration: Of texts that share half of their words.
        texts: Every text that it was asked to embed, queries left out.
        queries: Every query.

    Args:
        name: Part of the identity of its vectors.
        dim: Numbers in a vector.
        synonyms: Words that mean the same as another one.
        fails: Asked about every text; where it answers True, the call raises ``RuntimeError``.
        random: Whether vectors have nothing to do with the words.
    """

    def __init__(
        self,
        name: str = "synthetic",
        dim: int = 64,
        *,
        synonyms: Mapping[str, str] | None = None,
        fails: Callable[[str], bool] = lambda text: False,
        random: bool = False,
    ) -> None:
        self.name = name
        self.dim = dim
        self.calibration = Calibration(0.2, 0.6)
        self.texts: list[str] = []
        self.queries: list[str] = []
        self._synonyms = dict(synonyms or {})
        self._fails = fails
        self._random = random
        self._known: dict[str, Any] = {}

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Any:
        """One float32 row of unit length for each text.

        Raises:
            RuntimeError: If one of them is a text that it shall fail for.
        """
        import numpy as np

        (self.queries if query else self.texts).extend(texts)
        if any(self._fails(text) for text in texts):
            raise RuntimeError("the embedder failed, as it was told to")
        rows = np.zeros((len(texts), self.dim), np.float32)
        for i, text in enumerate(texts):
            words = [text] if self._random else _WORD.findall(text.lower())
            for word in words or [text]:
                rows[i] += self._direction(self._synonyms.get(word, word))
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)

    def _direction(self, word: str) -> Any:
        import numpy as np

        if word not in self._known:
            seed = int.from_bytes(hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=8).digest(), "big")
            self._known[word] = np.random.default_rng(seed).standard_normal(self.dim).astype(np.float32)
        return self._known[word]
