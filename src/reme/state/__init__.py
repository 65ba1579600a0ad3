"""State: the small, durable facts of this vault on this machine that are not knowledge: runs, calls of models, hits.

Owns ``state.db``. Knows nothing of files, notes or operations: a run is an id and some words about it, a call a number
of tokens on a day, a hit a path and a day, kept until it is merged elsewhere. Deleting the file loses the log, what was
spent and the last hits, and nothing else.
"""

from reme.state.calls import Call
from reme.state.log import State
from reme.state.runs import Run

__all__ = ["Call", "Run", "State"]
