"""What a search answers, and how it reads as text."""

import json
from dataclasses import dataclass, field

from reme.index import Neighbour
from reme.paths import VaultPath
from reme.vault import Layer

__all__ = ["Evidence", "Hit", "HitChunk", "Linked", "SearchResult", "search_text"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where a score comes from: ``score`` is the base times every factor; a factor that is None is off.

    Attributes:
        score: 1 is about: every word of the query, once, in a chunk of ordinary length, with neutral factors.
        base: Before the factors, what stands around included.
        keyword: Coverage of the query by the best chunk's own words.
        inlinks: Files that refer to the node.
    """

    score: float
    base: float
    keyword: float
    centrality: float | None
    recency: float | None
    layer: float
    inlinks: int


@dataclass(frozen=True, slots=True)
class HitChunk:
    """A chunk of a hit: its lines (1-based, inclusive), headings, exact text and own score."""

    line: int
    end_line: int
    trail: tuple[str, ...]
    text: str
    score: float
    speaker: str | None = None
    date: str | None = None


@dataclass(frozen=True, slots=True)
class Linked:
    """A neighbour of a hit: a line of a directory. ``distance`` is the number of links from the hit."""

    path: VaultPath
    name: str
    description: str
    predicates: tuple[str, ...]
    distance: int
    via: VaultPath

    @staticmethod
    def of(neighbour: Neighbour, distance: int) -> "Linked":
        """From the index's row."""
        n = neighbour
        return Linked(n.path, n.name, n.description, n.predicates, distance, n.source)


@dataclass(frozen=True, slots=True)
class Hit:
    """A node that answers the query, with its best chunks and its neighbours."""

    path: VaultPath
    layer: Layer
    name: str
    description: str
    date: str | None
    score: float
    evidence: Evidence
    chunks: tuple[HitChunk, ...]
    outlinks: tuple[Linked, ...] = ()
    inlinks: tuple[Linked, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The answer to a query.

    Attributes:
        query: As asked.
        hits: Best first.
        truncated: Whether more nodes answer than were asked for.
        legs: What each way of searching did: ``used``, or why not.
        warnings: What a person should know of the answer.
        position: The state of the index that it is from.
    """

    query: str
    hits: tuple[Hit, ...]
    truncated: bool = False
    legs: dict[str, str] = field(default_factory=dict[str, str])
    warnings: tuple[str, ...] = ()
    version: int = 1


def search_text(result: SearchResult) -> str:
    """A result in words, for a terminal and for a model."""
    return "\n".join(_hit_text(hit) for hit in result.hits) if result.hits else "no hits"


def _hit_text(hit: Hit) -> str:
    evidence = hit.evidence
    lines = [f"========== {hit.path} =========="]
    if hit.name:
        lines.append(f"[node] {hit.name}" + (f" — {hit.description}" if hit.description else ""))
    parts = [f"score={evidence.score:.4f}", f"keyword={evidence.keyword:.4f}"]
    if evidence.centrality is not None:
        parts.append(f"centrality={evidence.centrality:.2f}")
    if evidence.recency is not None:
        parts.append(f"recency={evidence.recency:.2f}")
    parts.append(f"layer={evidence.layer:.2f}")
    lines.append(f"[{' '.join(parts)}]")
    for chunk in hit.chunks:
        trail = " > ".join(chunk.trail)
        lines.append(
            f"--- @{chunk.line}-{chunk.end_line} {trail} ---" if trail else f"--- @{chunk.line}-{chunk.end_line} ---"
        )
        lines.append(chunk.text)
    for title, arrow, linked in (("outlinks", "→", hit.outlinks), ("inlinks", "←", hit.inlinks)):
        if linked:
            lines.append(f"{title} ({len(linked)}):")
            lines.extend(f"  {arrow} {_linked_text(one)}" for one in linked)
    return "\n".join(lines)


def _linked_text(linked: Linked) -> str:
    parts = [linked.path, f"name={json.dumps(linked.name, ensure_ascii=False)}"]
    if linked.description:
        parts.append(f"description={json.dumps(linked.description, ensure_ascii=False)}")
    parts.append(f"via {', '.join(linked.predicates) or 'plain'}")
    return " ".join(parts)
