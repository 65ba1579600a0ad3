"""Conflicts: statements in notes that contradict another one, and that nobody has decided between.

Owns the list. Which files may have one, the index tells; a statement that is quoted as superseded is in no conflict.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Final

from annotated_types import Ge, Le

from reme.actions.nodes import CONFLICT, Node, read_node
from reme.markdown import Block
from reme.paths import VaultPath, stem
from reme.search import filter_of
from reme.tools import Workspace, look
from reme.vault import Layer
from reme.wording import counted

__all__ = ["ConflictReport", "Disputed", "Said", "conflicts", "conflicts_text", "has_conflicts"]

_MARKED: Final = re.compile(r">\s*\[!(?P<kind>conflict|superseded)\]", re.IGNORECASE)
_UNTIL: Final = re.compile(r" \(until \d{4}-\d\d-\d\d\) — (?P<links>\[\[.+\]\])\s*$")
_UNASKED: Final = frozenset[Layer]({"resource", "session", "audit", "archive"})


@dataclass(frozen=True, slots=True)
class Said:
    """A statement: the 1-based line that it stands on, who said it and when, and where that is told.

    Attributes:
        speaker: Empty where the note does not say.
        date: ISO, or empty, likewise.
        sources: What it cites.
    """

    line: int
    text: str
    speaker: str
    date: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Disputed:
    """A statement of a note, and what the note has against it.

    Attributes:
        statement: None where nothing stands above what contradicts.
    """

    node: VaultPath
    name: str
    statement: Said | None
    against: tuple[Said, ...]


@dataclass(frozen=True, slots=True)
class ConflictReport:
    """What is in conflict, by note and line: the first of ``total``."""

    conflicts: tuple[Disputed, ...]
    total: int
    truncated: bool


def conflicts(
    workspace: Workspace,
    paths: Annotated[list[str] | None, "Only these folders, files or globs"] = None,
    limit: Annotated[int, "How many, at most", Ge(1), Le(10_000)] = 200,
) -> ConflictReport:
    """List the statements that contradict each other, with who said them, when, and their sources.

    Raises:
        NotFound: If nothing is at a path.
        Refused: For a path outside the vault.
    """
    look(workspace)
    found = [each for path in _candidates(workspace, paths or []) for each in _disputed(workspace, path)]
    return ConflictReport(tuple(found[:limit]), len(found), len(found) > limit)


def has_conflicts(report: ConflictReport) -> bool:
    """Whether anything is left to decide."""
    return report.total > 0


def conflicts_text(report: ConflictReport) -> str:
    """A conflict at a time, then how many, and how one is settled."""
    lines: list[str] = []
    for each in report.conflicts:
        told = (each.statement, *each.against) if each.statement else each.against
        lines.append(f"{each.node}:{told[0].line} {each.name}")
        lines += [f"  {'-' if said is each.statement else '!'} {_told(said)}" for said in told]
    if report.truncated:
        lines.append(f"{report.total - len(report.conflicts)} more: raise the limit")
    lines.append(f"{counted(report.total, 'statement')} in conflict")
    if report.total:
        lines.append(_WAY_OUT)
    return "\n".join(lines)


_WAY_OUT: Final = (
    "To settle one, edit its note: before what no longer holds put > [!superseded], or take it out; "
    "before what holds put a -, as before any statement."
)


def _told(said: Said) -> str:
    whose = ", ".join(filter(None, (said.speaker, said.date)))
    return "".join((said.text, f" ({whose})" if whose else "", " — " if said.sources else "", ", ".join(said.sources)))


def _candidates(workspace: Workspace, paths: list[str]) -> list[VaultPath]:
    """The notes that have the word by which conflicts are marked."""
    index = workspace.index
    named = filter_of(index, workspace.clock, paths=paths, without_layers=frozenset() if paths else _UNASKED)
    with index.snapshot():
        terms = index.terms(CONFLICT.decode())
        most = sum(index.statistics(terms).frequencies.values())
        keys = index.matches(dict.fromkeys(terms, 1.0), workspace.search.bm25, named, most) if most else []
        return sorted(standing.path for standing, _ in index.around(keys, 0).files if standing.format == "note")


def _disputed(workspace: Workspace, path: VaultPath) -> Iterator[Disputed]:
    data = workspace.vault.bytes_of(path)
    if data is None or CONFLICT.strip().lower() not in data.lower():
        return
    node = read_node(path, data)
    name = str(node.note.properties.get("name") or stem(path))
    statement: int | None = None
    against: list[int] = []
    for at, block in enumerate(node.shown):
        if _mark(node, block) == "conflict":
            if not _is_settled(node, statement, block):
                against.append(at)
            continue
        if against:
            yield _of(node, name, statement, against)
        statement, against = at, []
    if against:
        yield _of(node, name, statement, against)


def _of(node: Node, name: str, statement: int | None, against: list[int]) -> Disputed:
    return Disputed(
        node.path,
        name,
        None if statement is None else _said(node, statement),
        tuple(_said(node, at) for at in against),
    )


def _said(node: Node, at: int) -> Said:
    block = node.shown[at]
    stated = block.span.start + len(node.note.text(block.span).rpartition(" — [[")[0].encode())
    links = (link for link in node.note.links if stated <= link.span.start < block.span.end)
    return Said(block.line, node.texts[at], node.speakers[at], node.days[at], tuple(link.target for link in links))


def _mark(node: Node, block: Block) -> str:
    marked = _MARKED.match(node.note.text(block.span)) if block.kind == "quote" else None
    return marked["kind"].lower() if marked else ""


def _is_settled(node: Node, statement: int | None, conflict: Block) -> bool:
    """Whether what a block contradicts is quoted as superseded above it, and not by the statement above them both."""
    above = None if statement is None else node.shown[statement]
    holds = "" if above is None else node.note.text(above.span)
    first = 0 if above is None else above.span.end
    between = (block for block in node.note.blocks if first <= block.span.start < conflict.span.start)
    for block in between:
        if _mark(node, block) == "superseded":
            until = _UNTIL.search(node.note.text(block.span))
            if until is None or not any(link in holds for link in until["links"].split(", ")):
                return True
    return False
