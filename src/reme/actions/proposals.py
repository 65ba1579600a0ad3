"""Proposals: what a dream would write, kept for a person or curator to accept or reject, as a whole or by file.

Owns the files ``.reme/proposals/<run>.json``, which may be lost without losing any decision: those stand in the ledger.
A file stays for as long as a decision can be undone: without its lines in the ledger, the proposal is open again.
Accepting is a change set of its own, made from the bytes that the proposal was made from, so that what was written
meanwhile is merged where it does not touch.
"""

import difflib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal, cast

from reme.actions.digest import view_edit
from reme.actions.ledger import Decision, Derived, Digested, LedgerLine, Taken, append_lines, read_ledger
from reme.actions.runs import NODE_LAWS, commit_as_system
from reme.actions.settings import DreamSettings
from reme.errors import Conflict, InvalidInput, NotFound
from reme.paths import VaultPath
from reme.revision import ABSENT, Revision, revision_of
from reme.tools import DryRun, Workspace, run_meant
from reme.vault import Conflicted, Edit, Put, Vault
from reme.wording import counted

__all__ = [
    "Decided",
    "Proposal",
    "Proposals",
    "Proposed",
    "accept",
    "decided_text",
    "difference",
    "keep_proposal",
    "open_proposals",
    "proposals",
    "proposals_text",
    "reject",
]

_FOLDER: Final = "proposals"


@dataclass(frozen=True, slots=True)
class Proposed:
    """A file as it would be.

    Attributes:
        base: Its text when the proposal was made, None for a new file.
        text: Its text if accepted.
        reason: One line, why.
        derived: What the node would have taken from which source.
    """

    path: VaultPath
    base: str | None
    text: str
    reason: str
    derived: tuple[Derived, ...] = ()


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a run would write; ``sources`` are done with when all files are decided."""

    run: str
    at: str
    summary: str
    files: tuple[Proposed, ...]
    sources: tuple[Digested, ...] = ()


def difference(path: VaultPath, base: str | None, text: str) -> str:
    """A unified diff of one file."""
    before = [] if base is None else base.splitlines(keepends=True)
    names = ("/dev/null" if base is None else path, path)
    lines = difflib.unified_diff(before, text.splitlines(keepends=True), *names)
    return "".join(line if line.endswith("\n") else line + "\n" for line in lines)


def keep_proposal(vault: Vault, proposal: Proposal) -> None:
    """Keep a proposal until it is decided of, for good: those whose decisions can no longer be undone are dropped."""
    folder = vault.state_dir / _FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    _drop_settled(vault, folder)
    record = {
        "run": proposal.run,
        "at": proposal.at,
        "summary": proposal.summary,
        "files": [_file_record(file) for file in proposal.files],
        "sources": [[s.source, s.revision, s.fingerprint] for s in proposal.sources],
    }
    temporary, kept = folder / f".{proposal.run}.tmp", folder / f"{proposal.run}.json"
    with temporary.open("w", encoding="utf-8", newline="") as file:
        json.dump(record, file, ensure_ascii=False, indent=1)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(kept)


def _drop_settled(vault: Vault, folder: Path) -> None:
    decided = read_ledger(vault).decided
    for path in folder.glob("*.json"):
        done = decided.get(path.stem, {})
        if not done or (kept := _loaded(path)) is None or any(file.path not in done for file in kept.files):
            continue
        if not any(True for run in set(done.values()) for _ in vault.journal.records(run)):
            path.unlink(missing_ok=True)


def _file_record(file: Proposed) -> dict[str, object]:
    derived = [
        [
            entry.node,
            entry.source,
            entry.revision,
            [[taken.line, taken.text, taken.stated] for taken in entry.statements],
        ]
        for entry in file.derived
    ]
    return {"path": file.path, "base": file.base, "text": file.text, "reason": file.reason, "derived": derived}


def open_proposals(vault: Vault) -> tuple[Proposal, ...]:
    """The proposals of which something is not decided, oldest first, each with what is left of it."""
    folder = vault.state_dir / _FOLDER
    decided = read_ledger(vault).decided
    found: list[Proposal] = []
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        if (proposal := _loaded(path)) is not None:
            done = decided.get(proposal.run, {})
            left = tuple(file for file in proposal.files if file.path not in done)
            if left:
                found.append(replace(proposal, files=left))
    return tuple(found)


def _loaded(path: Path) -> Proposal | None:
    """A kept proposal; None if the file is none."""
    try:
        record = cast("dict[str, Any]", json.loads(path.read_text("utf-8")))
        files = tuple(
            Proposed(
                VaultPath(file["path"]),
                file["base"],
                file["text"],
                file["reason"],
                tuple(
                    Derived(VaultPath(n), VaultPath(s), Revision(r), tuple(Taken(*each) for each in taken))
                    for n, s, r, taken in file["derived"]
                ),
            )
            for file in record["files"]
        )
        sources = tuple(Digested(VaultPath(s), Revision(r), f) for s, r, f in record["sources"])
        return Proposal(record["run"], record["at"], record["summary"], files, sources)
    except (OSError, ValueError, KeyError, TypeError):
        return None


# Operations


@dataclass(frozen=True, slots=True)
class Proposals:
    """Open proposals."""

    proposals: tuple[Proposal, ...]


def proposals(workspace: Workspace) -> Proposals:
    """What dreams propose and nobody has decided of, file by file, with the difference that each would make."""
    return Proposals(open_proposals(workspace.vault))


def proposals_text(result: Proposals) -> str:
    """Proposals in words."""
    if not result.proposals:
        return "there are no open proposals"
    lines: list[str] = []
    for proposal in result.proposals:
        lines.append(f"{proposal.run} {proposal.summary}")
        for file in proposal.files:
            lines += [f"  {file.path}: {file.reason}", difference(file.path, file.base, file.text).rstrip("\n")]
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Decided:
    """What was decided, or with ``dry_run`` would be.

    Attributes:
        proposal: The run that made the proposal.
        paths: The files that were decided of.
        left: How many of the proposal are left.
        run: The run to show or undo; empty where nothing was written.
    """

    kind: Literal["accepted", "rejected"]
    proposal: str
    paths: tuple[VaultPath, ...]
    left: int
    run: str = ""
    dry_run: bool = False


def accept(
    workspace: Workspace,
    proposal: str,
    paths: Sequence[str] | None = None,
    *,
    dry_run: bool = False,
    settings: DreamSettings | None = None,
) -> Decided:
    """Write what a proposal proposes, merged with what has been written meanwhile.

    Args:
        proposal: The run that made it, as ``run_meant`` takes it.
        paths: Only these files of it; all by default.
        dry_run: Whether to write nothing, and only tell what would be.
        settings: For the buckets that the generated view lists.

    Raises:
        NotFound: If there is no such open proposal, or a file is not in it.
        Conflict: If what was written meanwhile touches the same lines, or several open proposals begin as the id that
            was given; nothing is written.
    """
    found, chosen = _chosen(workspace.vault, proposal, paths)
    edits: list[Edit] = [_put(file) for file in chosen]
    if any(file.base is None for file in chosen):
        known, made = settings or DreamSettings(), [file.path for file in chosen]
        edits.append(view_edit(workspace.vault, known.buckets, known.fallback, made))
    lines: list[LedgerLine] = [entry for file in chosen for entry in file.derived]
    return _decide(workspace, found, chosen, "accepted", edits, lines, "", dry_run=dry_run)


def reject(
    workspace: Workspace,
    proposal: Annotated[str, "The id of the run that made it, or how it begins; last is the newest"],
    paths: Annotated[list[str] | None, "Only these files of it; all if left out"] = None,
    reason: Annotated[str, "Why, for the record"] = "",
    dry_run: DryRun = False,
) -> Decided:
    """Decide against a proposal; its sources are not read again until they change.

    Raises:
        NotFound: If there is no such open proposal, or a file is not in it.
        Conflict: If several open proposals begin as the id that was given.
    """
    found, chosen = _chosen(workspace.vault, proposal, paths)
    return _decide(workspace, found, chosen, "rejected", [], [], reason, dry_run=dry_run)


def _chosen(vault: Vault, run: str, paths: Sequence[str] | None) -> tuple[Proposal, list[Proposed]]:
    known = {proposal.run: proposal for proposal in reversed(open_proposals(vault))}
    unknown = NotFound(f"there is no open proposal {run!r}", hint="`proposals` lists them.", details={"proposal": run})
    run = run_meant(run, tuple(known), unknown)
    found = known[run]
    chosen = [file for file in found.files if paths is None or file.path in paths]
    missing = sorted(set(paths or ()) - {file.path for file in found.files})
    if missing:
        raise NotFound(f"{missing[0]} is not in the proposal {run}", details={"proposal": run, "paths": missing})
    if not chosen:
        raise InvalidInput("no file of the proposal was named")
    return found, chosen


def _put(file: Proposed) -> Put:
    base = file.base.encode("utf-8") if file.base is not None else None
    expects = ABSENT if base is None else revision_of(base)
    return Put(file.path, file.text.encode("utf-8"), expects, NODE_LAWS, base=base)


def _decide(
    workspace: Workspace,
    proposal: Proposal,
    chosen: Sequence[Proposed],
    kind: Literal["accepted", "rejected"],
    edits: list[Edit],
    lines: list[LedgerLine],
    reason: str,
    *,
    dry_run: bool,
) -> Decided:
    paths = tuple(file.path for file in chosen)
    left = len(proposal.files) - len(chosen)
    lines = [*lines, Decision(kind, proposal.run, paths, reason)]
    if not left:
        lines += proposal.sources
    now, run = workspace.clock.now(), workspace.caller.run
    edits.append(append_lines(workspace.vault, tuple(lines), at=now, run=run))
    why = f"{kind} {counted(len(paths), 'file')} of the proposal {proposal.run}"
    outcome = commit_as_system(workspace, edits, why, dry_run=dry_run)
    if isinstance(outcome, Conflicted):
        named = sorted(outcome.actual)
        raise Conflict(
            f"{named[0]} has changed where the proposal would change it",
            hint="Reject that file of the proposal: the next dream reads its sources again if they change.",
            details={"proposal": proposal.run, "paths": named},
        )
    if dry_run:
        return Decided(kind, proposal.run, paths, left, dry_run=True)
    return Decided(kind, proposal.run, paths, left, run)


def decided_text(result: Decided) -> str:
    """A decision in words."""
    verb = {"accepted": "would accept", "rejected": "would reject"}[result.kind] if result.dry_run else result.kind
    left = f", {result.left} left" if result.left else ""
    run = f" (run {result.run})" if result.run else ""
    return "\n".join([f"{verb} {counted(len(result.paths), 'file')} of {result.proposal}{left}{run}", *result.paths])
