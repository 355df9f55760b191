"""The compiled columns: what comes out is valid Arrow, also after rows were taken back."""

from __future__ import annotations

import random
import struct
from typing import Any

import pyarrow as pa
import pytest

from serdes.columnar.assemble import array_of
from serdes.columnar.layout import BINARY, BITS, FIXED, LIST, NULLS, STRUCT, Layout, layout_of

columns = pytest.importorskip("serdes.kernels.native.columns")

UNION = pa.dense_union([pa.field("i", pa.int32()), pa.field("l", pa.list_(pa.string()))])
KINDS = [
    pa.int64(),
    pa.bool_(),
    pa.string(),
    pa.binary(),
    pa.decimal128(9, 2),
    pa.null(),
    pa.list_(pa.int32()),
    pa.list_(pa.list_(pa.bool_())),
    pa.map_(pa.string(), pa.int64()),
    pa.struct([("a", pa.int32()), ("b", pa.struct([("c", pa.string())]))]),
    UNION,
    pa.list_(UNION),
]


def some(rng: random.Random, kind: pa.DataType) -> Any:
    if pa.types.is_null(kind) or (rng.random() < 0.2 and not pa.types.is_union(kind)):
        return None
    if pa.types.is_struct(kind):
        return {kind.field(at).name: some(rng, kind.field(at).type) for at in range(kind.num_fields)}
    if pa.types.is_map(kind):
        return [("k", some(rng, kind.item_type)) for _ in range(rng.randint(0, 3))]
    if pa.types.is_list(kind):
        return [some(rng, kind.value_type) for _ in range(rng.randint(0, 3))]
    if pa.types.is_union(kind):
        place = rng.randrange(kind.num_fields)
        return place, some(rng, kind.field(place).type)
    if pa.types.is_boolean(kind):
        return rng.random() < 0.5
    if pa.types.is_binary(kind) or pa.types.is_string(kind):
        return b"x" * rng.choice([0, 1, 100])
    return rng.randrange(1000)


def put(builders: Any, layout: Layout, value: Any) -> None:
    """Appends a value; a union's comes with its place."""
    if pa.types.is_union(layout.type):
        builders.append(layout.place, value[0])
        put(builders, layout.children[value[0]], value[1])
        return
    if value is None or layout.shape == NULLS:
        builders.append(layout.place, None)
    elif layout.shape == STRUCT:
        parts = value.values() if isinstance(value, dict) else value
        for child, part in zip(layout.children, parts, strict=True):
            put(builders, child, part)
        builders.append(layout.place, True)
    elif layout.shape == LIST:
        for item in value:
            put(
                builders,
                layout.children[0],
                item
                if not isinstance(item, tuple) or UNION.equals(layout.children[0].type)
                else (item[0].encode(), item[1]),
            )
        builders.append(layout.place, True)
    elif layout.shape == FIXED:
        builders.append(layout.place, value.to_bytes(layout.width, "little"))
    else:
        assert layout.shape in (BITS, BINARY)
        builders.append(layout.place, value)


def seen(kind: pa.DataType, value: Any) -> Any:
    """A value as `to_pylist` shows it."""
    if value is None:
        return None
    if pa.types.is_struct(kind):
        return {
            kind.field(at).name: seen(kind.field(at).type, value[kind.field(at).name]) for at in range(kind.num_fields)
        }
    if pa.types.is_map(kind):
        return [(key, seen(kind.item_type, item)) for key, item in value]
    if pa.types.is_list(kind):
        return [seen(kind.value_type, item) for item in value]
    if pa.types.is_union(kind):
        return seen(kind.field(value[0]).type, value[1])
    if pa.types.is_decimal(kind):
        from decimal import Decimal

        return Decimal(value).scaleb(-kind.scale)
    return value.decode() if pa.types.is_string(kind) else value


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_appended_rows_come_out_and_rolled_back_ones_do_not(kind: pa.DataType, seed: int) -> None:
    rng = random.Random(seed)
    whole = pa.struct([("v", kind), ("after", pa.int32())])
    layout = layout_of(whole)
    builders = columns.Builders(layout.shapes())
    kept: list[Any] = []
    for _ in range(300):
        value = {"v": some(rng, kind), "after": some(rng, pa.int32())}
        draw = rng.random()
        if draw < 0.2:  # the row breaks off after its first column
            put(builders, layout.children[0], value["v"])
            builders.truncate(len(kept))
        elif draw < 0.3 and kept:
            put(builders, layout, value)
            back = rng.randint(1, min(5, len(kept)))
            del kept[-back + 1 or len(kept) :]
            builders.truncate(len(kept))
        elif draw < 0.4:
            builders.append(0, None)
            kept.append(None)
        else:
            put(builders, layout, value)
            kept.append(value)
        assert builders.length == len(kept)
    made = array_of(builders, whole)
    made.validate(full=True)
    assert made.to_pylist() == [seen(whole, row) for row in kept]
    assert made.null_count == kept.count(None)


def test_a_half_built_list_is_taken_back() -> None:
    kind = pa.struct([("l", pa.list_(pa.struct([("t", pa.string()), ("u", UNION)])))])
    layout = layout_of(kind)
    builders = columns.Builders(layout.shapes())
    item = layout.children[0].children[0]
    put(builders, layout, {"l": [{"t": b"a", "u": (0, 1)}]})
    put(builders, item, {"t": b"b", "u": (1, [b"x"])})
    put(builders, item.children[0], b"half an item")
    builders.append(item.children[1].place, 1)
    builders.append(item.children[1].children[1].children[0].place, b"half a list in a union")
    builders.truncate(1)
    put(builders, layout, {"l": []})
    put(builders, layout, {"l": [{"t": b"c", "u": (1, [])}]})
    made = array_of(builders, kind)
    made.validate(full=True)
    assert made.to_pylist() == [{"l": [{"t": "a", "u": 1}]}, {"l": []}, {"l": [{"t": "c", "u": []}]}]


def test_a_list_that_is_begun_in_a_union_is_taken_back() -> None:
    kind = pa.struct([("u", UNION)])
    layout = layout_of(kind)
    builders = columns.Builders(layout.shapes())
    union = layout.children[0]
    builders.append(union.place, 1)
    builders.append(union.children[1].children[0].place, b"the list does not end")
    builders.truncate(0)
    put(builders, layout, {"u": (1, [b"x"])})
    made = array_of(builders, kind)
    made.validate(full=True)
    assert made.to_pylist() == [{"u": ["x"]}]


@pytest.mark.parametrize(
    "facts",
    [
        [],
        [(FIXED, 0, 1)],
        [(99, 0, 1)],
        [(-1, 0, 1)],
        [(LIST, 0, 1)],
        [(LIST, 0, 3), (BITS, 0, 1), (BITS, 0, 1)],
        [(BITS, 0, 2), (BITS, 0, 1)],
        [(STRUCT, 0, 3), (BITS, 0, 1)],
        [(STRUCT, 0, 2), (BITS, 0, 2)],
        [(STRUCT, 0, 2), (BITS, 0, 1), (BITS, 0, 1)],
        [(STRUCT, 0, 0)],
    ],
)
def test_shapes_that_are_no_tree_are_refused(facts: list[tuple[int, int, int]]) -> None:
    with pytest.raises(ValueError, match=r"shapes are|not a tree"):
        columns.Builders(b"".join(struct.pack("=3i", *fact) for fact in facts))


def test_columns_are_taken_once() -> None:
    builders = columns.Builders(layout_of(pa.int32()).shapes())
    array_of(builders, pa.int32())
    with pytest.raises(ValueError, match="taken before"):
        builders.finish()
    with pytest.raises(ValueError, match="no such column"):
        builders.append(0, b"1234")


def test_exported_arrays_that_are_never_imported_are_freed() -> None:
    for _ in range(100):
        builders = columns.Builders(layout_of(pa.list_(pa.string())).shapes())
        builders.append(1, b"x" * 10_000)
        builders.finish()
