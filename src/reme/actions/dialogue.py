"""Source dialogues: ``session/dialog/<session>.jsonl``, one message a line, only ever appended to.

Owns the lines' form: ``{"id", "role", "speaker", "at", "text"}``, UTF-8, the text redacted. Knows nothing of what is
learnt from them.
"""

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from reme.actions.messages import Delivered
from reme.clock import Clock
from reme.errors import InvalidInput
from reme.paths import VaultPath, parse_path
from reme.reason import Message
from reme.vault import Append, Vault

__all__ = ["Dialogue", "append_messages", "dialogue_path", "read_dialogue"]

_KEY_FIRST: Final = b'{"id": "'
_SESSION_ID: Final = re.compile(r"[\w][\w.@+=-]{0,119}")


@dataclass(frozen=True, slots=True)
class Dialogue:
    """What was asked of a dialogue as it is on disk.

    Attributes:
        size: Its length in bytes.
        ended: Whether its last line is complete.
        keys: Those of the keys asked for that it has.
        messages: Its messages behind the line asked for, at most as many as asked for, each with its line.
        read: The last line that has been looked at for messages.
        more: Whether there are further messages behind that line.
    """

    path: VaultPath
    size: int
    ended: bool
    keys: frozenset[str]
    messages: tuple[Message, ...]
    read: int
    more: bool


def dialogue_path(vault: Vault, session: str) -> VaultPath:
    """Where a session's dialogue is kept.

    Raises:
        InvalidInput: If the id is no safe file name.
    """
    if not _SESSION_ID.fullmatch(session) or session.endswith("."):
        raise InvalidInput(
            f"the session id {session!r} cannot be a file name",
            hint="Use up to 120 letters, digits, '-', '_', '.', '+', '=' and '@', beginning with a letter or digit.",
            details={"session_id": session},
        )
    return parse_path(f"{vault.layout.session}/dialog/{session}.jsonl")


def read_dialogue(
    vault: Vault,
    path: VaultPath,
    clock: Clock,
    *,
    wanted: Collection[str] = (),
    after: int | None = None,
    most: int = 0,
) -> Dialogue:
    """Read a dialogue line by line, keeping only what is asked for; one that is not there is empty.

    Args:
        wanted: Keys to look for.
        after: Take messages behind this line, or none at all. Lines that are no messages are passed over, but counted.
        most: How many messages to take.
    """
    found, messages = set[str](), list[Message]()
    size = number = read = 0
    ended, more = True, False
    for number, line in enumerate(_lines(vault, path), start=1):
        size, ended = size + len(line), line.endswith(b"\n")
        if wanted and (key := _key(line)) in wanted:
            found.add(key)
        if after is None or number <= after or more:
            continue
        told = _message(line, number, clock)
        if len(messages) < most or not told:
            read = number
            messages += told
        else:
            more = True
    return Dialogue(path, size, ended, frozenset(found), tuple(messages), read, more)


def _lines(vault: Vault, path: VaultPath) -> Iterator[bytes]:
    if vault.stat(path) is not None:
        with vault.open(path) as file:
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


def append_messages(dialogue: Dialogue, messages: Sequence[Delivered]) -> Append:
    """The edit that adds messages behind the dialogue as it was read."""
    records = (
        {"id": m.key, "role": m.role, "speaker": m.speaker, "at": m.at.isoformat(), "text": m.text} for m in messages
    )
    text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    return Append(dialogue.path, ("" if dialogue.ended else "\n").encode() + text.encode("utf-8"), dialogue.size)
