"""Questions about files: filters, rows, tags, problems, counts.

Owns how a ``Filter`` is said in SQL. Knows nothing of links or keywords.
"""

# ruff: noqa: S608  (only constants and placeholders are put into statements)

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final

import apsw

from reme.index.rows import FileProblem, Filter, IndexedNote, NamedFile, Standing
from reme.index.sqlite.connections import Row, rows
from reme.paths import VaultPath, fold

__all__ = [
    "condition",
    "densities",
    "folder_exists",
    "ids_of",
    "indexed",
    "keys",
    "named",
    "named_by_path",
    "notes",
    "one",
    "problems",
    "standings",
    "tags",
    "tags_among",
]

_COLUMNS: Final = """f.id, f.path, f.layer, f.format, f.name, f.description, f.properties, f.date, f.size, f.mtime_ns,
f.revision, f.chunks"""
_NAMED: Final = "f.path, f.layer, f.name, f.description, f.date, f.size, f.mtime_ns"
_FOLDER: Final = "rtrim(path, replace(path, '/', ''))"
"""With a slash at its end; there is an index by it."""
_GLOB: Final = frozenset("*?[")


def condition(wanted: Filter, *, turns: bool = False) -> tuple[str, dict[str, Any]]:
    """A filter as a condition on ``files f`` (and, with ``turns``, ``chunks c``), with its values.

    Args:
        wanted: The filter.
        turns: Whether the date of a turn of a dialogue counts before the date of its file.
    """
    terms: list[str] = []
    values: dict[str, Any] = {}

    def bind(value: object) -> str:
        values[f"v{len(values)}"] = value
        return f":v{len(values) - 1}"

    def any_of(column: str, options: Sequence[str]) -> str:
        return f"{column} IN ({', '.join(bind(option) for option in options)})"

    if wanted.layers is not None:
        terms.append(any_of("f.layer", sorted(wanted.layers)))
    if wanted.without_layers:
        terms.append("NOT " + any_of("f.layer", sorted(wanted.without_layers)))
    if wanted.without_paths:
        listed = bind(json.dumps(sorted(wanted.without_paths)))
        terms.append(f"f.path NOT IN (SELECT value FROM json_each({listed}))")
    if wanted.formats is not None:
        terms.append(any_of("f.format", sorted(wanted.formats)))
    if wanted.paths:
        terms.append("(" + " OR ".join(_path_term(path, bind) for path in wanted.paths) + ")")
    for tag in wanted.tags:
        plain = fold(tag.lstrip("#").strip("/"))
        exact, low, high = bind(plain), bind(plain + "/"), bind(plain + "0")
        nested = f"t.folded >= {low} AND t.folded < {high}"
        terms.append(f"EXISTS (SELECT 1 FROM tags t WHERE t.file = f.id AND (t.folded = {exact} OR ({nested})))")
    for key, value in wanted.where.items():
        given = f"SELECT 1 FROM fields w WHERE w.file = f.id AND w.key = {bind(fold(key.strip()))} AND w.value"
        if value is None:
            terms.append(f"f.format = 'note' AND NOT EXISTS ({given} <> '')")
        else:
            from reme.markdown import number_text

            terms.append(f"EXISTS ({any_of(given, (fold(value.strip()), number_text(value.strip())))})")
    day = "coalesce(c.date, f.date)" if turns else "f.date"
    for operator, date, instant in ((">=", wanted.start_date, wanted.start_ns), ("<=", wanted.end_date, wanted.end_ns)):
        if date is not None:
            fallback = f"({day} IS NULL AND f.mtime_ns {operator[0]}{'=' * (operator == '>=')} {bind(instant or 0)})"
            terms.append(f"({day} {operator} {bind(date)} OR {fallback})")
    return " AND ".join(terms), values


def ids_of(db: apsw.Connection, layers: Iterable[str], paths: Iterable[str]) -> frozenset[int]:
    """The ids of the files that are in any of these layers or have any of these paths."""
    sql = """SELECT f.id FROM json_each(?1) j CROSS JOIN files f ON f.layer = j.value
    UNION ALL SELECT f.id FROM json_each(?2) j CROSS JOIN files f ON f.path = j.value"""
    return frozenset(number for (number,) in rows(db, sql, (json.dumps([*layers]), json.dumps([*paths]))))


def _path_term(path: str, bind: Any) -> str:
    if _GLOB & set(path):
        return f"f.path GLOB {bind(path)}"
    plain = path.strip("/")
    return f"(f.path = {bind(plain)} OR (f.path > {bind(plain + '/')} AND f.path < {bind(plain + '0')}))"


def notes(db: apsw.Connection, wanted: Filter) -> list[IndexedNote]:
    """Files, by path."""
    where, values = condition(wanted)
    found = rows(db, f"SELECT {_COLUMNS} FROM files f WHERE {where or '1'} ORDER BY path", values)
    labels: dict[int, list[str]] = {}
    for file, tag in rows(db, "SELECT file, tag FROM tags ORDER BY file, folded"):
        labels.setdefault(file, []).append(tag)
    return [indexed(row, tuple(labels.get(row[0], ()))) for row in found]


def one(db: apsw.Connection, path: VaultPath) -> IndexedNote | None:
    """The file with this path."""
    found = rows(db, f"SELECT {_COLUMNS} FROM files f WHERE f.path = ?", (path,))
    if not found:
        return None
    tagged = rows(db, "SELECT tag FROM tags WHERE file = ? ORDER BY folded", (found[0][0],))
    return indexed(found[0], tuple(row[0] for row in tagged))


def standings(db: apsw.Connection, ids: Sequence[int]) -> dict[int, Standing]:
    """What ranking needs of files, by id."""
    sql = """SELECT f.id, f.path, f.layer, f.format, f.name, f.description, f.date, f.mtime_ns, f.chunks,
    CASE WHEN instr(f.properties, '"origin"') AND json_valid(f.properties, 2)  -- deeper nesting than it takes is none
    THEN json_extract(f.properties, '$.origin') END,
    (SELECT count(*) FROM (SELECT DISTINCT l.source FROM links l
        WHERE l.target = f.id AND l.counts AND l.source != f.id))
    FROM json_each(?) j CROSS JOIN files f ON f.id = j.value"""
    return {row[0]: Standing(*row[1:]) for row in rows(db, sql, (json.dumps(list(ids)),))}


def named(db: apsw.Connection, wanted: Filter) -> list[NamedFile]:
    """What files are called, by path."""
    where, values = condition(wanted)
    found = rows(db, f"SELECT {_NAMED} FROM files f WHERE {where or '1'} ORDER BY path", values)
    return list(map(NamedFile._make, found))


def named_by_path(db: apsw.Connection, paths: Sequence[VaultPath]) -> dict[VaultPath, NamedFile]:
    """What these files are called."""
    sql = f"SELECT {_NAMED} FROM json_each(?) j CROSS JOIN files f ON f.path = j.value"
    return {file.path: file for file in map(NamedFile._make, rows(db, sql, (json.dumps(list(paths)),)))}


def indexed(row: Row, tagged: tuple[str, ...]) -> IndexedNote:
    """A row of ``files``."""
    return IndexedNote._make((*row[1:6], tagged, *row[6:]))


def tags(db: apsw.Connection) -> list[tuple[str, int]]:
    """Tags with the number of files that have them."""
    found = rows(db, "SELECT min(tag), count(*) FROM tags GROUP BY folded ORDER BY folded")
    return [(tag, count) for tag, count in found]


def tags_among(db: apsw.Connection, among: Sequence[str]) -> frozenset[str]:
    """Those of these tags, case-folded, that any file has, or one nested below."""
    sql = """SELECT value FROM json_each(?) j WHERE EXISTS (SELECT 1 FROM tags t WHERE t.folded = j.value)
    OR EXISTS (SELECT 1 FROM tags t WHERE t.folded >= j.value || '/' AND t.folded < j.value || '0')"""
    return frozenset(tag for (tag,) in rows(db, sql, (json.dumps(list(among)),)))


def keys(db: apsw.Connection, among: Sequence[str]) -> frozenset[str]:
    """The keys of properties and fields that any note gives a value, case-folded: of these, where some are named.

    Of those that are named, each is looked for no further than to its first value.
    """
    if not among:
        return frozenset(key for (key,) in rows(db, "SELECT DISTINCT key FROM fields WHERE value <> ''"))
    sql = """SELECT value FROM json_each(?) j
    WHERE EXISTS (SELECT 1 FROM fields w WHERE w.key = j.value AND w.value <> '')"""
    return frozenset(key for (key,) in rows(db, sql, (json.dumps(list(among)),)))


def densities(db: apsw.Connection, folder: str) -> dict[str, int]:
    """How many notes lie directly in each folder at or below this one, by folder."""
    sql = f"""SELECT {_FOLDER}, count(*) FROM files
    WHERE {_FOLDER} >= ? AND {_FOLDER} < ? AND format = 'note' GROUP BY 1 ORDER BY 1"""
    return {place[:-1]: count for place, count in rows(db, sql, (f"{folder}/", f"{folder}0"))}


def folder_exists(db: apsw.Connection, path: str) -> bool:
    """Whether any file is at or below a path, or matches a glob."""
    values: dict[str, Any] = {}

    def bind(value: object) -> str:
        values[f"v{len(values)}"] = value
        return f":v{len(values) - 1}"

    if not path.strip("/"):
        return True
    return bool(rows(db, f"SELECT 1 FROM files f WHERE {_path_term(path, bind)} LIMIT 1", values))


def problems(db: apsw.Connection) -> list[FileProblem]:
    """What is wrong with files, by path."""
    sql = """SELECT path, rule, message, line FROM problems JOIN files ON files.id = problems.file
    ORDER BY path, line, rule, message"""
    return [FileProblem(VaultPath(path), rule, message, line) for path, rule, message, line in rows(db, sql)]
