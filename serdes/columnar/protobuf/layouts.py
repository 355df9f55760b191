"""Arrow columns of any layout in the few that Protobuf's writing knows: no views, dictionaries or extension types.

Must not know of messages. What pyarrow casts right is left to it; views of lists (which it casts wrongly when they are
sliced) and extension types are taken apart here. Source: Arrow columnar format 1.5.
"""

from __future__ import annotations

import contextlib
import uuid
from itertools import accumulate, pairwise
from typing import Any

import pyarrow as pa

from serdes.columnar.arrays import is_list
from serdes.columnar.ranges import ranges_of


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type in the layouts that the kernel reads; of an extension type, what holds it."""
    types = pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return plain_type(kind.storage_type)
    if types.is_struct(kind):
        return pa.struct([pa.field(field.name, plain_type(field.type)) for field in kind])
    if types.is_map(kind):
        return pa.map_(plain_type(kind.key_type), plain_type(kind.item_type))
    if types.is_large_list(kind) or types.is_large_list_view(kind):
        return pa.large_list(plain_type(kind.value_type))
    if is_list(kind):
        return pa.list_(plain_type(kind.value_type))
    if types.is_dictionary(kind):
        return plain_type(kind.value_type)
    if types.is_string_view(kind):
        return pa.large_string()
    if types.is_binary_view(kind):
        return pa.large_binary()
    return pa.float32() if types.is_float16(kind) else kind


def in_plain_layout(array: Any, kind: pa.DataType) -> Any:
    """The same values as an array of a type of `plain_type`; UUIDs as texts where the type has texts for them."""
    own, types = array.type, pa.types
    if own == kind:
        return array
    if isinstance(own, pa.BaseExtensionType):
        return _texts(array.storage) if _are_texts(own, kind) else in_plain_layout(array.storage, kind)
    if not _taken_apart(own):
        with contextlib.suppress(pa.ArrowIndexError):  # of places in a dictionary without values, under nulls
            return array.cast(kind)
    mask = array.is_null() if array.null_count else None
    if types.is_dictionary(own) and not len(array.dictionary):
        return pa.nulls(len(array), kind)
    if types.is_dictionary(own):
        return in_plain_layout(array.dictionary, kind).take(array.indices)
    if types.is_struct(own):
        children = [in_plain_layout(array.field(at), kind.field(at).type) for at in range(own.num_fields)]
        return pa.StructArray.from_arrays(children, fields=list(kind), mask=mask)
    valid = array.is_valid().to_pylist()
    ranges = [found if there else (0, 0) for found, there in zip(ranges_of(array), valid, strict=True)]
    parts = (array.keys, array.items) if types.is_map(own) else (array.values,)
    inner = (kind.key_type, kind.item_type) if types.is_map(own) else (kind.value_type,)
    taken = [_items(in_plain_layout(part, of), ranges) for part, of in zip(parts, inner, strict=True)]
    starts = list(accumulate((end - start for start, end in ranges), initial=0))
    offsets = pa.array(starts, pa.int64() if types.is_large_list(kind) else pa.int32())
    made: Any = pa.MapArray if types.is_map(own) else pa.LargeListArray if types.is_large_list(kind) else pa.ListArray
    return made.from_arrays(offsets, *taken, mask=mask)


def with_texts(given: pa.DataType, kind: pa.DataType, in_texts: Any) -> pa.DataType:
    """The plain type where UUIDs that stand in fields of text are texts.

    Args:
        given: the type of the rows.
        kind: its plain type.
        in_texts: of a struct the same for its fields, by name; of lists and maps that of items; else whether the field
            holds texts.
    """
    types = pa.types
    if _is_uuid(given):
        return pa.string() if in_texts is True else kind
    if isinstance(given, pa.BaseExtensionType):
        return with_texts(given.storage_type, kind, in_texts)
    if types.is_dictionary(given):
        return with_texts(given.value_type, kind, in_texts)
    if types.is_struct(given) and isinstance(in_texts, dict):
        pairs = zip(given, kind, strict=True)
        return pa.struct(
            [pa.field(one.name, with_texts(one.type, own.type, in_texts.get(one.name))) for one, own in pairs]
        )
    if types.is_map(given) and isinstance(in_texts, dict):
        key = with_texts(given.key_type, kind.key_type, in_texts.get("key"))
        return pa.map_(key, with_texts(given.item_type, kind.item_type, in_texts.get("value")))
    if is_list(given):
        inner = with_texts(given.value_type, kind.value_type, in_texts)
        return pa.large_list(inner) if types.is_large_list(kind) else pa.list_(inner)
    return kind


def _is_uuid(kind: pa.DataType) -> bool:
    return isinstance(kind, pa.BaseExtensionType) and kind.extension_name == "arrow.uuid"


def _are_texts(own: pa.DataType, kind: pa.DataType) -> bool:
    return _is_uuid(own) and pa.types.is_string(kind)


def _texts(array: Any) -> pa.Array:
    return pa.array(
        [None if value is None else str(uuid.UUID(bytes=value)) for value in array.to_pylist()], pa.string()
    )


def _taken_apart(kind: pa.DataType) -> bool:
    """Whether there is something in a type that pyarrow's cast can't be left to."""
    types = pa.types
    if isinstance(kind, pa.BaseExtensionType) or types.is_list_view(kind) or types.is_large_list_view(kind):
        return True
    if types.is_dictionary(kind):
        return _taken_apart(kind.value_type)
    if types.is_struct(kind):
        return any(_taken_apart(field.type) for field in kind)
    if types.is_map(kind):
        return _taken_apart(kind.key_type) or _taken_apart(kind.item_type)
    return is_list(kind) and _taken_apart(kind.value_type)


def _items(values: pa.Array, ranges: list[tuple[int, int]]) -> pa.Array:
    """The items of all lists, one list after the other."""
    spans = [(start, end) for start, end in ranges if end > start]
    if any(end != start for (_, end), (start, _) in pairwise(spans)):
        return values.take(pa.array([place for span in spans for place in range(*span)], pa.int64()))
    first, last = (spans[0][0], spans[-1][1]) if spans else (0, 0)
    return values.slice(first, last - first)
