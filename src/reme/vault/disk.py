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
from pathlib import Path
from typing import TypeVar

__all__ = ["for_each", "place", "replace_keeping", "second_name", "sync_file", "sync_folder", "write_new"]

_T = TypeVar("_T")

_AT_FDCWD = -100
_NOREPLACE, _EXCHANGE = 1, 2  # renameat2(2)
_MAC_SWAP, _MAC_EXCL = 2, 4  # renamex_np(2)
_UNSUPPORTED = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM, errno.EMLINK}
_FEW, _AT_ONCE = 8, 8
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


def sync_folder(folder: Path) -> None:
    """Have the device hold a folder's names. Windows keeps them itself."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        sync_file(descriptor)
    finally:
        os.close(descriptor)


def write_new(path: Path, pieces: Iterable[bytes], like: os.stat_result | None = None) -> None:
    """Write a file that must not exist yet, durably; its name is durable once its folder is synced.

    Args:
        path: Where.
        pieces: Its bytes.
        like: A file whose permissions, and owner where the system lets us, it shall have.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        for piece in pieces:
            view = memoryview(piece)
            while view:
                view = view[os.write(descriptor, view) :]
        if like is not None and sys.platform != "win32":
            own = os.fstat(descriptor)
            if (own.st_uid, own.st_gid) != (like.st_uid, like.st_gid):
                with suppress(PermissionError):
                    os.fchown(descriptor, like.st_uid, like.st_gid)
            if own.st_mode != like.st_mode:
                os.fchmod(descriptor, like.st_mode & 0o7777)
        sync_file(descriptor)
    finally:
        os.close(descriptor)


def place(source: Path, target: Path) -> None:
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
                    if target.exists():
                        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from None
                else:
                    source.unlink()
                    return
    _while_held(lambda: source.replace(target))


def replace_keeping(staged: Path, target: Path) -> None:
    """Put a staged file in a target's place such that the staged name then holds what was replaced.

    Where the system can exchange two names this is one step, so that not even a program that writes at this very
    moment loses anything. Elsewhere the old file is first given a second name.
    """
    if _rename_flagged(staged, target, _EXCHANGE, _MAC_SWAP):
        return
    kept = second_name(staged)
    kept.unlink(missing_ok=True)
    try:
        os.link(target, kept)
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
        kept.write_bytes(target.read_bytes())
    _while_held(lambda: staged.replace(target))
    kept.replace(staged)


def second_name(staged: Path) -> Path:
    """Where ``replace_keeping`` keeps the old file meanwhile, on a system that cannot exchange names."""
    return staged.with_name(f"{staged.name}k")


def _same_file(source: Path, target: Path) -> bool:
    try:
        return source.samefile(target)
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


def _rename_flagged(source: Path, target: Path, linux: int, mac: int) -> bool:
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
    raise OSError(code, os.strerror(code), str(source), None, str(target))


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
