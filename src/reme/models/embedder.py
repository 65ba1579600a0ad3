"""What an embedder is.

Owns the port and the constants that make cosines of different models comparable. Knows no model.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

__all__ = ["Calibration", "Embedder", "Vectors", "sendable", "usual_question"]

Vectors = Any  # numpy.ndarray of float32 [texts, dim], which is not imported before it is needed

_USUAL_QUESTIONS: Final = (
    *("Who is that?", "When did it happen?", "Where is it?", "What did they decide?"),
    *("How does it work?", "Why did she do that?", "What does he like?", "How many are there?"),
    *("那是谁?", "是什么时候发生的?", "在哪里?", "他们决定了什么?"),
    *("这是怎么做的?", "她为什么那样做?", "他喜欢什么?", "有多少个?"),
    *("¿Quién es?", "¿Cuándo fue?", "Où est-ce ?", "Pourquoi a-t-elle fait cela ?", "Wie funktioniert das?"),
    *("Was mag er?", "Quem é?", "O que ele prefere?", "Кто это?", "Что они решили?", "それはいつですか?"),
    *("彼は何が好きですか?", "누구예요?", "어디에 있나요?", "من هذا؟", "متى حدث ذلك؟"),
)


@dataclass(frozen=True, slots=True)
class Calibration:
    """Where a model's cosines lie: ``clip((cosine - lo) / span, 0, 1.2)`` is about 0 for texts that have nothing to do
    with each other and about 1 for a text and the question that it answers.

    Attributes:
        centre: What is taken from a question's vector before: the vector of a question as such. Else texts that are
            near to every question, such as empty templates, come before those that answer this one (Suzuki et al.
            2013, "Centering similarity measures to reduce hubs"). None to take nothing.
    """

    lo: float
    span: float
    centre: Vectors | None = field(default=None, compare=False)


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


def usual_question(embedder: Embedder) -> Vectors:
    """The mean of the vectors of some questions about nothing in particular, in many languages."""
    return embedder.embed(_USUAL_QUESTIONS, query=True).mean(axis=0)


def sendable(text: str, longest: int) -> str:
    """At most so many characters of a text, all of them valid Unicode, and not none."""
    return text[:longest].encode("utf-8", "replace").decode() or " "
