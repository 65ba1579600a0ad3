"""Change sets: what a caller asks of the vault, and what became of it. Plain data.

Owns the types. Frozen: the journal's format (docs/format.md) is written in terms of them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from reme.markdown import Note
from reme.paths import VaultPath
from reme.revision import Revision
from reme.vault.content import Content
from reme.vault.roles import Role

__all__ = [
    "Amend",
    "Append",
    "ChangeSet",
    "Committed",
    "Conflicted",
    "Edit",
    "Law",
    "Move",
    "Outcome",
    "Put",
    "Remove",
    "Split",
    "Unchanged",
]

Law = Literal["keep-links", "keep-words", "cite-source"]
"""``keep-links`` is E-1, ``keep-words`` E-4, ``cite-source`` P-1. E-3 holds for every retarget."""


@dataclass(frozen=True, slots=True)
class Put:
    """Make a file have exactly these bytes.

    Attributes:
        data: The bytes, or, where they are many, what they are read from while the set is carried out.
        expects: The revision it must have now; ``ABSENT`` makes the creation exclusive.
        laws: The conservation laws that this edit declares to keep; commit holds it to them.
        retarget: True for the mechanical rewriting of link targets after a move: allowed in every layer but the
            content of resources and sessions, and refused if anything else differs.
        base: The bytes that ``data`` was made from, whose revision is ``expects``. With them, what somebody else
            changed meanwhile is merged three ways where it does not touch; without them, or where it does, the
            outcome is ``Conflicted``.
        note: The note that ``data`` was made from, where it has been parsed, so that the laws need not do so again;
            of one that is retargeted, its bytes and the links that get other targets are enough.
    """

    path: VaultPath
    data: Content
    expects: Revision
    laws: frozenset[Law] = frozenset()
    retarget: bool = False
    base: bytes | None = None
    note: Note | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Amend:
    """Rewrite a file by a pure function of its present bytes (None if absent), evaluated under the lock.

    For regions that many writers share, such as a day's index. Returning the same bytes changes nothing.
    """

    path: VaultPath
    function: Callable[[bytes | None], bytes]
    laws: frozenset[Law] = frozenset()


@dataclass(frozen=True, slots=True)
class Append:
    """Add bytes to the end of a file, creating it if absent; undone by cutting them out again.

    Attributes:
        offset: The size in bytes that the file must have now, or None for wherever its end is.
    """

    path: VaultPath
    data: bytes
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class Move:
    """Give a file another path, which must be free, keeping the file itself.

    Attributes:
        data: The bytes that it shall have there (its own relative links retargeted), or None to leave them.
    """

    source: VaultPath
    target: VaultPath
    expects: Revision
    data: Content | None = None


@dataclass(frozen=True, slots=True)
class Remove:
    """Delete a file that has this revision."""

    path: VaultPath
    expects: Revision


Edit = Put | Amend | Append | Move | Remove


@dataclass(frozen=True, slots=True)
class Split:
    """E-2: the parts must jointly keep every outgoing edge that the source had before."""

    source: VaultPath
    parts: tuple[VaultPath, ...]


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """Edits that happen together or not at all.

    Attributes:
        edits: At most one per path.
        role: With whose rights; checked against the layer of each path that the caller names.
        actor: Who or what asked, for people to read (``cli``, ``mcp:claude-code``, ``auto_dream``).
        reason: One line, why.
        run: The run that this set belongs to: the unit of showing and undoing.
        undoes: The run that this set undoes, or None.
        splits: Declared splits, held to E-2.
    """

    edits: tuple[Edit, ...]
    role: Role
    actor: str
    reason: str
    run: str
    undoes: str | None = None
    splits: tuple[Split, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Committed:
    """The set is on disk, durably.

    Attributes:
        id: Journal id of the change set.
        revisions: What each touched path has become (``ABSENT`` for one that is gone).
        conflict_copies: Files that hold bytes somebody else wrote in the very moment of the commit.
    """

    id: str
    revisions: dict[VaultPath, Revision]
    conflict_copies: tuple[VaultPath, ...] = ()


@dataclass(frozen=True, slots=True)
class Unchanged:
    """Every edit asked for what was there already; nothing was written."""

    revisions: dict[VaultPath, Revision]


@dataclass(frozen=True, slots=True)
class Conflicted:
    """Some paths are not at the expected revision; nothing was written. Gather again and retry."""

    actual: dict[VaultPath, Revision]


Outcome = Committed | Unchanged | Conflicted
