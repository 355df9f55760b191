"""Avro payloads as columns by way of Python objects: the readable specification of what the kernel does.

It is what runs where kernels are not compiled. Must not know of ids or registries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from registry.schemas.avro.model import AvroType
from serdes.columnar.assemble import errors_of, row_error
from serdes.columnar.avro.faults import WORDS, Fault
from serdes.columnar.avro.types import value_converter
from serdes.columnar.contract import ColumnOptions, DecodeResult
from serdes.columnar.frames import Frames
from serdes.columnar.room import Room
from serdes.errors import SerializationError
from serdes.formats.protocol import Decode

UNFIT: Final = (pa.ArrowException, ValueError, TypeError, OverflowError)


def decode(
    frames: Frames,
    decoders: Sequence[Decode],
    row_plans: Sequence[int],
    reader: AvroType,
    kind: pa.DataType,
    options: ColumnOptions,
) -> DecodeResult:
    """Decodes a batch, one object per row.

    Args:
        frames: the batch.
        decoders: of payloads, with tags for unions.
        row_plans: for each row the place of its decoder; -1 for a row that stays null.
        reader: the schema of the columns.
        kind: its Arrow type.
        options: as for the kernel.
    """
    convert = value_converter(reader, options)
    room = Room(kind, options.max_row_bytes)
    rows: list[Any] = [None] * frames.rows
    errors: dict[int, str] = {}
    for row, plan in enumerate(row_plans):
        if plan >= 0:
            try:
                payload = frames.payload(row) or b""
                value = decoders[plan](payload)
                value = value if convert is None else convert(value)
                if not room.holds(value, len(payload) + options.max_empty_items):
                    raise SerializationError(WORDS[Fault.ROW_BYTES])
                rows[row] = value
            except SerializationError as error:
                errors[row] = row_error(frames, row, error)
    return DecodeResult(_in_columns(rows, errors, kind), errors_of(frames.rows, errors))


def _in_columns(rows: list[Any], errors: dict[int, str], kind: pa.DataType) -> pa.StructArray:
    """The rows as columns; a row with a value Arrow has no place for becomes an error."""
    try:
        return column_of(rows, kind)
    except UNFIT:
        for at, row in enumerate(rows):
            reason = None if row is None else _unfit(row, kind)
            if reason is not None:
                errors[at], rows[at] = reason, None
        return column_of(rows, kind)


def _unfit(row: Any, kind: pa.DataType) -> str | None:
    try:
        column_of([row], kind)
    except UNFIT as error:
        return f"the value does not fit its column: {error}"
    return None


def column_of(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Values as a column; those of dense unions, which pyarrow does not take, are pairs of place and value."""
    if not _has_union(kind):
        return pa.array(values, kind)
    if pa.types.is_union(kind):
        return _union(values, kind)
    nulls = pa.array([value is None for value in values], pa.bool_())
    if pa.types.is_struct(kind):
        fields = [kind.field(at) for at in range(kind.num_fields)]
        parts = [column_of([_part(value, field.name) for value in values], field.type) for field in fields]
        return pa.StructArray.from_arrays(parts, fields=fields, mask=nulls)
    lists: list[Sequence[Any]] = [[] if value is None else value for value in values]
    offsets = [0]
    for items in lists:
        offsets.append(offsets[-1] + len(items))
    ends = pa.array(offsets, pa.int32())
    if pa.types.is_map(kind):
        keys = column_of([key for items in lists for key, _ in items], kind.key_type)
        entries = column_of([item for items in lists for _, item in items], kind.item_type)
        return pa.MapArray.from_arrays(ends, keys, entries, type=kind, mask=nulls)
    return pa.ListArray.from_arrays(
        ends, column_of([item for items in lists for item in items], kind.value_type), type=kind, mask=nulls
    )


def _part(value: Mapping[str, Any] | None, name: str) -> Any:
    return None if value is None else value.get(name)


def _union(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """A null row has the union's first type, as in the kernel."""
    pairs = [(0, None) if value is None else value for value in values]
    members: list[list[Any]] = [[] for _ in range(kind.num_fields)]
    cells = []
    for place, value in pairs:
        cells.append(len(members[place]))
        members[place].append(value)
    columns = [column_of(member, kind.field(at).type) for at, member in enumerate(members)]
    names = [kind.field(at).name for at in range(kind.num_fields)]
    places = pa.array([place for place, _ in pairs], pa.int8())
    return pa.UnionArray.from_dense(places, pa.array(cells, pa.int32()), columns, names)


def _has_union(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind):
        return any(_has_union(kind.field(at).type) for at in range(kind.num_fields))
    if pa.types.is_map(kind):
        return _has_union(kind.item_type)
    return pa.types.is_union(kind) or (pa.types.is_list(kind) and _has_union(kind.value_type))
