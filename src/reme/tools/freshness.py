"""Bringing the index up to the files, before a question is answered or a link is followed.

Owns what a caller is told where that fails.
"""

from datetime import timedelta
from typing import Final

import reme.index
from reme.errors import Unavailable
from reme.index import Index, IndexDamaged, refresh
from reme.tools.workspace import Workspace
from reme.wording import counted

__all__ = ["catch_up", "look"]

_PATIENCE_S: Final = 1.0
_STALLED_S: Final = 15.0
_HEARD_WITHIN: Final = timedelta(seconds=10)


def look(workspace: Workspace) -> str:
    """Bring the index up to the files before a question; what could not be taken in is told, and the question answered.

    Where another process keeps the index, what it takes in is waited for, and not read twice; but not for long. If that
    process says that it is current, no file is looked at but what change sets have touched of late: what other programs
    save, it hears of within a tenth of a second.

    Returns:
        What the answer may miss, or the empty string.
    """
    keeper = workspace.keeper()
    if keeper is None or keeper.silent > _STALLED_S:
        pending = refresh(workspace.index, workspace.vault, progress=workspace.progress).pending
    else:
        from reme.index import wait

        vault, index = workspace.vault, workspace.index
        known = vault.journal.touched(vault.clock.now() - _HEARD_WITHIN) if _is_current(index, keeper) else None
        pending = len(wait(vault, index, _PATIENCE_S, paths=known, documents=False))
    if not pending:
        return ""
    many = counted(pending, "changed file")
    notice = f"{many} could not be taken into the index, so answers may miss something; see: `status`"
    workspace.vault.notices.append(notice)
    return notice


def _is_current(index: Index, keeper: "reme.index.Keeper") -> bool:
    """Whether the process that keeps this very index hears of every change and has taken in all that it heard of."""
    said = keeper.status
    try:
        return bool(said and keeper.is_current and not said.pending and said.generation == index.generation())
    except IndexDamaged:
        return False


def catch_up(workspace: Workspace) -> None:
    """Bring the index up to the files, so that no link is overlooked.

    Raises:
        Unavailable: If another process keeps it from being brought up to date.
    """
    pending = refresh(workspace.index, workspace.vault, progress=workspace.progress).pending
    if pending:
        raise Unavailable(
            f"the index could not take in {counted(pending, 'changed file')}: another process is writing it, or the "
            "disk is full",
            hint="Try again in a moment; see: `status`",
        )
