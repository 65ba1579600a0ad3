"""Scanning: bringing an index up to the files as they are.

Owns what counts as changed and in what batches changes are applied. Knows no store and no format. Never writes the
vault. A file that cannot be read is recorded as a problem and tried again next time; it never stops the others.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from reme.errors import NotFound, Refused, ReMeError, Unavailable
from reme.index.extract import converter
from reme.index.port import Index, Writer
from reme.index.project import Projector
from reme.index.renames import Renames, renames
from reme.index.rows import ChunkEntry, Entry, FileProblem, IndexDamaged, Stamp
from reme.paths import VaultPath
from reme.revision import Revision, revision_of_pieces
from reme.vault import Stat, Vault

__all__ = ["Refreshed", "rebuild", "refresh", "refresh_paths"]

_BATCH_FILES: Final = 2_000
_BATCH_BYTES: Final = 32_000_000


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


class _Tally:
    def __init__(self) -> None:
        self.added: list[VaultPath] = []
        self.modified: list[VaultPath] = []
        self.removed: list[VaultPath] = []
        self.problems: list[FileProblem] = []
        self.lost: dict[VaultPath, Revision] = {}
        self.gained: dict[VaultPath, Revision] = {}

    def take(self, other: "_Tally") -> None:
        self.added += other.added
        self.modified += other.modified
        self.removed += other.removed
        self.problems += other.problems
        self.lost |= other.lost
        self.gained |= other.gained

    @property
    def renamed(self) -> Renames:
        return renames(self.lost, self.gained)

    def result(self, pending: int) -> Refreshed:
        return Refreshed(
            tuple(self.added),
            tuple(self.modified),
            tuple(self.removed),
            tuple(self.problems),
            self.renamed,
            pending,
        )


def refresh(index: Index, vault: Vault, *, deep: bool = False) -> Refreshed:
    """Bring the index up to the files: read what differs in size, times or inode from what the index has seen.

    Nothing is locked where nothing has changed. Where another process writes the index, its work is waited for and
    not repeated; if that takes too long, what is left over is counted in ``pending``.

    Args:
        index: The index.
        vault: The vault that it is of.
        deep: Whether to read every file, so that edits which keep size and times are found too.

    Raises:
        Unavailable: If the store cannot be used at all.
    """
    try:
        return _refresh(index, vault, deep)
    except IndexDamaged:
        return _refresh(index, vault, deep)


def rebuild(index: Index, vault: Vault) -> Refreshed:
    """Throw away what the index holds and read every file."""
    index.clear()
    return _refresh(index, vault, deep=True)


def refresh_paths(index: Index, vault: Vault, paths: Iterable[VaultPath]) -> Refreshed:
    """Bring the index up to some files, in one batch: read each whatever its size and times say, or forget it.

    The rest of the vault is left alone, and so is what is skipped.

    Args:
        index: The index.
        vault: The vault that it is of.
        paths: Files that belong to the vault, as a scan or the index itself has told.

    Raises:
        Unavailable: If the store cannot be written.
    """
    projector = Projector(index.layout, index.settings, index.tokenizer)
    tally = _Tally()
    with index.writing(settle=True) as writer:
        for path in dict.fromkeys(paths):
            stat = _stat(vault, path)
            if stat is not None:
                _update(writer, vault, projector, stat, True, tally)
            elif (stamp := writer.stamp(path)) is not None:
                _remove(writer, {path: stamp}, tally)
    if tally.renamed:
        index.keep_renames(tally.renamed)
    return tally.result(0)


def _stat(vault: Vault, path: VaultPath) -> Stat | None:
    """What there is of a file; nothing if it has become a link to elsewhere."""
    try:
        return vault.stat(path)
    except Refused:
        return None


def _refresh(index: Index, vault: Vault, deep: bool) -> Refreshed:
    scan = vault.scan()
    seen = index.stamps()
    changed = [stat for stat in scan.files if deep or _differs(seen.get(stat.path), stat)]
    changed.sort(key=lambda stat: stat.size > index.settings.max_bytes)  # the others need not wait for it
    for stat in scan.files:
        seen.pop(stat.path, None)
    gone = dict(sorted(seen.items()))
    skipped = list(scan.skipped)
    stale_skips = skipped != index.skipped()
    del scan
    tally = _Tally()
    if not changed and not gone and not stale_skips:
        index.settle()
        return tally.result(0)
    projector = Projector(index.layout, index.settings, index.tokenizer)
    batches = _batches(changed)
    settle = len(batches) <= 1
    left = len(changed) + len(gone)
    try:
        for number, batch in enumerate(batches or [[]]):
            done = _Tally()
            with index.writing(settle=settle) as writer:
                if number == 0:
                    if stale_skips:
                        writer.skip(skipped)
                    _remove(writer, gone, done)
                for stat in batch:
                    _update(writer, vault, projector, stat, deep, done)
            tally.take(done)
            left -= len(batch) + (len(gone) if number == 0 else 0)
        index.settle()
        if tally.renamed:
            index.keep_renames(tally.renamed)
    except IndexDamaged:
        raise
    except Unavailable as error:
        return replace(tally.result(left), held_up=error.message) if left else tally.result(0)
    return tally.result(0)


def _differs(stamp: Stamp | None, stat: Stat) -> bool:
    return stamp is None or not stamp.revision or stamp != _stamp(stat, stamp.revision)


def _stamp(stat: Stat, revision: Revision) -> Stamp:
    return Stamp(stat.size, stat.mtime_ns, stat.inode, revision, stat.ctime_ns)


def _batches(changed: Sequence[Stat]) -> list[list[Stat]]:
    batches: list[list[Stat]] = []
    size = _BATCH_BYTES
    for stat in changed:
        if size >= _BATCH_BYTES or len(batches[-1]) >= _BATCH_FILES:
            batches.append([])
            size = 0
        batches[-1].append(stat)
        size += stat.size
    return batches


def _remove(writer: Writer, gone: Mapping[VaultPath, Stamp], tally: _Tally) -> None:
    for path, stamp in gone.items():
        if writer.stamp(path) == stamp:  # else another process has met it since
            writer.remove(path)
            tally.removed.append(path)
            if stamp.size:
                tally.lost[path] = stamp.revision


def _update(writer: Writer, vault: Vault, projector: Projector, stat: Stat, deep: bool, tally: _Tally) -> None:
    path = stat.path
    before = writer.stamp(path)
    if not deep and not _differs(before, stat):
        return  # another process was faster
    try:
        entry, further = _read(writer, vault, projector, stat, before)
        if isinstance(entry, Stamp):
            if entry != before:
                writer.touch(path, entry)
            return
        writer.put(entry)
        for chunks in further:
            writer.extend(path, chunks)
    except NotFound:
        return  # gone since the scan: the next one will not meet it
    except IndexDamaged:
        raise
    except (ReMeError, OSError) as error:
        entry = projector.catalogued(path, _stamp(stat, Revision("")), "unreadable", [("unreadable", str(error), 1)])
        writer.put(entry)
    if before is None:
        tally.added.append(path)
        if entry.stamp.size:
            tally.gained[path] = entry.stamp.revision
    elif before.revision != entry.stamp.revision:
        tally.modified.append(path)
    tally.problems += [FileProblem(path, *problem) for problem in entry.problems]


def _read(
    writer: Writer, vault: Vault, projector: Projector, stat: Stat, before: Stamp | None
) -> tuple[Entry | Stamp, Iterator[tuple[ChunkEntry, ...]]]:
    """What the index shall hold of a file and further chunks of it, or only its new times if its bytes are known."""
    path = stat.path
    if stat.size <= projector.max_bytes and projector.reads(path):
        file = vault.read(path)
        stamp = _stamp(stat, file.revision)
        if before is not None and before.revision == file.revision:
            return stamp, iter(())
        return projector.project(path, file.data, stamp)
    stamp = _stamp(stat, revision_of_pieces(vault.pieces(path)))
    if before is not None and before.revision == stamp.revision:
        return stamp, iter(())
    if projector.reads_as_document(path):
        return projector.project_document(path, stamp, writer.kept_text(stamp.revision, converter())), iter(())
    if not projector.reads(path):
        return projector.catalogued(path, stamp, "binary"), iter(())
    return projector.project_large(path, lambda: vault.pieces(path), stamp)
