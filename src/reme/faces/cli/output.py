"""What a command leaves behind: text or one JSON document on standard output, errors on standard error.

Owns the two shapes and the exit codes of what is no error of ReMe's own.
"""

import json
import sys
from dataclasses import dataclass
from typing import Any, Final

import click

from reme.errors import InvalidInput, ReMeError
from reme.faces.cli.bar import Bar

__all__ = ["EXIT_BUG", "EXIT_INTERRUPTED", "EXIT_PIPE", "Output", "usage_error"]

EXIT_BUG: Final = 70
EXIT_INTERRUPTED: Final = 130
EXIT_PIPE: Final = 141


@dataclass(slots=True)
class Output:
    """How one invocation speaks.

    Attributes:
        as_json: One JSON document on standard output, whatever happens.
        quiet: No text on success, no notices.
        verbose: With the trace of what nobody foresaw.
    """

    as_json: bool = False
    quiet: bool = False
    verbose: bool = False

    def text(self, text: str) -> None:
        """Show what came of a command, in words."""
        if not self.quiet:
            click.echo(text, nl=not text.endswith("\n"))

    def document(self, document: Any) -> None:
        """Show what came of a command, as data."""
        click.echo(json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False))

    def either(self, text: str, document: Any) -> None:
        """Show what came of a command in the way that was asked for."""
        if self.as_json:
            self.document(document)
        else:
            self.text(text)

    def notice(self, text: str) -> None:
        """Tell a person something beside the result."""
        if not self.quiet:
            click.echo(f"{click.style('note:', fg='yellow')} {text}", err=True)

    def progress(self) -> Bar:
        """Shows a person at a terminal how far long work has come, as long as it lasts."""
        return Bar(shown=sys.stderr.isatty() and not self.quiet)

    def error(self, error: ReMeError) -> int:
        """Show an error; returns the exit code."""
        if self.as_json:
            self.document({"error": error.as_dict()})
        else:
            click.echo(f"{click.style('error:', fg='red')} {error.message}", err=True)
            if error.hint:
                click.echo(f"{click.style('hint:', fg='cyan')} {error.hint}", err=True)
        return error.exit_code

    def bug(self, error: Exception) -> int:
        """Show what nobody foresaw, without a trace unless asked; returns the exit code."""
        if self.verbose:
            import traceback

            traceback.print_exception(error, file=sys.stderr)
        return self.error(_Bug(f"something went wrong inside ReMe ({type(error).__name__}: {error})", hint=_BUG_HINT))


_BUG_HINT: Final = (
    "The vault is as it was or as the last completed change left it. Run it again with -v to see the trace."
)


class _Bug(ReMeError):
    kind = "bug"
    exit_code = EXIT_BUG


def usage_error(error: click.ClickException) -> ReMeError:
    """click's complaint about the arguments as an error of ours."""
    context = getattr(error, "ctx", None)
    hint = f"Try: {context.command_path} --help" if isinstance(context, click.Context) else "Try: reme --help"
    if isinstance(error, click.NoSuchOption):
        hint += "; a value that begins with a dash stands behind --"
    return InvalidInput(error.format_message().rstrip("."), hint=hint)
