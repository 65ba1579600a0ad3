"""Source dialogues: ``session/dialog/<session>.jsonl``, one message a line, only ever appended to.

Owns the lines' form: ``{"id", "role", "speaker", "at", "text"}``, UTF-8, the text redacted. Knows nothing of what is
learnt from them.
"""

import json
import re
from collections.abc import Sequence
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

_SESSION_ID: Final = re.compile(r"[\w][\w.@+=-]{0,119}")


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A dialogue as it is on disk.

    Attributes:
        size: Its length in bytes.
        ended: Whether its last line is complete.
        keys: The keys of the messages in it.
        messages: Its messages, each with its line.
        lines: How many lines it has.
    """

    path: VaultPath
    size: int
    ended: bool
    keys: frozenset[str]
    messages: tuple[Message, ...]
    lines: int


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


def read_dialogue(vault: Vault, path: VaultPath, clock: Clock) -> Dialogue:
    """Read a dialogue; one that is not there is empty. Lines that are no messages are passed over, but counted."""
    data = vault.bytes_of(path) or b""
    keys: set[str] = set()
    messages: list[Message] = []
    raw = data.split(b"\n")
    for number, line in enumerate(raw, start=1):
        try:
            record: Any = json.loads(line)
            at = clock.local(datetime.fromisoformat(record["at"]))
            role = "user" if record["role"] == "user" else "assistant"
            messages.append(Message(number, role, str(record["speaker"]), str(record["text"]), at))
            keys.add(str(record["id"]))
        except (ValueError, KeyError, TypeError):
            continue
    ended = not data or data.endswith(b"\n")
    return Dialogue(path, len(data), ended, frozenset(keys), tuple(messages), len(raw) - 1 if ended else len(raw))


def append_messages(dialogue: Dialogue, messages: Sequence[Delivered]) -> Append:
    """The edit that adds messages behind the dialogue as it was read."""
    records = (
        {"id": m.key, "role": m.role, "speaker": m.speaker, "at": m.at.isoformat(), "text": m.text} for m in messages
    )
    text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    return Append(dialogue.path, ("" if dialogue.ended else "\n").encode() + text.encode("utf-8"), dialogue.size)
