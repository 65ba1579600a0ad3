"""The journal: what each change set did, with the bytes before and after, so that it can be finished, shown and undone.

Owns the entry's format (docs/format.md) and its life: written and synced as ``pending.zip`` before the first file
changes, renamed to ``<id>.<run>.zip`` when all is done. The vault's lock is held throughout, so at most one entry is
pending. Each entry is an ordinary zip file: ``manifest.json`` and the images ``pre/<n>`` and ``post/<n>``.
"""

import errno
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, cast

from reme.errors import Unavailable
from reme.paths import VaultPath
from reme.revision import ABSENT, Revision
from reme.vault.content import LARGEST_HELD, Content, Large
from reme.vault.disk import New, exists, sync_folder, write_new
from reme.vault.roles import Role

__all__ = ["Added", "Entry", "Journal", "Moved", "Record", "Replaced", "Retention", "Step"]

_FORMAT = 1
_PENDING = "pending.zip"
_UNSYNCED = "pending.tmp"
_PRUNED = "pruned"
_PIECE = 1 << 20
_WORTH_COMPRESSING = 1 << 14


@dataclass(frozen=True, slots=True)
class Replaced:
    """A file had the content ``pre`` and has the content ``post``; None where it was or is absent.

    Attributes:
        before: The revision of ``pre``.
        after: The revision of ``post``.
    """

    path: VaultPath
    pre: Content | None
    post: Content | None
    before: Revision
    after: Revision

    @property
    def paths(self) -> tuple[VaultPath, ...]:
        """The one path that it touches."""
        return (self.path,)


@dataclass(frozen=True, slots=True)
class Added:
    """Bytes were added to an existing file at ``offset``, which was its end."""

    path: VaultPath
    offset: int
    data: bytes

    @property
    def paths(self) -> tuple[VaultPath, ...]:
        """The one path that it touches."""
        return (self.path,)


@dataclass(frozen=True, slots=True)
class Moved:
    """A file got another path; its bytes stayed."""

    source: VaultPath
    target: VaultPath
    revision: Revision

    @property
    def paths(self) -> tuple[VaultPath, ...]:
        """The path that it had and the path that it got."""
        return (self.source, self.target)


Step = Replaced | Added | Moved


@dataclass(frozen=True, slots=True)
class Record:
    """The heading of an entry: all but the bytes.

    Attributes:
        id: Unique, and sorted by time.
        at: When, in the vault's timezone.
        run, role, actor, reason, undoes: As in the change set.
        paths: Every path that it touched, each once.
        folders: The folders that were made for it, deepest first.
    """

    id: str
    run: str
    at: datetime
    role: Role
    actor: str
    reason: str
    undoes: str | None
    paths: tuple[VaultPath, ...]
    folders: tuple[VaultPath, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """One change set as it was carried out: its record, and what was done, in order."""

    record: Record
    steps: tuple[Step, ...]

    @property
    def id(self) -> str:
        """The record's id."""
        return self.record.id


@dataclass(frozen=True, slots=True)
class Retention:
    """How long finished entries are kept: until either limit is passed.

    Attributes:
        days: Older entries go.
        size: Bytes that all of them may take together; what does not fit beside newer ones goes.
    """

    days: int = 30
    size: int = 500_000_000

    def __post_init__(self) -> None:
        if min(self.days, self.size) < 0:
            raise ValueError("neither days nor bytes can be fewer than none")


class Journal:
    """The entries of one vault, a folder of zip files.

    Args:
        folder: Created when the first entry is written.
        retention: How long entries are kept.
    """

    def __init__(self, folder: Path, retention: Retention) -> None:
        self._folder = str(folder)
        self._pending = self._at(_PENDING)
        self._unsynced = self._at(_UNSYNCED)
        self._retention = retention

    def begin(self, entry: Entry) -> Entry:
        """Write an entry durably as the pending one. After a failure nothing is pending.

        Returns:
            The entry, its large contents read from the journal from now on.

        Raises:
            ContentChanged: If a large content is no longer what it was.
        """
        os.makedirs(self._folder, exist_ok=True)
        try:
            with suppress(FileNotFoundError):
                os.unlink(self._unsynced)
            write_new([New(self._unsynced, _pack(entry))])
            os.replace(self._unsynced, self._pending)
            sync_folder(self._folder)
        except BaseException:
            self.abandon()
            raise
        return _kept(entry, self._pending)

    def finish(self, entry: Entry) -> None:
        """Mark the pending entry as done. The next entry's sync makes the mark durable; without it, recovery finds
        every step done already."""
        os.replace(self._pending, self._file(entry.record))

    def prune(self, now: datetime) -> None:
        """Drop what is past retention; looks at most once a day."""
        mark = self._at(_PRUNED)
        with suppress(FileNotFoundError):
            if now.timestamp() - os.stat(mark).st_mtime < timedelta(days=1).total_seconds():
                return
        with open(mark, "ab"):
            os.utime(mark, (now.timestamp(), now.timestamp()))
        oldest = (now.astimezone(UTC) - timedelta(days=self._retention.days)).strftime("%Y%m%d")
        room = self._retention.size
        for name in sorted(self._finished(), reverse=True):
            size = os.stat(self._at(name)).st_size
            if name < oldest or size > room:
                os.unlink(self._at(name))
            else:
                room -= size

    def abandon(self) -> None:
        """Forget the pending entry, of which nothing was done."""
        for place in (self._unsynced, self._pending):
            with suppress(FileNotFoundError):
                os.unlink(place)

    @property
    def is_pending(self) -> bool:
        """Whether there is a pending entry: somebody is carrying it out, or a crash left it."""
        return exists(self._pending)

    def pending(self) -> Entry | None:
        """The entry that a crash left, or None.

        Raises:
            Unavailable: If it cannot be read; it had been synced before it got its name, so the disk has damaged it.
        """
        return _unpack(self._pending) if self.is_pending else None

    def records(self, run: str | None = None) -> Iterator[Record]:
        """The finished entries' headings, newest first; of one run, if one is named. Damaged ones are passed over."""
        yield from self._headings(sorted(self._finished(f".{run}.zip" if run else ".zip"), reverse=True))

    def runs(self) -> tuple[str, ...]:
        """The ids of the runs that have finished entries, newest first; none is opened."""
        return tuple(dict.fromkeys(name.split(".")[1] for name in sorted(self._finished(), reverse=True)))

    def _finished(self, ending: str = ".zip") -> list[str]:
        try:
            return [e.name for e in os.scandir(self._folder) if e.name.endswith(ending) and e.name != _PENDING]
        except FileNotFoundError:
            return []

    def _headings(self, names: Iterable[str]) -> Iterator[Record]:
        import zipfile

        for name in names:
            try:
                with zipfile.ZipFile(self._at(name)) as archive:
                    yield _record(json.loads(archive.read("manifest.json")))
            except (OSError, zipfile.BadZipFile, KeyError, ValueError):
                continue

    def touched(self, since: datetime) -> frozenset[VaultPath]:
        """The paths that change sets begun since then have touched; costs next to nothing where there were none."""
        try:
            if os.stat(self._folder).st_mtime < since.timestamp():
                return frozenset()
        except OSError:
            return frozenset()
        first = f"{since.astimezone(UTC):%Y%m%d-%H%M%S}"
        late = [name for name in self._finished() if name >= first]
        return frozenset(path for record in self._headings(late) for path in record.paths)

    def load(self, record: Record) -> Entry:
        """A finished entry with its bytes.

        Raises:
            Unavailable: If it is damaged or gone.
        """
        file = self._file(record)
        try:
            return _unpack(file)
        except OSError as error:
            raise Unavailable(f"the journal entry {os.path.basename(file)} cannot be read: {error.strerror}") from error

    def _file(self, record: Record) -> str:
        return self._at(f"{record.id}.{record.run}.zip")

    def _at(self, name: str) -> str:
        return f"{self._folder}{os.sep}{name}"


class _Sink:
    """Where the zip writer writes to; it cannot go back there, so what was written may leave at once."""

    def __init__(self) -> None:
        self._written: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._written.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        pass

    def taken(self) -> bytes:
        data = b"".join(self._written)
        self._written.clear()
        return data


def _pack(entry: Entry) -> Iterator[bytes]:
    """The bytes of an entry's file, in pieces. Large contents and small ones stand in it as they are, those between
    them compressed."""
    import zipfile

    images: dict[str, Content] = {}
    steps: list[dict[str, Any]] = []
    for number, step in enumerate(entry.steps):
        match step:
            case Replaced(path, pre, post, before, after):
                steps.append({"op": "replace", "path": path, "pre": before, "post": after})
                if pre is not None:
                    images[f"pre/{number}"] = pre
                if post is not None:
                    images[f"post/{number}"] = post
            case Added(path, offset, data):
                steps.append({"op": "append", "path": path, "offset": offset, "length": len(data)})
                images[f"post/{number}"] = data
            case Moved(source, target, revision):
                steps.append({"op": "move", "source": source, "target": target, "revision": revision})
    record = entry.record
    manifest: dict[str, Any] = {
        "format": _FORMAT,
        "id": record.id,
        "run": record.run,
        "at": record.at.isoformat(),
        "role": record.role,
        "actor": record.actor,
        "reason": record.reason,
        "undoes": record.undoes,
        "paths": record.paths,
        "folders": record.folders,
        "steps": steps,
    }
    sink = _Sink()
    with zipfile.ZipFile(cast("Any", sink), "w", compresslevel=1) as archive:
        heading = json.dumps(manifest, ensure_ascii=False).encode()
        archive.writestr(zipfile.ZipInfo("manifest.json"), heading, _way_of(heading))
        for name, content in images.items():
            if isinstance(content, bytes):
                archive.writestr(zipfile.ZipInfo(name), content, _way_of(content))
                continue
            with archive.open(zipfile.ZipInfo(name), "w", force_zip64=True) as member:
                for piece in content.pieces():
                    member.write(piece)
                    yield sink.taken()
    yield sink.taken()


def _way_of(image: bytes) -> int:
    """How an image is kept: beginning to compress takes longer than compressing a small one."""
    from zipfile import ZIP_DEFLATED, ZIP_STORED

    return ZIP_STORED if len(image) < _WORTH_COMPRESSING else ZIP_DEFLATED


def _kept(entry: Entry, file: str) -> Entry:
    """An entry whose large contents are read from its file."""

    def kept(content: Content | None, member: str) -> Content | None:
        return replace(content, source=partial(_member, file, member)) if isinstance(content, Large) else content

    steps = (
        replace(step, pre=kept(step.pre, f"pre/{number}"), post=kept(step.post, f"post/{number}"))
        if isinstance(step, Replaced) and (isinstance(step.pre, Large) or isinstance(step.post, Large))
        else step
        for number, step in enumerate(entry.steps)
    )
    return Entry(entry.record, tuple(steps))


def _unpack(file: str) -> Entry:
    import zipfile

    try:
        with zipfile.ZipFile(file) as archive:
            manifest = json.loads(archive.read("manifest.json"))
            steps = tuple(_step(number, step, archive, file) for number, step in enumerate(manifest["steps"]))
        return Entry(_record(manifest), steps)
    except (zipfile.BadZipFile, KeyError, ValueError, EOFError) as error:
        raise Unavailable(
            f"the journal entry {os.path.basename(file)} is damaged: {error}",
            hint=f"Move {file} out of the way after comparing the files that it names with your backup.",
        ) from error


def _record(manifest: dict[str, Any]) -> Record:
    return Record(
        manifest["id"],
        manifest["run"],
        datetime.fromisoformat(manifest["at"]),
        manifest["role"],
        manifest["actor"],
        manifest["reason"],
        manifest["undoes"],
        tuple(VaultPath(path) for path in manifest["paths"]),
        tuple(VaultPath(folder) for folder in manifest.get("folders", ())),
    )


def _step(number: int, step: dict[str, Any], archive: Any, file: str) -> Step:
    match step["op"]:
        case "replace":
            before, after = Revision(step["pre"]), Revision(step["post"])
            pre, post = (
                None if revision == ABSENT else _image(archive, file, f"{side}/{number}", revision)
                for side, revision in (("pre", before), ("post", after))
            )
            return Replaced(VaultPath(step["path"]), pre, post, before, after)
        case "append":
            return Added(VaultPath(step["path"]), step["offset"], archive.read(f"post/{number}"))
        case "move":
            return Moved(VaultPath(step["source"]), VaultPath(step["target"]), Revision(step["revision"]))
        case unknown:
            raise ValueError(f"unknown step {unknown!r}")


def _image(archive: Any, file: str, member: str, revision: Revision) -> Content:
    size = archive.getinfo(member).file_size
    return (
        archive.read(member) if size <= LARGEST_HELD else Large(revision, size, partial(_member, file, member), member)
    )


def _member(file: str, member: str) -> Iterator[bytes]:
    import zipfile

    try:
        with zipfile.ZipFile(file) as archive, archive.open(member) as stream:
            while piece := stream.read(_PIECE):
                yield piece
    except (zipfile.BadZipFile, EOFError) as error:
        raise OSError(errno.EIO, f"the journal entry {os.path.basename(file)} is damaged") from error
