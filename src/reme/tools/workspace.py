"""What every tool is given: one open vault with its projections, and who is asking.

Owns nothing; holds the rooms below together.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from reme.clock import Clock
from reme.index import Index
from reme.models import Embedder
from reme.search import SearchSettings, Signals
from reme.state import State
from reme.tools.schema import SchemaSettings
from reme.vault import Role, Vault

__all__ = ["Caller", "Workspace"]


def _no_embedder() -> Embedder | None:
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

    Attributes:
        embedder: Opens the embedder when it is first needed; it may raise ``Unavailable``.
        signals: What consolidation has found out, for ranking.
    """

    vault: Vault
    index: Index
    state: State
    clock: Clock
    search: SearchSettings
    caller: Caller
    schema: SchemaSettings = field(default_factory=SchemaSettings)
    embedder: Callable[[], Embedder | None] = _no_embedder
    signals: Signals | None = None

    def moment(self, nanoseconds: int) -> datetime:
        """An instant as the disk tells it, in nanoseconds since 1970, in the vault's zone, to the second."""
        return self.clock.local(datetime.fromtimestamp(nanoseconds // 1_000_000_000, UTC))
