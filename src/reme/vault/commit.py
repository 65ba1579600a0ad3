"""The one way to write a vault: take the lock, compare, check, journal, carry out, mark done.

Owns the order of these steps. Knows no index: what a change means for projections is found out by looking at the files.
"""

import json
import os
from collections.abc import Generator, Iterable, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import chain

from reme.errors import InvalidInput, Refused, Unavailable
from reme.markdown import parse
from reme.paths import VaultPath, parent
from reme.revision import ABSENT, Revision, revision_of, revision_of_pieces
from reme.vault.carry import Carried, carry_out, recover
from reme.vault.changeset import (
    Amend,
    Append,
    ChangeSet,
    Committed,
    Conflicted,
    Edit,
    Move,
    Outcome,
    Put,
    Remove,
    Unchanged,
)
from reme.vault.content import Content, revision_of_content, whole
from reme.vault.disk import exists
from reme.vault.files import STATE_FOLDER, Vault, unwritable
from reme.vault.git import record_in_git
from reme.vault.journal import Added, Entry, Moved, Record, Replaced, Step
from reme.vault.laws import check_laws, check_retarget, check_split
from reme.vault.merge import merge
from reme.vault.policy import check_policy

__all__ = ["check", "commit", "finish", "locked"]


@contextmanager
def locked(vault: Vault) -> Generator[None]:
    """Hold the vault's lock; re-entrant. What an earlier crash left unfinished is finished first.

    Raises:
        Unavailable: If another writer holds it for too long, or the vault cannot be written.
    """
    with ExitStack() as stack:
        try:
            lock = stack.enter_context(vault.lock)
        except OSError as error:
            raise unwritable(error, f"the vault at {vault.root}") from error
        if lock.depth == 1:
            _recover(vault)
        yield


def finish(vault: Vault, *, wait: bool) -> None:
    """Finish what a crash has left half done; ``finish_interrupted`` calls this where there is such a thing."""
    if wait:
        with locked(vault):
            return
    try:
        with vault.lock.at_once() as held:
            if held and vault.lock.depth == 1:
                _recover(vault)
    except OSError as error:
        raise unwritable(error, "a change that was interrupted") from error


def commit(vault: Vault, change_set: ChangeSet) -> Outcome:
    """Make all edits of a set, durably, or none.

    Returns:
        ``Committed`` once the bytes are on the disk, ``Unchanged`` if they were there already, ``Conflicted`` if a
        path is not as an edit expects it.

    Raises:
        Refused: By a rule of roles or a conservation law.
        InvalidInput: If the edits contradict each other.
        Unavailable: If the lock is held or the disk fails; the vault is as before, or, if even that could not be
            arranged, will be completed when the lock is next taken.
    """
    with locked(vault):
        plan = _checked(vault, change_set)
        if not isinstance(plan, _Plan):
            return plan
        entry = _entry(vault, change_set, tuple(plan.steps))
        carried = _write(vault, entry)
        if not carried.conflict_copies:
            return Committed(entry.id, plan.revisions)
        _record_in_ledger(vault, entry, "conflict-copy", carried)
        rejoined = _rejoin(vault, change_set, plan, carried)
        copies = tuple(copy for path, copy in carried.conflict_copies.items() if path not in rejoined)
        return Committed(entry.id, plan.revisions | rejoined, copies)


def check(vault: Vault, change_set: ChangeSet) -> Outcome:
    """What committing a set would come to as things are: the same outcome or refusal, with nothing written."""
    with locked(vault):
        plan = _checked(vault, change_set)
        return Committed("", plan.revisions) if isinstance(plan, _Plan) else plan


@dataclass(frozen=True, slots=True)
class _Plan:
    """What the edits come to, given the files as they are."""

    steps: list[Step]
    revisions: dict[VaultPath, Revision]
    actual: dict[VaultPath, Revision]
    """Paths that are not as expected."""


def _checked(vault: Vault, change_set: ChangeSet) -> _Plan | Conflicted | Unchanged:
    """What is to be done, once everything but the disk has agreed to it."""
    plan = _plan(vault, change_set.edits)
    if plan.actual:
        return Conflicted(plan.actual)
    if not plan.steps:
        return Unchanged(plan.revisions)
    created = frozenset(step.path for step in plan.steps if isinstance(step, Replaced) and step.pre is None)
    if change_set.undoes is None:
        _check_names(vault, change_set, created)
    check_policy(change_set, vault.layout, created, agents_write_notes=vault.agents_write_notes)
    _check_laws(vault, change_set, plan)
    return plan


def _plan(vault: Vault, edits: tuple[Edit, ...]) -> _Plan:
    plan = _Plan([], {}, {})
    taken: set[VaultPath] = set()
    for edit in edits:
        named = {edit.source, edit.target} if isinstance(edit, Move) else {edit.path}
        if clash := named & taken:
            raise InvalidInput(f"the change set edits {', '.join(sorted(clash))} more than once")
        taken |= named
        match edit:
            case Move():
                _plan_move(vault, edit, plan)
            case Append(path, data, offset):
                _plan_append(vault, path, data, offset, plan)
            case Put(path, data, expects):
                pre = vault.content_of(path)
                if pre is not None and edit.base is not None and (found := revision_of_content(pre)) != expects:
                    merged = merge(edit.base, whole(pre), whole(data))
                    data, expects = (data, expects) if merged is None else (merged, found)
                _plan_content(path, pre, data, expects, plan)
            case Amend(path, function):
                pre = vault.content_of(path)
                _plan_content(path, pre, function(None if pre is None else whole(pre)), None, plan)
            case Remove(path, expects):
                _plan_content(path, vault.content_of(path), None, expects, plan)
    _check_folders(vault, plan.revisions)
    return plan


def _plan_content(
    path: VaultPath, pre: Content | None, post: Content | None, expects: Revision | None, plan: _Plan
) -> None:
    actual = revision_of_content(pre)
    if expects is not None and actual != expects:
        plan.actual[path] = actual
    plan.revisions[path] = after = revision_of_content(post)
    if actual != after:
        plan.steps.append(Replaced(path, pre, post, actual, after))


def _plan_append(vault: Vault, path: VaultPath, data: bytes, offset: int | None, plan: _Plan) -> None:
    found = vault.stat(path)
    if found is None:
        if offset:
            plan.actual[path] = ABSENT
        _plan_content(path, vault.bytes_of(path), data, None, plan)
        return
    if offset is not None and offset != found.size:
        plan.actual[path] = revision_of_pieces(vault.pieces(path))
    elif data:
        plan.steps.append(Added(path, found.size, data))
    plan.revisions[path] = revision_of_pieces(chain(vault.pieces(path), (data,)))


def _plan_move(vault: Vault, move: Move, plan: _Plan) -> None:
    file = vault.content_of(move.source)
    actual = revision_of_content(file)
    if actual != move.expects or file is None:
        plan.actual[move.source] = actual
        return
    here, there = vault.located(move.source), vault.located(move.target)
    if exists(there) and not os.path.samefile(here, there):
        plan.actual[move.target] = vault.revision_at(move.target) if os.path.isfile(there) else revision_of(b"")
    plan.revisions[move.source] = ABSENT
    plan.revisions[move.target] = after = actual if move.data is None else revision_of_content(move.data)
    if move.data is None or after == actual:
        plan.steps.append(Moved(move.source, move.target, actual))
    elif exists(there):  # a change of case alone, on a disk that does not tell the two apart
        renamed = Moved(move.source, move.target, actual)
        plan.steps.extend((renamed, Replaced(move.target, file, move.data, actual, after)))
    else:
        made = Replaced(move.target, None, move.data, ABSENT, after)
        plan.steps.extend((made, Replaced(move.source, file, None, actual, ABSENT)))


def _check_folders(vault: Vault, paths: Iterable[VaultPath]) -> None:
    seen = {VaultPath("")}
    for path in paths:
        folder = parent(path)
        place = "" if folder in seen else vault.located(folder)
        while folder not in seen:
            seen.add(folder)
            if os.path.isfile(place):
                raise InvalidInput(f"{folder} is a file, so there can be no {path}", details={"path": path})
            if os.path.isdir(f"{place}{os.sep}{STATE_FOLDER}"):
                raise Refused(
                    f"{path} belongs to another vault, {folder}",
                    hint="Open it as the vault of its own that it is.",
                    details={"rule": "nested vaults", "path": path},
                )
            folder, place = parent(folder), os.path.dirname(place)


def _check_names(vault: Vault, change_set: ChangeSet, created: frozenset[VaultPath]) -> None:
    """Hold what is new in the names of new files to what every system can keep."""
    new: dict[VaultPath, list[str]] = {path: [] for path in sorted(created)}
    new |= {edit.target: edit.source.split("/") for edit in change_set.edits if isinstance(edit, Move)}
    for path, known in new.items():
        vault.check_name(path, known)


def _check_laws(vault: Vault, change_set: ChangeSet, plan: _Plan) -> None:
    changed = {step.path: step for step in plan.steps if isinstance(step, Replaced)}
    moves = {edit.source: edit.target for edit in change_set.edits if isinstance(edit, Move)}
    for edit in change_set.edits:
        if not isinstance(edit, Put | Amend) or (step := changed.get(edit.path)) is None or step.post is None:
            continue
        retargets = isinstance(edit, Put) and edit.retarget
        if not edit.laws and not retargets:
            continue
        pre, post = whole(step.pre or b""), whole(step.post)
        known = edit.note if isinstance(edit, Put) else None
        before = known if known is not None and known.source == pre else parse(pre)
        check_laws(edit.path, edit.laws, before, post, moves, vault.layout)
        if retargets:
            check_retarget(edit.path, before, post)
    for split in change_set.splits:
        after: Mapping[VaultPath, Content | None] = {
            p: s.post if (s := changed.get(p)) else vault.content_of(p) for p in split.parts
        }
        before = step.pre if (step := changed.get(split.source)) else vault.content_of(split.source)
        check_split(split.source, whole(before or b""), {p: whole(c or b"") for p, c in after.items()}, moves)


def _entry(vault: Vault, change_set: ChangeSet, steps: tuple[Step, ...]) -> Entry:
    paths = tuple(dict.fromkeys(path for step in steps for path in step.paths))
    record = Record(
        vault.new_id(),
        change_set.run,
        vault.clock.now(),
        change_set.role,
        change_set.actor,
        change_set.reason,
        change_set.undoes,
        paths,
        _missing_folders(vault, paths),
    )
    return Entry(record, steps)


def _write(vault: Vault, entry: Entry) -> Carried:
    try:
        entry = vault.journal.begin(entry)
        carried = carry_out(vault, entry, fresh=True)
        vault.journal.finish(entry)
    except OSError as error:
        _take_back(vault, entry, error)
        raise unwritable(error, ", ".join(entry.record.paths[:3])) from error
    with suppress(OSError):
        vault.journal.prune(entry.record.at)
    if vault.git and (problem := record_in_git(vault.root, entry.record)):
        vault.notices.append(problem)
    return carried


def _take_back(vault: Vault, entry: Entry, error: OSError) -> None:
    try:
        carry_out(vault, entry, back=True)
        vault.journal.abandon()
    except OSError as second:
        raise Unavailable(
            f"the change of {', '.join(entry.record.paths[:3])} could neither be finished nor taken back: "
            f"{error.strerror}, then {second.strerror}",
            hint="It will be finished when the vault is next written; see: `status`",
        ) from error
    vault.drop_empty(entry.record.folders)


def _rejoin(vault: Vault, change_set: ChangeSet, plan: _Plan, carried: Carried) -> dict[VaultPath, Revision]:
    """Bring together what somebody wrote in the very moment and what was to be written, where the two do not touch.

    The same edits are made on their bytes; the conflict copy, which they are kept in meanwhile, is then not needed.
    """
    steps = {step.path: step for step in plan.steps if isinstance(step, Replaced)}
    amends = {edit.path: edit.function for edit in change_set.edits if isinstance(edit, Amend)}
    rejoined: dict[VaultPath, Revision] = {}
    for path, copy in carried.conflict_copies.items():
        step, theirs = steps.get(path), vault.bytes_of(copy)
        if step is None or theirs is None or not isinstance(step.pre, bytes) or not isinstance(step.post, bytes):
            continue
        joint = amends[path](theirs) if path in amends else merge(step.pre, step.post, theirs)
        if joint is None:
            continue
        edits = (Put(path, joint, revision_of(step.post)), Remove(copy, revision_of(theirs)))
        outcome = commit(vault, replace(change_set, edits=edits, splits=(), reason=f"{change_set.reason} (rejoined)"))
        if not isinstance(outcome, Conflicted):
            rejoined[path] = outcome.revisions[path]
    return rejoined


def _missing_folders(vault: Vault, paths: Iterable[VaultPath]) -> tuple[VaultPath, ...]:
    """The folders above these paths that there are not yet, deepest first."""
    missing: set[VaultPath] = set()
    for folder in {parent(path) for path in paths}:
        above = folder
        while above and above not in missing and not vault.is_folder(above):
            missing.add(above)
            above = parent(above)
    return tuple(sorted(missing, key=lambda folder: folder.count("/"), reverse=True))


def _recover(vault: Vault) -> None:
    try:
        found = recover(vault)
    except OSError as error:
        raise unwritable(error, "a change that was interrupted") from error
    if found is None:
        return
    entry, carried = found
    left = f", but not where it has been written since: {', '.join(carried.left)}" if carried.left else ""
    vault.notices.append(f"a change that was interrupted ({entry.record.reason}) has been finished{left}")
    if carried.left or carried.conflict_copies:
        _record_in_ledger(vault, entry, "recovery", carried)


def _record_in_ledger(vault: Vault, entry: Entry, kind: str, carried: Carried) -> None:
    line = {
        "kind": kind,
        "at": vault.clock.now().isoformat(),
        "run": entry.record.run,
        "left": carried.left,
        "conflict_copies": list(carried.conflict_copies.values()),
    }
    data = (json.dumps(line, ensure_ascii=False) + "\n").encode()
    reason = f"{kind} while carrying out {entry.id}"
    edits = (Append(vault.layout.ledger, data),)
    commit(vault, ChangeSet(edits, "system", "commit", reason, entry.record.run))
