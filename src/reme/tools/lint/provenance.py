"""The rule about sources: knowledge whose source is gone or says something else now, resources changed after the fact.

Owns what is read of the ledger for that: the lines of kind ``derived``.
"""

import json
from collections.abc import Iterator
from typing import Any, Final

from reme.markdown import parse, standing_words, words
from reme.paths import VaultPath
from reme.revision import Revision
from reme.tools.lint.finding import Finding, Survey
from reme.tools.sidecars import SIDECAR_SUFFIX, recorded_revisions

__all__ = ["provenance"]

_SHOWN: Final = 60
_WAY_OUT: Final = "if it no longer holds, take it out or quote it as > [!superseded]"


def provenance(survey: Survey) -> Iterator[Finding]:
    """Digest notes whose sources are gone or have lost what was taken from them, and resources that were changed."""
    yield from _gone(survey)
    yield from _changed(survey)
    yield from _altered(survey)


def _gone(survey: Survey) -> Iterator[Finding]:
    layout = survey.workspace.vault.layout
    sources = tuple(f"{folder}/" for folder in (layout.daily, layout.resource, layout.session))
    for note in survey.in_scope():
        if note.layer == "digest" and note.format == "note":
            for edge in survey.edges[note.path]:
                if edge.target is None and edge.raw_target.startswith(sources):
                    message = f"its source {edge.raw_target} is gone"
                    yield Finding(note.path, edge.line, "provenance", message, target=edge.raw_target)


def _changed(survey: Survey) -> Iterator[Finding]:
    asked = frozenset(survey.scope)
    vault = survey.workspace.vault
    for (node, source), taken in _derived(survey).items():
        known = survey.notes.get(source)
        if node not in asked or known is None or all(revision == known.revision for revision, _, _ in taken):
            continue
        said = words((vault.bytes_of(source) or b"").decode("utf-8", "replace"))
        gone = [(text, stated) for _, text, stated in taken if words(text) not in said]
        states = standing_words(parse(vault.bytes_of(node) or b"")) if gone else ""
        if lost := [text for text, stated in gone if words(stated or text) in states]:
            shown = lost[0] if len(lost[0]) <= _SHOWN else lost[0][: _SHOWN - 1] + "…"
            message = f"its source {source} has changed and no longer says {shown!r}; {_WAY_OUT}"
            line = next((edge.line for edge in survey.edges.get(node, ()) if edge.target == source), 1)
            yield Finding(node, line, "provenance", message)


def _derived(survey: Survey) -> dict[tuple[VaultPath, VaultPath], list[tuple[Revision, str, str]]]:
    """What each node took from each source: at which revision, the source's words, and the node's if others."""
    vault = survey.workspace.vault
    found: dict[tuple[VaultPath, VaultPath], list[tuple[Revision, str, str]]] = {}
    for raw in (vault.bytes_of(vault.layout.ledger) or b"").splitlines():
        if b'"derived"' not in raw:
            continue
        try:
            record: Any = json.loads(raw)
            revision, key = Revision(record["revision"]), (VaultPath(record["node"]), VaultPath(record["source"]))
            taken = [(revision, str(s["text"]), str(s.get("stated", ""))) for s in record["statements"]]
            found.setdefault(key, []).extend(taken)
        except (ValueError, KeyError, TypeError):
            continue
    return found


def _altered(survey: Survey) -> Iterator[Finding]:
    for note in survey.in_scope():
        if note.layer != "resource" or note.path.endswith(SIDECAR_SUFFIX):
            continue
        sidecar = VaultPath(note.path + SIDECAR_SUFFIX)
        if sidecar in survey.notes and (data := survey.workspace.vault.bytes_of(sidecar)) is not None:
            recorded = recorded_revisions(data)
            if recorded and note.revision not in recorded:
                message = "its content is not what was brought in: it was changed by another program"
                yield Finding(note.path, 1, "provenance", message)
