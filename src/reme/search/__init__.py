"""Search: ranking, grouping, neighbours and traversal over an index.

Owns every formula of ranking. Read-only. Must not know stores, models or faces.
"""

from reme.search.query import search
from reme.search.result import (
    Evidence,
    ExplainedChunk,
    Explanation,
    Hit,
    HitChunk,
    Linked,
    SearchResult,
    search_text,
)
from reme.search.scope import filter_of
from reme.search.settings import MAX_DEPTH, MAX_LIMIT, MAX_TRAVERSED, SearchSettings
from reme.search.signals import Signals
from reme.search.traverse import Reached, TraversedEdge, TraverseResult, traverse, traverse_text

__all__ = [
    "MAX_DEPTH",
    "MAX_LIMIT",
    "MAX_TRAVERSED",
    "Evidence",
    "ExplainedChunk",
    "Explanation",
    "Hit",
    "HitChunk",
    "Linked",
    "Reached",
    "SearchResult",
    "SearchSettings",
    "Signals",
    "TraverseResult",
    "TraversedEdge",
    "filter_of",
    "search",
    "search_text",
    "traverse",
    "traverse_text",
]
