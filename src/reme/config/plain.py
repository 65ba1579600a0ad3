"""Plain settings: what a file says that needs no YAML reader."""

import re
from typing import Final

__all__ = ["plain_document"]

_PLAIN_LINE: Final = re.compile(
    r"(?:(?P<indent>  )?(?P<key>[a-z_]+):(?: +(?P<word>[A-Za-z][\w/.+-]*(?::[\w/.+-]+)*))?)?(?:(?:^| +)#.*)? *",
    re.ASCII,
)
_NO_WORDS: Final = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
"""What YAML takes for something else than a word."""


def plain_document(data: bytes) -> dict[str, object] | None:
    """What a file says that has only sections of words, as it has when it is made and as most stay; None of any other.

    So that most commands need not load YAML, which says the same of such a file.
    """
    document: dict[str, object] = {}
    section: dict[str, object] | None = None
    for line in data.decode("utf-8", "replace").split("\n"):
        if not (match := _PLAIN_LINE.fullmatch(line)) or not line.isprintable():
            return None
        indent, key, word = match["indent"], match["key"], match["word"]
        if key is None:
            continue
        where = section if indent else document
        if where is None or key in where or _NO_WORDS & {key, (word or "").lower()}:
            return None
        if not indent:
            section = None
        if word is None and not indent:
            where[key] = section = {}
        else:
            where[key] = word
    return {key: value or None for key, value in document.items()}
