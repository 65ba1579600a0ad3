"""Operations as commands: parameters become arguments and options, results become text or JSON.

Owns the translation only: what is acceptable is decided by the catalogue, as on every other face.
"""

import os
import re
import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any, Final, cast

import click

from reme.catalog import Catalog, Operation, Parameter, add_tools, as_json
from reme.errors import ConfigError, InvalidInput, NotFound, ReMeError, Unavailable
from reme.faces.cli.invocation import Invocation, common_options
from reme.tools import LocalFile

__all__ = ["catalog", "command_for"]

EXIT_FINDINGS: Final = 1

_PATHS: Final = frozenset({"path", "paths", "source", "target", "folder", "folders", "seeds"})
"""Names of parameters that a shell completes from the vault's files."""
_FROM_STDIN: Final = frozenset({"content"})
"""Names of parameters that are read from standard input where they are given as ``-``."""
_FROM_FILE: Final = frozenset({"messages"})
"""Names of parameters for which a file is given instead, or ``-`` for standard input."""
_TO_GIVE: Final = "Give a file's name, or - for standard input."


@cache
def catalog() -> Catalog:
    """The operations that there are commands for."""
    return Catalog(add_tools, _add_actions)


def _add_actions(catalog: Catalog) -> None:
    from reme.actions import register

    register(catalog)


def command_for(operation: Operation) -> click.Command:
    """The command that stands for an operation."""
    given = {parameter.name: parameter for parameter in operation.parameters}
    positional = [name for name, parameter in given.items() if parameter.required or name in operation.positional]
    arguments = [_argument(given[name], is_last=name == positional[-1]) for name in positional]
    options = [_option(parameter) for name, parameter in given.items() if name not in positional]
    described = [(name.upper(), _help(given[name])) for name in positional]
    return _OperationCommand(
        operation.name,
        params=[*arguments, *options, *common_options()],
        callback=_runner(operation),
        help=operation.summary,
        described=described,
    )


class _OperationCommand(click.Command):
    """A command whose help describes its positional arguments too."""

    def __init__(self, *args: Any, described: list[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._described = described

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self._described:
            with formatter.section("Arguments"):
                formatter.write_dl(self._described)
        super().format_options(ctx, formatter)


def _argument(parameter: Parameter, *, is_last: bool) -> click.Parameter:
    return click.Argument(
        [parameter.name],
        required=parameter.required,
        nargs=-1 if parameter.is_list and is_last else 1,
        type=click.Path(allow_dash=True) if parameter.name in _FROM_FILE or parameter.takes_bytes else str,
        shell_complete=_completer(parameter),
    )


def _option(parameter: Parameter) -> click.Parameter:
    spelling = "--" + parameter.name.replace("_", "-")
    if parameter.is_flag:
        spelling = f"{spelling}/--no-{spelling[2:]}" if parameter.default is True else spelling
        return click.Option([spelling, parameter.name], is_flag=True, default=None, help=_help(parameter))
    return click.Option(
        [spelling, parameter.name],
        multiple=parameter.is_list,
        metavar=_metavar(parameter),
        help=_help(parameter),
        shell_complete=_completer(parameter),
    )


def _help(parameter: Parameter) -> str:
    text = parameter.description.rstrip(".")
    if parameter.takes_bytes:
        text = "The file to read, or - for standard input"
    if parameter.takes_any_value:
        text = "The new value, as in YAML: 3, true, null, [a, b], {a: b}; what is in quotes is a text, as all else is"
    if parameter.name in _FROM_FILE:
        text += "; give the file's name, or - for standard input"
    if parameter.name in _FROM_STDIN:
        text += "; - reads it from standard input"
    if parameter.is_list:
        text += "; may be given several times"
    if parameter.required or parameter.default in (None, False, True, "", ()) or parameter.is_list:
        return f"{text}."
    return f"{text}. [default: {parameter.default}]"


def _metavar(parameter: Parameter) -> str:
    if parameter.choices:
        return f"[{'|'.join(parameter.choices)}]"
    return "N" if int in parameter.types else "TEXT"


def _completer(parameter: Parameter) -> Callable[..., list[str]] | None:
    if parameter.choices:

        def complete(_ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
            return [choice for choice in parameter.choices if choice.startswith(incomplete)]

        return complete
    return _complete_path if parameter.name in _PATHS else None


def _complete_path(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Files and folders of the vault that begin like this, one level at a time."""
    try:
        root = ctx.ensure_object(Invocation).root()
    except ConfigError:
        return []
    folder, _, beginning = incomplete.rpartition("/")
    if folder.startswith("/") or ".." in folder.split("/"):
        return []
    found: list[str] = []
    try:
        with os.scandir(root / folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if entry.name.startswith(beginning) and not entry.name.startswith("."):
                    path = f"{folder}/{entry.name}" if folder else entry.name
                    found.append(path + "/" if entry.is_dir() else path)
    except OSError:
        return []
    return found


def _runner(operation: Operation) -> Callable[..., None]:
    @click.pass_obj
    def run(invocation: Invocation, /, **values: Any) -> None:
        from reme.app import open_vault

        with ExitStack() as opened:
            arguments = _given(operation, values, opened)
            app = opened.enter_context(open_vault(invocation.root()))
            try:
                with invocation.output.progress() as progress:
                    role = invocation.acting_role()
                    result = app.call(operation.name, arguments, role=role, actor="cli", progress=progress)
            except ReMeError as error:
                _spell_as_typed(error, click.get_current_context().command)
                raise
            finally:
                for notice in app.take_notices():
                    invocation.output.notice(notice)
        if invocation.output.as_json:
            invocation.output.document(as_json(result))
        elif operation.content and not sys.stdout.isatty() and (content := operation.content(result)):
            from base64 import b64decode

            click.echo(b64decode(content.data), nl=False)
        else:
            invocation.output.text(operation.text(result))
        if operation.findings is not None and operation.findings(result):
            click.get_current_context().exit(EXIT_FINDINGS)

    return run


def _spell_as_typed(error: ReMeError, command: click.Command) -> None:
    """Have an error spell parameters and operations as they are typed on a command line."""
    parameters = {parameter.name: parameter for parameter in command.params}
    complaints = "|".join(map(re.escape, cast("list[str]", error.details.get("parameters", [])))) or "(?!)"
    marks = re.compile(rf"`(\w+)(=false| \w+=[^`]+)?`|(?<![\w-])({complaints})(?=[:\[]| is missing)")

    def typed(mark: re.Match[str]) -> str:
        name = mark[1] or mark[3]
        match parameters.get(name):
            case click.Option() as option:
                return option.secondary_opts[0] if mark[2] else option.opts[0]
            case click.Argument():
                return name.upper()
            case _ if operation := catalog().get(name):
                return _call_as_typed(operation, mark[2])
            case _:
                return mark[0]

    error.message, error.hint = marks.sub(typed, error.message), marks.sub(typed, error.hint)


def _call_as_typed(operation: Operation, given: str | None) -> str:
    """A call of an operation, with one argument or none, as it is typed."""
    call = f"reme {operation.name}"
    if not given:
        return call
    import shlex

    name, _, value = given.strip().partition("=")
    required = {parameter.name for parameter in operation.parameters if parameter.required}
    option = "" if name in required or name in operation.positional else f"--{name.replace('_', '-')} "
    return f"{call} {option}{shlex.quote(value)}"


def _given(operation: Operation, values: dict[str, Any], opened: ExitStack) -> dict[str, object]:
    """What was really given, with what is to be read from standard input or a file read.

    Where bytes are taken, only the file that has them is named, which for standard input is a temporary one; ``name``
    is then the file's, unless given.
    """
    given: dict[str, object] = {}
    for parameter in operation.parameters:
        value: Any = values.get(parameter.name)
        if value is None or value == ():
            continue
        if parameter.name in _FROM_FILE:
            if value.lstrip()[:1] in ("[", "{"):
                raise InvalidInput(f"{parameter.name} takes a file's name", hint="Pipe the text in and give -")
            value = _decoded(_read_file(value), value)
        elif parameter.takes_bytes:
            if value != "-" and not values.get("name"):
                values["name"] = Path(value).name
            value = _spooled(opened) if value == "-" else LocalFile(Path(value))
        elif parameter.is_local:
            value = LocalFile(Path(value))
        elif parameter.name in _FROM_STDIN and value == "-":
            value = _decoded(_read_file(value), "standard input")
        elif parameter.takes_any_value:
            from reme.tools import value_of_word

            value = value_of_word(value)
        elif isinstance(value, tuple):
            value = list(cast("tuple[str, ...]", value))
        given[parameter.name] = value
    return given


def _read_file(name: str) -> bytes:
    if name == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(name).read_bytes()
    except FileNotFoundError:
        raise NotFound(f"there is no file {name}", hint=_TO_GIVE, details={"path": name}) from None
    except OSError as error:
        if Path(name).is_dir():
            raise InvalidInput(f"{name} is a folder", hint=_TO_GIVE, details={"path": name}) from None
        raise Unavailable(f"{name} cannot be read: {error.strerror}", details={"path": name}) from error


def _spooled(opened: ExitStack) -> LocalFile:
    import shutil
    import tempfile

    place = Path(opened.enter_context(tempfile.TemporaryDirectory())) / "stdin"
    with place.open("wb") as stream:
        shutil.copyfileobj(sys.stdin.buffer, stream, 1 << 20)
    return LocalFile(place, "standard input")


def _decoded(data: bytes, name: str) -> str:
    name = "standard input" if name == "-" else name
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{name} is not UTF-8 text: byte {error.start} is not", details={"path": name}) from None
