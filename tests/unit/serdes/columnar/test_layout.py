from __future__ import annotations

import struct
from typing import Any

import pyarrow as pa
import pytest

from serdes.columnar.assemble import array_of, errors_of
from serdes.columnar.contract import ColumnOptions
from serdes.columnar.layout import SHAPES, layout_of

MAP = pa.map_(pa.string(), pa.list_(pa.int8()))
WHOLE = pa.struct([("a", pa.int64()), ("m", MAP), ("s", pa.struct([("b", pa.bool_()), ("d", pa.decimal256(50, 2))]))])


def test_columns_stand_in_preorder() -> None:
    found = [(column.place, SHAPES[column.shape], column.width, column.span) for column in layout_of(WHOLE).every()]
    assert found == [
        (0, "struct", 0, 10),
        (1, "fixed", 8, 1),
        (2, "list", 0, 5),
        (3, "struct", 0, 4),
        (4, "binary", 0, 1),
        (5, "list", 0, 2),
        (6, "fixed", 1, 1),
        (7, "struct", 0, 3),
        (8, "bits", 0, 1),
        (9, "fixed", 32, 1),
    ]
    assert layout_of(WHOLE).shapes() == b"".join(
        struct.pack("=3i", c.shape, c.width, c.span) for c in layout_of(WHOLE).every()
    )


@pytest.mark.parametrize(
    ("kind", "shape", "width"),
    [
        (pa.null(), "nulls", 0),
        (pa.date32(), "fixed", 4),
        (pa.time64("us"), "fixed", 8),
        (pa.timestamp("ns", "UTC"), "fixed", 8),
        (pa.decimal128(3, 1), "fixed", 16),
        (pa.binary(12), "fixed", 12),
        (pa.month_day_nano_interval(), "fixed", 16),
        (pa.float32(), "fixed", 4),
        (pa.string(), "binary", 0),
        (pa.dense_union([pa.field("a", pa.int32())]), "union", 0),
    ],
    ids=str,
)
def test_shapes(kind: pa.DataType, shape: str, width: int) -> None:
    layout = layout_of(kind)
    assert (SHAPES[layout.shape], layout.width) == (shape, width)


@pytest.mark.parametrize("kind", [pa.large_string(), pa.list_(pa.int8(), 2), pa.string_view()], ids=str)
def test_other_types_are_refused(kind: pa.DataType) -> None:
    with pytest.raises(TypeError, match="kernels fill no columns"):
        layout_of(pa.struct([("a", kind)]))


# ---- assembling


def test_an_empty_tree_is_an_empty_array() -> None:
    columns = pytest.importorskip("serdes.kernels.native.columns")
    kind = pa.struct([("a", pa.int64()), ("m", pa.map_(pa.string(), pa.bool_())), ("n", pa.null())])
    made = array_of(columns.Builders(layout_of(kind).shapes()), kind)
    made.validate(full=True)
    assert made.equals(pa.array([], kind))


def test_errors() -> None:
    assert errors_of(3, {}).equals(pa.array([None] * 3, pa.string()))
    assert errors_of(3, {1: "bad"}).equals(pa.array([None, "bad", None], pa.string()))


# ---- options


@pytest.mark.parametrize(
    "wrong",
    [
        {"unions": "sparse"},
        {"enums": "value"},
        {"recursive_max_depth": -1},
        {"max_row_bytes": 0},
        {"max_empty_items": -1},
        {"columns": "id"},
        {"columns": ()},
    ],
)
def test_options_are_checked_when_they_are_made(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        ColumnOptions(**wrong)


def test_options_name_plans() -> None:
    assert len({ColumnOptions(columns=("a.b",)), ColumnOptions(columns=("a.b",))}) == 1
