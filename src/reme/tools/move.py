"""Moving and renaming, files and folders: every link goes on leading where it led, in the same change set.

Owns what a move comes to. Which links must be respelled is worked out in ``retargeting``.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

from reme.errors import InvalidInput, NotFound, Unavailable
from reme.index import Edge, Stamp
from reme.markdown import Note, known_links, parse, retarget
from reme.paths import VaultPath, basename, fold, is_markdown, portable_name, unlinkable
from reme.revision import Revision
from reme.tools.changes import conflict_lines, content_expected, submit
from reme.tools.day_indexes import with_day_indexes
from reme.tools.freshness import catch_up
from reme.tools.mentions import mentioned_names, mentions, mentions_files
from reme.tools.places import Place, check_new, file_target, find_place, folder_target, promotion
from reme.tools.retargeting import Respelling, done, planned, respell, respell_dangling, why_left
from reme.tools.texts import parsed_part
from reme.tools.workspace import Workspace
from reme.vault import Committed, Edit, File, Move, Put, revision_of_content
from reme.wording import counted

__all__ = ["LinkLeft", "Moved", "MovedFile", "Retargeted", "move", "move_text"]


@dataclass(frozen=True, slots=True)
class MovedFile:
    """A file's path before and after, and its revision after."""

    source: VaultPath
    target: VaultPath
    revision: Revision


@dataclass(frozen=True, slots=True)
class Retargeted:
    """A note, by its path afterwards, and how many of its links were respelled."""

    path: VaultPath
    links: int


@dataclass(frozen=True, slots=True)
class LinkLeft:
    """A link, or a name in a base or canvas, that no longer leads where it did and was not respelled.

    Attributes:
        path: The file that it stands in, by its path afterwards.
        target: As it is spelled.
        reason: Why it was left.
    """

    path: VaultPath
    line: int
    target: str
    reason: str


@dataclass(frozen=True, slots=True)
class Moved:
    """What a move did, or with ``dry_run`` would do.

    Attributes:
        files: The files that moved.
        retargeted: The notes whose links were respelled.
        links_left: Links to see to by hand.
        left_behind: What stayed in a moved folder, since no vault path can name it.
        run: The run to show or undo; empty where nothing was written.
        conflict_copies: Files that hold what somebody else wrote in the moment of the commit.
    """

    files: tuple[MovedFile, ...]
    retargeted: tuple[Retargeted, ...]
    links_left: tuple[LinkLeft, ...]
    left_behind: tuple[str, ...]
    run: str
    conflict_copies: tuple[VaultPath, ...] = ()
    dry_run: bool = False


@dataclass(slots=True)
class _Plan:
    """What one gathering found to be done."""

    moved: dict[VaultPath, VaultPath]
    stamps: Mapping[VaultPath, Stamp] = field(default_factory=dict[VaultPath, Stamp])
    """What the index had seen of every file when the links were looked for."""
    edits: list[Edit] = field(default_factory=list[Edit])
    retargeted: list[Retargeted] = field(default_factory=list[Retargeted])
    links_left: list[LinkLeft] = field(default_factory=list[LinkLeft])
    seen: dict[VaultPath, Revision] = field(default_factory=dict[VaultPath, Revision])
    """Revisions of the notes that were looked at, by their paths afterwards."""


def move(
    workspace: Workspace,
    source: Annotated[str, "The file or folder; .md may be left out"],
    target: Annotated[str, "Its new path, which must be free; an existing folder takes it in under its name"],
    retarget: Annotated[bool, "Respell the links that lead to what moves; without it they are only reported"] = True,
    expected_revision: Annotated[str | None, "The file's revision that reading it returned"] = None,
    dry_run: Annotated[bool, "Only say what would be done"] = False,
) -> Moved:
    """Move or rename a file or folder; links to it, and its own relative ones, are respelled to lead where they did.

    Raises:
        NotFound: If there is nothing of that name.
        Conflict: If the target exists, or the file is not at the expected revision.
        Refused: If either end is outside the vault, the source is a layer's folder, or the role may not.
        InvalidInput: If a folder would be moved into itself.
    """
    place = find_place(workspace, source)
    moved = _destinations(workspace, place, target)
    if place.folder and expected_revision is not None:
        raise InvalidInput(f"{place.path} is a folder, which has no revision", hint="Leave `expected_revision` out.")
    plan = _Plan(moved)

    def gather() -> list[Edit]:
        nonlocal plan
        catch_up(workspace)
        stamps = workspace.index.stamps()
        going = moved | _promoted(workspace, moved)
        for path, to in going.items():
            workspace.vault.check_name(to, path.split("/"))
            check_new(workspace, to, besides=frozenset(going))
        plan = _plan(workspace, going, moved, expected_revision, stamps, follow=retarget)
        folder = {place.path: _shown_target(place, moved)} if place.folder else {}
        plan.links_left += _mentions(workspace, plan, going | folder)
        plan.edits = with_day_indexes(workspace, plan.edits)
        respelled = {edit.path for edit in plan.edits if isinstance(edit, Put) and edit.retarget} | set(going.values())
        plan.retargeted = [entry for entry in plan.retargeted if entry.path in respelled]
        return plan.edits

    reason = f"move {place.path} to {_shown_target(place, moved)}"
    outcome = submit(workspace, gather, reason=reason, dry_run=dry_run)
    if dry_run:
        return _result(plan, place, outcome.revisions, "", dry_run=True)
    copies = outcome.conflict_copies if isinstance(outcome, Committed) else ()
    if place.folder:
        workspace.vault.drop_empty_folders(place.path)
    _ask_again(workspace, plan, outcome.revisions, follow=retarget)
    return _result(plan, place, outcome.revisions, workspace.caller.run, copies)


def move_text(result: Moved) -> str:
    """What moved, whose links were respelled, what is left to do."""
    verb = "would move" if result.dry_run else "moved"
    run = f" (run {result.run})" if result.run else ""
    lines = [f"{verb} {file.source} to {file.target}" for file in result.files]
    lines[0] += run
    links = sum(entry.links for entry in result.retargeted)
    if links:
        lines.append(f"{'would respell' if result.dry_run else 'respelled'} {counted(links, 'link')}:")
        lines += [f"  {entry.path} ({entry.links})" for entry in result.retargeted]
    if result.links_left:
        lines.append(f"{counted(len(result.links_left), 'link')} not respelled:")
        lines += [f"  {link.path}:{link.line} {link.target}: {link.reason}" for link in result.links_left]
    lines += [f"left behind: {path}" for path in result.left_behind]
    return "\n".join([*lines, *conflict_lines(result.conflict_copies)])


def _destinations(workspace: Workspace, place: Place, target: str) -> dict[VaultPath, VaultPath]:
    if not place.folder:
        to = file_target(workspace, place.path, target)
        if to == place.path:
            raise InvalidInput(f"{place.path} is there already", hint="Give another `target`.")
        return {place.path: to}
    folder = folder_target(workspace, place.path, target)
    if not place.files:
        raise NotFound(f"there is no file in {place.path} to move", details={"path": place.path})
    return {path: VaultPath(folder + path[len(place.path) :]) for path in place.files}


def _promoted(workspace: Workspace, moved: Mapping[VaultPath, VaultPath]) -> dict[VaultPath, VaultPath]:
    """The events that get a folder of their own, since something moves into it and they do not move themselves."""
    coming = frozenset(moved.values())
    wanted = filter(None, (promotion(workspace, path) for path in moved.values()))
    return {note: within for note, within in wanted if note not in moved and within not in coming}


def _shown_target(place: Place, moved: Mapping[VaultPath, VaultPath]) -> VaultPath:
    first = next(iter(moved))
    return VaultPath(moved[first][: len(moved[first]) - len(first) + len(place.path)])


def _mentions(workspace: Workspace, plan: _Plan, moved: Mapping[VaultPath, VaultPath]) -> Iterator[LinkLeft]:
    """What names the old paths in files that are no notes."""
    names = mentioned_names(moved)
    for path in sorted(filter(mentions_files, plan.stamps)):
        here = plan.moved.get(path, path)
        try:
            file = parsed_part(workspace.vault, path)
        except Unavailable as error:
            yield LinkLeft(here, 1, basename(path), f"whether it names what moved is not known: {error.message}")
            continue
        for line, name in mentions(file.data, names) if file else ():
            yield LinkLeft(here, line, name, "only links of notes are respelled")


def _plan(
    workspace: Workspace,
    moved: dict[VaultPath, VaultPath],
    asked: Collection[VaultPath],
    expected: str | None,
    stamps: Mapping[VaultPath, Stamp],
    *,
    follow: bool,
) -> _Plan:
    plan = _Plan(moved, stamps)
    relocation = planned(workspace.index.names, moved)
    own: dict[VaultPath, bytes] = {}
    revisions = {
        source: revision_of_content(content_expected(workspace, source, expected if source in asked else None))
        for source in moved
    }
    for path, links in _concerned(workspace, moved).items():
        if (file := parsed_part(workspace.vault, path)) is None:
            continue
        note = _as_known(file, links, stamps) or parse(file.data)
        plan.seen[moved.get(path, path)] = file.revision
        found = respell(note, path, relocation)
        if (data := _followed(workspace, plan, file, note, found, follow=follow)) is None:
            continue
        if path in moved:
            own[path] = data
        else:
            if note.blocks:
                note = replace(note, headings=(), blocks=(), fields=(), tags=())  # there may be thousands of them
            plan.edits.append(Put(path, data, file.revision, retarget=True, note=note))
    moves = [Move(path, to, revisions[path], own.get(path)) for path, to in moved.items()]
    plan.edits[:0] = moves
    return plan


def _followed(
    workspace: Workspace, plan: _Plan, file: File, note: Note, found: list[Respelling], *, follow: bool
) -> bytes | None:
    """The note's bytes with its links respelled, or None where there are none to be; what is left is noted."""
    if not found:
        return None
    path = plan.moved.get(file.path, file.path)
    if reason := why_left(workspace.vault, file, path, note) if follow else "retarget is off":
        plan.links_left += [LinkLeft(path, r.link.line, r.link.target, reason) for r in found]
        return None
    targets = {respelling.link: respelling.target for respelling in found}
    try:
        data = retarget(note, targets.get)
    except InvalidInput as error:
        raise _unspellable(file.path, found, error) from error
    plan.retargeted.append(Retargeted(path, len(found)))
    return data


def _unspellable(path: VaultPath, found: list[Respelling], error: InvalidInput) -> InvalidInput:
    """The error for a link that cannot name where its file would be, with a name that it could."""
    worst = next((respelling for respelling in found if unlinkable(respelling.path)), found[0])
    target, line = worst.path, worst.link.line
    better = "/".join(portable_name(part, linked=True) for part in target.split("/"))
    because = f"{' '.join(unlinkable(target))} has another meaning there" if unlinkable(target) else error.message
    return InvalidInput(
        f"{path}, line {line}, links to {target} and could not spell it: {because}",
        hint=f"Choose another name, such as {better}, or move with `retarget=false`.",
        details={"path": path, "line": line, "target": target, "suggestion": better},
    )


def _concerned(workspace: Workspace, moved: Mapping[VaultPath, VaultPath]) -> dict[VaultPath, Sequence[Edge]]:
    """The notes with links that may be affected, each with those of a name that goes or comes.

    Nothing is told of the links in what moves, any of which may be affected.
    """
    index = workspace.index
    concerned: defaultdict[VaultPath, list[Edge]] = defaultdict(list)
    for name in {fold(basename(path)) for pair in moved.items() for path in pair}:
        for edge in index.links_naming(name):
            concerned[edge.source].append(edge)
    notes = {path for path in moved if (row := index.note(path)) is not None and row.format == "note"}
    return {path: () if path in notes else concerned[path] for path in sorted(notes | concerned.keys())}


def _as_known(file: File, links: Sequence[Edge], stamps: Mapping[VaultPath, Stamp]) -> Note | None:
    """A note by those of its links that the index tells of, as it knows these bytes; None where it must be parsed."""
    known = (stamp := stamps.get(file.path)) is not None and stamp.revision == file.revision
    if not known or not links or any(link.kind != "wiki" or link.origin != "body" for link in links):
        return None
    lines: defaultdict[str, list[int]] = defaultdict(list)
    for link in links:
        lines[link.raw_target].append(link.line)
    return known_links(file.data, lines)


def _ask_again(workspace: Workspace, plan: _Plan, revisions: Mapping[VaultPath, Revision], *, follow: bool) -> None:
    """See to links to the old paths that another program wrote between the gathering and the commit."""
    index = workspace.index
    known = plan.seen | dict(revisions)
    if not _others_wrote(workspace, plan, revisions):
        return
    late: _Plan = _Plan({})

    def gather() -> list[Edit]:
        nonlocal late
        late = _Plan({})
        catch_up(workspace)
        relocation = done(index.names, plan.moved)
        for path in _naming(workspace, plan.moved):
            if (row := index.note(path)) is None or known.get(path) == row.revision:
                continue
            if (file := parsed_part(workspace.vault, path)) is None:
                continue
            note = parse(file.data)
            found = respell_dangling(note, path, relocation)
            if (data := _followed(workspace, late, file, note, found, follow=follow)) is not None:
                late.edits.append(Put(path, data, file.revision, retarget=True))
        return late.edits

    submit(workspace, gather, reason="links written while their targets moved")
    plan.retargeted += late.retargeted
    plan.links_left += late.links_left


def _others_wrote(workspace: Workspace, plan: _Plan, revisions: Mapping[VaultPath, Revision]) -> bool:
    """Whether any note that the move did not touch is not as it was when the move was planned.

    Those that it touched were compared when they were replaced.
    """
    for path, file in workspace.vault.scan().found.items():
        stamp = plan.stamps.get(path)
        if stamp is not None and stamp[:3] == (file.size, file.mtime_ns, file.inode):
            continue
        if is_markdown(path) and path not in revisions:
            return True
    return False


def _naming(workspace: Workspace, paths: Iterable[VaultPath]) -> list[VaultPath]:
    index = workspace.index
    return sorted({source for name in {basename(path) for path in paths} for source in index.sources_naming(name)})


def _result(
    plan: _Plan,
    place: Place,
    revisions: Mapping[VaultPath, Revision],
    run: str,
    copies: tuple[VaultPath, ...] = (),
    *,
    dry_run: bool = False,
) -> Moved:
    files = tuple(MovedFile(source, target, revisions[target]) for source, target in plan.moved.items())
    return Moved(files, tuple(plan.retargeted), tuple(plan.links_left), place.left, run, copies, dry_run)
