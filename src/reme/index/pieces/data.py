"""Data: JSON by its members, YAML by its keys, tables by their records, each under what it belongs to."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from reme.index.pieces.packing import Part, Piece, Size, cut_part, pack, text_pieces
from reme.markdown import count_tokens

__all__ = ["json_pieces", "table_pieces", "unescaped", "yaml_pieces"]

_JSON_TOKEN: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[{}\[\],:]', re.DOTALL)
_ESCAPE: Final = re.compile(r'(?:\\u[0-9a-fA-F]{4})+|\\[bfnrt"/\\]')
_SPACE_ESCAPES: Final = frozenset(("\\b", "\\f", "\\n", "\\r", "\\t"))
_YAML_KEY: Final = re.compile(rb"""((?:[ ]|- )*)("[^"\n]*"|'[^'\n]*'|[^\s#:"'\-][^:\n]*):(?:\s|$)""")
_DEEPEST: Final = 8
_LONGEST_KEY: Final = 100


def unescaped(text: str) -> str:
    """The text of JSON with its escapes as the characters that they stand for."""
    return _ESCAPE.sub(_meant, text) if "\\" in text else text


def _meant(match: "re.Match[str]") -> str:
    escape = match[0]
    if escape in _SPACE_ESCAPES:
        return " "
    return str(json.loads(f'"{escape}"')).encode("utf-8", "replace").decode()


# JSON


def json_pieces(data: bytes, size: Size) -> Iterator[Piece]:
    """Members and elements, packed, under the keys that lead to them; as plain text where it is no JSON."""
    members = _members(data)
    if members is None:
        yield from (replace(piece, complaint="this is no valid JSON") for piece in text_pieces(data, size))
        return
    yield from pack(data, _sized(data, members, size), size)


def _sized(data: bytes, members: list[Part], size: Size) -> Iterator[Part]:
    for member in members:
        if count_tokens(member.words) <= size.limit:
            yield member
        else:
            for part in cut_part(data, member.start, member.end, member.trail, size.target):
                yield part._replace(words=unescaped(part.words))


def _members(data: bytes) -> list[Part] | None:
    """Everything between two commas or brackets, or None if brackets do not match."""
    parts: list[Part] = []
    keys: list[str] = []
    open_brackets: list[bytes] = []
    start = 0
    key = last = ""

    def end_part(end: int) -> None:
        if data[start:end].strip(b" \t\r\n,{}[]"):
            text = data[start:end].decode("utf-8", "replace")
            parts.append(Part(start, end, tuple(k for k in keys[-_DEEPEST:] if k), unescaped(text)))

    for match in _JSON_TOKEN.finditer(data):
        token = match[0]
        if token == b":":
            key = last
        elif token in b"{[":
            open_brackets.append(token)
            keys.append(key)
            key = ""
        elif token in b"}]":
            if not open_brackets or open_brackets.pop() + token not in (b"{}", b"[]"):
                return None
            end_part(match.end())
            keys.pop()
            start = match.end()
        elif token == b",":
            end_part(match.end())
            key, start = "", match.end()
        else:
            last = unescaped(token[1:-1].decode("utf-8", "replace"))[:_LONGEST_KEY]
    if open_brackets:
        return None
    end_part(len(data))
    return parts


# YAML


def yaml_pieces(data: bytes, size: Size) -> Iterator[Piece]:
    """Lines, packed, under the keys that lead to them."""
    return pack(data, _yaml_lines(data, size), size, verbatim=True)


def _yaml_lines(data: bytes, size: Size) -> Iterator[Part]:
    path: list[tuple[int, str]] = []
    start = 0
    for line in data.splitlines(keepends=True):
        end = start + len(line)
        bare = line.strip()
        if bare:
            indent = len(line) - len(line.lstrip(b" "))
            while path and path[-1][0] >= indent:
                path.pop()
            trail = tuple(key for _, key in path)
            long = count_tokens(line.decode("utf-8", "replace")) > size.limit
            yield from cut_part(data, start, end, trail, size.target if long else 0)
            if (match := _YAML_KEY.match(line)) and not bare.startswith(b"#"):
                path.append((len(match[1]), match[2].decode("utf-8", "replace").strip("\"' ")[:_LONGEST_KEY]))
        start = end


# Tables


def table_pieces(data: bytes, size: Size) -> Iterator[Piece]:
    """Records, packed, under the first one, which names the columns."""
    return pack(data, _records(data, size), size, verbatim=True)


def _records(data: bytes, size: Size) -> Iterator[Part]:
    """Lines, put together where a quotation runs on."""
    header: tuple[str, ...] = ()
    start = position = quotes = 0
    for line in data.splitlines(keepends=True):
        position += len(line)
        quotes += line.count(b'"')
        if quotes % 2 and position < len(data):
            continue
        if data[start:position].strip():
            text = data[start:position].decode("utf-8", "replace")
            long = count_tokens(text) > size.limit
            yield from cut_part(data, start, position, header, size.target if long else 0)
            if not header:
                header = (" ".join(text.replace('"', "").split()),)
        start, quotes = position, 0
