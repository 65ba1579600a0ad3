"""One open vault with everything that works on it, and the one way to run an operation there.

Owns the wiring and the lifecycle: what is started in which order, and closed in reverse. The only module that knows
every room below; knows no face.
"""

import contextlib
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import reme.index
import reme.models
import reme.search
import reme.vault
from reme.catalog import Catalog, Operation, add_tools, valid_arguments
from reme.clock import Clock, zone_named
from reme.config import DreamOptions, LLMOptions, MemoryOptions, Settings, load_settings
from reme.errors import Refused, ReMeError, Unavailable
from reme.index import Index, IndexDamaged, open_index
from reme.paths import VaultPath, parse_path
from reme.progress import Progress, unseen
from reme.revision import revision_of
from reme.search import AccessLog, Signals, merge_access
from reme.state import State
from reme.tools import Caller, Workspace
from reme.vault import Role, Vault, finish_interrupted

__all__ = ["App", "build_catalog", "open_vault", "run_runtime"]

_SUMMARY_LENGTH = 200
_SIGNALS = "meta"


class App:
    """An open vault. Made by ``open_vault``; a context manager that closes what was opened, in reverse.

    Several threads may call operations at once; none may do so any more when it is closed.

    Attributes:
        vault: The files.
        index: Their projection.
        state: The run log.
        settings: The settings in force.
        catalog: Every operation that may be called.
    """

    def __init__(
        self,
        vault: Vault,
        index: Index,
        state: State,
        settings: Settings,
        catalog: Catalog,
        notices: tuple[str, ...],
        started: contextlib.ExitStack,
    ) -> None:
        self.vault = vault
        self.index = index
        self.state = state
        self.settings = settings
        self.catalog = catalog
        self._notices = notices
        self._opening = threading.Lock()
        self._embedder: reme.models.Embedder | None = None
        self._model: reme.models.ChatModel | None = None
        self._signals = Signals(vault.state_dir / _SIGNALS)
        self._anchors: reme.search.Anchors | None = None
        self._left_behind: Sequence[object] = ()
        self._access = AccessLog(state, vault.clock) if settings.search.access_log else None
        self._started = started

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close everything, last opened first. Idempotent."""
        if self._access is not None:
            self._access.close()
            self._merge_access()
            self._access = None
        self._started.close()

    def _merge_access(self) -> None:
        """Once a day, what was found or read becomes a signal."""
        folder, clock = self.vault.state_dir / _SIGNALS, self.vault.clock
        with contextlib.suppress(OSError):
            merged = datetime.fromtimestamp((folder / "access_log.json").stat().st_mtime, UTC)
            if clock.local(merged).date() >= clock.today():
                return
        with contextlib.suppress(ReMeError):
            merge_access(self.state, folder, clock, self.vault.exists, self.index.renames())

    def take_notices(self) -> tuple[str, ...]:
        """What a person should know besides results, of opening and of calls, since this was last asked."""
        notices, self._notices = self._notices, ()
        fresh = self.vault.notices
        return (*notices, *(fresh.pop(0) for _ in range(len(fresh))))

    def call(
        self, name: str, arguments: Mapping[str, object], *, role: Role, actor: str, progress: Progress = unseen
    ) -> Any:
        """Run one operation and return its result.

        Args:
            name: The operation's name.
            arguments: What the caller gave, as it came.
            role: With whose rights.
            actor: For people to read: ``cli``, ``mcp:claude-code``.
            progress: Is told how far long work has come.

        Raises:
            ReMeError: Typed, from the checks and from the operation. Anything else that is raised is a bug.
        """
        operation = self.catalog[name]
        valid = valid_arguments(operation, arguments)
        if role not in operation.roles:
            raise Refused(
                f"{operation.name} is not for the role {role}",
                hint=f"Give another `role`: {_listed(operation.roles)}.",
            )
        try:
            finish_interrupted(self.vault)
        except Unavailable as error:  # what does not need it may go on
            self.vault.notices.append(error.message)
        workspace = replace(self.workspace(role, actor), progress=progress)
        if operation.effects == "read":
            try:
                return self._run(operation, workspace, valid)
            except IndexDamaged:  # it has been emptied and is built again from the files
                return self._run(operation, workspace, valid)
        return self._run_logged(operation, workspace, valid)

    def workspace(self, role: Role, actor: str) -> Workspace:
        """The vault as one caller sees it in a run of its own."""
        caller = Caller(role=role, actor=actor, run=self.vault.new_id())
        settings = self.settings
        return Workspace(
            self.vault,
            self.index,
            self.state,
            self.vault.clock,
            settings.search,
            caller,
            schema=settings.schema,
            embedder=self.embedder,
            signals=self._signals,
            access=self._access,
            anchors=self.anchors,
            keeper=self.keeper,
            views=self._views,
            unsourced=self._unsourced,
            embedder_name=settings.embedder,
            reasoner_name=_reasoner_name(settings),
            daily_tokens=settings.llm.daily_tokens if _asks_model(settings) else None,
        )

    def _views(self) -> "tuple[reme.vault.Amend, ...]":
        from reme.actions import view_edit

        dream = _dream_settings(self.settings)
        return (view_edit(self.vault, dream.buckets, dream.fallback),)

    def _unsourced(self, changed: "Mapping[VaultPath, reme.vault.Content | None]") -> tuple[VaultPath, ...]:
        from reme.actions import unsourced

        return unsourced(self.vault, changed)

    def keeper(self) -> "reme.index.Keeper | None":
        """The process that keeps the index in step with the files, or None if none does."""
        if not (self.vault.state_dir / "projector.json").exists():  # no runtime has ever been here: none is loaded
            return None
        from reme.index import Keeper, reported
        from reme.runtime import holder

        found = holder(self.vault.state_dir)
        if found is None:
            return None
        silent = self.vault.clock.now().timestamp() - found.beat
        return Keeper(found.pid, found.host, reported(found.report), silent)

    def anchors(self) -> "reme.search.Anchors":
        """What tells the intent of a query, made at the first call."""
        with self._opening:
            if self._anchors is None:
                self._anchors = reme.search.Anchors()
            return self._anchors

    def embedder(self) -> "reme.models.Embedder | None":
        """The embedder that the settings name, opened at the first call; None for none.

        Raises:
            ConfigError: If there is none of this name.
            Unavailable: If it is not installed or does not answer.
        """
        with self._opening:
            if self._embedder is None and self.settings.embedder != "none":
                from reme.models import EndpointSettings, open_embedder

                endpoint, given = EndpointSettings(), self.settings.endpoint
                endpoint = replace(endpoint, url=given.url or endpoint.url, key=given.key)
                self._embedder = open_embedder(self.settings.embedder, endpoint=endpoint)
            return self._embedder

    def model(self) -> "reme.models.ChatModel | None":
        """The chat model that decides, opened at the first call; None where the offline reasoner does.

        Raises:
            ConfigError: If there is none of this name, or it has no key.
        """
        llm = self.settings.llm
        with self._opening:
            if self._model is None and _asks_model(self.settings):
                from reme.models import ChatSettings, open_chat

                options = ("url", "key", "proxy", "timeout", "tries")
                given = {name: value for name in options if (value := getattr(llm, name)) is not None}
                self._model = open_chat(llm.model, ChatSettings(**given))
            return self._model

    def _reasoner(self, operation: Operation, workspace: Workspace) -> Any:
        from reme.reason import ModelSettings, OfflineReasoner, model_reasoner

        model = self.model()
        if model is None:
            return OfflineReasoner()
        known = {field.name for field in fields(ModelSettings)}
        options = {name: value for name, value in _set(self.settings.llm).items() if name in known}
        caller = workspace.caller
        return model_reasoner(
            model,
            ModelSettings(**options),
            self.state,
            self.vault.clock,
            run=caller.run,
            operation=operation.name,
            own_prompt=self._own_prompt,
            waits=caller.role == "system",
        )

    def _own_prompt(self, file: str) -> str | None:
        """The vault's own text of a prompt, if it has one."""
        folder = self.settings.llm.prompts
        data = self.vault.bytes_of(parse_path(f"{folder}/{file}")) if folder else None
        return None if data is None else data.decode("utf-8", "replace")

    def finish_interrupted(self, _index: Index, _stop: Callable[[], bool]) -> bool:
        """Background work: finish what a process that crashed has left half done."""
        finish_interrupted(self.vault, wait=True)
        return False

    def follow_renames(self, _index: Index, _stop: Callable[[], bool]) -> bool:
        """Background work: have links follow the files that other programs have renamed."""
        from reme.tools import left_behind

        workspace = self.workspace("system", "runtime")
        links = left_behind(workspace)
        if links and links != self._left_behind:  # what could not follow is not tried again and again
            self._left_behind = links
            self._run_logged(self.catalog["follow_renames"], workspace, {})
        return False

    def _run(self, operation: Operation, workspace: Workspace, arguments: Mapping[str, Any]) -> Any:
        try:
            if operation.reasons:
                import asyncio

                return asyncio.run(operation.function(workspace, self._reasoner(operation, workspace), **arguments))
            return operation.function(workspace, **arguments)
        except OSError as error:
            place = Path(str(error.filename)) if error.filename else self.vault.root
            known = place.is_relative_to(self.vault.root) and place != self.vault.root
            name = place.relative_to(self.vault.root).as_posix() if known else place.name
            raise Unavailable(
                f"{name}: {error.strerror or error}", hint="Check the disk and its permissions."
            ) from error

    def _run_logged(self, operation: Operation, workspace: Workspace, arguments: Mapping[str, Any]) -> Any:
        """Run what may write, between two entries in the run log. They may be lost, the result never is."""
        caller, clock = workspace.caller, workspace.clock
        try:
            self.state.begin(caller.run, operation.name, caller.actor, caller.role, clock.now())
        except Unavailable as error:  # only the log suffers
            self._notices += (error.message,)
        outcome, summary = "bug", ""
        try:
            result = self._run(operation, workspace, arguments)
            outcome, summary = "ok", operation.text(result)
            return result
        except ReMeError as error:
            outcome, summary = error.kind, error.message
            raise
        finally:
            with contextlib.suppress(Unavailable):
                self.state.finish(caller.run, outcome, _first_line(summary), clock.now())


def _asks_model(settings: Settings) -> bool:
    return bool(settings.llm.model) and settings.reasoner != "offline"


def _reasoner_name(settings: Settings) -> str:
    if not _asks_model(settings):
        return "offline"
    host = urlsplit(settings.llm.url).netloc.rpartition("@")[2]
    return f"{settings.llm.model} at {host}" if host else settings.llm.model


def build_catalog(settings: Settings) -> Catalog:
    """Every operation: the tools, then the actions."""
    return Catalog(add_tools, lambda catalog: _add_actions(catalog, settings))


def _add_actions(catalog: Catalog, settings: Settings) -> None:
    from reme.actions import register

    register(catalog, partial(_action_settings, settings))


def _action_settings(settings: Settings) -> Any:
    """The ``ActionSettings``, whose room is only loaded when an action is run."""
    from reme.actions import ActionSettings, MemorySettings

    memory = replace(MemorySettings(), **_set(settings.memory))
    return ActionSettings(memory=memory, dream=_dream_settings(settings))


def _dream_settings(settings: Settings) -> Any:
    """The ``DreamSettings``, likewise."""
    from reme.actions import BUCKET_PRESETS, DreamSettings
    from reme.reason import Bucket

    digest = settings.digest
    own = tuple(Bucket(name, description) for name, description in digest.buckets.items())
    dream = DreamSettings(buckets=own or BUCKET_PRESETS[digest.preset], fallback=digest.fallback)
    return replace(dream, **_set(settings.dream))


def _set(options: MemoryOptions | DreamOptions | LLMOptions) -> dict[str, Any]:
    """The options that are set."""
    return {name: value for name, value in asdict(options).items() if value is not None}


def open_vault(root: Path, *, settings: Settings | None = None, instant: Callable[[], datetime] | None = None) -> App:
    """Open a vault. Nothing is created but ``.reme/`` and what belongs there.

    Args:
        root: Its folder.
        settings: Instead of those that its ``reme.yaml`` and the environment give.
        instant: Tells the present instant, instead of the machine's time.

    Raises:
        ConfigError: If there is no folder, or a setting is wrong.
        Unavailable: If something that is needed cannot be opened; what was opened before is closed again.
    """
    settings = settings or load_settings(root)
    clock = Clock(zone_named(settings.vault.timezone), instant or _now)
    with contextlib.ExitStack() as started:
        vault = Vault(
            root,
            layout=settings.folders,
            clock=clock,
            state_dir=_state_folder(root, settings.state_dir),
            lock_timeout=settings.vault.lock_timeout,
            retention=settings.journal,
            git=settings.git.auto_commit,
            agents_write_notes=settings.vault.agents_write_notes,
        )
        started.callback(vault.close)
        state = State(vault.state_dir / "state.db")
        started.callback(state.close)
        folder, notices = _index_folder(vault.state_dir, started)
        index = open_index(folder / "index.db", settings.folders, settings.index)
        started.callback(index.close)
        catalog = build_catalog(settings)
        return App(vault, index, state, settings, catalog, notices, started.pop_all())


def run_runtime(root: Path, *, tell: Callable[[str], None]) -> int:
    """Look after a vault until SIGINT or SIGTERM: its index follows the files as they change.

    Several may run on one vault; one works, and another takes over when it ends or dies.

    Args:
        root: The vault's folder.
        tell: Takes a line for people whenever this process begins or ceases to be the one that works.

    Returns:
        The number of the signal that ended it.

    Raises:
        ConfigError, Unavailable: As ``open_vault``.
    """
    from reme.index import ProjectorStatus
    from reme.runtime import Projector, each, embedding, reading, run

    def told(status: ProjectorStatus) -> None:
        tell("keeping the index in step with the files" if status.epoch else "another process is at it; standing by")

    with open_vault(root) as app:
        embedder = app.embedder()
        works = [app.finish_interrupted, reading(app.vault)]
        if embedder is not None:
            works.append(embedding(embedder))
        if app.settings.links.follow_renames:
            works.append(app.follow_renames)
        return run(Projector(app.vault, app.index, background=each(*works)), tell=told)


def _state_folder(root: Path, base: str) -> Path | None:
    """The folder of a vault's machinery where it is not kept in the vault: named after the vault's place."""
    if not base:
        return None
    place = str(root.resolve())
    return Path(base).expanduser() / f"{Path(place).name}-{revision_of(place.encode())[:12]}"


def _index_folder(state_dir: Path, started: contextlib.ExitStack) -> tuple[Path, tuple[str, ...]]:
    """Where the index may be kept: in a folder that is gone afterwards if the vault cannot be written."""
    with contextlib.suppress(OSError):
        state_dir.mkdir(parents=True, exist_ok=True)
        kept = state_dir / "index.db"
        if os.access(state_dir, os.W_OK) and (not kept.exists() or os.access(kept, os.W_OK)):
            return state_dir, ()
    import shutil
    import tempfile

    temporary = Path(tempfile.mkdtemp(prefix="reme-"))
    started.callback(shutil.rmtree, temporary, ignore_errors=True)
    return temporary, (f"{state_dir} cannot be written, so the index is made anew and thrown away",)


def _now() -> datetime:
    return datetime.now(UTC)


def _listed(roles: frozenset[Role]) -> str:
    return ", ".join(sorted(roles))


def _first_line(text: str) -> str:
    return text.strip().split("\n", 1)[0][:_SUMMARY_LENGTH]
