"""The group `kserdes schema`, with the commands that need serializers beside the registry's own.

Must not import any of them: they are loaded when they are called.
"""

from __future__ import annotations

import click

from registry.cli.group import COMMANDS as OF_REGISTRY
from registry.cli.shell.commands import LazyGroup

COMMANDS = {
    **OF_REGISTRY,
    "plan": ("serdes.cli.plan:plan", "Show how Avro payloads of one schema become columns of another."),
}


@click.group(cls=LazyGroup, table=COMMANDS)
def schema() -> None:
    """Schemas: check, compare and lint them, and look after a registry."""
