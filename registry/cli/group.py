"""The group `kserdes schema`: the table of its commands.

Must not import any of them: they are loaded when they are called.
"""

from __future__ import annotations

import click

from registry.cli.shell.commands import LazyGroup

COMMANDS = {
    "check": ("registry.cli.check.command:check", "Check schema files for compatibility with their earlier versions."),
    "diff": ("registry.cli.diff.command:diff", "Show two schemas side by side, and which can read the other's data."),
    "lint": ("registry.cli.lint.command:lint", "Check that schema files parse and keep to rules of style."),
    "register": ("registry.cli.manage.command:register", "Register schema files, with their references."),
    "get": ("registry.cli.manage.command:get", "Print a registered schema."),
    "list": ("registry.cli.manage.command:list_subjects", "List subjects and versions."),
    "delete": ("registry.cli.manage.command:delete", "Delete a subject or a version."),
    "export": ("registry.cli.transfer.command:export", "Save a whole registry in a folder."),
    "import": ("registry.cli.transfer.command:import_", "Load a saved registry into another, ids and all."),
}


@click.group(cls=LazyGroup, table=COMMANDS)
def schema() -> None:
    """Schemas: check, compare and lint them, and look after a registry."""
