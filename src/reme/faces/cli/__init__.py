"""The command line: every operation of the catalogue as a command, and the few commands that belong to a shell.

Owns arguments, output and exit codes. Knows no operation by name.
"""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command that the process was started with, and end the process."""
    if sys.argv[1:] == ["--version"]:
        from reme import __version__

        print(f"reme {__version__}")
        return
    from reme.faces.cli.entry import run

    sys.exit(run(sys.argv[1:]))
