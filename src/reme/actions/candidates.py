"""Where a unit may belong: nodes of that name, nodes that search finds, and those one link away from them.

Owns the gathering of candidates over the whole digest, whatever their bucket, and whether a decision made for some
still counts when they have been gathered again. Decides nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from reme.actions.digest import bucket_of, is_node
from reme.actions.nodes import Node, as_candidate, read_node
from reme.index import refresh
from reme.paths import VaultPath, fold
from reme.reason import Candidate, Integration, Skip, SourceLine, Unit, Update
from reme.search import search
from reme.tools import Workspace

__all__ = ["Decided", "Home", "find_homes", "vanished_sources"]

_QUERY_LINES = 4
_NODES_A_LINE = 2
_MOST_LINES = 40


@dataclass(frozen=True, slots=True)
class Home:
    """A node that a unit may belong to, and what a reasoner sees of it."""

    node: Node
    candidate: Candidate

    def shows(self, other: "Home") -> bool:
        """Whether a reasoner sees the same of both: the same node with the same statements, however it was found."""
        return self.node.path == other.node.path and self.candidate == replace(
            other.candidate, neighbour=self.candidate.neighbour
        )


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision and the candidates that it was made for."""

    homes: tuple[Home, ...]
    decision: Integration

    def among(self, homes: Sequence[Home]) -> "Decided | None":
        """The same decision for the candidates as they are now; None if what it rests on is no longer there.

        An update rests on the nodes that it names. What makes something new, or nothing, rests on there being no
        candidate that was not shown.
        """
        now = {home.node.path: home for home in homes}
        current = [now.get(home.node.path) for home in self.homes]
        same = [home if home and home.shows(shown) else None for home, shown in zip(current, self.homes, strict=True)]
        named: list[int] = []
        if not isinstance(self.decision, Skip):
            named += (other.candidate for other in (*self.decision.relations, *self.decision.elsewhere))
        if isinstance(self.decision, Update):
            named.append(self.decision.candidate)
        if any(1 <= number <= len(same) and same[number - 1] is None for number in named):
            return None
        if not isinstance(self.decision, Update) and any(home not in same for home in homes):
            return None
        kept = tuple(home or shown for home, shown in zip(same, self.homes, strict=True))
        return Decided(kept, self.decision)


def find_homes(
    workspace: Workspace, unit: Unit, lines: Sequence[SourceLine], limit: int, drafts: Mapping[VaultPath, bytes]
) -> list[Home]:
    """At most ``limit`` candidates for the unit as a whole, the likeliest first, from the digest as it is now.

    As many besides may be about what single lines say: that it has changed, say.

    Args:
        drafts: Nodes as they would be if what is only planned so far were written; they are candidates too.
    """
    refresh(workspace.index, workspace.vault, progress=workspace.progress)
    named = _named(workspace, unit)
    found = dict.fromkeys([*named, *_searched(workspace, unit, lines, limit), *drafts])
    near = dict.fromkeys(path for path in _neighbours(workspace, list(found)) if path not in found)
    likeliest = [*found, *near][:limit]
    told = [path for path in _told_of(workspace, lines) if path not in likeliest]
    homes: list[Home] = []
    for path in [*likeliest, *told[:limit]]:
        data = drafts.get(path) or workspace.vault.bytes_of(path)
        if data is not None:
            node = read_node(path, data)
            homes.append(
                Home(node, as_candidate(node, bucket_of(workspace.vault.layout, path), neighbour=path in near))
            )
    return [home for home in homes if home.node.note.encoding == "utf-8"]


def _named(workspace: Workspace, unit: Unit) -> list[VaultPath]:
    names, layout = workspace.index.names, workspace.vault.layout
    found = [path for name in (unit.name, *unit.aliases) for path in names.by_alias(fold(name))]
    found += names.by_basename(fold(f"{unit.slug}.md"))
    return [path for path in found if is_node(layout, path)]


def _searched(workspace: Workspace, unit: Unit, lines: Sequence[SourceLine], limit: int) -> list[VaultPath]:
    said = sorted((line.text for line in lines), key=len, reverse=True)[:_QUERY_LINES]
    query = " ".join((unit.name, unit.summary, *said))
    result = search(workspace.index, workspace.clock, workspace.search, query, limit=limit, layers=["digest"])
    return [hit.path for hit in result.hits if is_node(workspace.vault.layout, hit.path)]


def _told_of(workspace: Workspace, lines: Sequence[SourceLine]) -> list[VaultPath]:
    """Nodes that search finds for each line by itself, the first of all lines before the second of any.

    Of very many lines, some are asked about, at even distances.
    """
    asked = [line for line in lines if not (line.known or line.step)]
    found: dict[VaultPath, tuple[int, float]] = {}
    for line in asked[:: -(-len(asked) // _MOST_LINES) or 1]:
        result = search(
            workspace.index, workspace.clock, workspace.search, line.text, limit=_NODES_A_LINE, layers=["digest"]
        )
        for place, hit in enumerate(result.hits):
            if is_node(workspace.vault.layout, hit.path):
                found[hit.path] = min(found.get(hit.path, (place, 0.0)), (place, -hit.score))
    return sorted(found, key=lambda path: found[path])


def _neighbours(workspace: Workspace, paths: Sequence[VaultPath]) -> list[VaultPath]:
    index, layout = workspace.index, workspace.vault.layout
    out = [edge.target for path in paths for edge in index.links_from(path) if edge.target is not None]
    linking = [edge.source for path in paths for edge in index.links_to(path)]
    return [path for path in (*out, *linking) if is_node(layout, path)]


def vanished_sources(workspace: Workspace) -> tuple[tuple[VaultPath, str], ...]:
    """Nodes that were derived from a file which is gone, each with that file as the node spells it."""
    refresh(workspace.index, workspace.vault)
    layout = workspace.vault.layout
    gone = {
        (edge.source, edge.raw_target)
        for edge in workspace.index.unresolved()
        if edge.predicate == "derived_from" and is_node(layout, edge.source)
    }
    return tuple(sorted(gone))
