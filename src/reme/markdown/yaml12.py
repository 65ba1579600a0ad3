"""YAML with the types of the 1.2 core schema, and the place of every value in the text.

Owns PyYAML, which is used nowhere else: its C parser (the pure one where that is missing) gives the nodes with their
marks, their types are decided here. ``yes`` is a string, ``010`` is ten, ``12:30:45`` and dates are strings as
written; there are no merge keys. Knows nothing of notes.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from math import isinf
from typing import Any, Final, cast

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

__all__ = ["Complaint", "Document", "Entry", "Text", "read_yaml", "scalar_value", "unquoted"]

_UNTAGGED: Final = ""


def _untagged(_loader: object, _kind: object, _value: object, _implicit: object) -> str:
    return _UNTAGGED


_LOADER: Final = cast(
    "Callable[[str], Any]",
    type("_Loader", (getattr(yaml, "CBaseLoader", yaml.BaseLoader),), {"resolve": _untagged}),
)
_MAX_DEPTH: Final = 100
_SPARE_NODES: Final = 1000

_WORDS: Final[dict[str, bool | None]] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
_NUMBER_START: Final = frozenset("+-.0123456789")
_INT: Final = re.compile(r"[-+]?[0-9]{1,1000}|0o[0-7]{1,1000}|0x[0-9a-fA-F]{1,1000}")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_SPECIAL: Final = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_PLAIN_LINE: Final = re.compile(
    r"([^\W\d_][\w-]{0,99}):"
    r"(?: ++(?=[^\W_])((?:[\w ./,;()+@'\"!?=&%$*<>~^-]++|:(?=[\w/]))++)"
    r"| ++\[( *+[^\W_][\w./-]*+(?: ++[\w./-]++)*+(?: *+, *+[^\W_][\w./-]*+(?: ++[\w./-]++)*+)*+) *+\])?+"
    r" *+(?:\r?\n|\Z)"
)
_ALIAS: Final = re.compile(r"\s*:\s+(\*[^\s,\[\]{}]+)")
_CORE_TAGS: Final = frozenset(f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float"))


@dataclass(frozen=True, slots=True)
class Complaint:
    """What is wrong with a YAML text: a stable rule name, one sentence, the 0-based line of the text."""

    rule: str
    message: str
    line: int


@dataclass(frozen=True, slots=True)
class Text:
    """A string value: where it stands, in characters of the YAML text.

    Attributes:
        style: ``'``, ``"``, ``|``, ``>`` or empty for a plain scalar.
        flow: Whether it stands inside ``[…]`` or ``{…}``.
        key: The nearest mapping key that it belongs to.
    """

    start: int
    end: int
    line: int
    style: str
    flow: bool
    key: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A top-level ``key: value``, in characters.

    Attributes:
        start: Where the key begins.
        key_end: Where the key ends, its colon excluded.
        value_start: Where the value begins, or would begin.
        value_end: Where the value ends; after a block value this may be after blank lines and comments.
        indent: Column of the key.
        style: Of the value: a quote, ``|``, ``>``, ``[`` or ``{`` for flow collections, ``-`` or ``:`` for block ones,
            empty for a plain scalar.
        value_indent: Column at which the value begins.
        flow: Whether the mapping that has the entry is itself written ``{…}``.
    """

    key: str
    start: int
    key_end: int
    value_start: int
    value_end: int
    indent: int
    style: str
    value_indent: int
    flow: bool


@dataclass(frozen=True, slots=True)
class Document:
    """A YAML text as read.

    Attributes:
        data: The mapping, or None if the text is no mapping or no YAML (then ``complaints`` says why).
        entries: Its top-level entries in order, repeated keys included.
        texts: Its string values, in order; only gathered on request.
    """

    data: dict[str, Any] | None
    entries: tuple[Entry, ...]
    texts: tuple[Text, ...]
    complaints: tuple[Complaint, ...]


class _TooMuch(Exception):
    """Nesting or aliases that no person wrote."""


def read_yaml(text: str, *, with_texts: bool = False, with_entries: bool = False) -> Document:
    """Read one YAML mapping; never raises.

    Args:
        text: The YAML, without document fences.
        with_texts: Whether to gather the places of the string values.
        with_entries: Whether to gather the places of the top-level entries.
    """
    if not with_texts and not with_entries and (data := _plain_mapping(text)) is not None:
        return Document(data, (), (), ())
    try:
        root = _compose(text)
        if root is None:
            return Document({}, (), (), ())
        if not isinstance(root, MappingNode):
            complaint = Complaint("frontmatter.mapping", "The frontmatter is not a mapping of keys to values.", 0)
            return Document(None, (), (), (complaint,))
        reader = _Reader(text, with_texts)
        data = reader.mapping(root, 0)
    except yaml.YAMLError as error:
        return Document(None, (), (), (_complaint(error),))
    except (_TooMuch, RecursionError):
        complaint = Complaint("frontmatter.yaml", "The YAML is nested too deeply or refers to itself.", 0)
        return Document(None, (), (), (complaint,))
    entries = _entries(root, text) if with_entries else ()
    return Document(data, entries, tuple(reader.texts), tuple(reader.complaints))


def _plain_mapping(text: str) -> dict[str, Any] | None:
    """The mapping if the text is nothing but lines ``word: plain value`` and ``word: [plain, values]``, else None.

    Most frontmatter is; what these lines mean needs no parser, and reading them so takes a fifth of the time.
    """
    data: dict[str, Any] = {}
    reached = 0
    for match in _PLAIN_LINE.finditer(text):
        if match.start() != reached:
            return None
        reached = match.end()
        key, value, items = match.groups()
        if key in data or key in _WORDS:
            return None
        if value is not None:
            data[key] = scalar_value(value.rstrip(" "))
        elif items is not None:
            data[key] = [scalar_value(item.strip(" ")) for item in items.split(",")]
        else:
            data[key] = None
    return data if reached == len(text) else None


def scalar_value(text: str) -> str | int | float | bool | None:
    """The value of a plain scalar in the core schema."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMBER_START:
        return text
    if _INT.fullmatch(text):
        return int(text, 8) if text.startswith("0o") else int(text, 16) if text.startswith("0x") else int(text)
    if _FLOAT.fullmatch(text):
        number = float(text)
        return text if isinf(number) else number
    if _SPECIAL.fullmatch(text):
        return float(text.replace(".", "").lower())
    return text


def unquoted(text: str, style: str) -> str:
    """What a part of a quoted scalar says, by the scalar's style; unchanged where it cannot be read alone."""
    if style == "'":
        return text.replace("''", "'")
    if style != '"' or "\\" not in text:
        return text
    try:
        node = _compose(f'"{text}"')
    except yaml.YAMLError:
        return text
    return cast("str", node.value) if isinstance(node, ScalarNode) else text


def _compose(text: str) -> Node | None:
    loader = _LOADER(text)
    try:
        return cast("Node | None", loader.get_single_node())
    finally:
        loader.dispose()


def _complaint(error: yaml.YAMLError) -> Complaint:
    mark = cast("Any", getattr(error, "problem_mark", None) or getattr(error, "context_mark", None))
    problem = cast("str", getattr(error, "problem", None) or getattr(error, "reason", None) or "it cannot be read")
    return Complaint("frontmatter.yaml", f"The frontmatter is not valid YAML: {problem}.", mark.line if mark else 0)


def _entries(root: MappingNode, text: str) -> tuple[Entry, ...]:
    flow = bool(root.flow_style)
    return tuple(_entry(key, value, text, flow) for key, value in cast("list[tuple[Node, Node]]", root.value))


def _entry(key: Node, value: Node, text: str, flow: bool) -> Entry:
    start, end, style, column = value.start_mark.index, value.end_mark.index, _style(value), value.start_mark.column
    if start < key.end_mark.index and (alias := _ALIAS.match(text, key.end_mark.index)):
        (start, end), style = alias.span(1), ""  # the node that it repeats stands further up
        column = start - text.rfind("\n", 0, start) - 1
    return Entry(
        key=_written_key(key, text),
        start=key.start_mark.index,
        key_end=key.end_mark.index,
        value_start=start,
        value_end=end,
        indent=key.start_mark.column,
        style=style,
        value_indent=column,
        flow=flow,
    )


def _style(node: Node) -> str:
    if isinstance(node, ScalarNode):
        return node.style or ""
    if isinstance(node, SequenceNode):
        return "[" if node.flow_style else "-"
    return "{" if cast("MappingNode", node).flow_style else ":"


def _written_key(node: Node, text: str) -> str:
    if isinstance(node, ScalarNode):
        return cast("str", node.value)
    return text[node.start_mark.index : node.end_mark.index].strip()


class _Reader:
    """Turns nodes into values, once."""

    def __init__(self, text: str, with_texts: bool) -> None:
        self.texts: list[Text] = []
        self.complaints: list[Complaint] = []
        self._text = text
        self._with_texts = with_texts
        self._left = len(text) + _SPARE_NODES
        self._seen: set[int] = set()

    def mapping(self, node: MappingNode, depth: int) -> dict[str, Any]:
        if depth > _MAX_DEPTH:
            raise _TooMuch
        data: dict[str, Any] = {}
        for key_node, value_node in cast("list[tuple[Node, Node]]", node.value):
            key = self._key(key_node)
            if key is None:
                continue
            if key in data:
                self._complain(
                    "frontmatter.duplicate-key", f"The key {key!r} is given twice; the last one counts.", key_node
                )
            data[key] = self._value(value_node, key, depth + 1, bool(node.flow_style))
        return data

    def _value(self, node: Node, key: str, depth: int, flow: bool) -> Any:
        self._left -= 1
        if self._left < 0 or depth > _MAX_DEPTH:
            raise _TooMuch
        if isinstance(node, ScalarNode):
            return self._scalar(node, key, flow)
        if isinstance(node, SequenceNode):
            inner = flow or bool(node.flow_style)
            return [self._value(item, key, depth + 1, inner) for item in cast("list[Node]", node.value)]
        return self.mapping(cast("MappingNode", node), depth)

    def _scalar(self, node: ScalarNode, key: str, flow: bool) -> Any:
        text: str = node.value
        style: str = node.style or ""
        value: Any = text
        if (not style and node.tag == _UNTAGGED) or node.tag in _CORE_TAGS:
            value = scalar_value(text)
        if self._with_texts and value.__class__ is str and id(node) not in self._seen:
            self._seen.add(id(node))
            start, end = node.start_mark, node.end_mark
            self.texts.append(Text(start.index, end.index, start.line, style, flow, key))
        return value

    def _key(self, node: Node) -> str | None:
        if not isinstance(node, ScalarNode):
            self._complain("frontmatter.key", "A key is not a plain word or string.", node)
            return _written_key(node, self._text)
        text = cast("str", node.value)
        if not node.style and text in _WORDS and _WORDS[text] is None:
            self._complain("frontmatter.null-key", "A key is missing: a value stands without a name.", node)
            return None
        return text

    def _complain(self, rule: str, message: str, node: Node) -> None:
        self.complaints.append(Complaint(rule, message, node.start_mark.line))
