"""Groups that load their commands late, common options, consoles, and errors with exit status 2.

Must not know what any command does. Errors of input, configuration and registries become one sentence on stderr; only
mistakes of this program show a traceback.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kserdes.cli.shell.settings import Settings, load
from kserdes.cli.shell.unusable import Unusable
from registry import IncompatibleSchemaError, SchemaRegistryError

if TYPE_CHECKING:
    from rich.console import Console

    from registry import SchemaRegistryClient

UNUSABLE = 2
LOGIN = "; is SCHEMA_REGISTRY_BASIC_AUTH_USER_INFO=user:password right (or SCHEMA_REGISTRY_BEARER_AUTH_TOKEN)?"
PATH = click.Path(readable=False)
"""A path that shells complete; whether it is there is the command's to say."""

T = TypeVar("T")
Decorated = TypeVar("Decorated", bound=Callable[..., Any])


class Failure(click.ClickException):
    """A run that can't go on: a sentence on stderr, exit status 2."""

    exit_code = UNUSABLE


class Refusal(click.ClickException):
    """A registry's verdict against a schema: a sentence on stderr, exit status 1."""

    exit_code = 1


class ExampleCommand(click.Command):
    """A command whose help ends with examples as they are written, and whose foreseen errors are sentences."""

    def __init__(self, *arguments: Any, examples: str = "", **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.examples = examples

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the examples."""
        if self.examples:
            with formatter.section("Examples"):
                for line in self.examples.strip().splitlines():
                    formatter.write(f"{'':>{formatter.current_indent}}{line}\n")

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command."""
        try:
            return super().invoke(ctx)
        except Unusable as error:
            raise Failure(error.message) from error
        except IncompatibleSchemaError as error:
            reasons = "".join(f"\n  {reason}" for reason in error.differences)
            text = error.error_message.partition(", details: ")[0] if reasons else str(error)
            raise Refusal(f"{text}{reasons}") from error
        except SchemaRegistryError as error:
            raise Failure(str(error) + (LOGIN if error.http_status_code == 401 else "")) from error


class UpperChoice(click.Choice[str]):
    """A choice of names in capitals that may be written in any case."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name."""
        return super().convert(value.upper() if isinstance(value, str) else value, param, ctx)


class LazyGroup(click.Group):
    """A group that imports a command's module when the command is called.

    Args:
        table: command → (`module:attribute`, one line of help).
    """

    def __init__(self, *arguments: Any, table: Mapping[str, tuple[str, str]] | None = None, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.table = table or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in the order of the table."""
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name."""
        entry = self.table.get(cmd_name)
        if entry is None:
            return None
        module, _, attribute = entry[0].partition(":")
        found = getattr(importlib.import_module(module), attribute)
        assert isinstance(found, click.Command)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the list of commands without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self.table.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Completes names of commands, without loading them, and options."""
        from click.shell_completion import CompletionItem

        found = [
            CompletionItem(name, help=text) for name, (_, text) in self.table.items() if name.startswith(incomplete)
        ]
        return found + click.Command.shell_complete(self, ctx, incomplete)


def config_option(function: Decorated) -> Decorated:
    """`--config`."""
    return click.option(
        "--config",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Configuration file; by default kserdes.toml or [tool.kserdes] in pyproject.toml, here or above.",
    )(function)


def registry_options(function: Decorated) -> Decorated:
    """`--registry` and `-X`."""
    return click.option("--registry", metavar="URL", help="The registry; by default SCHEMA_REGISTRY_URL.")(
        click.option(
            "-X",
            "client_properties",
            multiple=True,
            metavar="KEY=VALUE",
            help="Property of the registry client, e.g. ssl.ca.location=ca.pem. Each can also be an environment "
            "variable: SCHEMA_REGISTRY_SSL_CA_LOCATION. Keep passwords there: "
            "SCHEMA_REGISTRY_BASIC_AUTH_USER_INFO=user:password.",
        )(function)
    )


def named(_: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """A name of the command line, for `callback`: given or not, but not empty (a variable of a script, say)."""
    if value == "":
        raise click.BadParameter("it is empty", param=parameter)
    return value


def settings_of(config: Path | None) -> Settings:
    """The configuration."""
    return load(config)


def client(settings: Settings, url: str | None, properties: tuple[str, ...]) -> SchemaRegistryClient:
    """A registry client."""
    from kserdes.cli.shell.connection import connect

    return connect(settings, url, properties)


def console(stderr: bool = False) -> Console:
    """A console on stdout or stderr; plain where that is no terminal."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, emoji=False, markup=False)


def tracked(items: Iterable[T], total: int, what: str, least: int = 20) -> Iterable[T]:
    """The items, with a progress bar on stderr if that is a terminal and there are many."""
    if total < least or not sys.stderr.isatty():
        return items
    from rich.progress import track

    return track(items, what, total=total, console=console(stderr=True), transient=True)
