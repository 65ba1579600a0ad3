"""The reasoner that asks a chat model: every decision point, from material to decision.

Owns what of the material a model is shown for which decision, and what its answer comes to. What a model names is
numbers: where a decision takes several, each with a text, the actions refuse those that were not offered one by one;
where it is one thing, an answer that names what was not offered is asked for again.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import Final

from reme.paths import fold as folded
from reme.paths import slug_of
from reme.reason.decisions import (
    Bucket,
    Candidate,
    Cite,
    Claim,
    Contradict,
    Create,
    Event,
    Evidence,
    Extraction,
    Insert,
    Integration,
    Message,
    NodeEdit,
    OpenEvent,
    Relation,
    Shape,
    Skip,
    SourceLine,
    SourceNote,
    Statement,
    Supersede,
    Topic,
    Unit,
    Update,
)
from reme.reason.model.asking import Asking
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
from reme.reason.model.material import Entry, cut, pieces, record, windows
from reme.reason.model.replies import NoDecision
from reme.reason.model.texts import as_date, as_predicate, heading, statement
from reme.reason.upkeep import Card, Child, Division, Folding, Joining, Overview, Resource, Triple, Vote

__all__ = ["ModelReasoner"]

_OPEN_STATEMENTS: Final = 12
_LONGEST_SHOWN: Final = 1_500
_FEWEST_CLUSTERED: Final = 2


class ModelReasoner:
    """Answers every decision point by asking a model.

    Args:
        asking: How it is asked.
    """

    def __init__(self, asking: Asking) -> None:
        self._asking = asking

    # Memory

    async def segment(
        self, messages: Sequence[Message], open_events: Sequence[OpenEvent], hint: str = ""
    ) -> tuple[Event, ...]:
        """Cut a dialogue into events; a long one is read in parts, in which events of earlier parts may go on."""
        language = self._asking.language([message.text for message in messages])
        room = self._asking.room("segment", language, EventsForm)
        said = [_message(message, piece) for message in messages for piece in pieces(message.text)]
        lines = {message.line for message in messages}
        offered, found = len(open_events), list[Event]()

        def head() -> list[Entry]:
            known = [*open_events, *(_as_open(event, messages[0]) for event in found)]
            return [*_hint(hint), *_open_events(known, room // 4)]

        for window in windows(said, lambda: room - _tokens(head())):
            events = await self._asking.ask(
                "segment", language, [*head(), *window], EventsForm, lambda form, refused: _events(form, lines, refused)
            )
            for event in events:
                earlier = (event.continues or 0) - offered - 1
                if 0 <= earlier < len(found):
                    found[earlier] = replace(
                        found[earlier],
                        statements=found[earlier].statements + event.statements,
                        refused=found[earlier].refused + event.refused,
                    )
                else:
                    found.append(event)
        return tuple(found)

    async def read_resource(self, resource: Resource) -> Card:
        """Pick the key facts and the actionables; a long text is read in parts."""
        language = self._asking.language(resource.lines)
        room = self._asking.room("read_resource", language, CardForm)
        about = record(resource=resource.name, **{f"about_{key}": value for key, value in resource.metadata})
        lines = [
            record(line=number, text=piece)
            for number, line in enumerate(resource.lines, start=1)
            if line.strip()
            for piece in pieces(line)
        ]
        offered = range(1, len(resource.lines) + 1)
        card: Card | None = None
        for window in windows(lines, lambda: room - about.tokens):
            part = await self._asking.ask(
                "read_resource", language, [about, *window], CardForm, lambda form, refused: _card(form, offered)
            )
            card = part if card is None else _together(card, part)
        return card or Card(resource.name, "", ())

    # Dream

    async def extract(
        self, sources: Sequence[SourceNote], buckets: Sequence[Bucket], max_units: int, hint: str = ""
    ) -> Extraction:
        """Find units; many notes are read in parts, and what is left when there are units enough is unfinished."""
        language = self._asking.language([line.text for source in sources for line in source.lines])
        room = self._asking.room("extract", language, ExtractionForm)
        shelves = [record(bucket=bucket.name, description=bucket.description) for bucket in buckets]
        units: dict[str, Unit] = {}
        topics: list[Topic] = []
        refused: list[str] = []
        unfinished: set[int] = set()

        def head() -> list[Entry]:
            taught = [record(unit=unit.name, bucket=unit.bucket, summary=unit.summary) for unit in units.values()]
            return [*_hint(hint), record(max_units=max_units), *shelves, *taught]

        for window in _source_windows(sources, lambda: room - _tokens(head())):
            fresh = {place for place in window if not _line(sources, place).known}
            if not fresh:
                continue
            if len(units) >= max_units:
                unfinished |= {source for source, _ in fresh}
                continue
            part = await self._asking.ask(
                "extract",
                language,
                [*head(), *_source_lines(sources, window)],
                ExtractionForm,
                lambda form, refused, offered=frozenset(window): _extraction(form, sources, offered, refused),
            )
            topics += part.topics
            refused += part.refused
            unfinished |= {*part.unfinished, *_add_units(units, part.units, max_units)}
        return Extraction(tuple(units.values()), tuple(topics), tuple(sorted(unfinished)), tuple(refused))

    async def integrate(
        self, unit: Unit, evidence: Sequence[SourceLine], candidates: Sequence[Candidate], complaint: str = ""
    ) -> Integration:
        """Place a unit."""
        language = self._asking.language([line.text for line in evidence])
        room = self._asking.room("integrate", language, IntegrationForm)
        shown = [
            record(unit=unit.name, aliases=unit.aliases or None, bucket=unit.bucket, summary=unit.summary),
            *(_evidence(number, line) for number, line in enumerate(evidence, start=1)),
            *([record(complaint=complaint)] if complaint else []),
        ]
        shown += _nodes_within(candidates, room - _tokens(shown))
        return await self._asking.ask("integrate", language, shown, IntegrationForm, _integration)

    # Upkeep of the digest

    async def overloaded(self, node: Candidate) -> tuple[tuple[int, ...], ...]:
        """Clusters of blocks that would be better apart."""
        language = self._asking.language(node.blocks)

        def decide(form: ClustersForm, _refused: list[str]) -> tuple[tuple[int, ...], ...]:
            clusters = tuple(map(tuple, form.clusters))
            _offered("block", [block for cluster in clusters for block in cluster], len(node.blocks))
            if clusters and (len(clusters) < _FEWEST_CLUSTERED or min(map(len, clusters)) < _FEWEST_CLUSTERED):
                raise NoDecision("it takes at least two clusters of at least two blocks, or none")
            return clusters

        return await self._asking.ask("overloaded", language, [_node(1, node)], ClustersForm, decide)

    async def split(self, node: Candidate, clusters: Sequence[Sequence[int]]) -> Division:
        """Name the children and write the overview."""
        language = self._asking.language(node.blocks)
        shown = [_node(1, node), *(record(cluster=n, blocks=list(each)) for n, each in enumerate(clusters, start=1))]

        def decide(form: SplitForm, _refused: list[str]) -> Division:
            _offered("cluster", [child.cluster for child in form.children], len(clusters))
            if len(form.children) < len(clusters):
                raise NoDecision(f"{len(form.children)} children for {len(clusters)} clusters")
            children = tuple(
                Child(heading(c.name), slug_of(c.name), heading(c.description), tuple(clusters[c.cluster - 1]))
                for c in sorted(form.children, key=lambda child: child.cluster)
            )
            return Division(statement(form.overview), children)

        return await self._asking.ask("split", language, shown, SplitForm, decide)

    async def same_concept(self, one: Candidate, other: Candidate) -> Vote:
        """Whether two nodes are about one thing."""

        def decide(form: VoteForm, _refused: list[str]) -> Vote:
            return Vote(form.same, form.confidence, heading(form.reason))

        language = self._asking.language([*one.blocks, *other.blocks])
        return await self._asking.ask("same_concept", language, [_node(1, one), _node(2, other)], VoteForm, decide)

    async def merge(self, one: Candidate, other: Candidate) -> Joining:
        """In which order their blocks make one node; blocks that an answer leaves out come last."""
        every = [(number, block) for number, node in ((1, one), (2, other)) for block in _numbers(node.blocks)]

        def decide(form: MergeForm, _refused: list[str]) -> Joining:
            order = [_pair(place) for place in form.order]
            if unknown := [place for place in order if place not in every]:
                raise NoDecision("block {}:{} was not offered".format(*unknown[0]))
            if len(set(order)) < len(order):
                raise NoDecision("a block is there twice")
            left_out = [place for place in every if place not in order]
            return Joining(heading(form.name), heading(form.description), (*order, *left_out))

        language = self._asking.language([*one.blocks, *other.blocks])
        return await self._asking.ask("merge", language, [_node(1, one), _node(2, other)], MergeForm, decide)

    async def abstract(self, community: Sequence[Candidate]) -> Overview:
        """Write the node that a community lacks above it."""

        def decide(form: AbstractForm, _refused: list[str]) -> Overview:
            _offered("candidate", form.members, len(community))
            description, text = heading(form.description), statement(form.text)
            return Overview(heading(form.name), slug_of(form.name), description, text, tuple(form.members))

        language = self._asking.language([block for node in community for block in node.blocks])
        room = self._asking.room("abstract", language, AbstractForm)
        return await self._asking.ask("abstract", language, _nodes_within(community, room), AbstractForm, decide)

    async def fold(self, leaves: Sequence[Candidate]) -> Folding | None:
        """Find leaves that make a sub-topic, if there are any."""

        def decide(form: FoldForm, _refused: list[str]) -> Folding | None:
            if not form.fold:
                return None
            _offered("candidate", form.members, len(leaves))
            if not form.members or not form.name.strip():
                raise NoDecision("a sub-topic needs a name and members")
            return Folding(heading(form.name), slug_of(form.name), heading(form.summary), tuple(form.members))

        language = self._asking.language([f"{leaf.name} {leaf.description}" for leaf in leaves])
        shown = [record(candidate=n, name=leaf.name, description=leaf.description) for n, leaf in enumerate(leaves, 1)]
        return await self._asking.ask("fold", language, shown, FoldForm, decide)

    # Links and topics

    async def resolve_mention(self, text: str, mention: str, candidates: Sequence[Candidate]) -> int | None:
        """The candidate that a mention means, or None."""

        def decide(form: MentionForm, _refused: list[str]) -> int | None:
            if form.candidate is not None:
                _offered("candidate", [form.candidate], len(candidates))
            return form.candidate

        language = self._asking.language([text])
        room = self._asking.room("resolve_mention", language, MentionForm)
        about = record(mention=mention, text=text)
        shown = [about, *_nodes_within(candidates, room - about.tokens)]
        return await self._asking.ask("resolve_mention", language, shown, MentionForm, decide)

    async def triples(self, text: str, candidates: Sequence[Candidate]) -> tuple[Triple, ...]:
        """The relations between candidates that a text states."""

        def decide(form: TriplesForm, _refused: list[str]) -> tuple[Triple, ...]:
            for each in form.triples:
                _offered("candidate", [each.subject, each.object], len(candidates))
            found = (Triple(each.subject, as_predicate(each.predicate), each.object) for each in form.triples)
            return tuple(dict.fromkeys(found))

        language = self._asking.language([text])
        room = self._asking.room("triples", language, TriplesForm)
        about = record(text=text)
        shown = [about, *_nodes_within(candidates, room - about.tokens)]
        return await self._asking.ask("triples", language, shown, TriplesForm, decide)

    async def topics(self, found: Sequence[Topic], recent: Sequence[Topic], limit: int) -> tuple[Topic, ...]:
        """Choose topics that recent days have not had; nothing is asked where there is nothing to choose from."""
        if not found or limit < 1:
            return ()

        def decide(form: TopicsForm, _refused: list[str]) -> tuple[Topic, ...]:
            _offered("topic", form.topics, len(found))
            return tuple(found[number - 1] for number in form.topics[:limit])

        language = self._asking.language([f"{topic.title} {topic.reason}" for topic in found])
        shown = [record(limit=limit)]
        shown += [record(topic=n, title=topic.title, reason=topic.reason) for n, topic in enumerate(found, start=1)]
        shown += [record(recent=topic.title, keywords=topic.keywords) for topic in recent]
        return await self._asking.ask("topics", language, shown, TopicsForm, decide)


# Showing


def _hint(hint: str) -> list[Entry]:
    return [record(hint=hint)] if hint else []


def _message(message: Message, text: str) -> Entry:
    at = message.at.isoformat(timespec="minutes")
    return record(message=message.line, role=message.role, speaker=message.speaker, at=at, text=text)


def _open_events(events: Sequence[OpenEvent], room: int) -> list[Entry]:
    """Open events by number; statements only of as many as there is room for."""
    found: list[Entry] = []
    for number, event in enumerate(events, start=1):
        bare = {"name": event.name, "description": event.description, "day": event.day.isoformat()}
        latest = [cut(text, _LONGEST_SHOWN) for text in event.statements[-_OPEN_STATEMENTS:]]
        full = record(event=number, **bare, statements=latest or None)
        found.append(full if _tokens(found) + full.tokens <= room else record(event=number, **bare))
    return found


def _as_open(event: Event, first: Message) -> OpenEvent:
    return OpenEvent(event.name, event.description, first.at.date(), tuple(s.text for s in event.statements))


_Place = tuple[int, int]
"""A source's number, and the place of a line in it, from 0."""


def _line(sources: Sequence[SourceNote], place: _Place) -> SourceLine:
    source, at = place
    return sources[source - 1].lines[at]


def _source_windows(sources: Sequence[SourceNote], room: Callable[[], int]) -> Iterable[list[_Place]]:
    """The lines of sources in order, as many at a time as there is room for."""
    places = [(number, at) for number, source in enumerate(sources, start=1) for at in range(len(source.lines))]
    entries = [_source_lines(sources, [place])[-1] for place in places]
    at = 0
    for window in windows(entries, room):
        yield places[at : at + len(window)]
        at += len(window)


def _source_lines(sources: Sequence[SourceNote], window: Sequence[_Place]) -> list[Entry]:
    """Lines of sources as they are shown, each source's behind what is said of it as a whole."""
    shown: list[Entry] = []
    last = 0
    for place in window:
        source, line = sources[place[0] - 1], _line(sources, place)
        if place[0] != last:
            last = place[0]
            shown.append(
                record(source=last, name=source.name, description=source.description, day=source.day.isoformat())
            )
        shown.append(
            record(
                id=f"{last}:{line.number}",
                text=cut(line.text, _LONGEST_SHOWN),
                kind=line.kind,
                speaker=line.speaker or None,
                said=line.day.isoformat(),
                about=line.about or None,
                known=line.known or None,
            )
        )
    return shown


def _evidence(number: int, line: SourceLine) -> Entry:
    return record(
        evidence=number,
        text=line.text,
        speaker=line.speaker or None,
        said=line.day.isoformat(),
        about=line.about or None,
        known=line.known or None,
    )


def _node(number: int, node: Candidate, *, whole: bool = True) -> Entry:
    texts = [text if whole else cut(text, _LONGEST_SHOWN) for text in node.blocks]
    blocks = {str(n): text for n, text in enumerate(texts, start=1)}
    return _bare(number, node) if not blocks else _described(number, node, blocks)


def _bare(number: int, node: Candidate) -> Entry:
    return _described(number, node, None)


def _described(number: int, node: Candidate, blocks: dict[str, str] | None) -> Entry:
    return record(
        candidate=number,
        name=node.name,
        description=node.description,
        aliases=node.aliases or None,
        bucket=node.bucket,
        neighbour=node.neighbour or None,
        blocks=blocks,
    )


def _nodes_within(nodes: Sequence[Candidate], room: int) -> list[Entry]:
    """Nodes by number; the blocks only of those, likeliest first, that there is room for."""
    found: list[Entry] = []
    for number, node in enumerate(nodes, start=1):
        full = _node(number, node, whole=False)
        found.append(full if _tokens(found) + full.tokens <= room else _bare(number, node))
    return found


def _tokens(entries: Iterable[Entry]) -> int:
    return sum(entry.tokens for entry in entries)


def _numbers(items: Sequence[object]) -> range:
    return range(1, len(items) + 1)


# Deciding


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


def _events(form: EventsForm, lines: Collection[int], refused: list[str]) -> tuple[Event, ...]:
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


def _card(form: CardForm, offered: Collection[int]) -> Card:
    def stated(forms: Sequence[StatementForm]) -> tuple[Statement, ...]:
        return tuple(_statement(each) for each in forms if each.line in offered)

    card = Card(heading(form.name), heading(form.description), stated(form.facts), stated(form.actionables))
    if (form.facts or form.actionables) and not (card.facts or card.actionables):
        raise NoDecision("none of the lines that it cites was offered")
    return card


def _together(card: Card, part: Card) -> Card:
    return replace(card, facts=card.facts + part.facts, actionables=card.actionables + part.actionables)


def _extraction(
    form: ExtractionForm, sources: Sequence[SourceNote], window: Collection[_Place], refused: list[str]
) -> Extraction:
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
    offered = {Evidence(place[0], _line(sources, place).number) for place in window}
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


def _add_units(units: dict[str, Unit], more: Sequence[Unit], most: int) -> set[int]:
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


def _integration(form: IntegrationForm, refused: list[str]) -> Integration:
    relations = tuple(map(_relation, form.relations))
    match form.decision:
        case "skip":
            return Skip(heading(form.reason) or "it is not worth keeping")
        case "create":
            claims = tuple(Claim(statement(claim.text), tuple(claim.evidence)) for claim in form.claims)
            if not claims:
                raise NoDecision(refused[0] if refused else "what is new needs claims")
            return Create(claims, relations, tuple(refused))
        case "update":
            if form.candidate is None:
                raise NoDecision("an update names the candidate")
            edits = tuple(edit for each in form.edits if (edit := _edit(each, refused)) is not None)
            if not edits and not relations:
                raise NoDecision(refused[0] if refused else "an update needs edits")
            return Update(form.candidate, _shape(edits), edits, relations, tuple(refused))


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


def _shape(edits: Sequence[NodeEdit]) -> Shape:
    if any(isinstance(edit, Supersede) for edit in edits):
        return "correct"
    return "corroborate" if all(isinstance(edit, Cite) for edit in edits) else "refine"


def _relation(form: RelationForm) -> Relation:
    return Relation(form.candidate, as_predicate(form.predicate))


def _pair(place: str) -> tuple[int, int]:
    one, _, other = place.partition(":")
    return int(one), int(other)
