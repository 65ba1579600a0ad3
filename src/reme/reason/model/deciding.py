"""What a model's reply comes to: small functions from the form of an answer to the decision.

Owns what is refused of an answer and what makes it none. What a model names is numbers: where a decision takes several,
each with a text, the actions refuse those that were not offered one by one; where it is one thing, an answer that names
what was not offered is asked for again, which ``NoDecision`` says.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from reme.paths import fold as folded
from reme.paths import slug_of
from reme.reason.decisions import (
    Candidate,
    Cite,
    Claim,
    Contradict,
    Create,
    Elsewhere,
    Event,
    Evidence,
    Extraction,
    Insert,
    Integration,
    NodeEdit,
    Relation,
    Skip,
    SourceNote,
    Statement,
    Supersede,
    Topic,
    Unit,
    Update,
    shape_of,
)
from reme.reason.model.forms import (
    AbstractForm,
    CardForm,
    ClustersForm,
    EditForm,
    EventsForm,
    ExtractionForm,
    FoldForm,
    IntegrationForm,
    MentionForm,
    MergeForm,
    RelationForm,
    SplitForm,
    StatementForm,
    TopicsForm,
    TriplesForm,
    VoteForm,
)
from reme.reason.model.replies import NoDecision
from reme.reason.model.showing import Place, line_at
from reme.reason.model.texts import as_date, as_predicate, heading, statement
from reme.reason.upkeep import Card, Child, Division, Folding, Joining, Overview, Triple, Vote

__all__ = [
    "add_units",
    "card_of",
    "clusters_of",
    "division_of",
    "events_of",
    "extraction_of",
    "folding_of",
    "integration_of",
    "joining_of",
    "mention_of",
    "overview_of",
    "together",
    "topics_of",
    "triples_of",
    "vote_of",
]

_FEWEST_CLUSTERED: Final = 2


def _offered(what: str, numbers: Sequence[int], count: int) -> None:
    """Nothing, if every number was offered and none is there twice.

    Raises:
        NoDecision: Otherwise.
    """
    for number in numbers:
        if not 1 <= number <= count:
            raise NoDecision(f"{what} {number} was not offered")
    if len(set(numbers)) < len(numbers):
        raise NoDecision(f"a {what} is there twice")


def _statement(form: StatementForm) -> Statement:
    return Statement(statement(form.text), form.line, form.kind, as_date(form.about))


def events_of(form: EventsForm, lines: Collection[int], refused: list[str]) -> tuple[Event, ...]:
    """The events that an answer names; what was refused of it comes last, as an event of nothing."""
    events = [
        Event(
            continues=each.continues,
            name=heading(each.name),
            slug=slug_of(each.name),
            description=heading(each.description),
            statements=tuple(map(_statement, each.statements)),
        )
        for each in form.events
    ]
    stated = [each for event in events for each in event.statements]
    if refused and not stated:
        raise NoDecision(refused[0])
    if stated and not any(each.line in lines for each in stated):
        raise NoDecision(f"line {stated[0].line} was not offered, and nor was any other that it cites")
    if refused:
        events.append(Event(None, "", "", "", (), tuple(refused)))
    return tuple(events)


def card_of(form: CardForm, offered: Collection[int]) -> Card:
    """The card of a resource; statements about lines that were not offered are left out."""

    def stated(forms: Sequence[StatementForm]) -> tuple[Statement, ...]:
        return tuple(_statement(each) for each in forms if each.line in offered)

    card = Card(heading(form.name), heading(form.description), stated(form.facts), stated(form.actionables))
    if (form.facts or form.actionables) and not (card.facts or card.actionables):
        raise NoDecision("none of the lines that it cites was offered")
    return card


def together(card: Card, part: Card) -> Card:
    """One card of two parts of a resource, named by the first."""
    return replace(card, facts=card.facts + part.facts, actionables=card.actionables + part.actionables)


def extraction_of(
    form: ExtractionForm, sources: Sequence[SourceNote], window: Collection[Place], refused: list[str]
) -> Extraction:
    """The units and topics that an answer finds in some lines of the sources."""
    units = tuple(
        Unit(
            name=heading(each.name),
            slug=slug_of(each.name),
            bucket=each.bucket.strip(),
            summary=heading(each.summary),
            evidence=tuple(Evidence(*_pair(place)) for place in each.evidence),
            aliases=tuple(heading(alias) for alias in each.aliases if alias.strip()),
        )
        for each in form.units
    )
    offered = {Evidence(place[0], line_at(sources, place).number) for place in window}
    if refused and not units:
        raise NoDecision(refused[0])
    if units and not any(evidence in offered for unit in units for evidence in unit.evidence):
        raise NoDecision("none of the lines that it cites was offered")
    topics = tuple(
        Topic(
            title=heading(each.title),
            reason=heading(each.reason),
            keywords=tuple(heading(word) for word in each.keywords if word.strip()),
            evidence=tuple(Evidence(*_pair(place)) for place in each.evidence),
        )
        for each in form.topics
    )
    return Extraction(units, topics, tuple(form.unfinished), tuple(refused))


def add_units(units: dict[str, Unit], more: Sequence[Unit], most: int) -> set[int]:
    """Add units to those that there are, units of one name together; the sources of those that are too many."""
    left_over: set[int] = set()
    for unit in more:
        key = folded(unit.name)
        if (same := units.get(key)) is not None:
            units[key] = replace(
                same,
                evidence=tuple(dict.fromkeys((*same.evidence, *unit.evidence))),
                aliases=tuple(dict.fromkeys((*same.aliases, *unit.aliases))),
            )
        elif len(units) < most:
            units[key] = unit
        else:
            left_over |= {evidence.source for evidence in unit.evidence}
    return left_over


def integration_of(form: IntegrationForm, refused: list[str]) -> Integration:
    """Where a unit goes; edits without a text are refused one by one."""
    relations = tuple(map(_relation, form.relations))
    elsewhere = tuple(Elsewhere(other.candidate, _edits(other.edits, refused)) for other in form.elsewhere)
    match form.decision:
        case "skip":
            return Skip(heading(form.reason) or "it is not worth keeping")
        case "create":
            claims = tuple(Claim(statement(claim.text), tuple(claim.evidence)) for claim in form.claims)
            if not claims:
                raise NoDecision(refused[0] if refused else "what is new needs claims")
            return Create(claims, relations, tuple(refused), elsewhere)
        case "update":
            if form.candidate is None:
                raise NoDecision("an update names the candidate")
            edits = _edits(form.edits, refused)
            if not edits and not relations:
                raise NoDecision(refused[0] if refused else "an update needs edits")
            return Update(form.candidate, shape_of(edits), edits, relations, tuple(refused), elsewhere)


def _edits(forms: Sequence[EditForm], refused: list[str]) -> tuple[NodeEdit, ...]:
    return tuple(edit for each in forms if (edit := _edit(each, refused)) is not None)


def _edit(form: EditForm, refused: list[str]) -> NodeEdit | None:
    evidence = tuple(form.evidence)
    if form.op == "cite":
        return Cite(form.block, evidence)
    if not form.text.strip():
        refused.append(f"{form.op} at block {form.block}: it has no text")
        return None
    claim = Claim(statement(form.text), evidence)
    match form.op:
        case "insert":
            return Insert(form.block, claim)
        case "supersede":
            return Supersede(form.block, claim)
        case "contradict":
            return Contradict(form.block, claim)


def _relation(form: RelationForm) -> Relation:
    return Relation(form.candidate, as_predicate(form.predicate))


def clusters_of(form: ClustersForm, blocks: int) -> tuple[tuple[int, ...], ...]:
    """Clusters of a node's blocks; none, or two and more of two and more blocks."""
    clusters = tuple(map(tuple, form.clusters))
    _offered("block", [block for cluster in clusters for block in cluster], blocks)
    if clusters and (len(clusters) < _FEWEST_CLUSTERED or min(map(len, clusters)) < _FEWEST_CLUSTERED):
        raise NoDecision("it takes at least two clusters of at least two blocks, or none")
    return clusters


def division_of(form: SplitForm, clusters: Sequence[Sequence[int]]) -> Division:
    """A child for each cluster, and the overview."""
    _offered("cluster", [child.cluster for child in form.children], len(clusters))
    if len(form.children) < len(clusters):
        raise NoDecision(f"{len(form.children)} children for {len(clusters)} clusters")
    children = tuple(
        Child(heading(c.name), slug_of(c.name), heading(c.description), tuple(clusters[c.cluster - 1]))
        for c in sorted(form.children, key=lambda child: child.cluster)
    )
    return Division(statement(form.overview), children)


def vote_of(form: VoteForm) -> Vote:
    """Whether two nodes are one concept."""
    return Vote(form.same, form.confidence, heading(form.reason))


def joining_of(form: MergeForm, one: Candidate, other: Candidate) -> Joining:
    """The order of two nodes' blocks; blocks that an answer leaves out come last."""
    every = [(number, at) for number, node in enumerate((one, other), 1) for at in range(1, len(node.blocks) + 1)]
    order = [_pair(place) for place in form.order]
    if unknown := [place for place in order if place not in every]:
        raise NoDecision("block {}:{} was not offered".format(*unknown[0]))
    if len(set(order)) < len(order):
        raise NoDecision("a block is there twice")
    left_out = [place for place in every if place not in order]
    return Joining(heading(form.name), heading(form.description), (*order, *left_out))


def overview_of(form: AbstractForm, nodes: int) -> Overview:
    """The node above a community of so many nodes."""
    _offered("candidate", form.members, nodes)
    description, text = heading(form.description), statement(form.text)
    return Overview(heading(form.name), slug_of(form.name), description, text, tuple(form.members))


def folding_of(form: FoldForm, leaves: int) -> Folding | None:
    """The sub-topic among so many leaves, if there is one."""
    if not form.fold:
        return None
    _offered("candidate", form.members, leaves)
    if not form.members or not form.name.strip():
        raise NoDecision("a sub-topic needs a name and members")
    return Folding(heading(form.name), slug_of(form.name), heading(form.summary), tuple(form.members))


def mention_of(form: MentionForm, candidates: int) -> int | None:
    """The candidate that is meant, or None."""
    if form.candidate is not None:
        _offered("candidate", [form.candidate], candidates)
    return form.candidate


def triples_of(form: TriplesForm, candidates: int) -> tuple[Triple, ...]:
    """The relations between two candidates, each once."""
    for each in form.triples:
        _offered("candidate", [each.subject, each.object], candidates)
    found = (Triple(each.subject, as_predicate(each.predicate), each.object) for each in form.triples)
    return tuple(dict.fromkeys(found))


def topics_of(form: TopicsForm, found: Sequence[Topic], limit: int) -> tuple[Topic, ...]:
    """The topics that were chosen, no more than wanted."""
    _offered("topic", form.topics, len(found))
    return tuple(found[number - 1] for number in form.topics[:limit])


def _pair(place: str) -> tuple[int, int]:
    one, _, other = place.partition(":")
    return int(one), int(other)
