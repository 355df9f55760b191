"""The group `kserdes schema`: the table of its commands.

Must not import any of them: they are loaded when they are called.
"""

from __future__ import annotations

import click

from kserdes.cli.shell.commands import LazyGroup

COMMANDS = {
    "check": (
        "kserdes.cli.schema.check.command:check",
        "Check schema files for compatibility with their earlier versions.",
    ),
    "diff": (
        "kserdes.cli.schema.diff.command:diff",
        "Show two schemas side by side, and which can read the other's data.",
    ),
    "lint": ("kserdes.cli.schema.lint.command:lint", "Check that schema files parse and keep to rules of style."),
    "register": ("kserdes.cli.schema.manage.command:register", "Register schema files, with their references."),
    "get": ("kserdes.cli.schema.manage.command:get", "Print a registered schema."),
    "list": ("kserdes.cli.schema.manage.command:list_subjects", "List subjects and versions."),
    "delete": ("kserdes.cli.schema.manage.command:delete", "Delete a subject or a version."),
    "export": ("kserdes.cli.schema.transfer.command:export", "Save a whole registry in a folder."),
    "import": ("kserdes.cli.schema.transfer.command:import_", "Load a saved registry into another, ids and all."),
    "plan": ("kserdes.cli.schema.plan:plan", "Show how Avro payloads of one schema become columns of another."),
}


@click.group(cls=LazyGroup, table=COMMANDS)
def schema() -> None:
    """Schemas: check, compare and lint them, and look after a registry."""
