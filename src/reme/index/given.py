"""The names that a file gives itself: aliases, title and name of a note, the title of a page.

Owns which these are. Links find the file by each, where no path has the name.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from reme.markdown import parse_head
from reme.paths import VaultPath, fold, is_markdown, suffix

__all__ = ["Given", "given", "one_line", "own_names"]


class Given(NamedTuple):
    """What a note's properties call it; ``name`` and ``title`` are empty where there is none."""

    aliases: list[str]
    name: str
    title: str

    @property
    def folded(self) -> frozenset[str]:
        """The names by which links find it."""
        return frozenset(fold(name) for name in (*self.aliases, self.name, self.title) if name)


def own_names(path: VaultPath, head: bytes) -> frozenset[str]:
    """The names that a file gives itself, folded.

    Args:
        path: The file.
        head: Its bytes, or the first of them.
    """
    if is_markdown(path):
        return given(parse_head(head).properties).folded
    if suffix(path) in (".html", ".htm"):
        from reme.index.pieces import markup_title

        return frozenset({fold(title)} if (title := markup_title(head)) else ())
    return frozenset()


def given(properties: Mapping[str, Any]) -> Given:
    """The names that these properties give a note."""
    aliases = [*_lines_of(properties.get("aliases")), *_lines_of(properties.get("alias"))]
    return Given(aliases, one_line(properties.get("name")), one_line(properties.get("title")))


def one_line(value: object) -> str:
    """A value as one line; empty for none, and for what is no text."""
    return " ".join(str(value).split()) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def _lines_of(value: object) -> list[str]:
    """The items of a value, each as one line."""
    items = cast("list[object]", value) if isinstance(value, list) else [value]
    return [line for item in items if (line := one_line(item))]
