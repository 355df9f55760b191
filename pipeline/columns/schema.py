"""Arrow types as Spark has them: what a decoded struct looks like in a DataFrame.

Must not know of registries or Kafka. Source of the mapping: Spark's own Arrow conversion
(`pyspark.sql.pandas.types`), which knows timestamps in microseconds only and no unsigned or half types.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.errors import PlanError

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

SIGNED: Final = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
}
"""Integers without a sign, which Spark has not, and what holds all their values."""
ENCODED: Final = {
    "variant": "its JSON text, to_json(column), as a string",
    "geometry": "st_asbinary(column), the well-known binary form, as bytes",
    "geography": "st_asbinary(column), the well-known binary form, as bytes",
}
"""Spark's types that Arrow has as structs of Spark's own bytes, and what to write in their place."""


def spark_arrow_type(kind: pa.DataType, times: str = "number") -> pa.DataType:
    """The Arrow type Spark exchanges for this one.

    Timestamps and time spans become microseconds, times of day integers (with `times="time"` what Spark's TIME is), and
    integers without a sign the next larger type that has one: `uint64` is `decimal(20, 0)`.

    Cost: one walk over the type; done once per plan.

    Raises:
        PlanError: a decimal has more digits than Spark's 38.
    """
    if pa.types.is_decimal256(kind):
        raise PlanError(f"a decimal of {kind.precision} digits has no Spark type: 38 are the most; read it as bytes")
    if kind in SIGNED:
        return SIGNED[kind]
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", tz=kind.tz)
    if pa.types.is_duration(kind):
        return pa.duration("us")
    if pa.types.is_time(kind):
        if times == "time":
            return pa.time64("ns")
        return pa.int32() if pa.types.is_time32(kind) else pa.int64()
    if pa.types.is_struct(kind):
        return pa.struct([_field(kind.field(index), times) for index in range(kind.num_fields)])
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(_field(kind.value_field, times))
    if pa.types.is_map(kind):
        return pa.map_(spark_arrow_type(kind.key_type, times), _field(kind.item_field, times))
    if pa.types.is_fixed_size_binary(kind):
        return pa.binary()
    return kind


def _field(field: pa.Field, times: str) -> pa.Field:
    return pa.field(field.name, spark_arrow_type(field.type, times), nullable=True)


def as_kind(values: pa.Array, kind: pa.DataType) -> pa.Array:
    """An array as a type that differs in its leaves alone, as that of `spark_arrow_type` does.

    Lists and maps are taken apart: pyarrow's own cast gives too few items where all of them are of the null type.
    Nanoseconds of points in time are cut off, towards the past.

    Raises:
        pa.ArrowInvalid: the type does not hold a value.
    """
    if values.type.equals(kind):
        return values
    if pa.types.is_struct(kind):
        parts = [as_kind(values.field(index), field.type) for index, field in enumerate(kind)]
        present = pc.is_valid(values).buffers()[1] if values.null_count else None
        return pa.StructArray.from_buffers(kind, len(values), [present], values.null_count, children=parts)
    if pa.types.is_list(values.type) or pa.types.is_map(values.type):
        whole = kind.value_type if pa.types.is_list(kind) else pa.struct([kind.key_field, kind.item_field])
        items = as_kind(values.values, whole)
        buffers = values.buffers()[:2]
        return pa.Array.from_buffers(kind, len(values), buffers, values.null_count, values.offset, [items])
    if pa.types.is_timestamp(values.type) and values.type.unit == "ns":
        return _microseconds(values).view(kind)
    return values.cast(kind)


def _microseconds(values: pa.Array) -> pa.Array:
    """Points in time as whole microseconds: finer parts are cut off towards the past."""
    nanoseconds = values.view(pa.int64())
    whole = pc.divide(nanoseconds, 1000)
    return pc.subtract(whole, pc.less(nanoseconds, pc.multiply(whole, 1000)).cast(pa.int64()))


def spark_type(kind: pa.DataType) -> DataType:
    """The Spark type of a decoded column; every field is nullable, since a bad row has no values.

    Raises:
        PlanError: this Spark has none.
    """
    from pyspark.errors import PySparkException
    from pyspark.sql.pandas.types import from_arrow_type

    try:
        return from_arrow_type(kind, prefer_timestamp_ntz=True)
    except PySparkException as error:
        raise PlanError(f"this Spark has no type for {kind}: {error}") from error


def arrow_of(kind: DataType) -> pa.DataType:
    """The Arrow type in which Spark gives a column of this type to Python; points in time are UTC.

    Raises:
        PlanError: there is none, or only one that holds an encoding of Spark's own (variants, shapes).
    """
    from pyspark.errors import PySparkException
    from pyspark.sql.pandas.types import to_arrow_type

    _check_open(kind)
    try:
        made: pa.DataType = to_arrow_type(kind, **_in_utc(to_arrow_type))
    except PySparkException as error:
        raise PlanError(f"a column of type {kind.simpleString()} can't be written: {error}") from error
    return made


def arrow_schema_of(schema: StructType) -> pa.Schema:
    """The Arrow schema in which Spark gives rows to Python; points in time are UTC."""
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(schema, **_in_utc(to_arrow_schema))


def _in_utc(convert: Callable[..., Any]) -> dict[str, Any]:
    """The argument of Spark's converters for times in UTC: none before 4.2, which knew no other zone."""
    return {"timezone": "UTC"} if "timezone" in inspect.signature(convert).parameters else {}


def _check_open(kind: Any) -> None:
    """Refuses types whose values are bytes that nobody but Spark can read: no schema would say so."""
    name = kind.typeName()
    if name in ENCODED:
        raise PlanError(f"a column of type {name} can't be written: its bytes are Spark's own. Write {ENCODED[name]}")
    if name == "struct":
        inner = [field.dataType for field in kind]
    else:
        inner = [getattr(kind, part) for part in ("elementType", "keyType", "valueType") if hasattr(kind, part)]
    for one in inner:
        _check_open(one)


def spark_fields(schema: pa.Schema) -> StructType:
    """The Spark type of whole rows; what has a zone is a timestamp, what has none a timestamp without zone."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema, prefer_timestamp_ntz=True)
