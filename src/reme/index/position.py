"""How far the index is behind the files, and waiting until it is not.

Owns the comparison. Writes nothing and takes no lock.
"""

import time
from collections.abc import Callable
from typing import Final

from reme.index.extract import converter
from reme.index.port import Index
from reme.index.rows import Stamp
from reme.paths import VaultPath
from reme.vault import Stat, Vault

__all__ = ["behind", "wait"]

_FIRST_PAUSE_S: Final = 0.01
_LONGEST_PAUSE_S: Final = 0.2


def behind(vault: Vault, index: Index) -> frozenset[VaultPath]:
    """The files whose present state the index has not met, by one walk that reads no file."""
    return frozenset(_behind(vault, index))


def wait(
    vault: Vault,
    index: Index,
    timeout: float,
    *,
    meanwhile: Callable[[], object] = lambda: None,
    monotonic: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> frozenset[VaultPath]:
    """Wait until what is on disk at this moment has been projected, documents with their text.

    Args:
        vault: The vault.
        index: Its index.
        timeout: Seconds to wait at most.
        meanwhile: Called before each look: brings the index on, where no other process does.
        monotonic: Seconds that never go back.
        sleep: Waits so many seconds.

    Returns:
        The files that are still to be projected when the time is up; empty if all is done.
    """
    deadline = monotonic() + timeout
    left = _behind(vault, index)
    pause, position = _FIRST_PAUSE_S, -1
    while waiting := left.keys() or _unread(index):
        meanwhile()
        if (now := index.position()) != position:
            position, pause = now, _FIRST_PAUSE_S
            stamps = index.stamps()
            left = {path: stat for path, stat in left.items() if not _has_met(stamps.get(path), stat)}
            continue
        if (rest := deadline - monotonic()) <= 0:
            return frozenset(waiting)
        sleep(min(pause, rest))
        pause = min(pause * 2, _LONGEST_PAUSE_S)
    return frozenset()


def _unread(index: Index) -> set[VaultPath]:
    """The documents whose text is still to be taken out, where that can be done."""
    made_by = converter()
    return {document.path for document in index.waiting_documents(made_by)} if made_by else set()


def _behind(vault: Vault, index: Index) -> dict[VaultPath, Stat | None]:
    stamps = index.stamps()
    left: dict[VaultPath, Stat | None] = {}
    for stat in vault.scan().files:
        if not _has_met(stamps.pop(stat.path, None), stat):
            left[stat.path] = stat
    return left | dict.fromkeys(stamps)


def _has_met(stamp: Stamp | None, stat: Stat | None) -> bool:
    """Whether the index has seen this state of a file or a later one."""
    if stamp is None or stat is None:
        return stamp is None and stat is None
    return stamp[:3] == (stat.size, stat.mtime_ns, stat.inode) or stamp.mtime_ns > stat.mtime_ns
