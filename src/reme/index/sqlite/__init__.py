"""The index in one SQLite file. Owns its schema, its queries and its recovery; must not know how files are read."""

from reme.index.sqlite.store import SqliteIndex

__all__ = ["SqliteIndex"]
