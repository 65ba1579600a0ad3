"""Looking back and going back: what runs did, as a diff, and their undoing over whatever came later.

Owns the composition of a run's steps. Writes through ``commit`` like everybody else.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import unified_diff
from itertools import chain, islice, takewhile

from reme.errors import Conflict, NotFound, Refused
from reme.markdown import with_regions_of, without_regions
from reme.paths import VaultPath, is_within, parent
from reme.revision import ABSENT
from reme.vault.changeset import ChangeSet, Committed, Conflicted, Edit, Move, Outcome, Put, Remove, Unchanged
from reme.vault.commit import check, commit, locked
from reme.vault.content import Content, Large, content_in, pieces_of, revision_of_content
from reme.vault.files import Vault
from reme.vault.journal import Added, Entry, Moved, Record, Replaced, Step
from reme.vault.merge import merge
from reme.vault.roles import Role
from reme.wording import counted

__all__ = ["after_undo", "diff", "history", "undo"]


def history(
    vault: Vault, *, limit: int | None = None, run: str | None = None, path: VaultPath | None = None
) -> list[Record]:
    """Change sets, newest first; those of one run, or that touched one file or anything in one folder, if named."""
    records = (r for r in vault.journal.records(run) if path is None or any(is_within(p, path) for p in r.paths))
    return list(islice(records, limit))


def diff(vault: Vault, run: str) -> str:
    """What a run changed, as a unified diff in the order in which it did it.

    Raises:
        NotFound: If the journal knows no such run.
    """
    return "".join(
        text for entry in reversed(_entries(vault, run)) for step in entry.steps for text in _step_diff(step)
    )


def undo(
    vault: Vault,
    run: str,
    *,
    role: Role,
    actor: str,
    new_run: str,
    paths: Sequence[VaultPath] | None = None,
    is_generated: Callable[[VaultPath, bytes], bool] = lambda _path, _data: False,
    dry_run: bool = False,
) -> Outcome:
    """Take back what a run did, or what it did to some paths, keeping what was written later where it does not touch.

    What stands in generated regions and was generated anew since is left for its maker to bring up to date.

    Args:
        run: The run to undo; an undo is a run too.
        role: Who asks: a run may be undone by its own role, any run by a person.
        paths: Only these, or None for all.
        is_generated: Tells of a file whether all of it was generated, so that it gives way to one that comes back.
        dry_run: Whether to write nothing, and only tell what it would come to.

    Raises:
        NotFound: If the journal knows no such run, or it did not touch these paths.
        Refused: If the role may not.
        Conflict: If later changes overlap, naming the paths; nothing is changed.
    """
    with locked(vault):
        entries = _entries(vault, run)
        if role != "person" and any(entry.record.role != role for entry in entries):
            raise Refused(
                f"the role {role!r} may not undo {run}, a run of {entries[0].record.role!r}",
                hint=f"A person may, with the role person: `undo run={run}`",
                details={"rule": "roles", "run": run},
            )
        edits = tuple(_undone(vault, run, paths, is_generated).edits())
        if not edits:
            return Unchanged({})
        reason = f"undo of {run}: {entries[-1].record.reason}"
        change_set = ChangeSet(edits, role, actor, reason, new_run, undoes=run)
        if dry_run:
            return check(vault, change_set)
        outcome = commit(vault, change_set)
        match outcome:
            case Committed() | Unchanged():
                _drop_folders(vault, entries)
                return outcome
            case Conflicted(actual):
                raise Conflict(f"{', '.join(actual)} changed while {run} was being undone", hint="Try again.")


def after_undo(
    vault: Vault,
    run: str,
    paths: Sequence[VaultPath] | None = None,
    is_generated: Callable[[VaultPath, bytes], bool] = lambda _path, _data: False,
) -> dict[VaultPath, Content | None]:
    """What would stand at each path that the undo of a run concerns, None for no file; see ``undo``.

    Raises:
        NotFound, Conflict: As ``undo``.
    """
    return _undone(vault, run, paths, is_generated).contents


def _drop_folders(vault: Vault, entries: Sequence[Entry]) -> None:
    """Remove the folders that the undone entries made, and those that runs undone before made and these still used."""
    for entry in entries:
        vault.drop_empty(entry.record.folders)
    used = {parent(path) for entry in entries for path in entry.record.paths}
    if any(vault.is_empty(folder) for folder in used):
        records = list(vault.journal.records())
        undone = {record.undoes for record in records}
        for record in records:
            if record.run in undone and any(folder in used for folder in record.folders):
                vault.drop_empty(record.folders)


def _undone(
    vault: Vault, run: str, paths: Sequence[VaultPath] | None, is_generated: Callable[[VaultPath, bytes], bool]
) -> "_View":
    """The files with a run undone; see ``undo`` for arguments and errors."""
    wanted = None if paths is None else set(paths)
    view = _View(vault, is_generated)
    touched = False
    entries = _entries(vault, run)
    undone, since = _since(vault, entries)
    if undone.issuperset(_changed(entries) if wanted is None else wanted):
        return view
    for entry in entries:
        for step in reversed(entry.steps):
            if wanted is None or wanted & set(step.paths):
                touched = True
                if not undone.issuperset(step.paths):
                    view.take_back(step)
    if not touched:
        raise NotFound(
            f"run {run} did not touch {', '.join(paths or ())}", hint=f"See what it did with: `show run={run}`"
        )
    if view.clashes:
        raise _overlap(vault, entries, list(dict.fromkeys(view.clashes)), since)
    return view


def _entries(vault: Vault, run: str) -> list[Entry]:
    """A run's entries, newest first."""
    entries = [vault.journal.load(record) for record in vault.journal.records(run)] if _is_id(run) else []
    if not entries:
        raise NotFound(f"the journal knows no run {run}", hint="See what there is with: `log`", details={"run": run})
    return entries


def _since(vault: Vault, entries: list[Entry]) -> tuple[set[VaultPath], dict[str, set[VaultPath]]]:
    """What happened since a run ended, as far as it has not been undone itself.

    Returns:
        The paths that an undo has taken back already, and by other runs, newest first, the paths that they changed.
    """
    run = entries[0].record.run
    later = list(takewhile(lambda record: record.id > entries[0].id, vault.journal.records()))
    known = {record.run for record in later}
    taken_back: dict[str, set[VaultPath]] = {}
    changed: dict[str, set[VaultPath]] = {}
    for record in later:  # newest first, so an undo of an undo is met before it
        standing = set(record.paths) - taken_back.get(record.run, set())
        if record.undoes is not None:
            taken_back.setdefault(record.undoes, set()).update(standing)
        if record.undoes is None or record.undoes not in {*known, run}:
            changed.setdefault(record.run, set()).update(standing)
    return taken_back.get(run, set()), changed


def _overlap(
    vault: Vault, entries: list[Entry], clashes: list[VaultPath], since: dict[str, set[VaultPath]]
) -> Conflict:
    """The error for what was changed again in the same places, with the ways on."""
    run = entries[0].record.run
    later = [other for other, paths in since.items() if not paths.isdisjoint(clashes)]
    steps = (step for entry in entries for step in entry.steps)
    created = {step.path for step in steps if isinstance(step, Replaced) and step.pre is None}
    ways = [f"undo first what came later: {', then '.join(f'`undo run={other}`' for other in later)}"] if later else []
    ways += [
        f"delete what it created: `delete path={path}`" for path in clashes if path in created and vault.exists(path)
    ]
    ways.append(f"see what it did with `show run={run}`, and undo its other files by naming them")
    hint = "; or ".join(ways)
    return Conflict(
        f"{', '.join(clashes)} changed since {run} in the same places, so it cannot be undone there",
        hint=f"{hint[0].upper()}{hint[1:]}.",
        details={"paths": clashes, "later_runs": later},
    )


def _changed(entries: list[Entry]) -> set[VaultPath]:
    """The paths that are not after these entries as they were before them."""
    first: dict[VaultPath, Hashable] = {}
    last: dict[VaultPath, Hashable] = {}
    for step in (step for entry in reversed(entries) for step in entry.steps):
        match step:
            case Replaced(path, pre, post):
                first.setdefault(path, revision_of_content(pre))
                last[path] = revision_of_content(post)
            case Added(path, offset):
                first.setdefault(path, ("a file of this size", offset))
                last[path] = step
            case Moved(source, target, revision):
                first.setdefault(source, revision)
                first.setdefault(target, ABSENT)
                last[target], last[source] = last.get(source, revision), ABSENT
    return {path for path in first if first[path] != last[path]}


def _is_id(run: str) -> bool:
    return run.replace("-", "").isalnum()


@dataclass(slots=True)
class _View:
    """The files as they would be, worked out without touching one."""

    vault: Vault
    is_generated: Callable[[VaultPath, bytes], bool]
    clashes: list[VaultPath] = field(default_factory=list[VaultPath])
    contents: dict[VaultPath, Content | None] = field(default_factory=dict[VaultPath, Content | None])
    _file: dict[VaultPath, VaultPath] = field(default_factory=dict[VaultPath, VaultPath])
    """Where each path's file really is now."""

    def take_back(self, step: Step) -> None:
        match step:
            case Replaced(path, pre, post):
                current = self._see(path)
                same = revision_of_content(current) == revision_of_content(post)
                comes_back = post is None and self._gives_way(path)
                self.contents[path] = pre if same or comes_back else self._merged(path, post, current, pre)
                if self.contents[path] is None:
                    self._file[path] = path
            case Added(path, offset, data):
                rest = _without(self._see(path) or b"", offset, data)
                if rest is None:
                    self.clashes.append(path)
                else:
                    self.contents[path] = rest
            case Moved(source, target, _):
                if self._see(target) is None or not self._gives_way(source):
                    self.clashes.append(target)
                else:
                    self.contents[source], self.contents[target] = self.contents[target], None
                    self._file[source], self._file[target] = self._file[target], target

    def edits(self) -> Iterable[Edit]:
        moved: set[VaultPath] = set()
        for path, want in self.contents.items():
            origin = self._file[path]
            if want is None or origin == path or self.contents[origin] is not None or self.vault.exists(path):
                continue
            if (here := self.vault.revision_at(origin)) != ABSENT:
                yield Move(origin, path, here, None if revision_of_content(want) == here else want)
                moved.add(origin)
        for path, want in self.contents.items():
            have = self.vault.revision_at(path)
            if revision_of_content(want) == have or path in moved or self._file[path] in moved:
                continue
            yield Remove(path, have) if want is None else Put(path, want, have)

    def _see(self, path: VaultPath) -> Content | None:
        if path not in self.contents:
            self.contents[path] = self.vault.content_of(path)
            self._file[path] = path
        return self.contents[path]

    def _gives_way(self, path: VaultPath) -> bool:
        """Whether a path is free for a file that comes back: there is none, or one that can be generated again."""
        content = self._see(path)
        return content is None or (isinstance(content, bytes) and self.is_generated(path, content))

    def _merged(
        self, path: VaultPath, base: Content | None, ours: Content | None, theirs: Content | None
    ) -> Content | None:
        """The undoing of a change over a file that is no longer as the change left it. Large contents do not merge."""
        if isinstance(base, Large) or isinstance(ours, Large) or isinstance(theirs, Large):
            self.clashes.append(path)
            return ours
        if theirs is None and base is not None and ours is not None and ours.startswith(base):
            return ours[len(base) :]  # created, then only added to
        merged = None if base is None or ours is None else merge(base, ours, theirs or b"")
        if merged is None and base is not None and ours is not None:
            if theirs is None and without_regions(base) != base and without_regions(ours) != ours:
                return ours  # created, and generated anew since: whether it is still wanted is for its maker to say
            merged = merge(with_regions_of(base, ours), ours, with_regions_of(theirs or b"", ours))
        if merged is None and _differ_in_regions_only(base, ours, theirs):
            return theirs
        if merged is None:
            self.clashes.append(path)
            return ours
        return None if theirs is None and not merged else merged


def _differ_in_regions_only(*contents: bytes | None) -> bool:
    """Whether a file was only ever generated, or not there: its maker brings it up to date."""
    there = [content for content in contents if content is not None]
    return any(without_regions(content) != content for content in there) and len(set(map(without_regions, there))) == 1


def _without(content: Content, offset: int, data: bytes) -> Content | None:
    """A content without what was added to it at an offset; None if that cannot be told any more."""
    if not isinstance(content, Large):
        at = offset if content[offset : offset + len(data)] == data else content.find(data)
        return None if at < 0 else content[:at] + content[at + len(data) :]
    end = offset + len(data)
    if b"".join(_parts(content, offset, end)) != data:
        return None
    return content_in(lambda: chain(_parts(content, 0, offset), _parts(content, end, content.size)), content.name)


def _parts(content: Content, start: int, end: int) -> Iterator[bytes]:
    """The bytes of a content from one place to another, a piece at a time."""
    at = 0
    for piece in pieces_of(content):
        if part := piece[max(start - at, 0) : max(end - at, 0)]:
            yield part
        at += len(piece)


def _step_diff(step: Step) -> Iterable[str]:
    match step:
        case Replaced(path, pre, post):
            return _file_diff(path, pre, post)
        case Added(path, offset, data):
            added = f"@@ {counted(len(data), 'byte')} added at {offset} @@\n"
            return [f"--- a/{path}\n+++ b/{path}\n{added}", *_lines(data, "+")]
        case Moved(source, target, _):
            return [f"rename from {source}\nrename to {target}\n"]


def _file_diff(path: VaultPath, pre: Content | None, post: Content | None) -> Iterable[str]:
    names = ("/dev/null" if pre is None else f"a/{path}", "/dev/null" if post is None else f"b/{path}")
    if isinstance(pre, Large) or isinstance(post, Large):
        return [f"Large files {names[0]} and {names[1]} differ\n"]
    if b"\0" in (pre or b"") or b"\0" in (post or b""):
        return [f"Binary files {names[0]} and {names[1]} differ\n"]
    lines = unified_diff(_text(pre), _text(post), *names)
    return (line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines)


def _text(data: bytes | None) -> list[str]:
    return (data or b"").decode("utf-8", "replace").splitlines(keepends=True)


def _lines(data: bytes, mark: str) -> list[str]:
    return [mark + line.rstrip("\r\n") + "\n" for line in _text(data)]
