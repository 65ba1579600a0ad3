"""Reading: a note or other text, whole, by lines or by heading, however large the file.

Owns what a reader gets to see of a file. Knows nothing of links or indexes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, BinaryIO, Final

from annotated_types import Ge

from reme.errors import Conflict, InvalidInput, NotFound
from reme.markdown import Heading, Note, parse
from reme.paths import VaultPath, fold, is_markdown
from reme.revision import Revision, digest
from reme.tools.workspace import Workspace

__all__ = ["Text", "read", "read_text"]

_LIMIT: Final = 1_000_000
"""Bytes that one read returns at most."""

_LARGEST_PARSED: Final = 32_000_000
"""Bytes of a file whose headings are looked for at all; lines are found in any."""

_PIECE: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Text:
    """A stretch of whole lines of a file.

    Attributes:
        text: The lines with their own endings, without a byte-order mark.
        revision: Of the whole file: what to give as ``expected_revision``.
        start_line: 1-based first line; 0 where the file is empty.
        end_line: The last line, included.
        total_lines: How many lines the file has.
        encoding: ``utf-8``, or the codec in which the file was read.
        truncated: Whether more was asked for than one read returns; go on at ``end_line + 1``.
    """

    path: VaultPath
    text: str
    revision: Revision
    start_line: int
    end_line: int
    total_lines: int
    encoding: str = "utf-8"
    truncated: bool = False


def read(
    workspace: Workspace,
    path: Annotated[str, "The note or text file; .md may be left out"],
    start_line: Annotated[int | None, "First line, from 1", Ge(1)] = None,
    end_line: Annotated[int | None, "Last line, included", Ge(1)] = None,
    heading: Annotated[str | None, "Only the section under this heading: 'Steps' or 'Rotation > Steps'"] = None,
) -> Text:
    """Read a note or other text file: whole, some lines, or the section under a heading.

    At most a million bytes are returned at once.

    Raises:
        NotFound: If there is no such file, line or heading.
        Conflict: If several headings match, naming their lines.
        InvalidInput: If the file is not text, or too large for headings, or lines and heading are both given.
    """
    vault = workspace.vault
    found = vault.find(path)
    if heading is not None:
        if start_line is not None or end_line is not None:
            raise InvalidInput("a heading and lines are both given", hint="Give one of them.")
        facts = vault.stat(found)
        if facts is not None and facts.size > _LARGEST_PARSED:
            raise InvalidInput(f"{found} is too large to be read by heading", hint="Read it by lines.")
        note = parse(vault.read(found).data)
        start_line, end_line = _section(found, note, heading)
    if start_line is not None and end_line is not None and end_line < start_line:
        raise InvalidInput(f"end_line {end_line} is before start_line {start_line}")
    with vault.open(found) as stream:
        piece = _collect(stream, start_line or 1, end_line)
    if start_line is not None and start_line > max(piece.total, 1):
        raise NotFound(
            f"{found} has no line {start_line}, only {piece.total}",
            hint="Read without start_line.",
            details={"path": found, "total_lines": piece.total},
        )
    text, encoding = _decode(found, piece)
    workspace.met([found])
    first = min(start_line or 1, piece.total)
    return Text(found, text, piece.revision, first, piece.end, piece.total, encoding, piece.truncated)


def read_text(result: Text) -> str:
    """The lines under one line that says what they are."""
    lines = f"lines {result.start_line}-{result.end_line} of {result.total_lines}"
    more = f", cut short: go on at line {result.end_line + 1}" if result.truncated else ""
    encoding = "" if result.encoding == "utf-8" else f", {result.encoding}"
    return f"[{result.path} {lines}, revision {result.revision}{encoding}{more}]\n{result.text}"


@dataclass(frozen=True, slots=True)
class _Piece:
    data: bytes
    end: int
    total: int
    revision: Revision
    truncated: bool


def _collect(stream: BinaryIO, first: int, last: int | None) -> _Piece:
    """Go through a file once, keeping only the lines that are wanted."""
    whole = digest()
    kept = bytearray()
    truncated = False
    line = 1
    ended = True
    for part in _parts(stream):
        whole.update(part)
        if line >= first and (last is None or line <= last) and not truncated:
            truncated = len(kept) + len(part) > _LIMIT
            if not truncated:
                kept += part
        ended = part.endswith(b"\n")
        line += ended
    total = line - 1 if ended else line
    if truncated and (newline := kept.rfind(b"\n")) >= 0:
        del kept[newline + 1 :]
    count = kept.count(b"\n") + (bool(kept) and not kept.endswith(b"\n"))
    return _Piece(bytes(kept), min(first - 1 + count, total), total, Revision(whole.hexdigest()), truncated)


def _parts(stream: BinaryIO) -> Iterator[bytes]:
    """Lines, the very long ones in several parts."""
    while part := stream.readline(_PIECE):
        yield part


def _section(path: VaultPath, note: Note, wanted: str) -> tuple[int, int | None]:
    """First and last line of the section under a heading; no last one where it runs to the end."""
    if not is_markdown(path):
        raise InvalidInput(f"{path} is no Markdown, so it has no headings", hint="Read it by lines.")
    matches = [h for h, trail in _trails(note) if _matches(trail, wanted)]
    if not matches:
        raise NotFound(
            f"{path} has no heading {wanted!r}",
            hint="Its headings: " + "; ".join(h.text for h in note.headings[:20]) if note.headings else "It has none.",
            details={"path": path, "headings": [h.text for h in note.headings]},
        )
    if len(matches) > 1:
        lines = [h.line for h in matches]
        raise Conflict(
            f"{path} has {len(matches)} headings {wanted!r}, in lines {', '.join(map(str, lines))}",
            hint="Name the heading above it too, as in 'Rotation > Steps', or read by lines.",
            details={"path": path, "lines": lines},
        )
    section = matches[0]
    following = (h.line for h in note.headings if h.line > section.line and h.level <= section.level)
    end = next(following, None)
    return section.line, end - 1 if end is not None else None


def _trails(note: Note) -> Iterator[tuple[Heading, tuple[str, ...]]]:
    """Every heading with the texts of those above it and its own."""
    above: list[Heading] = []
    for heading in note.headings:
        while above and above[-1].level >= heading.level:
            above.pop()
        above.append(heading)
        yield heading, tuple(h.text for h in above)


def _matches(trail: tuple[str, ...], wanted: str) -> bool:
    asked = fold(wanted.strip().lstrip("#").strip())
    if fold(trail[-1]) == asked:
        return True
    steps = [step.strip() for step in asked.split(" > ")]
    return len(steps) > 1 and [fold(text) for text in trail[-len(steps) :]] == steps


def _decode(path: VaultPath, piece: _Piece) -> tuple[str, str]:
    data = piece.data
    if piece.truncated:
        data = _whole_characters(data)
    try:
        if b"\0" not in data:
            return data.decode("utf-8-sig"), "utf-8"
    except UnicodeDecodeError:
        pass
    note = parse(data)
    if note.encoding == "utf-8" or not note.source:
        raise InvalidInput(
            f"{path} is not text",
            hint="Other programs can open it; see its size with: reme stat",
            details={"path": path},
        )
    return note.source.decode("utf-8-sig"), note.encoding


def _whole_characters(data: bytes) -> bytes:
    """Without the character that the end cuts through."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 != 0x80:
            length = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
            return data[:-back] if length > back else data
    return data
