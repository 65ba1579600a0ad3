"""State: the small, durable facts of this vault on this machine that are not knowledge: the log of runs, and hits.

Owns ``state.db``. Knows nothing of files, notes or operations: a run is an id and some words about it, a hit a path
and a day, kept until it is merged elsewhere. Deleting the file loses the log and the last hits, and nothing else.
"""

from reme.state.log import State
from reme.state.runs import Run

__all__ = ["Run", "State"]
