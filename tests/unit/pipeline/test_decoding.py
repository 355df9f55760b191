"""pipeline.columns.decoding: frames of several schema ids become one struct; bad rows as asked."""

from __future__ import annotations

import io
import json
import pickle
import uuid
from datetime import UTC, datetime
from typing import Any

import fastavro
import pyarrow as pa
import pytest

from pipeline.columns.decoding import BatchDecoder, shared_decoder
from pipeline.columns.modes import Mode
from pipeline.columns.plan import DecodePlan
from pipeline.columns.resolver import Snapshot, take_snapshot
from pipeline.columns.schema import spark_arrow_type
from pipeline.errors import LookupFailedError, OptionError, PlanError, RowError
from registry import Schema, SchemaRegistryClient

V1 = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]}
V2 = {
    "type": "record",
    "name": "R",
    "fields": [
        {"name": "a", "type": "int"},
        {"name": "at", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}], "default": None},
    ],
}


def frame(schema_id: int, schema: dict[str, Any], value: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema), value)
    return b"\x00" + schema_id.to_bytes(4, "big") + out.getvalue()


@pytest.fixture
def snapshot() -> Snapshot:
    conf = {"url": f"mock://{uuid.uuid4()}"}
    with SchemaRegistryClient(conf) as client:
        for schema in (V1, V2):
            client.register_schema("t-value", Schema(json.dumps(schema), "AVRO"))
    return take_snapshot(conf, "t-value")


def ids(snapshot: Snapshot) -> list[int]:
    return sorted(snapshot.schemas)


def test_two_ids_one_struct(snapshot: Snapshot) -> None:
    old, new = ids(snapshot)
    frames = pa.array([frame(old, V1, {"a": 1}), None, frame(new, V2, {"a": 2, "at": 1_000})])
    decoded = BatchDecoder(DecodePlan.of(snapshot, Mode.FAILFAST)).decode(frames)
    assert decoded.type == pa.struct([("a", pa.int32()), ("at", pa.timestamp("us", tz="UTC"))])
    assert decoded.is_null().to_pylist() == [False, True, False]
    second = datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)
    assert decoded.to_pylist() == [{"a": 1, "at": None}, None, {"a": 2, "at": second}]


def test_a_bad_row_is_null_or_carries_its_error_or_stops(snapshot: Snapshot) -> None:
    good = frame(ids(snapshot)[0], V1, {"a": 1})
    frames = pa.array([good, b"\x07nonsense", None])
    assert BatchDecoder(DecodePlan.of(snapshot, Mode.PERMISSIVE)).decode(frames).to_pylist() == [
        {"a": 1, "at": None},
        None,
        None,
    ]
    told = BatchDecoder(DecodePlan.of(snapshot, Mode.PERMISSIVE, error_field="_error")).decode(frames).to_pylist()
    assert told[0] == {"a": 1, "at": None, "_error": None}
    assert told[1]["a"] is None
    assert "magic" in told[1]["_error"]
    assert told[2] is None
    with pytest.raises(RowError) as caught:
        BatchDecoder(DecodePlan.of(snapshot, Mode.FAILFAST)).decode(frames)
    assert caught.value.row == 1


def test_the_reader_schema_may_be_given(snapshot: Snapshot) -> None:
    reader = Schema(
        json.dumps({**V1, "fields": [*V1["fields"], {"name": "b", "type": "string", "default": "x"}]}), "AVRO"
    )  # type: ignore[misc]
    chosen = Snapshot(snapshot.registry, snapshot.subject, reader, snapshot.schemas)
    decoded = BatchDecoder(DecodePlan.of(chosen, Mode.FAILFAST)).decode(
        pa.array([frame(ids(snapshot)[0], V1, {"a": 1})])
    )
    assert decoded.to_pylist() == [{"a": 1, "b": "x"}]


def test_an_error_field_that_is_taken_is_refused(snapshot: Snapshot) -> None:
    with pytest.raises(OptionError, match="'a' is a field"):
        BatchDecoder(DecodePlan.of(snapshot, Mode.PERMISSIVE, error_field="a"))


def test_an_error_field_is_taken_in_any_case(snapshot: Snapshot) -> None:
    with pytest.raises(OptionError, match="'AT' is a field"):
        BatchDecoder(DecodePlan.of(snapshot, Mode.PERMISSIVE, error_field="AT"))


@pytest.mark.parametrize("frames", [[], [None], [None, None]])
def test_batches_without_payloads(snapshot: Snapshot, frames: list[bytes | None]) -> None:
    for error_field in (None, "_error"):
        decoder = BatchDecoder(DecodePlan.of(snapshot, Mode.FAILFAST, error_field=error_field))
        decoded = decoder.decode(pa.array(frames, pa.binary()))
        assert decoded.type == decoder.arrow_type
        assert decoded.to_pylist() == [None] * len(frames)


def test_a_slice_of_a_batch_is_decoded_as_such(snapshot: Snapshot) -> None:
    old = ids(snapshot)[0]
    frames = pa.array([b"x", frame(old, V1, {"a": 1}), None, b"\x01", b"x"])[1:4]
    decoded = BatchDecoder(DecodePlan.of(snapshot, Mode.PERMISSIVE, error_field="_error")).decode(frames).to_pylist()
    assert [row and row["a"] for row in decoded] == [1, None, None]
    assert [row and row["_error"] is None for row in decoded] == [True, None, False]


def test_frames_that_are_cut_or_of_an_unknown_id_are_bad_rows(snapshot: Snapshot) -> None:
    old = ids(snapshot)[0]
    whole = frame(old, V1, {"a": 100_000})
    frames = pa.array([whole[:-1], whole + b"\0", b"", b"\0\0\0", b"\0\0\0\x27\x0f\0", whole])
    decoded = BatchDecoder(DecodePlan.of(snapshot, Mode.PERMISSIVE, error_field="_error")).decode(frames).to_pylist()
    assert [row["a"] for row in decoded] == [None] * 5 + [100_000]
    assert all(row["_error"] for row in decoded[:5])
    assert "id 9999" in decoded[4]["_error"]
    assert decoded[5]["_error"] is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "not valid"),
        (
            '{"type": "record", "name": "Tree", "fields": [{"name": "up", "type": ["null", "Tree"]}]}',
            "recursive types",
        ),
    ],
)
def test_reader_schemas_without_columns_fail_the_plan(snapshot: Snapshot, text: str, reason: str) -> None:
    chosen = Snapshot(snapshot.registry, "t-value", Schema(text, "AVRO"), snapshot.schemas)
    with pytest.raises(PlanError, match=rf"subject 't-value'.*{reason}"):
        BatchDecoder(DecodePlan.of(chosen, Mode.PERMISSIVE))


@pytest.mark.parametrize("mode", [Mode.PERMISSIVE, Mode.FAILFAST])
def test_a_registry_that_is_away_is_no_row_s_fault(snapshot: Snapshot, mode: Mode) -> None:
    away = Snapshot({"url": "http://127.0.0.1:1", "max.retries": 0}, "t-value", snapshot.reader, {})
    decoder = BatchDecoder(DecodePlan.of(away, mode, error_field="_error"))
    assert decoder.decode(pa.array([None], pa.binary())).to_pylist() == [None]
    with pytest.raises(LookupFailedError, match=r"can't be looked up: .*127\.0\.0\.1:1"):
        decoder.decode(pa.array([frame(1, V1, {"a": 1})]))


def test_modes_by_name() -> None:
    assert Mode.of("failfast") is Mode.FAILFAST
    with pytest.raises(OptionError, match="PERMISSIVE, FAILFAST, DEADLETTER"):
        Mode.of("DROPMALFORMED")


def test_one_decoder_per_content(snapshot: Snapshot) -> None:
    plan, same, other = (DecodePlan.of(snapshot, mode) for mode in (Mode.FAILFAST, Mode.FAILFAST, Mode.PERMISSIVE))
    assert plan is not same
    assert plan.key == same.key == pickle.loads(pickle.dumps(plan)).key != other.key
    assert shared_decoder(plan) is shared_decoder(same)
    assert shared_decoder(other) is not shared_decoder(plan)


# ---- schema


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
