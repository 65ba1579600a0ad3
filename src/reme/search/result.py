"""What a search answers, and how it reads as text."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from reme.index import Neighbour
from reme.paths import VaultPath, suffix
from reme.search.origin import Origin
from reme.search.snippet import snippet
from reme.vault import Layer
from reme.wording import counted

__all__ = [
    "Evidence",
    "ExplainedChunk",
    "Explanation",
    "Hit",
    "HitChunk",
    "Linked",
    "SearchResult",
    "marks_about",
    "marks_of",
    "search_text",
]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where a score comes from: ``score`` is the base times every factor; a factor that is None is off.

    Attributes:
        score: 1 is about: every word of the query, once, in a chunk of ordinary length, with neutral factors.
        base: Before the factors, what stands around included.
        keyword: Coverage of the query by the best chunk's own words, or by those of the whole note where that is more.
        vector: Likeness of the best chunk to the query, calibrated so that 1 is about as much; None without vectors.
        inlinks: Files that refer to the node.
    """

    score: float
    base: float
    keyword: float
    vector: float | None
    centrality: float | None
    community: float | None
    recency: float | None
    layer: float
    inlinks: int


@dataclass(frozen=True, slots=True)
class HitChunk:
    """A chunk of a hit: its lines (1-based, inclusive), headings, exact text and own score.

    Attributes:
        marks: ``superseded`` and ``conflict`` where the text has such callouts about what was asked: not all that it
            says of that still holds.
        path: The file that it stands in where that is not the hit's own but tells of it: a resource's sidecar.
    """

    line: int
    end_line: int
    trail: tuple[str, ...]
    text: str
    score: float
    speaker: str | None = None
    date: str | None = None
    marks: tuple[str, ...] = ()
    path: VaultPath | None = None


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
    """A node that answers the query, with its best chunks and its neighbours.

    Attributes:
        date: The day that it is about, ISO: as its frontmatter or its path says, else that of its last modification.
        origin: Where its words come from, if its frontmatter says so.
    """

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
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The answer to a query.

    Attributes:
        query: As asked.
        hits: Best first.
        truncated: Whether more nodes answer than were asked for.
        legs: What each way of searching did: ``used``, or why not.
        warnings: What a person should know of the answer.
        signals_freshness: By signal: when it was made, or ``absent`` or ``unusable``.
        explanation: How it came about, where that was asked for.
        full: Whether its text form shall have all of it.
    """

    query: str
    hits: tuple[Hit, ...]
    truncated: bool = False
    legs: dict[str, str] = field(default_factory=dict[str, str])
    warnings: tuple[str, ...] = ()
    signals_freshness: dict[str, str] = field(default_factory=dict[str, str])
    explanation: "Explanation | None" = None
    full: bool = False
    version: int = 1


@dataclass(frozen=True, slots=True)
class ExplainedChunk:
    """A chunk of a hit, and how its score came about; a rank is from 1, None where a leg did not have it."""

    path: VaultPath
    line: int
    keyword_rank: int | None
    vector_rank: int | None
    keyword: float
    cosine: float | None
    own: float
    with_context: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """How a result came about.

    Attributes:
        fusion: The one used.
        terms: Of the query: term, how many chunks have it, its idf.
        chosen: The terms that candidates were looked for by.
        keyword_candidates: How many the keyword leg had.
        vector_candidates: How many the vector leg had.
        vector_query: What the vector leg looked for, where that is not the query.
        chunks: Of the hits, in their order.
    """

    fusion: str
    terms: tuple[tuple[str, int, float], ...]
    chosen: tuple[str, ...]
    keyword_candidates: int
    vector_candidates: int
    vector_query: str | None
    chunks: tuple[ExplainedChunk, ...]


_CALLOUT: Final = re.compile(r"^\s*>\s*\[!(superseded|conflict)\]", re.MULTILINE | re.IGNORECASE)
_ABOUT: Final = 0.5
_CALLOUT_LINE: Final = re.compile(r"^\s*(>\s*\[!(?:superseded|conflict)\].*)$", re.MULTILINE | re.IGNORECASE)


def marks_of(text: str) -> tuple[str, ...]:
    """The kinds of callouts in a text that say that something no longer holds, or is contradicted."""
    return tuple(dict.fromkeys(kind.lower() for kind in _CALLOUT.findall(text))) if "[!" in text else ()


def marks_about(text: str, weight: Callable[[str], float]) -> tuple[str, ...]:
    """The marks of a text, of callouts that are about what was asked: those that have, with the statement above them,
    at least half of the words that any statement has; all marks where none has any.

    Args:
        weight: What words of a line, its citation left out, are worth as words of the query.
    """
    if not marks_of(text):
        return ()
    lines = [line for line in text.splitlines() if line.strip()]
    worth = [weight(line.partition(" — [[")[0]) for line in lines]
    said, found = 0.0, list[tuple[float, str]]()
    for line, own in zip(lines, worth, strict=True):
        if mark := _CALLOUT.match(line):
            found.append((max(said, own), mark[1].lower()))
        else:
            said = own
    return tuple(dict.fromkeys(mark for about, mark in found if about >= _ABOUT * max(worth)))


def search_text(result: SearchResult) -> str:
    """A result in words, for a terminal and for a model: the hits, then what is to be known of them, if anything is.

    A hit is where it stands, its score, its name and a line of it; with ``full`` its pieces, the parts of its score
    and its neighbours.
    """
    shown = [_hit_text(hit) if result.full else _short_text(hit, result.query) for hit in result.hits]
    lines = shown or ["no hits: ask in other words or with fewer conditions; list shows what there is"]
    if result.explanation is not None:
        lines += _explanation_text(result.explanation)
    lines += [f"{leg} leg: {state}" for leg, state in result.legs.items() if state not in _NO_NEWS]
    return "\n".join([*lines, *(f"warning: {warning}" for warning in result.warnings)])


_NO_NEWS: Final = ("used", "off", "no embedder", "nothing to look for")


def _explanation_text(explanation: Explanation) -> list[str]:
    chosen = ", ".join(explanation.chosen) or "nothing"
    lines = [
        f"how it came about ({explanation.fusion}):",
        f"  looked for {chosen}; candidates by words {explanation.keyword_candidates}, "
        f"by vectors {explanation.vector_candidates}",
        *(f"  term {term}: in {counted(pieces, 'piece')}, idf {idf:.2f}" for term, pieces, idf in explanation.terms),
    ]
    if explanation.vector_query is not None:
        lines.append(f"  by vectors instead: {json.dumps(explanation.vector_query, ensure_ascii=False)}")
    for chunk in explanation.chunks:
        figures = {
            "keyword_rank": chunk.keyword_rank,
            "vector_rank": chunk.vector_rank,
            "cosine": None if chunk.cosine is None else f"{chunk.cosine:.4f}",
            "keyword": f"{chunk.keyword:.4f}",
            "own": f"{chunk.own:.4f}",
            "with_context": f"{chunk.with_context:.4f}",
        }
        told = " ".join(f"{name}={figure}" for name, figure in figures.items() if figure is not None)
        lines.append(f"  {chunk.path}:{chunk.line} {told}")
    return lines


def _short_text(hit: Hit, query: str) -> str:
    lines: list[str] = []
    told = [f"{hit.score:.4f}", hit.name, f"(origin {hit.origin})" if hit.origin else ""]
    for chunk in hit.chunks:
        lines.append(" ".join(filter(None, (_place(hit, chunk), *told, *(f"[!{mark}]" for mark in chunk.marks)))))
        said = _said(hit, chunk)
        lines.append(f"  {snippet(said, query)}")
        if chunk.marks and (against := snippet("\n".join(_CALLOUT_LINE.findall(said)), query)) not in lines[-1]:
            lines.append(f"  {against}")
        told = []
    return "\n".join(lines or [" ".join(filter(None, (hit.path, *told))), *filter(None, [f"  {hit.description}"])])


def _place(hit: Hit, chunk: HitChunk) -> str:
    if chunk.path:
        return hit.path
    return f"{hit.path}:{chunk.line}" + (f"-{chunk.end_line}" if chunk.end_line != chunk.line else "")


def _said(hit: Hit, chunk: HitChunk) -> str:
    """A piece's text; of a turn of a dialogue, who says what."""
    if suffix(chunk.path or hit.path) != ".jsonl":
        return chunk.text
    from reme.index import dialogue_pieces

    said = "\n".join(piece.words or "" for piece in dialogue_pieces(chunk.text.encode()))
    return f"{chunk.speaker}: {said}" if chunk.speaker else said


def _hit_text(hit: Hit) -> str:
    evidence = hit.evidence
    lines = [f"========== {hit.path} =========="]
    if hit.name:
        lines.append(f"[node] {hit.name}" + (f" — {hit.description}" if hit.description else ""))
    parts = [f"score={evidence.score:.4f}"]
    if evidence.vector is not None:
        parts.append(f"vector={evidence.vector:.4f}")
    parts.append(f"keyword={evidence.keyword:.4f}")
    factors = {name: getattr(evidence, name) for name in ("centrality", "community", "recency", "layer")}
    parts += [f"{name}={factor:.2f}" for name, factor in factors.items() if factor is not None]
    if hit.origin is not None:
        parts.append(f"origin={hit.origin}")
    lines.append(f"[{' '.join(parts)}]")
    for chunk in hit.chunks:
        place = [f"@{chunk.line}-{chunk.end_line}", chunk.path or " > ".join(chunk.trail)]
        place += [f"[!{mark}]" for mark in chunk.marks]
        lines.append(f"--- {' '.join(filter(None, place))} ---")
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
