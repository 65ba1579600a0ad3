"""Stale nodes: digest nodes whose cited sources no longer say what was taken from them.

Owns the check, by hash first: a source at the revision that the ledger recorded is as it was. At another revision the
recorded words are looked for; those that are gone make the node stale until a dream has read the source again, and so
does a source that is gone. What a node still states after that, though its source was read and no longer says it, is
told apart: only who knows which of them holds can settle it. What a node quotes as superseded it states no more.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from reme.actions.ledger import Derived, Ledger, read_ledger
from reme.markdown import fingerprint, parse, standing_words, words
from reme.paths import VaultPath
from reme.revision import revision_of
from reme.tools import Workspace
from reme.vault import Content, Vault, pieces_of
from reme.wording import counted

__all__ = ["Stale", "StaleReport", "find_stale", "has_stale", "stale", "stale_text", "unsourced"]

_BECAME: Final = {
    "changed": "has changed",
    "gone": "is gone",
    "unsaid": "was read again, and the node still states what it no longer says",
}


@dataclass(frozen=True, slots=True)
class Stale:
    """A node and a source of it that is not as it was.

    Attributes:
        state: ``unsaid`` where the source has changed and was read again since.
        statements: What the node says that the source no longer does.
    """

    node: VaultPath
    source: VaultPath
    state: Literal["changed", "gone", "unsaid"]
    statements: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StaleReport:
    """Every stale node, and how many pairs of node and source were verified.

    Attributes:
        unsaid: Nodes that state what a source no longer says, though it was read again.
    """

    stale: tuple[Stale, ...]
    verified: int
    unsaid: tuple[Stale, ...] = ()


def find_stale(
    vault: Vault,
    ledger: Ledger,
    sources: Collection[VaultPath] | None = None,
    would: Mapping[VaultPath, Content | None] = MappingProxyType({}),
) -> StaleReport:
    """Check every source that a node was derived from and still links, or only these.

    Args:
        would: Files as they would be, which count instead of those that there are.
    """

    def data_of(path: VaultPath) -> bytes | None:
        if path not in would:
            return vault.bytes_of(path)
        content = would[path]
        return None if content is None else b"".join(pieces_of(content))

    recorded: dict[tuple[VaultPath, VaultPath], list[Derived]] = defaultdict(list)
    for entry in ledger.derived:
        if sources is None or entry.source in sources:
            recorded[entry.node, entry.source].append(entry)
    found: list[Stale] = []
    unsaid: list[Stale] = []
    nodes: dict[VaultPath, tuple[str, frozenset[str]] | None] = {}
    verified = 0
    for (path, source), entries in sorted(recorded.items()):
        if path not in nodes:
            nodes[path] = _stated(data_of(path))
        node = nodes[path]
        if node is None or source not in node[1]:
            continue
        data = data_of(source)
        taken = (taken for entry in entries for taken in entry.statements)
        told = {words(t.text): t.stated or t.text for t in taken}
        standing = {plain: text for plain, text in told.items() if words(text) in node[0]}
        if data is None:
            found.append(Stale(path, source, "gone", tuple(standing.values())))
        elif any(entry.revision != revision_of(data) for entry in entries):
            now = words(data.decode("utf-8", "replace"))
            lost = tuple(text for plain, text in standing.items() if plain not in now)
            read = ledger.digested.get(source)
            if lost and read is not None and read.fingerprint == fingerprint(parse(data)):
                unsaid.append(Stale(path, source, "unsaid", lost))
            elif lost:
                found.append(Stale(path, source, "changed", lost))
        verified += 1
    return StaleReport(tuple(found), verified, tuple(unsaid))


def _stated(data: bytes | None) -> tuple[str, frozenset[str]] | None:
    """What a node states and the targets of its links; None if it is gone."""
    if data is None:
        return None
    note = parse(data)
    return standing_words(note), frozenset(link.target for link in note.links)


def unsourced(vault: Vault, would: Mapping[VaultPath, Content | None]) -> tuple[VaultPath, ...]:
    """The nodes that would state what their sources do not, if these files had these contents (None for no file)."""
    found = find_stale(vault, read_ledger(vault), would.keys(), would)
    stating = (entry.node for entry in (*found.stale, *found.unsaid) if entry.statements)
    return tuple(dict.fromkeys(stating))


def stale(workspace: Workspace) -> StaleReport:
    """Find nodes whose cited sources changed or are gone; the next dream reads what changed again."""
    return find_stale(workspace.vault, read_ledger(workspace.vault))


def has_stale(report: StaleReport) -> bool:
    """Whether any node states what its source does not."""
    return bool(report.stale or report.unsaid)


def stale_text(report: StaleReport) -> str:
    """The report in words."""
    lines = [f"{len(report.stale)} stale of {counted(report.verified, 'pair')} of node and source"]
    for entry in (*report.stale, *report.unsaid):
        lines.append(f"{entry.node}: {entry.source} {_BECAME[entry.state]}")
        lines += [f"  no longer there: {text}" for text in entry.statements]
    if any(entry.state == "changed" for entry in report.stale):
        lines.append("The next dream reads what has changed again (auto_dream)")
    if report.unsaid:
        lines.append("What no longer holds: take it out of the node (edit), or quote it as > [!superseded]")
    return "\n".join(lines)
