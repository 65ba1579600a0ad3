"""Source dialogues: ``session/dialog/<session>.jsonl``, one message a line, only ever appended to.

Owns the lines' form: ``{"id", "role", "speaker", "at", "text"}``, UTF-8, the text redacted. Knows nothing of what is
learnt from them.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from reme.actions.messages import Delivered
from reme.clock import Clock
from reme.errors import InvalidInput
from reme.paths import VaultPath, parse_path
from reme.reason import Message
from reme.vault import Append, Vault

__all__ = ["Kept", "Place", "Stretch", "append_messages", "dialogue_path", "read_kept", "read_stretch"]

_KEY_FIRST: Final = b'{"id": "'
_SESSION_ID: Final = re.compile(r"[\w][\w.@+=-]{0,119}")


@dataclass(frozen=True, slots=True)
class Kept:
    """What a dialogue holds: the keys of its messages, its length in bytes, whether its last line is complete."""

    path: VaultPath
    keys: frozenset[str]
    size: int
    ended: bool


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a dialogue: behind this line, and this many bytes."""

    line: int = 0
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Stretch:
    """Some messages of a dialogue, each with its line.

    Attributes:
        end: The place behind the last line that has been looked at.
        more: Whether there are further messages behind it.
    """

    messages: tuple[Message, ...]
    end: Place
    more: bool


def dialogue_path(vault: Vault, session: str) -> VaultPath:
    """Where a session's dialogue is kept.

    Raises:
        InvalidInput: If the id is no safe file name.
    """
    if not _SESSION_ID.fullmatch(session) or session.endswith("."):
        raise InvalidInput(
            f"the session id {session!r} is not one that a dialogue can be kept under",
            hint="Use up to 120 letters, digits, '-', '_', '.', '+', '=' and '@', beginning with a letter or digit.",
            details={"session_id": session},
        )
    return parse_path(f"{vault.layout.session}/dialog/{session}.jsonl")


def read_kept(vault: Vault, path: VaultPath) -> Kept:
    """Read what a dialogue holds, line by line; one that is not there is empty."""
    keys, size, ended = set[str](), 0, True
    for line in _lines(vault, path, 0):
        size, ended = size + len(line), line.endswith(b"\n")
        keys.add(_key(line))
    return Kept(path, frozenset(keys), size, ended)


def read_stretch(vault: Vault, path: VaultPath, clock: Clock, *, after: Place, most: int) -> Stretch:
    """Read messages behind a place, and no further; lines that are no messages are passed over, but counted.

    Args:
        after: Of which only the line has to be given; then the file is read from its beginning.
        most: How many messages to take.
    """
    messages: list[Message] = []
    passed, size = (after.line, after.offset) if after.offset else (0, 0)
    end = after
    for number, line in enumerate(_lines(vault, path, size), start=passed + 1):
        size += len(line)
        if number <= after.line:
            continue
        told = _message(line, number, clock)
        if told and len(messages) == most:
            return Stretch(tuple(messages), end, True)
        messages += told
        end = Place(number, size)
    return Stretch(tuple(messages), end, False)


def _lines(vault: Vault, path: VaultPath, offset: int) -> Iterator[bytes]:
    if vault.stat(path) is not None:
        with vault.open(path) as file:
            file.seek(offset)
            yield from file


def _key(line: bytes) -> str:
    """The key of a message; found without reading the whole line where ReMe wrote it."""
    if line.startswith(_KEY_FIRST):
        key = line[len(_KEY_FIRST) : line.find(b'"', len(_KEY_FIRST))]
        if b"\\" not in key:
            return key.decode("utf-8", "replace")
    try:
        record: Any = json.loads(line)
        return str(record["id"])
    except (ValueError, KeyError, TypeError):
        return ""


def _message(line: bytes, number: int, clock: Clock) -> list[Message]:
    try:
        record: Any = json.loads(line)
        at = clock.local(datetime.fromisoformat(record["at"]))
        role = "user" if record["role"] == "user" else "assistant"
        return [Message(number, role, str(record["speaker"]), str(record["text"]), at)]
    except (ValueError, KeyError, TypeError):
        return []


def append_messages(kept: Kept, messages: Sequence[Delivered]) -> tuple[Append, Kept]:
    """The edit that adds messages behind the dialogue as it was read, and what it holds then."""
    records = (
        {"id": m.key, "role": m.role, "speaker": m.speaker, "at": m.at.isoformat(), "text": m.text} for m in messages
    )
    text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    data = ("" if kept.ended else "\n").encode() + text.encode("utf-8")
    keys = kept.keys | {message.key for message in messages}
    return Append(kept.path, data, kept.size), Kept(kept.path, keys, kept.size + len(data), True)
