"""How numbers of things are said to people. Owns the grammar of a count; knows no thing that is counted."""

__all__ = ["counted"]


def counted(number: int, thing: str) -> str:
    """A number with what it counts: ``1 note``, ``2 notes``.

    Args:
        number: How many.
        thing: One of them; its plural adds an ``s``.
    """
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
