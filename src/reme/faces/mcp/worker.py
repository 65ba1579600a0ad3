"""The one thread that carries out calls, in order, while the conversation goes on in another.

Owns the thread. Knows nothing of frames or of the vault behind the tools.
"""

import queue
import threading
from collections.abc import Callable

from reme.faces.mcp.conversation import Job, Tools

__all__ = ["Worker"]


class Worker:
    """Carries out jobs one by one.

    Args:
        make_tools: Makes what stands behind the calls; called once, at once, in the worker's thread.
    """

    def __init__(self, make_tools: Callable[[], Tools]) -> None:
        self._make_tools = make_tools
        self._made = threading.Event()
        self._tools: Tools | None = None
        self._failure: BaseException | None = None
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="reme-vault", daemon=True)
        self._thread.start()

    def tools(self) -> Tools:
        """What stands behind the calls, as soon as it has been made."""
        self._made.wait()
        if self._tools is None:
            raise RuntimeError("the tools could not be made") from self._failure
        return self._tools

    def start(self, job: Job) -> None:
        """Have a job carried out after those before it."""
        self._jobs.put(job)

    def finish(self) -> None:
        """Carry out what was asked for already, then close everything."""
        self._jobs.put(None)
        self._thread.join()

    def _work(self) -> None:
        try:
            self._tools = self._make_tools()
        except BaseException as error:
            self._failure = error
            raise
        finally:
            self._made.set()
        while (job := self._jobs.get()) is not None:
            job.answer(self._tools.carry_out(job.call) if job.is_wanted() else {})
        self._tools.close()
