"""What every tool is given: one open vault with its projections, and who is asking.

Owns nothing; holds the rooms below together.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import reme.index
import reme.models
import reme.search
import reme.vault
from reme.clock import Clock
from reme.index import Index
from reme.paths import VaultPath
from reme.progress import Progress, unseen
from reme.search import AccessLog, SearchSettings, Signals
from reme.state import State
from reme.tools.schema import SchemaSettings
from reme.vault import Role, Vault

__all__ = ["Caller", "Workspace"]


def _no_embedder() -> "reme.models.Embedder | None":
    return None


def _fresh_anchors() -> "reme.search.Anchors":
    return reme.search.Anchors()


def _no_views() -> "Sequence[reme.vault.Amend]":
    return ()


def _all_sourced(_changed: "Mapping[VaultPath, reme.vault.Content | None]") -> tuple[VaultPath, ...]:
    return ()


def _nobody() -> "reme.index.Keeper | None":
    return None


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, and the run that the answer's changes belong to.

    Attributes:
        role: The rights that commit checks.
        actor: For people to read: ``cli``, ``mcp``, ``auto_dream``.
        run: Id of the run: what ``log`` lists, ``show`` shows and ``undo`` undoes.
    """

    role: Role
    actor: str
    run: str


@dataclass(frozen=True, slots=True)
class Workspace:
    """An open vault, its index, state and clock, as one caller sees them in one run, and the tools' settings.

    The types in quotes are of what is made only when it is needed, and loaded only then.

    Attributes:
        embedder: Opens the embedder when it is first needed; it may raise ``Unavailable``.
        embedder_name: As the settings name it; ``none`` for none.
        reasoner_name: Who decides what is remembered and learnt: ``offline``, or the model as the settings name it.
        daily_tokens: How many tokens models may use a day; None where no model is asked.
        signals: What maintenance has found out, for ranking.
        access: Counts what was found or read; None where that is not to be counted.
        anchors: Gives what tells the intent of a query, kept for as long as the vault is open.
        keeper: Tells which process keeps the index in step with the files; None where none does, and each question
            brings it up to date itself.
        progress: Is told how far long work has come.
        views: Tells what would bring the views of the digest that are generated up to date.
        unsourced: Tells which nodes of the digest would state what their sources do not, if these files had these
            contents.
    """

    vault: Vault
    index: Index
    state: State
    clock: Clock
    search: SearchSettings
    caller: Caller
    schema: SchemaSettings = field(default_factory=SchemaSettings)
    embedder: "Callable[[], reme.models.Embedder | None]" = _no_embedder
    signals: Signals | None = None
    keeper: "Callable[[], reme.index.Keeper | None]" = _nobody
    views: "Callable[[], Sequence[reme.vault.Amend]]" = _no_views
    unsourced: "Callable[[Mapping[VaultPath, reme.vault.Content | None]], tuple[VaultPath, ...]]" = _all_sourced
    progress: Progress = unseen
    embedder_name: str = "none"
    reasoner_name: str = "offline"
    daily_tokens: int | None = None
    access: AccessLog | None = None
    anchors: "Callable[[], reme.search.Anchors]" = _fresh_anchors

    def met(self, paths: Iterable[VaultPath]) -> None:
        """Count that these files were found or read; reports, generated views and the archive do not count."""
        if self.access is None:
            return
        archived = self.signals.at(self.clock.now()).archived if self.signals else frozenset[str]()
        self.access.count(path for path in paths if self._counts(path) and path not in archived)

    def _counts(self, path: VaultPath) -> bool:
        layer = self.vault.layer_of(path)
        is_day = layer == "daily" and path.count("/") == self.vault.layout.daily.count("/") + 1
        return layer not in ("archive", "audit") and not is_day and not path.endswith(self.index.settings.generated)

    def moment(self, nanoseconds: int) -> datetime:
        """An instant as the disk tells it, in nanoseconds since 1970, in the vault's zone, to the second."""
        return self.clock.local(datetime.fromtimestamp(nanoseconds // 1_000_000_000, UTC))
