"""Links to files that other programs have renamed: which ones dangle for that, and having them follow.

Owns what is done about renames that were seen only afterwards. How a target is spelled is the markdown room's.
"""

from dataclasses import dataclass

from reme.index import Edge
from reme.markdown import parse, resolve, retarget
from reme.paths import VaultPath, basename
from reme.tools.changes import DryRun, submit
from reme.tools.freshness import catch_up
from reme.tools.retargeting import UNWRITTEN, Relocation, done, respell_dangling
from reme.tools.workspace import Workspace
from reme.vault import Committed, Edit, Put

__all__ = ["Followed", "LeftBehind", "follow_renames", "followed_text", "left_behind"]


@dataclass(frozen=True, slots=True)
class LeftBehind:
    """A link that names a file by the path which it had before another program renamed it.

    Attributes:
        path: Where the link stands.
        target: As it is spelled.
        now: The path of the file now.
    """

    path: VaultPath
    line: int
    target: str
    now: VaultPath


@dataclass(frozen=True, slots=True)
class Followed:
    """Links that follow files which were renamed.

    Attributes:
        links: Each as it was before.
        run: The run to show or undo; empty where nothing was written.
    """

    links: tuple[LeftBehind, ...]
    run: str
    dry_run: bool = False


def left_behind(workspace: Workspace) -> tuple[LeftBehind, ...]:
    """The links that dangle since another program renamed a file, but for those in records that are never rewritten."""
    moved = workspace.index.renames()
    if not moved:
        return ()
    relocation = done(workspace.index.names, moved)
    found = (_followed(workspace, edge, relocation) for edge in _dangling(workspace, relocation))
    return tuple(dict.fromkeys(link for link in found if link is not None))


def follow_renames(workspace: Workspace, dry_run: DryRun = False) -> Followed:
    """Have links follow the files that other programs (git, a file manager, an editor) have renamed.

    Raises:
        Refused: If the caller may not change a note that holds such a link.
    """
    catch_up(workspace)
    links = left_behind(workspace)
    if not links:
        return Followed((), "", dry_run)

    def gather() -> list[Edit]:
        relocation = done(workspace.index.names, workspace.index.renames())
        edits: list[Edit] = []
        for path in sorted({link.path for link in links}):
            if workspace.vault.stat(path) is None:
                continue
            file = workspace.vault.read(path)
            note = parse(file.data)
            targets = {found.link: found.target for found in respell_dangling(note, path, relocation)}
            if targets and note.encoding == "utf-8":
                edits.append(Put(path, retarget(note, targets.get), file.revision, retarget=True))
        return edits

    outcome = submit(workspace, gather, reason="links follow renamed files", dry_run=dry_run)
    wrote = isinstance(outcome, Committed) and not dry_run
    return Followed(links, workspace.caller.run if wrote else "", dry_run)


def followed_text(result: Followed) -> str:
    """One line a link."""
    verb = "would follow" if result.dry_run else "follows"
    lines = [f"{link.path}:{link.line} {link.target} {verb} {link.now}" for link in result.links]
    return "\n".join(lines) or "no link was left behind by a rename"


def _dangling(workspace: Workspace, relocation: Relocation) -> list[Edge]:
    """The links that lead nowhere and have the name of a file that was renamed."""
    index = workspace.index
    sources = {source for old in relocation.moved for source in index.sources_naming(basename(old))}
    return [edge for source in sorted(sources) for edge in index.links_from(source) if edge.target is None]


def _followed(workspace: Workspace, edge: Edge, relocation: Relocation) -> LeftBehind | None:
    if workspace.vault.layer_of(edge.source) in UNWRITTEN:
        return None
    was = resolve(edge.raw_target, edge.source, relocation.before)
    now = relocation.moved.get(was) if was else None
    return LeftBehind(edge.source, edge.line, edge.raw_target, now) if now else None
