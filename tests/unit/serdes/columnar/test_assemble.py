from __future__ import annotations

import pyarrow as pa
import pytest

from serdes.columnar.assemble import array_of, errors_of
from serdes.columnar.layout import layout_of

columns = pytest.importorskip("serdes.kernels.native.columns")


def test_an_empty_tree_is_an_empty_array() -> None:
    kind = pa.struct([("a", pa.int64()), ("m", pa.map_(pa.string(), pa.bool_())), ("n", pa.null())])
    made = array_of(columns.Builders(layout_of(kind).shapes()), kind)
    made.validate(full=True)
    assert made.equals(pa.array([], kind))


def test_errors() -> None:
    assert errors_of(3, {}).equals(pa.array([None] * 3, pa.string()))
    assert errors_of(3, {1: "bad"}).equals(pa.array([None, "bad", None], pa.string()))
