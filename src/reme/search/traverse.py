"""Traversal: what is linked to what, step by step from some notes.

Owns the breadth-first walk. Questions about links are equal in all layers.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Final, Literal

from reme.errors import InvalidInput, NotFound
from reme.index import Direction, Index, IndexedNote, LinkKey, Step, StoredLink
from reme.paths import VaultPath, parse_path
from reme.search.scope import layers_named, nearest, nearest_paths, within
from reme.search.settings import MAX_TRAVERSED
from reme.vault import Layer

__all__ = ["Reached", "TraverseResult", "TraversedEdge", "traverse", "traverse_text"]

_DIRECTIONS: Final[dict[str, tuple[Direction, ...]]] = {
    "forward": ("out",),
    "backward": ("in",),
    "both": ("out", "in"),
}
_DEEPEST: Final = 10


@dataclass(frozen=True, slots=True)
class Reached:
    """A node with its shortest distance from the seeds, in links."""

    path: VaultPath
    name: str
    description: str
    layer: Layer
    distance: int


@dataclass(frozen=True, slots=True)
class TraversedEdge:
    """A link that was followed; where no file has its name, ``target`` is as spelt and ``resolved`` False."""

    source: VaultPath
    target: str
    predicate: str | None
    anchor: str | None
    line: int
    resolved: bool = True


@dataclass(frozen=True, slots=True)
class TraverseResult:
    """The nodes within reach, nearest first, and the edges between them.

    Attributes:
        truncated: Whether the limit was met before everything was reached.
    """

    seeds: tuple[VaultPath, ...]
    nodes: tuple[Reached, ...]
    edges: tuple[TraversedEdge, ...]
    truncated: bool = False
    version: int = 1


def traverse(
    index: Index,
    seeds: Sequence[str],
    *,
    direction: Literal["forward", "backward", "both"] = "forward",
    depth: int = 1,
    predicates: Sequence[str] = (),
    layers: Sequence[str] = (),
    exclude_archived: bool = False,
    unresolved: bool = False,
    limit: int = 100,
    archived: Set[str] = frozenset(),
) -> TraverseResult:
    """Walk along links, breadth first.

    Args:
        index: The index.
        seeds: Notes to start from, with or without ``.md``.
        direction: Along the links, against them, or both.
        depth: How many links far, 1 to 10.
        predicates: Only links with one of these; all where empty.
        layers: Only into these layers.
        exclude_archived: Whether to leave out the archive, and what is ``archived`` though it lies elsewhere.
        unresolved: Whether to list links that lead to no file, too.
        limit: Most nodes besides the seeds, 1 to ``MAX_TRAVERSED``.
        archived: Paths that count as archived wherever they lie.

    Raises:
        NotFound: If there is no such seed.
        InvalidInput: For a depth, limit, direction or layer that cannot be, or a predicate that no link has.
        Refused: For a seed outside the vault.
    """
    within("depth", depth, 1, _DEEPEST)
    within("limit", limit, 1, MAX_TRAVERSED)
    if direction not in _DIRECTIONS:
        raise InvalidInput(
            f"direction must be one of {', '.join(_DIRECTIONS)}, not {direction!r}", details={"field": "direction"}
        )
    if not seeds:
        raise InvalidInput("give at least one note to start from", details={"field": "seeds"})
    named = layers_named(layers) if layers else None
    with index.snapshot():
        starts = [_seed(index, seed) for seed in seeds]
        walk = _Walk(index, starts, named, exclude_archived, archived, unresolved, limit)
        for distance in range(1, depth + 1):
            if not walk.step(distance, _DIRECTIONS[direction], predicates):
                break
        edges = walk.edges()
        _check(index, predicates, {edge.predicate for edge in edges})
        paths = tuple(dict.fromkeys(note.path for note in starts))
        return TraverseResult(paths, tuple(walk.reached.values()), edges, walk.truncated)


class _Walk:
    """One breadth-first walk."""

    def __init__(
        self,
        index: Index,
        seeds: Sequence[IndexedNote],
        layers: frozenset[Layer] | None,
        exclude_archived: bool,
        archived: Set[str],
        unresolved: bool,
        limit: int,
    ) -> None:
        self.reached = {n.path: Reached(n.path, n.name, n.description, n.layer, 0) for n in seeds}
        self.truncated = False
        self._index = index
        self._layers = layers
        self._exclude_archived = exclude_archived
        self._archived = archived
        self._unresolved = unresolved
        self._most = limit + len(self.reached)
        self._frontier = list(self.reached)
        self._left_out: set[VaultPath] = set()
        self._followed: dict[LinkKey, Step] = {}

    def edges(self) -> tuple[TraversedEdge, ...]:
        """The edges that were followed, in order; what one line says twice, once."""
        written = self._index.links(list(self._followed))
        return tuple(dict.fromkeys(_traversed(step, written[step.link]) for step in self._followed.values()))

    def step(self, distance: int, directions: Sequence[Direction], predicates: Sequence[str]) -> bool:
        """One link further; returns whether there is anything new."""
        met: list[tuple[Step, VaultPath | None]] = []
        for way in directions:
            steps = self._index.steps(self._frontier, way, predicates)
            met += [(step, step.target) for step in steps] if way == "out" else [(step, step.source) for step in steps]
        known = self.reached.keys() | self._left_out
        fresh = [path for path in dict.fromkeys([path for _, path in met]) if path is not None and path not in known]
        rows: dict[VaultPath, IndexedNote] = {}
        before = len(self.reached)
        for step, path in met:
            if path is None:
                wanted = self._unresolved
            else:
                wanted = path in self.reached or self._admit(path, fresh, rows, distance)
            if wanted:
                self._followed.setdefault(step.link, step)
        self._frontier = list(self.reached)[before:]
        return bool(self._frontier)

    def _admit(
        self, path: VaultPath, fresh: list[VaultPath], rows: dict[VaultPath, IndexedNote], distance: int
    ) -> bool:
        """Whether a path is reached; ``fresh`` are those whose rows have not been fetched, in order of asking."""
        if path in self._left_out:
            return False
        if len(self.reached) >= self._most:
            self.truncated = True
            return False
        if path not in rows and fresh:  # no more than there is room for, of a hub with thousands of links
            room = self._most - len(self.reached)
            rows |= self._index.rows_of(fresh[:room])
            del fresh[:room]
        note = rows.get(path)
        if note is None or not self._wanted(note):
            self._left_out.add(path)
            return False
        self.reached[path] = Reached(path, note.name, note.description, note.layer, distance)
        return True

    def _wanted(self, note: IndexedNote) -> bool:
        if self._exclude_archived and (note.layer == "archive" or note.path in self._archived):
            return False
        return self._layers is None or note.layer in self._layers


def _seed(index: Index, raw: str) -> IndexedNote:
    path = parse_path(raw)
    for candidate in (path, VaultPath(path + ".md")):
        if (note := index.note(candidate)) is not None:
            return note
    hint = nearest_paths(index, path) or "See what is there with: `list`"
    raise NotFound(f"there is no note {raw}", hint=hint, details={"path": raw})


def _check(index: Index, asked: Sequence[str], followed: Set[str | None]) -> None:
    """Refuse a predicate that no link has; what was followed need not be looked for."""
    if not (unmet := [predicate for predicate in asked if predicate not in followed]):
        return
    known = index.predicates()
    for predicate in unmet:
        if predicate not in known:
            hint = nearest(predicate, known) or "See what links there are with: `traverse`"
            raise InvalidInput(f"no link has the predicate {predicate!r}", hint=hint, details={"field": "predicates"})


def _traversed(step: Step, link: StoredLink) -> TraversedEdge:
    target = link.raw_target if step.target is None else step.target
    return TraversedEdge(step.source, target, link.predicate, link.anchor, link.line, step.target is not None)


def traverse_text(result: TraverseResult) -> str:
    """A traversal in words: the nodes by distance, then the edges."""
    lines = [f"nodes ({len(result.nodes)}):", *map(_node_text, result.nodes)]
    lines.append(f"edges ({len(result.edges)}):")
    for edge in result.edges:
        anchor = f"#{edge.anchor}" if edge.anchor else ""
        missing = "" if edge.resolved else " (no such note)"
        lines.append(f"  {edge.source}:{edge.line} → {edge.target}{anchor} via {edge.predicate or 'plain'}{missing}")
    if not result.edges:
        lines.append("no links that way: give another direction (both), more depth, or fewer conditions")
    if result.truncated:
        lines.append("there is more: raise the limit")
    return "\n".join(lines)


def _node_text(node: Reached) -> str:
    return f"  {node.distance} {node.path} — {node.name}" + (f": {node.description}" if node.description else "")
