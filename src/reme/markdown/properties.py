"""Changing one property of a note: its own lines change and no others.

Comments, quoting, order, line endings and a BOM stay. What was written is read back; a change that would say anything
else than what was asked for is refused.
"""

import json
import re
from datetime import date
from typing import Any, Final, cast

from reme.errors import InvalidInput
from reme.markdown.frontmatter import BOM, find_frontmatter
from reme.markdown.note import Note, Span
from reme.markdown.spans import splice
from reme.markdown.yaml12 import Entry, read_yaml, scalar_value

__all__ = ["delete_property", "set_property"]

_PLAIN: Final = re.compile(r"[^\W_](?:[\w ./,;()+@'\"!?=&%$*<>~^#:-]*[\w./,;()+@'\"!?=&%$*<>~^-])?")
_NOT_PLAIN: Final = re.compile(r":\s|\s#|\s\s")
_NOT_IN_FLOW: Final = frozenset(",[]{}:")
_OTHER_DIALECTS: Final = frozenset(("y", "n", "yes", "no", "on", "off"))
_BLANK_OR_COMMENT: Final = re.compile(r"[ \t]*(?:#.*)?")


def set_property(note: Note, key: str, value: Any) -> bytes:
    """The note's bytes with a property set, in its place or else at the end of the frontmatter.

    A note without frontmatter gets some. A value that is there already changes nothing.

    Args:
        note: The note.
        key: A top-level key.
        value: A string, number, boolean, None or date, or a list or mapping of such.

    Raises:
        InvalidInput: The frontmatter is not valid YAML (the message names the line), the value is of another type or
            cannot be written there, or the note is not UTF-8.
    """
    value = _plain_data(key, value)
    entries, text = _entries(note)
    if key in note.properties and repr(note.properties[key]) == repr(value):
        return note.source
    newline = _newline(note.source)
    if note.frontmatter is None:
        start = 3 if note.source.startswith(BOM) else 0
        block = f"---\n{_entry(key, value, 0)}\n---\n".replace("\n", newline)
        return _checked(splice(note.source, [(Span(start, start), block.encode("utf-8"))]), {key: value})
    known = [entry for entry in entries if entry.key == key]
    if known:
        edits = _replacement(text, known[-1], value)
    else:
        indent = entries[0].indent if entries else 0
        edits = [(len(text), len(text), " " * indent + _entry(key, value, indent) + "\n")]
    return _checked(_applied(note, text, edits, newline), {**note.properties, key: value})


def delete_property(note: Note, key: str) -> bytes:
    """The note's bytes without a property; unchanged if it has none of that name.

    Raises:
        InvalidInput: The frontmatter is not valid YAML (the message names the line), or the note is not UTF-8.
    """
    entries, text = _entries(note)
    edits = [
        (text.rfind("\n", 0, entry.start) + 1, _line_end(text, _value_end(text, entry)) + 1, "")
        for entry in entries
        if entry.key == key
    ]
    if not edits:
        return note.source
    rest = {name: value for name, value in note.properties.items() if name != key}
    return _checked(_applied(note, text, edits, ""), rest)


def _entries(note: Note) -> tuple[tuple[Entry, ...], str]:
    """The top-level entries and the YAML text; refuses what must not be rewritten."""
    if note.encoding != "utf-8":
        raise InvalidInput(f"The note is in {note.encoding}, not UTF-8; its properties cannot be changed.")
    if note.frontmatter is None:
        return (), ""
    if not note.frontmatter.valid:
        problem = next(problem for problem in note.problems if problem.rule.startswith("frontmatter."))
        raise InvalidInput(
            f"Line {problem.line}: {problem.message} Its properties cannot be changed.",
            hint="Correct the frontmatter in an editor first.",
            details={"line": problem.line},
        )
    text = note.text(note.frontmatter.content)
    entries = read_yaml(text, with_entries=True).entries
    for entry in entries:
        if entry.flow or text[text.rfind("\n", 0, entry.start) + 1 : entry.start].strip():
            line = text.count("\n", 0, entry.start) + 2
            raise InvalidInput(
                f"Line {line}: the frontmatter is not written as lines 'key: value', so it cannot be changed by key.",
                details={"line": line},
            )
    return entries, text


def _plain_data(key: str, value: Any) -> Any:
    """The value as it will be read back."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case date():
            return value.isoformat()
        case list() | tuple():
            return [_plain_data(key, item) for item in cast("list[Any]", value)]
        case dict():
            return {str(name): _plain_data(key, item) for name, item in cast("dict[Any, Any]", value).items()}
        case _:
            raise InvalidInput(f"The value of {key!r} is a {type(value).__name__}, which frontmatter cannot hold.")


def _newline(source: bytes) -> str:
    """The ending of the note's first line."""
    end = source.find(b"\n")
    return "\r\n" if end > 0 and source[end - 1] == 0x0D else "\n"


def _line_end(text: str, at: int) -> int:
    """Where the line that holds a place ends, its line feed excluded."""
    end = text.find("\n", at)
    return end if end >= 0 else len(text)


def _value_end(text: str, entry: Entry) -> int:
    """The end of a value without the blank lines and comments that the parser counts in."""
    if entry.style not in ("-", ":", "|", ">"):
        return entry.value_end
    lines = text[entry.value_start : entry.value_end].split("\n")
    while len(lines) > 1 and (
        not lines[-1].strip() if entry.style in ("|", ">") else _BLANK_OR_COMMENT.fullmatch(lines[-1].rstrip("\r"))
    ):
        lines.pop()
    return entry.value_start + len("\n".join(lines).rstrip("\r\n"))


def _replacement(text: str, entry: Entry, value: Any) -> list[tuple[int, int, str]]:
    """Edits, in characters, that give an entry another value in the style of its present one."""
    after_colon = text.index(":", entry.key_end) + 1
    end = _value_end(text, entry)
    written = _value(value, entry)
    line_end = _line_end(text, after_colon)
    if text[line_end - 1 : line_end] == "\r":
        line_end -= 1
    if entry.value_start == entry.value_end:
        return [(after_colon, after_colon, written)]
    if entry.value_start > line_end:
        inline = [(after_colon, after_colon, written), (line_end, end, "")]
        block = [(line_end, end, written)]
        return block if written.startswith("\n") else inline
    gap = text[after_colon : entry.value_start]
    if written.startswith("\n") or not gap.isspace():
        return [(after_colon, end, written)]
    return [(entry.value_start, end, written.removeprefix(" "))]


def _applied(note: Note, text: str, edits: list[tuple[int, int, str]], newline: str) -> bytes:
    assert note.frontmatter is not None
    base = note.frontmatter.content.start
    placed: list[tuple[Span, bytes]] = []
    for start, end, new in edits:
        first = base + len(text[:start].encode("utf-8"))
        last = first + len(text[start:end].encode("utf-8"))
        placed.append((Span(first, last), new.replace("\n", newline).encode("utf-8")))
    return splice(note.source, placed)


def _checked(result: bytes, wanted: dict[str, Any]) -> bytes:
    found = find_frontmatter(result)
    data = read_yaml(result[found[1].start : found[1].end].decode("utf-8")).data if found else None
    if data is None or repr(sorted(data.items())) != repr(sorted(wanted.items())):
        raise InvalidInput("The property cannot be changed without changing what other lines of the frontmatter say.")
    return result


def _entry(key: str, value: Any, indent: int) -> str:
    if isinstance(value, dict) and value:
        return f"{_scalar(key)}:{_block(cast('dict[str, Any]', value), indent + 2)}"
    return f"{_scalar(key)}: {_inline(value)}"


def _value(value: Any, entry: Entry) -> str:
    """What follows the colon: a space and one line, or a line feed and several."""
    if isinstance(value, list) and value and entry.style == "-":
        items = cast("list[Any]", value)
        return "".join(f"\n{' ' * entry.value_indent}- {_inline(item)}" for item in items)
    if isinstance(value, dict) and value and entry.style != "{":
        indent = entry.value_indent if entry.style == ":" else entry.indent + 2
        return _block(cast("dict[str, Any]", value), indent)
    if isinstance(value, str) and entry.style in ("'", '"'):
        return " " + _quoted(value, entry.style)
    return " " + _inline(value)


def _block(value: dict[str, Any], indent: int) -> str:
    return "".join(f"\n{' ' * indent}{_entry(key, item, indent)}" for key, item in value.items())


def _inline(value: Any, *, nested: bool = False) -> str:
    match value:
        case list():
            items = cast("list[Any]", value)
            return f"[{', '.join(_inline(item, nested=True) for item in items)}]"
        case dict():
            pairs = cast("dict[str, Any]", value).items()
            inner = ", ".join(f"{_scalar(key, nested=True)}: {_inline(item, nested=True)}" for key, item in pairs)
            return f"{{{inner}}}"
        case _:
            return _scalar(value, nested=nested)


def _scalar(value: str | float | bool | None, *, nested: bool = False) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            text = repr(value)
            return {"inf": ".inf", "-inf": "-.inf", "nan": ".nan"}.get(text, text)
        case _:
            plain = (
                _PLAIN.fullmatch(value)
                and not _NOT_PLAIN.search(value)
                and scalar_value(value) is value
                and value.lower() not in _OTHER_DIALECTS
                and not (nested and _NOT_IN_FLOW.intersection(value))
            )
            return value if plain else _quoted(value, '"')


def _quoted(value: str, style: str) -> str:
    if style == "'" and value.isprintable():
        return "'" + value.replace("'", "''") + "'"
    quoted = json.dumps(value, ensure_ascii=False)
    return "".join(char if char.isprintable() else f"\\U{ord(char):08x}" for char in quoted)
