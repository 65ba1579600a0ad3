"""Recalling what a prompt needs, over an index that is first brought up to the files.

Owns nothing but the parameters. What is recalled is the search room's business.
"""

from dataclasses import replace
from functools import partial
from typing import Annotated

from annotated_types import Ge, Le

from reme.markdown import is_withdrawn, parse
from reme.paths import VaultPath
from reme.search import LEAST_BUDGET, MOST_BUDGET, Recall, recall_text
from reme.search import recall as recall_for
from reme.tools.asking import Archived, End, Layers, Paths, Start, ready
from reme.tools.learnt import learnt
from reme.tools.sidecars import resource_origin
from reme.tools.workspace import Workspace
from reme.vault import Vault

__all__ = ["recall", "recall_text"]


def recall(
    workspace: Workspace,
    query: Annotated[str, "What to remember, in any language; nothing in it is syntax"],
    budget: Annotated[int, "How many tokens the block may have, at most", Ge(LEAST_BUDGET), Le(MOST_BUDGET)] = 1_500,
    layers: Layers = None,
    paths: Paths = None,
    start_date: Start = None,
    end_date: End = None,
    include_archived: Archived = False,
) -> Recall:
    """Recall what a prompt needs: the note that a query is about, its relations, and the facts with their sources.

    Raises:
        InvalidInput: For a budget that is out of range, or a filter that cannot be met.
        NotFound: For a path that nothing is at.
        Refused: For a path outside the vault.
    """
    embedder, warnings = ready(workspace)
    result = recall_for(
        workspace.index,
        workspace.clock,
        workspace.search,
        query,
        budget=budget,
        layers=layers or (),
        paths=paths or (),
        start_date=start_date,
        end_date=end_date,
        include_archived=include_archived,
        embedder=embedder,
        signals=workspace.signals,
        vault=workspace.vault,
        anchors=workspace.anchors(),
        resource_origin=partial(resource_origin, workspace.vault),
        withdrawn=partial(_is_withdrawn, workspace.vault),
    )
    workspace.met(dict.fromkeys(fact.path for fact in result.facts))
    workspace.vault.notices.extend(result.warnings)  # the block is for prompts and has no room for them
    return replace(result, warnings=(*result.warnings, *warnings)) if warnings else result


def _is_withdrawn(vault: Vault, path: VaultPath, description: str) -> bool:
    """Whether a note has stated what its description says, and does not any more."""
    data = vault.bytes_of(path)
    return data is not None and is_withdrawn(parse(data), description, (each.stated for each in learnt(vault, path)))
