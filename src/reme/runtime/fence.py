"""The fence: an index as one holder of the lease may use it.

Owns that every write begins with a question whether it is still allowed.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, cast

from reme.index import ChunkKey, Index

__all__ = ["fenced"]


def fenced(index: Index, guard: Callable[[], None]) -> Index:
    """The same index, which asks the guard before it writes, for batches of files inside their transaction."""
    return cast("Index", _Fenced(index, guard))


class _Fenced:
    def __init__(self, index: Index, guard: Callable[[], None]) -> None:
        self._index = index
        self._guard = guard

    def __getattr__(self, name: str) -> Any:
        return getattr(self._index, name)

    @contextmanager
    def writing(self, *, settle: bool) -> Generator[Any]:
        with self._index.writing(settle=settle) as writer:
            self._guard()
            yield writer

    def settle(self) -> None:
        self._guard()
        self._index.settle()

    def clear(self) -> None:
        self._guard()
        self._index.clear()

    def use_model(self, name: str, dim: int) -> None:
        self._guard()
        self._index.use_model(name, dim)

    def put_vectors(self, vectors: Sequence[tuple[ChunkKey, str, bytes | None]]) -> None:
        self._guard()
        self._index.put_vectors(vectors)
