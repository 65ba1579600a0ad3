"""What a stretch of dialogue becomes: event notes as they will be, the indexes of their days, the watermark.

Owns which note an event goes into and what of a reasoner's answer can stand there. Reads the vault, writes nothing: it
ends with the edits of one change set. How a conversation is delivered and committed is not known here.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Final, Literal

from reme.actions.dialogue import Place, Stretch, read_stretch
from reme.actions.ledger import Watermark, append_lines, read_watermark
from reme.actions.notes import Cited, add_items, write_event
from reme.actions.origin import Origin, lowest, with_origin
from reme.actions.runs import NOTE_LAWS
from reme.actions.settings import MemorySettings
from reme.actions.statements import Item, link_to, objection, source_lines, unstated
from reme.markdown import Note, parse
from reme.paths import VaultPath, fold, parse_path, slug_of, stem
from reme.reason import Event, MemoryReasoner, Message, OpenEvent, Statement, StatementKind
from reme.revision import ABSENT, Revision
from reme.tools import Workspace, day_folder, day_index, events_of, one_line
from reme.vault import Amend, Edit, Put

__all__ = ["EventNote", "Learnt", "learn"]

_STATEMENTS_OFFERED: Final = 100
"""How many statements of an open event a reasoner is shown, the latest of them."""
_FULL: Final = 65_536
"""How many bytes a note has to have for an event to go on in a further one."""
_NO_SPEECH: Final = re.compile(r"^ {0,3}(?:```|~~~|\|)|\$\$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class EventNote:
    """An event note that was made or added to, and how many statements it got."""

    path: VaultPath
    name: str
    outcome: Literal["created", "extended"]
    statements: int


@dataclass(frozen=True, slots=True)
class Learnt:
    """What was learnt from the next messages behind a session's watermark.

    Attributes:
        watermark: The session's, on which all of it rests.
        messages: How many messages were learnt from.
        end: The place behind them.
        more: Whether there are further ones.
        refused: Decisions of the reasoner that could not be followed, with the reason.
        unstated: What in the messages is no speech and stays in the dialogue, with its line there.
        left: How many statements weighed less than those that were kept, and stay there too.
        unnoted: How many of the messages no statement was kept of.
    """

    watermark: int
    messages: int
    end: Place
    more: bool
    notes: tuple[EventNote, ...] = ()
    refused: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()
    unstated: tuple[tuple[int, str], ...] = ()
    left: int = 0
    unnoted: int = 0


async def learn(
    workspace: Workspace,
    reasoner: MemoryReasoner,
    session: str,
    dialogue: VaultPath,
    origin: Origin,
    hint: str,
    settings: MemorySettings,
    place: Place,
) -> Learnt:
    """Learn from the next messages behind the watermark.

    Args:
        place: Where the watermark is in the dialogue, if it is there; to begin reading at.
    """
    behind = read_watermark(workspace.vault, session)
    after = place if place.line == behind else Place(behind)
    most = settings.messages_at_once
    stretch = read_stretch(workspace.vault, dialogue, workspace.clock, after=after, most=most)
    if not stretch.messages:
        return Learnt(behind, 0, stretch.end, False)
    drafts, noted = _Drafts(workspace, session, dialogue, origin), set[int]()
    for day in sorted({message.at.date() for message in stretch.messages}):
        said = [message for message in stretch.messages if message.at.date() == day]
        offered = drafts.open_events(day, settings)
        for event in await reasoner.segment(said, [event for _, event in offered], hint):
            drafts.place(event, said, day, [path for path, _ in offered])
            noted.update(statement.line for statement in event.statements)
    notes, edits = drafts.edits(stretch)
    refused, unsaid = tuple(drafts.refused), tuple(_unstated(stretch.messages))
    count, unnoted = len(stretch.messages), sum(message.line not in noted for message in stretch.messages)
    return Learnt(behind, count, stretch.end, stretch.more, notes, refused, edits, unsaid, drafts.left, unnoted)


def _unstated(messages: Sequence[Message]) -> Iterator[tuple[int, str]]:
    for message in messages:
        if _NO_SPEECH.search(message.text):
            note = parse(message.text.encode("utf-8"))
            yield from ((message.line, what) for _, what in unstated(note, quotes=False))


@dataclass(slots=True)
class _Draft:
    """A note as it will be: what it must be like now, and its new bytes."""

    expects: Revision
    data: bytes
    session: str
    day: date
    added: int = 0


@dataclass(slots=True)
class _Drafts:
    """The notes that come of one stretch of a session."""

    workspace: Workspace
    session: str
    dialogue: VaultPath
    origin: Origin
    drafts: dict[VaultPath, _Draft] = field(default_factory=dict[VaultPath, _Draft])
    refused: list[str] = field(default_factory=list[str])
    left: int = 0

    def open_events(self, day: date, settings: MemorySettings) -> list[tuple[VaultPath, OpenEvent]]:
        """Events that may go on: the session's own first, then the latest of others."""
        found: list[tuple[bool, date, VaultPath, bytes]] = []
        for back in range(min(settings.open_days, day.toordinal() - 1) + 1):
            then = day - timedelta(days=back)
            found += [(session != self.session, then, path, data) for path, data, session in self._events(then)]
        found.sort(key=lambda entry: (entry[0], -entry[1].toordinal(), entry[2]))
        return [(path, _open_event(path, data, then)) for _, then, path, data in found[: settings.open_events]]

    def _events(self, day: date) -> list[tuple[VaultPath, bytes, str]]:
        """The event notes of a day, on disk or about to be, with the session that each belongs to."""
        found = {path: (draft.data, draft.session) for path, draft in self.drafts.items() if draft.day == day}
        for path in self._on_disk(day):
            if path not in found and (data := self.workspace.vault.bytes_of(path)) is not None:
                found[path] = data, _session_of(_head(data))
        return [(path, data, session) for path, (data, session) in sorted(found.items())]

    def _on_disk(self, day: date) -> list[VaultPath]:
        vault = self.workspace.vault
        folder = day_folder(vault.layout, day)
        files = (file.path for file in vault.scan(folder).files) if vault.is_folder(folder) else ()
        return [event.path for event in events_of(folder, files)]

    def place(self, event: Event, said: Sequence[Message], day: date, offered: Sequence[VaultPath]) -> None:
        """Put an event into the note that it continues, if that is of this day and session; else into its own."""
        self.refused += event.refused
        self.left += event.left
        statements = self._checked(event, said)
        if not statements:
            if event.statements:
                self.refused.append(f"the event {event.name!r} has no statement left")
            return
        before: VaultPath | None = None
        if event.continues is not None:
            if 1 <= event.continues <= len(offered):
                before = offered[event.continues - 1]
            else:
                number = event.continues
                self.refused.append(f"the event {event.name!r} continues event {number}, which was not offered")
        origin, count = self._origin(event, said), sum(map(len, statements.values()))
        if before is not None and (draft := self._own_draft(before, day)) is not None:
            draft.data = with_origin(add_items(draft.data, statements), origin)
            draft.added += count
            return
        path = self._free_path(day, event)
        data = write_event(
            name=one_line(event.name) or stem(path),
            description=one_line(event.description),
            session=self.session,
            dialogue=self.dialogue,
            inherits=before,
            origin=origin,
            statements=statements,
        )
        self.drafts[path] = _Draft(ABSENT, data, self.session, day, count)

    def _origin(self, event: Event, said: Sequence[Message]) -> Origin:
        """The lowest of who said what the event states, and of where the delivery as a whole came from."""
        lines = {statement.line for statement in event.statements}
        agents = any(message.role == "assistant" for message in said if message.line in lines)
        return lowest((self.origin, "agent" if agents else "person"))

    def _own_draft(self, path: VaultPath, day: date) -> _Draft | None:
        """The note to add to, if it belongs to this session and day, can be edited and is not full."""
        draft = self.drafts.get(path)
        if draft is None:
            file = self.workspace.vault.read(path)
            note = parse(file.data)
            on_day = path.startswith(f"{day_folder(self.workspace.vault.layout, day)}/")
            if not on_day or _session_of(note) != self.session or note.encoding != "utf-8":
                return None
            draft = _Draft(file.revision, file.data, self.session, day)
        if draft.day != day or len(draft.data) >= _FULL:
            return None
        self.drafts[path] = draft
        return draft

    def _checked(self, event: Event, said: Sequence[Message]) -> dict[StatementKind, list[Cited]]:
        """The statements that can be followed, by kind; the others are refused one by one."""
        by_line = {message.line: message for message in said}
        found: dict[StatementKind, list[Cited]] = {}
        for statement in event.statements:
            message = by_line.get(statement.line)
            reason = _objection(statement.text) if message else f"it cites line {statement.line}, which was not offered"
            if message is None or reason:
                self.refused.append(f"the statement {statement.text[:80]!r}: {reason}")
                continue
            item = _item(statement, message)
            found.setdefault(statement.kind, []).append((item, link_to(self.dialogue, statement.line)))
        return found

    def _free_path(self, day: date, event: Event) -> VaultPath:
        """A path that no note of the day has, in any case; named by the event."""
        taken = {fold(stem(path)) for path in (*self._on_disk(day), *self.drafts)}
        slug = slug_of(event.slug or event.name)
        number = 1
        while fold(name := slug if number == 1 else f"{slug}-{number}") in taken:
            number += 1
        return parse_path(f"{day_folder(self.workspace.vault.layout, day)}/{name}.md")

    def edits(self, stretch: Stretch) -> tuple[tuple[EventNote, ...], tuple[Edit, ...]]:
        """The notes, and the edits: notes, the indexes of their days, and the watermark."""
        workspace = self.workspace
        notes: list[EventNote] = []
        edits: list[Edit] = []
        listed: dict[date, dict[VaultPath, tuple[str, str]]] = {}
        for path, draft in self.drafts.items():
            if not draft.added:
                continue
            edits.append(Put(path, draft.data, draft.expects, NOTE_LAWS))
            properties = _head(draft.data).properties
            name, description = str(properties.get("name") or stem(path)), str(properties.get("description") or "")
            listed.setdefault(draft.day, {})[path] = name, description
            outcome = "created" if draft.expects == ABSENT else "extended"
            notes.append(EventNote(path, name, outcome, draft.added))
        for day, own in listed.items():
            index = parse_path(f"{workspace.vault.layout.daily}/{day.isoformat()}.md")
            edits.append(Amend(index, lambda data, day=day, own=own: day_index(data, day, own)))
        mark = Watermark(self.session, stretch.end.line)
        edits.append(append_lines(workspace.vault, (mark,), at=workspace.clock.now(), run=workspace.caller.run))
        return tuple(notes), tuple(edits)


def _open_event(path: VaultPath, data: bytes, day: date) -> OpenEvent:
    note = parse(data)
    lines = source_lines(note, day)[-_STATEMENTS_OFFERED:]
    name, description = note.properties.get("name") or stem(path), note.properties.get("description") or ""
    return OpenEvent(str(name), str(description), day, tuple(line.text for line in lines))


def _head(data: bytes) -> Note:
    """A note without its body."""
    end = data.find(b"\n---", 3)
    return parse(data[: end + 4] if end >= 0 else b"")


def _session_of(note: Note) -> str:
    return str(note.properties.get("session_id") or "")


def _objection(text: str) -> str:
    """Why what was said cannot stand in a note: links are made by those who write notes, not by those who talk."""
    return objection(text) or ("it would make a link" if "[[" in text or "](" in text else "")


def _item(statement: Statement, message: Message) -> Item:
    return Item(statement.text.strip(), message.speaker, message.at.date(), statement.about, max(0, statement.step))
