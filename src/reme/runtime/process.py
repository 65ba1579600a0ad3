"""The runtime as a process: works until it is told to stop.

Owns the signals. Prints nothing.
"""

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Final

from reme.index import ProjectorStatus
from reme.runtime.projector import Projector

__all__ = ["run"]

_TURN_S: Final = 1.0


def run(projector: Projector, *, tell: Callable[[ProjectorStatus], None] | None = None) -> int:
    """Run a projector in the foreground until SIGINT or SIGTERM comes; a second signal has its usual effect.

    Must be called in the main thread.

    Args:
        projector: What to run; closed when this returns.
        tell: Called with the status at the start and whenever the projector gets or loses the lease.

    Returns:
        The number of the signal that ended it.
    """
    stop = threading.Event()
    received: list[int] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def end(number: int, _frame: FrameType | None) -> None:
        received.append(number)
        stop.set()
        signal.signal(number, before[signal.Signals(number)] or signal.SIG_DFL)

    for number in before:
        signal.signal(number, end)
    try:
        projector.start()
        told: int | None = None
        while not stop.wait(_TURN_S):
            status = projector.status()
            if tell is not None and status.epoch != told:
                told = status.epoch
                tell(status)
    finally:
        projector.close()
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)
    return received[0] if received else 0
