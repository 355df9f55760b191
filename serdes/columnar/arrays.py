"""The arrays of an Arrow type as kernels that write rows know them: numbered, with their buffers.

Must not know of formats. Source: Arrow columnar format 1.5, "C data interface".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from serdes.errors import SerializationError
from serdes.kernels.arrays import Source

MAX_DEPTH: Final = 100
"""Levels of an Arrow type."""
WHOLE: Final = {
    pa.int8(): Source.I8, pa.int16(): Source.I16, pa.int32(): Source.I32, pa.int64(): Source.I64,
    pa.uint8(): Source.U8, pa.uint16(): Source.U16, pa.uint32(): Source.U32, pa.uint64(): Source.U64,
}  # fmt: skip
REAL: Final = {pa.float16(): Source.F16, pa.float32(): Source.F32, pa.float64(): Source.F64}
TEXT: Final = {pa.string(): Source.OFFSETS_32, pa.large_string(): Source.OFFSETS_64, pa.string_view(): Source.VIEW}
OCTETS: Final = {pa.binary(): Source.OFFSETS_32, pa.large_binary(): Source.OFFSETS_64, pa.binary_view(): Source.VIEW}


@dataclass(frozen=True, slots=True)
class Column:
    """One array of an Arrow type.

    Attributes:
        number: its place among all of them, parents first.
        type: its type; of an extension type, what holds it.
        kids: the arrays in it, a dictionary's values last.
        uuid: whether its extension type says that it holds UUIDs.
    """

    number: int
    type: pa.DataType
    kids: tuple[Column, ...]
    uuid: bool = False

    def shape(self) -> tuple[int, int, int, int, int]:
        """Number of children, validity, buffers without it (-1: any), has a dictionary, children share positions."""
        kind = self.type
        types = pa.types
        union = types.is_union(kind)
        if types.is_dictionary(kind):
            return 0, 1, 1, 1, 0
        if types.is_null(kind):
            return 0, 0, 0, 0, 0
        if union:
            return len(self.kids), 0, 2 if kind.mode == "dense" else 1, 0, int(kind.mode == "sparse")
        if types.is_binary_view(kind) or kind == pa.string_view():
            return 0, 1, -1, 0, 0
        if types.is_struct(kind):
            return len(self.kids), 1, 0, 0, 1
        if types.is_fixed_size_list(kind):
            return 1, 1, 0, 0, 0
        two = kind in TEXT or kind in OCTETS or types.is_list_view(kind) or types.is_large_list_view(kind)
        return len(self.kids), 1, 2 if two else 1, 0, 0


def columns_of(kind: pa.DataType) -> tuple[Column, ...]:
    """The arrays of a type, parents first, as Arrow's C data interface nests them.

    Raises:
        SerializationError: it is nested too deeply, or run-end encoded.
    """
    made: list[Column] = []
    _number(kind, 0, made)
    return tuple(made)


def _number(kind: pa.DataType, level: int, columns: list[Column]) -> Column:
    if level > MAX_DEPTH:
        raise SerializationError(f"the Arrow type is nested deeper than {MAX_DEPTH} levels")
    uuid = False
    while isinstance(kind, pa.BaseExtensionType):
        uuid = kind.extension_name == "arrow.uuid"
        kind = kind.storage_type
    number = len(columns)
    columns.append(Column(number, kind, ()))
    types = pa.types
    inner: list[pa.DataType] = []
    if types.is_dictionary(kind):
        inner = [kind.value_type]
    elif types.is_map(kind):
        inner = [pa.struct([kind.key_field.with_name("key"), kind.item_field.with_name("value")])]
    elif types.is_struct(kind) or types.is_union(kind):
        inner = [kind.field(at).type for at in range(kind.num_fields)]
    elif is_list(kind):
        inner = [kind.value_type]
    elif types.is_run_end_encoded(kind):
        raise SerializationError("run-end encoded columns can't be written: decode them first (run_end_decode)")
    made = Column(number, kind, tuple(_number(one, level + 1, columns) for one in inner), uuid)
    columns[number] = made
    return made


def is_list(kind: pa.DataType) -> bool:
    """Whether a type is one of lists, of any layout."""
    types = pa.types
    lists = (types.is_list, types.is_large_list, types.is_fixed_size_list, types.is_list_view, types.is_large_list_view)
    return any(is_one(kind) for is_one in lists)


def list_source(kind: pa.DataType) -> tuple[Source, int]:
    """The form in which a list gives its items' places; the number of items of fixed-size lists."""
    types = pa.types
    if types.is_fixed_size_list(kind):
        return Source.WIDTH, kind.list_size
    if types.is_list(kind):
        return Source.OFFSETS_32, 0
    if types.is_large_list(kind):
        return Source.OFFSETS_64, 0
    return (Source.VIEWS_32 if types.is_list_view(kind) else Source.VIEWS_64), 0
