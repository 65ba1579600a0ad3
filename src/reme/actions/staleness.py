"""Stale nodes: digest nodes whose cited sources no longer say what was taken from them.

Owns the check, by hash first: a source at the revision that the ledger recorded is as it was. At another revision the
recorded words are looked for; those that are gone make the node stale, and so does a source that is gone.
"""

from collections import defaultdict
from dataclasses import dataclass
from typing import Literal

from reme.actions.ledger import Derived, Ledger, read_ledger
from reme.markdown import parse, words
from reme.paths import VaultPath
from reme.revision import revision_of
from reme.tools import Workspace
from reme.vault import Vault

__all__ = ["Stale", "StaleReport", "find_stale", "stale", "stale_text"]


@dataclass(frozen=True, slots=True)
class Stale:
    """A node and a source of it that is not as it was.

    Attributes:
        statements: What the node says that the source no longer does.
    """

    node: VaultPath
    source: VaultPath
    state: Literal["changed", "gone"]
    statements: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StaleReport:
    """Every stale node, and how many pairs of node and source were verified."""

    stale: tuple[Stale, ...]
    verified: int


def find_stale(vault: Vault, ledger: Ledger) -> StaleReport:
    """Check every source that a node was derived from and still links."""
    recorded: dict[tuple[VaultPath, VaultPath], list[Derived]] = defaultdict(list)
    for entry in ledger.derived:
        recorded[entry.node, entry.source].append(entry)
    found: list[Stale] = []
    nodes: dict[VaultPath, tuple[str, frozenset[str]] | None] = {}
    verified = 0
    for (path, source), entries in sorted(recorded.items()):
        if path not in nodes:
            nodes[path] = _read(vault, path)
        node = nodes[path]
        if node is None or source not in node[1]:
            continue
        data = vault.bytes_of(source)
        taken = (taken for entry in entries for taken in entry.statements)
        told = {words(t.text): t.stated or t.text for t in taken}
        standing = {plain: text for plain, text in told.items() if words(text) in node[0]}
        if data is None:
            found.append(Stale(path, source, "gone", tuple(standing.values())))
        elif any(entry.revision != revision_of(data) for entry in entries):
            now = words(data.decode("utf-8", "replace"))
            lost = tuple(text for plain, text in standing.items() if plain not in now)
            if lost:
                found.append(Stale(path, source, "changed", lost))
        verified += 1
    return StaleReport(tuple(found), verified)


def _read(vault: Vault, path: VaultPath) -> tuple[str, frozenset[str]] | None:
    """A node's words and the targets of its links; None if it is gone."""
    data = vault.bytes_of(path)
    if data is None:
        return None
    return words(data.decode("utf-8", "replace")), frozenset(link.target for link in parse(data).links)


def stale(workspace: Workspace) -> StaleReport:
    """Find nodes whose cited sources changed or are gone; the next dream reads what changed again."""
    return find_stale(workspace.vault, read_ledger(workspace.vault))


def stale_text(report: StaleReport) -> str:
    """The report in words."""
    lines = [f"{len(report.stale)} stale of {report.verified} pairs of node and source"]
    for entry in report.stale:
        lines.append(f"{entry.node}: {entry.source} {'is gone' if entry.state == 'gone' else 'has changed'}")
        lines += [f"  no longer there: {text}" for text in entry.statements]
    return "\n".join(lines)
