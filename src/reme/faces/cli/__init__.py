"""The command line: every operation of the catalogue as a command, and the few commands that belong to a shell.

Owns arguments, output and exit codes. Knows no operation by name.
"""

import sys

__all__ = ["main"]

_SELDOM = 50_000
"""After how many new objects rubbish is looked for: what a short command makes is not worth the search."""


def main() -> None:
    """Run the command that the process was started with, and end the process."""
    if sys.argv[1:] == ["--version"]:
        from reme import __version__

        print(f"reme {__version__}")
        return
    import gc

    gc.set_threshold(_SELDOM)
    from reme.faces.cli.entry import run

    code = run(sys.argv[1:])
    gc.freeze()  # what is left goes with the process and need not be taken apart
    sys.exit(code)
