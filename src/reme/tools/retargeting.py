"""How links follow files that get other paths: which ones must be respelled so that each leads where it did.

Owns the comparison of what a link names before and after. Writes nothing; how a target is spelled is the markdown
room's.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Final

from reme.markdown import Link, Names, Note, is_wikilink, resolve, spellings
from reme.paths import VaultPath, basename, fold, parent, stem
from reme.revision import revision_of
from reme.tools.texts import LARGEST_PARSED
from reme.vault import File, Layer, Vault

__all__ = [
    "UNWRITTEN",
    "Relocation",
    "Respelling",
    "done",
    "planned",
    "respell",
    "respell_dangling",
    "taken",
    "why_left",
]

UNWRITTEN: Final[frozenset[Layer]] = frozenset({"resource", "session"})
"""The layers in which links are only reported: their content stays as it was recorded."""


@dataclass(frozen=True, slots=True)
class Relocation:
    """Files getting other paths, and what links name before and after.

    Attributes:
        moved: From each file's path to the one that it gets.
        before: The names as they are before.
        after: The names as they are after.
        touched: The last components, folded, of the targets that may name something else afterwards.
        known: What links of the same spelling, in notes of the same folder, come to: found out once.
    """

    moved: Mapping[VaultPath, VaultPath]
    before: Names
    after: Names
    touched: frozenset[str]
    known: "dict[tuple[str, ...], tuple[str, VaultPath] | None]" = field(
        default_factory=dict[tuple[str, ...], tuple[str, VaultPath] | None], compare=False, repr=False
    )


def planned(names: Names, moved: Mapping[VaultPath, VaultPath]) -> Relocation:
    """A relocation that is yet to come.

    Args:
        names: The names as they are.
        moved: From each file's path to the one that it gets.
    """
    known = _Remembered(names)
    return Relocation(moved, known, _Remembered(_Relocated(known, moved.items())), _touched(moved))


def done(names: Names, moved: Mapping[VaultPath, VaultPath]) -> Relocation:
    """A relocation that has taken place.

    Args:
        names: The names as they have become.
        moved: From the path that each file had to the one that it has.
    """
    known = _Remembered(names)
    back = [(now, old) for old, now in moved.items()]  # a file may have had several paths
    return Relocation(moved, _Remembered(_Relocated(known, back)), known, _touched(moved))


def taken(names: Names, made: Sequence[VaultPath], given: Mapping[VaultPath, frozenset[str]]) -> Relocation:
    """Nothing moves, but there will be new names, which links may have.

    Args:
        names: The names as they are.
        made: The paths of new files.
        given: What aliases, titles and names files get, folded.
    """
    known = _Remembered(names)
    after = _Remembered(_Relocated(known, (), made, given))
    touched = _touched({path: path for path in made}) | {_last(name) for found in given.values() for name in found}
    return Relocation({}, known, after, touched)


def why_left(vault: Vault, file: File, new_path: VaultPath, note: Note) -> str:
    """Why links are not respelled in a file, or as much of it as is parsed; empty where they are."""
    layers = {vault.layer_of(file.path), vault.layer_of(new_path)}
    if kept := layers & UNWRITTEN:
        return f"the content of the {min(kept)} layer stays as it is"
    if revision_of(file.data) != file.revision:
        return f"a file of more than {LARGEST_PARSED:,} bytes is not edited in place"
    return "" if note.encoding == "utf-8" else f"the file is in {note.encoding}, not UTF-8"


def _touched(moved: Mapping[VaultPath, VaultPath]) -> frozenset[str]:
    paths = [path for pair in moved.items() for path in pair]
    return frozenset(fold(name) for path in paths for name in (basename(path), stem(path)))


class _Remembered:
    """Names that are looked up once each."""

    def __init__(self, names: Names) -> None:
        self.exact = cache(names.exact)
        self.by_basename = cache(names.by_basename)
        self.by_alias = cache(names.by_alias)


class _Relocated:
    """The names of a vault as they are with some files at other paths, new ones, and new names."""

    def __init__(
        self,
        names: Names,
        moved: Iterable[tuple[VaultPath, VaultPath]],
        made: Iterable[VaultPath] = (),
        given: Mapping[VaultPath, frozenset[str]] = MappingProxyType({}),
    ) -> None:
        moved = list(moved)
        self._names = names
        self._moved = dict(moved)
        self._paths: dict[str, list[VaultPath]] = defaultdict(list)
        self._basenames: dict[str, list[VaultPath]] = defaultdict(list)
        self._given = given
        there = [target for source, target in moved if source in names.exact(fold(source))]
        for path in (*there, *made):
            self._paths[fold(path)].append(path)
            self._basenames[fold(basename(path))].append(path)

    def exact(self, folded_path: str) -> Sequence[VaultPath]:
        return self._without_moved(self._names.exact(folded_path)) + self._paths.get(folded_path, [])

    def by_basename(self, folded_basename: str) -> Sequence[VaultPath]:
        stayed = self._without_moved(self._names.by_basename(folded_basename))
        return stayed + self._basenames.get(folded_basename, [])

    def by_alias(self, folded_alias: str) -> Sequence[VaultPath]:
        found = [self._moved.get(path, path) for path in self._names.by_alias(folded_alias)]
        return found + [path for path, names in self._given.items() if folded_alias in names and path not in found]

    def _without_moved(self, paths: Iterable[VaultPath]) -> list[VaultPath]:
        return [path for path in paths if path not in self._moved]


class _PathsOnly:
    """Names without aliases and titles."""

    def __init__(self, names: Names) -> None:
        self.exact = names.exact
        self.by_basename = names.by_basename

    def by_alias(self, folded_alias: str) -> Sequence[VaultPath]:
        return ()


@dataclass(frozen=True, slots=True)
class Respelling:
    """A link that must be spelled anew: ``target`` instead of ``link.target`` to lead to ``path``."""

    link: Link
    target: str
    path: VaultPath


def respell(note: Note, source: VaultPath, relocation: Relocation) -> list[Respelling]:
    """The links of a note that would lead elsewhere or nowhere once files have moved.

    A link that named its file by path shall do so afterwards too, not merely because the file's title says the same.

    Args:
        note: As it is before.
        source: Its path before; it may move itself.
        relocation: What moves.
    """
    destination = relocation.moved.get(source, source)
    folders = parent(source), parent(destination)
    found: list[Respelling] = []
    for link in note.links:
        if not link.target or (source == destination and _last(link.target) not in relocation.touched):
            continue
        wikilink = is_wikilink(note, link)
        alike = (link.target, link.kind, "wikilink" if wikilink else "", *folders)
        if alike not in relocation.known:
            relocation.known[alike] = _followed(link, source, destination, relocation, wikilink=wikilink)
        if followed := relocation.known[alike]:
            found.append(Respelling(link, *followed))
    return found


def _followed(
    link: Link, source: VaultPath, destination: VaultPath, relocation: Relocation, *, wikilink: bool
) -> tuple[str, VaultPath] | None:
    """The target that a link must get and the file that it then leads to; None where it stays as it is."""
    before, after = relocation.before, relocation.after
    if (path := resolve(link.target, source, before)) is None:
        return None
    wanted = relocation.moved.get(path, path)
    by_path = resolve(link.target, source, _PathsOnly(before)) == path
    names = _PathsOnly(after) if by_path else after
    relative = not wikilink and resolve(f"./{link.target}", source, before) == path
    stays = f"./{link.target}" if relative else link.target
    if resolve(stays, destination, names) == wanted and _spelled_as_well(link.target, path, wanted):
        return None
    target = _spelling(link, path, wanted, source, destination, names)
    return None if target == link.target else (target, wanted)


def respell_dangling(note: Note, source: VaultPath, relocation: Relocation) -> list[Respelling]:
    """The links of a note, written after files have moved, that lead nowhere now and led to one of them before."""
    found: list[Respelling] = []
    for link in note.links:
        if _last(link.target) not in relocation.touched or resolve(link.target, source, relocation.after) is not None:
            continue
        path = resolve(link.target, source, relocation.before)
        if path is not None and (wanted := relocation.moved.get(path)) is not None:
            target = _spelling(link, path, wanted, source, source, relocation.after)
            found.append(Respelling(link, target, wanted))
    return found


def _spelling(
    link: Link, path: VaultPath, wanted: VaultPath, source: VaultPath, destination: VaultPath, names: Names
) -> str:
    """The spelling most like the present one that leads to the wanted file; the whole path at last."""
    candidates = spellings(link, path, wanted, source, destination)
    leading = (c for c in candidates if resolve(c, destination, names) == wanted and _spelled_as_well(c, path, wanted))
    return next(leading, str(wanted))


def _spelled_as_well(target: str, path: VaultPath, wanted: VaultPath) -> bool:
    """False for the old spelling of a name whose letters only change their case."""
    last = target.replace("\\", "/").rpartition("/")[2]
    renamed = basename(path) != basename(wanted) and fold(basename(path)) == fold(basename(wanted))
    return not (renamed and last in (basename(path), stem(path)))


def _last(target: str) -> str:
    return fold(target.replace("\\", "/").rpartition("/")[2])
