"""The index: one disposable projection of a vault's files: keywords, links, tags, properties.

Owns the way from files to rows and every question about them. Must not know ranking, models or faces, and never writes
the vault.
"""

from pathlib import Path

from reme.index.embed import Embedded, TextEmbedder, embed
from reme.index.port import Index
from reme.index.rows import (
    ANY,
    ChunkKey,
    ChunkTokens,
    Direction,
    Edge,
    FileProblem,
    Filter,
    Format,
    IndexDamaged,
    IndexedNote,
    IndexSettings,
    KeywordStatistics,
    Neighbour,
    Stamp,
    Standing,
    Status,
    Step,
    StoredChunk,
    Unembedded,
)
from reme.index.scan import Refreshed, rebuild, refresh, refresh_paths
from reme.vault import Layout

__all__ = [
    "ANY",
    "ChunkKey",
    "ChunkTokens",
    "Direction",
    "Edge",
    "Embedded",
    "FileProblem",
    "Filter",
    "Format",
    "Index",
    "IndexDamaged",
    "IndexSettings",
    "IndexedNote",
    "KeywordStatistics",
    "Neighbour",
    "Refreshed",
    "Stamp",
    "Standing",
    "Status",
    "Step",
    "StoredChunk",
    "TextEmbedder",
    "Unembedded",
    "embed",
    "open_index",
    "rebuild",
    "refresh",
    "refresh_paths",
]

_TIMEOUT_S = 10.0


def open_index(
    path: Path, layout: Layout, settings: IndexSettings | None = None, *, timeout: float = _TIMEOUT_S
) -> Index:
    """Open the index in one SQLite file, which is made if absent; close it when done.

    Args:
        path: The file; nothing in it is worth keeping.
        layout: Which folder is which layer.
        settings: What the contents depend on besides the files.
        timeout: Seconds to wait for another process that writes it.

    Raises:
        Unavailable: If the file cannot be made or opened.
    """
    from reme.index.sqlite import SqliteIndex

    return SqliteIndex(path, layout, settings or IndexSettings(), timeout)
