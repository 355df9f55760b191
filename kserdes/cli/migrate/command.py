"""`kserdes migrate check`: what a code base uses of other Kafka clients, and how it maps to kserdes.

Must not know the clients; `kserdes.cli.migrate.checking` does.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kserdes.cli.shell.commands import ExampleCommand, Failure

if TYPE_CHECKING:
    from kserdes.cli.migrate.checking import Finding

EXAMPLES = """
# what is missing or differs in a service
kserdes migrate check src/
# everything that was found, for a program
kserdes migrate check --all --json src/ > kafka-use.json
"""


@click.command(cls=ExampleCommand, examples=EXAMPLES)
@click.argument("path", type=click.Path(path_type=Path, exists=True))
@click.option("--all", "every", is_flag=True, help="List uses that work, too.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
@click.pass_context
def check(ctx: click.Context, path: Path, every: bool, as_json: bool) -> None:
    """List what the Python files below PATH use of confluent_kafka, kafka-python (0.9.5, too) and aiokafka.

    Nothing is imported or run. A use works, differs (and how), or is missing (and why). Exit status: 0 nothing is
    missing, 1 something is, 2 a file can't be read.
    """
    from kserdes.cli.migrate.checking import Status  # with the tables of three dialects, which no help shows
    from kserdes.cli.migrate.checking import check as read

    findings, unreadable = read(path)
    counts = Counter(each.status for each in findings)
    shown = findings if every else [each for each in findings if each.status is not Status.WORKS]
    if as_json:
        summary = {status.value: counts[status] for status in Status}
        listed = [each.as_dict() for each in shown]
        failed = [{"file": each.file, "reason": each.reason} for each in unreadable]
        click.echo(json.dumps({"summary": summary, "findings": listed, "unreadable": failed}, indent=2))
    else:
        for each in shown:
            click.echo(line_of(each))
        click.echo(", ".join(f"{counts[status]} {status.value}" for status in Status))
    for problem in unreadable:
        click.echo(f"{problem.file}: {problem.reason}", err=True)
    if unreadable:
        raise Failure(f"{len(unreadable)} of the files can't be read")
    ctx.exit(1 if counts[Status.MISSING] else 0)


def line_of(finding: Finding) -> str:
    """One use, as compilers write."""
    note = f": {finding.note}" if finding.note else ""
    return f"{finding.file}:{finding.line}: {finding.status.value}: {finding.name}{note}"
