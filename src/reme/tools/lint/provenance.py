"""The rule about sources: knowledge whose source is gone or says something else now, resources changed after the fact.

Owns the comparison; what nodes have learnt the ledger tells.
"""

from collections.abc import Iterator
from typing import Final

from reme.markdown import parse, standing_words, words
from reme.paths import VaultPath
from reme.tools.learnt import Learnt, learnt
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
    found: dict[tuple[VaultPath, VaultPath], list[Learnt]] = {}
    for each in learnt(vault):
        found.setdefault((each.node, each.source), []).append(each)
    for (node, source), taken in found.items():
        known = survey.notes.get(source)
        if node not in asked or known is None or all(each.revision == known.revision for each in taken):
            continue
        said = words((vault.bytes_of(source) or b"").decode("utf-8", "replace"))
        gone = [each for each in taken if words(each.text) not in said]
        states = standing_words(parse(vault.bytes_of(node) or b"")) if gone else ""
        if lost := [each.text for each in gone if words(each.stated) in states]:
            shown = lost[0] if len(lost[0]) <= _SHOWN else lost[0][: _SHOWN - 1] + "…"
            message = f"its source {source} has changed and no longer says {shown!r}; {_WAY_OUT}"
            line = next((edge.line for edge in survey.edges.get(node, ()) if edge.target == source), 1)
            yield Finding(node, line, "provenance", message)


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
