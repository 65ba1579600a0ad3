"""Scanning: bringing an index up to the files as they are.

Owns what counts as changed. Knows no store and no format, and never writes the vault.
"""

from collections.abc import Callable
from dataclasses import dataclass

from reme.errors import ReMeError
from reme.index.port import Index
from reme.index.renames import Renames
from reme.index.rows import FileProblem, IndexDamaged, Stamp
from reme.paths import VaultPath
from reme.progress import Progress, unseen
from reme.revision import Revision
from reme.vault import Stat, Vault

__all__ = ["Refreshed", "differs", "rebuild", "refresh", "stamp_of"]


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What a refresh found.

    Attributes:
        added: Files that the index did not know.
        modified: Files whose bytes have changed.
        removed: Files that are gone.
        problems: What is wrong with the files read now.
        renamed: Old and new path of files among ``removed`` and ``added`` that are the same file, as its content tells.
        pending: How many changes could not be applied; they are next time.
        held_up: Why not: another process was writing, or the disk is full.
    """

    added: tuple[VaultPath, ...] = ()
    modified: tuple[VaultPath, ...] = ()
    removed: tuple[VaultPath, ...] = ()
    problems: tuple[FileProblem, ...] = ()
    renamed: Renames = ()
    pending: int = 0
    held_up: str = ""


def _nothing() -> None:
    pass


def refresh(
    index: Index,
    vault: Vault,
    *,
    deep: bool = False,
    between: Callable[[], object] = _nothing,
    progress: Progress = unseen,
) -> Refreshed:
    """Bring the index up to the files: read what differs in size, times or inode from what the index has seen.

    Nothing is locked where nothing has changed. Where another process writes the index, its work is waited for and
    not repeated; if that takes too long, what is left over is counted in ``pending``.

    Args:
        index: The index.
        vault: The vault that it is of.
        deep: Whether to read every file, so that edits which keep size and times are found too.
        between: Called between the batches by which a large file is taken in.
        progress: Is told how many of the changed files have been read.

    Raises:
        Unavailable: If the store cannot be used at all.
    """
    try:
        return _refresh(index, vault, deep, between, progress)
    except IndexDamaged:
        return _refresh(index, vault, deep, between, progress)


def rebuild(index: Index, vault: Vault, *, progress: Progress = unseen) -> Refreshed:
    """Throw away what the index holds and read every file."""
    index.clear()
    return _refresh(index, vault, True, _nothing, progress)


def _refresh(index: Index, vault: Vault, deep: bool, between: Callable[[], object], progress: Progress) -> Refreshed:
    scan = vault.scan()
    changed, gone = index.unmet(scan.found)
    changed = list(scan.files) if deep else changed + _readable_again(index, vault)
    changed.sort(key=lambda stat: stat.size > index.settings.max_bytes)  # the others need not wait for it
    gone = dict(sorted(gone.items()))
    skipped = list(scan.skipped)
    stale_skips = skipped != index.skipped()
    del scan
    if not changed and not gone and not stale_skips:
        index.settle()
        return Refreshed()
    from reme.index.intake import take_in  # what reads files is loaded only where there is one to read

    new_skips = skipped if stale_skips else None
    return take_in(index, vault, changed, gone, new_skips, deep=deep, between=between, progress=progress)


def _readable_again(index: Index, vault: Vault) -> list[Stat]:
    """The files that could not be read as they are, and can be by now."""
    found: list[Stat] = []
    for path in [problem.path for problem in index.problems() if problem.rule == "unreadable"]:
        try:
            with vault.open(path):
                stat = vault.stat(path)
        except ReMeError:
            continue
        if stat is not None:
            found.append(stat)
    return found


def differs(stamp: Stamp | None, stat: Stat) -> bool:
    """Whether a file is not as the index has seen it."""
    return stamp is None or not stamp.revision or stamp != stamp_of(stat, stamp.revision)


def stamp_of(stat: Stat, revision: Revision) -> Stamp:
    """What the index keeps of a file's state, whose bytes have a revision."""
    return Stamp(stat.size, stat.mtime_ns, stat.inode, revision, stat.ctime_ns)
