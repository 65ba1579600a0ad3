"""The table of tools: one entry for each operation that needs no thought, over the function that carries it out."""

from reme import tools
from reme.catalog.operation import Catalog, Operation

__all__ = ["add_tools"]


def add_tools(catalog: Catalog) -> None:
    """Add the operations that the tools carry out."""
    catalog.add(
        Operation("search", "ask", tools.search, "read", tools.search_text),
        Operation("traverse", "ask", tools.traverse, "read", tools.traverse_text),
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
        Operation("log", "review", tools.log, "read", tools.log_text),
        Operation("show", "review", tools.show, "read", tools.show_text),
        Operation("undo", "review", tools.undo, "destructive", tools.undo_text),
        Operation("status", "health", tools.status, "read", tools.status_text),
        Operation(
            "lint", "health", tools.lint, "write", tools.lint_text, positional=("paths",), findings=tools.has_findings
        ),
        Operation("reindex", "index", tools.reindex, "read", tools.reindex_text, tool=False, cost="slow"),
    )
