"""Questions about links.

Owns the shape of edges. Knows nothing of keywords. Two hops are two questions, never one recursive one.
"""

# ruff: noqa: S608  (only constants and placeholders are put into statements)

import json
from collections.abc import Sequence
from typing import Final

import apsw

from reme.index.rows import Direction, Edge, LinkKey, Neighbour, Step, StoredLink
from reme.index.sqlite.connections import Row, rows
from reme.index.sqlite.names import link_key
from reme.paths import VaultPath
from reme.vault import Layer

__all__ = [
    "HeldNeighbours",
    "inlinks",
    "links",
    "links_from",
    "links_naming",
    "links_to",
    "neighbours",
    "predicates",
    "referrers",
    "sources_naming",
    "steps",
    "unresolved",
]

_EDGE: Final = "s.path, t.path, l.raw, l.anchor, l.alias, l.predicate, l.kind, l.line, l.origin"
_JOINED: Final = "links l JOIN files s ON s.id = l.source LEFT JOIN files t ON t.id = l.target"
_PLACE_BITS: Final = 24
_MOST_HELD: Final = 4_096
_LONGEST_HELD: Final = 32
_ID: Final = "(SELECT id FROM files WHERE path = ?)"


HeldNeighbours = dict[tuple[VaultPath, tuple[Direction, int, frozenset[Layer]]], Sequence[Neighbour]]
"""Neighbours by file, direction, most of them, and the layers that are left out."""


def links_from(db: apsw.Connection, path: VaultPath) -> list[Edge]:
    """The links of a file, in order."""
    return _edges(rows(db, f"SELECT {_EDGE} FROM {_JOINED} WHERE l.source = {_ID} ORDER BY l.place", (path,)))


def links_to(db: apsw.Connection, path: VaultPath) -> list[Edge]:
    """The links that lead to a file."""
    sql = f"SELECT {_EDGE} FROM {_JOINED} WHERE l.target = {_ID} ORDER BY s.path, l.place"
    return _edges(rows(db, sql, (path,)))


def unresolved(db: apsw.Connection) -> list[Edge]:
    """The edges that lead to no file."""
    sql = f"SELECT {_EDGE} FROM {_JOINED} WHERE l.target IS NULL AND l.kind != 'image' ORDER BY s.path, l.place"
    return _edges(rows(db, sql))


def steps(
    db: apsw.Connection,
    paths: Sequence[VaultPath],
    direction: Direction,
    predicates: Sequence[str],
    among: Sequence[VaultPath] | None,
) -> list[Step]:
    """The edges that leave or reach any of these files, in their order, then by source and place.

    Only what stands in the index of targets is asked of each link, and whether its other end is among some before that
    file is looked up: a hub has many, of which few are followed.
    """
    if direction == "out":
        source, target, far = "x.path", "f.path", "l.target"
        joined = f"l.source = x.id LEFT JOIN files f ON f.id = {far}"
    else:
        source, target, far = "f.path", "x.path", "l.source"
        joined = f"l.target = x.id CROSS JOIN files f ON f.id = {far}"
    asked, values = "", [json.dumps(list(paths)), *predicates]
    if predicates:
        asked += f" AND l.predicate IN ({', '.join('?' * len(predicates))})"
    if among is not None:
        ids = "SELECT a.id FROM json_each(?) k CROSS JOIN files a ON a.path = k.value"
        asked += f" AND ({far} IN ({ids})) IS NOT FALSE"
        values.append(json.dumps(list(among)))
    sql = f"""SELECT {source} AS source, {target}, l.source << {_PLACE_BITS} | l.place
    FROM json_each(?) j CROSS JOIN files x ON x.path = j.value CROSS JOIN links l ON {joined}
    WHERE l.kind != 'image' AND l.target IS NOT l.source{asked} ORDER BY j.key, source, l.place"""
    return rows(db, sql, values)


def links(db: apsw.Connection, keys: Sequence[LinkKey]) -> dict[LinkKey, StoredLink]:
    """How these links are written."""
    sql = f"""SELECT j.value, l.raw, l.predicate, l.anchor, l.line FROM json_each(?) j
    CROSS JOIN links l ON l.source = j.value >> {_PLACE_BITS} AND l.place = j.value & {(1 << _PLACE_BITS) - 1}"""
    return {told.link: told for told in map(StoredLink._make, rows(db, sql, (json.dumps(list(keys)),)))}


def predicates(db: apsw.Connection) -> frozenset[str]:
    """The predicates that any edge has."""
    sql = "SELECT DISTINCT predicate FROM links WHERE predicate IS NOT NULL AND kind != 'image'"
    return frozenset(predicate for (predicate,) in rows(db, sql))


def referrers(db: apsw.Connection, path: VaultPath) -> list[VaultPath]:
    """The files that have a link to this one."""
    sql = f"SELECT DISTINCT s.path FROM links l JOIN files s ON s.id = l.source WHERE l.target = {_ID} ORDER BY s.path"
    return [VaultPath(row[0]) for row in rows(db, sql, (path,))]


def sources_naming(db: apsw.Connection, name: str) -> list[VaultPath]:
    """The files that have a link whose last component is this name."""
    sql = "SELECT DISTINCT s.path FROM links l JOIN files s ON s.id = l.source WHERE l.key = ? ORDER BY s.path"
    return [VaultPath(row[0]) for row in rows(db, sql, (link_key(name),))]


def links_naming(db: apsw.Connection, name: str) -> list[Edge]:
    """The links whose last component is this name."""
    sql = f"SELECT {_EDGE} FROM {_JOINED} WHERE l.key = ? ORDER BY s.path, l.place"
    return _edges(rows(db, sql, (link_key(name),)))


def inlinks(db: apsw.Connection, paths: Sequence[VaultPath]) -> dict[VaultPath, int]:
    """How many other files refer to each."""
    sql = """SELECT f.path, count(DISTINCT l.source) FROM json_each(?) j CROSS JOIN files f ON f.path = j.value
    CROSS JOIN links l ON l.target = f.id AND l.counts AND l.source != f.id GROUP BY f.id"""
    return {VaultPath(path): count for path, count in rows(db, sql, (json.dumps(list(paths)),))}


def neighbours(
    db: apsw.Connection,
    held: HeldNeighbours,
    paths: Sequence[VaultPath],
    direction: Direction,
    limit: int,
    without: frozenset[Layer],
) -> list[Neighbour]:
    """The files one link away, each once for each of the paths.

    Args:
        db: A reader.
        held: What is known of this state already, to which more is added.
        paths: The files.
        direction: Whether their own links are followed or those that lead to them.
        limit: Most of each file.
        without: Layers whose files are left out.
    """
    asked = (direction, limit, without)
    known = {path: near for path in paths if (near := held.get((path, asked))) is not None}
    if missing := [path for path in paths if path not in known]:
        found: dict[VaultPath, list[Neighbour]] = {path: [] for path in missing}
        for neighbour in _neighbours(db, missing, direction, limit, without):
            found[neighbour.source].append(neighbour)
        known |= found
        if len(held) + len(found) > _MOST_HELD:
            held.clear()
        held.update({(path, asked): near for path, near in found.items() if len(near) <= _LONGEST_HELD})
    return [neighbour for path in paths for neighbour in known[path]]


def _neighbours(
    db: apsw.Connection, paths: Sequence[VaultPath], direction: Direction, limit: int, without: frozenset[Layer]
) -> list[Neighbour]:
    here, there = ("source", "target") if direction == "out" else ("target", "source")
    order = "j.key, l.place" if direction == "out" else "j.key, f.path, l.predicate"
    hidden = f" AND f.layer NOT IN ({', '.join('?' * len(without))})" if without else ""
    counted = "" if direction == "out" else " AND l.counts"
    sql = f"""SELECT x.path, f.path, f.name, f.description, l.predicate
    FROM json_each(?) j CROSS JOIN files x ON x.path = j.value CROSS JOIN links l ON l.{here} = x.id
    CROSS JOIN files f ON f.id = l.{there}
    WHERE l.kind != 'image' AND l.target != l.source{counted}{hidden} ORDER BY {order}"""
    found: list[Neighbour] = []
    last, near = None, dict[VaultPath, Neighbour]()
    for path, other, name, description, predicate in rows(db, sql, (json.dumps(list(paths)), *sorted(without))):
        if path != last:
            found += near.values()
            last, near = path, {}
        if (known := near.get(other)) is None:
            if len(near) < limit:
                named = () if predicate is None else (predicate,)
                near[other] = Neighbour(path, other, name, description, named, direction)
        elif predicate is not None and predicate not in known.predicates:
            near[other] = known._replace(predicates=(*known.predicates, predicate))
    return found + list(near.values())


def _edges(found: list[Row]) -> list[Edge]:
    return [Edge(*row) for row in found]
