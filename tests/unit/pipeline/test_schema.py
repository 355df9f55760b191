"""pipeline.schema: Arrow types as Spark has them."""

from __future__ import annotations

import pyarrow as pa
import pytest

from pipeline.errors import PlanError
from pipeline.schema import spark_arrow_type

UTC_US = pa.timestamp("us", tz="UTC")


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (pa.timestamp("ms", tz="UTC"), UTC_US),
        (pa.timestamp("ns"), pa.timestamp("us")),
        (pa.time32("ms"), pa.int32()),
        (pa.time64("us"), pa.int64()),
        (pa.binary(16), pa.binary()),
        (pa.decimal128(12, 2), pa.decimal128(12, 2)),
        (pa.list_(pa.timestamp("ms", tz="UTC")), pa.list_(UTC_US)),
        (pa.map_(pa.string(), pa.timestamp("ms", tz="UTC")), pa.map_(pa.string(), UTC_US)),
        (
            pa.struct([("a", pa.struct([("t", pa.timestamp("ms"))]))]),
            pa.struct([("a", pa.struct([("t", pa.timestamp("us"))]))]),
        ),
    ],
)
def test_types(kind: pa.DataType, expected: pa.DataType) -> None:
    assert spark_arrow_type(kind) == expected


def test_every_field_may_be_null() -> None:
    kind = spark_arrow_type(pa.struct([pa.field("a", pa.int32(), nullable=False)]))
    assert kind.field(0).nullable


def test_a_decimal_too_wide_for_spark_is_refused() -> None:
    with pytest.raises(PlanError, match="a decimal of 50 digits has no Spark type"):
        spark_arrow_type(pa.struct([("deep", pa.list_(pa.decimal256(50, 2)))]))
