"""`kserdes schema register`, `get`, `list` and `delete`: the everyday work with one registry.

Must not know of HTTP: the client does. Answers are texts for people, or JSON with `--format json`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kserdes.cli.schema.source.files import write_whole
from kserdes.cli.shell.commands import (
    PATH,
    ExampleCommand,
    client,
    config_option,
    console,
    named,
    registry_options,
    settings_of,
    tracked,
)
from kserdes.cli.shell.unusable import Unusable

if TYPE_CHECKING:
    from registry import Schema, SchemaRegistryClient

Decorated = TypeVar("Decorated", bound=Callable[..., Any])
REGISTER_EXAMPLES = """
# a file under the subject of its name, with all it refers to
kserdes schema register schemas/orders-value.avsc
# a whole folder; subjects are called like the records
kserdes schema register schemas --subject '{name}'
kserdes schema register order.avsc --subject orders-value --dry-run
"""
GET_EXAMPLES = """
kserdes schema get orders-value
kserdes schema get orders-value 3 --output order.avsc
kserdes schema get --id 42 --format json
"""
LIST_EXAMPLES = """
kserdes schema list
kserdes schema list --prefix orders --versions
kserdes schema list --deleted --format json
"""
DELETE_EXAMPLES = """
kserdes schema delete orders-value 2
# the subject with all versions, for good
kserdes schema delete orders-value --permanent --yes
"""


def json_option(function: Decorated) -> Decorated:
    """`--format text|json`."""
    choice = click.Choice(("text", "json"))
    return click.option("--format", "fmt", type=choice, default="text", show_default=True, help="Form of the answer.")(
        function
    )


@click.command(cls=ExampleCommand, examples=REGISTER_EXAMPLES)
@click.argument("paths", nargs=-1, required=True, type=PATH, metavar="FILE_OR_FOLDER...")
@click.option("--subject", "rule", metavar="RULE", help="Subject, or a rule with {stem}, {folder}, {path}, {name}.")
@click.option("--root", type=PATH, metavar="FOLDER", help="Where references are resolved; by default the folder.")
@click.option("--normalize", is_flag=True, help="Let the registry bring schemas to its normal form.")
@click.option("--dry-run", is_flag=True, help="Only show what would be registered, and in which order.")
@json_option
@registry_options
@config_option
@click.pass_context
def register(
    ctx: click.Context,
    paths: tuple[str, ...],
    rule: str | None,
    root: str | None,
    normalize: bool,
    dry_run: bool,
    fmt: str,
    registry: str | None,
    client_properties: tuple[str, ...],
    config: Path | None,
) -> None:
    """Register schema files, each after the files it refers to.

    All files are parsed before the first is registered. What the registry refuses is named, and files that do not refer
    to it are registered.

    Exit status: 0 all are registered, 1 the registry refused some, 2 a file can't be used, or no registry answers.
    """
    from kserdes.cli.schema.manage.registering import Refused, planned, register_files
    from kserdes.cli.schema.source.inputs import find_inputs
    from kserdes.cli.schema.source.subjects import Namer

    settings = settings_of(config)
    inputs = find_inputs(paths, settings, root)
    if inputs.missing:
        raise Unusable("; ".join(f"{item.path}: {item.findings[0].message}" for item in inputs.missing))
    namer = Namer(rule or settings.subject, {} if rule and "{" not in rule else settings.subjects)
    plans = [(item, planned(item.collection, item.paths, namer)) for item in inputs.roots]
    done: list[dict[str, object]] = []
    refused = 0
    with client(settings, registry, client_properties) as connected:
        for item, plan in plans:
            for made in register_files(item.collection, plan, connected, normalize, dry_run):
                done.append({"path": item.shown(made.path), "subject": made.subject})
                if isinstance(made, Refused):
                    refused += 1
                    done[-1]["refused"] = made.reason
                    click.echo(f"{item.shown(made.path)}: {made.subject} refused: {made.reason}", err=True)
                    continue
                if not dry_run:
                    done[-1] |= {"version": made.version, "id": made.schema_id}
                if fmt == "text":
                    tail = " (not registered: dry run)" if dry_run else f" version {made.version}, id {made.schema_id}"
                    click.echo(f"{item.shown(made.path)}: {made.subject}{tail}")
    if fmt == "json":
        click.echo(json.dumps(done, indent=2))
    elif not done:
        raise Unusable("no schema files (.avsc, .json, .proto) there")
    if refused:
        click.echo(f"{refused} of {len(done)} refused", err=True)
        ctx.exit(1)


@click.command(cls=ExampleCommand, examples=GET_EXAMPLES)
@click.argument("subject", required=False, callback=named)
@click.argument("version", default="latest")
@click.option("--id", "schema_id", type=int, help="The schema of this id, instead of a subject's.")
@click.option("--guid", help="The schema of this GUID, instead of a subject's.")
@click.option("--deleted", is_flag=True, help="Find softly deleted versions too.")
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="Write to a file.")
@json_option
@registry_options
@config_option
def get(
    subject: str | None,
    version: str,
    schema_id: int | None,
    guid: str | None,
    deleted: bool,
    output: Path | None,
    fmt: str,
    registry: str | None,
    client_properties: tuple[str, ...],
    config: Path | None,
) -> None:
    """Print a registered schema: of a subject (the newest version, or VERSION), of an id, or of a GUID."""
    if sum(item is not None for item in (subject, schema_id, guid)) != 1:
        raise click.UsageError("give a subject, --id or --guid")
    with client(settings_of(config), registry, client_properties) as connected:
        value, schema = _found(connected, subject, version, schema_id, guid, deleted)
    text = json.dumps(value, indent=2, ensure_ascii=False) if fmt == "json" else _laid_out(schema)
    if output is None:
        click.echo(text)
        return
    try:
        write_whole(output, text + "\n")
    except OSError as error:
        raise Unusable(f"{output} can't be written: {error.strerror}") from error


def _found(
    connected: SchemaRegistryClient,
    subject: str | None,
    version: str,
    schema_id: int | None,
    guid: str | None,
    deleted: bool,
) -> tuple[dict[str, Any], Schema]:
    """The schema, as the registry's JSON and as itself."""
    if subject is not None:
        if version != "latest" and not version.isdecimal():
            raise click.UsageError(f"VERSION is a number or latest, not {version!r}")
        registered = connected.get_version(subject, "latest" if version == "latest" else int(version), deleted)
        return registered.to_dict(), registered.schema
    if schema_id is not None:
        schema = connected.get_schema(schema_id)
        return {"id": schema_id} | schema.to_dict(), schema
    schema = connected.get_schema_by_guid(str(guid))
    return {"guid": guid} | schema.to_dict(), schema


def _laid_out(schema: Schema) -> str:
    from kserdes.cli.schema.diff.comparing import layout

    return "\n".join(layout(schema))


@click.command("list", cls=ExampleCommand, examples=LIST_EXAMPLES)
@click.option("--prefix", help="Only subjects that start with this.")
@click.option("--versions", is_flag=True, help="Show versions, ids and types too.")
@click.option("--deleted", is_flag=True, help="Show softly deleted ones too.")
@json_option
@registry_options
@config_option
def list_subjects(
    prefix: str | None,
    versions: bool,
    deleted: bool,
    fmt: str,
    registry: str | None,
    client_properties: tuple[str, ...],
    config: Path | None,
) -> None:
    """List subjects, with their versions if asked for."""
    with client(settings_of(config), registry, client_properties) as connected:
        subjects = sorted(connected.get_subjects(prefix, deleted=deleted))
        if not versions:
            click.echo(json.dumps(subjects, indent=2) if fmt == "json" else "\n".join(subjects), nl=bool(subjects))
            return
        rows = []
        for subject in tracked(subjects, len(subjects), "reading"):
            live = set(connected.get_versions(subject)) if not deleted else _live(connected, subject)
            for number in sorted(connected.get_versions(subject, deleted=deleted)):
                item = connected.get_version(subject, number, deleted)
                row = {"subject": subject, "version": number, "id": item.schema_id, "type": item.schema.schema_type}
                rows.append(row | {"deleted": number not in live})
    if fmt == "json":
        click.echo(json.dumps(rows, indent=2))
        return
    from rich.table import Table

    table = Table("subject", "version", "id", "type", box=None, pad_edge=False)
    for row in rows:
        style = "dim" if row["deleted"] else ""
        cells = [str(row["subject"]), str(row["version"]), str(row["id"]), str(row["type"])]
        table.add_row(*cells[:3], cells[3] + (" (deleted)" if row["deleted"] else ""), style=style)
    console().print(table)


def _live(connected: SchemaRegistryClient, subject: str) -> set[int]:
    from registry import ResponseError

    try:
        return set(connected.get_versions(subject))
    except ResponseError as error:
        if error.not_found:
            return set()
        raise


@click.command(cls=ExampleCommand, examples=DELETE_EXAMPLES)
@click.argument("subject", callback=named)
@click.argument("version", required=False)
@click.option("--permanent", is_flag=True, help="For good: the id can't be looked up any more.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@registry_options
@config_option
def delete(
    subject: str,
    version: str | None,
    permanent: bool,
    yes: bool,
    registry: str | None,
    client_properties: tuple[str, ...],
    config: Path | None,
) -> None:
    """Delete a subject, or one of its versions; softly, so that ids are still found, unless --permanent."""
    if version is not None and not version.isdecimal():
        raise click.UsageError(f"VERSION is a number, not {version!r}")
    with client(settings_of(config), registry, client_properties) as connected:
        what = f"all versions of {subject}" if version is None else f"version {version} of {subject}"
        if not yes:
            click.confirm(f"Delete {what}{' for good' if permanent else ''}?", abort=True, err=True)
        if version is None:
            if permanent and _live(connected, subject):
                connected.delete_subject(subject)
            gone = connected.delete_subject(subject, permanent)
        else:
            if permanent and int(version) in _live(connected, subject):
                connected.delete_version(subject, int(version))
            gone = [connected.delete_version(subject, int(version), permanent)]
    click.echo(f"deleted {subject}: version{'' if len(gone) == 1 else 's'} {', '.join(map(str, gone))}")
