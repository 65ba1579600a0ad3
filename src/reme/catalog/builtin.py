"""The table of tools: one entry for each operation that needs no thought, over the function that carries it out."""

from reme import tools
from reme.catalog.operation import Catalog, Content, Operation

__all__ = ["add_tools"]


def add_tools(catalog: Catalog) -> None:
    """Add the operations that the tools carry out."""
    catalog.add(
        Operation("search", "ask", tools.search, "read", tools.search_text),
        Operation("traverse", "ask", tools.traverse, "read", tools.traverse_text),
        Operation("recall", "ask", tools.recall, "read", tools.recall_text, tool=False),
        Operation("list", "ask", tools.list_files, "read", tools.list_text, positional=("path",)),
        Operation("tags", "ask", tools.tags, "read", tools.tags_text, positional=("path",)),
        Operation("read", "files", tools.read, "read", tools.read_text),
        Operation("write", "files", tools.write, "destructive", tools.written_text),
        Operation("append", "files", tools.append, "write", tools.written_text),
        Operation("edit", "files", tools.edit, "destructive", tools.edit_text),
        Operation("move", "files", tools.move, "write", tools.move_text),
        Operation("copy", "files", tools.copy, "write", tools.copy_text),
        Operation("delete", "files", tools.delete, "destructive", tools.delete_text),
        Operation("stat", "files", tools.stat, "read", tools.stat_text),
        Operation("upload", "files", tools.upload, "write", tools.uploaded_text, positional=("name",), idempotent=True),
        Operation("download", "files", tools.download, "read", tools.download_text, content=_content),
        Operation("read_image", "files", tools.read_image, "read", tools.picture_text, content=_content),
        Operation(
            "frontmatter_read", "properties", tools.frontmatter_read, "read", tools.properties_text, positional=("key",)
        ),
        Operation(
            "frontmatter_update",
            "properties",
            tools.frontmatter_update,
            "destructive",
            tools.written_text,
            idempotent=True,
        ),
        Operation("frontmatter_delete", "properties", tools.frontmatter_delete, "destructive", tools.written_text),
        Operation(
            "daily_create", "daily", tools.daily_create, "write", tools.written_text, positional=("description",)
        ),
        Operation("daily_list", "daily", tools.daily_list, "read", tools.daily_list_text, positional=("day",)),
        Operation("daily_read", "daily", tools.daily_read, "read", tools.read_text, positional=("event",)),
        Operation("daily_write", "daily", tools.daily_write, "write", tools.written_text, positional=("content",)),
        Operation("daily_status", "daily", tools.daily_status, "read", tools.daily_status_text, positional=("day",)),
        Operation(
            "daily_reindex",
            "daily",
            tools.daily_reindex,
            "write",
            tools.daily_reindex_text,
            positional=("day",),
            idempotent=True,
        ),
        Operation("log", "review", tools.log, "read", tools.log_text),
        Operation("show", "review", tools.show, "read", tools.show_text),
        Operation("undo", "review", tools.undo, "destructive", tools.undo_text),
        Operation("cost", "review", tools.cost, "read", tools.cost_text, positional=("days",), tool=False),
        Operation("status", "health", tools.status, "read", tools.status_text),
        Operation("wait", "health", tools.wait, "read", tools.waited_text, positional=("timeout",)),
        Operation(
            "lint", "health", tools.lint, "write", tools.lint_text, positional=("paths",), findings=tools.has_findings
        ),
        Operation("follow_renames", "index", tools.follow_renames, "write", tools.followed_text, tool=False),
        Operation("reindex", "index", tools.reindex, "read", tools.reindex_text, tool=False, cost="slow"),
    )


def _content(result: tools.Download | tools.Picture) -> Content | None:
    if isinstance(result, tools.Download) and result.saved_as:
        return None
    return Content(result.media_type, result.data)
