from reme.actions.conflicts import ConflictReport, Disputed, Said, conflicts, conflicts_text, has_conflicts
from reme.actions.digest import view_edit
from reme.actions.dream import auto_dream
from reme.actions.dream_report import DreamReport, Dropped, UnitOutcome, UnitReport, dream_text
from reme.actions.interests import Interest, Interests, interests_text, proactive
from reme.actions.learning import EventNote
from reme.actions.ledger import Decision, Derived, Digested, Failure, Ledger, LedgerLine, Taken, Watermark, read_ledger
from reme.actions.memory import MemoryReport, auto_memory, memory_text
from reme.actions.messages import MessageProblem, Redaction
from reme.actions.origin import Origin
from reme.actions.proposals import (
    Decided,
    Proposal,
    Proposals,
    Proposed,
    accept,
    decided_text,
    proposals,
    proposals_text,
    reject,
)
from reme.actions.settings import BUCKET_PRESETS, ActionSettings, DreamSettings, MemorySettings
from reme.actions.staleness import Stale, StaleReport, has_stale, stale, stale_text, unsourced
from reme.actions.table import register

__all__ = [
    "BUCKET_PRESETS",
    "ActionSettings",
    "ConflictReport",
    "Decided",
    "Decision",
    "Derived",
    "Digested",
    "Disputed",
    "DreamReport",
    "DreamSettings",
    "Dropped",
    "EventNote",
    "Failure",
    "Interest",
    "Interests",
    "Ledger",
    "LedgerLine",
    "MemoryReport",
    "MemorySettings",
    "MessageProblem",
    "Origin",
    "Proposal",
    "Proposals",
    "Proposed",
    "Redaction",
    "Said",
    "Stale",
    "StaleReport",
    "Taken",
    "UnitOutcome",
    "UnitReport",
    "Watermark",
    "accept",
    "auto_dream",
    "auto_memory",
    "conflicts",
    "conflicts_text",
    "decided_text",
    "dream_text",
    "has_conflicts",
    "has_stale",
    "interests_text",
    "memory_text",
    "proactive",
    "proposals",
    "proposals_text",
    "read_ledger",
    "register",
    "reject",
    "stale",
    "stale_text",
    "unsourced",
    "view_edit",
]
