"""What every command is given: which vault, as whom, and how to speak.

Owns the options that all commands share, which may stand before the command or behind it.
"""

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

import click

from reme.faces.cli.output import Output

__all__ = ["ROLES", "CliRole", "Invocation", "common_options"]

CliRole = Literal["agent", "curator", "person"]
ROLES: tuple[CliRole, ...] = ("agent", "curator", "person")


@dataclass(slots=True)
class Invocation:
    """One call of the program.

    Attributes:
        output: How it speaks.
        vault: The folder named by ``--vault``, or None.
        role: The role named by ``--role``, or None.
    """

    output: Output = field(default_factory=Output)
    vault: str | None = None
    role: CliRole | None = None

    def root(self) -> Path:
        """The vault that is meant.

        Raises:
            ConfigError: If it is not there.
        """
        from reme.config import find_root

        return find_root(self.vault, Path.cwd())

    def acting_role(self) -> CliRole:
        """The role to act in: a person's at a terminal, else an agent's."""
        if self.role is not None:
            return self.role
        return "person" if sys.stdin.isatty() and sys.stdout.isatty() else "agent"


def common_options() -> list[click.Parameter]:
    """The options of every command, new ones each time, since click keeps state in them."""

    def remember(name: str, *, of_output: bool) -> Any:
        def callback(ctx: click.Context, _: click.Parameter, value: Any) -> None:
            if value:
                invocation = ctx.ensure_object(Invocation)
                setattr(invocation.output if of_output else invocation, name, value)

        return {"callback": callback, "expose_value": False}

    role = click.Choice(cast("tuple[str, ...]", ROLES))
    folder = click.Path(file_okay=False)
    return [
        click.Option(["--vault"], type=folder, help="The vault's folder.", **remember("vault", of_output=False)),
        click.Option(["--role"], type=role, help="With whose rights.", **remember("role", of_output=False)),
        click.Option(
            ["--json", "as_json"],
            is_flag=True,
            help="Answer with one JSON document.",
            **remember("as_json", of_output=True),
        ),
        click.Option(
            ["-q", "--quiet"], is_flag=True, help="Say only what is wrong.", **remember("quiet", of_output=True)
        ),
        click.Option(["-v", "--verbose"], is_flag=True, help="Say more.", **remember("verbose", of_output=True)),
    ]
