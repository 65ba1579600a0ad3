"""An MCP server as ours, whose tools are not made before somebody says so. Run with a folder as argument."""

import sys
import time
from pathlib import Path

from reme.app import open_vault
from reme.faces.mcp.conversation import Tools
from reme.faces.mcp.session import tools_of
from reme.faces.mcp.stdio import serve

_LONGEST_S = 60


def main(root: Path) -> None:
    def make_tools() -> Tools:
        given_up = time.monotonic() + _LONGEST_S
        while not (root / "go").exists() and time.monotonic() < given_up:
            time.sleep(0.01)
        (root / "made").touch()
        return tools_of(lambda: open_vault(root), "agent")

    serve(make_tools)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
