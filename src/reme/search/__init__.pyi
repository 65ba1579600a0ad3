from reme.search.access import AccessLog, merge_access
from reme.search.origin import ORIGINS, Origin, as_origin, lowest
from reme.search.query import search
from reme.search.recall import Recall, RecalledFact, RecalledNode, RecalledRelation, recall, recall_text
from reme.search.recall_block import LEAST_BUDGET, MOST_BUDGET, RECALL_TAG
from reme.search.recall_intent import Anchors
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
    "LEAST_BUDGET",
    "MAX_DEPTH",
    "MAX_LIMIT",
    "MAX_TRAVERSED",
    "MOST_BUDGET",
    "ORIGINS",
    "RECALL_TAG",
    "AccessLog",
    "Anchors",
    "Evidence",
    "ExplainedChunk",
    "Explanation",
    "Hit",
    "HitChunk",
    "Linked",
    "Origin",
    "Reached",
    "Recall",
    "RecalledFact",
    "RecalledNode",
    "RecalledRelation",
    "SearchResult",
    "SearchSettings",
    "Signals",
    "TraverseResult",
    "TraversedEdge",
    "as_origin",
    "filter_of",
    "lowest",
    "merge_access",
    "recall",
    "recall_text",
    "search",
    "search_text",
    "traverse",
    "traverse_text",
]
