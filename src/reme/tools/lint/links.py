"""Rules about links: those that lead nowhere, those not spelled literally, and notes without any.

Owns what a link's anchor may name. Resolution itself is the markdown room's.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from mimetypes import guess_type
from typing import Final

from reme.index import Edge
from reme.markdown import Note, resolution
from reme.paths import VaultPath, fold, is_markdown
from reme.tools.following import left_behind
from reme.tools.lint.finding import Finding, Survey
from reme.tools.lint.near import NearNames
from reme.vault import Layer

__all__ = ["UNWRITTEN", "dangling", "is_short", "non_literal", "orphans", "with_candidates"]

UNWRITTEN: Final[frozenset[Layer]] = frozenset({"resource", "session"})
"""The layers whose content stays as it was recorded."""

_UNSPELLABLE: Final = re.compile(r"[\[\]|#^`$]")
_LINE_ANCHOR: Final = re.compile(r"L\d+(?:-L?\d+)?")
_RESERVED: Final = re.compile(r"[#|^:%\[\]\\]+")
_NO_SLUG: Final = re.compile(r"[^\w\- ]")


def dangling(survey: Survey) -> Iterator[Finding]:
    """Links that lead to no file, or to a heading or block that is not there."""
    index = survey.workspace.index
    renamed = {(link.path, link.target): link.now for link in left_behind(survey.workspace)}
    for path, edges in survey.edges.items():
        if survey.notes[path].layer in index.settings.uncounted_layers:
            continue
        for edge in edges:
            if edge.target is None and (now := renamed.get((path, edge.raw_target))):
                message = f"{edge.raw_target!r} was renamed to {now}"
                yield Finding(path, edge.line, "dangling", message, target=edge.raw_target, candidates=(now,))
            elif edge.target is None:
                yield _leading_nowhere(survey, edge)
            elif edge.anchor and is_markdown(edge.target) and not _has_anchor(survey, edge.target, edge.anchor):
                message = f"{edge.target} has no heading or block {edge.anchor!r}"
                yield Finding(path, edge.line, "dangling", message, target=f"{edge.raw_target}#{edge.anchor}")


def _leading_nowhere(survey: Survey, edge: Edge) -> Finding:
    found = resolution(edge.raw_target, edge.source, survey.workspace.index.names)
    if found.reason == "ambiguous":
        message = f"{edge.raw_target!r} may mean {len(found.candidates)} files"
    else:
        message = f"there is no file {edge.raw_target!r}"
    return Finding(edge.source, edge.line, "dangling", message, target=edge.raw_target, candidates=found.candidates)


def with_candidates(survey: Survey, findings: list[Finding]) -> list[Finding]:
    """The findings with the files that the targets of dangling links may have been meant to name."""
    if not any(_is_unknown(finding) for finding in findings):
        return findings
    near = NearNames(survey.stems())
    return [_with_near(finding, near) if _is_unknown(finding) else finding for finding in findings]


def _is_unknown(finding: Finding) -> bool:
    sought = finding.rule in ("dangling", "provenance") and finding.target and "#" not in finding.target
    return bool(sought) and not finding.candidates


def _with_near(finding: Finding, near: NearNames) -> Finding:
    """The finding with the nearest names of the same sort: notes for what may be a note, other files for the rest."""
    kind = guess_type(finding.target)[0] or "text/markdown"
    found = (path for path in near.to(_last(finding.target)) if path != finding.path)
    return replace(finding, candidates=tuple(p for p in found if is_markdown(p) == kind.startswith("text/")))


def _last(target: str) -> str:
    name = target.partition("#")[0].replace("\\", "/").rpartition("/")[2]
    return name[:-3] if name.lower().endswith(".md") else name


def _has_anchor(survey: Survey, path: VaultPath, anchor: str) -> bool:
    if (note := survey.parsed(path)) is None or _LINE_ANCHOR.fullmatch(anchor):
        return True
    wanted = anchor.rpartition("#")[2].strip()
    if wanted.startswith("^"):
        return re.search(rf"(?:^|\s){re.escape(wanted)}\s*$", note.text(note.body), re.MULTILINE) is not None
    return not wanted or _key(wanted) in _heading_keys(note)


def _heading_keys(note: Note) -> set[str]:
    """The headings as anchors spell them: in words without reserved characters, or as slugs."""
    return {key for heading in note.headings for key in (_key(heading.text), _slug(heading.text))}


def _key(text: str) -> str:
    return " ".join(_RESERVED.sub(" ", fold(text)).split())


def _slug(text: str) -> str:
    return _NO_SLUG.sub("", fold(text.strip())).replace(" ", "-")


def non_literal(survey: Survey) -> Iterator[Finding]:
    """Wikilinks that are not spelled as the whole path with its extension."""
    for path, edges in survey.edges.items():
        if survey.notes[path].layer in UNWRITTEN:
            continue
        for edge in edges:
            if edge.kind in ("wiki", "embed") and is_short(edge.raw_target, edge.target):
                fix = "" if _UNSPELLABLE.search(str(edge.target)) else f"spell it {edge.target}"
                message = f"{edge.raw_target!r} is not the literal path of {edge.target}"
                yield Finding(path, edge.line, "links", message, fix, target=edge.raw_target)


def is_short(raw: str, path: VaultPath | None) -> bool:
    """Whether a target that names a file is spelled otherwise than its path; ``[[#x]]`` names the note itself."""
    return path is not None and raw not in ("", path)


def orphans(survey: Survey) -> Iterator[Finding]:
    """Notes that nothing refers to and that link nothing themselves."""
    for path, edges in survey.edges.items():
        note = survey.notes[path]
        if note.layer not in ("digest", "daily", "other") or survey.is_generated(path) or path in survey.inlinks:
            continue
        if not any(edge.kind != "image" and edge.target != path for edge in edges):
            yield Finding(path, 1, "orphans", "no note links to it, and it links to none")
