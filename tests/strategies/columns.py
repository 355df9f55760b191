"""Arrow arrays as plain Python, to compare what two ways of decoding made: exact, and the same for every NaN."""

from __future__ import annotations

import itertools
from typing import Any

import pyarrow as pa

from registry.schemas.avro.model import ArrayType, AvroType, MapType, RecordType, TypeName, UnionType

__all__ = ["cells", "decoded"]


def cells(array: pa.Array) -> list[Any]:
    """The cells of an array that is no slice. Entries of maps are sorted; points in time are numbers."""
    kind = array.type
    if pa.types.is_struct(kind):
        fields = [cells(array.field(place)) for place in range(kind.num_fields)]
        rows = list(zip(*fields, strict=True)) if fields else [()] * len(array)
        return _where_valid(array, rows)
    if pa.types.is_list(kind):
        return _lists(array, cells(array.values))
    if pa.types.is_map(kind):
        entries = list(zip(cells(array.keys), cells(array.items), strict=True))
        return [None if row is None else sorted(row, key=repr) for row in _lists(array, entries)]
    if pa.types.is_union(kind):
        members = [cells(array.field(place)) for place in range(kind.num_fields)]
        places, offsets = array.type_codes.to_pylist(), array.offsets.to_pylist()
        return [(place, members[place][offset]) for place, offset in zip(places, offsets, strict=True)]
    return [repr(value) if isinstance(value, float) else value for value in _raw(array)]


def _where_valid(array: pa.Array, rows: list[Any]) -> list[Any]:
    return [row if valid else None for row, valid in zip(rows, array.is_valid().to_pylist(), strict=True)]


def _lists(array: pa.Array, items: list[Any]) -> list[Any]:
    offsets = array.offsets.to_pylist()
    return _where_valid(array, [items[start:end] for start, end in itertools.pairwise(offsets)])


# --- Avro columns as decoded values


def decoded(avro: AvroType, array: pa.Array, places: bool = True) -> list[Any]:
    """The cells of a column as the decoder of objects gives values; numbers of logical types stay numbers.

    Args:
        avro: the reader's schema.
        array: its column, no slice, with unions as dense ones.
        places: whether values of unions of several types come with the branch's place.
    """
    if isinstance(avro, RecordType):
        parts = [decoded(item.type, array.field(place), places) for place, item in enumerate(avro.fields)]
        names = [item.name for item in avro.fields]
        rows = zip(*parts, strict=True) if parts else [()] * len(array)
        return _where_valid(array, [dict(zip(names, row, strict=True)) for row in rows])
    if isinstance(avro, ArrayType):
        return _lists(array, decoded(avro.items, array.values, places))
    if isinstance(avro, MapType):
        entries = list(zip(array.keys.to_pylist(), decoded(avro.values, array.items, places), strict=True))
        return [None if row is None else dict(row) for row in _lists(array, entries)]
    if isinstance(avro, UnionType):
        others = [branch for branch in avro.branches if branch.kind is not TypeName.NULL]
        if len(others) < 2:
            return decoded(others[0] if others else avro.branches[0], array, places)
        members = [decoded(branch, array.field(at), places) for at, branch in enumerate(avro.branches)]
        found = zip(array.type_codes.to_pylist(), array.offsets.to_pylist(), strict=True)
        made = [(place, members[place][at]) for place, at in found]
        return [value if value is None or not places else (place, value) for place, value in made]
    return _raw(array)


def _raw(array: pa.Array) -> list[Any]:
    kind = array.type
    if pa.types.is_timestamp(kind) or pa.types.is_time64(kind):
        array = array.view(pa.int64())
    elif pa.types.is_date32(kind) or pa.types.is_time32(kind):
        array = array.view(pa.int32())
    return list(array.to_pylist())


def comparable(value: Any) -> Any:
    """Floats by their bits, entries of maps in some order: `google.protobuf` keeps none."""
    if isinstance(value, dict):
        return {name: comparable(part) for name, part in value.items()}
    if isinstance(value, list):
        made = [comparable(part) for part in value]
        return sorted(made, key=repr) if made and all(isinstance(part, tuple) for part in value) else made
    if isinstance(value, tuple):
        return tuple(comparable(part) for part in value)
    return repr(value) if isinstance(value, float) else value
