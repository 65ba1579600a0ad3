"""Editing: one text literally replaced by another, the rest of the file untouched.

Owns finding and replacing across line endings. Works on bytes; no pattern syntax on either side.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from annotated_types import Ge, Len

from reme.errors import Conflict, InvalidInput, NotFound
from reme.markdown import Span, parse_head, splice
from reme.paths import VaultPath, is_markdown
from reme.revision import Revision
from reme.tools.changes import DryRun, conflict_lines, read_expected, submit, written
from reme.tools.texts import check_frontmatter_kept, line_ending
from reme.tools.workspace import Workspace
from reme.vault import Edit, File, Put
from reme.wording import counted

__all__ = ["Edited", "edit", "edit_text"]

_NAMED: Final = 20


@dataclass(frozen=True, slots=True)
class Edited:
    """What became of an edit.

    Attributes:
        revision: What to give as ``expected_revision`` next.
        replaced: How many places were replaced.
        lines: The line, before the edit, in which each of them began.
        run: The run to show or undo; empty where nothing changed.
        conflict_copies: Files that hold what somebody else wrote in the moment of the commit.
    """

    path: VaultPath
    revision: Revision
    replaced: int
    lines: tuple[int, ...]
    run: str
    conflict_copies: tuple[VaultPath, ...] = ()
    dry_run: bool = False


def edit(
    workspace: Workspace,
    path: Annotated[str, "The note or text file; .md may be left out"],
    find: Annotated[str, "The exact text to replace; it must be there exactly once", Len(1)],
    replace: Annotated[str, "The text to put there, literally; may be empty"],
    all: Annotated[bool, "Replace every place"] = False,  # noqa: A002
    occurrence: Annotated[int | None, "Replace only the n-th place, from 1", Ge(1)] = None,
    expected_revision: Annotated[str | None, "The revision that reading it returned"] = None,
    dry_run: DryRun = False,
) -> Edited:
    """Replace a text in a file by another, both taken literally; a line break matches whatever the file's is.

    Raises:
        NotFound: If there is no such file, or the text is not in it.
        Conflict: If the text is there several times and neither ``all`` nor ``occurrence`` is given, naming count and
            lines; or if the file is not at the expected revision.
        InvalidInput: If ``find`` is empty, or ``all`` and ``occurrence`` are both given.
        Refused: If the file is not in UTF-8, or its frontmatter would no longer be readable.
    """
    if not find:
        raise InvalidInput("there is nothing to find", hint="Give the text to be replaced; to add text use append.")
    if all and occurrence is not None:
        raise InvalidInput("`all` and `occurrence` are both given", hint="Give one of them.")
    target = workspace.vault.find(path)
    lines: tuple[int, ...] = ()

    def gather() -> list[Edit]:
        nonlocal lines
        file = read_expected(workspace, target, expected_revision)
        spans = _chosen(file, _places(file.data, find), find, every=all, occurrence=occurrence)
        lines = _lines(file.data, spans)
        data = splice(file.data, [(span, _in_style(file.data, span, replace)) for span in spans])
        check_frontmatter_kept(file, data, _covers_frontmatter(file, spans))
        return [Put(target, data, file.revision)]

    outcome = submit(workspace, gather, reason=f"edit {target}", dry_run=dry_run)
    result = written(workspace, target, outcome, existed=True, dry_run=dry_run)
    return Edited(target, result.revision, len(lines), lines, result.run, result.conflict_copies, dry_run)


def edit_text(result: Edited) -> str:
    """One line for an edit's result."""
    places = "1 place" if result.replaced == 1 else f"{result.replaced} places"
    where = f"line {result.lines[0]}" if result.replaced == 1 else "lines " + _named(result.lines)
    run = f", run {result.run}" if result.run else "" if result.dry_run else ", which changed nothing"
    verb = "would replace" if result.dry_run else "replaced"
    first = f"{verb} {places} in {result.path}, {where} (revision {result.revision}{run})"
    return "\n".join([first, *conflict_lines(result.conflict_copies)])


def _places(data: bytes, find: str) -> list[Span]:
    """Where the text stands, without overlaps; LF in it stands for LF or CRLF."""
    lines = find.replace("\r\n", "\n").encode("utf-8").split(b"\n")
    pattern = rb"\r?\n".join(re.escape(line) for line in lines)
    return [Span(*match.span()) for match in re.finditer(pattern, data)]


def _chosen(file: File, spans: Sequence[Span], find: str, *, every: bool, occurrence: int | None) -> Sequence[Span]:
    shown = find if len(find) <= 80 else find[:79] + "…"
    if not spans:
        raise NotFound(
            f"{file.path} does not contain {shown!r}",
            hint="Read the file and copy the text exactly, spaces and marks included.",
            details={"path": file.path, "count": 0},
        )
    lines = _lines(file.data, spans)
    details: dict[str, object] = {"path": file.path, "count": len(spans), "lines": list(lines[:_NAMED])}
    if occurrence is not None:
        if occurrence > len(spans):
            raise NotFound(
                f"{file.path} contains {shown!r} {counted(len(spans), 'time')}, not {occurrence}", details=details
            )
        return spans[occurrence - 1 : occurrence]
    if len(spans) > 1 and not every:
        raise Conflict(
            f"{file.path} contains {shown!r} {len(spans)} times, in lines {_named(lines)}",
            hint="Give more of the text around it, or `all`, or `occurrence`.",
            details=details,
        )
    return spans


def _named(lines: Sequence[int]) -> str:
    """The first lines, and how many more there are: an error is read by people and models."""
    lines = list(dict.fromkeys(lines))
    more = len(lines) - _NAMED
    return ", ".join(map(str, lines[:_NAMED])) + (f" and {more} more" if more > 0 else "")


def _lines(data: bytes, spans: Sequence[Span]) -> tuple[int, ...]:
    lines: list[int] = []
    line, at = 1, 0
    for span in spans:
        line += data.count(b"\n", at, span.start)
        at = span.start
        lines.append(line)
    return tuple(lines)


def _in_style(data: bytes, span: Span, replacement: str) -> bytes:
    """The replacement with the line endings of the place: the n-th of its own as the n-th that it replaces."""
    lines = replacement.replace("\r\n", "\n").encode("utf-8").split(b"\n")
    endings: list[bytes] = re.findall(rb"\r?\n", data[span.start : span.end]) or [line_ending(data, span.end)]
    written = [line + endings[min(number, len(endings) - 1)] for number, line in enumerate(lines[:-1])]
    return b"".join([*written, lines[-1]])


def _covers_frontmatter(file: File, spans: Sequence[Span]) -> bool:
    if not is_markdown(file.path) or (block := parse_head(file.data).frontmatter) is None:
        return False
    end = block.span.start + len(file.data[block.span.start : block.span.end].rstrip(b"\r\n"))
    return any(span.start <= block.span.start and end <= span.end for span in spans)
