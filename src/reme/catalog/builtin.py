"""The table of tools: one entry for each operation that needs no thought, over the function that carries it out."""

from collections.abc import Callable
from typing import Any, Final

from reme.catalog.operation import Catalog, Content, Named, Operation

__all__ = ["add_tools"]

_SUMMARIES: Final = {
    "search": "Find the notes that answer a query best, with their best pieces and their neighbours by links.",
    "traverse": "Walk along the links from some notes, nearest first, with every link that was followed.",
    "recall": (
        "Recall what a prompt needs: the note that a query is about, its relations, and the facts with their sources."
    ),
    "list_files": "List the files of the vault by folder, layer, tags, properties, state and day.",
    "tags": "List the tags of the vault with how many files have each, or the tags of one file.",
    "read": "Read a note or other text file: whole, some lines, or the section under a heading.",
    "write": "Create a note or other text file; an existing one is replaced only when asked.",
    "append": (
        "Add text at the end of an existing note, one blank line after what is there; simultaneous appends all land."
    ),
    "edit": "Replace a text in a file by another, both taken literally; a line break matches whatever the file's is.",
    "move": (
        "Move or rename a file or folder; links to it, and its own relative ones, are respelled to lead where they did."
    ),
    "copy": "Copy a file or a folder to a path that is free; links stay as they are.",
    "delete": "Delete a file, or a folder with everything in it, and tell which links now lead nowhere.",
    "stat": "Tell what is known of one file: size, times, revision, properties, who links to it.",
    "upload": (
        "Bring in a resource: it is filed under today and never changed; content that is there already is not "
        "kept twice."
    ),
    "download": "Hand out a file whole, whatever is in it.",
    "read_image": "Look at a picture.",
    "frontmatter_read": "Read a note's frontmatter.",
    "frontmatter_update": "Set one property in a note's frontmatter; only its own lines change.",
    "frontmatter_delete": "Remove one property from a note's frontmatter; only its own lines change.",
    "daily_create": (
        "Make the note of an event and list it in its day's index; asking again with the same text changes nothing."
    ),
    "daily_list": "List the events of the latest days, or of one day, each with its state and materials.",
    "daily_read": "Read an event's note, or a day's index.",
    "daily_write": "Add to an event's note, or put a new file beside it; nothing that is there is ever replaced.",
    "daily_status": "Tell how far events have got: active, done, stale, digested, or open.",
    "daily_reindex": (
        "Make a day's index anew from the event notes that there are; what a person wrote around it stays."
    ),
    "log": "List the runs that changed the vault, newest first.",
    "show": "Show what a run changed, as a unified diff of every file.",
    "undo": "Take back what a run did, keeping what was written later in other places.",
    "cost": "Tell what models have cost: calls, tokens and price, by day and by run.",
    "status": (
        "Tell how the vault is: files by layer, what the index has not seen yet, who keeps it, problems, what is "
        "left out."
    ),
    "wait": "Wait until whatever is on disk now, by whomever it was written, is in the index.",
    "lint": "Look for what is wrong in the vault: links, names, frontmatter, sources, resources.",
    "follow_renames": "Have links follow the files that other programs (git, a file manager, an editor) have renamed.",
    "reindex": "Build the index anew from the files alone.",
}
"""What the docstrings of the functions begin with, so that help can be given without loading them."""


def _tool(name: str) -> Named:
    return Named("reme.tools", name, _SUMMARIES.get(name, ""))


def add_tools(catalog: Catalog) -> None:
    """Add the operations that the tools carry out."""
    catalog.add(
        Operation("search", "ask", _tool("search"), "read", _tool("search_text"), findings=_without("hits")),
        Operation("traverse", "ask", _tool("traverse"), "read", _tool("traverse_text"), findings=_without("edges")),
        Operation(
            "recall", "ask", _tool("recall"), "read", _tool("recall_text"), tool=False, findings=_without("block")
        ),
        Operation(
            "list",
            "ask",
            _tool("list_files"),
            "read",
            _tool("list_text"),
            positional=("path",),
            findings=_without("files"),
        ),
        Operation(
            "tags", "ask", _tool("tags"), "read", _tool("tags_text"), positional=("path",), findings=_without("tags")
        ),
        Operation("read", "files", _tool("read"), "read", _tool("read_text")),
        Operation("write", "files", _tool("write"), "destructive", _tool("written_text")),
        Operation("append", "files", _tool("append"), "write", _tool("written_text")),
        Operation("edit", "files", _tool("edit"), "destructive", _tool("edit_text")),
        Operation("move", "files", _tool("move"), "write", _tool("move_text")),
        Operation("copy", "files", _tool("copy"), "write", _tool("copy_text")),
        Operation("delete", "files", _tool("delete"), "destructive", _tool("delete_text")),
        Operation("stat", "files", _tool("stat"), "read", _tool("stat_text")),
        Operation(
            "upload", "files", _tool("upload"), "write", _tool("uploaded_text"), positional=("name",), idempotent=True
        ),
        Operation("download", "files", _tool("download"), "read", _tool("download_text"), content=_content),
        Operation("read_image", "files", _tool("read_image"), "read", _tool("picture_text"), content=_content),
        Operation(
            "frontmatter_read",
            "properties",
            _tool("frontmatter_read"),
            "read",
            _tool("properties_text"),
            positional=("key",),
        ),
        Operation(
            "frontmatter_update",
            "properties",
            _tool("frontmatter_update"),
            "destructive",
            _tool("written_text"),
            idempotent=True,
        ),
        Operation(
            "frontmatter_delete", "properties", _tool("frontmatter_delete"), "destructive", _tool("written_text")
        ),
        Operation(
            "daily_create", "daily", _tool("daily_create"), "write", _tool("written_text"), positional=("description",)
        ),
        Operation("daily_list", "daily", _tool("daily_list"), "read", _tool("daily_list_text")),
        Operation("daily_read", "daily", _tool("daily_read"), "read", _tool("read_text"), positional=("event",)),
        Operation(
            "daily_write", "daily", _tool("daily_write"), "write", _tool("written_text"), positional=("content",)
        ),
        Operation("daily_status", "daily", _tool("daily_status"), "read", _tool("daily_status_text")),
        Operation(
            "daily_reindex",
            "daily",
            _tool("daily_reindex"),
            "write",
            _tool("daily_reindex_text"),
            idempotent=True,
        ),
        Operation("log", "review", _tool("log"), "read", _tool("log_text"), findings=_without("runs")),
        Operation("show", "review", _tool("show"), "read", _tool("show_text")),
        Operation("undo", "review", _tool("undo"), "destructive", _tool("undo_text")),
        Operation("cost", "review", _tool("cost"), "read", _tool("cost_text"), positional=("days",), tool=False),
        Operation("status", "health", _tool("status"), "read", _tool("status_text")),
        Operation("wait", "health", _tool("wait"), "read", _tool("waited_text"), positional=("timeout",), cost="slow"),
        Operation(
            "lint",
            "health",
            _tool("lint"),
            "write",
            _tool("lint_text"),
            positional=("paths",),
            findings=_tool("has_findings"),
        ),
        Operation("follow_renames", "index", _tool("follow_renames"), "write", _tool("followed_text"), tool=False),
        Operation("reindex", "index", _tool("reindex"), "read", _tool("reindex_text"), tool=False, cost="slow"),
    )


def _without(items: str) -> Callable[[Any], bool]:
    """Tells of a result whether it has none of these."""
    return lambda result: not getattr(result, items)


def _content(result: Any) -> Content | None:
    from reme.tools import Download

    if isinstance(result, Download) and result.saved_as:
        return None
    return Content(result.media_type, result.data)
