"""Statements as list items: one grammar for daily notes and for the digest, written and read back.

    - I painted that lake sunrise last year! (Melanie, 2023-05-08, about 2022) — [[session/dialog/a.jsonl#L14|L14]]
    2. Prime the canvas. (Melanie, 2023-05-08) — [[session/dialog/a.jsonl#L16|L16]]

Steps of a procedure are numbered.

The words are the speaker's or the reasoner's; in brackets stands who said it, when, and the date that relative words in
it mean; behind the dash where it comes from. Owns this form. Knows nothing of whole notes.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from reme.actions.origin import origin_of
from reme.markdown import Note, flowing, joined, sentence_spans
from reme.paths import VaultPath
from reme.reason import SourceLine, StatementKind
from reme.wording import counted

__all__ = [
    "Item",
    "link_to",
    "objection",
    "read_item",
    "section_kind",
    "section_title",
    "source_lines",
    "stated",
    "unstated",
    "write_item",
]

_ITEM: Final = re.compile(
    r"^(?P<text>.+?) \((?:(?P<speaker>[^()]*), )?(?P<day>\d{4}-\d\d-\d\d)(?:, about (?P<about>\d{4}(?:-\d\d){0,2}))?\)"
    r"(?: — \[\[.+\]\].*)?$"
)
_MARK: Final = re.compile(r"^\s*(?:(?:[-*+]|(?P<number>\d{1,9})[.)])\s+(?:\[[ xX]\]\s+)?)?")
_CITED: Final = re.compile(r" — (?:\[\[[^\[\]]+\]\](?:, )?)+$")
_FIELD: Final = re.compile(r"^\s*(?:[-*+]\s+)?[^\W\d][\w-]*:: ")
_UNFIT: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (re.compile(r"[\r\n]"), "it has more than one line"),
    (re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]"), "it has a character in it that no text has"),
    (re.compile(r"<!--|%%|```|~~~|\$\$"), "it would open a comment, a fence or a formula"),
    (
        re.compile(r"^\s*(?:[-*+](?:\s|$)|[>#|<]|(?:[-*_=]\s*){3,}$|\d{1,9}[.)]\s|\[[ xX]\])"),
        "it begins like a block of Markdown",
    ),
    (_FIELD, "it begins like a field"),
    (re.compile(r"[\[(]\s*[^\W\d][\w-]*::(?=\s|!?\[\[|$)"), "it has a field in it"),
)
_UNSTATED: Final[dict[str, str]] = {"code": "code", "table": "a table", "quote": "a quotation", "math": "a formula"}
_TITLES: Final[dict[StatementKind, tuple[str, str]]] = {
    "fact": ("Facts", "事实"),
    "decision": ("Decisions", "决定"),
    "state": ("State", "状态"),
    "procedure": ("Procedure", "步骤"),
    "preference": ("Preferences", "偏好"),
}


@dataclass(frozen=True, slots=True)
class Item:
    """A statement with who said it and when; ``about`` and ``step`` as in ``reason.Statement``."""

    text: str
    speaker: str
    day: date
    about: str = ""
    step: int = 0

    @property
    def shown(self) -> str:
        """The statement as it stands in a note, without mark and citation."""
        parts = [part for part in (self.speaker, self.day.isoformat(), self.about and f"about {self.about}") if part]
        return f"{self.text} ({', '.join(parts)})"


def stated(item: Item, links: Sequence[str]) -> str:
    """A statement with its citations."""
    return f"{item.shown} — {', '.join(links)}"


def write_item(item: Item, links: Sequence[str]) -> str:
    """The list item of a statement with its citations; that of a step has its number."""
    return f"{f'{item.step}.' if item.step else '-'} {stated(item, links)}"


def read_item(text: str) -> Item | None:
    """A list item (with or without its mark) as a statement; None if a person wrote it in another form."""
    match = _ITEM.match(_MARK.sub("", text, count=1).rstrip())
    if match is None:
        return None
    try:
        day = date.fromisoformat(match["day"])
    except ValueError:
        return None
    return Item(match["text"], match["speaker"] or "", day, match["about"] or "", _step(text))


def _step(raw: str) -> int:
    """The number of a list item; 0 if it has none."""
    mark = _MARK.match(raw)
    return int(mark["number"] or 0) if mark else 0


def link_to(path: VaultPath, line: int | None = None) -> str:
    """A wikilink with the full path; to a line of a dialogue where one is given."""
    return f"[[{path}]]" if line is None else f"[[{path}#L{line}|L{line}]]"


def objection(text: str) -> str:
    """Why a text cannot stand as a statement; empty if it can."""
    if not text.strip():
        return "it is empty"
    return next((reason for pattern, reason in _UNFIT if pattern.search(text)), "")


def section_title(kind: StatementKind, *, chinese: bool) -> str:
    """The heading above statements of a kind."""
    return _TITLES[kind][chinese]


def section_kind(title: str) -> StatementKind | None:
    """The kind of statement that a heading announces, if it is one of ours."""
    return next((kind for kind, titles in _TITLES.items() if title in titles), None)


def source_lines(note: Note, day: date, known: frozenset[str] = frozenset()) -> tuple[SourceLine, ...]:
    """What a note states; fields, headings, code, quotes, tables and comments left out.

    A list item is one statement. Of a paragraph, the sentences that begin on one line are: read to their ends, where
    the line goes on in the next ones. A note of a person's that states nothing else states its description, where that
    stands in the file word for word.

    Args:
        day: The day of the note, for what people wrote without a date.
        known: The words that the digest has taken from it already.
    """
    found: list[SourceLine] = []
    headings = sorted((heading.line, heading.text) for heading in note.headings)
    for number, raw, listed in _lines(note):
        above = [text for line, text in headings if line < number]
        item = read_item(raw)
        text = item.text if item else _CITED.sub("", _MARK.sub("", raw, count=1)).strip()
        if objection(text):
            continue
        kind = section_kind(above[-1]) if above else None
        speaker, said, about = (item.speaker, item.day, item.about) if item else ("", day, "")
        step = item.step if item else listed or 0
        own = item is None and listed is not None
        heading = above[-1] if above and kind is None else ""
        found.append(SourceLine(number, text, kind, speaker, said, about, text in known, own, step, heading))
    if not found and origin_of(note, "person") == "person" and (described := _description(note)) is not None:
        number, text = described
        found.append(SourceLine(number, text, None, "", day, known=text in known))
    return tuple(found)


def unstated(note: Note, *, quotes: bool = True) -> tuple[tuple[int, str], ...]:
    """What a note has that is no statement and is not read: code, tables, quotes; the line of each, and what it is."""
    found: list[tuple[int, str]] = []
    for block in note.blocks:
        if (what := _UNSTATED.get(block.kind)) and (quotes or block.kind != "quote"):
            lines = note.text(block.span).rstrip().count("\n") + 1
            found.append((block.line, f"{what} of {counted(lines, 'line')}"))
    return tuple(found)


def _description(note: Note) -> tuple[int, str] | None:
    """The number of the line of frontmatter that a description stands on, and the description."""
    text = str(note.properties.get("description") or "").strip()
    if note.frontmatter is None or objection(text):
        return None
    before = note.source[: note.frontmatter.content.start].count(b"\n")
    content = note.text(note.frontmatter.content).splitlines()
    places = (place for place, raw in enumerate(content, start=1) if raw.startswith("description:") and text in raw)
    return next(((before + place, text) for place in places), None)


def _lines(note: Note) -> Iterator[tuple[int, str, int | None]]:
    """What stands on each line and goes on behind it, and the number of the list item that it stands in.

    The number is 0 in a list without numbers, None outside of lists.
    """
    for block in note.blocks:
        if block.kind in ("item", "paragraph"):
            lines = note.text(block.span).splitlines()
            listed = _step(lines[0]) if block.kind == "item" else None
            yield from (
                (number, text, listed)
                for number, text in _whole(lines, block.line, cuts=block.kind == "paragraph")
                if not _FIELD.match(text)
            )


def _whole(lines: Sequence[str], first: int, *, cuts: bool) -> Iterator[tuple[int, str]]:
    """Lines with what they go on in.

    Args:
        first: The number of the first line.
        cuts: Whether sentences that begin on a further line stand by themselves.
    """
    number, text = first, lines[0]
    for place, (line, goes_on) in enumerate(zip(lines[1:], flowing(lines), strict=True), start=1):
        if not goes_on or _FIELD.match(text):
            yield number, text
            number, text = first + place, line
            continue
        text = joined(text, line)
        begins = len(text) - len(line.strip())
        if cuts and (own := next((at for at, _ in sentence_spans(text) if at > begins), 0)):
            yield number, text[:own].rstrip()
            number, text = first + place, text[own:]
    yield number, text
