"""What an embedder is.

Owns the port and the constants that make cosines of different models comparable. Knows no model.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

__all__ = ["Calibration", "Embedder", "Vectors", "sendable"]

Vectors = Any  # numpy.ndarray of float32 [texts, dim], which is not imported before it is needed


@dataclass(frozen=True, slots=True)
class Calibration:
    """Where a model's cosines lie: ``clip((cosine - lo) / span, 0, 1.2)`` is about 0 for texts that have nothing to do
    with each other and about 1 for a text and the question that it answers.
    """

    lo: float
    span: float


class Embedder(Protocol):
    """Turns texts into vectors whose dot product says how near their meanings are.

    The same texts in the same order give the same vectors. May be called from several threads.

    Attributes:
        name: Which model, so exactly that vectors of two embedders with one name and ``dim`` may be compared.
        dim: Length of a vector.
        calibration: Where the cosines of a question and a passage lie.
    """

    @property
    def name(self) -> str: ...

    @property
    def dim(self) -> int: ...

    @property
    def calibration(self) -> Calibration: ...

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """The vectors of texts: float32, one row a text, each of unit length.

        Args:
            texts: What to embed; what goes beyond the model's limit is left out.
            query: Whether these are questions rather than passages.

        Raises:
            Unavailable: If the model does not answer.
        """
        ...


def sendable(text: str, longest: int) -> str:
    """At most so many characters of a text, all of them valid Unicode, and not none."""
    return text[:longest].encode("utf-8", "replace").decode() or " "
