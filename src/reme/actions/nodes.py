"""Digest nodes: how units become Markdown, made and worked into what is there.

Owns the form of ``digest/<bucket>/<slug>.md`` and the application of block edits, which keeps every prior word and
link. Pure: bytes in, bytes out.

    - <statement> — [[daily/…]], [[daily/…]]                          a claim with its sources
    > [!superseded] <old statement> (until <date>) — [[daily/…]]      under the claim that replaced it
    > [!conflict] <statement> — [[daily/…]]                           beside the claim that it contradicts
    derived_from:: [[daily/…]]                                        every source, at the end
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, assert_never, cast

from reme.actions.notes import with_frontmatter
from reme.actions.origin import Origin, lowest, with_origin
from reme.actions.statements import Item, link_to, read_item, stated, write_item
from reme.markdown import Block, Note, Span, is_withdrawn, parse, set_property, splice
from reme.paths import VaultPath, fold, stem
from reme.reason import Candidate, Cite, Claim, Contradict, Insert, NodeEdit, OfflineReasoner, Supersede
from reme.revision import Revision, revision_of
from reme.tools import one_line

__all__ = ["CONFLICT", "Citing", "Node", "Worked", "as_candidate", "read_node", "work_in", "write_node"]

CONFLICT: Final = b"> [!conflict] "
"""How a statement begins that contradicts the one above it."""
_CALLOUT: Final = re.compile(r"^>\s*\[!(?P<kind>[\w-]+)\][+-]?\s*")
_QUOTE: Final = re.compile(r"^>\s?", re.MULTILINE)
_BULLET: Final = re.compile(r"^(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?")
_MARK: Final = re.compile(r"^(?:[-*+]|\d{1,9}[.)])\s+")
_NUMBER: Final = re.compile(r"(?P<number>\d{1,9})[.)]\s")
_CITATION: Final = re.compile(r" — (?:\[\[[^\[\]]+\]\](?:, )?)+$")
_FIELD: Final = re.compile(r"^(?:[-*+]\s+)?(?P<key>[^\W\d][\w-]*):: ", re.MULTILINE)
_PREDICATE: Final = re.compile(r"[^\W\d_][\w-]*")
_PERSON: Final = re.compile(r"(?<=: )|(?<=：)")


@dataclass(frozen=True, slots=True)
class Citing:
    """How claims are cited: the statement that a claim makes, and the sources behind its evidence numbers."""

    item: Callable[[Claim], Item]
    sources: Callable[[tuple[int, ...]], tuple[VaultPath, ...]]


@dataclass(frozen=True, slots=True)
class Node:
    """A node as it is: the blocks that a reasoner sees are ``shown``, numbered from 1, with what each says.

    Attributes:
        texts: The statement of each, without mark and citation.
        speakers: Who says it, or empty.
        days: When it was said, as ``2026-05-14``, or empty.
    """

    path: VaultPath
    revision: Revision
    note: Note
    shown: tuple[Block, ...]
    texts: tuple[str, ...]
    speakers: tuple[str, ...]
    days: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Worked:
    """A node with edits worked in.

    Attributes:
        data: Its bytes; the old ones if the edits came to nothing.
        landed: The claims that stand in it now, those that it had already among them.
        refused: Edits that could not be followed, with the reason.
    """

    data: bytes
    landed: tuple[Claim, ...]
    refused: tuple[str, ...]


def read_node(path: VaultPath, data: bytes) -> Node:
    """Read a node. Headings, fields, code and superseded statements are not shown to reasoners."""
    note = parse(data)
    shown: list[Block] = []
    says: list[tuple[str, str, str]] = []
    for block in note.blocks:
        text = _shown(note, block)
        item = read_item(text)
        if statement := item.text if item else _CITATION.sub("", text).strip():
            shown.append(block)
            says.append((statement, item.speaker if item else "", item.day.isoformat() if item else ""))
    texts, speakers, days = zip(*says, strict=True) if says else ((), (), ())
    return Node(path, revision_of(data), note, tuple(shown), texts, speakers, days)


def _shown(note: Note, block: Block) -> str:
    """A block without its mark; empty if reasoners do not see it."""
    text = note.text(block.span)
    match block.kind:
        case "item" | "paragraph":
            return "" if _FIELD.match(text) else _BULLET.sub("", text, count=1)
        case "quote":
            callout = _CALLOUT.match(text)
            superseded = callout is not None and callout["kind"].lower() == "superseded"
            return "" if superseded else _QUOTE.sub("", _CALLOUT.sub("", text, count=1))
        case _:
            return ""


def as_candidate(node: Node, bucket: str, *, neighbour: bool) -> Candidate:
    """A node as a reasoner sees it."""
    properties = node.note.properties
    return Candidate(
        name=str(properties.get("name") or stem(node.path)),
        description=str(properties.get("description") or ""),
        aliases=_aliases(node.note),
        bucket=bucket,
        blocks=node.texts,
        neighbour=neighbour,
        speakers=node.speakers,
        days=node.days,
    )


def write_node(
    *,
    name: str,
    description: str,
    aliases: Sequence[str],
    origin: Origin,
    claims: Sequence[Claim],
    citing: Citing,
    sources: Sequence[VaultPath],
    relations: Sequence[tuple[str, VaultPath]],
) -> bytes:
    """A new node."""
    properties: dict[str, str | list[str]] = {"name": one_line(name), "description": one_line(description)}
    if aliases:
        properties["aliases"] = [one_line(alias) for alias in aliases]
    properties["origin"] = origin
    items = [_item(claim, citing) for claim in claims]
    fields = [f"derived_from:: {link_to(source)}" for source in sources]
    fields += [_relation(predicate, target) for predicate, target in relations]
    return with_frontmatter(properties) + "\n".join(("", *items, "", *fields, "")).encode("utf-8")


def _item(claim: Claim, citing: Citing) -> str:
    return write_item(citing.item(claim), [link_to(source) for source in citing.sources(claim.evidence)])


def _relation(predicate: str, target: VaultPath) -> str:
    if not predicate:
        return f"- {link_to(target)}"
    return f"{predicate if _PREDICATE.fullmatch(predicate) else 'related'}:: {link_to(target)}"


# Working in


@dataclass(slots=True)
class _Place:
    """What becomes of one block: how it reads, and what follows it."""

    cited: list[VaultPath] = field(default_factory=list[VaultPath])
    superseded: str = ""
    callouts: list[str] = field(default_factory=list[str])
    items: list[str] = field(default_factory=list[str])


def work_in(
    node: Node,
    edits: Sequence[NodeEdit],
    citing: Citing,
    relations: Sequence[tuple[str, VaultPath]],
    origins: Mapping[VaultPath, Origin] | None = None,
    learnt: Callable[[VaultPath], Iterable[str]] = lambda _: (),
) -> Worked:
    """Apply block edits one by one. Whatever the edits, no word and no link that stands in the node is lost.

    Its title and description follow what stands, where they say what is superseded or was taken out.

    Args:
        learnt: Tells what a node has stated when it was learnt.
        origins: Of the sources that may be cited: the node falls to the lowest of those that are.
    """
    places: dict[int, _Place] = {}
    landed: list[Claim] = []
    refused: list[str] = []
    cited: list[VaultPath] = []
    instead: dict[str, str] = {}
    for edit in edits:
        known = _known(node, edit)
        if reason := _objection(node, places, known):
            refused.append(reason)
            continue
        claim = _note_edit(node, places, known, citing)
        landed.append(claim)
        cited.extend(citing.sources(claim.evidence))
        if isinstance(known, Supersede):
            instead[node.texts[known.block - 1]] = claim.text
    data = _renumbered(_spliced(node, places), frozenset(item for place in places.values() for item in place.items))
    if landed:
        data = _with_fields(data, [("derived_from", source) for source in dict.fromkeys(cited)])
    data = _with_fields(data, relations)
    if data != node.note.source:
        data = _following(node.path, data, instead, learnt)
        data = with_origin(data, lowest(origins[source] for source in cited)) if origins else data
    return Worked(data, tuple(landed), tuple(refused))


def _following(
    path: VaultPath, data: bytes, instead: Mapping[str, str], learnt: Callable[[VaultPath], Iterable[str]]
) -> bytes:
    """The node with a description of what it states, where the one that it has says what it states no more.

    So with its title, which is an alias from then on: what links by it, or looks for it, finds the node.

    Args:
        instead: What was superseded just now, and by what.
    """
    node = read_node(path, data)
    described, name = (str(node.note.properties.get(key) or "") for key in ("description", "name"))
    if not node.texts or not is_withdrawn(node.note, described, learnt(path)):
        return data
    successor = next((new for old, new in instead.items() if fold(described) in fold(old)), None)
    title, description = OfflineReasoner().entitle(node.texts if successor is None else [successor])
    changed: dict[str, str | list[str]] = {"description": one_line(description)}
    *person, called = _PERSON.split(name, maxsplit=1)
    if is_withdrawn(node.note, called, learnt(path)):
        changed["name"] = one_line("".join((*person, title)))
        changed["aliases"] = list(dict.fromkeys((*_aliases(node.note), name)))
    for key, value in changed.items():
        data = set_property(parse(data), key, value)
    return data


def _aliases(note: Note) -> tuple[str, ...]:
    aliases = note.properties.get("aliases")
    listed = cast("list[object]", aliases if isinstance(aliases, list) else [aliases] if aliases else [])
    return tuple(str(alias) for alias in listed)


def _known(node: Node, edit: NodeEdit) -> NodeEdit:
    """A claim that stands there already, word for word, is cited and not repeated."""
    if isinstance(edit, Cite) or edit.claim.text not in node.texts:
        return edit
    return Cite(node.texts.index(edit.claim.text) + 1, edit.claim.evidence)


def _objection(node: Node, places: dict[int, _Place], edit: NodeEdit) -> str:
    block = edit.after if isinstance(edit, Insert) else edit.block
    least = 0 if isinstance(edit, Insert) else 1
    if not least <= block <= len(node.shown):
        return f"{type(edit).__name__.lower()}: block {block} of {node.path} was not offered"
    place = places.get(block, _Place())
    if (isinstance(edit, Supersede) and (place.superseded or place.cited)) or (
        isinstance(edit, Cite) and place.superseded
    ):
        return f"{type(edit).__name__.lower()}: block {block} of {node.path} has been edited by this answer already"
    return ""


def _note_edit(node: Node, places: dict[int, _Place], edit: NodeEdit, citing: Citing) -> Claim:
    match edit:
        case Insert(after, claim):
            places.setdefault(after, _Place()).items.append(_item(claim, citing))
            return claim
        case Cite(block, evidence):
            places.setdefault(block, _Place()).cited.extend(citing.sources(evidence))
            return Claim(node.texts[block - 1], evidence)
        case Contradict(block, claim):
            links = [link_to(source) for source in citing.sources(claim.evidence)]
            text = stated(citing.item(claim), links)
            places.setdefault(block, _Place()).callouts.append(CONFLICT.decode() + text)
            return claim
        case Supersede(block, claim):
            stands = any(_item(claim, citing) == place.superseded for place in places.values())
            until, sources = citing.item(claim).day.isoformat(), citing.sources(claim.evidence)
            old = _MARK.sub("", _CALLOUT.sub("", _raw(node, block), count=1), count=1)
            lines = _QUOTE.sub("", old).replace("\r\n", "\n").split("\n")
            quoted = "\n".join(f"> {line}".rstrip() for line in lines)[2:]
            ended = f"(until {until}) — {', '.join(link_to(source) for source in sources)}"
            callout, place = f"> [!superseded] {quoted} {ended}", places.setdefault(block, _Place())
            if stands:
                place.superseded = f"\n{callout}"
            else:
                place.superseded = _item(claim, citing)
                place.callouts.insert(0, callout)
            return claim
        case _:
            assert_never(edit)


def _raw(node: Node, block: int) -> str:
    return node.note.text(node.shown[block - 1].span)


def _spliced(node: Node, places: dict[int, _Place]) -> bytes:
    source = node.note.source
    newline = "\r\n" if b"\r\n" in source else "\n"
    pieces: list[tuple[Span, bytes]] = []
    for number, place in sorted(places.items()):
        if number == 0:
            first = node.shown[0] if node.shown else None
            at = first.span.start if first else node.note.body.end
            gap = "\n" if first is None or first.kind == "item" else "\n\n"
            lead = "" if first or not source or source.endswith(b"\n") else "\n"
            text, span = lead + "\n".join(place.items) + gap, Span(at, at)
        else:
            block = node.shown[number - 1]
            text, span = _replaced(_raw(node, number), block, place, source), block.span
        pieces.append((span, text.replace("\r\n", "\n").replace("\n", newline).encode("utf-8")))
    return splice(source, pieces)


def _renumbered(data: bytes, put_in: frozenset[str]) -> bytes:
    """The node with the steps behind one that was put in counting on from it; a list that begins anew stays."""
    if not any(_NUMBER.match(item) for item in put_in):
        return data
    note, pieces = parse(data), list[tuple[Span, bytes]]()
    last, counts_on = 0, False
    for block in note.blocks:
        start = block.span.start
        if block.kind != "item" or note.source[:start].rpartition(b"\n")[2]:
            continue
        item = note.text(block.span).rstrip()
        mark = _NUMBER.match(item)
        number, own = int(mark["number"]) if mark else 0, item in put_in
        counts_on = own or (counts_on and (number > 1 or number == last))
        if mark and counts_on and (number <= last or (own and last)):
            number = last + 1
            pieces.append((Span(start, start + mark.end("number")), str(number).encode()))
        last = number
    return splice(data, pieces)


def _replaced(raw: str, block: Block, place: _Place, source: bytes) -> str:
    """A block with its citations, then its callouts, then what is inserted behind it."""
    text = place.superseded or _with_citations(raw, place.cited)
    is_item = not place.superseded.startswith("\n") if place.superseded else block.kind == "item"
    for callout in place.callouts:
        text += f"\n\n{callout}"
    if place.items:
        text += ("\n" if is_item and not place.callouts else "\n\n") + "\n".join(place.items)
    follows = source[block.span.end :].lstrip(b" \t")
    needs_gap = bool(place.callouts or place.superseded or (place.items and not is_item)) and not re.match(
        rb"\r?\n[ \t]*(?:\r?\n|\Z)|\Z", follows
    )
    return text + ("\n" if needs_gap else "")


def _with_citations(raw: str, sources: Sequence[VaultPath]) -> str:
    fresh = [link for source in dict.fromkeys(sources) if (link := link_to(source)) not in raw]
    if not fresh:
        return raw
    bare = raw.rstrip()
    cited = _CITATION.search(bare) is not None
    return f"{bare}{', ' if cited else ' — '}{', '.join(fresh)}{raw[len(bare) :]}"


def _with_fields(data: bytes, fields: Sequence[tuple[str, VaultPath]]) -> bytes:
    """The note with field lines for these links behind those that it has, or at its end."""
    note = parse(data)
    have = {(link.predicate, link.target) for link in note.links}
    lines = [_relation(key, target) for key, target in dict.fromkeys(fields) if (key or None, target) not in have]
    if not lines:
        return data
    newline = "\r\n" if b"\r\n" in data else "\n"
    home = [block for block in note.blocks if block.kind == "paragraph" and _FIELD.match(note.text(block.span))]
    if home and not any(line.startswith("- ") for line in lines):
        end = home[-1].span.end
        return splice(data, [(Span(end, end), (newline + newline.join(lines)).encode("utf-8"))])
    tail = b"" if not data or data.endswith(b"\n") else newline.encode()
    return data + tail + (newline + newline.join(lines) + newline).encode("utf-8")
