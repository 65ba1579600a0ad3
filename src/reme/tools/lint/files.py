"""Rules about files as such: names that collide, frontmatter that cannot be read, frontmatter that lacks something,
resources that are not as ingest leaves them.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from reme.index import IndexedNote
from reme.paths import VaultPath, basename, fold, is_markdown
from reme.revision import Revision
from reme.tools.lint.finding import Finding, Survey, key_line
from reme.tools.schema import violations
from reme.vault import SIDECAR_SUFFIX

__all__ = ["collisions", "frontmatter", "resources", "schema"]

_DATED: Final = re.compile(r"\d{4}-\d{2}-\d{2}/.")


def collisions(survey: Survey) -> Iterator[Finding]:
    """Files whose names differ in letter case or Unicode form only, and notes of one name in several folders.

    The latter only in the digest and among other notes: folders of days repeat names by nature.
    """
    asked = frozenset(survey.scope)
    cases: defaultdict[str, list[VaultPath]] = defaultdict(list)
    names: defaultdict[str, list[VaultPath]] = defaultdict(list)
    for path, note in survey.notes.items():
        cases[fold(path)].append(path)
        if note.layer in ("digest", "other") and is_markdown(path) and not survey.is_generated(path):
            names[fold(basename(path))].append(path)
    for paths in cases.values():
        yield from _group(paths, asked, "its path differs only in letter case from")
    for paths in names.values():
        if len({fold(path) for path in paths}) > 1:
            yield from _group(paths, asked, f"{basename(paths[0])!r} is also the name of")
    for path, reason in survey.workspace.index.skipped():
        if "Unicode form" in reason and (twin := VaultPath(path)) in asked:
            yield Finding(twin, 1, "collisions", reason)


def _group(paths: list[VaultPath], asked: frozenset[VaultPath], how: str) -> Iterator[Finding]:
    if len(paths) > 1:
        for path in paths:
            if path in asked:
                others = tuple(other for other in paths if other != path)
                named = ", ".join(others[:3]) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
                yield Finding(path, 1, "collisions", f"{how} {named}", candidates=others)
                return


def frontmatter(survey: Survey) -> Iterator[Finding]:
    """Frontmatter that cannot be read, or that says something twice."""
    asked = frozenset(survey.scope)
    for problem in survey.workspace.index.problems():
        if problem.rule.startswith("frontmatter") and problem.path in asked:
            yield Finding(problem.path, problem.line, "frontmatter", problem.message)


def schema(survey: Survey) -> Iterator[Finding]:
    """Notes whose frontmatter lacks what the presets in force ask for."""
    presets = survey.workspace.schema.presets()
    if not presets:
        return
    for note in survey.in_scope():
        if note.format == "note" and not survey.is_generated(note.path):
            for key, message in violations(note.properties, note.layer, survey.bucket(note.path), presets):
                line = key_line(survey.parsed(note.path), key) if key in note.properties else 1
                yield Finding(note.path, line, "schema", message)


def resources(survey: Survey) -> Iterator[Finding]:
    """Resources that lie outside a day, that no note links to, that are there twice or cannot be read."""
    first: dict[Revision, VaultPath] = {}
    kept = [note for note in survey.notes.values() if note.layer == "resource"]
    for note in kept:
        if not note.path.endswith(SIDECAR_SUFFIX):
            first.setdefault(note.revision, note.path)
    asked = frozenset(survey.scope)
    for note in kept:
        if note.path in asked:
            for message in _resource_messages(survey, note, first):
                yield Finding(note.path, 1, "resources", message)
    for problem in survey.workspace.index.problems():
        told = problem.path in asked and not problem.rule.startswith("frontmatter")
        if told and survey.notes[problem.path].layer == "resource":
            yield Finding(problem.path, problem.line, "resources", problem.message)


def _resource_messages(survey: Survey, note: IndexedNote, first: dict[Revision, VaultPath]) -> Iterator[str]:
    folder = survey.workspace.vault.layout.resource + "/"
    if note.path.endswith(SIDECAR_SUFFIX):
        if VaultPath(note.path.removesuffix(SIDECAR_SUFFIX)) not in survey.notes:
            yield "the resource that it describes is gone"
        return
    if not _DATED.match(note.path.removeprefix(folder)):
        yield "it is not filed under a day"
    if first[note.revision] != note.path:
        yield f"it has the same content as {first[note.revision]}"
    if note.path not in survey.inlinks:
        yield "no note links to it"
