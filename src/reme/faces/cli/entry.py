"""The entry point: runs one command and turns whatever happens into an exit code."""

import io
import os
import sys
from collections.abc import Sequence

import click

from reme.errors import ReMeError
from reme.faces.cli.commands import cli
from reme.faces.cli.invocation import Invocation
from reme.faces.cli.output import EXIT_INTERRUPTED, EXIT_PIPE, Output, usage_error

__all__ = ["run"]


def run(arguments: Sequence[str]) -> int:
    """Run one command line (without the program's name) and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
    stdout = sys.stdout
    invocation = Invocation(Output(as_json="--json" in _options(arguments)))
    output = invocation.output
    try:
        try:
            left: object = cli.main(  # the code that a command asked to leave with, if it did
                list(arguments), prog_name="reme", standalone_mode=False, obj=invocation, windows_expand_args=False
            )
            code = left if isinstance(left, int) else 0
        except click.exceptions.Exit as error:
            code = error.exit_code
        except click.ClickException as error:
            code = output.error(usage_error(error))
        except ReMeError as error:
            code = output.error(error)
        except (KeyboardInterrupt, click.Abort):
            code = EXIT_INTERRUPTED
        except SystemExit as end:  # click's own way out of a shell's completion, and of a closed pipe
            return int(end.code or 0) if sys.stdout is stdout else EXIT_PIPE
        except BrokenPipeError:
            raise
        except Exception as error:
            code = output.bug(error)
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_output()
        return EXIT_PIPE
    return code


def _options(arguments: Sequence[str]) -> Sequence[str]:
    """What stands before ``--``."""
    return arguments[: arguments.index("--")] if "--" in arguments else arguments


def _discard_output() -> None:
    """Nobody reads on: let the interpreter's own last flush go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
