"""How far the index is behind the files, and waiting until it is not.

Owns the comparison. Writes nothing and takes no lock.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Final

from reme.index.extract import converter
from reme.index.port import Index
from reme.index.rows import Stamp
from reme.paths import VaultPath
from reme.vault import Stat, Vault

__all__ = ["behind", "wait"]

_FIRST_PAUSE_S: Final = 0.01
_LONGEST_PAUSE_S: Final = 0.2
_FEW: Final = 100
_AT_ONCE: Final = 2_000


def behind(index: Index, files: Sequence[Stat]) -> frozenset[VaultPath]:
    """The files whose present state the index has not met.

    Args:
        index: The index.
        files: All that belong to the vault, as a walk has told.
    """
    return frozenset(_behind(index, {stat.path: stat for stat in files}))


def wait(
    vault: Vault,
    index: Index,
    timeout: float,
    *,
    paths: Iterable[VaultPath] | None = None,
    documents: bool = True,
    meanwhile: Callable[[], object] = lambda: None,
    monotonic: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> frozenset[VaultPath]:
    """Wait until what is on disk at this moment has been projected.

    Args:
        vault: The vault.
        index: Its index.
        timeout: Seconds to wait at most.
        paths: The files to wait for; None for all that a walk over the vault tells of.
        documents: Whether to wait for the text of documents, too.
        meanwhile: Called before each look: brings the index on, where no other process does.
        monotonic: Seconds that never go back.
        sleep: Waits so many seconds.

    Returns:
        The files that are still to be projected when the time is up; empty if all is done.
    """
    deadline = monotonic() + timeout
    left = _behind(index, vault.scan().found) if paths is None else _left(index, _states(vault, paths))
    pause, position = _FIRST_PAUSE_S, -1
    while left or (documents and _unread(index)):
        meanwhile()
        if (now := index.position()) != position:
            position, pause = now, _FIRST_PAUSE_S
            if len(_left(index, last := _last(left))) < len(last):
                left = _left(index, left)
                continue
        if (rest := deadline - monotonic()) <= 0:
            return frozenset(_left(index, left) or (_unread(index) if documents else ()))
        sleep(min(pause, rest))
        pause = min(pause * 2, _LONGEST_PAUSE_S)
    return frozenset()


def _last(left: Mapping[VaultPath, Stat | None]) -> dict[VaultPath, Stat | None]:
    """A few of what is left, of those that are taken in last: as long as all of them are, many need no look."""
    return dict(islice(reversed([*left.items()]), _FEW))


def _states(vault: Vault, paths: Iterable[VaultPath]) -> dict[VaultPath, Stat | None]:
    return {path: vault.stat(path) if vault.belongs(path) else None for path in paths}


def _unread(index: Index) -> set[VaultPath]:
    """The documents whose text is still to be taken out, where that can be done."""
    made_by = converter()
    return {document.path for document in index.waiting_documents(made_by)} if made_by else set()


def _behind(index: Index, files: Mapping[VaultPath, Stat]) -> dict[VaultPath, Stat | None]:
    changed, gone = index.unmet(files)
    return _left(index, {stat.path: stat for stat in changed} | dict.fromkeys(gone))


def _left(index: Index, states: Mapping[VaultPath, Stat | None]) -> dict[VaultPath, Stat | None]:
    """Those of these states of files that the index has not met yet."""
    left: dict[VaultPath, Stat | None] = {}
    coming = iter(states.items())
    while some := dict(islice(coming, _AT_ONCE)):
        stamps = index.stamps(some)
        left |= {path: stat for path, stat in some.items() if not _has_met(stamps.get(path), stat)}
    return left


def _has_met(stamp: Stamp | None, stat: Stat | None) -> bool:
    """Whether the index has seen this state of a file or a later one."""
    if stamp is None or stat is None:
        return stamp is None and stat is None
    return stamp[:3] == (stat.size, stat.mtime_ns, stat.inode) or stamp.mtime_ns > stat.mtime_ns
