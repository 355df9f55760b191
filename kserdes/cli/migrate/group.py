"""The group `kserdes migrate`: its command, loaded when it is called.

Must not import the command.
"""

from __future__ import annotations

import click

from kserdes.cli.shell.commands import LazyGroup

COMMANDS = {"check": ("kserdes.cli.migrate.command:check", "List what Python files use of other Kafka clients.")}


@click.group(cls=LazyGroup, table=COMMANDS)
def migrate() -> None:
    """Moving over from other Kafka clients."""
