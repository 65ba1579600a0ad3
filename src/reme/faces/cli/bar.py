"""The bar by which a person at a terminal sees how far long work has come.

Owns when it is shown: on standard error, as soon as something takes longer than a moment, and gone when that is done.
"""

import time
from contextlib import ExitStack
from typing import Any, Final, Self

__all__ = ["Bar"]

_MOMENT_S: Final = 0.5
_STEP_S: Final = 0.05


class Bar:
    """A progress bar; a context manager that gives what is to be told of the progress, and takes the bar away again.

    Args:
        shown: Whether anybody looks on.
    """

    def __init__(self, *, shown: bool) -> None:
        self._shown = shown
        self._next = time.monotonic() + _MOMENT_S
        self._begun = ExitStack()
        self._update: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._begun.close()

    def __call__(self, what: str, done: int, of: int) -> None:
        """Show that of ``of`` things so many are done."""
        now = time.monotonic()
        if self._shown and now >= self._next:
            self._next = now + _STEP_S
            self._update = self._update or self._begin()
            self._update(description=what, completed=done, total=of)

    def _begin(self) -> Any:
        from functools import partial

        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
        bar = Progress(*columns, console=Console(stderr=True), transient=True)
        task = bar.add_task("", total=None)
        return partial(self._begun.enter_context(bar).update, task)
