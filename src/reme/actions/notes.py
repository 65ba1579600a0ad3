"""Event notes: how events become Markdown, made and added to.

Owns the form of what actions write into ``daily/<date>/<slug>.md``. Pure: bytes in, bytes out.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from reme.actions.origin import Origin
from reme.actions.statements import Item, link_to, section_title, write_item
from reme.markdown import Note, Span, parse, set_property, splice
from reme.paths import VaultPath
from reme.reason import StatementKind

__all__ = ["add_items", "with_frontmatter", "write_event"]

_KINDS: Final[tuple[StatementKind, ...]] = ("fact", "decision", "state", "procedure", "preference")
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
    origin: Origin,
    statements: Mapping[StatementKind, Sequence[Cited]],
) -> bytes:
    """A new event note."""
    fields = [f"source:: {link_to(dialogue)}"]
    if inherits is not None:
        fields.append(f"inherits:: {link_to(inherits)}")
    head = with_frontmatter({"name": name, "description": description, "session_id": session, "origin": origin})
    return add_items(head + b"\n" + "\n".join(fields).encode("utf-8") + b"\n", statements)


def with_frontmatter(properties: Mapping[str, str | list[str]]) -> bytes:
    """A note that is nothing but frontmatter."""
    data = b""
    for key, value in properties.items():
        data = set_property(parse(data), key, value)
    return data


def add_items(data: bytes, statements: Mapping[StatementKind, Sequence[Cited]]) -> bytes:
    """A note with statements added at the ends of their sections; sections that it lacks are added at its end.

    A new section has its heading in the language of most of the statements below it.
    """
    for kind in _KINDS:
        cited = statements.get(kind, ())
        if lines := [write_item(item, [link]) for item, link in cited]:
            chinese = 2 * sum(_CJK.search(item.text) is not None for item, _ in cited) > len(cited)
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
