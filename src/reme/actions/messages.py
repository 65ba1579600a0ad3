"""Messages as they are delivered: OpenAI's, Anthropic's and Claude Code's shapes, reduced to who said what and when.

Owns the shapes, what in them is no speech (tool traffic, pictures, thoughts, text that ReMe or the host injected) and
what is wrong with a message. Knows nothing of where messages are kept.
"""

import hashlib
import json
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import chain, islice
from typing import Any, Final, Literal, cast

from reme.actions.redaction import redact
from reme.clock import Clock
from reme.errors import InvalidInput
from reme.search import RECALL_TAG

__all__ = ["Delivered", "Delivery", "MessageProblem", "Redaction", "read_blocks", "read_messages"]

_SILENT_ROLES: Final = frozenset({"system", "developer", "tool", "function"})
_SILENT_RECORDS: Final = frozenset(
    {
        "summary",
        "system",
        "file-history-snapshot",
        "queue-operation",
        "progress",
        "attachment",
        "last-prompt",
        "ai-title",
    }
)
_INJECTED: Final = re.compile(
    rf"<({RECALL_TAG}|system-reminder|local-command-stdout|local-command-stderr|local-command-caveat|command-name|command-message|"
    r"command-args|command-contents|bash-stdout|bash-stderr|task-notification|think|thinking)\b[^>]*>.*?</\1\s*>",
    re.DOTALL | re.IGNORECASE,
)
_JOINERS: Final = "\u200c\u200d"
_FIRST_YEAR: Final = 1970
_LAST_YEAR: Final = 2199
_BASE64: Final = re.compile(
    r"data:[\w.+-]+/[\w.+-]+;base64,[A-Za-z0-9+/=\s]+|(?<![\w+/])[A-Za-z0-9+/]{200,}={0,2}(?![\w+/])"
)
_EPOCH: Final = re.compile(r"-?\d{9,13}(?:\.\d+)?")
"""Seconds or milliseconds since 1970 as text; eight digits are a date."""
_SPACES: Final = re.compile(r"[^\S\n]+\n|\n{3,}")


@dataclass(frozen=True, slots=True)
class Delivered:
    """A message that holds speech.

    Attributes:
        key: The message's own id, or a hash of what it says: delivered again, it is known.
        at: When, in the vault's timezone.
    """

    key: str
    role: Literal["user", "assistant"]
    speaker: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class MessageProblem:
    """A message that was not taken: its 1-based place (the line, in JSONL) and why."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Redaction:
    """A secret that was taken out of a message: the message's 1-based place and what kind it was."""

    line: int
    kind: str


@dataclass(frozen=True, slots=True)
class Delivery:
    """What a delivery came to.

    Attributes:
        messages: The speech in it, in order.
        problems: Malformed messages.
        redactions: Secrets taken out.
        dropped: How many messages held no speech (tool traffic, injected text, system prompts).
        ahead: Places of messages that say they were written more than a day after now.
    """

    messages: tuple[Delivered, ...]
    problems: tuple[MessageProblem, ...]
    redactions: tuple[Redaction, ...]
    dropped: int
    ahead: tuple[int, ...] = ()


class _Malformed(Exception):
    """Why one message is not taken."""


def read_messages(raw: Sequence[object] | str, clock: Clock, day: date | None = None) -> Delivery:
    """Read a delivery; what is malformed in it is reported message by message, the rest is taken.

    Args:
        raw: Messages as a list, as the text of a JSON array or of an object with ``messages``, or as JSONL.
        clock: For the vault's timezone, and for messages without a time of their own.
        day: The local date of messages without a time of their own; today by default.

    Raises:
        InvalidInput: If it is a text that is no JSON.
    """
    return next(read_blocks(raw, clock, day, size=sys.maxsize))


def read_blocks(raw: Sequence[object] | str, clock: Clock, day: date | None, *, size: int) -> Iterator[Delivery]:
    """Read a delivery as ``read_messages`` does, so many messages at a time; at least one block, be it empty."""
    seen: Counter[str] = Counter()
    default = clock.now() if day is None else datetime.combine(day, time(12), clock.zone)
    items = iter(_items(raw))
    first = True
    while (block := list(islice(items, size))) or first:
        first = False
        yield _read_block(block, clock, default, seen)


def _read_block(items: Sequence[tuple[int, object]], clock: Clock, default: datetime, seen: Counter[str]) -> Delivery:
    messages: list[Delivered] = []
    problems: list[MessageProblem] = []
    redactions: list[Redaction] = []
    ahead: list[int] = []
    dropped, latest = 0, clock.now() + timedelta(days=1)
    for line, item in items:
        try:
            if isinstance(item, _Malformed):
                raise item
            message, kinds = _message(item, clock, default, seen)
        except _Malformed as problem:
            problems.append(MessageProblem(line, str(problem)))
            continue
        redactions.extend(Redaction(line, kind) for kind in kinds)
        if message is None:
            dropped += 1
        else:
            messages.append(message)
            ahead.extend([line] if message.at > latest else [])
    return Delivery(tuple(messages), tuple(problems), tuple(redactions), dropped, tuple(ahead))


def _items(raw: Sequence[object] | str) -> Iterable[tuple[int, object]]:
    if not isinstance(raw, str):
        return enumerate(raw, start=1)
    raw = raw.removeprefix("\ufeff")
    if raw.lstrip()[:1] in ("[", "{"):
        try:
            listed: object = json.loads(raw)
        except (ValueError, RecursionError):
            listed = None
        if isinstance(listed, dict):  # one message, or a request or an export around them
            whole = cast("dict[str, object]", listed)
            listed = whole.get("messages", [whole])
        if isinstance(listed, list):
            return enumerate(cast("list[object]", listed), start=1)
    lines = ((number, line) for number, line in _lines(raw) if line.strip())
    first = next(lines, None)
    if first is not None and first[1].lstrip()[:1] not in ("{", "["):
        raise InvalidInput(
            "this is text, and no messages: it is neither a JSON array nor a JSON object a line",
            hint='Say who said what: {"role": "user", "content": "…"}. A text as it is can be kept in resource/, with '
            "write or upload.",
        )
    return ((number, _decoded(line)) for number, line in chain([first] if first else [], lines))


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a text, one at a time."""
    start = number = 0
    while start <= len(text):
        number += 1
        end = text.find("\n", start)
        yield number, text[start : end if end >= 0 else len(text)]
        start = end + 1 if end >= 0 else len(text) + 1


def _decoded(line: str) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        reason = error.msg.removesuffix(" starting at") if isinstance(error, json.JSONDecodeError) else str(error)
        return _Malformed(f"the line is no complete JSON: {reason}")


def _message(
    item: object, clock: Clock, default: datetime, seen: Counter[str]
) -> tuple[Delivered | None, tuple[str, ...]]:
    record = _mapping(item)
    if record.get("isSidechain") is True or record.get("isMeta") is True or record.get("type") in _SILENT_RECORDS:
        return None, ()
    inner = _mapping(record["message"]) if isinstance(record.get("message"), Mapping) else record
    role = _role(record, inner)
    if role is None:
        return None, ()
    spoken = _spoken(inner)
    if spoken is None:
        return None, ()
    if not spoken.strip():
        raise _Malformed("it has no text")
    text, kinds = redact(
        _SPACES.sub(lambda m: "\n\n" if m.group().startswith("\n\n\n") else "\n", _cleaned(spoken)).strip()
    )
    if not text:
        return None, ()
    at, stamped = _moment(record, inner, clock, default)
    speaker = _speaker(inner, record, role)
    return Delivered(_key(record, inner, (role, speaker, text, stamped), seen), role, speaker, text, at), kinds


def _mapping(item: object) -> Mapping[str, object]:
    if isinstance(item, str):
        raise _Malformed('it is text without a role, not {"role": "user", "content": …}')
    if not isinstance(item, Mapping):
        raise _Malformed("it is not an object")
    return cast("Mapping[str, object]", item)


def _role(record: Mapping[str, object], inner: Mapping[str, object]) -> Literal["user", "assistant"] | None:
    role = inner.get("role", record.get("type"))
    match role:
        case "user" | "human":
            return "user"
        case "assistant" | "ai" | "model":
            return "assistant"
        case str() if role in _SILENT_ROLES:
            return None
        case None:
            raise _Malformed("it has no role")
        case _:
            raise _Malformed(f"its role is {role!r}, not 'user' or 'assistant'")


def _spoken(inner: Mapping[str, object]) -> str | None:
    """The text of a message; None where all that it holds is no speech, such as a tool's result."""
    content = inner.get("content", inner.get("text"))
    if isinstance(content, str):
        return content
    if content is None:
        return None if inner.get("tool_calls") or inner.get("function_call") else ""
    if not isinstance(content, list):
        raise _Malformed(f"its content is {type(content).__name__}, neither text nor a list of blocks")
    texts: list[str] = []
    other = False
    for block in cast("list[object]", content):
        if isinstance(block, str):
            texts.append(block)
            continue
        fields = _mapping(block)
        if fields.get("type") in ("text", "input_text", "output_text") and isinstance(fields.get("text"), str):
            texts.append(str(fields["text"]))
        else:
            other = True
    return "\n\n".join(texts) if texts else None if other else ""


def _cleaned(text: str) -> str:
    before = None
    while before != text:
        before, text = text, _INJECTED.sub("", text)
    return _BASE64.sub("[data]", "".join(map(_legible, text.replace("\r\n", "\n").replace("\r", "\n"))))


def _legible(char: str) -> str:
    """A character as it is kept: spaces of every width stay, other separators become one, what shows nothing goes."""
    if char in _JOINERS or char in "\n\t" or char.isprintable() or unicodedata.category(char) == "Zs":
        return char
    return " " if char.isspace() else ""


def _moment(
    record: Mapping[str, object], inner: Mapping[str, object], clock: Clock, default: datetime
) -> tuple[datetime, str]:
    """When it was said, and the time as given (empty if it was not)."""
    for holder in (record, inner):
        for field in ("timestamp", "created_at", "create_time", "created", "time", "date"):
            if (given := holder.get(field)) is not None:
                return _parsed(given, clock), str(given)
    return default, ""


def _parsed(given: object, clock: Clock) -> datetime:
    try:
        if isinstance(given, str) and _EPOCH.fullmatch(given.strip()):
            given = float(given)
        if isinstance(given, int | float) and not isinstance(given, bool):
            moment = clock.local(datetime.fromtimestamp(given / 1000 if given > 1e11 else given, UTC))
        else:
            moment = clock.local(given if isinstance(given, datetime) else datetime.fromisoformat(str(given)))
    except (ValueError, OverflowError, OSError) as error:
        raise _Malformed(f"its timestamp {given!r} is no time") from error
    if not _FIRST_YEAR <= moment.year <= _LAST_YEAR:
        raise _Malformed(f"its timestamp {given!r} is of no time at which anybody wrote messages")
    return moment


def _speaker(inner: Mapping[str, object], record: Mapping[str, object], role: str) -> str:
    name = inner.get("name") or inner.get("speaker") or record.get("speaker")
    clean = re.sub(r"[\[\](){}|\s]+", " ", str(name)).strip() if isinstance(name, str) else ""
    return clean[:60] or role


def _key(record: Mapping[str, object], inner: Mapping[str, object], said: tuple[str, ...], seen: Counter[str]) -> str:
    """Its own id, or a hash of what was said; the second to say just the same in one delivery is another message.

    Parts of one reply share its id (Claude Code writes a line a block), so the hash is always part of the key.
    """
    own: Any = record.get("uuid") or record.get("id") or inner.get("id")
    base = f"{own}:" if isinstance(own, str | int) and own else ""
    digest = hashlib.blake2b("\x1f".join(said).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    seen[base + digest] += 1
    again = seen[base + digest]
    return f"{base}{digest}" + (f":{again}" if again > 1 and not base else "")
