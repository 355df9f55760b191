"""An Arrow type as a tree of growable columns: which shape each has, and where in the tree it stands.

Must not know of formats. The kernels' side is `serdes/kernels/native/columns.pxd`; `serdes.columnar.assemble` makes
arrays of what they filled.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

NULLS, FIXED, BITS, BINARY, LIST, STRUCT, UNION = range(7)
SHAPES: Final = ("nulls", "fixed", "bits", "binary", "list", "struct", "union")
MONTHS_DAYS_NANOS: Final = 16


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """One column and those beneath it.

    Attributes:
        type: of the column.
        place: in the whole tree, in preorder; the root has 0.
        shape: how its cells are kept (`SHAPES`).
        width: bytes of a cell; 0 where cells are not of one size.
        children: a struct's fields, a list's item, a map's entry (a struct of two), a union's members.
        span: columns of this tree, this one included.
    """

    type: pa.DataType
    place: int
    shape: int
    width: int
    children: tuple[Layout, ...]
    span: int

    def shapes(self) -> bytes:
        """The argument of `Builders`: of each column in preorder three native ints of 32 bits."""
        mine = struct.pack("=3i", self.shape, self.width, self.span)
        return mine + b"".join(child.shapes() for child in self.children)

    def every(self) -> list[Layout]:
        """All columns in preorder."""
        return [self, *(column for child in self.children for column in child.every())]


def layout_of(kind: pa.DataType, place: int = 0) -> Layout:
    """The columns of an Arrow type.

    Raises:
        TypeError: a type that kernels don't fill: lists of a fixed size, 64-bit offsets, views, dictionaries.
    """
    shape, width, inside = _shape(kind)
    children: list[Layout] = []
    at = place + 1
    for part in inside:
        children.append(layout_of(part, at))
        at += children[-1].span
    return Layout(kind, place, shape, width, tuple(children), at - place)


def _shape(kind: pa.DataType) -> tuple[int, int, list[pa.DataType]]:
    if pa.types.is_struct(kind):
        return STRUCT, 0, [kind.field(at).type for at in range(kind.num_fields)]
    if pa.types.is_list(kind):
        return LIST, 0, [kind.value_type]
    if pa.types.is_map(kind):
        return LIST, 0, [pa.struct([kind.key_field, kind.item_field])]
    if pa.types.is_union(kind) and kind.mode == "dense":
        return UNION, 0, [kind.field(at).type for at in range(kind.num_fields)]
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return BINARY, 0, []
    if pa.types.is_null(kind):
        return NULLS, 0, []
    if pa.types.is_boolean(kind):
        return BITS, 0, []
    if pa.types.is_fixed_size_binary(kind) and kind.byte_width > 0:
        return FIXED, kind.byte_width, []
    if pa.types.is_primitive(kind) or pa.types.is_decimal(kind):
        return FIXED, kind.bit_width // 8, []
    if kind.equals(pa.month_day_nano_interval()):
        return FIXED, MONTHS_DAYS_NANOS, []
    raise TypeError(f"kernels fill no columns of type {kind}")
