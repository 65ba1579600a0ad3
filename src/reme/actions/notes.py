"""Event notes and the day's index: how events become Markdown, made and added to.

Owns the form of ``daily/<date>/<slug>.md`` and of the generated part of ``daily/<date>.md``. Pure: bytes in, bytes out.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final

from reme.actions.statements import Item, link_to, section_title, write_item
from reme.markdown import Note, Span, parse, region, set_property, splice, with_region
from reme.paths import VaultPath
from reme.reason import StatementKind

__all__ = ["add_items", "day_index", "one_line", "with_frontmatter", "write_event"]

INDEX_REGION: Final = "index"
_KINDS: Final[tuple[StatementKind, ...]] = ("fact", "decision", "state", "procedure", "preference")
_INDEX_LINE: Final = re.compile(r"^- \[\[(?P<path>[^\[\]|]+)\|")
_CJK: Final = re.compile(r"[\u3400-\u9fff]")

Cited = tuple[Item, str]
"""A statement and the link to where it comes from."""


def write_event(
    *,
    name: str,
    description: str,
    session: str,
    dialogue: VaultPath,
    inherits: VaultPath | None,
    statements: Mapping[StatementKind, Sequence[Cited]],
) -> bytes:
    """A new event note."""
    fields = [f"source:: {link_to(dialogue)}"]
    if inherits is not None:
        fields.append(f"inherits:: {link_to(inherits)}")
    head = with_frontmatter({"name": name, "description": description, "session_id": session})
    return add_items(head + b"\n" + "\n".join(fields).encode("utf-8") + b"\n", statements)


def with_frontmatter(properties: Mapping[str, str | list[str]]) -> bytes:
    """A note that is nothing but frontmatter."""
    data = b""
    for key, value in properties.items():
        data = set_property(parse(data), key, value)
    return data


def add_items(data: bytes, statements: Mapping[StatementKind, Sequence[Cited]]) -> bytes:
    """A note with statements added at the ends of their sections; sections that it lacks are added at its end."""
    chinese = any(_CJK.search(item.text) for cited in statements.values() for item, _ in cited)
    for kind in _KINDS:
        lines = [write_item(item, [link]) for item, link in statements.get(kind, ())]
        if lines:
            data = _add_lines(parse(data), data, kind, lines, chinese=chinese)
    return data


def _add_lines(note: Note, data: bytes, kind: StatementKind, lines: list[str], *, chinese: bool) -> bytes:
    newline = "\r\n" if b"\r\n" in data else "\n"
    titles = (section_title(kind, chinese=False), section_title(kind, chinese=True))
    heading = next((heading for heading in note.headings if heading.text in titles), None)
    if heading is None:
        text = newline.join((f"## {titles[chinese]}", "", *lines, ""))
        return _ended(data, newline) + newline.encode() + text.encode("utf-8")
    below = [block for block in note.blocks if block.line > heading.line]
    section: list[Span] = []
    last = "heading"
    for block in below:
        if block.kind == "heading":
            break
        section.append(block.span)
        last = block.kind
    end = section[-1].end if section else heading.span.end
    gap = newline if last == "item" else newline * 2
    rest = data[end:].lstrip(b" \t")
    tail = b"" if not rest or rest.startswith((b"\n", b"\r\n")) else newline.encode()
    return splice(data, [(Span(end, end), (gap + newline.join(lines)).encode("utf-8") + tail)])


def _ended(data: bytes, newline: str) -> bytes:
    return data if not data or data.endswith(b"\n") else data + newline.encode()


def day_index(data: bytes | None, day: date, notes: Mapping[VaultPath, tuple[str, str]]) -> bytes:
    """The day's index with these notes in its generated region; what else it lists and what surrounds it stays.

    Args:
        data: The file as it is, None if absent.
        day: The day.
        notes: By path, name and description.
    """
    if data is None:
        data = with_frontmatter({"name": day.isoformat(), "description": "What happened on this day"}) + b"\n"
    listed: dict[str, str] = {}
    for line in (region(data, INDEX_REGION) or b"").decode("utf-8", "replace").splitlines():
        match = _INDEX_LINE.match(line)
        if match:
            listed[match["path"]] = line
    for path, (name, description) in notes.items():
        shown = re.sub(r"[\[\]|]+", " ", one_line(name)).strip()
        listed[path] = f"- [[{path}|{shown}]] — {one_line(description)}".removesuffix(" — ")
    content = "\n".join(listed[path] for path in sorted(listed))
    return with_region(data, INDEX_REGION, content.encode("utf-8"))


def one_line(text: str) -> str:
    """A text on one line, without what would be read as a comment or a link."""
    return " ".join(re.sub(r"<!--|-->|%%|\[\[|\]\]", " ", text).split())
