"""What holds for every note, whatever its bytes: for generated notes, for fuzzing, and for what fuzzing has found."""

import hashlib
from itertools import pairwise

from reme.errors import InvalidInput
from reme.markdown import Note, Span, chunk, delete_property, fingerprint, parse, retarget, set_property, splice
from reme.markdown.blocks import parsed_outline, plain_outline
from reme.markdown.retarget import is_wikilink, known_links
from reme.markdown.yaml12 import read_yaml

WHITE = b" \t\r\n\v\f"


def check_note(data: bytes) -> None:
    """All laws that need no other input than the bytes of a file."""
    note = parse(data)
    if note.encoding == "utf-8":
        assert note.source == data
    assert parse(data) == note
    check_spans(note)
    check_chunks(note)
    check_short_ways(note)
    assert len(bytes.fromhex(fingerprint(note))) == hashlib.blake2b(digest_size=16).digest_size
    check_edits(note)


def check_spans(note: Note) -> None:
    size = len(note.source)
    start = note.frontmatter.span.end if note.frontmatter else note.body.start
    assert note.body == Span(start, size)
    head = note.frontmatter.span.start if note.frontmatter else start
    assert note.source[:head] in (b"", b"\xef\xbb\xbf")
    reached = 0
    for block in note.blocks:
        assert reached <= block.span.start < block.span.end <= size
        assert not note.source[max(reached, start) : block.span.start].strip(WHITE)
        assert block.line == note.source.count(b"\n", 0, block.span.start) + 1
        assert note.source[block.span.end : block.span.end + 1] in (b"\r", b"\n", b"")
        reached = block.span.end
    assert not note.source[max(reached, start) :].strip(WHITE)
    assert [link.span.start for link in note.links] == sorted(link.span.start for link in note.links)
    for link in note.links:
        assert link.span.start <= link.target_span.start <= link.target_span.end <= link.span.end
        assert note.text(link.span)
        if link.origin == "body" and is_wikilink(note, link):
            assert note.text(link.target_span) == link.target
    for field in note.fields:
        assert field.key in note.text(field.span)
        assert field.value in note.text(field.span)
    for tag in note.tags:
        assert tag.name in note.source.decode("utf-8") or tag.origin == "frontmatter"


def check_chunks(note: Note) -> None:
    """They cover the body in order, each an exact piece of it, with nothing but white space between two."""
    reached, line = note.body.start, 0
    for piece in chunk(note):
        assert reached <= piece.span.start <= piece.span.end <= note.body.end
        assert not note.source[reached : piece.span.start].strip(WHITE)
        assert line <= piece.line <= piece.end_line
        assert piece.line == note.source.count(b"\n", 0, piece.span.start) + 1
        note.text(piece.span)
        reached, line = piece.span.end, piece.line
    assert not note.source[reached:].strip(WHITE)


def check_short_ways(note: Note) -> None:
    """What is read without the parsers of CommonMark and YAML is what these would read."""
    plain = plain_outline(note.source, note.body.start)
    if plain is not None:
        assert without_blank_ends(note, plain.blocks) == without_blank_ends(
            note, parsed_outline(note.source, note.body.start).blocks
        )
        parsed = parsed_outline(note.source, note.body.start)
        assert (plain.headings, plain.opaque, plain.references) == (parsed.headings, parsed.opaque, parsed.references)
    if note.frontmatter is not None:
        text = note.text(note.frontmatter.content)
        short, long = read_yaml(text), read_yaml(text, with_entries=True)
        assert repr(short.data) == repr(long.data)
        assert short.complaints == long.complaints
    for target in {link.target for link in note.links}:
        named = [link for link in note.links if link.target == target]
        if all(link.kind == "wiki" and link.origin == "body" for link in named):
            known = known_links(note.source, {target: [link.line for link in named]})
            places = [(link.target, link.target_span, link.span, link.line) for link in named]
            assert known is None or places == [(x.target, x.target_span, x.span, x.line) for x in known.links]


def without_blank_ends(note: Note, blocks: list[tuple[str, int, int]]) -> list[tuple[str, int, int]]:
    return [(kind, start, start + len(note.source[start:end].rstrip(WHITE))) for kind, start, end in blocks]


def check_edits(note: Note) -> None:
    """Edits that say nothing new change nothing, and each other one only its own bytes."""
    spans = sorted({link.target_span for link in note.links})
    if all(one.end <= other.start for one, other in pairwise(spans)):
        same = [(span, note.source[span.start : span.end]) for span in spans]
        assert splice(note.source, same) == note.source
    assert retarget(note, lambda link: link.target) == note.source
    try:
        added = parse(set_property(note, "fuzzed key", "v: [w]"))
    except InvalidInput:
        return
    assert added.properties["fuzzed key"] == "v: [w]"
    assert added.source[added.body.start :] == note.source[note.body.start :]
    removed = parse(delete_property(added, "fuzzed key"))
    assert repr(removed.properties) == repr({k: v for k, v in note.properties.items() if k != "fuzzed key"})
    assert removed.source[removed.body.start :] == note.source[note.body.start :]


def outside(note: Note) -> list[bytes]:
    """What stands around the targets."""
    pieces: list[bytes] = []
    reached = 0
    for link in note.links:
        pieces.append(note.source[reached : link.target_span.start])
        reached = link.target_span.end
    return [*pieces, note.source[reached:]]
