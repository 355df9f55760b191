"""The group `kserdes schema`: the table of its commands.

Must not import any of them: they are loaded when they are called.
"""

from __future__ import annotations

import click

from registry.cli.shell import LazyGroup

__all__ = ["COMMANDS", "schema"]

COMMANDS = {
    "check": ("registry.cli.command_check:check", "Check schema files for compatibility with their earlier versions."),
    "diff": ("registry.cli.command_diff:diff", "Show two schemas side by side, and who can read whose data."),
    "lint": ("registry.cli.command_lint:lint", "Check that schema files parse and keep to rules of style."),
    "register": ("registry.cli.command_registry:register", "Register schema files, with what they refer to."),
    "get": ("registry.cli.command_registry:get", "Print a registered schema."),
    "list": ("registry.cli.command_registry:list_subjects", "List subjects and versions."),
    "delete": ("registry.cli.command_registry:delete", "Delete a subject or a version."),
    "export": ("registry.cli.command_transfer:export", "Save a whole registry in a folder."),
    "import": ("registry.cli.command_transfer:import_", "Load a saved registry into another, ids and all."),
}


@click.group(cls=LazyGroup, table=COMMANDS)
def schema() -> None:
    """Schemas: check, compare and lint them, and look after a registry."""
