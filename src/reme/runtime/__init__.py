"""The runtime: the vault looks after itself while this process lives.

Owns what keeps the index in step with the files, and which process does so. Must not know tools, operations or faces,
and never writes the vault.
"""

from reme.runtime.background import Work, each, embedding, reading
from reme.runtime.lease import Holder, Lease, LeaseLost, holder
from reme.runtime.process import run
from reme.runtime.projector import Projector

__all__ = [
    "Holder",
    "Lease",
    "LeaseLost",
    "Projector",
    "Work",
    "each",
    "embedding",
    "holder",
    "reading",
    "run",
]
