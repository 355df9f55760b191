"""Avro types as Arrow types, and what decoded values need before Arrow takes them.

Must not know of frames or registries. Needs pyarrow (the extra `arrow`). Unions of several types become a struct of
`member0`, `member1`, …, of which one is set, as Spark's from_avro does it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pyarrow as pa

from registry.schemas.avro.model import (
    ArrayType,
    AvroType,
    EnumType,
    FixedType,
    MapType,
    Primitive,
    RecordType,
    TypeName,
    UnionType,
)
from serdes.columnar.contract import ColumnOptions
from serdes.errors import SerializationError
from serdes.formats.avro.logical import DURATION, logical_of

Convert: TypeAlias = Callable[[Any], Any]

PRIMITIVES: dict[TypeName, pa.DataType] = {
    TypeName.NULL: pa.null(),
    TypeName.BOOLEAN: pa.bool_(),
    TypeName.INT: pa.int32(),
    TypeName.LONG: pa.int64(),
    TypeName.FLOAT: pa.float32(),
    TypeName.DOUBLE: pa.float64(),
    TypeName.BYTES: pa.binary(),
    TypeName.STRING: pa.string(),
}
LOGICAL: dict[tuple[TypeName, str], pa.DataType] = {
    (TypeName.INT, "date"): pa.date32(),
    (TypeName.INT, "time-millis"): pa.time32("ms"),
    (TypeName.LONG, "time-micros"): pa.time64("us"),
    (TypeName.LONG, "timestamp-millis"): pa.timestamp("ms", tz="UTC"),
    (TypeName.LONG, "timestamp-micros"): pa.timestamp("us", tz="UTC"),
    (TypeName.LONG, "local-timestamp-millis"): pa.timestamp("ms"),
    (TypeName.LONG, "local-timestamp-micros"): pa.timestamp("us"),
    (TypeName.LONG, "timestamp-nanos"): pa.timestamp("ns", tz="UTC"),
    (TypeName.LONG, "local-timestamp-nanos"): pa.timestamp("ns"),
    (TypeName.STRING, "uuid"): pa.string(),
}
WIDER = {
    frozenset({TypeName.INT, TypeName.LONG}): pa.int64(),
    frozenset({TypeName.FLOAT, TypeName.DOUBLE}): pa.float64(),
}
"""Unions of two numbers are columns of the wider one, as in Spark."""
DEFAULTS = ColumnOptions()
MAX_DECIMAL128_DIGITS = 38
MAX_DECIMAL256_DIGITS = 76


def arrow_type(avro: AvroType, options: ColumnOptions = DEFAULTS) -> pa.DataType:
    """The Arrow type of a column of this Avro type. Everything may be null, since bad rows are.

    record → struct, array → list, map → map, enum and uuid → string, fixed and duration → binary, decimal → decimal128
    (256 over 38 digits), date and times and timestamps → theirs (UTC unless local), `[null, T]` → T. A duration stays
    12 bytes: its three numbers are unsigned, and Arrow's interval has signed ones.

    Raises:
        SerializationError: Arrow has no such type: it is recursive, or a decimal of more than 76 digits.
    """
    return _arrow(avro, options, ())


def _arrow(avro: AvroType, options: ColumnOptions, inside: tuple[RecordType, ...]) -> pa.DataType:
    if isinstance(avro, RecordType):
        if avro in inside:
            raise SerializationError(f"record {avro.name} contains itself: recursive types can't be columns")
        deeper = (*inside, avro)
        return pa.struct([pa.field(field.name, _arrow(field.type, options, deeper)) for field in avro.fields])
    if isinstance(avro, ArrayType):
        return pa.list_(_arrow(avro.items, options, inside))
    if isinstance(avro, MapType):
        return pa.map_(pa.string(), _arrow(avro.values, options, inside))
    if isinstance(avro, UnionType):
        return _union(avro, options, inside)
    if isinstance(avro, EnumType):
        return pa.string() if options.enums == "name" else pa.int32()
    return _leaf(avro)


def _leaf(avro: Primitive | FixedType) -> pa.DataType:
    logical = logical_of(avro)
    if logical == "decimal":
        return _decimal(avro.props["precision"], avro.props.get("scale", 0))
    if isinstance(avro, FixedType):
        return pa.binary()
    return LOGICAL.get((avro.kind, str(logical)), PRIMITIVES[avro.kind])


def _decimal(precision: int, scale: int) -> pa.DataType:
    if precision > MAX_DECIMAL256_DIGITS:
        raise SerializationError(f"decimal({precision}, {scale}): columns have {MAX_DECIMAL256_DIGITS} digits at most")
    made: pa.DataType = (pa.decimal128 if precision <= MAX_DECIMAL128_DIGITS else pa.decimal256)(precision, scale)
    return made


def members_of(avro: UnionType) -> list[AvroType]:
    """The branches that hold a value."""
    return [branch for branch in avro.branches if branch.kind is not TypeName.NULL]


def _union(avro: UnionType, options: ColumnOptions, inside: tuple[RecordType, ...]) -> pa.DataType:
    members = members_of(avro)
    if not members:
        return pa.null()
    if len(members) == 1:
        return _arrow(members[0], options, inside)
    if options.unions == "dense":
        # null is a member too: a dense union has no nulls of its own
        branches = [_arrow(branch, options, inside) for branch in avro.branches]
        return pa.dense_union([pa.field(f"member{at}", kind) for at, kind in enumerate(branches)])
    wider = _wider(members)
    if wider is not None:
        return wider
    return pa.struct([pa.field(f"member{at}", _arrow(member, options, inside)) for at, member in enumerate(members)])


def _wider(members: list[AvroType]) -> pa.DataType | None:
    if any(not isinstance(member, Primitive) or member.props for member in members):
        return None
    return WIDER.get(frozenset(member.kind for member in members))


# --- values


def value_converter(avro: AvroType, options: ColumnOptions = DEFAULTS) -> Convert | None:
    """The conversion of decoded values for pyarrow's `arrow_type(avro)`; None if it takes them as they are.

    Values of unions with several types are expected as the decoder gives them with `Tags.PLACES`; those of dense unions
    become a pair of the branch's place and its value, which pyarrow does not take (see `reference`).
    """
    if isinstance(avro, RecordType):
        return _record_converter(avro, options)
    if isinstance(avro, ArrayType):
        return _array_converter(avro, options)
    if isinstance(avro, MapType):
        return _map_converter(avro, options)
    if isinstance(avro, UnionType):
        return _union_converter(avro, options)
    if isinstance(avro, EnumType):
        numbers = {symbol: at for at, symbol in enumerate(avro.symbols)}
        return None if options.enums == "name" else lambda value: None if value is None else numbers[value]
    return LEAVES.get((avro.kind, logical_of(avro)))


LEAVES: dict[tuple[TypeName, str | None], Convert] = {
    (TypeName.STRING, "uuid"): lambda value: None if value is None else str(value),
    (TypeName.FIXED, "uuid"): lambda value: None if value is None else value.bytes,
    (TypeName.FIXED, "duration"): lambda value: None if value is None else DURATION.pack(*value),
}


def _record_converter(avro: RecordType, options: ColumnOptions) -> Convert | None:
    converters = {}
    for field in avro.fields:
        converter = value_converter(field.type, options)
        if converter is not None:
            converters[field.name] = converter
    if not converters:
        return None

    def convert(record: Any) -> Any:
        if record is None:
            return None
        changed = {name: converter(record[name]) for name, converter in converters.items()}
        return {**record, **changed}

    return convert


def _array_converter(avro: ArrayType, options: ColumnOptions) -> Convert | None:
    inner = value_converter(avro.items, options)
    if inner is None:
        return None
    return lambda items: None if items is None else [inner(item) for item in items]


def _map_converter(avro: MapType, options: ColumnOptions) -> Convert:
    inner = value_converter(avro.values, options)
    if inner is None:
        return lambda entries: None if entries is None else list(entries.items())
    return lambda entries: None if entries is None else [(key, inner(value)) for key, value in entries.items()]


def _union_converter(avro: UnionType, options: ColumnOptions) -> Convert | None:
    members = members_of(avro)
    if not members:
        return None
    if len(members) == 1:
        return value_converter(members[0], options)
    if options.unions == "dense":
        return _dense_converter(avro, options)
    if _wider(members) is not None:
        return lambda value: None if value is None else value[1]
    places = [at for at, branch in enumerate(avro.branches) if branch.kind is not TypeName.NULL]
    parts = {at: (f"member{n}", value_converter(avro.branches[at], options)) for n, at in enumerate(places)}

    def convert(value: Any) -> Any:
        if value is None:
            return None
        column, converter = parts[value[0]]
        return {column: value[1] if converter is None else converter(value[1])}

    return convert


def _dense_converter(avro: UnionType, options: ColumnOptions) -> Convert:
    converters = [value_converter(branch, options) for branch in avro.branches]
    null = next((at for at, branch in enumerate(avro.branches) if branch.kind is TypeName.NULL), 0)

    def convert(value: Any) -> Any:
        if value is None:
            return null, None
        converter = converters[value[0]]
        return value[0], value[1] if converter is None else converter(value[1])

    return convert
