"""`kserdes schema diff`: two schemas side by side, and the verdict in both directions.

Must not compare; it shows. Exit status 0 whatever the verdict, 2 if a schema can't be used.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kserdes.cli.shell.commands import (
    PATH,
    ExampleCommand,
    UpperChoice,
    client,
    config_option,
    console,
    registry_options,
    settings_of,
)
from kserdes.cli.shell.settings import POLICIES

if TYPE_CHECKING:
    from rich.console import Console

    from kserdes.cli.schema.check.causes import Group
    from kserdes.cli.schema.diff.comparing import Comparison, Row
    from registry import SchemaRegistryClient
    from registry.compat import Difference

CONTEXT = 3
MAX_USERS = 10  # named users
EXAMPLES = """
kserdes schema diff old/order.avsc new/order.avsc
# a file before and after, in git
kserdes schema diff main:schemas/order.avsc schemas/order.avsc
# two versions in a registry
kserdes schema diff orders-value:3 orders-value:latest --registry http://localhost:8081
# whether data that was written earlier can be read with a schema
kserdes schema diff archive/orders.avro schemas/order.avsc
"""


@click.command(cls=ExampleCommand, examples=EXAMPLES)
@click.argument("old", type=PATH)
@click.argument("new", type=PATH)
@click.option("--policy", type=UpperChoice(POLICIES), default="STRICT", help="For JSON Schema.")
@click.option("--all-lines", is_flag=True, help="Show equal parts too.")
@click.option(
    "--root", type=PATH, metavar="FOLDER", help="Where references of files are resolved; by default their folder."
)
@click.option(
    "--format",
    "fmt",
    type=click.Choice(("text", "json")),
    default="text",
    show_default=True,
    help="Form of the answer.",
)
@registry_options
@config_option
def diff(
    old: str,
    new: str,
    policy: str,
    all_lines: bool,
    root: str | None,
    fmt: str,
    registry: str | None,
    client_properties: tuple[str, ...],
    config: Path | None,
) -> None:
    """Show two schemas side by side, and which can read the other's data.

    OLD and NEW are schema files, Avro data files (the schema they were written with), files of a git revision
    (REVISION:PATH), or versions of a subject (SUBJECT:VERSION).
    """
    from kserdes.cli.schema.diff.comparing import compare
    from kserdes.cli.schema.diff.sides import side

    settings = settings_of(config)

    def connect() -> SchemaRegistryClient:
        return client(settings, registry, client_properties)

    found = compare(side(old, settings, connect, root), side(new, settings, connect, root), policy)
    if fmt == "json":
        click.echo(json.dumps(_json(found), indent=2, ensure_ascii=False))
    else:
        _show(found, console(), all_lines)


def _json(found: Comparison) -> dict[str, object]:
    def plain(item: Difference) -> dict[str, object]:
        return {"kind": item.kind, "pointer": item.path, "message": item.message}

    def differences(direction: str) -> list[dict[str, object]]:
        return [
            {
                **plain(group.difference),
                "cause": None if group.cause is None else group.cause.pointer,
                "users": [*({"name": name} for name in group.users), *(plain(item) for item in group.others)],
            }
            for group in found.causes.get(direction, ())
        ]

    return {
        "old": found.old,
        "new": found.new,
        "same": found.same,
        "level": found.level,
        "backward": {"compatible": not found.backward, "differences": differences("backward")},
        "forward": {"compatible": not found.forward, "differences": differences("forward")},
    }


def _show(found: Comparison, out: Console, all_lines: bool) -> None:
    from rich.table import Table
    from rich.text import Text

    if found.same:
        out.print(f"{found.old} and {found.new} say the same")
    else:
        table = Table(expand=True, show_edge=False, pad_edge=False)
        for title in (found.old, found.new):
            table.add_column("", justify="right", style="dim", no_wrap=True)
            table.add_column(title, ratio=1, overflow="fold")
        for row in _visible(found.rows, all_lines):
            if row is None:
                table.add_row("", Text("...", style="dim"), "", Text("...", style="dim"))
                continue
            cells: list[str | Text] = []
            for entry, style in ((row.left, "red"), (row.right, "green")):
                cells.append("" if entry is None else str(entry[0]))
                mark = " " if row.kind == " " else "-" if style == "red" else "+"
                cells.append(
                    "" if entry is None else Text(f"{mark} {entry[1]}", style="" if row.kind == " " else style)
                )
            table.add_row(*cells)
        out.print(table)
    _verdict(
        out, f"{found.new} reads data of {found.old} (BACKWARD)", found.causes.get("backward", ()), found.old, found.new
    )
    _verdict(
        out, f"{found.old} reads data of {found.new} (FORWARD)", found.causes.get("forward", ()), found.old, found.new
    )
    out.print(f"the change fits {found.level}", style="bold")


def _visible(rows: Sequence[Row], all_lines: bool) -> Sequence[Row | None]:
    """The rows to show: what changed with some lines around; None where lines are left out."""
    if all_lines:
        return rows
    near = {at + step for at, row in enumerate(rows) if row.kind != " " for step in range(-CONTEXT, CONTEXT + 1)}
    found: list[Row | None] = []
    for at, row in enumerate(rows):
        if at in near:
            found.append(row)
        elif not found or found[-1] is not None:
            found.append(None)
    return found


def _verdict(out: Console, title: str, groups: Sequence[Group], old: str, new: str) -> None:
    from rich.text import Text

    line = Text("no   " if groups else "yes  ", style="bold red" if groups else "bold green")
    out.print(line.append(title, style="bold"), soft_wrap=True)
    for group in groups:
        item, users = group.difference, group.users
        text = item.message.replace("registered schema 1", old).replace("the new schema", new)
        out.print(Text(f"     {item.kind}: {text}"), soft_wrap=True)
        if group.cause is not None and (users or group.others):
            names = users or [other.path for other in group.others]
            more = f" and {len(names) - MAX_USERS} more" if len(names) > MAX_USERS else ""
            told = f"the change is at {group.cause.pointer}, used by {', '.join(names[:MAX_USERS])}{more}"
            out.print(Text(f"       {told}"), soft_wrap=True)
