"""The vault: a folder of files that is opened, read, listed and locked.

Owns the way from a vault path to a file and back, and what counts as part of the vault. Knows nothing of what a file
says, and never writes one: that is ``commit``'s alone.
"""

import errno
import os
import re
import stat as modes
import sys
import unicodedata
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple, cast

from reme.clock import Clock
from reme.errors import ConfigError, InvalidInput, NotFound, Refused, Unavailable
from reme.paths import VaultPath, basename, check_portable, is_hidden, join, parent, parse_path, suffix
from reme.revision import Revision, revision_of
from reme.vault.content import LARGEST_HELD, READING, Content, Large, content_in, rest_of, revision_of_content
from reme.vault.journal import Journal, Retention
from reme.vault.layout import SETTINGS_FILE, Layer, Layout
from reme.vault.lock import FileLock

__all__ = ["TEXT_SUFFIXES", "File", "Scan", "Stat", "Vault"]

STATE_FOLDER: Final = ".reme"
IGNORE_FILE: Final = ".remeignore"
TEXT_SUFFIXES: Final = frozenset(
    (".md", ".markdown", ".txt", ".json", ".jsonl", ".csv", ".tsv", ".yaml", ".yml", ".html", ".htm", ".xml", ".log")
)
_TRANSIENT = re.compile(r"^(~\$|#.*#$)|(~|\.tmp|\.temp|\.swp|\.swx|\.part|\.crdownload|\.bak)$", re.IGNORECASE)
_PLAIN_NAME = re.compile(r"[\w \-.,()+&=@!']+")
_is_usual = re.compile(r"\w[\w \-,()+&=@!']*\.(?:md|jsonl|txt)", re.ASCII).fullmatch
"""Names that no rule leaves out and no form of Unicode changes, known by one look."""
_DEFAULT_LOCK_TIMEOUT_S = 10.0
_PIECE = 1 << 20
_TELLS_INODES: Final = sys.platform != "win32"
_WITHOUT_WAITING: Final = getattr(os, "O_NONBLOCK", 0)

_Ignores = Callable[[VaultPath, bool], bool]
_Complaints = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class File:
    """A file's bytes at one moment."""

    path: VaultPath
    data: bytes
    revision: Revision


class Stat(NamedTuple):
    """What the file system says of a file: size in bytes, times in nanoseconds, inode number.

    Attributes:
        inode: 0 on Windows, where a listing does not tell it.
        ctime_ns: When anything of it was last changed, which no program can set back; on Windows, when it was made.
    """

    path: VaultPath
    size: int
    mtime_ns: int
    inode: int
    ctime_ns: int


_new: Final[Callable[[type[Stat], tuple[object, ...]], Stat]] = cast("Any", tuple).__new__
"""Makes one in the quickest way, since a walk makes one for each file."""


@dataclass(frozen=True, slots=True)
class Scan:
    """One walk over the vault.

    Attributes:
        found: Everything that belongs to the vault, in no order.
        skipped: What a person might look for here in vain, with the reason (symlinks, nested vaults, names that
            differ only in Unicode form).
    """

    found: Mapping[VaultPath, Stat]
    skipped: tuple[tuple[str, str], ...]

    @property
    def files(self) -> tuple[Stat, ...]:
        """Everything that belongs to the vault, sorted by path."""
        return tuple(self.found[path] for path in sorted(self.found))


class Vault:
    """An open vault.

    Args:
        root: The folder; may itself be reached through a symlink.
        layout: Which folder is which layer.
        clock: The time, in the vault's zone.
        state_dir: Where the machinery lives (locks, journal, indexes); ``<root>/.reme`` by default.
        lock_timeout: Seconds to wait for another writer.
        retention: How long undo reaches back.
        git: Whether each change set is also committed to the git repository that the vault is in.
        agents_write_notes: Whether agents may change what is in none of ReMe's own folders.

    Attributes:
        notices: What a person should know of what went on beside a commit that succeeded.
        entropy: Returns that many random bytes, for unique ids.

    Raises:
        ConfigError: If the root is no folder.
    """

    def __init__(
        self,
        root: Path,
        *,
        layout: Layout,
        clock: Clock,
        state_dir: Path | None = None,
        lock_timeout: float = _DEFAULT_LOCK_TIMEOUT_S,
        retention: Retention = Retention(),  # noqa: B008
        git: bool = False,
        agents_write_notes: bool = True,
        entropy: Callable[[int], bytes] = os.urandom,
    ) -> None:
        if not root.is_dir():
            raise ConfigError(f"there is no vault at {root}", hint="Create one with: reme init DIR")
        self.root = root.resolve()
        self._root = str(self.root)
        self.layout = layout
        self.clock = clock
        self.state_dir = state_dir or self.root / STATE_FOLDER
        self.journal = Journal(self.state_dir / "journal", retention)
        self.git = git
        self.agents_write_notes = agents_write_notes
        self.notices: list[str] = []
        self._entropy = entropy
        self._latest: datetime | None = None
        self._ignoring: tuple[bytes, _Ignores | None, _Complaints] = (b"", None, ())
        self.lock = FileLock(self.state_dir / "lock", lock_timeout)

    def close(self) -> None:
        """Give the lock's descriptor back. Idempotent."""
        self.lock.close()

    def new_id(self) -> str:
        """A unique id that sorts by time, for runs and change sets; later ones sort later, whatever the clock does."""
        moment = self.clock.now()
        if self._latest is not None:
            moment = max(moment, self._latest + timedelta(microseconds=1))
        self._latest = moment
        return f"{moment.astimezone(UTC):%Y%m%d-%H%M%S-%f}-{self._entropy(3).hex()}"

    def layer_of(self, path: VaultPath) -> Layer:
        """The layer of a path."""
        return self.layout.layer_of(path)

    # Paths

    def locate(self, path: VaultPath) -> Path:
        """Where a path is on disk, in the spelling that the disk has.

        Raises:
            Refused: If a component is a symlink, so that the file would not be where its path says.
        """
        return Path(self.located(path))

    def located(self, path: VaultPath) -> str:
        """The same as text, which is made in a fraction of the time."""
        place = self._root
        for part in path.split("/") if path else ():
            step = f"{place}{os.sep}{part}"
            try:
                found = os.lstat(step)
            except (FileNotFoundError, NotADirectoryError):
                place = _other_spelling(place, part) or step
                continue
            except OSError as error:
                raise _unreadable(path, error) from error
            if modes.S_ISLNK(found.st_mode):
                raise Refused(
                    f"{path} leads through a symlink, which the vault does not follow",
                    hint="Put the file itself into the vault.",
                    details={"path": path},
                )
            place = step
        return place

    def find(self, raw: str) -> VaultPath:
        """The existing file that a given spelling means: the path itself, else the path with ``.md``.

        Raises:
            Refused: If it is no path inside the vault.
            NotFound: If there is no such file.
            InvalidInput: If it is a folder, or spelled as one.
        """
        path = _file_path(raw)
        for candidate in (path, VaultPath(path + ".md")):
            if self.exists(candidate):
                return candidate
        raise _folder(path) if self.is_folder(path) else _absent(path)

    def name_for(self, raw: str) -> VaultPath:
        """The path that a given spelling means for a file that may not exist yet: a note, unless it says otherwise.

        Raises:
            Refused: If it is no path inside the vault.
            InvalidInput: If it is spelled as a folder.
        """
        path = _file_path(raw)
        return path if suffix(path) in TEXT_SUFFIXES or self.exists(path) else VaultPath(path + ".md")

    def check_name(self, path: VaultPath, besides: Iterable[str] = ()) -> None:
        """Make sure that what is new in the path of a new file can be kept on every system.

        Args:
            path: Where there is no file yet; the folders that exist are as they are.
            besides: Components that are not new either.

        Raises:
            InvalidInput: Naming the component and a better one.
        """
        folder = parent(path)
        while folder and not self.is_folder(folder):
            folder = parent(folder)
        check_portable(path, {*besides, *folder.split("/")})

    # Reading

    def exists(self, path: VaultPath) -> bool:
        """Whether there is a file at the path."""
        return os.path.isfile(self.located(path))

    def stat(self, path: VaultPath) -> Stat | None:
        """The file's size and times, or None if there is no file."""
        try:
            found = os.stat(self.located(path))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise _unreadable(path, error) from error
        return _stat(path, found) if modes.S_ISREG(found.st_mode) else None

    def read(self, path: VaultPath) -> File:
        """A file's bytes and revision.

        Raises:
            NotFound: If there is no such file.
            InvalidInput: If it is a folder.
            Unavailable: If it cannot be read.
        """
        data = self.bytes_of(path)
        if data is None:
            raise _absent(path)
        return File(path, data, revision_of(data))

    def bytes_of(self, path: VaultPath) -> bytes | None:
        """A file's bytes, or None if there is none."""
        content = self._held(path, None)
        assert not isinstance(content, Large)
        return content

    def _held(self, path: VaultPath, most: int | None) -> Content | None:
        try:
            descriptor = _open_at_once(self.located(path), READING)
            try:
                facts = os.fstat(descriptor)
                _check_regular(facts, path)
                if most is None or facts.st_size <= most:
                    return rest_of(descriptor, facts.st_size)
            finally:
                os.close(descriptor)
            return content_in(lambda: self.pieces(path), path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise _unreadable(path, error) from error

    def content_of(self, path: VaultPath, most: int = LARGEST_HELD) -> Content | None:
        """A file's bytes, held up to so many or to be read in pieces, or None if there is none; errors as ``read``."""
        return self._held(path, most)

    def revision_at(self, path: VaultPath) -> Revision:
        """The revision of the file at a path, ``ABSENT`` if there is none; errors as ``read``."""
        return revision_of_content(self.content_of(path))

    def pieces(self, path: VaultPath) -> Iterator[bytes]:
        """A file's bytes, a piece at a time; errors as ``open``."""
        with self.open(path) as stream:
            while piece := stream.read(_PIECE):
                yield piece

    @contextmanager
    def open(self, path: VaultPath) -> Generator[BinaryIO]:
        """A file to read piece by piece, for those too large to hold."""
        try:
            with _opened(self.located(path), path) as stream:
                yield stream
        except FileNotFoundError as error:
            raise _absent(path) from error
        except OSError as error:
            raise _unreadable(path, error) from error

    def scan(self, folder: VaultPath = VaultPath("")) -> Scan:  # noqa: B008
        """Everything that belongs to the vault (below a folder), from one walk that reads no file.

        Left out silently: dot-files and dot-folders, the vault's settings, editors' temporary and backup files, and
        what ``.remeignore`` (gitignore syntax) names.
        """
        files: dict[VaultPath, Stat] = {}
        ignored, complaints = self._ignored()
        skipped = list(complaints)
        folders = [(self.located(folder), folder)]
        while folders:
            place, at = folders.pop()
            try:
                entries = list(os.scandir(place))
            except OSError as error:
                skipped.append((at, f"the folder cannot be read: {error.strerror}"))
                continue
            if at and os.path.lexists(f"{place}{os.sep}{STATE_FOLDER}"):
                skipped.append((at, "it is a vault of its own"))
                continue
            above = f"{at}/" if at else ""
            for entry in entries:
                name = entry.name
                path = VaultPath(above + name)
                if not _is_usual(name):
                    if is_hidden(name) or _TRANSIENT.search(name) or path == SETTINGS_FILE:
                        continue
                    if not name.isascii():
                        name = unicodedata.normalize("NFC", name)
                        path = VaultPath(above + name)
                    if not _PLAIN_NAME.fullmatch(name) and (reason := _unnameable(path)):
                        skipped.append((path.encode("utf-8", "replace").decode(), reason))
                        continue
                if ignored is not None and ignored(path, entry.is_dir(follow_symlinks=False)):
                    continue
                if entry.is_file(follow_symlinks=False):
                    if path in files:
                        skipped.append((path, "another file has this name in another Unicode form"))
                        if name != entry.name:
                            continue
                    try:
                        files[path] = _stat(path, entry.stat(follow_symlinks=False))
                    except OSError:
                        continue  # gone since the folder was listed
                elif entry.is_dir(follow_symlinks=False):
                    folders.append((entry.path, path))
                elif entry.is_symlink():
                    skipped.append((path, "it is a symlink"))
                else:
                    skipped.append((path, "it is neither a file nor a folder"))
        return Scan(files, tuple(sorted(skipped)))

    def folders(self, folder: VaultPath) -> tuple[VaultPath, ...]:
        """The folders directly inside a folder, dot-folders left out, sorted."""
        try:
            entries = list(os.scandir(self.located(folder)))
        except OSError:
            return ()
        names = (e.name for e in entries if e.is_dir(follow_symlinks=False) and not e.name.startswith("."))
        return tuple(sorted(join(folder, unicodedata.normalize("NFC", name)) for name in names))

    def is_folder(self, path: VaultPath) -> bool:
        """Whether there is a folder at the path."""
        return os.path.isdir(self.located(path))

    def belongs(self, path: VaultPath) -> bool:
        """Whether ``scan`` would tell of a file at the path, found out without a walk.

        Only for names whose form leaves no doubt: one in another Unicode form than the disk's is for a walk to judge.
        """
        place = self.root
        ignored, _ = self._ignored()
        parts = path.split("/")
        for depth, part in enumerate(parts, 1):
            at = VaultPath("/".join(parts[:depth]))
            place = place / part
            if is_hidden(part) or _TRANSIENT.search(part) or at == SETTINGS_FILE:
                return False
            if not _PLAIN_NAME.fullmatch(part) and _unnameable(at):
                return False
            try:
                mode = os.lstat(place).st_mode
            except OSError:
                return False
            last = depth == len(parts)
            if ignored is not None and ignored(at, modes.S_ISDIR(mode)):
                return False
            if last or not modes.S_ISDIR(mode):
                return last and modes.S_ISREG(mode)
            if (place / STATE_FOLDER).exists():
                return False
        return False

    def _ignored(self) -> "tuple[_Ignores | None, _Complaints]":
        """What ``.remeignore`` leaves out, and which of its lines are no patterns."""
        try:
            data = (self.root / IGNORE_FILE).read_bytes()
            if data != self._ignoring[0]:
                self._ignoring = (data, *_ignores(data.decode("utf-8")))
        except (OSError, UnicodeDecodeError):
            return None, ()
        return self._ignoring[1:]

    def is_empty(self, folder: VaultPath) -> bool:
        """Whether there is a folder at the path, with nothing in it."""
        try:
            with os.scandir(self.located(folder)) as entries:
                return next(entries, None) is None
        except OSError:
            return False

    def drop_empty(self, folders: Iterable[VaultPath]) -> None:
        """Remove folders, which come deepest first, as far as they hold nothing."""
        for folder in folders:
            with suppress(OSError):  # not empty, or gone
                os.rmdir(self.located(folder))

    def drop_empty_folders(self, folder: VaultPath) -> None:
        """Remove a folder and the folders in it as far as they hold nothing, as after a move or delete of it all."""
        for place, _, _ in os.walk(self.located(folder), topdown=False):
            try:
                os.rmdir(place)
            except OSError:
                continue  # not empty


def _opened(place: str, path: VaultPath) -> BinaryIO:
    """A file opened for reading."""
    stream = open(place, "rb", opener=_open_at_once)  # noqa: SIM115
    try:
        _check_regular(os.fstat(stream.fileno()), path)
    except BaseException:
        stream.close()
        raise
    return stream


def _open_at_once(name: str, flags: int) -> int:
    """For a pipe nobody waits, as the other end may never come."""
    return os.open(name, flags | _WITHOUT_WAITING)


def _check_regular(facts: os.stat_result, path: VaultPath) -> None:
    if modes.S_ISDIR(facts.st_mode):
        raise _folder(path)
    if not modes.S_ISREG(facts.st_mode):
        why = f"{path} is neither a file nor a folder"
        raise InvalidInput(why, hint="Choose another path.", details={"path": path})


def _stat(path: VaultPath, found: os.stat_result) -> Stat:
    inode = found.st_ino if _TELLS_INODES else 0
    return _new(Stat, (path, found.st_size, found.st_mtime_ns, inode, found.st_ctime_ns))


def unwritable(error: OSError, thing: str) -> Unavailable:
    """The error for a failed write, naming the thing and the way out."""
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            return Unavailable(f"{thing} could not be written: the disk is full", hint="Free some space and try again.")
        case errno.EROFS | errno.EACCES | errno.EPERM:
            return Unavailable(
                f"{thing} cannot be written: {error.strerror}",
                hint="Make it writable for this user, or use another copy.",
            )
        case _:
            return Unavailable(
                f"{thing} could not be written: {error.strerror or error}", hint="Check the disk and try again."
            )


def _ignores(text: str) -> "tuple[_Ignores, _Complaints]":
    import warnings

    from pathspec import GitIgnoreSpec

    spec = GitIgnoreSpec([])
    complaints: list[tuple[str, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)  # of brackets in brackets, which gitignore allows
                spec += GitIgnoreSpec.from_lines([line])
        except (ValueError, re.error):
            complaints.append((IGNORE_FILE, f"line {number} is no pattern: {line}"))
    return lambda path, is_folder: spec.match_file(f"{path}/" if is_folder else path), tuple(complaints)


def _unreadable(path: VaultPath, error: OSError) -> Unavailable | InvalidInput:
    if error.errno == errno.ENAMETOOLONG:
        try:
            check_portable(path)
        except InvalidInput as refusal:
            return refusal
        return InvalidInput(f"{basename(path)[:60]}… is too long for a file name", details={"path": path})
    return Unavailable(f"{path} cannot be read: {error.strerror or error}", details={"path": path})


def _folder(path: VaultPath) -> InvalidInput:
    return InvalidInput(f"{path} is a folder", hint=f"List it with: `list path={path}`", details={"path": path})


def _file_path(raw: str) -> VaultPath:
    """A given spelling of a file: what ends with a slash is one of a folder."""
    path = parse_path(raw)
    if raw.endswith(("/", "\\")):
        raise InvalidInput(
            f"{path}/ names a folder, and a file is asked for",
            hint=f"Leave the slash out for the note {path}, or name a file in the folder.",
            details={"path": path},
        )
    return path


def _absent(path: VaultPath) -> NotFound:
    return NotFound(f"there is no file {path}", hint="See what is there with: `list`", details={"path": path})


def _unnameable(path: VaultPath) -> str:
    """Why a name that the disk has cannot be a vault path; empty if it can."""
    try:
        path.encode("utf-8")
        return "" if parse_path(path) == path else "its name has a character that paths give another meaning"
    except UnicodeEncodeError:
        return "its name is not valid Unicode"
    except Refused as refusal:
        return refusal.message


def _other_spelling(folder: str, name: str) -> str | None:
    """The entry whose name is the same text in another Unicode form, as macOS and old archives leave them."""
    if name.isascii():
        return None
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return None
    return next((entry.path for entry in entries if unicodedata.normalize("NFC", entry.name) == name), None)
