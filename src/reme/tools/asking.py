"""Searching and following links, over an index that is first brought up to the files.

Owns nothing but the parameters. How hits are found and ranked is the search room's.
"""

from dataclasses import replace
from functools import partial
from typing import Annotated, Literal

from annotated_types import Ge, Le, Len

from reme.errors import ConfigError, InvalidInput, Unavailable
from reme.models import Embedder
from reme.search import (
    MAX_DEPTH,
    MAX_LIMIT,
    MAX_TRAVERSED,
    SearchResult,
    TraverseResult,
    search_text,
    traverse_text,
)
from reme.search import search as find_nodes
from reme.search import traverse as walk_links
from reme.tools.conditions import parse_where
from reme.tools.freshness import look
from reme.tools.sidecars import resource_origin
from reme.tools.workspace import Workspace
from reme.vault import Layer

__all__ = ["Archived", "End", "Layers", "Paths", "Start", "ready", "search", "search_text", "traverse", "traverse_text"]

Layers = Annotated[list[Layer] | None, "Only these layers"]
Paths = Annotated[list[str] | None, "Only in these folders or files, or what matches these globs"]
Start = Annotated[str | None, "Only what is of this day or later, as 2026-05-15"]
End = Annotated[str | None, "Only what is of this day or earlier"]
Archived = Annotated[bool, "Search the archive, too"]


def search(
    workspace: Workspace,
    query: Annotated[str, "What to look for, in any language; nothing in it is syntax"],
    limit: Annotated[int, "How many notes, at most", Ge(1), Le(MAX_LIMIT)] = 5,
    layers: Layers = None,
    paths: Paths = None,
    tags: Annotated[list[str] | None, "Only notes with all of these tags, or tags below them"] = None,
    where: Annotated[list[str] | None, "Only notes with these properties, each as key=value"] = None,
    start_date: Start = None,
    end_date: End = None,
    min_score: Annotated[float, "Only hits of this score or more; 1 is about every word of the query"] = 0.0,
    top_chunks_per_path: Annotated[int | None, "How many pieces of each note, at most", Ge(1), Le(100)] = None,
    expand_depth: Annotated[int | None, "How many links away neighbours are listed", Ge(0), Le(MAX_DEPTH)] = None,
    max_links_per_direction: Annotated[
        int | None, "How many neighbours of a note, at most, each way", Ge(0), Le(1000)
    ] = None,
    expand_path_budget: Annotated[int | None, "How many neighbours in all", Ge(0), Le(1000)] = None,
    query_rewrite: Annotated[str | None, "What to look for by meaning instead, such as a likely answer"] = None,
    include_archived: Archived = False,
    weights: Annotated[
        list[str] | None, "How much a leg counts beside the other, as vector=2 or keyword=0; 0 turns it off"
    ] = None,
    wait: Annotated[bool, "Wait until all that is on disk is in the index, and fail if that takes too long"] = False,
    full: Annotated[bool, "Show whole pieces, what scores are made of, and neighbours"] = False,
    explain: Annotated[bool, "Show all of this, and how it came about"] = False,
) -> SearchResult:
    """Find the notes that answer a query best, with their best pieces and their neighbours by links.

    Raises:
        InvalidInput: For a filter that cannot be met: an unknown layer or tag, a malformed date or condition.
        NotFound: For a path that nothing is at.
        Refused: For a path outside the vault.
        Unavailable: If what was waited for does not happen.
    """
    if wait:
        from reme.tools.health import wait as wait_for_index

        wait_for_index(workspace)
    embedder, warnings = ready(workspace)
    result = find_nodes(
        workspace.index,
        workspace.clock,
        workspace.search,
        query,
        limit=limit,
        layers=layers or (),
        paths=paths or (),
        tags=[tag.removeprefix("#") for tag in tags or ()],
        where=parse_where(where),
        start_date=start_date,
        end_date=end_date,
        min_score=min_score,
        top_chunks_per_path=top_chunks_per_path,
        expand_depth=expand_depth,
        max_links_per_direction=max_links_per_direction,
        expand_path_budget=expand_path_budget,
        query_rewrite=query_rewrite,
        include_archived=include_archived,
        weights=_weights(weights),
        explain=explain,
        embedder=embedder,
        signals=workspace.signals,
        vault=workspace.vault,
        resource_origin=partial(resource_origin, workspace.vault),
    )
    workspace.met(hit.path for hit in result.hits)
    return replace(result, warnings=(*result.warnings, *warnings), full=full or explain)


def _weights(given: list[str] | None) -> dict[str, float]:
    """Weights given as ``leg=number``.

    Raises:
        InvalidInput: If one is something else.
    """
    parsed: dict[str, float] = {}
    for entry in given or ():
        leg, _, number = entry.partition("=")
        try:
            parsed[leg.strip()] = float(number)
        except ValueError:
            raise InvalidInput(
                f"weights: {entry!r} is no weight", hint="Write vector=2 or keyword=0.", details={"field": "weights"}
            ) from None
    return parsed


def ready(workspace: Workspace) -> tuple[Embedder | None, list[str]]:
    """The embedder, over an index that is brought up to the files, and what a person should know of both."""
    warnings = [missed] if (missed := look(workspace)) else []
    try:
        return workspace.embedder(), warnings
    except (Unavailable, ConfigError) as error:
        return None, [*warnings, f"words alone decide: {error.message}"]


def traverse(
    workspace: Workspace,
    seeds: Annotated[list[str], "The notes to start from; .md may be left out", Len(1)],
    direction: Annotated[Literal["forward", "backward", "both"], "Along the links, against them, or both"] = "forward",
    depth: Annotated[int, "How many links far", Ge(1), Le(10)] = 1,
    predicates: Annotated[list[str] | None, "Only links with one of these relations"] = None,
    layers: Layers = None,
    exclude_archived: Annotated[bool, "Leave the archive out"] = False,
    unresolved: Annotated[bool, "List links that lead to no file, too"] = False,
    limit: Annotated[int, "How many notes, at most", Ge(1), Le(MAX_TRAVERSED)] = 100,
) -> TraverseResult:
    """Walk along the links from some notes, nearest first, with every link that was followed.

    Raises:
        NotFound: If there is no such note to start from.
        InvalidInput: For a relation that no link has.
        Refused: For a path outside the vault.
    """
    look(workspace)
    known = workspace.signals.at(workspace.clock.now()) if workspace.signals and exclude_archived else None
    return walk_links(
        workspace.index,
        seeds,
        direction=direction,
        depth=depth,
        predicates=predicates or (),
        layers=layers or (),
        exclude_archived=exclude_archived,
        unresolved=unresolved,
        limit=limit,
        archived=known.archived if known else frozenset(),
    )
