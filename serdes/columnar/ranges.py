"""Ranges of the items in Arrow's lists and maps, of all kinds, for paths by way of Python objects.

Must not know of formats.
"""

from __future__ import annotations

from itertools import pairwise

import pyarrow as pa


def ranges_of(array: pa.Array) -> list[tuple[int, int]]:
    """Start and end of each list among all items (`values`; `keys` and `items` of a map); any for a null one."""
    kind, types = array.type, pa.types
    if types.is_fixed_size_list(kind):
        size = kind.list_size
        return [((array.offset + at) * size, (array.offset + at + 1) * size) for at in range(len(array))]
    starts = array.offsets.to_pylist()
    if types.is_list_view(kind) or types.is_large_list_view(kind):
        sizes = array.sizes.to_pylist()
        return [(start, start + size) for start, size in zip(starts, sizes, strict=True)]
    return list(pairwise(starts))


def octets_of(array: pa.Array) -> pa.Array:
    """A column of texts as one of bytes, so that what is no UTF-8 can be found; other columns as they are."""
    if pa.types.is_string(array.type):
        return array.view(pa.binary())
    if pa.types.is_large_string(array.type):
        return array.view(pa.large_binary())
    return array.view(pa.binary_view()) if array.type == pa.string_view() else array
