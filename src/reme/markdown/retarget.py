"""Giving links other targets: nothing but the bytes that spell a target changes.

Owns how a target is spelled in each place that a link can stand in: a wikilink, a Markdown link, a YAML string; and how
links are found again of which it is known that they are there.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final
from urllib.parse import quote

from reme.errors import InvalidInput
from reme.markdown.frontmatter import read_frontmatter
from reme.markdown.inline import trimmed
from reme.markdown.note import Link, Note, Span
from reme.markdown.parse import parse
from reme.markdown.spans import splice
from reme.markdown.yaml12 import Text

__all__ = ["is_wikilink", "known_links", "link_text", "retarget"]

_URL_SAFE: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/!$'*+,;=@~-._")
_ENCODED_LETTER: Final = re.compile(rb"%[89A-Fa-f][0-9A-Fa-f]")
_BREAKS_PLAIN: Final = re.compile(r":(?:\s|\Z)|\s#|\t")
_PLAIN_TARGET: Final = re.compile(r"[\w./,'-](?:[\w ./,'-]*[\w./,'-])?")
_OPENED: Final = re.compile(rb"\[\[(?!\[)([^\[\]|#\n\r]*)")
_OTHER_BRACKETS: Final = (b"](", b"]:", b"<")
"""Where these stand, what is a link may depend on the text in its brackets."""


def retarget(note: Note, choose: Callable[[Link], str | None]) -> bytes:
    """The note's bytes with other targets in some of its links.

    Alias, anchor, embed mark, predicate and everything around the links stay byte for byte. (A plain YAML string whose
    new target would end it is put in quotes.)

    Args:
        note: The note, as it was parsed or by ``known_links``.
        choose: The new target of a link, as it would be in ``Link.target``, or None to leave the link as it is.

    Raises:
        InvalidInput: A target cannot be written in such a link, or the note is not UTF-8.
    """
    asked = ((link, choose(link)) for link in note.links)
    changed = [(link, target) for link, target in asked if target is not None and target != link.target]
    if not changed:
        return note.source
    if note.encoding != "utf-8":
        raise InvalidInput(f"The note is in {note.encoding}, not UTF-8; its links cannot be rewritten.")
    edits = [
        (link.target_span, link_text(note, link, target).encode("utf-8"))
        for link, target in changed
        if link.origin == "body"
    ]
    edits += _frontmatter_edits(note, [pair for pair in changed if pair[0].origin == "frontmatter"])
    result = splice(note.source, edits)
    if _is_read_alike(note, changed):
        return result
    chosen = {link.target_span: target for link, target in changed}
    links = note.links if note.blocks else parse(note.source).links
    wanted = [_identity(link, chosen.get(link.target_span, link.target)) for link in links]
    if [_identity(link, link.target) for link in parse(result).links] != wanted:
        targets = sorted({target for _, target in changed})
        raise InvalidInput(
            f"Not every one of these can be written as a link's target: {', '.join(map(repr, targets))}.",
            hint="Choose a name without '[', ']', '|', '#', '`' and '$'.",
            details={"targets": targets, "lines": sorted({link.line for link, _ in changed})},
        )
    return result


def known_links(source: bytes, lines: Mapping[str, Sequence[int]]) -> Note | None:
    """A note of which nothing is read but some links that it is known to have.

    What opens as such a link does is one, if as many do in the same lines.

    Args:
        source: The note's bytes.
        lines: The lines of its links to each of some targets, which are all wikilinks of the body.

    Returns:
        None where the links are not found so, or their brackets may mean something else, too: it must be parsed then.
    """
    if any(bracket in source for bracket in _OTHER_BRACKETS) or not all(map(_PLAIN_TARGET.fullmatch, lines)):
        return None
    found: dict[str, list[int]] = {target: [] for target in lines}
    spelled = {target.encode() for target in lines}
    links: list[Link] = []
    try:
        source.decode("utf-8")
    except UnicodeDecodeError:
        return None
    for match in _OPENED.finditer(source):
        if not any(target in match[1] for target in spelled):
            continue
        first, last = match.span(1)
        target, place = trimmed(source, first, last - source.startswith(b"\\|", last - 1))
        if target in found:
            line = source.count(b"\n", 0, first) + 1
            found[target].append(line)
            span = Span(match.start(), source.find(b"]]", last) + 2)
            links.append(Link("wiki", target, None, None, None, span, place, line))
    if found != lines:
        return None
    return Note(source, "utf-8", None, Span(0, len(source)), (), (), tuple(links), (), (), ())


def is_wikilink(note: Note, link: Link) -> bool:
    """Whether a link is written in double square brackets, as ``[[x]]`` or ``![[x]]``."""
    return link.kind != "markdown" and note.source[link.span.end - 1] == 0x5D


def link_text(note: Note, link: Link, target: str) -> str:
    """How a target is spelled in a link of the body: as it is, or percent-encoded as far as a URL needs it."""
    if is_wikilink(note, link):
        return target
    start, end = link.target_span
    if note.source[link.span.start : start].rstrip().endswith(b"<"):
        return "".join(quote(char) if char in "<>%#\\\r\n" else char for char in target)
    encode_letters = bool(_ENCODED_LETTER.search(note.source, start, end))
    return "".join(
        char if char in _URL_SAFE or (ord(char) > 127 and char.isprintable() and not encode_letters) else quote(char)
        for char in target
    )


def _is_read_alike(note: Note, changed: list[tuple[Link, str]]) -> bool:
    """Whether no other targets of such links can change how the note is read, so that it need not be read again."""
    return not any(bracket in note.source for bracket in _OTHER_BRACKETS) and all(
        link.kind == "wiki"
        and link.origin == "body"
        and _PLAIN_TARGET.fullmatch(link.target)
        and _PLAIN_TARGET.fullmatch(target)
        for link, target in changed
    )


def _identity(link: Link, target: str) -> tuple[object, ...]:
    return link.kind, target, link.anchor, link.alias, link.predicate, link.origin


def _frontmatter_edits(note: Note, changed: list[tuple[Link, str]]) -> list[tuple[Span, bytes]]:
    if not changed or note.frontmatter is None:
        return []
    _, strings, _ = read_frontmatter(note.source, note.frontmatter.span, note.frontmatter.content)
    edits: list[tuple[Span, bytes]] = []
    coming = iter(changed)
    pair = next(coming, None)
    for text, place in strings:
        inside: list[tuple[Span, str]] = []
        while pair is not None and pair[0].target_span.start < place.end:
            inside.append((pair[0].target_span, pair[1]))
            pair = next(coming, None)
        edits += _string_edits(note.source, text, place, inside)
    return edits


def _string_edits(source: bytes, text: Text, place: Span, inside: list[tuple[Span, str]]) -> list[tuple[Span, bytes]]:
    """Edits of one YAML string: of the targets alone where the string's style can hold them."""
    if not text.style and any(_BREAKS_PLAIN.search(target) for _, target in inside):
        shifted = [(Span(span.start - place.start, span.end - place.start), target.encode()) for span, target in inside]
        value = splice(source[place.start : place.end], shifted).decode("utf-8")
        return [(place, _escaped(value, "'").join("''").encode("utf-8"))]
    return [(span, _escaped(target, text.style).encode("utf-8")) for span, target in inside]


def _escaped(text: str, style: str) -> str:
    match style:
        case "'":
            return text.replace("'", "''")
        case '"':
            return text.replace("\\", "\\\\").replace('"', '\\"')
        case _:
            return text
