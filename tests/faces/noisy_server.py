"""An MCP server as ours, with operations that make all the noise they can. Run with the vault's folder as argument."""

import atexit
import logging
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Annotated, Any

from reme.app import App, build_catalog, open_vault
from reme.catalog import Operation
from reme.config import Settings
from reme.faces.mcp.conversation import Tools
from reme.faces.mcp.session import tools_of
from reme.faces.mcp.stdio import serve
from tests.catalog.toys import Echo, echo_text


def make_noise(workspace: Any, how: Annotated[str, "In what way"] = "all") -> Echo:
    """Write to standard output in every way there is, then answer."""
    print("a print\nof two lines")
    sys.stdout.write("a write")
    sys.stdout.flush()
    os.write(1, b"raw bytes\n")
    subprocess.run([sys.executable, "-c", "print('a child')"], check=True)
    logging.getLogger("noisy").warning("a log record")
    warnings.warn("a warning", stacklevel=1)
    if how == "raise":
        raise RuntimeError("a bug with\nseveral lines")
    if how == "exit":
        raise SystemExit(3)
    return Echo("answered\u2028anyway", (), 1, {"how": how})


def doze(workspace: Any, seconds: Annotated[float, "How long"]) -> Echo:
    """Wait for a while."""
    time.sleep(seconds)
    return Echo("waited", (), 1, {})


NOISY = (
    Operation("make_noise", "ask", make_noise, "write", echo_text),
    Operation("doze", "ask", doze, "read", echo_text),
)


def main(root: str) -> None:
    atexit.register(print, "noise at the end")
    logging.basicConfig(level=logging.DEBUG)

    def make_tools() -> Tools:
        catalog = build_catalog(Settings())
        catalog.add(*NOISY)

        def open_app() -> App:
            app = open_vault(Path(root))
            app.catalog.add(*NOISY)
            return app

        return tools_of(open_app, "agent", catalog)

    serve(make_tools)
    print("noise after the end")


if __name__ == "__main__":
    main(sys.argv[1])
