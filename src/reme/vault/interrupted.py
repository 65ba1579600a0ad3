"""Changes that a crash has interrupted: whether there is one, which readers ask before they look.

Owns the question. What carries changes out, and so finishes them, is loaded only where there is something to finish.
"""

from reme.vault.files import Vault

__all__ = ["finish_interrupted"]


def finish_interrupted(vault: Vault, *, wait: bool = False) -> None:
    """Finish what a crash has left half done, so that readers do not see it so.

    Args:
        vault: The vault.
        wait: Whether to wait for a writer that is at work: it may be about to crash.

    Raises:
        Unavailable: If it cannot be finished now.
    """
    if vault.journal.is_pending:
        from reme.vault.commit import finish

        finish(vault, wait=wait)
