"""The index: one disposable projection of a vault's files: keywords, links, tags, properties.

Owns the way from files to rows and every question about them. Must not know ranking, models or faces, and never writes
the vault.
"""

from pathlib import Path

from reme.index.documents import Extracted, take_texts
from reme.index.embed import Embedded, TextEmbedder, embed
from reme.index.keeper import Keeper, PathProblem, ProjectorStatus, report, reported
from reme.index.pieces import dialogue_pieces
from reme.index.port import Index
from reme.index.position import behind, wait
from reme.index.renames import Renames
from reme.index.rows import (
    ANY,
    UNSEARCHED,
    Bm25,
    ChunkKey,
    ChunkPlace,
    Direction,
    Edge,
    FileProblem,
    Filter,
    Format,
    IndexDamaged,
    IndexedNote,
    IndexSettings,
    IndexUnavailable,
    KeywordStatistics,
    Matches,
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
    "UNSEARCHED",
    "Bm25",
    "ChunkKey",
    "ChunkPlace",
    "Direction",
    "Edge",
    "Embedded",
    "Extracted",
    "FileProblem",
    "Filter",
    "Format",
    "Index",
    "IndexDamaged",
    "IndexSettings",
    "IndexUnavailable",
    "IndexedNote",
    "Keeper",
    "KeywordStatistics",
    "Matches",
    "Neighbour",
    "PathProblem",
    "ProjectorStatus",
    "Refreshed",
    "Renames",
    "Stamp",
    "Standing",
    "Status",
    "Step",
    "StoredChunk",
    "TextEmbedder",
    "Unembedded",
    "behind",
    "dialogue_pieces",
    "embed",
    "open_index",
    "rebuild",
    "refresh",
    "refresh_paths",
    "report",
    "reported",
    "take_texts",
    "wait",
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
