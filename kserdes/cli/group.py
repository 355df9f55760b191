"""The group `kserdes`: what it has to offer, loaded when it is called.

Must not import the commands. Needs the extra `cli`.
"""

from __future__ import annotations

import click

from kserdes.cli.shell.commands import LazyGroup

COMMANDS = {
    "schema": ("kserdes.cli.schema.group:schema", "Schemas: check, compare and lint them, look after a registry."),
    "registry": ("kserdes.cli.registry.group:registry", "Serve a schema registry without a broker."),
    "migrate": ("kserdes.cli.migrate.group:migrate", "Find a code base's uses of other Kafka clients."),
    "dev": ("kserdes.cli.dev.command:dev", "Run an embedded Kafka broker and schema registry."),
}


def _show_version(ctx: click.Context, option: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        from kafka_core import kernels as client_kernels
        from kserdes_base.version import VERSION
        from serdes import kernels

        click.echo(f"kserdes {VERSION}")
        click.echo(f"kernels: client {client_kernels.IMPL}, serializers {kernels.IMPL}")
        ctx.exit()


@click.group(cls=LazyGroup, table=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and which kernels run.",
)
def kserdes() -> None:
    """Kafka with a schema registry: tools for schemas, and embedded servers for development.

    Completion for your shell: eval "$(_KSERDES_COMPLETE=bash_source kserdes)" (or zsh_source, fish_source).
    """
