"""Scope: what a caller's filters mean, checked before anything is searched.

Owns the refusal of filters that could only give an empty or a misleading answer.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from pathlib import PurePosixPath
from typing import Final, cast, get_args

from reme.clock import Clock
from reme.errors import InvalidInput, NotFound
from reme.index import Filter, Index
from reme.paths import VaultPath, basename, fold, parse_path
from reme.vault import SIDECAR_SUFFIX, Layer

__all__ = ["filter_of", "layers_named", "nearest", "nearest_paths", "topic_files", "within"]

_TOPICS: Final = "interests.yaml"
_EARLIEST: Final = date(1700, 1, 1)
_LATEST: Final = date(2250, 1, 1)
"""No file is of a day before or after these, which nanoseconds in 64 bits can still tell."""


def within(name: str, value: int, low: int, high: int) -> int:
    """The value, if it is in range.

    Raises:
        InvalidInput: If it is not.
    """
    if not low <= value <= high:
        raise InvalidInput(f"{name} must be between {low} and {high}, not {value}", details={"field": name})
    return value


def layers_named(layers: Sequence[str]) -> frozenset[Layer]:
    """The layers of these names.

    Raises:
        InvalidInput: If there is none of a name.
    """
    valid = get_args(Layer)
    for layer in layers:
        if layer not in valid:
            raise InvalidInput(
                f"there is no layer {layer!r}",
                hint=" ".join(filter(None, (nearest(layer, valid), f"Layers are: {', '.join(valid)}."))),
                details={"field": "layers"},
            )
    return frozenset(cast("Sequence[Layer]", layers))


def filter_of(
    index: Index,
    clock: Clock,
    *,
    layers: Sequence[str] = (),
    without_layers: frozenset[Layer] = frozenset(),
    without_paths: frozenset[str] = frozenset(),
    paths: Sequence[str] = (),
    tags: Sequence[str] = (),
    where: Mapping[str, object] | None = None,
    start_date: str | None = None,
    end_date: str | None = None,
) -> Filter:
    """The filter that a caller asks for.

    Args:
        index: To see whether the paths exist.
        clock: Whose zone days are in.
        layers: Any of these layers; all but ``without_layers`` if empty.
        without_layers: Left out unless asked for by name.
        without_paths: Left out.
        paths: Below any of these folders, any of these files, or matching any of these globs.
        tags: All of these tags; a tag stands for those nested below it.
        where: All of these properties or fields with these values, None for no value.
        start_date: First day, as ``Clock.day`` takes it.
        end_date: Last day, likewise.

    Raises:
        NotFound: For a path that nothing is at, with the nearest that there is.
        InvalidInput: For an unknown layer, tag or key, likewise; for a malformed date.
        Refused: For a path outside the vault.
    """
    named = layers_named(layers) if layers else None
    first, last = clock.day(start_date, "start_date"), clock.day(end_date, "end_date")
    if first and last and first > last:
        raise InvalidInput(f"`start_date` {first} is after `end_date` {last}", details={"field": "start_date"})
    return Filter(
        layers=named,
        without_layers=without_layers - (named or frozenset()),
        without_paths=without_paths,
        paths=tuple(each for path in paths for each in _with_sidecar(index, _path(index, path))),
        tags=_tags(index, tags),
        where=_where(index, where or {}),
        start_date=first and first.isoformat(),
        end_date=last and last.isoformat(),
        start_ns=_instant(clock, first) if first else None,
        end_ns=_instant(clock, min(last, _LATEST) + timedelta(days=1)) if last else None,
    )


def _path(index: Index, raw: str) -> str:
    path = parse_path(raw, root=True)
    if not index.has_folder(path):
        if index.has_folder(note := path + ".md"):
            return note
        hint = nearest_paths(index, path) or "Give a folder, a file or a pattern such as daily/2026-*."
        raise NotFound(f"there is nothing at {raw!r} in the vault", hint=hint, details={"field": "paths"})
    return path


def _with_sidecar(index: Index, path: str) -> tuple[str, ...]:
    """A path and, of a resource, that of what is known of it."""
    return (path, path + SIDECAR_SUFFIX) if index.layout.layer_of(VaultPath(path)) == "resource" else (path,)


def topic_files(index: Index) -> frozenset[str]:
    """The files that hold the topics of a day, which only repeat what notes say."""
    is_one = re.compile(rf"{re.escape(index.layout.daily)}/\d{{4}}-\d{{2}}-\d{{2}}/{re.escape(_TOPICS)}").fullmatch
    return frozenset(path for path in index.names.by_basename(_TOPICS) if is_one(path))


def nearest_paths(index: Index, path: VaultPath) -> str:
    """The files of the same name, in whichever folder, and the folders that are called like a path, as a sentence."""
    paths = index.stamps()
    folders = {str(folder) for known in paths for folder in PurePosixPath(known).parents} - {"."}
    same = sorted(known for known in paths if path and basename(known) in (basename(path), basename(path) + ".md"))
    return nearest(path, folders, same)


def _tags(index: Index, tags: Sequence[str]) -> tuple[str, ...]:
    wanted = tuple(tag for tag in tags if tag.strip("#/ "))
    if not wanted:
        return ()
    plain = {tag: fold(tag.strip().lstrip("#").strip("/")) for tag in wanted}
    there = index.tags_among([*plain.values()])
    for tag, folded in plain.items():
        if folded not in there:
            known = {fold(other) for other, _ in index.tags()}
            hint = nearest(folded, known) or ("See them with: `tags`" if known else "No note has any tag.")
            raise InvalidInput(f"no note has the tag {tag!r}", hint=hint, details={"field": "tags"})
    return wanted


def _where(index: Index, where: Mapping[str, object]) -> dict[str, str | None]:
    wanted = {key: None if value is None else _text(value) for key, value in where.items()}
    valued = {key: fold(key.strip()) for key, value in wanted.items() if value is not None}
    known = index.keys(list(valued.values())) if valued else frozenset[str]()
    for key, folded in valued.items():
        if folded not in known:
            hint = nearest(folded, index.keys()) or "Notes that give it no value: key=null."
            raise InvalidInput(f"no note has the property or field {key!r}", hint=hint, details={"field": "where"})
    return wanted


def nearest(name: str, names: Iterable[str], first: Sequence[str] = ()) -> str:
    """The way out of a misspelt name, as a sentence; empty where nothing is near it."""
    import difflib

    close = [*first[:3], *difflib.get_close_matches(name, sorted(names), n=3)]
    return f"The nearest: {', '.join(dict.fromkeys(close))}." if close else ""


def _instant(clock: Clock, day: date) -> int:
    day = min(max(day, _EARLIEST), _LATEST + timedelta(days=1))
    return int(datetime.combine(day, time(), clock.zone).timestamp()) * 1_000_000_000


def _text(value: object) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)
