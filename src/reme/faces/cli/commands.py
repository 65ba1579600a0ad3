"""The command line's tree: the commands that belong to a shell, then those of the catalogue."""

import sys
from pathlib import Path
from typing import Final

import click

from reme import __version__
from reme.faces.cli.invocation import Invocation, common_options

__all__ = ["cli"]

_GROUPS: Final = {
    "ask": "Ask",
    "files": "Files",
    "properties": "Properties",
    "daily": "Daily notes",
    "learn": "Learn",
    "review": "Review",
    "health": "Health",
    "index": "Index",
}


class _Commands(click.Group):
    """A group that looks an operation up in the catalogue when no command of its own has the name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        from reme.faces.cli.operations import catalog

        return [*super().list_commands(ctx), *(operation.name for operation in catalog())]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if (own := super().get_command(ctx, cmd_name)) is not None:
            return own
        from reme.faces.cli.operations import catalog, command_for

        return command_for(catalog()[cmd_name]) if cmd_name in catalog() else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if self.get_command(ctx, args[0]) is None:
            from reme.catalog import nearest
            from reme.errors import InvalidInput

            raise InvalidInput(f"there is no command {args[0]!r}", hint=nearest(args[0], self.list_commands(ctx)))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from reme.faces.cli.operations import catalog

        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, command.get_short_help_str(120)) for name, command in sorted(self.commands.items())]
            )
        for group, title in _GROUPS.items():
            rows = [(operation.name, operation.summary) for operation in catalog() if operation.group == group]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def _invocation(ctx: click.Context) -> Invocation:
    return ctx.ensure_object(Invocation)


def _show_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        click.echo(f"reme {__version__}")
        ctx.exit()


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    params=[
        *common_options(),
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_show_version,
            help="Show the version.",
        ),
    ],
    epilog="Values that start with a dash stand behind --, as in: reme search -- -draft",
)
@click.pass_context
def cli(ctx: click.Context) -> None:
    """A memory in Markdown files, for people and their agents."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@cli.command(params=common_options())
@click.argument("folder", required=False)
@click.pass_obj
def init(invocation: Invocation, folder: str | None) -> None:
    """Make a folder a vault: the present one, or FOLDER. What is in it stays as it is."""
    from reme.config import create_vault, enclosing_vault
    from reme.vault import SETTINGS_FILE, Layout

    root = Path(folder or invocation.vault or ".").expanduser()
    made = create_vault(root)
    for layer, name in Layout().spelled_as_in(root).folders().items():
        if SETTINGS_FILE in made and (root / name).is_dir():
            invocation.output.notice(f"its folder {name} is the {layer} layer now; reme.yaml may name another")
    if made and (around := enclosing_vault(root.resolve().parent)):
        invocation.output.notice(f"it lies in the vault {around}, which does not see what is in it any more")
    text = f"{root.resolve()} is a vault" + (f"; made {', '.join(made)}" if made else " already; nothing was changed")
    invocation.output.either(text, {"vault": str(root.resolve()), "created": list(made)})


@cli.command(params=common_options())
@click.pass_obj
def version(invocation: Invocation) -> None:
    """Show the version of ReMe and of what it runs on."""
    python = ".".join(str(part) for part in sys.version_info[:3])
    document = {"version": __version__, "python": python, "platform": sys.platform}
    invocation.output.either(f"reme {__version__} (Python {python}, {sys.platform})", document)


@cli.command(name="help", params=common_options())
@click.argument("command", required=False)
@click.pass_context
def show_help(ctx: click.Context, command: str | None) -> None:
    """Show what there is, or what COMMAND takes."""
    parent = ctx.find_root()
    text = parent.get_help()
    if command is not None:
        _, found, _ = cli.resolve_command(parent, [command])
        assert found is not None
        with click.Context(found, info_name=command, parent=parent) as context:
            text = found.get_help(context)
    _invocation(ctx).output.either(text, {"help": text})


@cli.command(params=common_options())
@click.argument("folder", required=False)
@click.pass_obj
def demo(invocation: Invocation, folder: str | None) -> None:
    """Make a vault from the example conversations, in FOLDER or a new one, and show what came of it."""
    if invocation.output.as_json:
        raise click.UsageError("the demo is for people to read and has no JSON form")
    from reme.faces.cli.demo import run

    run(folder)


@cli.command(params=common_options())
@click.pass_obj
def mcp(invocation: Invocation) -> None:
    """Serve the vault to an agent's host, by MCP over standard input and output.

    The host has the rights of an agent, or of a curator with --role curator.
    """
    if invocation.role == "person":
        raise click.UsageError("an agent's host cannot act as a person; --role is agent or curator")
    root = invocation.root()
    from reme.faces.mcp import serve_vault

    serve_vault(root, invocation.role or "agent")


@cli.command(params=common_options())
@click.pass_obj
def runtime(invocation: Invocation) -> None:
    """Look after the vault until stopped: the index follows the files as they change."""
    from reme.app import run_runtime

    run_runtime(invocation.root(), tell=invocation.output.notice)


@cli.command(params=common_options())
@click.option("--host", help="The name or address to listen at. [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(0, 65535), help="The port; 0 takes any that is free. [default: 8765]")
@click.option(
    "--token-file",
    type=click.Path(dir_okay=False),
    help="Ask for a token of this file, which is made if it is not there.",
)
@click.pass_obj
def serve(invocation: Invocation, host: str | None, port: int | None, token_file: str | None) -> None:
    """Serve the vault by HTTP until stopped.

    Without tokens, only this machine is served, and calls have the rights of an agent, or of a curator with --role
    curator.
    """
    if invocation.role == "person":
        raise click.UsageError("without a token nobody acts as a person; --role is agent or curator")
    root = invocation.root()
    from dataclasses import replace

    from reme.config import load_settings
    from reme.faces.http import serve_vault

    given = {"host": host, "port": port, "token_file": token_file}
    chosen = {name: value for name, value in given.items() if value is not None}
    settings = replace(load_settings(root).http, **chosen)
    serve_vault(root, settings, invocation.role or "agent", tell=invocation.output.notice)
