"""`kserdes schema plan`: how payloads of one schema are decoded into columns of another, as text.

Must not run it. Needs pyarrow (the extra `arrow`).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kserdes.cli.schema.source.files import SUFFIXES
from kserdes.cli.shell.commands import ExampleCommand, Failure
from registry import Schema
from serdes.errors import SerializationError

if TYPE_CHECKING:
    from serdes.columnar.contract import ColumnFormat

EXAMPLES = """
# how payloads become columns of their own schema
kserdes schema plan order.avsc
# how payloads of version 1 become two columns of version 2
kserdes schema plan order-v1.avsc order-v2.avsc --columns id,address.city
# the same for Protobuf and JSON Schema
kserdes schema plan order.proto
kserdes schema plan order.schema.json
"""
TYPE = click.Choice(["avro", "json", "protobuf"], case_sensitive=False)
FILE = click.Path(path_type=Path, dir_okay=False, exists=True)


@click.command(cls=ExampleCommand, examples=EXAMPLES)
@click.argument("writer", type=FILE)
@click.argument("reader", type=FILE, required=False)
@click.option("--columns", metavar="PATHS", help="Columns to decode, dotted paths with commas between them; else all.")
@click.option("--dense", is_flag=True, help="Unions of several types as Arrow's dense unions, not as structs.")
@click.option("--depth", type=click.IntRange(0), default=0, help="How often a record may stand inside of itself.")
@click.option(
    "--type", "given", type=TYPE, help="Of both schemas; else READER's suffix says it (.avsc, .json, .proto)."
)
def plan(writer: Path, reader: Path | None, columns: str | None, dense: bool, depth: int, given: str | None) -> None:
    """Show how payloads written with WRITER become columns of READER (WRITER itself without one).

    Of Avro a line is one step of the decoder: its number, what it does, the column it fills, and what it needs to know.
    Of Protobuf and JSON a line is a field, and the column it goes into.
    """
    try:
        from serdes.columnar import ColumnOptions
        from serdes.columnar.decoder import column_format
    except ImportError as error:
        raise Failure(f"columns can't be planned: {error}") from error
    kind = given.upper() if given else SUFFIXES.get((reader or writer).suffix, "AVRO")
    paths = None if columns is None else tuple(path.strip() for path in columns.split(","))
    options = ColumnOptions(columns=paths, unions="dense" if dense else "struct", recursive_max_depth=depth)
    form = column_format(kind)
    try:
        wanted = _loaded(form, kind, reader or writer)
        click.echo(str(form.plan(_loaded(form, kind, writer), wanted, options)))
    except SerializationError as error:
        raise Failure(str(error)) from error


def _loaded(form: ColumnFormat, kind: str, path: Path) -> Any:
    try:
        return form.load(Schema(path.read_text(encoding="utf-8"), kind), None)
    except (OSError, UnicodeDecodeError, SerializationError) as error:
        raise Failure(f"{path}: {error}") from error
