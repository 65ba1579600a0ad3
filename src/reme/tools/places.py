"""What a given spelling names on disk: one file, or a folder with everything in it.

Owns the rules for folders, and which places are never moved or deleted as a whole.
"""

import os
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from reme.errors import Conflict, InvalidInput, NotFound, Refused
from reme.paths import VaultPath, basename, fold, is_markdown, is_within, join, parent, parse_path, suffix
from reme.tools.workspace import Workspace

__all__ = ["Place", "check_new", "file_target", "find_place", "folder_target", "promotion"]


@dataclass(frozen=True, slots=True)
class Place:
    """A file, or a folder with its files.

    Attributes:
        path: As it is on disk.
        files: The file itself, or every file in the folder, sorted.
        folder: Whether it is a folder.
        left: What is in the folder and cannot be named by a vault path (symlinks, dot-files, dot-folders).
    """

    path: VaultPath
    files: tuple[VaultPath, ...]
    folder: bool
    left: tuple[str, ...] = ()


def find_place(workspace: Workspace, raw: str) -> Place:
    """The file or folder that a given spelling means.

    Raises:
        Refused: If it is no path inside the vault, or a folder that is a layer, holds one, or is a vault of its own.
        NotFound: If there is neither.
        InvalidInput: If it could mean a folder as well as a note beside it.
    """
    vault = workspace.vault
    path = parse_path(raw)
    as_folder = raw.endswith(("/", "\\"))
    if not vault.is_folder(path):
        if as_folder:
            hint = f"Leave the slash out for the note {path}, or see what is there with: `list`"
            raise NotFound(f"there is no folder {path}", hint=hint, details={"path": path})
        found = vault.find(raw)
        return Place(found, (found,), folder=False)
    note = VaultPath(path + ".md")
    if not as_folder and vault.exists(note):
        raise InvalidInput(
            f"{path} is a folder, and {note} a note",
            hint=f"Write {path}/ for the folder or {note} for the note.",
            details={"path": path},
        )
    _check_ordinary(workspace, path)
    files: list[VaultPath] = []
    left: list[str] = []
    for found, is_file in _walk(workspace, path):
        (files if is_file else left).append(found)
    return Place(path, tuple(sorted(files)), folder=True, left=tuple(sorted(left)))


def check_new(workspace: Workspace, path: VaultPath, besides: frozenset[VaultPath] = frozenset()) -> None:
    """Make sure that a path is free, in every case of its letters.

    Args:
        besides: Paths that are about to be given up.

    Raises:
        Conflict: If there is a file or folder, naming it, or an event's note that belongs there.
    """
    vault = workspace.vault
    if (wanted := promotion(workspace, path)) and path == wanted[1] and wanted[0] not in besides:
        raise _taken(wanted[0])
    if vault.is_folder(path) and not any(is_within(b, path) for b in besides):
        raise _taken(path)
    wanted = fold(path)
    place = vault.locate(parent(path))
    for entry in place.iterdir() if place.is_dir() else ():
        there = join(parent(path), unicodedata.normalize("NFC", entry.name))
        if fold(there) == wanted and there not in besides and not vault.is_folder(there):
            raise _taken(there)


def file_target(workspace: Workspace, source: VaultPath, raw: str) -> VaultPath:
    """The path that a file gets: the given one, or its own name in a given folder.

    A path without an extension gets the file's own.

    Raises:
        Refused: If it is no path inside the vault.
    """
    vault = workspace.vault
    path = parse_path(raw)
    if raw.endswith(("/", "\\")) or vault.is_folder(path):
        return join(path, basename(source))
    if is_markdown(source):
        return vault.name_for(raw)
    return path if suffix(path) else VaultPath(path + suffix(source))


def folder_target(workspace: Workspace, source: VaultPath, raw: str) -> VaultPath:
    """The path that a folder gets: the given one, or its own name in a given folder that exists.

    Raises:
        Refused: If it is no path inside the vault.
        Conflict: If there is something already.
        InvalidInput: If it is the folder itself, or inside it.
    """
    vault = workspace.vault
    path = parse_path(raw)
    renamed = fold(path) == fold(source) and path != source
    if vault.is_folder(path) and not renamed and path != source:
        path = join(path, basename(source))
    if is_within(path, source):
        raise InvalidInput(f"the folder {source} cannot go into itself", details={"source": source, "target": path})
    if (vault.is_folder(path) or vault.exists(path)) and not renamed:
        raise _taken(path)
    return path


def promotion(workspace: Workspace, path: VaultPath) -> tuple[VaultPath, VaultPath] | None:
    """Where an event's note is and where it belongs once there is a file of this path in the event's folder.

    Returns:
        None if the path is in no event's folder, or the note is there already.
    """
    vault = workspace.vault
    event = re.fullmatch(rf"({re.escape(vault.layout.daily)}/\d{{4}}-\d{{2}}-\d{{2}}/([^/]+))/[^/]+", path)
    if event is None:
        return None
    note, within = VaultPath(f"{event[1]}.md"), VaultPath(f"{event[1]}/{event[2]}.md")
    return (note, within) if vault.exists(note) and not vault.exists(within) else None


def _taken(path: VaultPath) -> Conflict:
    return Conflict(f"{path} exists already", hint="Choose another path.", details={"path": path})


def _check_ordinary(workspace: Workspace, path: VaultPath) -> None:
    for layer, folder in workspace.vault.layout.folders().items():
        if is_within(fold(folder), fold(path)):
            raise Refused(
                f"{path} is or holds the folder of the {layer} layer, which stays where it is",
                hint="Name the files or the folders in it.",
                details={"path": path, "rule": "layers"},
            )
    place = workspace.vault.locate(path)
    if (place / ".reme").exists():
        raise Refused(f"{path} is a vault of its own", hint="Open it as the vault that it is.", details={"path": path})


def _walk(workspace: Workspace, folder: VaultPath) -> Iterator[tuple[VaultPath, bool]]:
    """Everything in a folder, each with whether it is a file that a vault path can name."""
    for entry in os.scandir(workspace.vault.locate(folder)):
        name = unicodedata.normalize("NFC", entry.name)
        path = join(folder, name)
        if name.startswith(".") or entry.is_symlink() or not name.isprintable():
            yield path, False
        elif entry.is_dir(follow_symlinks=False):
            yield from _walk(workspace, path)
        else:
            yield path, entry.is_file(follow_symlinks=False)
