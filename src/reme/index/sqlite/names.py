"""The names by which links find files, and the resolution of links that names have come to or gone from.

Owns ``links.target``. Knows nothing of how links are spelt: ``markdown.resolve`` does.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Final

import apsw

from reme.index.sqlite.connections import Row, rows, run_many
from reme.markdown import Names, resolve
from reme.paths import MARKDOWN_SUFFIXES, VaultPath, fold

__all__ = ["StoredNames", "link_key", "path_keys", "resolve_all", "resolve_some"]

_BATCH: Final = 20_000
_MANY: Final = 500
_LINKS: Final = "SELECT l.source, l.place, l.raw, l.target, f.path FROM links l JOIN files f ON f.id = l.source"


class StoredNames:
    """``markdown.Names`` over the tables."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def exact(self, folded_path: str) -> Sequence[VaultPath]:
        """Files with this path in any case."""
        return self._paths("SELECT path FROM files WHERE folded = ? ORDER BY path", folded_path)

    def by_basename(self, folded_basename: str) -> Sequence[VaultPath]:
        """Files with this name, extension included, in any folder and any case."""
        return self._paths("SELECT path FROM files WHERE base = ? ORDER BY path", folded_basename)

    def by_alias(self, folded_alias: str) -> Sequence[VaultPath]:
        """Files with this alias, title or name."""
        sql = "SELECT path FROM aliases JOIN files ON files.id = aliases.file WHERE alias = ? ORDER BY path"
        return self._paths(sql, folded_alias)

    def _paths(self, sql: str, name: str) -> list[VaultPath]:
        return [VaultPath(row[0]) for row in rows(self._db, sql, (name,))]


@lru_cache(maxsize=8_192)
def link_key(name: str) -> str:
    """What a target and the names that it may stand for have in common: the last component, folded, without ``.md``."""
    key = fold(name.replace("\\", "/").rstrip("/").rpartition("/")[2]).strip()
    for ending in MARKDOWN_SUFFIXES:
        if key.endswith(ending) and len(key) > len(ending):
            return key[: -len(ending)]
    return key


def path_keys(path: str) -> set[str]:
    """The keys of all targets that may stand for a path."""
    key = link_key(path)
    return {key, link_key(key)}


class _LoadedNames:
    """The same, held in memory for as long as all links are resolved."""

    def __init__(self, db: apsw.Connection) -> None:
        self.ids: dict[str, int] = {}
        self._exact: dict[str, list[VaultPath]] = {}
        self._bases: dict[str, list[VaultPath]] = {}
        self._aliases: dict[str, list[VaultPath]] = {}
        for file, path, folded, base in rows(db, "SELECT id, path, folded, base FROM files ORDER BY path"):
            self.ids[path] = file
            self._exact.setdefault(folded, []).append(path)
            self._bases.setdefault(base, []).append(path)
        for alias, path in rows(db, "SELECT alias, path FROM aliases JOIN files ON id = file ORDER BY path"):
            self._aliases.setdefault(alias, []).append(path)

    def exact(self, folded_path: str) -> Sequence[VaultPath]:
        return self._exact.get(folded_path, ())

    def by_basename(self, folded_basename: str) -> Sequence[VaultPath]:
        return self._bases.get(folded_basename, ())

    def by_alias(self, folded_alias: str) -> Sequence[VaultPath]:
        return self._aliases.get(folded_alias, ())


def resolve_all(db: apsw.Connection) -> None:
    """Resolve every link against the names as they are now."""
    names, literal = _LoadedNames(db), dict[str, int]()
    last: tuple[int, int] = (-1, -1)
    sql = f"{_LINKS} WHERE (l.source, l.place) > (?, ?) ORDER BY l.source, l.place LIMIT {_BATCH}"
    while found := rows(db, sql, last):
        last = (found[-1][0], found[-1][1])
        _retarget(db, found, names, names.ids, literal)


def resolve_some(db: apsw.Connection, keys: Collection[str], sources: Collection[int]) -> None:
    """Resolve the links that have one of these keys, and those of these files that lead nowhere yet."""
    if len(keys) > _MANY:
        resolve_all(db)
        return
    names, ids, literal = StoredNames(db), _Ids(db), dict[str, int]()
    for key in keys:
        _retarget(db, rows(db, f"{_LINKS} WHERE l.key = ?", (key,)), names, ids, literal)
    sql = f"{_LINKS} WHERE l.target IS NULL AND l.source IN (SELECT value FROM json_each(?))"  # noqa: S608
    _retarget(db, rows(db, sql, (json.dumps(list(sources)),)), names, ids, literal)


class _Ids(dict[str, int]):
    def __init__(self, db: apsw.Connection) -> None:
        super().__init__()
        self._db = db

    def __missing__(self, path: str) -> int:
        self[path] = found = rows(self._db, "SELECT id FROM files WHERE path = ?", (path,))[0][0]
        return found


def _retarget(
    db: apsw.Connection, links: Sequence[Row], names: Names, ids: Mapping[str, int], literal: dict[str, int]
) -> None:
    """Resolve some links.

    Args:
        db: The writer.
        links: Rows of ``_LINKS``.
        names: What there is.
        ids: The files by path.
        literal: What targets that are whole paths come to, which is the same in every note; it grows.
    """
    changed: list[tuple[int | None, int, int]] = []
    for source, place, raw, target, path in links:
        now = literal.get(raw)
        if now is None and (found := resolve(raw, path, names)) is not None:
            now = ids[found]
            if raw == found:
                literal[raw] = now
        if now != target:
            changed.append((now, source, place))
    run_many(db, "UPDATE links SET target = ? WHERE source = ? AND place = ?", changed)
