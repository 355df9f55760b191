"""Arrow types with arrays of them: nested, sliced, dictionary-encoded, of every layout."""

from __future__ import annotations

import datetime
import decimal
import functools
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from tests.strategies.avro import exact

__all__ = ["arrays", "laid_out", "structs", "types", "values"]

INTS = {
    pa.int8(): (-(2**7), 2**7 - 1), pa.int16(): (-(2**15), 2**15 - 1), pa.int32(): (-(2**31), 2**31 - 1),
    pa.int64(): (-(2**63), 2**63 - 1), pa.uint8(): (0, 2**8 - 1), pa.uint16(): (0, 2**16 - 1),
    pa.uint32(): (0, 2**32 - 1), pa.uint64(): (0, 2**64 - 1),
}  # fmt: skip
TEXTS = [pa.string(), pa.large_string(), pa.string_view()]
OCTETS = [pa.binary(), pa.large_binary(), pa.binary_view()]
UNITS = ["s", "ms", "us", "ns"]
SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
YEAR_3000 = 32_503_680_000
LEAVES = [
    *INTS, *TEXTS, *OCTETS, pa.null(), pa.bool_(), pa.float16(), pa.float32(), pa.float64(),
    pa.binary(16), pa.binary(3),
    pa.date32(), pa.date64(), pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"),
    *(pa.timestamp(unit, zone) for unit in UNITS for zone in (None, "UTC", "Europe/Berlin")),
    *map(pa.duration, UNITS), pa.month_day_nano_interval(), pa.uuid(),
    pa.decimal32(5, 2), pa.decimal64(12, 0), pa.decimal128(12, 2), pa.decimal128(38, 10), pa.decimal128(5, -3),
    pa.decimal256(76, 20), pa.decimal256(40, 0),
]  # fmt: skip
NAMES = st.sampled_from(["a", "b", "c", "d e", "1st", "ü", "", "a_"])


def field_of(name: str, kind: pa.DataType, nullable: bool) -> pa.Field:
    return pa.field(name, kind, nullable or pa.types.is_null(kind))


@functools.cache
def types(depth: int = 2) -> st.SearchStrategy[pa.DataType]:
    """Any type but unions, run-end encoded and extension types of others."""
    leaves = st.sampled_from(LEAVES)
    if depth == 0:
        return leaves | st.sampled_from(TEXTS).map(lambda kind: pa.dictionary(pa.int8(), kind))
    inner = types(depth - 1)
    fields = st.builds(lambda kind, nullable: field_of("item", kind, nullable), inner, st.booleans())
    return st.one_of(
        leaves,
        leaves,
        fields.map(pa.list_),
        fields.map(pa.large_list),
        fields.map(lambda one: pa.list_(one, 2)),
        fields.map(pa.list_view),
        fields.map(pa.large_list_view),
        st.builds(pa.map_, st.sampled_from(TEXTS), inner),
        st.builds(lambda value: pa.map_(pa.int32(), value), inner),
        structs(depth - 1),
        st.builds(pa.dictionary, st.sampled_from([pa.int8(), pa.uint16(), pa.int64()]), st.sampled_from(TEXTS)),
    )


@functools.cache
def structs(depth: int = 2) -> st.SearchStrategy[pa.DataType]:
    """Struct types with one to four fields."""
    return st.lists(
        st.tuples(NAMES, types(depth), st.booleans()), min_size=1, max_size=4, unique_by=lambda f: f[0]
    ).map(lambda fields: pa.struct([field_of(*field) for field in fields]))


@functools.cache
def values(kind: pa.DataType) -> st.SearchStrategy[Any]:
    """Values of a type, null among them."""
    return st.one_of(st.none(), *[_values(kind)] * 4)


@functools.cache
def _values(kind: pa.DataType) -> st.SearchStrategy[Any]:
    is_one = pa.types
    if kind in INTS:
        low, high = INTS[kind]
        return st.integers(low, high) | st.integers(max(low, -3), 3)
    if kind in TEXTS:
        return st.text(max_size=20)
    if kind in OCTETS:
        return st.binary(max_size=20)
    if isinstance(kind, pa.UuidType):
        return st.uuids()
    if is_one.is_fixed_size_binary(kind):
        return st.binary(min_size=kind.byte_width, max_size=kind.byte_width)
    if is_one.is_null(kind):
        return st.none()
    if is_one.is_boolean(kind):
        return st.booleans()
    if is_one.is_floating(kind):
        return st.floats(width=kind.bit_width, allow_nan=False)
    if is_one.is_dictionary(kind):
        return _values(kind.value_type)
    if is_one.is_struct(kind):
        return st.fixed_dictionaries(
            {kind.field(at).name: values(kind.field(at).type) for at in range(kind.num_fields)}
        )
    if is_one.is_map(kind):
        keys = _values(kind.key_type)
        return st.lists(st.tuples(keys, values(kind.item_type)), max_size=3, unique_by=lambda entry: entry[0])
    if is_one.is_nested(kind):
        size = kind.list_size if is_one.is_fixed_size_list(kind) else None
        return st.lists(values(kind.value_type), min_size=size or 0, max_size=3 if size is None else size)
    return _moments(kind)


def _moments(kind: pa.DataType) -> st.SearchStrategy[Any]:
    is_one = pa.types
    if is_one.is_decimal(kind):
        bound = 10**kind.precision - 1
        return st.integers(-bound, bound).map(lambda number: _decimal(number, kind.scale))
    if is_one.is_date(kind):
        return st.dates(datetime.date(1900, 1, 1), datetime.date(2200, 1, 1))
    if is_one.is_interval(kind):
        return st.tuples(st.integers(-3, 9), st.integers(-3, 9), st.sampled_from([0, 10**6, 123 * 10**6, 1, -(10**6)]))
    units = SECOND[kind.unit]
    if is_one.is_time(kind):
        return st.integers(0, 86_400 * units - 1)
    high = min(YEAR_3000 * units, 2**63 - 1)
    if is_one.is_duration(kind):
        return st.integers(-(10**6), 2**62)
    return st.integers(-(10**9) * units, high) | st.integers(-5, 5).map(lambda n: n * 10**9)


def _decimal(number: int, scale: int) -> decimal.Decimal:
    return exact(number, scale) if scale >= 0 else exact(number * 10**-scale, 0)


def arrays(kind: pa.DataType, max_size: int = 6) -> st.SearchStrategy[pa.Array]:
    """Arrays of a struct type."""
    return st.lists(values(kind), max_size=max_size).map(lambda rows: laid_out(rows, kind))


def laid_out(rows: list[Any], kind: pa.DataType) -> pa.Array:
    """An array of values; of those that `pa.array` does not take as they are (times as numbers), too."""
    is_one = pa.types
    if is_one.is_struct(kind):
        parts = [
            laid_out([None if row is None else row[kind.field(at).name] for row in rows], kind.field(at).type)
            for at in range(kind.num_fields)
        ]
        fields = [kind.field(at) for at in range(kind.num_fields)]
        return pa.StructArray.from_arrays(
            parts, fields=fields, mask=pa.array([row is None for row in rows], pa.bool_())
        )
    if is_one.is_map(kind):
        entries = [entry for row in rows if row is not None for entry in row]
        keys, items = (
            laid_out([key for key, _ in entries], kind.key_type),
            laid_out([v for _, v in entries], kind.item_type),
        )
        return pa.MapArray.from_arrays(pa.array(_starts(rows), pa.int32()), keys, items, kind, mask=_mask(rows))
    if is_one.is_fixed_size_list(kind):
        items = laid_out([item for row in rows for item in (row or [None] * kind.list_size)], kind.value_type)
        return pa.FixedSizeListArray.from_arrays(items, type=kind, mask=_mask(rows))
    if is_one.is_list_view(kind) or is_one.is_large_list_view(kind):
        items = laid_out([item for row in reversed(rows) for item in (row or ())], kind.value_type)
        sizes = [len(row or ()) for row in rows]
        starts = [sum(sizes[at + 1 :]) for at in range(len(rows))]
        made = pa.ListViewArray if is_one.is_list_view(kind) else pa.LargeListViewArray
        width = pa.int32() if is_one.is_list_view(kind) else pa.int64()
        return made.from_arrays(pa.array(starts, width), pa.array(sizes, width), items, kind, mask=_mask(rows))
    if is_one.is_list(kind) or is_one.is_large_list(kind):
        items = laid_out([item for row in rows if row is not None for item in row], kind.value_type)
        width, made = (pa.int32(), pa.ListArray) if is_one.is_list(kind) else (pa.int64(), pa.LargeListArray)
        return made.from_arrays(pa.array(_starts(rows), width), items, kind, mask=_mask(rows))
    if is_one.is_dictionary(kind):  # null as an index, and null as a value
        known = [None, *dict.fromkeys(row for row in rows if row is not None)]
        places = [None if row is None and at % 2 else known.index(row) for at, row in enumerate(rows)]
        return pa.DictionaryArray.from_arrays(pa.array(places, kind.index_type), laid_out(known, kind.value_type))
    if is_one.is_temporal(kind) and not is_one.is_date(kind) and not is_one.is_interval(kind):
        return pa.array(rows, pa.int32() if is_one.is_time32(kind) else pa.int64()).view(kind)
    if isinstance(kind, pa.UuidType):
        stored = pa.array([None if row is None else row.bytes for row in rows], pa.binary(16))
        return pa.ExtensionArray.from_storage(kind, stored)
    return pa.array(rows, kind)


def _starts(rows: list[Any]) -> list[int]:
    starts = [0]
    for row in rows:
        starts.append(starts[-1] + len(row or ()))
    return starts


def _mask(rows: list[Any]) -> pa.Array:
    return pa.array([row is None for row in rows], pa.bool_())
