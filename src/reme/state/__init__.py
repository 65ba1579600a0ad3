"""State: the small, durable facts of this vault on this machine that are not knowledge. So far, the log of runs.

Owns ``state.db``. Knows nothing of files, notes or operations: a run is an id and some words about it. Deleting the
file loses the log and nothing else.
"""

from reme.state.log import State
from reme.state.runs import Run

__all__ = ["Run", "State"]
