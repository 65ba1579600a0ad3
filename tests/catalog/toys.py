"""Operations that do next to nothing, to try what carries them."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from annotated_types import Ge, Le, Len

from reme.catalog import Operation


@dataclass(frozen=True, slots=True)
class Echo:
    """What came in."""

    text: str
    tags: tuple[str, ...]
    limit: int
    extra: dict[str, Any]


def echo(
    workspace: Any,
    text: Annotated[str, "What to say", Len(1)],
    tags: Annotated[list[str] | None, "Words that describe it"] = None,
    limit: Annotated[int, "How often at most", Ge(1), Le(50)] = 5,
    loud: Annotated[bool, "Say it in capitals"] = False,
    order: Annotated[Literal["up", "down"], "In which direction"] = "up",
) -> Echo:
    """Say something back, just as it was
    given.

    Raises:
        Nothing, ever.
    """
    return Echo(text.upper() if loud else text, tuple(tags or ()), limit, {"order": order})


def echo_text(result: Echo) -> str:
    return result.text


ECHO = Operation("echo_back", "ask", echo, "read", echo_text)
