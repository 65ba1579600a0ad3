"""Frontmatter: where the YAML block of a note is, what it says, and the links and tags that are in it.

Knows nothing of the body.
"""

import re
from collections.abc import Iterator
from typing import Any, Final, cast

from reme.markdown.note import Frontmatter, Problem, Span
from reme.markdown.yaml12 import Text, read_yaml

__all__ = ["find_frontmatter", "read_frontmatter", "tag_names"]

BOM: Final = b"\xef\xbb\xbf"

_OPENING: Final = re.compile(rb"---[ \t]*\r?\n(?:\xef\xbb\xbf)*")
_CLOSING: Final = re.compile(rb"\n(?:---|\.\.\.)[ \t]*(?:\r?\n|\r?\Z)")
_SEPARATORS: Final = re.compile(r"[,\s]+")


def find_frontmatter(source: bytes) -> tuple[Span, Span] | None:
    """The whole block and the YAML between its fences, or None if the note does not begin with one that is closed.

    A byte-order mark before the YAML, as joining two files leaves it, is none of it: parsers pass over it uncounted.
    """
    start = 3 if source.startswith(BOM) else 0
    opening = _OPENING.match(source, start)
    if opening is None:
        return None
    closing = _CLOSING.search(source, opening.end() - 1)
    if closing is None:
        return None
    return Span(start, closing.end()), Span(opening.end(), closing.start() + 1)


def read_frontmatter(
    source: bytes, span: Span, content: Span
) -> tuple[Frontmatter, list[tuple[Text, Span]], list[Problem]]:
    """Read the block.

    Returns:
        The frontmatter, its strings that may hold links with their byte spans in the source, and what is wrong.
    """
    raw = source[content.start : content.end]
    text = raw.decode("utf-8")
    document = read_yaml(text, with_texts=b"[[" in raw)
    frontmatter = Frontmatter(span, content, document.data or {}, document.data is not None)
    texts = list(_placed(document.texts, text, content.start)) if document.texts else []
    return frontmatter, texts, [Problem(issue.rule, issue.message, issue.line + 2) for issue in document.complaints]


def _placed(texts: tuple[Text, ...], content: str, base: int) -> Iterator[tuple[Text, Span]]:
    """Byte spans of the strings that may hold links; the strings come in the order in which they are written."""
    at_char, at_byte = 0, base
    for text in texts:
        value = content[text.start : text.end]
        if "[[" in value:
            at_byte += len(content[at_char : text.start].encode("utf-8"))
            at_char = text.start
            yield text, Span(at_byte, at_byte + len(value.encode("utf-8")))


def tag_names(value: Any) -> list[str]:
    """The tags that a ``tags`` property gives: a list, or a string separated by commas or spaces."""
    items = cast("list[Any]", value if isinstance(value, list) else [value])
    if isinstance(value, str):
        items = _SEPARATORS.split(value)
    scalars = [str(item) for item in items if item is not None and not isinstance(item, (list, dict))]
    return [name for scalar in scalars if (name := scalar.strip(" \t\r\n#/"))]
