from reme.vault.changeset import (
    Amend,
    Append,
    ChangeSet,
    Committed,
    Conflicted,
    Edit,
    Law,
    Move,
    Outcome,
    Put,
    Remove,
    Split,
    Unchanged,
)
from reme.vault.commit import check, commit, locked
from reme.vault.content import Content, ContentChanged, Large, content_at, pieces_of, revision_of_content
from reme.vault.files import STATE_FOLDER, TEXT_SUFFIXES, File, Scan, Stat, Vault
from reme.vault.interrupted import finish_interrupted
from reme.vault.journal import Record, Retention
from reme.vault.layout import SETTINGS_FILE, SIDECAR_SUFFIX, Layer, Layout
from reme.vault.roles import Role
from reme.vault.undo import after_undo, diff, history, undo

__all__ = [
    "SETTINGS_FILE",
    "SIDECAR_SUFFIX",
    "STATE_FOLDER",
    "TEXT_SUFFIXES",
    "Amend",
    "Append",
    "ChangeSet",
    "Committed",
    "Conflicted",
    "Content",
    "ContentChanged",
    "Edit",
    "File",
    "Large",
    "Law",
    "Layer",
    "Layout",
    "Move",
    "Outcome",
    "Put",
    "Record",
    "Remove",
    "Retention",
    "Role",
    "Scan",
    "Split",
    "Stat",
    "Unchanged",
    "Vault",
    "after_undo",
    "check",
    "commit",
    "content_at",
    "diff",
    "finish_interrupted",
    "history",
    "locked",
    "pieces_of",
    "revision_of_content",
    "undo",
]
