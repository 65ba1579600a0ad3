"""What reasoners are given and what they decide: plain data, numbered from 1, free of Markdown and of paths.

Owns the types. Whatever a reasoner names, it names by the number under which it was shown; the actions check every
number and turn texts and numbers into notes, links and change sets.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

__all__ = [
    "Bucket",
    "Candidate",
    "Cite",
    "Claim",
    "Contradict",
    "Create",
    "Dispute",
    "Elsewhere",
    "Event",
    "Evidence",
    "Extraction",
    "Insert",
    "Integration",
    "Message",
    "NodeEdit",
    "OpenEvent",
    "Relation",
    "Shape",
    "Skip",
    "SourceLine",
    "SourceNote",
    "Statement",
    "StatementKind",
    "Supersede",
    "Topic",
    "Unit",
    "Update",
    "shape_of",
]

StatementKind = Literal["fact", "decision", "state", "procedure", "preference"]

Shape = Literal["corroborate", "refine", "correct"]


@dataclass(frozen=True, slots=True)
class Message:
    """One thing said in a dialogue.

    Attributes:
        line: Its 1-based line in the dialogue's file.
        role: Who spoke to whom.
        speaker: The name shown for the speaker; the role where none is known.
        text: What was said, redacted and free of tool noise.
        at: When, in the vault's timezone.
    """

    line: int
    role: Literal["user", "assistant"]
    speaker: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class OpenEvent:
    """An event that a new message may continue, numbered by its place in the list given."""

    name: str
    description: str
    day: date
    statements: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing worth remembering from a dialogue.

    Attributes:
        text: The statement, one line.
        line: The line of the message that it comes from.
        kind: What sort of thing it is.
        about: The absolute date that its relative words mean: ``2026-05-14``, ``2026-05`` or ``2026``; empty where
            there are none.
        step: Its place among the steps of a procedure, from 1; 0 where it is none.
    """

    text: str
    line: int
    kind: StatementKind
    about: str = ""
    step: int = 0


@dataclass(frozen=True, slots=True)
class Event:
    """A stretch of dialogue with one intent, as one note shall hold it.

    Attributes:
        continues: Number of the open event that it goes on with, or None for a new one.
        name: A title for people.
        slug: A file name without extension, in the language of the material.
        description: One line.
        refused: Parts of the answer that are no decision, with the reason.
        left: How many further statements of the stretch were left out as weighing less.
    """

    continues: int | None
    name: str
    slug: str
    description: str
    statements: tuple[Statement, ...]
    refused: tuple[str, ...] = ()
    left: int = 0


@dataclass(frozen=True, slots=True)
class Bucket:
    """A folder of the digest, as configured: its name and what belongs there."""

    name: str
    description: str


@dataclass(frozen=True, slots=True)
class SourceLine:
    """One line of a daily note: what it states, without list mark and citation.

    Attributes:
        number: Its 1-based line in the file.
        text: The statement.
        kind: From the section that it stands in, or None in notes that people wrote.
        speaker: Who said it, or empty.
        day: When it was said.
        about: As in ``Statement``.
        known: Whether an earlier run has already brought it into the digest.
        listed: Whether it is an item of a list, or stands in one.
        step: The number of the item, where the list is an ordered one; else 0.
        heading: What stands above it, in notes that people wrote.
    """

    number: int
    text: str
    kind: StatementKind | None
    speaker: str
    day: date
    about: str = ""
    known: bool = False
    listed: bool = False
    step: int = 0
    heading: str = ""


@dataclass(frozen=True, slots=True)
class SourceNote:
    """A changed daily note, numbered by its place in the list given."""

    name: str
    description: str
    day: date
    lines: tuple[SourceLine, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A line of a source: the source's number and the line's."""

    source: int
    line: int


@dataclass(frozen=True, slots=True)
class Unit:
    """Something learnt, the size of one digest node.

    Attributes:
        name: A title for people.
        slug: A file name without extension.
        bucket: Name of one of the buckets offered; empty when none fits.
        summary: One line.
        evidence: The lines that teach it.
        aliases: Other names of the same thing.
    """

    name: str
    slug: str
    bucket: str
    summary: str
    evidence: tuple[Evidence, ...]
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Topic:
    """Something the person is occupied with, worth coming back to."""

    title: str
    reason: str
    keywords: tuple[str, ...]
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Extraction:
    """What changed daily notes teach.

    Attributes:
        unfinished: Numbers of the sources with more to teach than the units asked for could hold; they are read
            again by the next run.
        refused: Parts of the answer that are no decision, with the reason.
    """

    units: tuple[Unit, ...]
    topics: tuple[Topic, ...]
    unfinished: tuple[int, ...] = ()
    refused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node that a unit may belong to, numbered by its place in the list given.

    Attributes:
        blocks: The texts of its blocks without marks and citations, numbered from 1.
        speakers: Who says each block, empty for nobody named; none at all where that is not told.
        days: When each was said, as ``2026-05-14`` or empty; none at all where that is not told.
        neighbour: True if it was not found by search but is linked with a node that was.
    """

    name: str
    description: str
    aliases: tuple[str, ...]
    bucket: str
    blocks: tuple[str, ...]
    neighbour: bool = False
    speakers: tuple[str, ...] = ()
    days: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement for a node, and the numbers of the unit's evidence lines that it rests on."""

    text: str
    evidence: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Insert:
    """Put a claim behind block ``after``; 0 is before the first."""

    after: int
    claim: Claim


@dataclass(frozen=True, slots=True)
class Cite:
    """Block ``block`` says the same: add the evidence to it, change no word."""

    block: int
    evidence: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Supersede:
    """The claim is certain and newer than block ``block``: it stands, the old one stays visible under it."""

    block: int
    claim: Claim


@dataclass(frozen=True, slots=True)
class Contradict:
    """The claim contradicts block ``block`` and it is not certain which holds: both stay, side by side."""

    block: int
    claim: Claim


NodeEdit = Insert | Cite | Supersede | Contradict


def shape_of(edits: Sequence[NodeEdit]) -> Shape:
    """What edits of a node come to."""
    if any(isinstance(edit, Supersede) for edit in edits):
        return "correct"
    return "corroborate" if all(isinstance(edit, Cite) for edit in edits) else "refine"


@dataclass(frozen=True, slots=True)
class Relation:
    """A link to another candidate; the predicate is an identifier, or empty for a plain link."""

    candidate: int
    predicate: str = "related"


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """What a unit says, besides, about another candidate than its own: above all, what has changed of it."""

    candidate: int
    edits: tuple[NodeEdit, ...]


@dataclass(frozen=True, slots=True)
class Dispute:
    """The claim contradicts another one of the same answer: both stay, side by side."""

    stated: Claim
    claim: Claim


@dataclass(frozen=True, slots=True)
class Create:
    """A node of its own.

    Attributes:
        refused: Parts of the answer that are no decision, with the reason.
        name: A title instead of the unit's, where what that says has gone elsewhere; else empty.
        summary: One line instead of the unit's, likewise.
    """

    claims: tuple[Claim, ...]
    relations: tuple[Relation, ...] = ()
    refused: tuple[str, ...] = ()
    elsewhere: tuple[Elsewhere, ...] = ()
    disputes: tuple[Dispute, ...] = ()
    name: str = ""
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Update:
    """What the unit adds to candidate ``candidate``; nothing that stands there is dropped.

    Attributes:
        refused: Parts of the answer that are no decision, with the reason.
    """

    candidate: int
    shape: Shape
    edits: tuple[NodeEdit, ...]
    relations: tuple[Relation, ...] = ()
    refused: tuple[str, ...] = ()
    elsewhere: tuple[Elsewhere, ...] = ()
    disputes: tuple[Dispute, ...] = ()


@dataclass(frozen=True, slots=True)
class Skip:
    """Nothing worth keeping, and why."""

    reason: str


Integration = Create | Update | Skip
