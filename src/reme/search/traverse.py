"""Traversal: what is linked to what, step by step from some notes.

Owns the breadth-first walk. Questions about links are equal in all layers.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Final, Literal, get_args

from reme.errors import InvalidInput, NotFound
from reme.index import Direction, Index, LinkKey, NamedFile, StoredLink
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
_LAYERS: Final[frozenset[Layer]] = frozenset(get_args(Layer))


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
        starts = tuple(dict.fromkeys(_start(index, seed) for seed in seeds))
        walk = _Walk(index, starts, named, exclude_archived, archived, unresolved, limit)
        for distance in range(1, depth + 1):
            if not walk.step(distance, _DIRECTIONS[direction], predicates):
                break
        edges = walk.edges()
        _check(index, predicates, {edge.predicate for edge in edges})
        return TraverseResult(starts, walk.nodes(), edges, walk.truncated)


class _Walk:
    """One breadth-first walk."""

    def __init__(
        self,
        index: Index,
        starts: Sequence[VaultPath],
        layers: frozenset[Layer] | None,
        exclude_archived: bool,
        archived: Set[str],
        unresolved: bool,
        limit: int,
    ) -> None:
        self.truncated = False
        self._index = index
        self._layers = (layers or _LAYERS) - {"archive"} if exclude_archived else layers
        self._without = archived if exclude_archived else frozenset[str]()
        self._unresolved = unresolved
        self._most = limit + len(starts)
        self._distances = dict.fromkeys(starts, 0)
        self._frontier = starts
        self._left_out: set[VaultPath] = set()
        self._followed: dict[LinkKey, tuple[VaultPath, VaultPath | None]] = {}

    def nodes(self) -> tuple[Reached, ...]:
        """The nodes that were reached, nearest first."""
        files = self._index.rows_of(list(self._distances))
        return tuple([_reached(files[path], distance) for path, distance in self._distances.items()])

    def edges(self) -> tuple[TraversedEdge, ...]:
        """The edges that were followed, in order; what one line says twice, once."""
        written = self._index.links(list(self._followed))
        edges = [_traversed(source, target, written[link]) for link, (source, target) in self._followed.items()]
        return tuple(dict.fromkeys(edges))

    def step(self, distance: int, directions: Sequence[Direction], predicates: Sequence[str]) -> bool:
        """One link further; returns whether there is anything new."""
        before = len(self._distances)
        for way in directions:
            among = list(self._distances) if self.truncated else None  # nothing new is taken in any more
            for source, target, link in self._index.steps(self._frontier, way, predicates, among):
                far = target if way == "out" else source
                if far in self._distances or self._admit(far, distance):
                    self._followed.setdefault(link, (source, target))
        self._frontier = list(self._distances)[before:]
        return bool(self._frontier)

    def _admit(self, path: VaultPath | None, distance: int) -> bool:
        """Whether what has not been reached yet is to be followed: a file that is wanted, while there is room."""
        if path is None:
            return self._unresolved
        if path in self._left_out:
            return False
        if len(self._distances) >= self._most:
            self.truncated = True
            return False
        if not self._wanted(path):
            self._left_out.add(path)
            return False
        self._distances[path] = distance
        return True

    def _wanted(self, path: VaultPath) -> bool:
        if path in self._without:
            return False
        return self._layers is None or self._index.layout.layer_of(path) in self._layers


def _start(index: Index, raw: str) -> VaultPath:
    path = parse_path(raw)
    candidates = (path, VaultPath(path + ".md"))
    there = index.rows_of(candidates)
    if (found := next((path for path in candidates if path in there), None)) is not None:
        return found
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


def _reached(file: NamedFile, distance: int) -> Reached:
    return Reached(file.path, file.name, file.description, file.layer, distance)


def _traversed(source: VaultPath, target: VaultPath | None, link: StoredLink) -> TraversedEdge:
    spelt = link.raw_target if target is None else target
    return TraversedEdge(source, spelt, link.predicate, link.anchor, link.line, target is not None)


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
