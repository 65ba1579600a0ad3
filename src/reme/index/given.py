"""The names that a file gives itself: aliases, title and name of a note, the title of a page.

Owns which these are. Links find the file by each, where no path has the name.
"""

from collections.abc import Mapping
from typing import Any, cast

from reme.markdown import parse_head
from reme.paths import VaultPath, fold, is_markdown, suffix

__all__ = ["given_names", "lines_of", "one_line", "own_names"]


def own_names(path: VaultPath, head: bytes) -> frozenset[str]:
    """The names that a file gives itself, folded.

    Args:
        path: The file.
        head: Its bytes, or the first of them.
    """
    if is_markdown(path):
        return given_names(parse_head(head).properties)
    if suffix(path) in (".html", ".htm"):
        from reme.index.pieces import markup_title

        return frozenset({fold(title)} if (title := markup_title(head)) else ())
    return frozenset()


def given_names(properties: Mapping[str, Any]) -> frozenset[str]:
    """The names that these properties give a note, folded."""
    aliases = *lines_of(properties.get("aliases")), *lines_of(properties.get("alias"))
    titles = one_line(properties.get("name")), one_line(properties.get("title"))
    return frozenset(fold(name) for name in (*aliases, *titles) if name)


def one_line(value: object) -> str:
    """A value as one line; empty for none, and for what is no text."""
    return " ".join(str(value).split()) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def lines_of(value: object) -> list[str]:
    """The items of a value, each as one line."""
    items = cast("list[object]", value) if isinstance(value, list) else [value]
    return [line for item in items if (line := one_line(item))]
