"""pipeline.decoding and pipeline.resolver: frames of several schema ids become one struct; bad rows as asked."""

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

from pipeline.decoding import BatchDecoder, Mode, shared_decoder
from pipeline.errors import OptionError, PlanError, RowError
from pipeline.resolver import Snapshot, SnapshotResolver, take_snapshot
from registry import Schema, SchemaRegistryClient, SchemaRegistryError

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
    decoded = BatchDecoder(snapshot, Mode.FAILFAST).decode(frames)
    assert decoded.type == pa.struct([("a", pa.int32()), ("at", pa.timestamp("us", tz="UTC"))])
    assert decoded.is_null().to_pylist() == [False, True, False]
    second = datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)
    assert decoded.to_pylist() == [{"a": 1, "at": None}, None, {"a": 2, "at": second}]


def test_a_bad_row_is_null_or_carries_its_error_or_stops(snapshot: Snapshot) -> None:
    good = frame(ids(snapshot)[0], V1, {"a": 1})
    frames = pa.array([good, b"\x07nonsense", None])
    assert BatchDecoder(snapshot, Mode.PERMISSIVE).decode(frames).to_pylist() == [{"a": 1, "at": None}, None, None]
    told = BatchDecoder(snapshot, Mode.PERMISSIVE, "_error").decode(frames).to_pylist()
    assert told[0] == {"a": 1, "at": None, "_error": None}
    assert told[1]["a"] is None
    assert "magic" in told[1]["_error"]
    assert told[2] is None
    with pytest.raises(RowError) as caught:
        BatchDecoder(snapshot, Mode.FAILFAST).decode(frames)
    assert caught.value.row == 1


def test_the_reader_schema_may_be_given(snapshot: Snapshot) -> None:
    reader = Schema(
        json.dumps({**V1, "fields": [*V1["fields"], {"name": "b", "type": "string", "default": "x"}]}), "AVRO"
    )  # type: ignore[misc]
    chosen = Snapshot(snapshot.registry, snapshot.subject, reader, snapshot.schemas)
    decoded = BatchDecoder(chosen, Mode.FAILFAST).decode(pa.array([frame(ids(snapshot)[0], V1, {"a": 1})]))
    assert decoded.to_pylist() == [{"a": 1, "b": "x"}]


def test_an_error_field_that_is_taken_is_refused(snapshot: Snapshot) -> None:
    with pytest.raises(OptionError, match="'a' is a field"):
        BatchDecoder(snapshot, Mode.PERMISSIVE, "a")


def test_modes_by_name() -> None:
    assert Mode.of("failfast") is Mode.FAILFAST
    with pytest.raises(OptionError, match="PERMISSIVE or FAILFAST"):
        Mode.of("DROPMALFORMED")


def test_one_decoder_per_plan(snapshot: Snapshot) -> None:
    plan = uuid.uuid4().hex
    assert shared_decoder(plan, snapshot, Mode.FAILFAST, None) is shared_decoder(plan, snapshot, Mode.FAILFAST, None)


def test_a_snapshot_travels_without_showing_secrets(snapshot: Snapshot) -> None:
    secret = Snapshot({**snapshot.registry, "basic.auth.user.info": "u:hidden"}, "s", snapshot.reader, snapshot.schemas)
    assert "hidden" not in repr(secret)
    assert pickle.loads(pickle.dumps(secret)) == secret


def test_no_subject_is_a_plan_error() -> None:
    with pytest.raises(PlanError, match="nothing-value"):
        take_snapshot({"url": f"mock://{uuid.uuid4()}"}, "nothing-value")


def test_a_later_id_is_looked_up_once(snapshot: Snapshot) -> None:
    resolver = SnapshotResolver(snapshot)
    later = {"type": "record", "name": "Later", "fields": [{"name": "z", "type": "int"}]}
    with SchemaRegistryClient(dict(snapshot.registry)) as client:
        schema_id = client.register_schema("other", Schema(json.dumps(later), "AVRO"))
    assert resolver(schema_id) is resolver(schema_id)
    with pytest.raises(SchemaRegistryError):
        resolver(10_000)
