"""The group `kserdes registry`: its command, loaded when it is called.

Must not import the command.
"""

from __future__ import annotations

import click

from kserdes.cli.shell.commands import LazyGroup

COMMANDS = {"serve": ("kserdes.cli.registry.command:serve", "Serve a schema registry until Ctrl-C.")}


@click.group(cls=LazyGroup, table=COMMANDS)
def registry() -> None:
    """A schema registry without a broker."""
