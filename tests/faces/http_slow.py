"""``reme serve``, soon tired of clients that send nothing, with an operation that takes as long as it is told.

Run with the vault's folder as argument.
"""

import sys
import time
from pathlib import Path
from typing import Annotated, Any

import reme.faces.http.server
from reme.app import open_vault
from reme.catalog import Operation
from reme.config import HttpSettings
from reme.faces.http.server import serve
from tests.catalog.toys import Echo, echo_text


def doze(workspace: Any, seconds: Annotated[float, "How long"]) -> Echo:
    """Wait for a while."""
    for step in range(10):
        workspace.progress("dozing", step, 10)
        time.sleep(seconds / 10)
    return Echo("睡醒了", (), 1, {})


DOZE = Operation("doze", "ask", doze, "read", echo_text, cost="slow")


def main(root: Path) -> None:
    reme.faces.http.server._HEAD_S = 1.0

    def tell(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    with open_vault(root) as app:
        app.catalog.add(DOZE)
        serve(app, HttpSettings(port=0), "agent", tell=tell)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
