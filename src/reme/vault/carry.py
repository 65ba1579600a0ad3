"""Carrying out a journalled entry, forwards or back, from whatever state a crash left.

Owns the order of writes, syncs and renames. The same code applies a fresh entry, completes an interrupted one and
takes back one that failed. Every step finds its file *before*, *after* or *otherwise*; a file that is otherwise has
been written by somebody else since and is reported, never touched.
"""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Literal

from reme.paths import VaultPath, join, parent, portable_name, stem, suffix
from reme.revision import revision_of_pieces
from reme.vault.content import begins_with, content_at, pieces_at, pieces_of
from reme.vault.disk import (
    New,
    exists,
    for_each,
    place,
    replace_keeping,
    second_name,
    sync_file,
    sync_folder,
    write_new,
)
from reme.vault.files import Vault
from reme.vault.journal import Added, Entry, Moved, Replaced, Step

__all__ = ["Carried", "carry_out", "recover"]

_Located = Callable[[VaultPath], str]
"""``Vault.located``, looking for each path once."""


@dataclass(frozen=True, slots=True)
class Carried:
    """What became of an entry.

    Attributes:
        left: Paths found otherwise, and left so.
        conflict_copies: Files made of bytes that nobody expected to replace, by the path where those stood.
    """

    left: tuple[VaultPath, ...]
    conflict_copies: dict[VaultPath, VaultPath]


def recover(vault: Vault) -> tuple[Entry, Carried] | None:
    """Finish the entry that a crash left pending, if there is one. The vault's lock must be held.

    Raises:
        OSError: If it cannot be finished now; it stays pending.
    """
    entry = vault.journal.pending()
    if entry is None:
        return None
    carried = carry_out(vault, entry)
    vault.journal.finish(entry)
    return entry, carried


def carry_out(vault: Vault, entry: Entry, *, back: bool = False, fresh: bool = False) -> Carried:
    """Bring every file of an entry to its state after it, or back to the one before. The lock must be held.

    Everything is staged beside its target, under a hidden name that is known before and after a crash, and synced
    before the first name changes, so that a full disk changes nothing. Then names are exchanged, folders synced, and
    what was replaced is looked at.

    Args:
        fresh: The caller has just seen that every file is in its state before.

    Raises:
        OSError: From the disk; the state is then one that a further call can finish or take back.
    """
    copies: dict[VaultPath, VaultPath] = {}
    todo: list[tuple[str, Step]] = []
    left: list[VaultPath] = []
    located = cache(vault.located)
    steps = [
        (f"{located(parent(step.paths[-1]))}{os.sep}.reme-{entry.id}-{number}", step)
        for number, step in enumerate(entry.steps)
    ]
    for staged, step in steps if not back else reversed(steps):
        if not fresh:
            copies |= _clear(vault, [(staged, step), (second_name(staged), step)])
        where = "before" if fresh else _where(vault, step)
        if where == "otherwise":
            left += step.paths
        elif where == ("after" if back else "before"):
            todo.append((staged, _inverse(step) if back else step))
    made = _make_folders(located, (path for _, step in todo for path in _named(step)))
    replaced = [(staged, step) for staged, step in todo if isinstance(step, Replaced) and step.post is not None]
    write_new([_staged(located, staged, step) for staged, step in replaced])
    for staged, step in todo:
        _change(located, staged, step, back=back)
    folders = {os.path.dirname(new) for new in made} | {located(parent(p)) for _, s in todo for p in _renamed(s)}
    for_each(sync_folder, sorted(folders))
    return Carried(tuple(left), copies | _clear(vault, todo))


def _inverse(step: Step) -> Step:
    match step:
        case Replaced(path, pre, post, before, after):
            return Replaced(path, post, pre, after, before)
        case Moved(source, target, revision):
            return Moved(target, source, revision)
        case Added():
            return step


def _named(step: Step) -> tuple[VaultPath, ...]:
    """The paths that have a file after the step."""
    match step:
        case Replaced(path=path, post=post):
            return (path,) if post is not None else ()
        case Moved(_, target, _):
            return (target,)
        case Added():
            return ()


def _renamed(step: Step) -> tuple[VaultPath, ...]:
    """The paths whose folders must be synced."""
    return () if isinstance(step, Added) else step.paths


def _where(vault: Vault, step: Step) -> Literal["before", "after", "otherwise"]:
    match step:
        case Replaced(path=path, before=before, after=after):
            if vault.is_folder(path):
                return "otherwise"
            found = vault.revision_at(path)
            return "after" if found == after else "before" if found == before else "otherwise"
        case Moved(source, target, _):
            there, here = vault.located(target), vault.located(source)
            match exists(here), exists(there):
                case True, False:
                    return "before"
                case False, True:
                    return "after"
                case True, True if os.path.samefile(here, there):  # linked, and the old name not dropped yet
                    return "before"
                case _:
                    return "otherwise"
        case Added(path, offset, data):
            found = vault.stat(path)
            if found is None or found.size < offset:
                return "otherwise"
            with vault.open(path) as stream:
                stream.seek(offset)
                tail = stream.read(len(data))
            if tail == data:
                return "after"
            if data.startswith(tail):
                if tail:  # torn
                    os.truncate(vault.located(path), offset)
                return "before"
            return "otherwise"


def _make_folders(located: _Located, paths: Iterable[VaultPath]) -> list[str]:
    made: list[str] = []
    for folder in sorted({parent(path) for path in paths}):
        missing: list[str] = []
        above = folder
        while above and not exists(place := located(above)):
            missing.append(place)
            above = parent(above)
        for place in reversed(missing):
            with suppress(FileExistsError):
                os.mkdir(place)
            made.append(place)
    return made


def _staged(located: _Located, staged: str, step: Replaced) -> New:
    assert step.post is not None
    return New(staged, pieces_of(step.post), os.stat(located(step.path)) if step.pre is not None else None)


def _change(located: _Located, staged: str, step: Step, *, back: bool) -> None:
    match step:
        case Replaced(path=path, pre=pre, post=post):
            target = located(path)
            if post is None:
                if exists(target):
                    os.rename(target, staged)
            elif pre is None or not exists(target):
                try:
                    place(staged, target)
                except FileExistsError:
                    replace_keeping(staged, target)
            else:
                replace_keeping(staged, target)
        case Moved(source, target, _):
            place(located(source), located(target))
        case Added(path, offset, data):
            if back:
                os.truncate(located(path), offset)
            else:
                _append(located(path), offset, data)


def _append(target: str, offset: int, data: bytes) -> None:
    descriptor = os.open(target, os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0))
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        sync_file(descriptor)
    except OSError:
        os.ftruncate(descriptor, offset)
        raise
    finally:
        os.close(descriptor)


def _clear(vault: Vault, hidden: Iterable[tuple[str, Step]]) -> dict[VaultPath, VaultPath]:
    """Look at what stands under steps' hidden names: our own bytes go, bytes that nobody expected stay in sight."""
    ours: list[str] = []
    copies: dict[VaultPath, VaultPath] = {}
    for name, step in hidden:
        if not isinstance(step, Replaced):
            continue
        try:
            found = content_at(name)
        except FileNotFoundError:
            continue
        if found == step.pre or begins_with(step.post or b"", found):
            ours.append(name)
        else:
            copies[step.path] = _conflict_copy(vault, name, step.path)
    for_each(os.unlink, ours)
    return copies


def _conflict_copy(vault: Vault, hidden: str, path: VaultPath) -> VaultPath:
    revision = revision_of_pieces(pieces_at(hidden))
    mark = f" (conflict {vault.clock.today().isoformat()} {revision[:6]}){suffix(path)}"
    name = portable_name(stem(path), room=len(mark.encode())) + mark
    copy = join(parent(path), name)
    try:
        place(hidden, vault.located(copy))
    except FileExistsError:  # the same bytes have been kept already
        os.unlink(hidden)
    sync_folder(vault.located(parent(path)))
    return copy
