"""Decisions about resources and about the upkeep of the digest: plain data, numbered from 1 like the rest.

Owns the types. A node is shown as a `Candidate`: name, description, aliases, bucket and numbered blocks.
"""

from dataclasses import dataclass

from reme.reason.decisions import Statement

__all__ = ["Card", "Child", "Division", "Folding", "Joining", "Overview", "Resource", "Triple", "Vote"]


@dataclass(frozen=True, slots=True)
class Resource:
    """Raw material: its file name, what its metadata says (``author``, ``published`` …) and its text by lines."""

    name: str
    metadata: tuple[tuple[str, str], ...]
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Card:
    """What a resource says: key facts, and what it asks somebody to do, each with its line."""

    name: str
    description: str
    facts: tuple[Statement, ...]
    actionables: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True)
class Child:
    """A node that takes over some blocks of a split one."""

    name: str
    slug: str
    description: str
    blocks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Division:
    """How a node splits: the overview that stays, and the children."""

    overview: str
    children: tuple[Child, ...]


@dataclass(frozen=True, slots=True)
class Vote:
    """Whether two nodes are one concept, with a confidence from 0 to 1 and the reason."""

    same: bool
    confidence: float
    reason: str


@dataclass(frozen=True, slots=True)
class Joining:
    """How two nodes become one: its name, and the order of the blocks as pairs (node 1 or 2, block)."""

    name: str
    description: str
    order: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Overview:
    """A node above a community; ``members`` are the numbers of the nodes that it links."""

    name: str
    slug: str
    description: str
    text: str
    members: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Folding:
    """Leaves that go into a sub-topic folder of their own, by number."""

    name: str
    slug: str
    summary: str
    members: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Triple:
    """A relation found in prose: subject and object as numbers of candidates, the predicate as an identifier."""

    subject: int
    predicate: str
    object: int
