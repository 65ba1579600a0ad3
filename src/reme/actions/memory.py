"""auto_memory: from a conversation to a kept dialogue and event notes of the days on which it was held.

Owns the steps: keep what was said, learn from what lies behind the session's watermark, commit notes, day indexes and
watermark together. A crash in between repeats the learning, never skips it; a delivery that comes again adds nothing.
However long a conversation is, only so much of it is held at a time.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Final

from reme.actions.dialogue import Kept, Place, append_messages, dialogue_path, read_kept
from reme.actions.learning import EventNote, Learnt, learn
from reme.actions.ledger import read_watermark
from reme.actions.messages import Delivery, MessageProblem, Redaction, read_blocks
from reme.actions.origin import Origin
from reme.actions.rehearsal import rehearsed
from reme.actions.runs import ATTEMPTS, commit_as_system, report_path, some, write_report
from reme.actions.settings import MemorySettings
from reme.errors import Conflict, InvalidInput
from reme.paths import VaultPath
from reme.reason import MemoryReasoner
from reme.revision import revision_of
from reme.tools import Workspace, one_line
from reme.vault import Conflicted, Edit, Outcome, locked
from reme.wording import counted

__all__ = ["MemoryReport", "auto_memory", "memory_text"]

_ACTION: Final = "auto_memory"
_NO_EVENTS: Final = "nothing in it was worth a note"
_KEPT_AT_ONCE: Final = 1000
_DID: Final = {"created": "created", "extended": "extended"}
_WOULD: Final = {"created": "would create", "extended": "would extend"}


@dataclass(frozen=True, slots=True)
class MemoryReport:
    """What became of a delivery.

    Attributes:
        run: The run to show or undo.
        dialogue: Where what was said is kept.
        received: Messages with speech in the delivery.
        appended: Those that the dialogue did not have yet.
        dropped: Messages without speech: tool traffic, injected text, system prompts.
        learnt: Messages that were learnt from, those of an interrupted earlier run among them.
        notes: Event notes made or added to.
        problems: Messages that were not taken, with the reason.
        redactions: Secrets taken out, by message and kind.
        refused: Decisions of the reasoner that could not be followed, with the reason.
        unstated: Code and tables in what was learnt from, each with its line in the dialogue: they stay there and are
            in no note.
        left: How many further statements are in no note, since they weighed less than those that are.
        unnoted: How many of the messages learnt from are in no note with any statement.
        report: The report in the vault, or None where nothing was written.
        dry_run: Whether this only says what would come of it.
        ahead: Messages that say they were written in the future; they are kept under the day that they say.
    """

    run: str
    session_id: str
    dialogue: VaultPath
    received: int
    appended: int
    dropped: int
    learnt: int
    notes: tuple[EventNote, ...]
    problems: tuple[MessageProblem, ...]
    redactions: tuple[Redaction, ...]
    refused: tuple[str, ...]
    report: VaultPath | None
    dry_run: bool = False
    unstated: tuple[tuple[int, str], ...] = ()
    ahead: tuple[int, ...] = ()
    left: int = 0
    unnoted: int = 0


async def auto_memory(
    workspace: Workspace,
    reasoner: MemoryReasoner,
    messages: Sequence[object] | str,
    session_id: str,
    *,
    hint: str = "",
    day: date | None = None,
    origin: Origin = "person",
    dry_run: bool = False,
    settings: MemorySettings | None = None,
) -> MemoryReport:
    """Keep a conversation and learn from it.

    Args:
        messages: As OpenAI, Anthropic or Claude Code deliver them, or as JSONL text.
        session_id: Names the dialogue; a safe file name.
        hint: What the caller says that matters.
        day: The local date of messages without a time of their own; today by default.
        origin: Where the conversation comes from, if that is to be trusted less than its speakers.
        dry_run: Whether to write nothing, and only tell what would come of it; a model is asked all the same.

    Raises:
        InvalidInput: If the session id is no file name, or no message could be taken, with the reason for each.
        Conflict: If the session's notes kept changing.
        Unavailable: If the vault cannot be written or the reasoner does not answer; what was said is kept all the same.
    """
    settings = settings or MemorySettings()
    if dry_run:
        layout = workspace.vault.layout
        places = [dialogue_path(workspace.vault, session_id), layout.ledger, VaultPath(layout.daily)]
        with rehearsed(workspace, places) as copy:
            report = await auto_memory(
                copy, reasoner, messages, session_id, hint=hint, day=day, origin=origin, settings=settings
            )
        return replace(report, run="", report=None, dry_run=True)
    report = MemoryReport(
        run=workspace.caller.run,
        session_id=session_id,
        dialogue=dialogue_path(workspace.vault, session_id),
        received=0,
        appended=0,
        dropped=0,
        learnt=0,
        notes=(),
        problems=(),
        redactions=(),
        refused=(),
        report=None,
    )
    report = await asyncio.to_thread(_keep, workspace, report, messages, day)
    place, more = Place(), True
    while more:
        report, place, more = await _learn_on(workspace, reasoner, report, origin, hint, settings, place)
    return report


def _keep(
    workspace: Workspace, report: MemoryReport, messages: Sequence[object] | str, day: date | None
) -> MemoryReport:
    """Append what the dialogue does not have yet."""
    kept: Kept | None = None
    for block in read_blocks(messages, workspace.clock, day, size=_KEPT_AT_ONCE):
        appended = 0
        if block.messages:
            kept, appended = _append(workspace, kept or read_kept(workspace.vault, report.dialogue), block)
        report = replace(
            report,
            received=report.received + len(block.messages),
            appended=report.appended + appended,
            dropped=report.dropped + block.dropped,
            problems=(*report.problems, *block.problems),
            redactions=(*report.redactions, *block.redactions),
            ahead=(*report.ahead, *block.ahead),
        )
    if not report.received and not report.dropped:
        raise _nothing_valid(report.problems)
    return report


def _append(workspace: Workspace, kept: Kept, block: Delivery) -> tuple[Kept, int]:
    """Append the messages of a block that are not there; two deliveries at once are sorted out by the offset."""
    for _ in range(ATTEMPTS):
        fresh = {message.key: message for message in block.messages if message.key not in kept.keys}
        if not fresh:
            return kept, 0
        edit, grown = append_messages(kept, list(fresh.values()))
        if not isinstance(commit_as_system(workspace, [edit], f"keep the dialogue {kept.path}"), Conflicted):
            return grown, len(fresh)
        kept = read_kept(workspace.vault, kept.path)
    raise Conflict(f"{kept.path} kept changing", hint="Try again.", details={"path": kept.path})


async def _learn_on(
    workspace: Workspace,
    reasoner: MemoryReasoner,
    report: MemoryReport,
    origin: Origin,
    hint: str,
    settings: MemorySettings,
    place: Place,
) -> tuple[MemoryReport, Place, bool]:
    """Learn from the next messages behind the watermark; what has been learnt in all, and whether there are more."""
    session, dialogue = report.session_id, report.dialogue
    workspace.progress("learning from messages", report.learnt, report.received)
    for _ in range(ATTEMPTS):
        learnt = await learn(workspace, reasoner, session, dialogue, origin, hint, settings, place)
        if not learnt.messages:
            return report, learnt.end, False
        grown = replace(
            report,
            learnt=report.learnt + learnt.messages,
            notes=_together(report.notes, learnt.notes),
            refused=(*report.refused, *learnt.refused),
            unstated=(*report.unstated, *learnt.unstated),
            left=report.left + learnt.left,
            unnoted=report.unnoted + learnt.unnoted,
            report=None if learnt.more else report_path(workspace, _ACTION),
        )
        edits = list(learnt.edits)
        if not learnt.more:
            edits.append(write_report(workspace, _ACTION, _summary(grown), _report_lines(grown)))
        outcome = await asyncio.to_thread(_commit, workspace, session, learnt, edits)
        if not isinstance(outcome, Conflicted):
            return grown, learnt.end, learnt.more
    raise Conflict(
        f"the notes of session {session} kept changing while they were written",
        hint="What was said is kept; call auto_memory again to learn from it.",
        details={"session_id": session},
    )


def _commit(workspace: Workspace, session: str, learnt: Learnt, edits: Sequence[Edit]) -> Outcome:
    """Commit what was learnt, unless another delivery of the session has learnt from the same messages meanwhile.

    Other sessions write the same ledger at any time, so not the file but the session's own mark is compared.
    """
    vault = workspace.vault
    with locked(vault):
        if read_watermark(vault, session) != learnt.watermark:
            return Conflicted({vault.layout.ledger: revision_of(vault.bytes_of(vault.layout.ledger))})
        return commit_as_system(workspace, edits, f"learn from session {session}")


def _together(before: Sequence[EventNote], after: Sequence[EventNote]) -> tuple[EventNote, ...]:
    """Notes of several steps of one delivery, each once."""
    notes = {note.path: note for note in before}
    for note in after:
        same = notes.get(note.path)
        notes[note.path] = replace(same, statements=same.statements + note.statements) if same else note
    return tuple(notes.values())


def _nothing_valid(problems: Sequence[MessageProblem]) -> InvalidInput:
    reasons = [{"line": problem.line, "reason": problem.reason} for problem in problems]
    named = "; ".join(f"message {problem.line}: {problem.reason}" for problem in problems[:5])
    return InvalidInput(
        f"no message could be taken: {named}" if named else "there are no messages",
        hint='Give objects such as {"role": "user", "content": "…", "timestamp": "2026-05-15T09:30:00+02:00"}.',
        details={"problems": reasons},
    )


# Reports


def _statements(report: MemoryReport) -> int:
    return sum(note.statements for note in report.notes)


def _summary(report: MemoryReport) -> str:
    statements = counted(_statements(report), "statement")
    into = f"{statements} in {counted(len(report.notes), 'note')}" if report.notes else _NO_EVENTS
    said = f"{report.appended} of {counted(report.received, 'message')} new, {report.learnt} read"
    return f"session {report.session_id}: {said}, {into}"


def _report_lines(report: MemoryReport) -> list[str]:
    lines = [f"Dialogue: [[{report.dialogue}]]", ""]
    lines += [f"- {note.outcome} [[{note.path}]]: {counted(note.statements, 'statement')}" for note in report.notes]
    return [*lines, *_trouble(report)]


def _trouble(report: MemoryReport) -> list[str]:
    kept = _statements(report)
    left = f"- {kept} of {kept + report.left} statements kept; the rest stays in the dialogue, where search finds it"
    without = (
        f"- nothing of {report.unnoted} of the messages is in a note; the dialogue keeps them, and search finds them"
    )
    return [
        *([left] if report.left else []),
        *([without] if report.unnoted else []),
        *some([f"- message {problem.line} was not taken: {problem.reason}" for problem in report.problems]),
        *some([f"- message {redaction.line}: taken out: {redaction.kind}" for redaction in report.redactions]),
        *some([f"- message {line} is dated in the future; no dream reads it before" for line in report.ahead]),
        *some([f"- not followed: {one_line(reason)}" for reason in report.refused]),
        *some([f"- stays in the dialogue: {what} (line {line})" for line, what in report.unstated]),
    ]


def memory_text(report: MemoryReport) -> str:
    """A report in words."""
    outcomes = _WOULD if report.dry_run else _DID
    if not report.learnt:
        lines = [f"session {report.session_id}: nothing new in {counted(report.received, 'message')}"]
    else:
        lines = [
            ("dry run: " if report.dry_run else "") + _summary(report),
            *(
                f"{outcomes[note.outcome]} {note.path} ({note.name}, {counted(note.statements, 'statement')})"
                for note in report.notes
            ),
        ]
        lines += [] if report.dry_run else [f"run {report.run}"]
    return "\n".join([*lines, *(line.removeprefix("- ") for line in _trouble(report))])
