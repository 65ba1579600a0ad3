"""What the crash tests kill: a conversation that is remembered, then a dream, in a process of their own.

``python -m tests.actions.crashing ROOT`` does both and prints a line when each is done.
"""

import asyncio
import sys
from datetime import UTC, datetime
from pathlib import Path

from reme.actions import auto_dream, auto_memory
from reme.clock import Clock, zone_named
from reme.index import open_index
from reme.reason import OfflineReasoner
from reme.search import SearchSettings
from reme.state import State
from reme.tools import Caller, Workspace
from reme.vault import Layout, Vault

TALK = [
    {"role": "user", "content": text, "timestamp": f"2026-05-15T09:0{n}:00+02:00"}
    for n, text in enumerate(
        [
            "We decided to rotate the JWT signing keys every 90 days.",
            "The JWT rotation job runs on the staging cluster in Frankfurt.",
            "I prefer short token lifetimes of 15 minutes.",
            "我住在杭州，每周三下午三点开例会。",
        ]
    )
]


def act(root: Path) -> None:
    """Remember, then dream until nothing is left."""
    clock = Clock(zone_named("Europe/Berlin"), lambda: datetime(2026, 5, 15, 10, tzinfo=UTC))
    vault = Vault(root, layout=Layout(), clock=clock)
    vault.state_dir.mkdir(exist_ok=True)
    index = open_index(root.parent / f"{root.name}.index.db", vault.layout)
    state = State(root.parent / f"{root.name}.state.db")
    reasoner = OfflineReasoner()

    def workspace() -> Workspace:
        return Workspace(vault, index, state, clock, SearchSettings(), Caller("agent", "test", vault.new_id()))

    asyncio.run(auto_memory(workspace(), reasoner, TALK, "s1"))
    sys.stdout.write("remembered\n")
    sys.stdout.flush()
    asyncio.run(auto_dream(workspace(), reasoner, max_units=20))
    sys.stdout.write("dreamt\n")
    for opened in (state, index, vault):
        opened.close()


if __name__ == "__main__":
    act(Path(sys.argv[1]))
