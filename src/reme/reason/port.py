"""The port of the decision points: what ReMe asks wherever something has to be understood.

Each action asks for the narrow protocol that it needs; `Reasoner` is their union. A reasoner never writes and never
sees a path: it is given numbered material and returns a typed decision, which the action checks and commits. One
that does not answer raises `reme.errors.Unavailable`; one whose answers are of no use raises `Unusable`.
"""

from collections.abc import Sequence
from typing import Protocol

from reme.errors import Unavailable
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
from reme.reason.upkeep import Card, Division, Folding, Joining, Overview, Resource, Triple, Vote

__all__ = [
    "ConsolidationReasoner",
    "DreamReasoner",
    "LinkReasoner",
    "MemoryReasoner",
    "Reasoner",
    "ResourceReasoner",
    "TopicReasoner",
    "Unusable",
]


class Unusable(Unavailable):
    """A reasoner answered, and nothing that it said was a decision: what it was asked about stays as it is.

    Nobody else is to be asked instead, since what was wrong with the answers would never be seen.
    """


class MemoryReasoner(Protocol):
    """Decides what a dialogue was about."""

    async def segment(
        self, messages: Sequence[Message], open_events: Sequence[OpenEvent], hint: str = ""
    ) -> tuple[Event, ...]:
        """Cut a dialogue into events where the intent changes, whatever the time between.

        Args:
            messages: In the order of the dialogue, all of one day.
            open_events: Events that may go on, the likeliest first.
            hint: What the caller says that matters, or empty.
        """
        ...


class ResourceReasoner(Protocol):
    """Decides what raw material says."""

    async def read_resource(self, resource: Resource) -> Card:
        """Pick the key facts and the actionables."""
        ...


class DreamReasoner(Protocol):
    """Decides what days teach and where it belongs."""

    async def extract(
        self, sources: Sequence[SourceNote], buckets: Sequence[Bucket], max_units: int, hint: str = ""
    ) -> Extraction:
        """Find what is worth knowing beyond the day: facts that teach the same thing are one unit.

        Args:
            sources: Changed daily notes, oldest first; lines marked ``known`` are context.
            buckets: What a unit may be filed under.
            max_units: How many units at most.
            hint: What the caller says that matters, or empty.
        """
        ...

    async def integrate(
        self, unit: Unit, evidence: Sequence[SourceLine], candidates: Sequence[Candidate], complaint: str = ""
    ) -> Integration:
        """Decide whether a unit is new, adds to a node or is not worth keeping; unsure means new.

        Args:
            unit: What was learnt.
            evidence: The lines behind ``unit.evidence``, in its order: what claims refer to.
            candidates: Nodes it may belong to, the likeliest first.
            complaint: Why the last answer could not be written, if this is asked again; empty at first.
        """
        ...


class ConsolidationReasoner(Protocol):
    """Decides how the digest stays in shape."""

    async def overloaded(self, node: Candidate) -> tuple[tuple[int, ...], ...]:
        """Clusters of the numbers of its blocks that would be better apart; empty to leave it whole."""
        ...

    async def split(self, node: Candidate, clusters: Sequence[Sequence[int]]) -> Division:
        """Name the children and write the overview."""
        ...

    async def same_concept(self, one: Candidate, other: Candidate) -> Vote:
        """Whether two nodes are about one thing."""
        ...

    async def merge(self, one: Candidate, other: Candidate) -> Joining:
        """In which order their blocks make one node."""
        ...

    async def abstract(self, community: Sequence[Candidate]) -> Overview:
        """Write the node that a community lacks above it."""
        ...

    async def fold(self, leaves: Sequence[Candidate]) -> Folding | None:
        """Find leaves that make a sub-topic, if there are any."""
        ...


class LinkReasoner(Protocol):
    """Decides what words refer to."""

    async def resolve_mention(self, text: str, mention: str, candidates: Sequence[Candidate]) -> int | None:
        """The number of the candidate that a mention in a text means, or None if it is not certain."""
        ...

    async def triples(self, text: str, candidates: Sequence[Candidate]) -> tuple[Triple, ...]:
        """The relations between candidates that a text states."""
        ...


class TopicReasoner(Protocol):
    """Decides what is worth raising again."""

    async def topics(self, found: Sequence[Topic], recent: Sequence[Topic], limit: int) -> tuple[Topic, ...]:
        """Choose at most ``limit`` topics that recent days have not had."""
        ...


class Reasoner(
    MemoryReasoner, ResourceReasoner, DreamReasoner, ConsolidationReasoner, LinkReasoner, TopicReasoner, Protocol
):
    """Every decision point."""
