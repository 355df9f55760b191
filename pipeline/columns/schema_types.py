"""Columns of Spark's types as those that a schema has in their places, where Spark has no such type.

The other direction of `schema.spark_arrow_type`: numbers of 64 bits without a sign are `decimal(20, 0)` in Spark, times
of day are integers. Must not know of frames or rules.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from pipeline.columns.schema import as_kind

OUT_OF_RANGE: Final = "a decimal is none of the numbers from 0 to 2^64 - 1, which the schema has in its place"
INTEGERS_OF_TIMES: Final = ((pa.int32(), pa.time32("ms")), (pa.int64(), pa.time64("us")))


def levels_of(kind: pa.DataType) -> int:
    """How many structs of a type stand inside of each other."""
    if pa.types.is_map(kind):
        return max(levels_of(kind.key_type), levels_of(kind.item_type))
    inner = [kind.field(index).type for index in range(kind.num_fields)]
    return max(map(levels_of, inner), default=0) + (1 if pa.types.is_struct(kind) else 0)


def with_schema_types(given: pa.DataType, wanted: pa.DataType) -> pa.DataType:
    """The given type with `uint64` and times where they are wanted and it has decimals without a fraction or integers.

    Args:
        given: of Spark's column.
        wanted: of the schema, as it is decoded. Fields of structs are found by name; fields that only one of both has
            stay as they are given.
    """
    if pa.types.is_decimal128(given) and given.scale == 0 and pa.types.is_uint64(wanted):
        return wanted
    if (given, wanted) in INTEGERS_OF_TIMES:
        return wanted
    if pa.types.is_struct(given) and pa.types.is_struct(wanted):
        places = {field.name: field.type for field in wanted}
        return pa.struct(
            [field.with_type(with_schema_types(field.type, places.get(field.name, field.type))) for field in given]
        )
    if pa.types.is_list(given) and pa.types.is_list(wanted):
        items = given.value_field
        return pa.list_(items.with_type(with_schema_types(items.type, wanted.value_type)))
    if pa.types.is_map(given) and pa.types.is_map(wanted):
        key = given.key_field.with_type(with_schema_types(given.key_type, wanted.key_type))
        return pa.map_(key, given.item_field.with_type(with_schema_types(given.item_type, wanted.item_type)))
    return given


def as_schema_types(values: pa.Array, kind: pa.DataType) -> tuple[pa.Array, list[int]]:
    """The values as a type of `with_schema_types`, and the rows that have a number it can't hold; these are null.

    Cost: a batch with such a row is looked at row by row.
    """
    try:
        return as_kind(values, kind), []
    except pa.ArrowInvalid:
        bad = [row for row in range(len(values)) if not _fits(values.take(pa.array([row])), kind)]
        outside = set(bad)
        kept = pa.array([None if row in outside else row for row in range(len(values))], pa.int64())
        return as_kind(values.take(kept), kind), bad


def _fits(row: pa.Array, kind: pa.DataType) -> bool:
    try:
        as_kind(row, kind)
    except pa.ArrowInvalid:
        return False
    return True
