"""Arrow arrays as plain Python, to compare what two ways of decoding made: exact, and the same for every NaN."""

from __future__ import annotations

import itertools
from typing import Any

import pyarrow as pa

__all__ = ["cells"]


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
    if pa.types.is_timestamp(kind) or pa.types.is_time64(kind):
        return list(array.view(pa.int64()).to_pylist())
    if pa.types.is_date32(kind) or pa.types.is_time32(kind):
        return list(array.view(pa.int32()).to_pylist())
    return [repr(value) if isinstance(value, float) else value for value in array.to_pylist()]


def _where_valid(array: pa.Array, rows: list[Any]) -> list[Any]:
    return [row if valid else None for row, valid in zip(rows, array.is_valid().to_pylist(), strict=True)]


def _lists(array: pa.Array, items: list[Any]) -> list[Any]:
    offsets = array.offsets.to_pylist()
    return _where_valid(array, [items[start:end] for start, end in itertools.pairwise(offsets)])
