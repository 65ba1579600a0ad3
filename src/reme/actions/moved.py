"""Sources that are at another path now: an event that got a folder of its own, a note that somebody renamed or moved.

Owns how they are recognised. Links follow a move that ReMe makes, and those of many editors; the ledger, which is only
appended to, follows here: what it says of the old path is said again of the new one, so that nothing is learnt twice.
"""

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Final

from reme.actions.ledger import Derived, Digested, Ledger, LedgerLine
from reme.actions.statements import source_lines
from reme.errors import Refused
from reme.markdown import fingerprint, parse, words
from reme.paths import VaultPath, parse_path
from reme.revision import Revision, revision_of
from reme.vault import Vault

__all__ = ["Moved", "find_moved"]

_SAME: Final = 0.5
"""The share of what was taken from a source that a file must still say to be that source; as Git's for renames."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A source that is elsewhere now, and what the ledger is to say of it there."""

    source: VaultPath
    target: VaultPath
    lines: tuple[LedgerLine, ...]


@dataclass(frozen=True, slots=True)
class _File:
    path: VaultPath
    revision: Revision
    mark: str
    said: tuple[tuple[int, str], ...]


def find_moved(vault: Vault, ledger: Ledger, looked_at: Iterable[VaultPath]) -> tuple[Moved, ...]:
    """Sources that the ledger knows and that are gone, each with the file that it has become.

    That is a file which the ledger does not know and which has the same words, or says most of what was taken; looked
    for among the files given, and those that nodes cite which took something from the source.
    """
    known = {*ledger.digested, *ledger.taken}
    gone = [path for path in sorted(known) if vault.stat(path) is None]
    if not gone:
        return ()
    taken = _by_source(ledger, frozenset(gone))
    nodes = {entry.node for entries in taken.values() for entry in entries}
    cited = (path for node in sorted(nodes) for path in _cited(vault, node))
    unknown = dict.fromkeys(path for path in (*looked_at, *cited) if path not in known)
    files = [file for path in unknown if (file := _read(vault, path)) is not None]
    found: list[Moved] = []
    for source in gone:
        entries, digested = taken.get(source, ()), ledger.digested.get(source)
        likeness = {file.path: _likeness(file, entries, digested) for file in files}
        best = max(files, key=lambda file: likeness[file.path], default=None)
        if best is not None and likeness[best.path] >= _SAME:
            files.remove(best)
            found.append(Moved(source, best.path, _lines(best, entries, digested)))
    return tuple(found)


def _by_source(ledger: Ledger, sources: frozenset[VaultPath]) -> Mapping[VaultPath, Sequence[Derived]]:
    found: dict[VaultPath, list[Derived]] = {}
    for entry in ledger.derived:
        if entry.source in sources:
            found.setdefault(entry.source, []).append(entry)
    return found


def _cited(vault: Vault, node: VaultPath) -> Iterator[VaultPath]:
    """What a node is derived from, as far as it is there."""
    data = vault.bytes_of(node)
    for link in parse(data).links if data is not None else ():
        if link.predicate == "derived_from":
            with contextlib.suppress(Refused):
                yield parse_path(link.target)


def _read(vault: Vault, path: VaultPath) -> _File | None:
    data = vault.bytes_of(path)
    if data is None:
        return None
    note = parse(data)
    said = tuple((line.number, words(line.text)) for line in source_lines(note, date.min))
    return _File(path, revision_of(data), fingerprint(note), said)


def _likeness(file: _File, entries: Sequence[Derived], digested: Digested | None) -> float:
    """1 for the same words; else the share of what was taken that the file says."""
    if digested is not None and digested.fingerprint == file.mark:
        return 1.0
    texts = {words(taken.text) for entry in entries for taken in entry.statements}
    return sum(_line_of(file, text) is not None for text in texts) / len(texts) if texts else 0.0


def _line_of(file: _File, text: str) -> int | None:
    return next((number for number, said in file.said if text in said), None)


def _lines(file: _File, entries: Sequence[Derived], digested: Digested | None) -> tuple[LedgerLine, ...]:
    """What was taken, as far as it stands there; and that the file is digested, if it has the same words."""
    lines: list[LedgerLine] = []
    for entry in entries:
        places = [(taken, _line_of(file, words(taken.text))) for taken in entry.statements]
        standing = tuple(replace(taken, line=line) for taken, line in places if line is not None)
        if standing:
            lines.append(replace(entry, source=file.path, revision=file.revision, statements=standing))
    if digested is not None and digested.fingerprint == file.mark:
        lines.append(Digested(file.path, file.revision, file.mark))
    return tuple(lines)
