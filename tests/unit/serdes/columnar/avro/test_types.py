from __future__ import annotations

import datetime
import json
import uuid
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from registry.schemas.avro.model import parse
from serdes.columnar.avro.types import arrow_type, value_converter
from serdes.errors import SerializationError

REC = {"type": "record", "name": "x.Rec", "aliases": ["Old"], "fields": [{"name": "v", "type": "int"}]}
ENUM = {"type": "enum", "name": "x.En", "symbols": ["A", "B"]}
FIXED = {"type": "fixed", "name": "x.Fix", "size": 2}
UTC = datetime.UTC


def logical(kind: str, name: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "logicalType": name, **more}


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ("null", pa.null()),
        ("boolean", pa.bool_()),
        ("int", pa.int32()),
        ("long", pa.int64()),
        ("float", pa.float32()),
        ("double", pa.float64()),
        ("bytes", pa.binary()),
        ("string", pa.string()),
        (ENUM, pa.string()),
        (FIXED, pa.binary()),
        (logical("int", "date"), pa.date32()),
        (logical("int", "time-millis"), pa.time32("ms")),
        (logical("long", "time-micros"), pa.time64("us")),
        (logical("long", "timestamp-millis"), pa.timestamp("ms", "UTC")),
        (logical("long", "timestamp-micros"), pa.timestamp("us", "UTC")),
        (logical("long", "local-timestamp-millis"), pa.timestamp("ms")),
        (logical("long", "local-timestamp-micros"), pa.timestamp("us")),
        (logical("string", "uuid"), pa.string()),
        (logical("bytes", "decimal", precision=12, scale=2), pa.decimal128(12, 2)),
        (logical("bytes", "decimal", precision=40), pa.decimal256(40, 0)),
        ({**FIXED, "logicalType": "decimal", "precision": 4, "scale": 1}, pa.decimal128(4, 1)),
        (logical("bytes", "decimal"), pa.binary()),
        (logical("bytes", "decimal", precision=2, scale=5), pa.binary()),
        ({**FIXED, "logicalType": "decimal", "precision": 5}, pa.binary()),
        (logical("int", "made-up"), pa.int32()),
        (logical("int", "timestamp-millis"), pa.int32()),
        ({"type": "array", "items": "int"}, pa.list_(pa.int32())),
        ({"type": "map", "values": ["null", "int"]}, pa.map_(pa.string(), pa.int32())),
        (REC, pa.struct([("v", pa.int32())])),
        (["null", "int"], pa.int32()),
        (["int"], pa.int32()),
        (["null"], pa.null()),
        (["null", "long", "int"], pa.int64()),
        (["double", "float"], pa.float64()),
        (["null", "int", "string"], pa.struct([("member0", pa.int32()), ("member1", pa.string())])),
        (["string", "null", REC], pa.struct([("member0", pa.string()), ("member1", pa.struct([("v", pa.int32())]))])),
    ],
)
def test_types(node: Any, expected: pa.DataType) -> None:
    assert arrow_type(parse(json.dumps(node))) == expected


def test_a_type_used_twice_is_not_recursive() -> None:
    fields = [{"name": "a", "type": REC}, {"name": "b", "type": "x.Rec"}]
    assert arrow_type(parse(json.dumps({"type": "record", "name": "x.Two", "fields": fields}))).num_fields == 2


def test_recursive_types_have_no_columns() -> None:
    node = {"type": "record", "name": "L", "fields": [{"name": "next", "type": ["null", "L"]}]}
    with pytest.raises(SerializationError, match="record L contains itself"):
        arrow_type(parse(json.dumps(node)))


@pytest.mark.parametrize("node", ["int", ["null", "int"], REC, {"type": "array", "items": "string"}, ENUM])
def test_most_types_need_no_conversion(node: Any) -> None:
    assert value_converter(parse(json.dumps(node))) is None


ONE = uuid.UUID(int=1)
NOON = datetime.datetime(2020, 1, 1, 12, tzinfo=UTC)
WIDE = ["null", "int", "long", "boolean", "string", "bytes", "double", {"type": "array", "items": "int"}, REC, ENUM]


@pytest.mark.parametrize(
    ("node", "value", "expected"),
    [
        (logical("string", "uuid"), ONE, str(ONE)),
        (["null", logical("string", "uuid")], None, None),
        ({"type": "map", "values": "int"}, {"a": 1}, [("a", 1)]),
        ({"type": "map", "values": logical("string", "uuid")}, {"a": ONE}, [("a", str(ONE))]),
        ({"type": "array", "items": logical("string", "uuid")}, [ONE], [str(ONE)]),
        (["null", REC, "string"], None, None),
        (["int", "long"], (1, 2**40), 2**40),
        (WIDE, None, None),
        (WIDE, (1, 5), {"member0": 5}),
        (WIDE, (2, 5), {"member1": 5}),
        (WIDE, (3, True), {"member2": True}),
        (WIDE, (4, "A"), {"member3": "A"}),
        (WIDE, (7, [1]), {"member6": [1]}),
        (WIDE, (8, {"v": 1}), {"member7": {"v": 1}}),
        (WIDE, (9, "A"), {"member8": "A"}),
        (["int", logical("long", "timestamp-millis")], (1, NOON), {"member1": NOON}),
        (["string", {"type": "map", "values": "int"}], (1, {"a": 1}), {"member1": [("a", 1)]}),
        (["string", logical("bytes", "decimal", precision=3)], (1, Decimal(5)), {"member1": Decimal(5)}),
        ({**FIXED, "size": 16, "logicalType": "uuid"}, ONE, ONE.bytes),
    ],
)
def test_conversion(node: Any, value: Any, expected: Any) -> None:
    avro = parse(json.dumps(node))
    convert = value_converter(avro)
    assert convert is not None
    converted = convert(value)
    assert converted == expected
    pa.array([converted], arrow_type(avro))


def test_records_convert_only_what_needs_it() -> None:
    node = {**REC, "fields": [{"name": "v", "type": "int"}, {"name": "u", "type": logical("string", "uuid")}]}
    convert = value_converter(parse(json.dumps(node)))
    assert convert is not None
    assert convert({"v": 1, "u": ONE}) == {"v": 1, "u": str(ONE)}
    assert convert(None) is None


def test_decimals_too_long_for_arrow_have_no_columns() -> None:
    with pytest.raises(SerializationError, match=r"decimal\(77, 0\): columns have 76 digits at most"):
        arrow_type(parse(json.dumps(logical("bytes", "decimal", precision=77))))
