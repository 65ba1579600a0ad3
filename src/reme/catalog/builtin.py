"""The table of tools: one entry for each operation that needs no thought, over the function that carries it out."""

from functools import partial
from typing import Any, Final

from reme.catalog.operation import Catalog, Content, Named, Operation

__all__ = ["add_tools"]

_tool: Final = partial(Named, "reme.tools")


def add_tools(catalog: Catalog) -> None:
    """Add the operations that the tools carry out."""
    catalog.add(
        Operation("search", "ask", _tool("search"), "read", _tool("search_text")),
        Operation("traverse", "ask", _tool("traverse"), "read", _tool("traverse_text")),
        Operation("recall", "ask", _tool("recall"), "read", _tool("recall_text"), tool=False),
        Operation("list", "ask", _tool("list_files"), "read", _tool("list_text"), positional=("path",)),
        Operation("tags", "ask", _tool("tags"), "read", _tool("tags_text"), positional=("path",)),
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
        Operation("daily_list", "daily", _tool("daily_list"), "read", _tool("daily_list_text"), positional=("day",)),
        Operation("daily_read", "daily", _tool("daily_read"), "read", _tool("read_text"), positional=("event",)),
        Operation(
            "daily_write", "daily", _tool("daily_write"), "write", _tool("written_text"), positional=("content",)
        ),
        Operation(
            "daily_status", "daily", _tool("daily_status"), "read", _tool("daily_status_text"), positional=("day",)
        ),
        Operation(
            "daily_reindex",
            "daily",
            _tool("daily_reindex"),
            "write",
            _tool("daily_reindex_text"),
            positional=("day",),
            idempotent=True,
        ),
        Operation("log", "review", _tool("log"), "read", _tool("log_text")),
        Operation("show", "review", _tool("show"), "read", _tool("show_text")),
        Operation("undo", "review", _tool("undo"), "destructive", _tool("undo_text")),
        Operation("cost", "review", _tool("cost"), "read", _tool("cost_text"), positional=("days",), tool=False),
        Operation("status", "health", _tool("status"), "read", _tool("status_text")),
        Operation("wait", "health", _tool("wait"), "read", _tool("waited_text"), positional=("timeout",)),
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


def _content(result: Any) -> Content | None:
    from reme.tools import Download

    if isinstance(result, Download) and result.saved_as:
        return None
    return Content(result.media_type, result.data)
