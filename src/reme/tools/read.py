"""Reading: a note or other text, whole, by lines or by heading, however large the file.

Owns what a reader gets to see of a file. Knows nothing of links or indexes.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, BinaryIO, Final

from annotated_types import Ge

from reme.errors import Conflict, InvalidInput, NotFound
from reme.markdown import Heading, Note, parse
from reme.paths import VaultPath, fold, is_markdown
from reme.revision import Revision, digest
from reme.tools.texts import is_parsed_whole
from reme.tools.workspace import Workspace

__all__ = ["Text", "read", "read_text"]

_LIMIT: Final = 1_000_000
"""Bytes that one read returns at most."""

_PIECE: Final = 1 << 16
_CONTINUING: Final = bytes(range(0x80, 0xC0))
"""What begins no character in UTF-8."""


@dataclass(frozen=True, slots=True)
class Text:
    """A stretch of whole lines of a file, or of one line that is too long for one read.

    Attributes:
        text: The lines with their own endings, without a byte-order mark.
        revision: Of the whole file: what to give as ``expected_revision``.
        start_line: 1-based first line; 0 where the file is empty.
        end_line: The last line, included.
        total_lines: How many lines the file has.
        encoding: ``utf-8``, or the codec in which the file was read.
        truncated: Whether more was asked for than one read returns.
        next_byte: Where it goes on, the ``start_byte`` of the next read; None where nothing was cut off.
    """

    path: VaultPath
    text: str
    revision: Revision
    start_line: int
    end_line: int
    total_lines: int
    encoding: str = "utf-8"
    truncated: bool = False
    next_byte: int | None = None


def read(
    workspace: Workspace,
    path: Annotated[str, "The note or text file; .md may be left out"],
    start_line: Annotated[int | None, "First line, from 1", Ge(1)] = None,
    end_line: Annotated[int | None, "Last line, included", Ge(1)] = None,
    heading: Annotated[str | None, "Only the section under this heading: 'Steps' or 'Rotation > Steps'"] = None,
    start_byte: Annotated[int | None, "First byte, from 0: the next_byte of a read that was cut short", Ge(0)] = None,
) -> Text:
    """Read a note or other text file: whole, some lines, or the section under a heading.

    At most a million bytes are returned at once, cut behind a line, or within one that is longer.

    Raises:
        NotFound: If there is no such file, line, byte or heading.
        Conflict: If several headings match, naming their lines.
        InvalidInput: If the file is not text, or too large for headings, or two beginnings are given.
    """
    vault = workspace.vault
    found = vault.find(path)
    if start_byte is not None and start_line is not None:
        raise InvalidInput("`start_byte` and `start_line` are both given", hint="Give one of them.")
    if heading is not None:
        if start_line is not None or end_line is not None or start_byte is not None:
            raise InvalidInput("a heading and lines are both given", hint="Give one of them.")
        if not is_parsed_whole(vault, found):
            raise InvalidInput(f"{found} is too large to be read by heading", hint="Read it by lines.")
        note = parse(vault.read(found).data)
        start_line, end_line = _section(found, note, heading)
    if start_line is not None and end_line is not None and end_line < start_line:
        raise InvalidInput(f"`end_line` {end_line} is before `start_line` {start_line}")
    with vault.open(found) as stream:
        piece = _collect(stream, start_line or 1, end_line, start_byte or 0)
    if start_line is not None and start_line > max(piece.total, 1):
        raise NotFound(
            f"{found} has no line {start_line}, only {piece.total}",
            hint="Read without `start_line`.",
            details={"path": found, "total_lines": piece.total},
        )
    if start_byte and start_byte >= piece.size:
        raise NotFound(
            f"{found} has no byte {start_byte}, only {piece.size}",
            hint="Give the next_byte of a read that was cut short.",
            details={"path": found, "size": piece.size},
        )
    if start_byte and not piece.data:
        raise InvalidInput(f"`end_line` {end_line} ends before `start_byte` {start_byte}")
    text, encoding = _decode(found, piece)
    workspace.met([found])
    cut = piece.begin + len(piece.data) if piece.truncated else None
    return Text(found, text, piece.revision, piece.line, piece.end, piece.total, encoding, piece.truncated, cut)


def read_text(result: Text) -> str:
    """The lines under one line that says what they are."""
    lines = f"lines {result.start_line}-{result.end_line} of {result.total_lines}"
    more = f", cut short: go on at byte {result.next_byte}" if result.truncated else ""
    encoding = "" if result.encoding == "utf-8" else f", {result.encoding}"
    return f"[{result.path} {lines}, revision {result.revision}{encoding}{more}]\n{result.text}"


@dataclass(frozen=True, slots=True)
class _Piece:
    data: bytes
    begin: int
    line: int
    end: int
    size: int
    total: int
    revision: Revision
    truncated: bool


def _collect(stream: BinaryIO, first: int, last: int | None, start: int) -> _Piece:
    """Go through a file once, keeping only the lines that are wanted, from the byte ``start`` on."""
    whole = digest()
    kept = bytearray()
    truncated = False
    line, size = 1, 0
    begin = begin_line = 0
    ended = True
    for part in _parts(stream):
        whole.update(part)
        if line >= first and (last is None or line <= last) and size + len(part) > start and not truncated:
            wanted = part[max(start - size, 0) :]
            if not kept:
                begin, begin_line = size + len(part) - len(wanted), line
            truncated = len(kept) + len(wanted) > _LIMIT
            kept += wanted[: _LIMIT - len(kept)]
        ended = part.endswith(b"\n")
        line += ended
        size += len(part)
    total = line - 1 if ended else line
    if truncated:
        newline = kept.rfind(b"\n")
        del kept[newline + 1 if newline >= 0 else len(_whole_characters(kept)) :]
    count = kept.count(b"\n") + (bool(kept) and not kept.endswith(b"\n"))
    end = min(begin_line - 1 + count, total) if kept else 0
    return _Piece(bytes(kept), begin, begin_line, end, size, total, Revision(whole.hexdigest()), truncated)


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
    if b"\0" not in data:
        with suppress(UnicodeDecodeError):
            return data.decode("utf-8" if piece.begin else "utf-8-sig"), "utf-8"
        rest = data[:3].lstrip(_CONTINUING) + data[3:]
        if piece.begin and not rest.isascii():
            with suppress(UnicodeDecodeError):
                return rest.decode("utf-8"), "utf-8"  # begun within a character
    note = parse(data)
    if note.encoding == "utf-8" or not note.source:
        raise InvalidInput(
            f"{path} is not text",
            hint="Other programs can open it; see its size with: `stat`",
            details={"path": path},
        )
    return note.source.decode("utf-8-sig"), note.encoding


def _whole_characters(data: bytes | bytearray) -> bytes | bytearray:
    """Without the character that the end cuts through."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 != 0x80:
            length = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
            return data[:-back] if length > back else data
    return data
