"""The reasoner that asks a chat model: every decision point, from material to decision.

Owns which decision is asked for with what, and in how many parts. What is shown is ``showing``'s business, what a reply
comes to ``deciding``'s.
"""

from collections.abc import Sequence
from dataclasses import replace

from reme.reason.decisions import (
    Bucket,
    Candidate,
    Event,
    Extraction,
    Integration,
    Message,
    OpenEvent,
    SourceLine,
    SourceNote,
    Topic,
    Unit,
)
from reme.reason.model.asking import Asking
from reme.reason.model.deciding import (
    add_units,
    card_of,
    clusters_of,
    division_of,
    events_of,
    extraction_of,
    folding_of,
    integration_of,
    joining_of,
    mention_of,
    overview_of,
    together,
    topics_of,
    triples_of,
    vote_of,
)
from reme.reason.model.forms import (
    AbstractForm,
    CardForm,
    ClustersForm,
    EventsForm,
    ExtractionForm,
    FoldForm,
    IntegrationForm,
    MentionForm,
    MergeForm,
    SplitForm,
    TopicsForm,
    TriplesForm,
    VoteForm,
)
from reme.reason.model.material import Entry, pieces, record, windows
from reme.reason.model.showing import (
    as_open,
    evidence_shown,
    hint_shown,
    line_at,
    message_shown,
    node_shown,
    nodes_within,
    open_events_shown,
    source_lines_shown,
    source_windows,
    tokens_of,
)
from reme.reason.upkeep import Card, Division, Folding, Joining, Overview, Resource, Triple, Vote

__all__ = ["ModelReasoner"]


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
        said = [message_shown(message, piece) for message in messages for piece in pieces(message.text)]
        lines = {message.line for message in messages}
        offered, found = len(open_events), list[Event]()

        def head() -> list[Entry]:
            known = [*open_events, *(as_open(event, messages[0]) for event in found)]
            return [*hint_shown(hint), *open_events_shown(known, room // 4)]

        for window in windows(said, lambda: room - tokens_of(head())):
            events = await self._asking.ask(
                "segment",
                language,
                [*head(), *window],
                EventsForm,
                lambda form, refused: events_of(form, lines, refused),
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
                "read_resource", language, [about, *window], CardForm, lambda form, refused: card_of(form, offered)
            )
            card = part if card is None else together(card, part)
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
            return [*hint_shown(hint), record(max_units=max_units), *shelves, *taught]

        for window in source_windows(sources, lambda: room - tokens_of(head())):
            fresh = {place for place in window if not line_at(sources, place).known}
            if not fresh:
                continue
            if len(units) >= max_units:
                unfinished |= {source for source, _ in fresh}
                continue
            part = await self._asking.ask(
                "extract",
                language,
                [*head(), *source_lines_shown(sources, window)],
                ExtractionForm,
                lambda form, refused, offered=frozenset(window): extraction_of(form, sources, offered, refused),
            )
            topics += part.topics
            refused += part.refused
            unfinished |= {*part.unfinished, *add_units(units, part.units, max_units)}
        return Extraction(tuple(units.values()), tuple(topics), tuple(sorted(unfinished)), tuple(refused))

    async def integrate(
        self, unit: Unit, evidence: Sequence[SourceLine], candidates: Sequence[Candidate], complaint: str = ""
    ) -> Integration:
        """Place a unit."""
        language = self._asking.language([line.text for line in evidence])
        room = self._asking.room("integrate", language, IntegrationForm)
        shown = [
            record(unit=unit.name, aliases=unit.aliases or None, bucket=unit.bucket, summary=unit.summary),
            *(evidence_shown(number, line) for number, line in enumerate(evidence, start=1)),
            *([record(complaint=complaint)] if complaint else []),
        ]
        shown += nodes_within(candidates, room - tokens_of(shown))
        return await self._asking.ask("integrate", language, shown, IntegrationForm, integration_of)

    # Upkeep of the digest

    async def overloaded(self, node: Candidate) -> tuple[tuple[int, ...], ...]:
        """Clusters of blocks that would be better apart."""
        language = self._asking.language(node.blocks)
        return await self._asking.ask(
            "overloaded",
            language,
            [node_shown(1, node)],
            ClustersForm,
            lambda form, _: clusters_of(form, len(node.blocks)),
        )

    async def split(self, node: Candidate, clusters: Sequence[Sequence[int]]) -> Division:
        """Name the children and write the overview."""
        language = self._asking.language(node.blocks)
        shown = [
            node_shown(1, node),
            *(record(cluster=n, blocks=list(each)) for n, each in enumerate(clusters, start=1)),
        ]
        return await self._asking.ask("split", language, shown, SplitForm, lambda form, _: division_of(form, clusters))

    async def same_concept(self, one: Candidate, other: Candidate) -> Vote:
        """Whether two nodes are about one thing."""
        language = self._asking.language([*one.blocks, *other.blocks])
        return await self._asking.ask(
            "same_concept",
            language,
            [node_shown(1, one), node_shown(2, other)],
            VoteForm,
            lambda form, _: vote_of(form),
        )

    async def merge(self, one: Candidate, other: Candidate) -> Joining:
        """In which order their blocks make one node; blocks that an answer leaves out come last."""
        language = self._asking.language([*one.blocks, *other.blocks])
        return await self._asking.ask(
            "merge",
            language,
            [node_shown(1, one), node_shown(2, other)],
            MergeForm,
            lambda form, _: joining_of(form, one, other),
        )

    async def abstract(self, community: Sequence[Candidate]) -> Overview:
        """Write the node that a community lacks above it."""
        language = self._asking.language([block for node in community for block in node.blocks])
        room = self._asking.room("abstract", language, AbstractForm)
        return await self._asking.ask(
            "abstract",
            language,
            nodes_within(community, room),
            AbstractForm,
            lambda form, _: overview_of(form, len(community)),
        )

    async def fold(self, leaves: Sequence[Candidate]) -> Folding | None:
        """Find leaves that make a sub-topic, if there are any."""
        language = self._asking.language([f"{leaf.name} {leaf.description}" for leaf in leaves])
        shown = [record(candidate=n, name=leaf.name, description=leaf.description) for n, leaf in enumerate(leaves, 1)]
        return await self._asking.ask("fold", language, shown, FoldForm, lambda form, _: folding_of(form, len(leaves)))

    # Links and topics

    async def resolve_mention(self, text: str, mention: str, candidates: Sequence[Candidate]) -> int | None:
        """The candidate that a mention means, or None."""
        language = self._asking.language([text])
        room = self._asking.room("resolve_mention", language, MentionForm)
        about = record(mention=mention, text=text)
        shown = [about, *nodes_within(candidates, room - about.tokens)]
        return await self._asking.ask(
            "resolve_mention", language, shown, MentionForm, lambda form, _: mention_of(form, len(candidates))
        )

    async def triples(self, text: str, candidates: Sequence[Candidate]) -> tuple[Triple, ...]:
        """The relations between candidates that a text states."""
        language = self._asking.language([text])
        room = self._asking.room("triples", language, TriplesForm)
        about = record(text=text)
        shown = [about, *nodes_within(candidates, room - about.tokens)]
        return await self._asking.ask(
            "triples", language, shown, TriplesForm, lambda form, _: triples_of(form, len(candidates))
        )

    async def topics(self, found: Sequence[Topic], recent: Sequence[Topic], limit: int) -> tuple[Topic, ...]:
        """Choose topics that recent days have not had; nothing is asked where there is nothing to choose from."""
        if not found or limit < 1:
            return ()
        language = self._asking.language([f"{topic.title} {topic.reason}" for topic in found])
        shown = [record(limit=limit)]
        shown += [record(topic=n, title=topic.title, reason=topic.reason) for n, topic in enumerate(found, start=1)]
        shown += [record(recent=topic.title, keywords=topic.keywords) for topic in recent]
        return await self._asking.ask(
            "topics", language, shown, TopicsForm, lambda form, _: topics_of(form, found, limit)
        )
