"""pipeline.columns.schema_types: Spark's decimals and integers in the places of types that it has not, both ways."""

from __future__ import annotations

import json
import uuid
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from pipeline.columns.batch_encoder import shared_encoder
from pipeline.columns.decoding import shared_decoder
from pipeline.columns.encoding import EncodeArguments, encode_plan_for
from pipeline.columns.plan import DecodeArguments, plan_for
from pipeline.columns.schema_types import OUT_OF_RANGE, levels_of, with_schema_types
from pipeline.errors import PlanError, RowError
from registry import Schema, SchemaRegistryClient

MESSAGE = """syntax = "proto3";
message Row { uint64 one = 1; repeated fixed64 many = 2; map<uint64, uint64> by = 3; Row again = 4; int64 signed = 5; }
"""
DOCUMENT = (
    '{"type": "object", "properties": {"one": {"type": "integer", "arrowType": "uint64"}, "many": {"type": "array",'
    ' "items": {"type": ["integer", "null"], "arrowType": "uint64"}}}}'
)
WIDE = pa.decimal128(20, 0)
MOST = Decimal(2**64 - 1)
ROW = pa.struct([("one", WIDE), ("many", pa.list_(WIDE)), ("by", pa.map_(WIDE, WIDE))])


@pytest.fixture
def conf() -> dict[str, Any]:
    return {"url": f"mock://unsigned-{uuid.uuid4()}"}


def registered(conf: dict[str, Any], text: str, kind: str, mode: str = "PERMISSIVE") -> Any:
    SchemaRegistryClient(conf).register_schema("s", Schema(text, kind))
    return shared_encoder(encode_plan_for(conf, EncodeArguments(subject="s", mode=mode)))


def test_what_protobuf_gives_is_written_again(conf: dict[str, Any]) -> None:
    encoder = registered(conf, MESSAGE, "PROTOBUF")
    kind = pa.struct([*ROW, pa.field("again", ROW), pa.field("signed", pa.int64())])
    row = {"one": MOST, "many": [Decimal(0), MOST], "by": [(MOST, Decimal(1))]}
    rows = [
        {**row, "again": row, "signed": -1},
        None,
        {"one": Decimal(2), "many": [], "by": [], "again": None, "signed": 0},
    ]
    frames, faults = encoder.read(pa.array(rows, kind))
    assert faults == []
    read = shared_decoder(plan_for(conf, DecodeArguments(subject="s", recursive_max_depth=2)))
    values = read.decode(frames)
    assert values.type.field("one").type == WIDE
    found = values.to_pylist()
    assert found[1:] == rows[1:]
    assert {**found[0], "again": {key: found[0]["again"][key] for key in row}} == rows[0]


def test_what_json_gives_is_written_again(conf: dict[str, Any]) -> None:
    encoder = registered(conf, DOCUMENT, "JSON")
    frames, faults = encoder.read(pa.array([{"one": MOST, "many": [MOST, None, Decimal(0)]}], pa.struct([*ROW][:2])))
    assert faults == []
    assert frames[0].as_py()[5:] == b'{"one":18446744073709551615,"many":[18446744073709551615,null,0]}'


@pytest.mark.parametrize(("text", "kind"), [(MESSAGE, "PROTOBUF"), (DOCUMENT, "JSON")])
def test_a_number_out_of_range_costs_its_row(conf: dict[str, Any], text: str, kind: str) -> None:
    encoder = registered(conf, text, kind)
    rows = [{"one": Decimal(n), "many": [Decimal(m)]} for n, m in ((1, 2), (2**64, 2), (3, -1), (4, 5))]
    frames, faults = encoder.read(pa.array(rows, pa.struct([*ROW][:2])))
    assert [frame is None for frame in frames.to_pylist()] == [False, True, True, False]
    assert [(fault.row, OUT_OF_RANGE in str(fault)) for fault in faults] == [(1, True), (2, True)]


def test_a_number_out_of_range_stops_a_job_that_takes_no_bad_rows(conf: dict[str, Any]) -> None:
    encoder = registered(conf, DOCUMENT, "JSON", "FAILFAST")
    with pytest.raises(RowError, match="none of the numbers from 0 to"):
        encoder.encode(pa.array([{"one": Decimal(-1)}], pa.struct([*ROW][:1])))


def test_times_of_json_that_are_numbers_in_spark_are_written_again(conf: dict[str, Any]) -> None:
    time = {"type": "string", "format": "time-local"}
    text = json.dumps({"type": "object", "properties": {"at": {"type": "array", "items": time}}})
    encoder = registered(conf, text, "JSON")
    values = pa.array(
        [{"at": [0, 86_399_999_999]}, {"at": [1]}, {"at": [-1]}], pa.struct([("at", pa.list_(pa.int64()))])
    )
    frames, faults = encoder.read(values)
    assert [frame and frame[5:] for frame in frames.to_pylist()] == [
        b'{"at":["00:00:00","23:59:59.999999"]}',
        b'{"at":["00:00:00.000001"]}',
        None,
    ]
    assert [fault.row for fault in faults] == [2]
    read = shared_decoder(plan_for(conf, DecodeArguments(subject="s", mode="PERMISSIVE")))
    assert read.read(frames).values.to_pylist() == [*values.to_pylist()[:2], None]


def test_nanoseconds_of_points_in_time_are_cut_off(conf: dict[str, Any]) -> None:
    text = (
        '{"type": "record", "name": "R", "fields": [{"name": "at", "type": {"type": "array",'
        ' "items": {"type": "long", "logicalType": "timestamp-nanos"}}}]}'
    )
    number = SchemaRegistryClient(conf).register_schema("s", Schema(text))
    read = shared_decoder(plan_for(conf, DecodeArguments(subject="s")))
    payload = b"\x0a" + bytes([0, 1, 0xCE, 0x0F, 0xD1, 0x0F, 0xCF, 0x0F]) + b"\x00"  # 0, -1, 999, -1001, -1000
    values = read.decode(pa.array([b"\0" + number.to_bytes(4, "big") + payload], pa.binary()))
    assert values.type.field("at").type.value_type == pa.timestamp("us", "UTC")
    assert values.field("at").values.view(pa.int64()).to_pylist() == [0, -1, 0, -2, -1]


def test_other_decimals_are_refused_as_before(conf: dict[str, Any]) -> None:
    encoder = registered(conf, MESSAGE, "PROTOBUF")
    for name, kind in (("one", pa.decimal128(20, 1)), ("signed", WIDE)):
        with pytest.raises(PlanError, match="can't be written as"):
            encoder.read(pa.array([{name: Decimal(1)}], pa.struct([(name, kind)])))


def test_types_meet_by_name() -> None:
    inner = pa.struct([("b", pa.list_(pa.uint64()))])
    wanted = pa.struct([("y", pa.map_(pa.string(), inner)), ("x", pa.uint64())])
    given = pa.struct(
        [("x", WIDE), ("y", pa.map_(pa.string(), pa.struct([("b", pa.list_(WIDE)), ("c", WIDE)]))), ("z", WIDE)]
    )
    found = with_schema_types(given, wanted)
    assert found.field("x").type == pa.uint64()
    assert found.field("y").type.item_type == pa.struct([("b", pa.list_(pa.uint64())), ("c", WIDE)])
    assert found.field("z").type == WIDE
    assert with_schema_types(pa.int64(), pa.uint64()) == pa.int64()
    assert [levels_of(kind) for kind in (WIDE, wanted, pa.list_(wanted))] == [0, 2, 2]
