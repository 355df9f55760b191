"""Avro types as Arrow types, and what decoded values need before Arrow takes them.

Must not know of frames or registries. Needs pyarrow (the extra `arrow`). Unions of several types become a struct of
`member0`, `member1`, …, of which one is set, as Spark's from_avro does it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pyarrow as pa

from registry.compat.avro_model import (
    ArrayType,
    AvroType,
    EnumType,
    FixedType,
    Kind,
    MapType,
    NamedType,
    Primitive,
    RecordType,
    UnionType,
)
from serdes.errors import SerializationError

__all__ = ["arrow_type", "value_converter"]

Convert: TypeAlias = Callable[[Any], Any]

PRIMITIVES: dict[Kind, pa.DataType] = {
    Kind.NULL: pa.null(),
    Kind.BOOLEAN: pa.bool_(),
    Kind.INT: pa.int32(),
    Kind.LONG: pa.int64(),
    Kind.FLOAT: pa.float32(),
    Kind.DOUBLE: pa.float64(),
    Kind.BYTES: pa.binary(),
    Kind.STRING: pa.string(),
}
LOGICAL: dict[tuple[Kind, str], pa.DataType] = {
    (Kind.INT, "date"): pa.date32(),
    (Kind.INT, "time-millis"): pa.time32("ms"),
    (Kind.LONG, "time-micros"): pa.time64("us"),
    (Kind.LONG, "timestamp-millis"): pa.timestamp("ms", tz="UTC"),
    (Kind.LONG, "timestamp-micros"): pa.timestamp("us", tz="UTC"),
    (Kind.LONG, "local-timestamp-millis"): pa.timestamp("ms"),
    (Kind.LONG, "local-timestamp-micros"): pa.timestamp("us"),
    (Kind.STRING, "uuid"): pa.string(),
}
WIDER = {frozenset({Kind.INT, Kind.LONG}): pa.int64(), frozenset({Kind.FLOAT, Kind.DOUBLE}): pa.float64()}
"""Unions of two numbers are columns of the wider one, as in Spark."""
MAX_DECIMAL128_DIGITS = 38


def arrow_type(avro: AvroType) -> pa.DataType:
    """The Arrow type of a column of this Avro type. Everything may be null, since bad rows are.

    record → struct, array → list, map → map, enum and uuid → string, fixed → binary, decimal → decimal128 (256 over
    38 digits), date and times and timestamps → theirs (UTC unless local), `[null, T]` → T.

    Raises:
        SerializationError: the type is recursive: Arrow has no such type.
    """
    return _arrow(avro, ())


def _arrow(avro: AvroType, inside: tuple[RecordType, ...]) -> pa.DataType:
    if isinstance(avro, RecordType):
        if avro in inside:
            raise SerializationError(f"record {avro.name} holds itself: recursive types can't be columns")
        deeper = (*inside, avro)
        return pa.struct([pa.field(field.name, _arrow(field.type, deeper)) for field in avro.fields])
    if isinstance(avro, ArrayType):
        return pa.list_(_arrow(avro.items, inside))
    if isinstance(avro, MapType):
        return pa.map_(pa.string(), _arrow(avro.values, inside))
    if isinstance(avro, UnionType):
        return _union(avro, inside)
    return _leaf(avro)


def _leaf(avro: Primitive | EnumType | FixedType) -> pa.DataType:
    if isinstance(avro, EnumType):
        return pa.string()
    decimal = _decimal(avro.props)
    if decimal is not None and avro.kind in (Kind.BYTES, Kind.FIXED):
        return decimal
    if isinstance(avro, FixedType):
        return pa.binary()
    return LOGICAL.get((avro.kind, str(avro.props.get("logicalType"))), PRIMITIVES[avro.kind])


def _decimal(props: dict[str, Any]) -> pa.DataType | None:
    precision, scale = props.get("precision"), props.get("scale", 0)
    if props.get("logicalType") != "decimal" or not isinstance(precision, int) or not isinstance(scale, int):
        return None
    made: pa.DataType = (pa.decimal128 if precision <= MAX_DECIMAL128_DIGITS else pa.decimal256)(precision, scale)
    return made


def _members(avro: UnionType) -> list[AvroType]:
    return [branch for branch in avro.branches if branch.kind is not Kind.NULL]


def _union(avro: UnionType, inside: tuple[RecordType, ...]) -> pa.DataType:
    members = _members(avro)
    if not members:
        return pa.null()
    if len(members) == 1:
        return _arrow(members[0], inside)
    wider = _wider(members)
    if wider is not None:
        return wider
    return pa.struct([pa.field(f"member{at}", _arrow(member, inside)) for at, member in enumerate(members)])


def _wider(members: list[AvroType]) -> pa.DataType | None:
    if any(not isinstance(member, Primitive) or member.props for member in members):
        return None
    return WIDER.get(frozenset(member.kind for member in members))


# --- values


def value_converter(avro: AvroType) -> Convert | None:
    """What turns a decoded value into one that pyarrow takes for `arrow_type(avro)`; None if nothing has to be done.

    Named types in unions are expected as fastavro's `(name, value)` with `return_named_type`. Of a union of int and
    long (or float and double) and further types, a decoded number goes to the first member it fits in.
    """
    if isinstance(avro, RecordType):
        return _record_converter(avro)
    if isinstance(avro, ArrayType):
        return _array_converter(avro)
    if isinstance(avro, MapType):
        return _map_converter(avro)
    if isinstance(avro, UnionType):
        return _union_converter(avro)
    if avro.kind is Kind.STRING and avro.props.get("logicalType") == "uuid":
        return lambda value: None if value is None else str(value)
    return None


def _record_converter(avro: RecordType) -> Convert | None:
    converters = {}
    for field in avro.fields:
        converter = value_converter(field.type)
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


def _array_converter(avro: ArrayType) -> Convert | None:
    inner = value_converter(avro.items)
    if inner is None:
        return None
    return lambda items: None if items is None else [inner(item) for item in items]


def _map_converter(avro: MapType) -> Convert:
    inner = value_converter(avro.values)
    if inner is None:
        return lambda entries: None if entries is None else list(entries.items())
    return lambda entries: None if entries is None else [(key, inner(value)) for key, value in entries.items()]


def _union_converter(avro: UnionType) -> Convert | None:
    members = _members(avro)
    if len(members) == 1:
        return _single_converter(members[0])
    if not members or _wider(members) is not None:
        return None
    chosen = [(member, f"member{at}", value_converter(member)) for at, member in enumerate(members)]

    def convert(value: Any) -> Any:
        if value is None:
            return None
        name, plain = value if isinstance(value, tuple) else (None, value)
        for member, column, converter in chosen:
            if _holds(member, name, plain):
                return {column: plain if converter is None else converter(plain)}
        raise SerializationError(f"no member of the union for a value of type {type(plain).__name__}")

    return convert


def _single_converter(member: AvroType) -> Convert | None:
    inner = value_converter(member)
    if not isinstance(member, NamedType):
        return inner

    def convert(value: Any) -> Any:
        plain = value[1] if isinstance(value, tuple) else value
        return plain if inner is None else inner(plain)

    return convert


PYTHON_TYPES: dict[tuple[Kind, str | None], str] = {
    (Kind.INT, "date"): "date",
    (Kind.INT, "time-millis"): "time",
    (Kind.LONG, "time-micros"): "time",
    (Kind.LONG, "timestamp-millis"): "datetime",
    (Kind.LONG, "timestamp-micros"): "datetime",
    (Kind.LONG, "local-timestamp-millis"): "datetime",
    (Kind.LONG, "local-timestamp-micros"): "datetime",
    (Kind.STRING, "uuid"): "UUID",
    (Kind.BYTES, "decimal"): "Decimal",
    (Kind.BOOLEAN, None): "bool",
    (Kind.FLOAT, None): "float",
    (Kind.DOUBLE, None): "float",
    (Kind.BYTES, None): "bytes",
    (Kind.STRING, None): "str",
}
"""What fastavro makes of a primitive type, by the name of the Python type; int and long are told by their range."""


def _holds(member: AvroType, name: str | None, value: Any) -> bool:
    """Whether a decoded value is of this branch."""
    if isinstance(member, NamedType):
        if name is not None:
            return name == member.name or name.rpartition(".")[2] == member.short_name or name in member.aliases
        return _unnamed_fits(member, value)
    if name is not None:
        return False
    if isinstance(member, ArrayType):
        return isinstance(value, list)
    if isinstance(member, MapType):
        return isinstance(value, dict)
    logical = member.props.get("logicalType")
    known = PYTHON_TYPES.get((member.kind, logical), PYTHON_TYPES.get((member.kind, None)))
    if known is None:
        bits = 31 if member.kind is Kind.INT else 63
        return type(value) is int and -(2**bits) <= value < 2**bits
    return type(value).__name__ == known


def _unnamed_fits(member: NamedType, value: Any) -> bool:
    """For values of a writer without a union: fastavro gives no name with them."""
    if isinstance(member, RecordType):
        return isinstance(value, dict) and value.keys() == {field.name for field in member.fields}
    if isinstance(member, EnumType):
        return isinstance(value, str) and value in member.symbols
    return type(value).__name__ in ("bytes", "Decimal")
