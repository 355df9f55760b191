"""serdes.columnar.room: what rows take, and that decoders without kernels hold the bound."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest

from registry import Schema
from serdes.columnar import ColumnarDecoder, ColumnOptions
from serdes.columnar.layout import layout_of
from serdes.columnar.room import CELL_BYTES, Room, item_bytes
from serdes.formats.avro.codec import encoder, load_texts

ENTRIES = pa.map_(pa.string(), pa.int64())


@pytest.mark.parametrize(
    ("kind", "size"),
    [
        (pa.int64(), CELL_BYTES + 8),
        (pa.string(), CELL_BYTES),
        (pa.struct([("a", pa.int32()), ("b", pa.decimal128(5))]), 3 * CELL_BYTES + 4 + 16),
        (pa.struct([("a", pa.list_(pa.int64()))]), 2 * CELL_BYTES),
    ],
)
def test_an_item_takes_its_cells(kind: pa.DataType, size: int) -> None:
    assert item_bytes(layout_of(kind)) == size


@pytest.mark.parametrize(
    ("kind", "value", "texts", "size"),
    [
        (pa.list_(pa.int64()), [1, 2, None], False, 3 * 13),
        (pa.list_(pa.int64()), None, False, 0),
        (pa.list_(pa.list_(pa.int8())), [[1, 2], None, []], False, 3 * CELL_BYTES + 2 * 6),
        (ENTRIES, [("key", 1), ("k", 2)], False, 2 * 23),
        (ENTRIES, [("key", 1), ("é", 2)], True, 2 * 23 + 5),
        (pa.struct([("t", pa.string()), ("b", pa.binary())]), {"t": "éa", "b": b"xyz"}, True, 6),
        (pa.struct([("t", pa.list_(pa.string()))]), {"t": ["a", None, "bc"]}, True, 3 * CELL_BYTES + 3),
        (pa.struct([("t", pa.list_(pa.string()))]), {}, True, 0),
        (pa.map_(pa.string(), pa.list_(pa.bool_())), [("a", [True])], False, 3 * CELL_BYTES + CELL_BYTES),
    ],
)
def test_a_row_holds_what_it_takes_and_no_byte_less(kind: pa.DataType, value: Any, texts: bool, size: int) -> None:
    many = 10**9
    assert Room(kind, max(size, 1), texts).holds(value, many)
    if size:
        assert not Room(kind, size - 1, texts).holds(value, many)


def test_members_of_unions_count() -> None:
    kind = pa.dense_union([pa.field("a", pa.null()), pa.field("b", pa.list_(pa.int64()))])
    found = [Room(kind, 20).holds(value, 10**9) for value in (None, (0, None), (1, [1]), (1, [1, 2]))]
    assert found == [True, True, True, False]


def test_a_row_of_few_items_is_not_walked() -> None:
    assert Room(pa.list_(pa.int64()), 1000).holds(object(), 10)


@pytest.mark.parametrize("impl", ["native", "pure"])
def test_avro_rows_of_too_much_are_errors(impl: str) -> None:
    if impl == "native":
        pytest.importorskip("serdes.kernels.native.avro_columns")
    fields = [{"name": "a", "type": {"type": "array", "items": "long"}}]
    text = json.dumps({"type": "record", "name": "R", "fields": fields})
    encode = encoder(load_texts(text), b"\0\0\0\0\1")
    frames = pa.array([encode({"a": list(range(size))}) for size in (10, 2000, 0)], pa.binary())
    options = ColumnOptions(max_row_bytes=5000, max_empty_items=0)
    made = ColumnarDecoder({1: Schema(text)}.__getitem__, Schema(text), options=options, impl=impl).decode(frames)
    assert [error is None or "see max_row_bytes" in error for error in made.errors.to_pylist()] == [True] * 3
    assert made.errors.is_valid().to_pylist() == [False, True, False]
    assert made.struct.to_pylist() == [{"a": list(range(10))}, None, {"a": []}]
