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
    revision; the fingerprint is the BLAKE2b-128 of its words, so that retargets and woven links wake nothing.
``derived`` (auto_dream)
    ``node``, ``source``, ``revision``, ``statements``: what a digest node took from a source at this revision: a list
    of ``{"line": …, "text": …}``, the source's line and the words taken from it.
``accepted``, ``rejected`` (accept, reject)
    ``proposal``, ``paths``, ``reason``: what was decided of these files of the proposal that this run had left.
``refused``, ``conflict`` (auto_dream)
    ``paths``, ``reason``: a change that was not made, by a law or since its files kept changing.

Later lines go before earlier ones of the same kind and subject.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
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
    "read_ledger",
]


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
    """Words that a node took from a line of a source."""

    line: int
    text: str


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
    """What was decided of files of a proposal: ``kind`` is ``accepted`` or ``rejected``."""

    kind: Literal["accepted", "rejected"]
    proposal: str
    paths: tuple[VaultPath, ...]
    reason: str = ""


LedgerLine = Watermark | Digested | Derived | Failure | Decision


@dataclass(frozen=True, slots=True)
class Ledger:
    """The ledger as far as actions decide by it.

    Attributes:
        watermarks: By session, the last line learnt from.
        digested: By source, how it was when last digested.
        taken: By source, the words that nodes have taken from it.
        derived: Everything that nodes have taken, in the order of taking.
        decided: The files of proposals that have been decided of, by proposal.
    """

    watermarks: Mapping[str, int]
    digested: Mapping[VaultPath, Digested]
    taken: Mapping[VaultPath, frozenset[str]]
    derived: tuple[Derived, ...] = ()
    decided: Mapping[str, frozenset[VaultPath]] = field(default_factory=dict[str, frozenset[VaultPath]])


def read_ledger(vault: Vault) -> Ledger:
    """Read the whole ledger; one that is not there is empty."""
    data = vault.bytes_of(vault.layout.ledger) or b""
    watermarks: dict[str, int] = {}
    digested: dict[VaultPath, Digested] = {}
    taken: dict[VaultPath, set[str]] = {}
    derived: list[Derived] = []
    decided: dict[str, frozenset[VaultPath]] = {}
    for raw in data.splitlines():
        match _parsed(raw):
            case Watermark(session, line):
                watermarks[session] = line
            case Digested() as entry:
                digested[entry.source] = entry
            case Decision(_, proposal, paths):
                decided[proposal] = decided.get(proposal, frozenset()) | frozenset(paths)
            case Derived(source=source, statements=statements) as entry:
                derived.append(entry)
                taken.setdefault(source, set()).update(statement.text for statement in statements)
            case _:
                continue
    words = {source: frozenset(texts) for source, texts in taken.items()}
    return Ledger(watermarks, digested, words, tuple(derived), decided)


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
            taken = [{"line": statement.line, "text": statement.text} for statement in statements]
            return head("derived") | {"node": node, "source": source, "revision": revision, "statements": taken}
        case Decision(kind, proposal, paths, reason):
            return head(kind) | {"proposal": proposal, "paths": list(paths), "reason": reason}
        case Failure(kind, paths, reason):
            return head(kind) | {"paths": list(paths), "reason": reason}


def _parsed(raw: bytes) -> LedgerLine | None:
    try:
        record: Any = json.loads(raw)
        match record:
            case {"kind": "accepted" | "rejected" as kind, "proposal": str(proposal), "paths": list()}:
                paths = cast("list[object]", record["paths"])
                return Decision(kind, proposal, tuple(VaultPath(str(path)) for path in paths), str(record["reason"]))
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
                taken = tuple(Taken(int(s["line"]), str(s["text"])) for s in statements)
                return Derived(VaultPath(node), VaultPath(source), Revision(revision), taken)
            case _:
                return None
    except (ValueError, KeyError, TypeError):
        return None
