"""The tools: one function for each thing that can be asked of a vault without thinking, with its result in words.

Every tool takes a ``Workspace`` and plain parameters and returns a frozen result. Owns what is asked and answered; how
files are kept, indexed and searched is the business of the rooms below. No model is ever asked here.
"""

from reme.tools.append import append
from reme.tools.asking import search, search_text, traverse, traverse_text
from reme.tools.changes import Written, written_text
from reme.tools.copy import copy, copy_text
from reme.tools.delete import Deleted, Inbound, delete, delete_text
from reme.tools.edit import Edited, edit, edit_text
from reme.tools.health import Health, Reindexed, Skipped, reindex, reindex_text, status, status_text
from reme.tools.history import (
    Changed,
    Log,
    RunDiff,
    Undone,
    log,
    log_text,
    show,
    show_text,
    undo,
    undo_text,
)
from reme.tools.lint import Finding, Fixed, LintReport, Rule, has_findings, lint, lint_text
from reme.tools.listing import (
    FileFacts,
    Listed,
    Listing,
    TagCount,
    TagCounts,
    list_files,
    list_text,
    stat,
    stat_text,
    tags,
    tags_text,
)
from reme.tools.move import LinkLeft, Moved, MovedFile, Retargeted, move, move_text
from reme.tools.properties import (
    Properties,
    frontmatter_delete,
    frontmatter_read,
    frontmatter_update,
    properties_text,
)
from reme.tools.read import Text, read, read_text
from reme.tools.schema import Preset, SchemaSettings
from reme.tools.workspace import Caller, Workspace
from reme.tools.write import write

__all__ = [
    "Caller",
    "Changed",
    "Deleted",
    "Edited",
    "FileFacts",
    "Finding",
    "Fixed",
    "Health",
    "Inbound",
    "LinkLeft",
    "LintReport",
    "Listed",
    "Listing",
    "Log",
    "Moved",
    "MovedFile",
    "Preset",
    "Properties",
    "Reindexed",
    "Retargeted",
    "Rule",
    "RunDiff",
    "SchemaSettings",
    "Skipped",
    "TagCount",
    "TagCounts",
    "Text",
    "Undone",
    "Workspace",
    "Written",
    "append",
    "copy",
    "copy_text",
    "delete",
    "delete_text",
    "edit",
    "edit_text",
    "frontmatter_delete",
    "frontmatter_read",
    "frontmatter_update",
    "has_findings",
    "lint",
    "lint_text",
    "list_files",
    "list_text",
    "log",
    "log_text",
    "move",
    "move_text",
    "properties_text",
    "read",
    "read_text",
    "reindex",
    "reindex_text",
    "search",
    "search_text",
    "show",
    "show_text",
    "stat",
    "stat_text",
    "status",
    "status_text",
    "tags",
    "tags_text",
    "traverse",
    "traverse_text",
    "undo",
    "undo_text",
    "write",
    "written_text",
]
