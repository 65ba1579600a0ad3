"""What ReMe does by itself: each action gathers, lets a reasoner decide, and commits.

Owns the actions, their settings, the format of what they write (dialogues, event notes, nodes, ledger, reports). Must
not know faces, configuration files or how a reasoner decides.
"""

from reme.actions.dream import auto_dream
from reme.actions.dream_report import DreamReport, UnitOutcome, UnitReport, dream_text
from reme.actions.ledger import Derived, Digested, Failure, Ledger, LedgerLine, Taken, Watermark, read_ledger
from reme.actions.memory import EventNote, MemoryReport, auto_memory, memory_text
from reme.actions.messages import RECALL_TAG, MessageProblem, Redaction
from reme.actions.operations import register
from reme.actions.settings import BUCKET_PRESETS, ActionSettings, DreamSettings, MemorySettings

__all__ = [
    "BUCKET_PRESETS",
    "RECALL_TAG",
    "ActionSettings",
    "Derived",
    "Digested",
    "DreamReport",
    "DreamSettings",
    "EventNote",
    "Failure",
    "Ledger",
    "LedgerLine",
    "MemoryReport",
    "MemorySettings",
    "MessageProblem",
    "Redaction",
    "Taken",
    "UnitOutcome",
    "UnitReport",
    "Watermark",
    "auto_dream",
    "auto_memory",
    "dream_text",
    "memory_text",
    "read_ledger",
    "register",
]
