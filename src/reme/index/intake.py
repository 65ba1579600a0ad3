"""Intake: reading the files that have changed into an index.

Owns in what batches changes are applied. Knows no store and no format, and never writes the vault. A file that cannot
be read is recorded as a problem and tried again next time; it never stops the others.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Final, NamedTuple

from reme.errors import NotFound, Refused, ReMeError, Unavailable
from reme.index.extract import converter
from reme.index.port import Index, Writer
from reme.index.project import Projector
from reme.index.renames import Renames, renames
from reme.index.rows import ChunkEntry, Entry, FileProblem, IndexDamaged, Stamp
from reme.index.scan import Refreshed, differs, stamp_of
from reme.paths import VaultPath
from reme.progress import Progress
from reme.revision import Revision, revision_of_pieces
from reme.vault import Stat, Vault

__all__ = ["refresh_paths", "take_in"]

_BATCH_FILES: Final = 2_000
_BATCH_BYTES: Final = 32_000_000
_AT_ONCE: Final = 2
"""How many times the chunks that a projection gives at once a batch takes of one file."""

_Chunks = Iterator[tuple[ChunkEntry, ...]]


def take_in(
    index: Index,
    vault: Vault,
    changed: Sequence[Stat],
    gone: Mapping[VaultPath, Stamp],
    skipped: Sequence[tuple[str, str]] | None,
    *,
    deep: bool,
    between: Callable[[], object],
    progress: Progress,
) -> Refreshed:
    """Read the files that have changed and forget those that are gone, in batches.

    Args:
        index: The index.
        vault: The vault that it is of.
        changed: The files to read.
        gone: The files to forget, as the index has them.
        skipped: What the scan has left out and why, where that has changed.
        deep: Whether to read files whose times are known, too.
        between: Called between the batches by which a large file is taken in.
        progress: Is told how many of the changed files have been read.
    """
    tally = _Tally()
    projector = Projector(index.layout, index.settings, index.tokenizer)
    batches = _batches(changed)
    settle = len(batches) <= 1
    left = len(changed) + len(gone)
    read = 0
    try:
        for number, batch in enumerate(batches or [[]]):
            done = _Tally()
            with index.writing(settle=settle) as writer:
                if number == 0:
                    if skipped is not None:
                        writer.skip(skipped)
                    _remove(writer, gone, done)
                before = writer.stamps(stat.path for stat in batch)
                for stat in batch:
                    progress("reading files", read, len(changed))
                    _update(writer, vault, projector, stat, before.get(stat.path), deep, done)
                    read += 1
            _go_on(index, done, between, settle=settle)
            tally.take(done)
            left -= len(batch) + (len(gone) if number == 0 else 0)
        index.settle()
        if tally.renamed:
            index.keep_renames(tally.renamed)
        index.tidy()
    except IndexDamaged:
        raise
    except Unavailable as error:
        return replace(tally.result(left), held_up=error.message) if left else tally.result(0)
    return tally.result(0)


def refresh_paths(
    index: Index, vault: Vault, paths: Iterable[VaultPath], *, between: Callable[[], object] = lambda: None
) -> Refreshed:
    """Bring the index up to some files, in one batch but for large ones: read each whatever its size and times say, or
    forget it.

    The rest of the vault is left alone, and so is what is skipped.

    Args:
        index: The index.
        vault: The vault that it is of.
        paths: Files that belong to the vault, as a scan or the index itself has told.
        between: Called between the batches by which a large file is taken in.

    Raises:
        Unavailable: If the store cannot be written.
    """
    projector = Projector(index.layout, index.settings, index.tokenizer)
    tally = _Tally()
    with index.writing(settle=True) as writer:
        wanted = tuple(dict.fromkeys(paths))
        before = writer.stamps(wanted)
        for path in wanted:
            stat = _stat(vault, path)
            if stat is not None:
                _update(writer, vault, projector, stat, before.get(path), True, tally)
            elif path in before:
                _remove(writer, {path: before[path]}, tally)
    _go_on(index, tally, between, settle=True)
    if tally.renamed:
        index.keep_renames(tally.renamed)
    return tally.result(0)


def _stat(vault: Vault, path: VaultPath) -> Stat | None:
    """What there is of a file; nothing if it has become a link to elsewhere."""
    try:
        return vault.stat(path)
    except Refused:
        return None


class _Rest(NamedTuple):
    """What of a large file is still to be taken in: the chunks behind so many."""

    entry: Entry
    chunks: int
    further: _Chunks


class _Tally:
    def __init__(self) -> None:
        self.rests: list[_Rest] = []
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
    known = writer.stamps(gone)
    for path, stamp in gone.items():
        if known.get(path) == stamp:  # else another process has met it since
            writer.remove(path)
            tally.removed.append(path)
            if stamp.size:
                tally.lost[path] = stamp.revision


def _update(
    writer: Writer, vault: Vault, projector: Projector, stat: Stat, before: Stamp | None, deep: bool, tally: _Tally
) -> None:
    path = stat.path
    if not deep and not differs(before, stat):
        return  # another process was faster
    try:
        entry, further = _read(writer, vault, projector, stat, before)
        if isinstance(entry, Stamp):
            if entry != before:
                writer.touch(path, entry)
            return
        writer.put(entry)
        if (rest := _extend(writer, entry, further)) is not None:
            tally.rests.append(rest)
    except NotFound:
        return  # gone since the scan: the next one will not meet it
    except IndexDamaged:
        raise
    except (ReMeError, OSError) as error:
        entry = projector.catalogued(path, stamp_of(stat, Revision("")), "unreadable", [("unreadable", str(error), 1)])
        if entry.stamp != before:
            writer.put(entry)
    if before is None:
        tally.added.append(path)
        if entry.stamp.size:
            tally.gained[path] = entry.stamp.revision
    elif before.revision != entry.stamp.revision:
        tally.modified.append(path)
    tally.problems += [FileProblem(path, *problem) for problem in entry.problems]


def _extend(writer: Writer, entry: Entry, further: _Chunks) -> _Rest | None:
    """Add chunks to a file, and tell what is left for another batch."""
    for chunks in islice(further, _AT_ONCE):
        writer.extend(entry.path, chunks)
    following = next(further, None)
    return None if following is None else _Rest(entry, writer.leave(), chain((following,), further))


def _go_on(index: Index, tally: _Tally, between: Callable[[], object], *, settle: bool) -> None:
    """Take in the rest of large files, by batches between which others have their turn."""
    for rest in tally.rests:
        going: _Rest | None = rest
        while going is not None:
            between()
            with index.writing(settle=settle) as writer:
                going = _further_on(writer, going, tally)


def _further_on(writer: Writer, rest: _Rest, tally: _Tally) -> _Rest | None:
    path = rest.entry.path
    if writer.stamps([path]).get(path) != rest.entry.stamp.unfinished:
        return None  # it has been read anew, or is gone
    writer.resume(rest.entry, rest.chunks)
    try:
        return _extend(writer, rest.entry, rest.further)
    except IndexDamaged:
        raise
    except (ReMeError, OSError) as error:  # it stays unfinished, and is read anew
        writer.leave()
        tally.problems.append(FileProblem(path, "unreadable", str(error), 1))
        return None


def _read(
    writer: Writer, vault: Vault, projector: Projector, stat: Stat, before: Stamp | None
) -> tuple[Entry | Stamp, Iterator[tuple[ChunkEntry, ...]]]:
    """What the index shall hold of a file and further chunks of it, or only its new times if its bytes are known."""
    path = stat.path
    if stat.size <= projector.max_bytes and projector.reads(path):
        file = vault.read(path)
        stamp = stamp_of(stat, file.revision)
        if before is not None and before.revision == file.revision:
            return stamp, iter(())
        return projector.project(path, file.data, stamp)
    stamp = stamp_of(stat, revision_of_pieces(vault.pieces(path)))
    if before is not None and before.revision == stamp.revision:
        return stamp, iter(())
    if projector.reads_as_document(path):
        return projector.project_document(path, stamp, writer.kept_text(stamp.revision, converter())), iter(())
    if not projector.reads(path):
        return projector.catalogued(path, stamp, "binary"), iter(())
    return projector.project_large(path, lambda: vault.pieces(path), stamp)
