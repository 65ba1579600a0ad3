"""What a dream did, as data and in words.

Owns the report's types and texts.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Literal

from reme.actions.interests import Interest
from reme.actions.runs import some
from reme.actions.staleness import Stale
from reme.paths import VaultPath
from reme.tools import one_line
from reme.wording import counted

__all__ = ["DreamReport", "Dropped", "UnitOutcome", "UnitReport", "dream_lines", "dream_summary", "dream_text"]

UnitOutcome = Literal["created", "corroborated", "refined", "corrected", "unchanged", "skipped", "refused", "conflict"]


@dataclass(frozen=True, slots=True)
class UnitReport:
    """What became of a unit.

    Attributes:
        node: The node that it went into, or None.
        statements: How many statements landed.
        conflicts: How many of them stand beside one that they contradict.
        reason: Why it was skipped, refused or given up; empty otherwise.
    """

    name: str
    bucket: str
    outcome: UnitOutcome
    node: VaultPath | None
    statements: int
    reason: str = ""
    conflicts: int = 0


@dataclass(frozen=True, slots=True)
class Dropped:
    """A statement of a source that is done with, or what is none in it (code, a table), which no node took up."""

    source: VaultPath
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class DreamReport:
    """What a dream did.

    Attributes:
        run: The run to show or undo.
        dry_run: Whether nothing was written, only decided.
        sources: Changed daily notes that were read.
        finished: Those whose units all landed or were skipped; they are not read again until they change.
        units: What became of each unit.
        topics: What the day takes up of what the person is occupied with.
        vanished: Nodes that cite a file which is gone, with that file.
        problems: Decisions of the reasoner that could not be followed, one by one, with the reason.
        report: The report in the vault, or None where nothing was written.
        diff: What would change, where nothing was written to the digest.
        proposed: Whether that is kept as a proposal, under the id of the run.
        interests: The file that took up topics, or None.
        stale: Nodes whose source no longer says what they took from it.
        moved: Sources that are at another path now, each with that path; they are not learnt from again.
        dropped: The first of what nothing took up.
        dropped_in_all: How many there are.
        earlier: How many events of days before those looked at nothing was ever learnt from.
        elsewhere: What units said, besides, about other nodes than their own, by unit and node.
    """

    run: str
    dry_run: bool
    sources: tuple[VaultPath, ...]
    finished: tuple[VaultPath, ...]
    units: tuple[UnitReport, ...]
    topics: tuple[Interest, ...]
    vanished: tuple[tuple[VaultPath, str], ...]
    problems: tuple[str, ...]
    report: VaultPath | None
    diff: str = ""
    proposed: bool = False
    interests: VaultPath | None = None
    stale: tuple[Stale, ...] = ()
    moved: tuple[tuple[VaultPath, VaultPath], ...] = ()
    dropped: tuple[Dropped, ...] = ()
    dropped_in_all: int = 0
    earlier: int = 0
    elsewhere: tuple[UnitReport, ...] = ()


def dream_summary(report: DreamReport) -> str:
    """A report in one line."""
    if not report.sources:
        moved = f"{counted(len(report.moved), 'source')} moved, " if report.moved else ""
        return f"{moved}nothing changed since the last dream"
    counts = Counter(unit.outcome for unit in report.units)
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in counts.items()) or "nothing worth keeping"
    waiting = len(report.sources) - len(report.finished)
    later = f", {waiting} to be read again" if waiting and not (report.dry_run or report.proposed) else ""
    others = len({unit.node for unit in report.elsewhere})
    besides = f", {counted(others, 'other node')} told of" if others else ""
    units = f"{counted(len(report.sources), 'changed note')}, {counted(len(report.units), 'unit')}"
    return f"{units}: {outcomes}{besides}{later}"


def dream_lines(report: DreamReport) -> list[str]:
    """A report as list items, for its note in the vault."""
    lines = [
        f"- {unit.outcome} {f'[[{unit.node}]]' if unit.node else one_line(unit.name)}: "
        + (one_line(unit.reason) or _landed(unit))
        for unit in (*report.units, *report.elsewhere)
    ]
    lines += [f"- topic: {one_line(topic.title)} ({one_line(topic.reason)})" for topic in report.topics]
    return [*lines, *_trouble(report)]


def _landed(unit: UnitReport) -> str:
    disputed = f", {unit.conflicts} in conflict with what is known" if unit.conflicts else ""
    return counted(unit.statements, "statement") + disputed


def _trouble(report: DreamReport) -> list[str]:
    return [
        *(f"- {source} is now {target}" for source, target in report.moved),
        *some([f"- not followed: {one_line(problem)}" for problem in report.problems]),
        *([_earlier(report.earlier)] if report.earlier else []),
        *(f"- not taken up: {one_line(d.text)} ({d.source}, line {d.line})" for d in report.dropped),
        *([f"- and {more} more"] if (more := report.dropped_in_all - len(report.dropped)) else []),
        *(f"- {node} cites {one_line(source)}, which is gone" for node, source in report.vanished),
        *(
            f"- [[{entry.node}]] is stale: {entry.source} no longer says {one_line(text)!r}"
            for entry in report.stale
            if entry.state == "changed"
            for text in entry.statements
        ),
    ]


def _earlier(count: int) -> str:
    them = "it" if count == 1 else "them"
    return f"- {counted(count, 'event')} of earlier days, not learnt from yet: more scan_days would reach {them}"


def dream_text(report: DreamReport) -> str:
    """A report in words."""
    lines = [("dry run: " if report.dry_run else "") + dream_summary(report)]
    for unit in (*report.units, *report.elsewhere):
        what = unit.reason or _landed(unit)
        lines.append(f"{unit.outcome} {unit.node or unit.name} ({unit.bucket}): {what}")
    lines += [line.removeprefix("- ") for line in _trouble(report)]
    if not report.dry_run and any(unit.conflicts for unit in (*report.units, *report.elsewhere)):
        lines.append("what is in conflict, with the sources: conflicts")
    if report.diff:
        lines += ["", report.diff.rstrip("\n"), ""]
    if report.proposed:
        lines.append(f"proposed; decide with: accept {report.run} or reject {report.run}")
    return "\n".join([*lines, f"run {report.run}"] if report.report else lines)
