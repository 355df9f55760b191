"""`kserdes schema plan`: the program that decodes Avro payloads of one schema into columns of another, as text.

Must not run it. Needs pyarrow (the extra `arrow`).
"""

from __future__ import annotations

from pathlib import Path

import click

from registry.cli.shell.commands import ExampleCommand, Failure
from serdes.errors import SerializationError

__all__ = ["plan"]

EXAMPLES = """
# how payloads become columns of their own schema
kserdes schema plan order.avsc
# how payloads of version 1 become two columns of version 2
kserdes schema plan order-v1.avsc order-v2.avsc --columns id,address.city
"""
FILE = click.Path(path_type=Path, dir_okay=False, exists=True)


@click.command(cls=ExampleCommand, examples=EXAMPLES)
@click.argument("writer", type=FILE)
@click.argument("reader", type=FILE, required=False)
@click.option("--columns", metavar="PATHS", help="Columns to decode, dotted paths with commas between them; else all.")
@click.option("--dense", is_flag=True, help="Unions of several types as Arrow's dense unions, not as structs.")
@click.option("--depth", type=click.IntRange(0), default=0, help="How often a record may stand inside of itself.")
def plan(writer: Path, reader: Path | None, columns: str | None, dense: bool, depth: int) -> None:
    """Show how Avro payloads written with WRITER become columns of READER (WRITER itself without one).

    A line is one step of the decoder: its number, what it does, the column it fills, and what it needs to know.
    """
    try:
        from serdes.columnar.avro.format import AvroColumns
        from serdes.columnar.contract import ColumnOptions
    except ImportError as error:
        raise Failure(f"columns need pyarrow ({error}): pip install pyarrow (the extra 'arrow' of kserdes)") from error
    from serdes.formats.avro.codec import load_texts

    paths = None if columns is None else tuple(path.strip() for path in columns.split(","))
    options = ColumnOptions(columns=paths, unions="dense" if dense else "struct", recursive_max_depth=depth)
    try:
        written = load_texts(writer.read_text(encoding="utf-8"))
        wanted = written if reader is None else load_texts(reader.read_text(encoding="utf-8"))
        click.echo(str(AvroColumns().plan(written, wanted, options)))
    except (OSError, UnicodeDecodeError, SerializationError) as error:
        raise Failure(str(error)) from error
