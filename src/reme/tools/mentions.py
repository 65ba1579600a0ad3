"""Where files that are no notes name files of the vault: an Obsidian base in its formulas, a canvas in its cards.

Owns what counts as a mention. These files are never rewritten, so what they name is only told.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from reme.paths import VaultPath, basename, fold, is_markdown, join, parent, stem, suffix

__all__ = ["mentioned_names", "mentions", "mentions_files"]

_MENTIONING: Final = frozenset((".base", ".canvas"))
_SPELLED: Final = tuple(
    re.compile(pattern) for pattern in (r'"([^"\\\n]+)(?=["\\])', r"'([^'\n]+)(?=')", r"\[\[([^\[\]|\n]+)")
)


def mentions_files(path: VaultPath) -> bool:
    """Whether such a file may name files without being a note."""
    return suffix(path) in _MENTIONING


def mentioned_names(moved: Mapping[VaultPath, VaultPath]) -> frozenset[str]:
    """The folded names that lead nowhere once files or folders have moved.

    Args:
        moved: From each path to the one that it gets.
    """
    names: set[str] = set()
    for path, to in moved.items():
        bare = stem(path) if is_markdown(path) else basename(path)
        names.add(path)
        if parent(path):
            names.add(join(parent(path), bare))
        if basename(path) != basename(to):  # else its name alone still leads there
            names |= {basename(path), bare}
    return frozenset(map(fold, names))


def mentions(data: bytes, names: Collection[str]) -> Iterator[tuple[int, str]]:
    """The names, out of some, that a file has in quotes or double square brackets, each with its 1-based line.

    Args:
        data: The file's bytes.
        names: Folded, as ``mentioned_names`` gives them.
    """
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        texts = (match[1].partition("#")[0].strip() for pattern in _SPELLED for match in pattern.finditer(line))
        for text in dict.fromkeys(texts):
            if fold(text) in names:
                yield number, text
