"""The size of a row in columns: the bound `max_row_bytes`, for decoders that make objects first.

Must not know of formats. Kernels count the same while they read; what they count for a cell may differ by some bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import pyarrow as pa

from serdes.columnar.layout import BINARY, LIST, STRUCT, UNION, Layout, layout_of

CELL_BYTES: Final = 5
"""The most bytes of a cell beside its value: an offset and its bit."""
Count: TypeAlias = Callable[[Any], int]


def item_bytes(column: Layout) -> int:
    """Bytes that an item of a list takes, but for those that stand in the payload."""
    mine = CELL_BYTES + column.width
    return mine if column.shape == LIST else mine + sum(item_bytes(child) for child in column.children)


class Room:
    """Judges decoded rows by what their items take.

    Args:
        kind: the Arrow type of the rows, one that kernels fill.
        max_row_bytes: what the items of a row's arrays and maps may take.
        texts: whether texts and bytes count too, wherever they are.
    """

    def __init__(self, kind: pa.DataType, max_row_bytes: int, texts: bool = False) -> None:
        layout = layout_of(kind)
        self._most, self._texts = max_row_bytes, texts
        self._count = self._counter(layout)
        self._dearest = item_bytes(layout) + sum(
            item_bytes(column) for column in layout.every() if column.shape == LIST
        )

    def holds(self, value: Any, items: int) -> bool:
        """Whether a row stays within the bound.

        Args:
            value: as pyarrow takes it for the type.
            items: so many items and bytes of text it has at most, if that is known to be few; else the value is walked.
        """
        return self._count is None or items * self._dearest <= self._most or self._count(value) <= self._most

    def _counter(self, column: Layout) -> Count | None:
        """The function that counts the bytes of a column's values; None if they take none."""
        if column.shape == LIST:
            return self._list(column)
        if column.shape == BINARY and self._texts:
            return lambda value: 0 if value is None else len(value.encode() if isinstance(value, str) else value)
        counters = [self._counter(child) for child in column.children]
        if not any(counters):
            return None
        if column.shape == UNION:
            return lambda pair: 0 if pair is None or counters[pair[0]] is None else counters[pair[0]](pair[1])
        assert column.shape == STRUCT
        named = [(column.type.field(at).name, count) for at, count in enumerate(counters) if count is not None]
        return lambda row: 0 if row is None else sum(count(row.get(name)) for name, count in named)

    def _list(self, column: Layout) -> Count:
        (item,) = column.children
        cost, count = item_bytes(item), self._counter(item)
        if pa.types.is_map(column.type):
            key, value = map(self._counter, item.children)

            def entries(found: Any) -> int:
                made = cost * len(found or ())
                for name, held in found or ():
                    made += (0 if key is None else key(name)) + (0 if value is None else value(held))
                return made

            return entries
        if count is None:
            return lambda found: cost * len(found or ())
        return lambda found: cost * len(found or ()) + sum(map(count, found or ()))
