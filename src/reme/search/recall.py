"""Recall: a query → what kind of answer it wants → search → one hop along links → ranked facts → a block for a prompt.

Owns the composition and the ranking of what is recalled. The three questions stay with ``search``, ``traverse`` and
lists; nothing is asked of a model but of the embedder. Read-only, and the same for the same vault and query.

A fact is a block of a note, or a turn of a dialogue. Its rank is a product, each part of which is in its evidence:

    score · (½ + ½ coverage) · (1 + ¼ relation) · (1 + ¼ date) · origin · (½ if superseded) · (0.8 if a question)

What counts is what is said: the speaker, the day and the citation behind a statement give it no words, and what a
dialogue, its note and a node of it all say is one fact.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final, NamedTuple

from reme.clock import Clock
from reme.index import Index, dialogue_pieces
from reme.markdown import parse, words
from reme.models import Embedder
from reme.paths import VaultPath, is_markdown, suffix
from reme.search.dates import dates_in, falls_on
from reme.search.origin import Origin
from reme.search.query import search
from reme.search.recall_block import LEAST_BUDGET, MOST_BUDGET, Block, one_line, quoted
from reme.search.recall_intent import Anchors, Intent, Routing
from reme.search.result import Hit, HitChunk, SearchResult, marks_of
from reme.search.scope import within
from reme.search.score import idf
from reme.search.settings import SearchSettings
from reme.search.signals import Signals
from reme.search.traverse import Reached, TraversedEdge, traverse
from reme.vault import Layer, Vault

__all__ = ["Recall", "RecalledFact", "RecalledNode", "RecalledRelation", "recall", "recall_text"]


class _Plan(NamedTuple):
    """How a kind of question is answered.

    Attributes:
        hits: How many notes are looked for.
        chunks: How many pieces of each.
        seeds: From how many of them links are followed.
        relations: How full of the block, at most, what stands above the facts may make it.
    """

    hits: int
    chunks: int
    seeds: int
    relations: float


_PLANS: Final[Mapping[Intent, _Plan]] = MappingProxyType(
    {"fact": _Plan(12, 8, 2, 0.25), "entity": _Plan(8, 8, 1, 0.4), "relation": _Plan(8, 6, 4, 0.6)}
)
_ORIGIN_WEIGHTS: Final[Mapping[Origin | None, float]] = MappingProxyType(
    {None: 1.0, "person": 1.0, "agent": 0.95, "tool": 0.9, "web": 0.8}
)
_RELATION_SHARE: Final = 0.25
_DATE_SHARE: Final = 0.25
_SUPERSEDED: Final = 0.5
_QUESTION: Final = 0.8
_NAMED_BONUS: Final = 2.0
_MOST_EDGES: Final = 100
_LINKED_LAYERS: Final[tuple[Layer, ...]] = ("digest", "daily", "resource", "other")
_LEAST_RANK: Final = 0.05
_NOTE_SHARE: Final = 0.5
_BARE_LINK: Final = re.compile(r"\s*(?:[-*+] )?(?:([^\n:]+)::\s*)?\[\[[^\[\]\n]*\]\]\s*")
_PROVENANCE: Final = frozenset({"source", "inherits", "derived_from"})
_CITATION: Final = re.compile(r" — (?:\[\[[^\[\]\n]+\]\](?:, )?)+[ \t]*$", re.MULTILINE)
_ATTRIBUTION: Final = re.compile(r" \((?:[^()\n]*, )?\d{4}-\d\d-\d\d(?:, about [\d-]+)?\)[ \t]*$", re.MULTILINE)
_MARK: Final = re.compile(r"\A(?:> ?)*(?:\[![\w-]+\][+-]? *)?(?:(?:[-*+]|\d{1,9}[.)]) +)?")
_UNQUOTED: Final = frozenset({"rule", "comment"})


@dataclass(frozen=True, slots=True)
class RecalledNode:
    """The note that the query is about."""

    path: VaultPath
    name: str
    description: str
    date: str | None
    origin: Origin | None


@dataclass(frozen=True, slots=True)
class RecalledRelation:
    """A link from or to one of the notes found.

    Attributes:
        source: The note that the link stands in.
        line: Where it stands, 1-based.
        name: Of the note at the far end.
        date: Of the note that it stands in, else of its target; ISO, or None.
    """

    source: VaultPath
    target: VaultPath
    predicate: str | None
    line: int
    name: str
    date: str | None


@dataclass(frozen=True, slots=True)
class FactEvidence:
    """Why a fact has its rank.

    Attributes:
        score: What search gives the chunk, with the factors of its note.
        coverage: Share of the query's words, by rarity, that the fact has, averaged with the share that it has together
            with its headings and its note's name; 0 to 1.
        relation: 1 if a followed link stands in it whose predicate the query names, ½ for another one where the query
            asks for relations, else 0.
        date: 1 if it is of a day that the query names, or names or cites something of that day, else 0.
        origin: Weight of where the note comes from.
    """

    score: float
    coverage: float
    relation: float
    date: float
    origin: float


@dataclass(frozen=True, slots=True)
class RecalledFact:
    """A block of a note, or a turn of a dialogue, exactly as it stands there."""

    path: VaultPath
    line: int
    end_line: int
    trail: tuple[str, ...]
    text: str
    rank: float
    evidence: FactEvidence
    date: str | None = None
    origin: Origin | None = None
    speaker: str | None = None
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recall:
    """What was recalled.

    Attributes:
        query: As asked.
        intent: What kind of answer it wants.
        routing: What told so: ``vectors``, ``keywords``, or ``default`` where nothing did.
        core: The note that it is about, if there is one.
        relations: In the order of the block.
        facts: Best first.
        block: The text for a prompt, delimited and escaped; empty if nothing was found.
        tokens: What the block has, as ``markdown.count_tokens`` estimates; never more than asked for.
        truncated: Whether something found no room.
        legs: What each way of searching did.
        warnings: What a person should know of the answer.
    """

    query: str
    intent: Intent
    routing: Routing
    core: RecalledNode | None
    relations: tuple[RecalledRelation, ...]
    facts: tuple[RecalledFact, ...]
    block: str
    tokens: int
    truncated: bool = False
    legs: dict[str, str] = field(default_factory=dict[str, str])
    warnings: tuple[str, ...] = ()
    signals_freshness: dict[str, str] = field(default_factory=dict[str, str])
    version: int = 1


def recall(
    index: Index,
    clock: Clock,
    settings: SearchSettings,
    query: str,
    *,
    budget: int = 1_500,
    layers: Sequence[str] = (),
    paths: Sequence[str] = (),
    start_date: str | None = None,
    end_date: str | None = None,
    include_archived: bool = False,
    embedder: Embedder | None = None,
    signals: Signals | None = None,
    vault: Vault | None = None,
    anchors: Anchors | None = None,
    resource_origin: Callable[[VaultPath], Origin] | None = None,
    withdrawn: Callable[[VaultPath, str], bool] | None = None,
) -> Recall:
    """Recall what helps to answer a query: the note it is about, its relations, and facts with their sources.

    Args:
        withdrawn: Tells of a note's description whether the note does not state any more what it says; it is left out.
        budget: Most tokens of the block, ``LEAST_BUDGET`` to ``MOST_BUDGET``.
        anchors: Example sentences of each intent; given again, their vectors are not made again.

    The other parameters are those of ``search``.

    Raises:
        InvalidInput: For a budget, layer or date that cannot be.
        NotFound: For a path that nothing is at.
        Unavailable: If the index cannot be read.
    """
    within("budget", budget, LEAST_BUDGET, MOST_BUDGET)
    routed = (anchors or Anchors()).route(query, embedder)
    plan = _PLANS[routed.intent]
    found = search(
        index,
        clock,
        settings,
        query,
        limit=plan.hits,
        layers=layers,
        paths=paths,
        start_date=start_date,
        end_date=end_date,
        top_chunks_per_path=plan.chunks,
        expand_depth=0,
        include_archived=include_archived,
        embedder=embedder,
        signals=signals,
        vault=vault,
        resource_origin=resource_origin,
    )
    archived = signals.at(clock.now()).archived if signals and not include_archived else frozenset[str]()
    with index.snapshot():
        asked = _Asked.of(index, clock, query, routed.intent, by_words=found.legs.get("vector") != "used")
        dates = {path: note.date for path, note in index.rows_of([hit.path for hit in found.hits]).items()}
        core = _core(found.hits, asked)
        edges, nodes = _edges(index, found.hits, core, asked, plan, archived)
        view = _views(index)
        facts = _facts([hit for hit in found.hits if not view.search(hit.path)], dates, edges, asked)
        relations = _relations(index, edges, nodes, core, asked)
    about = _node(core, dates.get(core.path)) if core else None
    if about and about.description and withdrawn and withdrawn(about.path, about.description):
        about = replace(about, description="")
    return _assembled(found, routed.intent, routed.routing, about, relations, facts, budget, plan)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a query says.

    Attributes:
        weights: Its terms with their idf.
        dates: The days, months and years that it names, as ``dates_in`` gives them.
        by_words: Whether words alone decided what answers it.
    """

    text: str
    intent: Intent
    weights: Mapping[str, float]
    dates: tuple[str, ...]
    index: Index
    by_words: bool

    @staticmethod
    def of(index: Index, clock: Clock, query: str, intent: Intent, *, by_words: bool) -> "_Asked":
        statistics = index.statistics(index.terms(query))
        weights = {term: idf(statistics.chunks, count) for term, count in statistics.frequencies.items()}
        return _Asked(query, intent, weights, dates_in(query, clock.today()), index, by_words)

    def terms_in(self, text: str) -> Set[str]:
        """Which of the query's terms a text has."""
        return self.weights.keys() & self.index.terms(text)

    def coverage(self, there: Set[str]) -> float:
        """The share of the query's terms, by idf, that are there."""
        total = sum(self.weights.values())
        return sum(weight for term, weight in self.weights.items() if term in there) / total if total else 0.0

    def names(self, name: str) -> bool:
        """Whether all the words of a name stand in the query."""
        terms = self.index.terms(name)
        return bool(terms) and all(term in self.weights for term in terms)


def _core(hits: Sequence[Hit], asked: _Asked) -> Hit | None:
    """The note that the query is about: the best one, those that it names doubled; no dialogue and no other file."""
    notes = [hit for hit in hits if is_markdown(hit.path) and hit.name]
    return max(notes, key=lambda hit: hit.score * (_NAMED_BONUS if asked.names(hit.name) else 1.0), default=None)


def _node(hit: Hit, date: str | None) -> RecalledNode:
    return RecalledNode(hit.path, hit.name, hit.description, date, hit.origin)


def _edges(
    index: Index, hits: Sequence[Hit], core: Hit | None, asked: _Asked, plan: _Plan, archived: Set[str]
) -> tuple[tuple[TraversedEdge, ...], Mapping[str, Reached]]:
    """The links from and to the notes that matter most, generated views left out."""
    notes = [hit.path for hit in hits if is_markdown(hit.path)]
    named = [hit.path for hit in hits if hit.path in notes and asked.names(hit.name)]
    first = [core.path] if core else []
    wanted = list(dict.fromkeys((*first, *(named if asked.intent == "relation" else ()), *notes)))[: plan.seeds]
    seeds = [path for path in wanted if path in index.rows_of(wanted)]
    if not seeds:
        return (), {}
    walked = traverse(
        index,
        seeds,
        direction="both",
        layers=_LINKED_LAYERS,
        exclude_archived=True,
        archived=archived,
        limit=_MOST_EDGES,
    )
    view = _views(index)
    edges = tuple(edge for edge in walked.edges if not view.search(edge.source) and not view.search(edge.target))
    return edges, {node.path: node for node in walked.nodes}


def _views(index: Index) -> re.Pattern[str]:
    """What the paths of files match that only repeat others: indexes of days, topics, generated notes."""
    day = rf"^{re.escape(index.layout.daily)}/\d{{4}}-\d{{2}}-\d{{2}}(?:\.md|/interests\.yaml)$"
    return re.compile("|".join((day, *(rf"(?:^|/){re.escape(name)}$" for name in index.settings.generated))))


def _relations(
    index: Index,
    edges: Sequence[TraversedEdge],
    nodes: Mapping[str, Reached],
    core: Hit | None,
    asked: _Asked,
) -> list[RecalledRelation]:
    """The links as relations, one for each pair and predicate: those that the query names first, then the latest.

    A link without a predicate tells nothing where there is one with a predicate between the same two.
    """
    named = {(edge.source, edge.target) for edge in edges if edge.predicate}
    dates = {path: note.date for path, note in index.rows_of([node.path for node in nodes.values()]).items()}
    found: dict[tuple[str, str, str | None], tuple[tuple[object, ...], RecalledRelation]] = {}
    for edge in edges:
        if edge.predicate is None and (edge.source, edge.target) in named:
            continue
        target = VaultPath(edge.target)
        far = nodes[edge.source] if core and target == core.path else nodes[target]
        date = dates.get(edge.source) or dates.get(target)
        relation = RecalledRelation(edge.source, target, edge.predicate, edge.line, far.name, date)
        said = bool(edge.predicate) and asked.names(edge.predicate or "")
        order = (not said, not asked.names(far.name), edge.predicate is None, _late(date), edge.source, edge.line)
        found.setdefault((edge.source, target, edge.predicate), (order, relation))
    return [relation for _, relation in sorted(found.values(), key=lambda pair: pair[0])]


def _late(date: str | None) -> tuple[int, ...]:
    """An order in which later dates come first and none last."""
    return tuple(-ord(char) for char in date) if date else (1,)


def _facts(
    hits: Sequence[Hit], dates: Mapping[VaultPath, str | None], edges: Sequence[TraversedEdge], asked: _Asked
) -> list[RecalledFact]:
    """The pieces of the hits as facts, best first, what is said twice only once."""
    lines: dict[str, list[tuple[int, bool]]] = {}
    for edge in edges:
        said = bool(edge.predicate) and asked.names(edge.predicate or "")
        lines.setdefault(edge.source, []).append((edge.line, said))
    facts: dict[str, RecalledFact] = {}
    for hit in hits:
        factor = hit.score / hit.evidence.base if hit.evidence.base else 1.0
        for chunk in hit.chunks:
            date = chunk.date or dates.get(hit.path)
            for fact in _pieces(hit, chunk, date, chunk.score * factor, lines.get(hit.path, ()), asked):
                known = facts.get(said := words(_said(fact.text)))
                if said and (known is None or fact.rank > known.rank):
                    facts[said] = fact
    ranked = sorted(facts.values(), key=lambda fact: (-fact.rank, fact.path, fact.line))
    return [fact for fact in ranked if fact.rank >= ranked[0].rank * _LEAST_RANK]


def _is_nothing_but_links(text: str, *, related: bool) -> bool:
    """Whether each line is a bare link, which is told as a relation, or says where its note comes from, or nothing."""
    links = [_BARE_LINK.fullmatch(line) for line in text.splitlines()]
    return all(link and (related or link[1] is None or link[1] in _PROVENANCE) for link in links)


def _pieces(
    hit: Hit, chunk: HitChunk, date: str | None, score: float, links: Sequence[tuple[int, bool]], asked: _Asked
) -> Iterator[RecalledFact]:
    above = asked.terms_in(" ".join(chunk.trail))
    around = above | asked.terms_in(hit.name)
    path, trail, speaker = chunk.path or hit.path, chunk.trail, chunk.speaker
    is_told = False
    for line, end_line, heading, text in _cut(hit, chunk):
        there = asked.terms_in(_CITATION.sub("", text))
        within_it = [said for at, said in links if line <= at <= end_line]
        if _is_nothing_but_links(text, related=bool(within_it)):
            continue
        evidence = FactEvidence(
            score=score,
            coverage=(asked.coverage(there) + asked.coverage(there | around)) / 2,
            relation=1.0 if any(within_it) else 0.5 if within_it and asked.intent == "relation" else 0.0,
            date=float(falls_on(asked.dates, date, text)),
            origin=_ORIGIN_WEIGHTS[hit.origin],
        )
        marks = marks_of(text)
        speaks_of_it = bool(
            there or above or asked.terms_in(heading) or evidence.relation or evidence.date or (marks and is_told)
        )
        is_told = speaks_of_it or not (asked.by_words and is_markdown(path))
        if not is_told:
            continue  # it only stands in one piece with what was found
        rank = evidence.score * (0.5 + 0.5 * evidence.coverage) * evidence.origin
        rank *= (1 + _RELATION_SHARE * evidence.relation) * (1 + _DATE_SHARE * evidence.date)
        rank *= _SUPERSEDED if "superseded" in marks else 1.0
        rank *= _QUESTION if _said(text).rstrip().endswith(("?", "？")) else 1.0
        yield RecalledFact(path, line, end_line, trail, text, rank, evidence, date, hit.origin, speaker, marks)


def _said(text: str) -> str:
    """A statement without its list or callout mark, who said it when, and its citation."""
    return _ATTRIBUTION.sub("", _CITATION.sub("", _MARK.sub("", text, count=1)))


def _cut(hit: Hit, chunk: HitChunk) -> Iterator[tuple[int, int, str, str]]:
    """A chunk's blocks with their lines in the file and the heading above them in the chunk; of a dialogue, what was
    said."""
    path = chunk.path or hit.path
    if suffix(path) == ".jsonl":
        for piece in dialogue_pieces(chunk.text.encode()):
            said = chunk.text if piece.words is None else piece.words.strip()
            yield chunk.line, chunk.end_line, "", said
        return
    note = parse(chunk.text.encode())
    if not is_markdown(path) or note.frontmatter or not note.blocks:
        if chunk.text.strip():
            yield chunk.line, chunk.end_line, "", chunk.text.strip("\n")
        return
    heading = ""
    for block in note.blocks:
        if block.kind == "heading":
            heading = note.text(block.span)
        elif block.kind not in _UNQUOTED:
            first = chunk.line + block.line - 1
            yield first, first + block.end_line - block.line, heading, note.text(block.span)


def _assembled(
    found: SearchResult,
    intent: Intent,
    routing: Routing,
    core: RecalledNode | None,
    relations: Sequence[RecalledRelation],
    facts: Sequence[RecalledFact],
    budget: int,
    plan: _Plan,
) -> Recall:
    """The block, and what of the rest is in it."""
    block = Block(intent, budget)
    if core and not block.add(_core_lines(core), share=plan.relations):
        core = None
    subject = core.path if core else None
    shown = [r for r in relations if block.add([_relation_line(r, subject)], title="relations:", share=plan.relations)]
    told = _told(block, facts)
    for relation in relations:  # what room the facts have left
        if relation not in shown and told and block.add([_relation_line(relation, subject)], title="more relations:"):
            shown.append(relation)
    return Recall(
        query=found.query,
        intent=intent,
        routing=routing,
        core=core,
        relations=tuple(shown),
        facts=tuple(told),
        block=block.text,
        tokens=block.used if block.lines else 0,
        truncated=found.truncated or block.left_out,
        legs=found.legs,
        warnings=found.warnings,
        signals_freshness=found.signals_freshness,
    )


def _told(block: Block, facts: Sequence[RecalledFact]) -> list[RecalledFact]:
    """The facts for which there is room, best first; what a note has beyond its share stands behind all others'."""
    most = (block.budget - block.used) * _NOTE_SHARE
    used: dict[VaultPath, int] = {}
    told: list[RecalledFact] = []
    beyond: list[RecalledFact] = []
    for fact in facts:
        before = block.used
        if used.get(fact.path, 0) > most:
            beyond.append(fact)
        elif block.add(_fact_lines(fact), title="facts:", cut=True):
            used[fact.path] = used.get(fact.path, 0) + block.used - before
            told.append(fact)
    return told + [fact for fact in beyond if block.add(_fact_lines(fact), title="facts:", cut=True)]


def _core_lines(node: RecalledNode) -> list[str]:
    dated = f" ({node.date})" if node.date else ""
    about = f" — {one_line(node.description)}" if node.description else ""
    return [f"about: {one_line(node.path)}{dated} {one_line(node.name)}{about}"]


def _relation_line(relation: RecalledRelation, subject: VaultPath | None) -> str:
    via = one_line(relation.predicate or "links to")
    source, target = one_line(relation.source), one_line(relation.target)
    if relation.source == subject:
        way = f"{via} → {target}"
    elif relation.target == subject:
        way = f"{source} → {via} this"
    else:
        way = f"{source} → {via} → {target}"
    named = ", ".join(part for part in (one_line(relation.name), relation.date) if part)
    return f"- {way} ({named})"


def _fact_lines(fact: RecalledFact) -> list[str]:
    place = f"{one_line(fact.path)}:{fact.line}" + (f"-{fact.end_line}" if fact.end_line != fact.line else "")
    said = [fact.date, fact.speaker and one_line(fact.speaker), fact.origin and f"origin {fact.origin}", *fact.marks]
    about = ", ".join(part for part in said if part)
    trail = "" if fact.speaker else one_line(" > ".join(fact.trail))
    head = " ".join(part for part in (f"- [{fact.rank:.2f}]", place, f"({about})" if about else "", trail) if part)
    return [head, *quoted(fact.text)]


def recall_text(result: Recall) -> str:
    """The block, for a prompt or for people; what to say where there is none."""
    return result.block or "nothing recalled: ask in other words or with fewer conditions"
