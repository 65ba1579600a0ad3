"""How the vault and its index are, and building the index anew.

Owns the report. Reads the disk as well as the index, so that what the index has not seen yet is told.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from annotated_types import Ge, Le

from reme.errors import Unavailable
from reme.index import FileProblem, Stamp, rebuild
from reme.paths import VaultPath
from reme.tools.workspace import Workspace
from reme.vault import Layer, Stat

__all__ = ["Health", "Reindexed", "Skipped", "reindex", "reindex_text", "status", "status_text"]

_SHOWN: Final = 20


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something in the vault's folder that is not indexed, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Health:
    """The state of a vault.

    Attributes:
        vault: Name of its folder.
        files: Number of files on disk, by layer.
        position: The index's position, which grows with every batch.
        pending: Files whose changes on disk the index has not seen yet; the next question takes them in.
        notes: Markdown notes in the index.
        links: Links in the index.
        unresolved: Links that lead to no file.
        problems: What is wrong with files, the first of ``problem_count``.
        skipped: What is not indexed: symlinks, nested vaults, unreadable names.
        rebuilt: Why the index had to be built anew, or empty.
    """

    vault: str
    files: dict[Layer, int]
    position: int
    pending: int
    notes: int
    chunks: int
    links: int
    unresolved: int
    problem_count: int
    problems: tuple[FileProblem, ...]
    skipped: tuple[Skipped, ...]
    rebuilt: str


@dataclass(frozen=True, slots=True)
class Reindexed:
    """The index after it was built anew."""

    files: int
    notes: int
    chunks: int
    links: int
    position: int
    problem_count: int


def status(
    workspace: Workspace, limit: Annotated[int, "How many problems to name", Ge(0), Le(1000)] = _SHOWN
) -> Health:
    """Tell how the vault is: files by layer, what the index has not seen yet, problems, what is left out."""
    vault, index = workspace.vault, workspace.index
    scan = vault.scan()
    state = index.status()
    problems = index.problems()
    return Health(
        vault.root.name,
        dict(Counter(vault.layer_of(file.path) for file in scan.files)),
        state.position,
        _pending(scan.files, index.stamps()),
        state.notes,
        state.chunks,
        state.links,
        state.unresolved,
        len(problems),
        tuple(problems[:limit]),
        tuple(Skipped(path, reason) for path, reason in scan.skipped),
        state.rebuilt,
    )


def reindex(workspace: Workspace) -> Reindexed:
    """Build the index anew from the files alone.

    Raises:
        Unavailable: If files could not be taken in.
    """
    if pending := rebuild(workspace.index, workspace.vault).pending:
        raise Unavailable(
            f"the index could not take in {pending} files: another process is writing it, or the disk is full",
            hint="Try again in a moment; see: reme status",
        )
    state = workspace.index.status()
    return Reindexed(state.files, state.notes, state.chunks, state.links, state.position, state.problems)


def status_text(result: Health) -> str:
    """One fact a line."""
    layers = ", ".join(f"{layer} {count}" for layer, count in sorted(result.files.items()))
    facts = {
        "vault": result.vault,
        "files": f"{sum(result.files.values())} ({layers})" if layers else "0",
        "index": f"position {result.position}, {result.notes} notes, {result.chunks} chunks, {result.links} links",
        "pending": str(result.pending) if result.pending else "",
        "unresolved links": str(result.unresolved) if result.unresolved else "",
        "built anew": result.rebuilt,
    }
    lines = [f"{key}: {value}" for key, value in facts.items() if value]
    if result.problem_count:
        lines.append(f"problems: {result.problem_count}")
        lines += [f"  {p.path}:{p.line} {p.rule}: {p.message}" for p in result.problems]
    if result.skipped:
        lines.append(f"left out: {len(result.skipped)}")
        lines += [f"  {entry.path}: {entry.reason}" for entry in result.skipped]
    return "\n".join(lines)


def reindex_text(result: Reindexed) -> str:
    """One line."""
    return (
        f"indexed {result.files} files: {result.notes} notes, {result.chunks} chunks, {result.links} links, "
        f"{result.problem_count} problems (position {result.position})"
    )


def _pending(files: Sequence[Stat], stamps: Mapping[VaultPath, Stamp]) -> int:
    """How many files are new, changed or gone since the index last looked."""
    present = {file.path: (file.size, file.mtime_ns, file.inode) for file in files}
    changed = sum(1 for path, facts in present.items() if path not in stamps or stamps[path][:3] != facts)
    return changed + sum(1 for path in stamps if path not in present)
