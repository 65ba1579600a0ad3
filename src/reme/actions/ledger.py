"""The ledger ``audit/ledger.jsonl``: what actions decided and could not derive again.

Owns the format of its lines. One JSON object a line, UTF-8, keys in this order, never rewritten, only appended to, in
the change set that holds what came of the decision. Every line has

``kind``
    What sort of line it is. Readers skip kinds that they do not know, and lines that are no JSON.
``at``
    When, ISO 8601 with the vault's offset.
``run``
    The run that wrote it.

and, by kind,

``watermark`` (auto_memory)
    ``session``, ``line``: the session's dialogue has been learnt from up to and including this line.
``digested`` (auto_dream)
    ``source``, ``revision``, ``fingerprint``: a daily note all of whose units landed or were skipped, at this
    revision; the fingerprint is the BLAKE2b-128 of its words, so that retargets and woven links wake nothing. A note
    that has been moved gets lines of this kind and of the next anew, under its new path.
``derived`` (auto_dream)
    ``node``, ``source``, ``revision``, ``statements``: what a digest node took from a source at this revision: a list
    of ``{"line": …, "text": …}``, the source's line and what it states; with ``"stated": …`` where the node says it in
    other words.
``accepted``, ``rejected`` (accept, reject)
    ``proposal``, ``paths``, ``reason``: what was decided of these files of the proposal that this run had left.
``refused``, ``conflict`` (auto_dream)
    ``paths``, ``reason``: a change that was not made, by a law or since its files kept changing.

Later lines go before earlier ones of the same kind and subject.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, cast

from reme.paths import VaultPath
from reme.revision import Revision
from reme.vault import Append, Vault

__all__ = [
    "Decision",
    "Derived",
    "Digested",
    "Failure",
    "Ledger",
    "LedgerLine",
    "Taken",
    "Watermark",
    "append_lines",
    "extended",
    "read_ledger",
    "read_watermark",
    "taken_since",
]

_WATERMARK = b'"watermark"'
_DERIVED = b'"derived"'


@dataclass(frozen=True, slots=True)
class Watermark:
    """A session has been learnt from up to this line of its dialogue."""

    session: str
    line: int


@dataclass(frozen=True, slots=True)
class Digested:
    """A source has been brought into the digest as it was at this revision."""

    source: VaultPath
    revision: Revision
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Taken:
    """What a node took from a line of a source: the line's words, and the node's, empty where they are the same."""

    line: int
    text: str
    stated: str = ""


@dataclass(frozen=True, slots=True)
class Derived:
    """What a node took from a source at this revision."""

    node: VaultPath
    source: VaultPath
    revision: Revision
    statements: tuple[Taken, ...]


@dataclass(frozen=True, slots=True)
class Failure:
    """A change that was not made: ``kind`` is ``refused`` or ``conflict``."""

    kind: str
    paths: tuple[VaultPath, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided of files of a proposal: ``accepted`` or ``rejected``, by the run ``run``."""

    kind: Literal["accepted", "rejected"]
    proposal: str
    paths: tuple[VaultPath, ...]
    reason: str = ""
    run: str = ""


LedgerLine = Watermark | Digested | Derived | Failure | Decision


@dataclass(frozen=True, slots=True)
class Ledger:
    """The ledger as far as actions decide by it.

    Attributes:
        watermarks: By session, the last line learnt from.
        digested: By source, how it was when last digested.
        taken: By source, the words that nodes have taken from it.
        derived: Everything that nodes have taken, in the order of taking.
        decided: The files of proposals that have been decided of, by proposal, and the runs that did.
        size: The length of the file that it was read from, in bytes.
    """

    watermarks: Mapping[str, int] = field(default_factory=dict[str, int])
    digested: Mapping[VaultPath, Digested] = field(default_factory=dict[VaultPath, Digested])
    taken: Mapping[VaultPath, frozenset[str]] = field(default_factory=dict[VaultPath, frozenset[str]])
    derived: tuple[Derived, ...] = ()
    decided: Mapping[str, Mapping[VaultPath, str]] = field(default_factory=dict[str, Mapping[VaultPath, str]])
    size: int = 0

    def stated_by(self, node: VaultPath) -> Iterator[str]:
        """What a node has stated when it was learnt."""
        entries = (entry for entry in self.derived if entry.node == node)
        return (taken.stated or taken.text for entry in entries for taken in entry.statements)


def read_ledger(vault: Vault) -> Ledger:
    """Read the whole ledger; one that is not there is empty."""
    data = vault.bytes_of(vault.layout.ledger) or b""
    found = (_parsed(raw) for raw in data.splitlines())
    return replace(extended(Ledger(), (line for line in found if line is not None)), size=len(data))


def extended(ledger: Ledger, lines: Iterable[LedgerLine]) -> Ledger:
    """The ledger as it would be with further lines."""
    watermarks, digested, decided = dict(ledger.watermarks), dict(ledger.digested), dict(ledger.decided)
    derived = list(ledger.derived)
    fresh: dict[VaultPath, set[str]] = {}
    for line in lines:
        match line:
            case Watermark(session, number):
                watermarks[session] = number
            case Digested(source):
                digested[source] = line
            case Decision(proposal=proposal, paths=paths, run=run):
                decided[proposal] = {**decided.get(proposal, {}), **dict.fromkeys(paths, run)}
            case Derived(source=source, statements=statements):
                derived.append(line)
                fresh.setdefault(source, set()).update(statement.text for statement in statements)
            case Failure():
                continue
    added = {source: ledger.taken.get(source, frozenset()) | texts for source, texts in fresh.items()}
    return Ledger(watermarks, digested, {**ledger.taken, **added}, tuple(derived), decided, ledger.size)


def read_watermark(vault: Vault, session: str) -> int:
    """The last line of a session's dialogue that has been learnt from, without reading the rest of the ledger."""
    found = 0
    for raw in _raw_lines(vault, 0):
        if _WATERMARK in raw and isinstance(line := _parsed(raw), Watermark) and line.session == session:
            found = line.line
    return found


def taken_since(vault: Vault, size: int, run: str) -> Mapping[VaultPath, frozenset[str]]:
    """By source, the words that other runs than this one have taken since the ledger had this size.

    A ledger that is shorter now, since a run was undone, is read from its beginning.
    """
    stat = vault.stat(vault.layout.ledger)
    found: dict[VaultPath, frozenset[str]] = {}
    for raw in _raw_lines(vault, size if stat is not None and stat.size >= size else 0):
        if _DERIVED in raw and isinstance(line := _parsed(raw), Derived) and json.loads(raw).get("run") != run:
            texts = frozenset(taken.text for taken in line.statements)
            found[line.source] = found.get(line.source, frozenset()) | texts
    return found


def _raw_lines(vault: Vault, offset: int) -> Iterator[bytes]:
    if vault.stat(vault.layout.ledger) is not None:
        with vault.open(vault.layout.ledger) as file:
            file.seek(offset)
            yield from file


def append_lines(vault: Vault, lines: tuple[LedgerLine, ...], *, at: datetime, run: str) -> Append:
    """The edit that adds lines.

    Args:
        at: When, in the vault's timezone.
        run: The run that decided.
    """
    text = "".join(json.dumps(_as_dict(line, at, run), ensure_ascii=False) + "\n" for line in lines)
    return Append(vault.layout.ledger, text.encode("utf-8"))


def _as_dict(line: LedgerLine, at: datetime, run: str) -> dict[str, object]:
    def head(kind: str) -> dict[str, object]:
        return {"kind": kind, "at": at.isoformat(timespec="seconds"), "run": run}

    match line:
        case Watermark(session, number):
            return head("watermark") | {"session": session, "line": number}
        case Digested(source, revision, fingerprint):
            return head("digested") | {"source": source, "revision": revision, "fingerprint": fingerprint}
        case Derived(node, source, revision, statements):
            taken = [_as_taken(statement) for statement in statements]
            return head("derived") | {"node": node, "source": source, "revision": revision, "statements": taken}
        case Decision(kind, proposal, paths, reason, _):
            return head(kind) | {"proposal": proposal, "paths": list(paths), "reason": reason}
        case Failure(kind, paths, reason):
            return head(kind) | {"paths": list(paths), "reason": reason}


def _as_taken(taken: Taken) -> dict[str, object]:
    record: dict[str, object] = {"line": taken.line, "text": taken.text}
    return record | {"stated": taken.stated} if taken.stated else record


def _parsed(raw: bytes) -> LedgerLine | None:
    try:
        record: Any = json.loads(raw)
        match record:
            case {"kind": "accepted" | "rejected" as kind, "proposal": str(proposal), "paths": list()}:
                paths = cast("list[object]", record["paths"])
                decided = tuple(VaultPath(str(path)) for path in paths)
                return Decision(kind, proposal, decided, str(record["reason"]), str(record.get("run", "")))
            case {"kind": "watermark", "session": str(session), "line": int(line)}:
                return Watermark(session, line)
            case {
                "kind": "digested",
                "source": str(source),
                "revision": str(revision),
                "fingerprint": str(fingerprint),
            }:
                return Digested(VaultPath(source), Revision(revision), fingerprint)
            case {
                "kind": "derived",
                "node": str(node),
                "source": str(source),
                "revision": str(revision),
                "statements": list(),
            }:
                statements = cast("list[dict[str, Any]]", record["statements"])
                taken = tuple(Taken(int(s["line"]), str(s["text"]), str(s.get("stated", ""))) for s in statements)
                return Derived(VaultPath(node), VaultPath(source), Revision(revision), taken)
            case _:
                return None
    except (ValueError, KeyError, TypeError):
        return None
