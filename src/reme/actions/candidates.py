"""Where a unit may belong: nodes of that name, nodes that search finds, and those one link away from them.

Owns the gathering of candidates over the whole digest, whatever their bucket. Decides nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reme.actions.digest import bucket_of, is_node
from reme.actions.nodes import Node, as_candidate, read_node
from reme.index import refresh
from reme.paths import VaultPath, fold
from reme.reason import Candidate, SourceLine, Unit
from reme.search import search
from reme.tools import Workspace

__all__ = ["Home", "find_homes", "vanished_sources"]

_QUERY_LINES = 4


@dataclass(frozen=True, slots=True)
class Home:
    """A node that a unit may belong to, and what a reasoner sees of it."""

    node: Node
    candidate: Candidate


def find_homes(
    workspace: Workspace, unit: Unit, lines: Sequence[SourceLine], limit: int, drafts: Mapping[VaultPath, bytes]
) -> list[Home]:
    """At most ``limit`` candidates, the likeliest first, from the digest as it is now.

    Args:
        drafts: Nodes as they would be if what is only planned so far were written; they are candidates too.
    """
    refresh(workspace.index, workspace.vault)
    named = _named(workspace, unit)
    found = dict.fromkeys([*named, *_searched(workspace, unit, lines, limit), *drafts])
    near = dict.fromkeys(path for path in _neighbours(workspace, list(found)) if path not in found)
    homes: list[Home] = []
    for path in [*found, *near][:limit]:
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
