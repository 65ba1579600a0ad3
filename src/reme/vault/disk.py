"""Durable file primitives: the few system calls on which the vault's promises rest.

Owns how bytes reach the disk and how names are exchanged. Knows nothing of notes, change sets or journals.
"""

import errno
import functools
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple, TypeVar

__all__ = [
    "New",
    "exists",
    "for_each",
    "place",
    "replace_keeping",
    "second_name",
    "sync_file",
    "sync_folder",
    "write_new",
]

_T = TypeVar("_T")

_AT_FDCWD = -100
_NOREPLACE, _EXCHANGE = 1, 2  # renameat2(2)
_MAC_SWAP, _MAC_EXCL = 2, 4  # renamex_np(2)
_UNSUPPORTED = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM, errno.EMLINK}
_FEW, _AT_ONCE = 8, 16
_HELD_RETRIES = 20
_HELD_PAUSE_S = 0.05


def sync_file(descriptor: int) -> None:
    """Have the device hold the file's bytes (``F_FULLFSYNC`` on macOS, where fsync alone does not)."""
    if sys.platform == "darwin":
        import fcntl

        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
    else:
        os.fsync(descriptor)


def for_each(work: Callable[[_T], object], items: Sequence[_T]) -> None:
    """Do something with each of some files; with many at a time where they are many.

    A device that is waited for by several at once serves them together, in hardly more time than one.

    Raises:
        OSError: The first that one of them raises, once all others that were begun are done.
    """
    if len(items) <= _FEW:
        for item in items:
            work(item)
        return
    from concurrent.futures import ThreadPoolExecutor

    def one_after_another(some: Sequence[_T]) -> None:
        for item in some:
            work(item)

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for _ in pool.map(one_after_another, (items[first::_AT_ONCE] for first in range(_AT_ONCE))):
            pass


def exists(place: str) -> bool:
    """Whether anything is at a place.

    Raises:
        OSError: If the system cannot tell; ``os.path.exists`` would say that nothing is there.
    """
    try:
        os.stat(place)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def sync_folder(folder: str) -> None:
    """Have the device hold a folder's names. Windows keeps them itself."""
    if sys.platform == "win32":
        return
    _sync_at(folder)


def _sync_at(place: str) -> None:
    """Have the device hold what is there; Windows syncs only what it could write."""
    descriptor = os.open(place, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)
    try:
        sync_file(descriptor)
    finally:
        os.close(descriptor)


class New(NamedTuple):
    """A file that is to be written where there is none.

    Attributes:
        place: Where.
        pieces: Its bytes.
        like: A file whose permissions, and owner where the system lets us, it shall have.
    """

    place: str
    pieces: Iterable[bytes]
    like: os.stat_result | None = None


def write_new(files: Sequence[New]) -> None:
    """Write files that must not exist yet, durably; their names are durable once their folders are synced.

    All are written before the first is waited for: several threads that write would take longer, since each call of
    the system hands the interpreter on. What the device could not hold of a file that is closed already is told where
    it is synced.
    """
    for file in files:
        _write(file)
    for_each(_sync_at, [file.place for file in files])


def _write(file: New) -> None:
    descriptor = os.open(file.place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        for piece in file.pieces:
            view = memoryview(piece)
            while view:
                view = view[os.write(descriptor, view) :]
        like = file.like
        if like is not None and sys.platform != "win32":
            own = os.fstat(descriptor)
            if (own.st_uid, own.st_gid) != (like.st_uid, like.st_gid):
                with suppress(PermissionError):
                    os.fchown(descriptor, like.st_uid, like.st_gid)
            if own.st_mode != like.st_mode:
                os.fchmod(descriptor, like.st_mode & 0o7777)
    finally:
        os.close(descriptor)


def place(source: str, target: str) -> None:
    """Give a file a name that must be free.

    Raises:
        FileExistsError: If the name is taken (by another file: a change of case alone is no obstacle).
    """
    if not _same_file(source, target):
        match _rename_flagged(source, target, _NOREPLACE, _MAC_EXCL):
            case True:
                return
            case False:
                try:
                    os.link(source, target)
                except OSError as error:
                    if error.errno not in _UNSUPPORTED:
                        raise
                    if exists(target):
                        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target) from None
                else:
                    os.unlink(source)
                    return
    _while_held(lambda: os.replace(source, target))


def replace_keeping(staged: str, target: str) -> None:
    """Put a staged file in a target's place such that the staged name then holds what was replaced.

    Where the system can exchange two names this is one step, so that not even a program that writes at this very
    moment loses anything. Elsewhere the old file is first given a second name.
    """
    if _rename_flagged(staged, target, _EXCHANGE, _MAC_SWAP):
        return
    kept = second_name(staged)
    with suppress(FileNotFoundError):
        os.unlink(kept)
    try:
        os.link(target, kept)
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
        import shutil

        shutil.copyfile(target, kept)
    _while_held(lambda: os.replace(staged, target))
    os.replace(kept, staged)


def second_name(staged: str) -> str:
    """Where ``replace_keeping`` keeps the old file meanwhile, on a system that cannot exchange names."""
    return f"{staged}k"


def _same_file(source: str, target: str) -> bool:
    try:
        return os.path.samefile(source, target)
    except OSError:
        return False


def _while_held(step: Callable[[], object]) -> None:
    """Windows refuses to rename a file that another program holds open: try again for a second."""
    for _ in range(_HELD_RETRIES if sys.platform == "win32" else 0):
        try:
            step()
        except PermissionError:
            time.sleep(_HELD_PAUSE_S)
        else:
            return
    step()


def _rename_flagged(source: str, target: str, linux: int, mac: int) -> bool:
    """Rename with a flag, atomically; False where system or file system does not know it."""
    call = _flagged_call()
    if call is None:
        return False
    if call(os.fsencode(source), os.fsencode(target), linux, mac) == 0:
        return True
    from ctypes import get_errno

    code = get_errno()
    if code in _UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code), source, None, target)


@functools.cache
def _flagged_call() -> Callable[[bytes, bytes, int, int], int] | None:
    import ctypes

    library = ctypes.CDLL(None, use_errno=True) if sys.platform != "win32" else None
    if sys.platform == "linux" and hasattr(library, "renameat2"):
        linux_call = getattr(library, "renameat2")  # noqa: B009
        return lambda source, target, linux, _: linux_call(_AT_FDCWD, source, _AT_FDCWD, target, linux)
    if sys.platform == "darwin" and hasattr(library, "renamex_np"):
        mac_call = getattr(library, "renamex_np")  # noqa: B009
        return lambda source, target, _, mac: mac_call(source, target, mac)
    return None
