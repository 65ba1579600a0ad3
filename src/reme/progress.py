"""How long work tells how far it has come. Owns the form; knows neither the work nor who looks on."""

from collections.abc import Callable

__all__ = ["Progress", "unseen"]

Progress = Callable[[str, int, int], object]
"""Is told, as often as the work likes, what is being done, how much of it is done, and of how much."""


def unseen(_what: str, _done: int, _of: int) -> None:
    """Nobody looks on."""
