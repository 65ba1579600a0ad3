"""How the vault and its index are, waiting for the index, and building it anew.

Owns the report. Reads the disk as well as the index, so that what the index has not seen yet is told.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final, NamedTuple

from annotated_types import Ge, Le

from reme import __version__
from reme.errors import ReMeError, Unavailable
from reme.index import UNSEARCHED, FileProblem, Index, Keeper, Status, behind, rebuild, refresh, take_texts
from reme.index import wait as await_index
from reme.paths import VaultPath
from reme.tools.following import left_behind
from reme.tools.workspace import Workspace
from reme.vault import Layer
from reme.wording import counted

__all__ = [
    "Embedding",
    "Health",
    "Reasoning",
    "Reindexed",
    "Skipped",
    "Versions",
    "Waited",
    "reindex",
    "reindex_text",
    "status",
    "status_text",
    "wait",
    "waited_text",
]

_SHOWN: Final = 20
_NAMED: Final = 3
_AT_ONCE: Final = 10
_CROWDED: Final = 25
_BACKGROUND: Final = "background: "


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something in the vault's folder that is not indexed, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Embedding:
    """How far the vectors are that search by meaning needs.

    Attributes:
        wanted: The embedder that the settings name; ``none`` where words alone decide.
        model: The one that the vectors in the index are of, or empty.
        done: Chunks that have a vector.
        pending: Chunks that have none yet.
        problem: Why the last attempt failed, or empty.
    """

    wanted: str
    model: str
    done: int
    pending: int
    problem: str


@dataclass(frozen=True, slots=True)
class Reasoning:
    """Who decides what is remembered and learnt.

    Attributes:
        reasoner: ``offline``, or the model.
        tokens_today: What models have used today.
        tokens_a_day: What they may use a day; None where no model is asked.
    """

    reasoner: str
    tokens_today: int
    tokens_a_day: int | None


@dataclass(frozen=True, slots=True)
class Versions:
    """What the index was made by: another value of any of them makes it anew."""

    reme: str
    schema: int
    tokenizer: str


@dataclass(frozen=True, slots=True)
class Health:
    """The state of a vault.

    Attributes:
        vault: Name of its folder.
        files: Number of files on disk, by layer.
        position: The index's position, which grows with every batch.
        pending: Files whose changes on disk the index has not seen yet; the next question takes them in.
        pending_paths: The first of them.
        notes: Markdown notes in the index.
        links: Links in the index.
        unresolved: Links that lead to no file.
        left_behind: Those among them whose file was renamed by another program.
        density: Notes directly in each folder of the digest.
        size: Bytes of the index.
        keeper: The process that keeps the index in step with the files, and what it last said; None where there is
            none, and each question brings the index up to date.
        embedding: How far the vectors are.
        reasoning: Who decides what is remembered and learnt.
        problems: What is wrong with files, the first of ``problem_count``.
        skipped: What is not indexed or not searched, and why: symlinks, nested vaults, unreadable names, text in no
            known encoding.
        rebuilt: Why the index had to be built anew, or empty.
        versions: What made it.
    """

    vault: str
    files: dict[Layer, int]
    position: int
    pending: int
    pending_paths: tuple[VaultPath, ...]
    notes: int
    chunks: int
    links: int
    unresolved: int
    left_behind: int
    density: dict[str, int]
    size: int
    keeper: Keeper | None
    embedding: Embedding
    reasoning: Reasoning
    problem_count: int
    problems: tuple[FileProblem, ...]
    skipped: tuple[Skipped, ...]
    rebuilt: str
    versions: Versions


@dataclass(frozen=True, slots=True)
class Waited:
    """The index after it was waited for."""

    position: int


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
    workspace: Workspace, limit: Annotated[int, "How many problems and paths to name", Ge(0), Le(1000)] = _SHOWN
) -> Health:
    """Tell how the vault is: files by layer, what the index has not seen yet, who keeps it, problems, what is left
    out."""
    vault, index = workspace.vault, workspace.index
    keeper = workspace.keeper()
    with index.snapshot():
        state, problems = index.status(), index.problems()
    seen = _as_kept(index, keeper) if keeper and keeper.is_current else _on_disk(workspace)
    unsearched = [problem for problem in problems if problem.rule in UNSEARCHED]
    problems = [problem for problem in problems if problem.rule not in UNSEARCHED]
    skipped = [*seen.skipped, *((problem.path, problem.message) for problem in unsearched)]
    return Health(
        vault=vault.root.name,
        files=seen.files,
        position=state.position,
        pending=seen.pending,
        pending_paths=tuple(seen.paths[:limit]),
        notes=state.notes,
        chunks=state.chunks,
        links=state.links,
        unresolved=state.unresolved,
        left_behind=len(left_behind(workspace)),
        density=index.densities(vault.layout.digest),
        size=state.bytes,
        keeper=keeper,
        embedding=_embedding(workspace, state, keeper),
        reasoning=_reasoning(workspace),
        problem_count=len(problems),
        problems=tuple(problems[:limit]),
        skipped=tuple(Skipped(path, reason) for path, reason in sorted(skipped)),
        rebuilt=state.rebuilt,
        versions=Versions(__version__, state.schema, state.tokenizer),
    )


def wait(workspace: Workspace, timeout: Annotated[float, "Seconds to wait, at most", Ge(0), Le(3600)] = 30.0) -> Waited:
    """Wait until whatever is on disk now, by whomever it was written, is in the index.

    Raises:
        Unavailable: If it is not when the time is up.
    """
    vault, index = workspace.vault, workspace.index

    def refreshed() -> None:
        if workspace.keeper() is None:
            refresh(index, vault, progress=workspace.progress)
            take_texts(index, vault, most=_AT_ONCE)

    if left := sorted(await_index(vault, index, timeout, meanwhile=refreshed)):
        named = ", ".join(left[:_NAMED]) + (f" and {len(left) - _NAMED} more" if len(left) > _NAMED else "")
        raise Unavailable(
            f"after {timeout:g} seconds the index has not taken in {named}", hint="What holds it up: `status`"
        )
    return Waited(index.position())


def reindex(workspace: Workspace) -> Reindexed:
    """Build the index anew from the files alone.

    Raises:
        Unavailable: If files could not be taken in.
    """
    done = rebuild(workspace.index, workspace.vault, progress=workspace.progress)
    if done.pending:
        raise Unavailable(
            f"the index could not take in {counted(done.pending, 'file')}: {done.held_up}",
            hint="Try again in a moment; see: `status`",
        )
    take_texts(workspace.index, workspace.vault)
    state = workspace.index.status()
    return Reindexed(state.files, state.notes, state.chunks, state.links, state.position, state.problems)


def status_text(result: Health) -> str:
    """One fact a line."""
    layers = ", ".join(f"{layer} {count}" for layer, count in sorted(result.files.items()))
    facts = {
        "vault": result.vault,
        "files": f"{sum(result.files.values())} ({layers})" if layers else "0",
        "index": f"position {result.position}, {_indexed(result)}, {result.size / 1e6:.1f} MB",
        "kept by": _keeper_text(result.keeper),
        "pending": _listed(result.pending, result.pending_paths),
        "vectors": _embedding_text(result.embedding),
        "reasoner": _reasoning_text(result.reasoning),
        "unresolved links": _unresolved_text(result),
        "crowded": ", ".join(f"{folder} ({count})" for folder, count in result.density.items() if count > _CROWDED),
        "built anew": result.rebuilt,
    }
    lines = [f"{key}: {value}" for key, value in facts.items() if value]
    if result.keeper and (said := result.keeper.status):
        lines += [f"trouble: {what}" for what in said.trouble]
        lines += [
            f"failing: {p.path} ({p.attempts} tries{f', next {p.retry:%H:%M:%S}' if p.retry else ''}): {p.message}"
            for p in said.problems
        ]
    if result.problem_count:
        lines.append(f"problems: {result.problem_count}")
        lines += [f"  {p.path}:{p.line} {p.rule}: {p.message}" for p in result.problems]
    if result.skipped:
        lines.append(f"left out: {len(result.skipped)}")
        lines += [f"  {entry.path}: {entry.reason}" for entry in result.skipped]
    return "\n".join(lines)


def waited_text(result: Waited) -> str:
    """One line."""
    return f"everything is in the index (position {result.position})"


def reindex_text(result: Reindexed) -> str:
    """One line."""
    return (
        f"indexed {counted(result.files, 'file')}: {_indexed(result)}, "
        f"{counted(result.problem_count, 'problem')} (position {result.position})"
    )


def _indexed(result: Health | Reindexed) -> str:
    counts = (result.notes, "note"), (result.chunks, "chunk"), (result.links, "link")
    return ", ".join(counted(number, thing) for number, thing in counts)


class _Seen(NamedTuple):
    """What there is besides the index, and what of it the index has not met."""

    files: dict[Layer, int]
    pending: int
    paths: Sequence[VaultPath]
    skipped: Sequence[tuple[str, str]]


def _as_kept(index: Index, keeper: Keeper) -> _Seen:
    """As who keeps the index says, who hears of every change: nothing needs to be walked over."""
    said = keeper.status
    pending, paths = (said.pending, said.pending_paths) if said else (0, ())
    return _Seen(index.layers(), pending, paths, index.skipped())


def _on_disk(workspace: Workspace) -> _Seen:
    scan = workspace.vault.scan()
    pending = sorted(behind(workspace.index, scan.files))
    files: dict[Layer, int] = Counter(workspace.vault.layer_of(file.path) for file in scan.files)
    return _Seen(dict(files), len(pending), pending, scan.skipped)


def _embedding(workspace: Workspace, state: Status, keeper: Keeper | None) -> Embedding:
    wanted = workspace.embedder_name
    pending = state.unembedded if wanted != "none" or state.model else 0
    said = keeper.status if keeper else None
    problem = next((what for what in said.trouble if what.startswith(_BACKGROUND)), "") if said else ""
    done, problem = state.embedded, problem.removeprefix(_BACKGROUND)
    if keeper is None and state.model:  # who keeps an index throws vectors of other models away
        try:
            embedder = workspace.embedder()
        except ReMeError as error:
            problem = error.message
        else:
            if embedder is not None and embedder.name != state.model:
                problem = f"the vectors are of {state.model}, to be made anew with {embedder.name}"
                done, pending = 0, done + pending
    return Embedding(wanted, state.model, done, pending, problem)


def _reasoning(workspace: Workspace) -> Reasoning:
    if workspace.daily_tokens is None:
        return Reasoning(workspace.reasoner_name, 0, None)
    calls = workspace.state.calls(workspace.clock.today())
    used = sum(call.tokens_in + call.tokens_out for call in calls)
    return Reasoning(workspace.reasoner_name, used, workspace.daily_tokens)


def _unresolved_text(result: Health) -> str:
    if not result.left_behind:
        return str(result.unresolved) if result.unresolved else ""
    return f"{result.unresolved}, {result.left_behind} since their files were renamed; follow_renames has them follow"


def _keeper_text(keeper: Keeper | None) -> str:
    if keeper is None:
        return "nobody; each question brings it up to date"
    where = f"process {keeper.pid} on {keeper.host}"
    if (said := keeper.status) is None:
        return where
    facts = [
        "watching" if said.watching else "not watching, looking at everything now and then",
        f"{counted(said.pending, 'path')} waiting" if said.pending else "",
        *(
            f"last {what} {moment:%H:%M:%S}"
            for what, moment in (("event", said.last_event), ("scan", said.last_scan), ("change", said.last_change))
            if moment
        ),
    ]
    return f"{where}: {', '.join(fact for fact in facts if fact)}"


def _embedding_text(embedding: Embedding) -> str:
    if embedding.wanted == "none" and not embedding.model:
        return ""
    text = f"{embedding.done} of {counted(embedding.done + embedding.pending, 'chunk')}"
    if embedding.model:
        text += f" ({embedding.model})"
    return text + (f"; {embedding.problem}" if embedding.problem else "")


def _reasoning_text(reasoning: Reasoning) -> str:
    if reasoning.tokens_a_day is None:
        return reasoning.reasoner
    return f"{reasoning.reasoner}, {reasoning.tokens_today:,} of {reasoning.tokens_a_day:,} tokens used today"


def _listed(count: int, paths: Sequence[VaultPath]) -> str:
    if not count:
        return ""
    named = ", ".join(paths[:_NAMED])
    return f"{count}: {named}{', …' if count > _NAMED else ''}" if named else str(count)
