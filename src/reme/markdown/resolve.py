"""Which file a link names, and how a link's target is spelled after that file has moved.

Owns the order in which names are tried. There is no fuzzy matching: what is not exactly one file is no file.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from reme.markdown.note import Link
from reme.paths import VaultPath, fold, is_markdown, parent

__all__ = ["Names", "Resolution", "resolution", "resolve", "spellings"]

_MD: Final = ".md"


class Names(Protocol):
    """The names that are taken in a vault; keys are in the form of ``reme.paths.fold``."""

    def exact(self, folded_path: str) -> Sequence[VaultPath]:
        """The files whose folded path is this."""
        ...

    def by_basename(self, folded_basename: str) -> Sequence[VaultPath]:
        """The files whose folded last component, extension included, is this."""
        ...

    def by_alias(self, folded_alias: str) -> Sequence[VaultPath]:
        """The notes that give this as an alias, ``title`` or ``name``."""
        ...


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a target names.

    Attributes:
        path: The file, or None.
        reason: ``found``; ``missing`` if nothing has that name; ``ambiguous`` if several have it.
        candidates: The files between which the target does not decide, sorted; empty unless ambiguous.
    """

    path: VaultPath | None
    reason: Literal["found", "missing", "ambiguous"]
    candidates: tuple[VaultPath, ...] = ()


def resolve(link_target: str, source: VaultPath, names: Names) -> VaultPath | None:
    """The file that a target names, or None if that is not exactly one.

    Args:
        link_target: ``Link.target``; empty for the note itself.
        source: The note that the link stands in.
        names: What there is.
    """
    return resolution(link_target, source, names).path


def resolution(link_target: str, source: VaultPath, names: Names) -> Resolution:
    """As ``resolve``, telling why there is no file.

    Tried in this order, letter case and Unicode form aside, and the first that has an answer decides: the path as
    written; with ``.md``; both from the note's own folder; as the last whole components of a path; as an alias,
    title or name.
    """
    target = link_target.strip().replace("\\", "/")
    if not target:
        return Resolution(source, "found")
    written = target.lstrip("/")
    dotted = _is_dotted(written)
    if not dotted and (found := _literal(written, names)):
        return _decided(found, written)
    if not target.startswith("/"):
        relative = _from_folder(parent(source), written)
        if relative and (found := _literal(relative, names)):
            return _decided(found, relative)
    if not dotted and written:
        if found := _by_suffix(written, names):
            return _decided(found, written)
        if found := names.by_alias(fold(target)):
            return _decided(found, written)
    return Resolution(None, "missing")


def _is_dotted(path: str) -> bool:
    return any(part in (".", "..") for part in path.split("/"))


def _literal(path: str, names: Names) -> Sequence[VaultPath]:
    folded = fold(path)
    return names.exact(folded) or names.exact(folded + _MD)


def _from_folder(folder: str, path: str) -> str:
    """The path from the root, or empty if it would leave the vault."""
    parts = folder.split("/") if folder else []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return ""
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _by_suffix(path: str, names: Names) -> Sequence[VaultPath]:
    for folded in (fold(path), fold(path) + _MD):
        found = [
            known
            for known in names.by_basename(folded.rpartition("/")[2])
            if (whole := fold(known)) == folded or whole.endswith("/" + folded)
        ]
        if found:
            return found
    return ()


def _decided(found: Sequence[VaultPath], written: str) -> Resolution:
    """One file, or the one that is spelled exactly so where names differ in letter case only."""
    distinct = sorted(set(found))
    if len(distinct) > 1:
        spelled = [path for path in distinct if path in (written, written + _MD)]
        distinct = spelled if len(spelled) == 1 else distinct
    if len(distinct) == 1:
        return Resolution(distinct[0], "found")
    return Resolution(None, "ambiguous", tuple(distinct))


def spellings(
    link: Link, old: VaultPath, new: VaultPath, source: VaultPath, destination: VaultPath | None = None
) -> tuple[str, ...]:
    """Targets that a link may be given once the file it names has moved, the one most like its present one first.

    The link keeps its style: with or without extension, relative to its note, short or from the root. The caller takes
    the first that resolves to the new path in the vault as it will be; the last is the whole path, which always does.

    Args:
        link: The link as it is.
        old: The file that it resolves to now.
        new: That file's path after the move; the same as ``old`` where only the note moves.
        source: The note that the link stands in.
        destination: That note's path after the move, if it moves too.
    """
    target = link.target.replace("\\", "/")
    bare = is_markdown(new) and not fold(target).endswith(fold(old[old.rfind(".") :]))
    whole = new[: new.rfind(".")] if bare else str(new)
    folder = parent(source if destination is None else destination)
    style = _style(link, target, old, source)
    if style == "relative":
        found = [_relative(folder, whole, dotted=target.startswith("./"))]
    elif style == "short":
        parts = whole.split("/")
        found = [link.target, *("/".join(parts[-size:]) for size in range(target.count("/") + 1, len(parts)))]
    else:
        found = ["/" + whole] if target.startswith("/") else []
    return tuple(dict.fromkeys((*found, whole, str(new))))


def _style(link: Link, target: str, old: VaultPath, source: VaultPath) -> Literal["whole", "relative", "short"]:
    if _is_dotted(target):
        return "relative"
    whole = fold(target.lstrip("/"))
    if target.startswith("/") or ("/" in target and fold(old) in (whole, whole + _MD)):
        return "whole"
    near = fold(_from_folder(parent(source), target))
    by_nature = "/" in target or (link.kind not in ("wiki", "embed") and parent(source) != "")
    return "relative" if by_nature and fold(old) in (near, near + _MD) else "short"


def _relative(folder: str, path: str, *, dotted: bool) -> str:
    here, there = folder.split("/") if folder else [], path.split("/")
    shared = 0
    while shared < min(len(here), len(there) - 1) and here[shared] == there[shared]:
        shared += 1
    up = [".."] * (len(here) - shared)
    start = ["."] if dotted and not up else []
    return "/".join(start + up + there[shared:])
