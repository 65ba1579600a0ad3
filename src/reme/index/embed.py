"""Embedding: the vectors of chunks that have none yet, made behind the rows and never in their way.

Owns batches, and what becomes of failures. Must not know any model: it is given one. Nothing is lost by a crash: every
batch is kept when it is done, and what is known by its text is never embedded again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import Any, Protocol

from reme.errors import InvalidInput, Unavailable
from reme.index.port import Index
from reme.index.rows import ChunkKey, Unembedded

__all__ = ["Embedded", "TextEmbedder", "embed"]


class TextEmbedder(Protocol):
    """Turns texts into vectors.

    Attributes:
        name: Another name means other vectors.
        dim: How many numbers a vector has.
    """

    @property
    def name(self) -> str: ...

    @property
    def dim(self) -> int: ...

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Any:
        """One row of float32 numbers, of unit length, for each text; ``query`` for what is looked for by."""
        ...


@dataclass(frozen=True, slots=True)
class Embedded:
    """What an embedding run did.

    Attributes:
        done: Chunks that got a vector, of which ``reused`` were known by their text.
        pending: Chunks that still have none, of which ``failed`` were tried.
        problem: The last failure, or empty.
        answers: Whether the embedder answers; if not, the run ended there.
    """

    done: int = 0
    reused: int = 0
    pending: int = 0
    failed: int = 0
    problem: str = ""
    answers: bool = True


def embed(
    index: Index,
    embedder: TextEmbedder,
    *,
    batch: int = 32,
    most: int | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Embedded:
    """Give a vector to each chunk that has none, those of the newest files first.

    Vectors of another embedder are thrown away first. A batch that fails is tried text by text; a text that fails is
    left for the next run, and does not stop the others. An embedder that does not answer ends the run.

    Args:
        index: The index.
        embedder: What makes vectors.
        batch: How many texts at once.
        most: How many chunks to look at, or None for all.
        stop: Asked between batches.

    Raises:
        Unavailable: If the index cannot be written.
    """
    index.use_model(embedder.name, embedder.dim)
    waiting = index.unembedded()
    done = reused = failed = tried = 0
    problem, answers = "", True
    for start in range(0, len(waiting) if most is None else min(most, len(waiting)), batch):
        if stop():
            break
        texts = index.to_embed(waiting[start : start + batch])
        tried += len(waiting[start : start + batch])
        wanted = {text.hash: text.texts for text in texts if not text.known}
        try:
            vectors, trouble, answers = *_vectors(embedder, wanted), True
        except Unavailable as error:
            vectors, trouble, answers = dict[str, bytes](), error.message, False
        given = [_given(text, vectors) for text in texts if text.known or text.hash in vectors]
        index.put_vectors(given)
        done += len(given)
        reused += sum(vector is None for _, _, vector in given)
        failed += len(texts) - len(given)
        problem = trouble or problem
        if not answers:
            break
    return Embedded(done, reused, len(waiting) - tried + failed, failed, problem, answers)


def _given(text: Unembedded, vectors: dict[str, bytes]) -> tuple[ChunkKey, str, bytes | None]:
    return text.key, text.hash, None if text.known else vectors[text.hash]


def _vectors(embedder: TextEmbedder, texts: dict[str, tuple[str, ...]]) -> tuple[dict[str, bytes], str]:
    """The vectors by hash, without those that failed, and the last failure.

    Raises:
        Unavailable: If the embedder does not answer.
    """
    if not texts:
        return {}, ""
    try:
        return dict(zip(texts, _rows(embedder, list(texts.values())), strict=True)), ""
    except Unavailable:
        raise
    except Exception as error:  # whatever a plug-in may raise
        problem = str(error) or type(error).__name__
    if len(texts) == 1:
        return {}, problem
    vectors: dict[str, bytes] = {}
    for digest, some in texts.items():
        one, trouble = _vectors(embedder, {digest: some})
        vectors |= one
        problem = trouble or problem
    return vectors, problem


def _rows(embedder: TextEmbedder, texts: list[tuple[str, ...]]) -> list[bytes]:
    """The mean of the vectors of some texts each: its cosines are the means of theirs, so it is not made longer."""
    import numpy as np

    ends = list(accumulate(map(len, texts)))
    made = np.ascontiguousarray(embedder.embed(list(chain.from_iterable(texts))), dtype=np.float32)
    if made.shape != (ends[-1], embedder.dim) or not np.isfinite(made).all():
        raise InvalidInput(f"the embedder {embedder.name} gave no {embedder.dim} numbers for each text")
    return [made[end - len(some) : end].mean(axis=0).tobytes() for end, some in zip(ends, texts, strict=True)]
