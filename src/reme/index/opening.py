"""Opening the index, whichever store keeps it."""

from pathlib import Path

from reme.index.port import Index
from reme.index.rows import IndexSettings
from reme.vault import Layout

__all__ = ["open_index"]

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
