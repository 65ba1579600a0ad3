"""auto_memory: from a conversation to a kept dialogue and event notes of the days on which it was held.

Owns the steps: keep what was said, learn from what lies behind the session's watermark, commit notes, day indexes and
watermark together. A crash in between repeats the learning, never skips it; a delivery that comes again adds nothing.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Final, Literal

from reme.actions.dialogue import Dialogue, append_messages, dialogue_path, read_dialogue
from reme.actions.ledger import Watermark, append_lines, read_ledger
from reme.actions.messages import Delivery, MessageProblem, Redaction, read_messages
from reme.actions.notes import Cited, add_items, write_event
from reme.actions.origin import Origin, lowest, with_origin
from reme.actions.runs import ATTEMPTS, NOTE_LAWS, commit_as_system, report_path, write_report
from reme.actions.settings import MemorySettings
from reme.actions.statements import Item, link_to, objection, source_lines
from reme.errors import Conflict, InvalidInput
from reme.markdown import Note, parse
from reme.paths import VaultPath, fold, is_markdown, parse_path, slug_of, stem
from reme.reason import Event, MemoryReasoner, Message, OpenEvent, Statement, StatementKind
from reme.revision import ABSENT, Revision, revision_of
from reme.tools import Workspace, day_index, one_line
from reme.vault import Amend, Conflicted, Edit, Outcome, Put, locked

__all__ = ["EventNote", "MemoryReport", "auto_memory", "memory_text"]

_ACTION: Final = "auto_memory"
_NO_EVENTS: Final = "nothing in it was worth a note"


@dataclass(frozen=True, slots=True)
class EventNote:
    """An event note that was made or added to, and how many statements it got."""

    path: VaultPath
    name: str
    outcome: Literal["created", "extended"]
    statements: int


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
        report: The report in the vault, or None where nothing was written.
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


async def auto_memory(
    workspace: Workspace,
    reasoner: MemoryReasoner,
    messages: Sequence[object] | str,
    session_id: str,
    *,
    hint: str = "",
    day: date | None = None,
    origin: Origin = "person",
    settings: MemorySettings | None = None,
) -> MemoryReport:
    """Keep a conversation and learn from it.

    Args:
        messages: As OpenAI, Anthropic or Claude Code deliver them, or as JSONL text.
        session_id: Names the dialogue; a safe file name.
        hint: What the caller says that matters.
        day: The local date of messages without a time of their own; today by default.
        origin: Where the conversation comes from, if that is to be trusted less than its speakers.

    Raises:
        InvalidInput: If the session id is no file name, or no message could be taken, with the reason for each.
        Conflict: If the session's notes kept changing.
        Unavailable: If the vault cannot be written or the reasoner does not answer; what was said is kept all the same.
    """
    path = dialogue_path(workspace.vault, session_id)
    delivery = read_messages(messages, workspace.clock, day)
    if not delivery.messages and not delivery.dropped:
        raise _nothing_valid(delivery)
    report = MemoryReport(
        run=workspace.caller.run,
        session_id=session_id,
        dialogue=path,
        received=len(delivery.messages),
        appended=_keep(workspace, path, delivery),
        dropped=delivery.dropped,
        learnt=0,
        notes=(),
        problems=delivery.problems,
        redactions=delivery.redactions,
        refused=(),
        report=None,
    )
    more = True
    while more:
        report, more = await _learn_on(workspace, reasoner, report, origin, hint, settings or MemorySettings())
    return report


async def _learn_on(
    workspace: Workspace,
    reasoner: MemoryReasoner,
    report: MemoryReport,
    origin: Origin,
    hint: str,
    settings: MemorySettings,
) -> tuple[MemoryReport, bool]:
    """Learn from the next messages behind the watermark; what has been learnt in all, and whether there are more."""
    for _ in range(ATTEMPTS):
        learning = await _learn(
            workspace, reasoner, _Learning(report.session_id, report.dialogue, origin), hint, settings
        )
        if not learning.learnt:
            return report, False
        grown = replace(
            report,
            learnt=report.learnt + learning.learnt,
            notes=_together(report.notes, learning.notes),
            refused=(*report.refused, *learning.refused),
            report=None if learning.more else report_path(workspace, _ACTION),
        )
        edits = list(learning.edits)
        if not learning.more:
            edits.append(write_report(workspace, _ACTION, _summary(grown), _report_lines(grown)))
        reason = f"learn from session {report.session_id}"
        outcome = await asyncio.to_thread(_commit, workspace, learning, edits, reason)
        if not isinstance(outcome, Conflicted):
            return grown, learning.more
    raise Conflict(
        f"the notes of session {report.session_id} kept changing while they were written",
        hint="What was said is kept; call auto_memory again to learn from it.",
        details={"session_id": report.session_id},
    )


def _together(before: Sequence[EventNote], after: Sequence[EventNote]) -> tuple[EventNote, ...]:
    """Notes of several steps of one delivery, each once."""
    notes = {note.path: note for note in before}
    for note in after:
        same = notes.get(note.path)
        notes[note.path] = replace(same, statements=same.statements + note.statements) if same else note
    return tuple(notes.values())


def _nothing_valid(delivery: Delivery) -> InvalidInput:
    reasons = [{"line": problem.line, "reason": problem.reason} for problem in delivery.problems]
    named = "; ".join(f"message {problem.line}: {problem.reason}" for problem in delivery.problems[:5])
    return InvalidInput(
        f"no message could be taken: {named}" if named else "there are no messages",
        hint='Give objects such as {"role": "user", "content": "…", "timestamp": "2026-05-15T09:30:00+02:00"}.',
        details={"problems": reasons},
    )


def _keep(workspace: Workspace, path: VaultPath, delivery: Delivery) -> int:
    """Append what the dialogue does not have yet; two deliveries at once are sorted out by the offset."""
    for _ in range(ATTEMPTS):
        said = {message.key: message for message in delivery.messages}
        dialogue = read_dialogue(workspace.vault, path, workspace.clock, wanted=said)
        fresh = {key: message for key, message in said.items() if key not in dialogue.keys}
        if not fresh:
            return 0
        edit = append_messages(dialogue, list(fresh.values()))
        if not isinstance(commit_as_system(workspace, [edit], f"keep the dialogue {path}"), Conflicted):
            return len(fresh)
    raise Conflict(f"{path} kept changing", hint="Try again.", details={"path": path})


# Learning


@dataclass(slots=True)
class _Draft:
    """A note as it will be: what it must be like now, and its new bytes."""

    expects: Revision
    data: bytes
    session: str
    day: date
    added: int = 0


@dataclass(slots=True)
class _Learning:
    """One attempt to learn from what lies behind the watermark."""

    session: str
    dialogue: VaultPath
    origin: Origin
    drafts: dict[VaultPath, _Draft] = field(default_factory=dict[VaultPath, _Draft])
    notes: list[EventNote] = field(default_factory=list[EventNote])
    refused: list[str] = field(default_factory=list[str])
    edits: list[Edit] = field(default_factory=list[Edit])
    behind: int = 0
    """The session's watermark, on which all of it rests."""
    learnt: int = 0
    more: bool = False


async def _learn(
    workspace: Workspace, reasoner: MemoryReasoner, learning: _Learning, hint: str, settings: MemorySettings
) -> _Learning:
    learning.behind = read_ledger(workspace.vault).watermarks.get(learning.session, 0)
    dialogue = read_dialogue(
        workspace.vault, learning.dialogue, workspace.clock, after=learning.behind, most=settings.messages_at_once
    )
    fresh, learning.more = dialogue.messages, dialogue.more
    if not fresh:
        return learning
    learning.learnt = len(fresh)
    for day in sorted({message.at.date() for message in fresh}):
        said = [message for message in fresh if message.at.date() == day]
        open_events = _open_events(workspace, learning, day, settings)
        offered = [event for _, event in open_events]
        events = await reasoner.segment(said, offered, hint)
        for event in events:
            _place(workspace, learning, event, said, day, [place for place, _ in open_events])
    _collect(workspace, learning, dialogue)
    return learning


def _collect(workspace: Workspace, learning: _Learning, dialogue: Dialogue) -> None:
    """The edits: notes, the indexes of their days, and the watermark."""
    listed: dict[date, dict[VaultPath, tuple[str, str]]] = {}
    for path, draft in learning.drafts.items():
        if not draft.added:
            continue
        learning.edits.append(Put(path, draft.data, draft.expects, NOTE_LAWS))
        properties = parse(draft.data).properties
        name, description = str(properties.get("name") or stem(path)), str(properties.get("description") or "")
        listed.setdefault(draft.day, {})[path] = name, description
        outcome = "created" if draft.expects == ABSENT else "extended"
        learning.notes.append(EventNote(path, name, outcome, draft.added))
    for day, notes in listed.items():
        index = parse_path(f"{workspace.vault.layout.daily}/{day.isoformat()}.md")
        learning.edits.append(Amend(index, lambda data, day=day, notes=notes: day_index(data, day, notes)))
    mark = Watermark(learning.session, dialogue.read)
    now = workspace.clock.now()
    learning.edits.append(append_lines(workspace.vault, (mark,), at=now, run=workspace.caller.run))


def _commit(workspace: Workspace, learning: _Learning, edits: Sequence[Edit], reason: str) -> Outcome:
    """Commit what was learnt, unless another delivery of the session has learnt from the same messages meanwhile.

    Other sessions write the same ledger at any time, so not the file but the session's own mark is compared.
    """
    vault = workspace.vault
    with locked(vault):
        if read_ledger(vault).watermarks.get(learning.session, 0) != learning.behind:
            return Conflicted({vault.layout.ledger: revision_of(vault.bytes_of(vault.layout.ledger))})
        return commit_as_system(workspace, edits, reason)


def _open_events(
    workspace: Workspace, learning: _Learning, day: date, settings: MemorySettings
) -> list[tuple[VaultPath, OpenEvent]]:
    """Events that may go on: the session's own first, then the latest of others."""
    found: list[tuple[bool, date, VaultPath, OpenEvent]] = []
    for back in range(settings.open_days + 1):
        then = day - timedelta(days=back)
        for path, data, session in _event_notes(workspace, learning, then):
            note = parse(data)
            lines = source_lines(note, then)
            name, description = note.properties.get("name") or stem(path), note.properties.get("description") or ""
            event = OpenEvent(str(name), str(description), then, tuple(line.text for line in lines))
            found.append((session != learning.session, then, path, event))
    found.sort(key=lambda entry: (entry[0], -entry[1].toordinal(), entry[2]))
    return [(path, event) for _, _, path, event in found[: settings.open_events]]


def _event_notes(workspace: Workspace, learning: _Learning, day: date) -> list[tuple[VaultPath, bytes, str]]:
    """The event notes of a day, on disk or about to be, with the session that each belongs to."""
    vault = workspace.vault
    folder = parse_path(f"{vault.layout.daily}/{day.isoformat()}")
    found = {path: (draft.data, draft.session) for path, draft in learning.drafts.items() if draft.day == day}
    for path in (file.path for file in vault.scan(folder).files) if vault.is_folder(folder) else ():
        if is_markdown(path) and path not in found and (data := vault.bytes_of(path)) is not None:
            found[path] = data, _session_of(parse(data))
    return [(path, data, session) for path, (data, session) in sorted(found.items())]


def _session_of(note: Note) -> str:
    return str(note.properties.get("session_id") or "")


def _place(
    workspace: Workspace,
    learning: _Learning,
    event: Event,
    said: Sequence[Message],
    day: date,
    offered: Sequence[VaultPath],
) -> None:
    """Put an event into the note that it continues, if that is of this day and session; else into one of its own."""
    statements = _checked(learning, event, said)
    if not statements:
        if event.statements:
            learning.refused.append(f"the event {event.name!r} has no statement left")
        return
    before: VaultPath | None = None
    if event.continues is not None:
        if 1 <= event.continues <= len(offered):
            before = offered[event.continues - 1]
        else:
            learning.refused.append(
                f"the event {event.name!r} continues event {event.continues}, which was not offered"
            )
    origin = _origin(learning, event, said)
    if before is not None and (draft := _own_draft(workspace, learning, before, day)) is not None:
        draft.data = with_origin(add_items(draft.data, statements), origin)
        draft.added += sum(map(len, statements.values()))
        return
    path = _free_path(workspace, learning, day, event)
    data = write_event(
        name=one_line(event.name) or stem(path),
        description=one_line(event.description),
        session=learning.session,
        dialogue=learning.dialogue,
        inherits=before,
        origin=origin,
        statements=statements,
    )
    learning.drafts[path] = _Draft(ABSENT, data, learning.session, day, sum(map(len, statements.values())))


def _origin(learning: _Learning, event: Event, said: Sequence[Message]) -> Origin:
    """The lowest of who said what the event states, and of where the delivery as a whole came from."""
    lines = {statement.line for statement in event.statements}
    agents = any(message.role == "assistant" for message in said if message.line in lines)
    return lowest((learning.origin, "agent" if agents else "person"))


def _own_draft(workspace: Workspace, learning: _Learning, path: VaultPath, day: date) -> _Draft | None:
    """The note to add to, if it belongs to this session and day and can be edited."""
    if path in learning.drafts:
        draft = learning.drafts[path]
        return draft if draft.day == day else None
    file = workspace.vault.read(path)
    note = parse(file.data)
    on_day = path.startswith(f"{workspace.vault.layout.daily}/{day.isoformat()}/")
    if not on_day or _session_of(note) != learning.session or note.encoding != "utf-8":
        return None
    learning.drafts[path] = _Draft(file.revision, file.data, learning.session, day)
    return learning.drafts[path]


def _checked(learning: _Learning, event: Event, said: Sequence[Message]) -> dict[StatementKind, list[Cited]]:
    """The statements that can be followed, by kind; the others are refused one by one."""
    by_line = {message.line: message for message in said}
    found: dict[StatementKind, list[Cited]] = {}
    for statement in event.statements:
        message = by_line.get(statement.line)
        reason = _objection(statement.text) if message else f"it cites line {statement.line}, which was not offered"
        if message is None or reason:
            learning.refused.append(f"the statement {statement.text[:80]!r}: {reason}")
            continue
        item = _item(statement, message)
        found.setdefault(statement.kind, []).append((item, link_to(learning.dialogue, statement.line)))
    return found


def _objection(text: str) -> str:
    """Why what was said cannot stand in a note: links are made by those who write notes, not by those who talk."""
    return objection(text) or ("it would make a link" if "[[" in text or "](" in text else "")


def _item(statement: Statement, message: Message) -> Item:
    return Item(statement.text.strip(), message.speaker, message.at.date(), statement.about)


def _free_path(workspace: Workspace, learning: _Learning, day: date, event: Event) -> VaultPath:
    """A path that no note of the day has, in any case; named by the event."""
    folder = f"{workspace.vault.layout.daily}/{day.isoformat()}"
    taken = {fold(stem(path)) for path, _, _ in _event_notes(workspace, learning, day)}
    slug = slug_of(event.slug or event.name)
    number = 1
    while fold(name := slug if number == 1 else f"{slug}-{number}") in taken:
        number += 1
    return parse_path(f"{folder}/{name}.md")


# Reports


def _summary(report: MemoryReport) -> str:
    statements = sum(note.statements for note in report.notes)
    into = f"{statements} statements in {len(report.notes)} notes" if report.notes else _NO_EVENTS
    said = f"{report.appended} of {report.received} messages new, {report.learnt} learnt from"
    return f"session {report.session_id}: {said}, {into}"


def _report_lines(report: MemoryReport) -> list[str]:
    lines = [f"Dialogue: [[{report.dialogue}]]", ""]
    lines += [f"- {note.outcome} [[{note.path}]]: {note.statements} statements" for note in report.notes]
    return [*lines, *_trouble(report)]


def _trouble(report: MemoryReport) -> list[str]:
    return [
        *(f"- message {problem.line} was not taken: {problem.reason}" for problem in report.problems),
        *(f"- message {redaction.line}: a {redaction.kind} was taken out" for redaction in report.redactions),
        *(f"- not followed: {one_line(reason)}" for reason in report.refused),
    ]


def memory_text(report: MemoryReport) -> str:
    """A report in words."""
    if not report.learnt:
        lines = [f"session {report.session_id}: nothing new in {report.received} messages"]
    else:
        lines = [
            _summary(report),
            *(f"{note.outcome} {note.path} ({note.name}, {note.statements} statements)" for note in report.notes),
        ]
        lines.append(f"run {report.run}")
    return "\n".join([*lines, *(line.removeprefix("- ") for line in _trouble(report))])
