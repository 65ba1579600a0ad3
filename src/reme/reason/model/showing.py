"""What of the material a model is shown, as records: small functions over plain data, no decision among them.

Owns which fields are shown and what is left out where there is not room for all. What a model may name is a number.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest
from typing import Final

from reme.reason.decisions import Candidate, Event, Message, OpenEvent, SourceLine, SourceNote
from reme.reason.model.material import Entry, cut, record, windows

__all__ = [
    "Place",
    "as_open",
    "evidence_shown",
    "hint_shown",
    "line_at",
    "message_shown",
    "node_shown",
    "nodes_within",
    "open_events_shown",
    "source_lines_shown",
    "source_windows",
    "tokens_of",
]

_OPEN_STATEMENTS: Final = 12
_LONGEST_SHOWN: Final = 1_500


def hint_shown(hint: str) -> list[Entry]:
    """What the caller says that matters, if anything."""
    return [record(hint=hint)] if hint else []


def message_shown(message: Message, text: str) -> Entry:
    """A message, or a piece of it."""
    at = message.at.isoformat(timespec="minutes")
    return record(message=message.line, role=message.role, speaker=message.speaker, at=at, text=text)


def open_events_shown(events: Sequence[OpenEvent], room: int) -> list[Entry]:
    """Open events by number; statements only of as many as there is room for."""
    found: list[Entry] = []
    for number, event in enumerate(events, start=1):
        bare = {"name": event.name, "description": event.description, "day": event.day.isoformat()}
        latest = [cut(text, _LONGEST_SHOWN) for text in event.statements[-_OPEN_STATEMENTS:]]
        full = record(event=number, **bare, statements=latest or None)
        found.append(full if tokens_of(found) + full.tokens <= room else record(event=number, **bare))
    return found


def as_open(event: Event, first: Message) -> OpenEvent:
    """An event of an earlier part of a conversation, as one that may go on."""
    return OpenEvent(event.name, event.description, first.at.date(), tuple(s.text for s in event.statements))


Place = tuple[int, int]
"""A source's number, and the place of a line in it, from 0."""


def line_at(sources: Sequence[SourceNote], place: Place) -> SourceLine:
    """The line at a place."""
    source, at = place
    return sources[source - 1].lines[at]


def source_windows(sources: Sequence[SourceNote], room: Callable[[], int]) -> Iterable[list[Place]]:
    """The lines of sources in order, as many at a time as there is room for."""
    places = [(number, at) for number, source in enumerate(sources, start=1) for at in range(len(source.lines))]
    entries = [source_lines_shown(sources, [place])[-1] for place in places]
    at = 0
    for window in windows(entries, room):
        yield places[at : at + len(window)]
        at += len(window)


def source_lines_shown(sources: Sequence[SourceNote], window: Sequence[Place]) -> list[Entry]:
    """Lines of sources as they are shown, each source's behind what is said of it as a whole."""
    shown: list[Entry] = []
    last = 0
    for place in window:
        source, line = sources[place[0] - 1], line_at(sources, place)
        if place[0] != last:
            last = place[0]
            shown.append(
                record(source=last, name=source.name, description=source.description, day=source.day.isoformat())
            )
        shown.append(
            record(
                id=f"{last}:{line.number}",
                text=cut(line.text, _LONGEST_SHOWN),
                kind=line.kind,
                speaker=line.speaker or None,
                said=line.day.isoformat(),
                about=line.about or None,
                known=line.known or None,
            )
        )
    return shown


def evidence_shown(number: int, line: SourceLine) -> Entry:
    """A line that a unit rests on."""
    return record(
        evidence=number,
        text=line.text,
        speaker=line.speaker or None,
        said=line.day.isoformat(),
        about=line.about or None,
        known=line.known or None,
    )


def node_shown(number: int, node: Candidate, *, whole: bool = True) -> Entry:
    """A node with its blocks by number, or with the beginnings of those that are long."""
    texts = [text if whole else cut(text, _LONGEST_SHOWN) for text in node.blocks]
    said = zip_longest(node.speakers, node.days, fillvalue="")
    signed = [", ".join(filter(None, parts)) for parts in said]
    told = (f"{text} ({by})" if by else text for text, by in zip_longest(texts, signed, fillvalue=""))
    blocks = {str(n): text for n, text in enumerate(told, start=1)}
    return _bare(number, node) if not blocks else _described(number, node, blocks)


def _bare(number: int, node: Candidate) -> Entry:
    return _described(number, node, None)


def _described(number: int, node: Candidate, blocks: dict[str, str] | None) -> Entry:
    return record(
        candidate=number,
        name=node.name,
        description=node.description,
        aliases=node.aliases or None,
        bucket=node.bucket,
        neighbour=node.neighbour or None,
        blocks=blocks,
    )


def nodes_within(nodes: Sequence[Candidate], room: int) -> list[Entry]:
    """Nodes by number; the blocks only of those, likeliest first, that there is room for."""
    found: list[Entry] = []
    for number, node in enumerate(nodes, start=1):
        full = node_shown(number, node, whole=False)
        found.append(full if tokens_of(found) + full.tokens <= room else _bare(number, node))
    return found


def tokens_of(entries: Iterable[Entry]) -> int:
    """The tokens of some records together."""
    return sum(entry.tokens for entry in entries)
