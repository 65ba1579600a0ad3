"""What a rule finds, and the survey of a vault that all rules share.

Owns what is looked at, so that nothing is read twice.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from reme.index import Edge, IndexedNote
from reme.markdown import Note, parse
from reme.paths import VaultPath, basename
from reme.tools.workspace import Workspace

__all__ = ["Finding", "Rule", "Survey", "key_line"]

Rule = Literal["dangling", "orphans", "collisions", "schema", "links", "provenance", "frontmatter", "resources"]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it should be.

    Attributes:
        path: The file.
        line: 1-based line; 1 where it is about the file as a whole.
        rule: Which rule found it.
        message: What is wrong.
        fix: What ``fix`` would do about it; empty where only a person can tell.
        target: The link's target as spelled, where it is about a link.
        candidates: Files that may be meant, best first.
    """

    path: VaultPath
    line: int
    rule: Rule
    message: str
    fix: str = ""
    target: str = ""
    candidates: tuple[VaultPath, ...] = ()


@dataclass(frozen=True)
class Survey:
    """A vault as one lint sees it.

    Attributes:
        workspace: The vault.
        notes: Every indexed file, by path.
        scope: The paths that are asked about.
    """

    workspace: Workspace
    notes: Mapping[VaultPath, IndexedNote]
    scope: Sequence[VaultPath]
    _parsed: dict[VaultPath, Note | None] = field(default_factory=dict[VaultPath, Note | None])

    def in_scope(self) -> Iterator[IndexedNote]:
        """The files that are asked about."""
        return (self.notes[path] for path in self.scope)

    @cached_property
    def edges(self) -> Mapping[VaultPath, Sequence[Edge]]:
        """The links of the notes that are asked about."""
        index = self.workspace.index
        with index.snapshot():
            return {note.path: index.links_from(note.path) for note in self.in_scope() if note.format == "note"}

    @cached_property
    def inlinks(self) -> Mapping[VaultPath, int]:
        """How many other files refer to each that is asked about; a file that none refers to is not in it."""
        return self.workspace.index.inlinks(self.scope)

    @cached_property
    def _generated(self) -> re.Pattern[str]:
        layout, settings = self.workspace.vault.layout, self.workspace.index.settings
        names = "|".join(re.escape(name) for name in settings.generated)
        return re.compile(rf"(?:.*/)?(?:{names})|{re.escape(layout.daily)}/\d{{4}}-\d{{2}}-\d{{2}}\.md")

    def is_generated(self, path: VaultPath) -> bool:
        """Whether a file is a view of other files."""
        return self._generated.fullmatch(path) is not None

    def parsed(self, path: VaultPath) -> Note | None:
        """A note as it is on disk, or None where it has gone meanwhile."""
        if path not in self._parsed:
            data = self.workspace.vault.bytes_of(path)
            self._parsed[path] = None if data is None else parse(data)
        return self._parsed[path]

    def bucket(self, path: VaultPath) -> str:
        """The folder below the digest that a note lies in; empty elsewhere."""
        inner = path.removeprefix(self.workspace.vault.layout.digest + "/")
        return inner.partition("/")[0] if inner != path and "/" in inner else ""

    def stems(self) -> Iterator[tuple[str, VaultPath]]:
        """Every name by which a file may be meant, with its path."""
        for path, note in self.notes.items():
            name = basename(path)
            yield name[: name.rfind(".")] if note.format == "note" else name, path
            if note.format == "note" and note.name:
                yield note.name, path


def key_line(note: Note | None, key: str) -> int:
    """The line of a top-level key of a frontmatter; 1 where it has none of that name."""
    if note is None or note.frontmatter is None:
        return 1
    found = re.search(rf"^[\"']?{re.escape(key)}[\"']?[ \t]*:", note.text(note.frontmatter.content), re.MULTILINE)
    return 1 if found is None else note.text(note.frontmatter.content).count("\n", 0, found.start()) + 2
