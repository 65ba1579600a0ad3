"""The conservation laws: what an edit that declares them must keep, checked on the bytes before and after.

Owns the laws. Pure: knows neither files nor who asks.

``keep-links`` (E-1)   every outgoing (target, predicate) is still there
split (E-2)            the parts jointly keep the outgoing edges of the whole
retarget (E-3)         nothing but link targets differs
``keep-words`` (E-4)   the words of every block of the body are still there
``cite-source`` (P-1)  the note links a daily note, a resource or a session
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final, cast

from reme.errors import Refused
from reme.markdown import Note, Span, parse, splice, words
from reme.paths import VaultPath, fold
from reme.vault.changeset import Law
from reme.vault.layout import Layout

__all__ = ["check_laws", "check_retarget", "check_split"]

_ENDS_TARGET: Final = re.compile(rb"[\[\]|#()<>\"'\\\r\n]")
_TARGET: Final = re.compile(r"\[\[[^\]|#\\]*")

_Edge = tuple[str, str | None]


def check_laws(
    path: VaultPath,
    laws: frozenset[Law],
    before: Note,
    post: bytes,
    moves: Mapping[VaultPath, VaultPath],
    layout: Layout,
) -> None:
    """Hold one edit to the laws that it declares.

    Args:
        path: The note.
        before: As it is before; empty for a new one.
        post: Its bytes after.
        moves: What the same change set moves, from and to.

    Raises:
        Refused: Naming the law and what would be lost.
    """
    if not laws:
        return
    after = parse(post)
    if "keep-links" in laws and (lost := _edges([before], moves) - _edges([after], moves)):
        raise _refused(path, "keep-links", "it would lose the links", sorted(_shown(edge) for edge in lost))
    if "keep-words" in laws and (gone := _lost_blocks(before, after)):
        raise _refused(path, "keep-words", "it would lose the text", gone)
    if "cite-source" in laws and not _cites_source(after, layout):
        raise _refused(path, "cite-source", "it would link no source", [])


def check_split(
    source: VaultPath, pre: bytes, parts: Mapping[VaultPath, bytes], moves: Mapping[VaultPath, VaultPath]
) -> None:
    """Hold a split to E-2: ``parts`` jointly keep every outgoing edge that ``source`` had.

    Raises:
        Refused: Naming the edges that would be lost.
    """
    lost = _edges([parse(pre)], moves) - _edges([parse(data) for data in parts.values()], moves)
    if lost:
        raise _refused(source, "split", "its parts would lose the links", sorted(_shown(edge) for edge in lost))


def check_retarget(path: VaultPath, before: Note, post: bytes) -> None:
    """Hold the rewriting of link targets to E-3.

    Raises:
        Refused: If anything else differs.
    """
    if not _only_targets_differ(before, post) and _around_targets(parse(before.source)) != _around_targets(parse(post)):
        raise _refused(path, "retarget", "more than link targets would change", [])


def _only_targets_differ(before: Note, post: bytes) -> bool:
    """Whether the bytes around the targets are the same in the same order: true of nearly every retarget, and told
    without reading the note again."""
    starts = [0, *(link.target_span.end for link in before.links)]
    ends = [*(link.target_span.start for link in before.links), len(before.source)]
    around = [before.source[start:end] for start, end in zip(starts, ends, strict=True)]
    if not post.startswith(around[0]):
        return False
    at = len(around[0])
    for kept in around[1:]:
        found = post.find(kept, at)
        if found < 0 or _ENDS_TARGET.search(post, at, found):
            return False
        at = found + len(kept)
    return at == len(post)


def _around_targets(note: Note) -> tuple[object, bytes]:
    """What a retarget must keep: the body's bytes around the targets, and the properties around theirs, as data, since
    a plain YAML string may need quotes once its target has changed."""
    body = [link for link in note.links if link.origin == "body"]
    start = note.body.start
    spans = [(Span(link.target_span.start - start, link.target_span.end - start), b"") for link in body]
    rest = splice(note.source[start:], spans)
    if note.frontmatter is not None and not note.frontmatter.valid:
        return note.text(note.frontmatter.span), rest
    return _blanked(note.properties), rest


def _blanked(value: object) -> object:
    match value:
        case str():
            return _TARGET.sub("[[", value)
        case dict():
            pairs = cast(dict[object, object], value).items()
            return {_blanked(key): _blanked(inner) for key, inner in pairs}
        case list():
            return [_blanked(inner) for inner in cast(list[object], value)]
        case _:
            return value


def _edges(notes: Iterable[Note], moves: Mapping[VaultPath, VaultPath]) -> set[_Edge]:
    renamed = {_key(source): _key(target) for source, target in moves.items()}
    keys = ((_key(link.target), link.predicate) for note in notes for link in note.links if link.kind != "image")
    return {(renamed.get(key, key), predicate) for key, predicate in keys}


def _key(target: str) -> str:
    return fold(target).removesuffix(".md")


def _shown(edge: _Edge) -> str:
    target, predicate = edge
    return f"{predicate}:: [[{target}]]" if predicate else f"[[{target}]]"


def _lost_blocks(before: Note, after: Note) -> list[str]:
    kept = [words(after.text(block.span)) for block in after.blocks]
    prior = (words(before.text(block.span)) for block in before.blocks)
    return [text for text in prior if text and not any(_holds(block, text) for block in kept)]


def _holds(whole: str, part: str) -> bool:
    """Whether a block's words are in another's, not merely its letters inside longer words."""
    at = whole.find(part)
    while at >= 0:
        end = at + len(part)
        opens = at == 0 or not (_latin(part[0]) and _latin(whole[at - 1]))
        closes = end == len(whole) or not (_latin(part[-1]) and _latin(whole[end]))
        if opens and closes:
            return True
        at = whole.find(part, at + 1)
    return False


def _latin(char: str) -> bool:
    """Whether words of this script run together without spaces around them being missed: not so in Chinese."""
    return char.isalnum() and ord(char) < 0x2E80


def _cites_source(note: Note, layout: Layout) -> bool:
    sources = tuple(f"{folder}/" for folder in (layout.daily, layout.resource, layout.session))
    return any(link.target.startswith(sources) for link in note.links)


def _refused(path: VaultPath, law: str, what: str, lost: list[str]) -> Refused:
    named = ": " + "; ".join(text if len(text) <= 80 else text[:79] + "…" for text in lost[:3]) if lost else ""
    return Refused(
        f"{path} is not written, since {what}{named}",
        hint="Keep what is there and add to it.",
        details={"rule": law, "path": path, "lost": list(lost)},
    )
