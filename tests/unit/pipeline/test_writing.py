"""pipeline.sink.options and pipeline.sink.writing: rows of a task to records, on the embedded broker and registry."""

from __future__ import annotations

import json
import pickle
import time
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from kafka_core import Consumer, TopicPartition
from kafka_core.broker import EmbeddedCluster
from kafka_core.protocol.messages.produce import ProduceRequest
from pipeline.columns import clients
from pipeline.columns.encode_plan import EncodePlan
from pipeline.errors import OptionError, PlanError, WriteError
from pipeline.sink.options import WriteOptions
from pipeline.sink.writing import WritePlan, plan_write, write_rows
from registry import Schema, SchemaRegistryClient
from registry.dev import RegistryServer, serve
from serdes.columnar import ColumnarDecoder

ORDER = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "int"}]}
LIMIT_S = 60.0
STRUCT = pa.struct([("id", pa.int64())])


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster() as started:
        yield started


@pytest.fixture(scope="module")
def registry() -> Iterator[RegistryServer]:
    with pytest.MonkeyPatch.context() as patch, serve() as server:
        own: OrderedDict[str, SchemaRegistryClient] = OrderedDict()
        patch.setattr(clients, "_clients", own)
        yield server
        for client in own.values():
            client.close()


def options(cluster: EmbeddedCluster, **more: str) -> WriteOptions:
    given = {name.replace("__", "."): value for name, value in more.items()}
    return WriteOptions.parse({"kafka.bootstrap.servers": cluster.bootstrap_servers, **given})


def plan(chosen: WriteOptions, batch: pa.RecordBatch, **types: str) -> WritePlan:
    names = {"value": "binary", "key": "binary", "topic": "string", **types}
    columns = {name: names.get(name, "int") for name in batch.schema.names}
    return pickle.loads(pickle.dumps(plan_write(chosen, columns, batch.schema)))


def records(cluster: EmbeddedCluster, topic: str, count: int) -> list[Any]:
    conf = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "g", "auto.offset.reset": "earliest"}
    with Consumer(conf) as consumer:
        consumer.assign([TopicPartition(topic, 0, 0)])
        found: list[Any] = []
        deadline_s = time.monotonic() + LIMIT_S
        while len(found) < count and time.monotonic() < deadline_s:
            found += consumer.consume(count - len(found), timeout=1)
    assert len(found) == count
    return found


def test_columns_are_those_of_sparks_own_sink(cluster: EmbeddedCluster) -> None:
    batch = pa.RecordBatch.from_pydict(
        {
            "value": [b"1", b"2", b"3"],
            "key": [b"k", None, None],
            "topic": ["a", "b", "a"],
            "partition": pa.array([0, None, 0], pa.int32()),
            "offset": [7, 8, 9],
        }
    )
    assert write_rows([batch, batch.slice(2)], plan(options(cluster), batch, offset="bigint")).rows == 4
    assert [record.value() for record in records(cluster, "a", 3)] == [b"1", b"3", b"3"]
    assert write_rows([batch], plan(options(cluster, topic="all"), batch, offset="bigint")).rows == 3


def test_a_row_without_a_topic_is_an_error(cluster: EmbeddedCluster) -> None:
    batch = pa.RecordBatch.from_pydict({"value": [b"1"], "topic": pa.array([None], pa.string())})
    with pytest.raises(WriteError, match="a row has no topic"):
        write_rows([batch], plan(options(cluster), batch))


def test_structs_are_encoded_with_the_newest_schema(cluster: EmbeddedCluster, registry: RegistryServer) -> None:
    with SchemaRegistryClient({"url": registry.url}) as client:
        schema_id = client.register_schema("orders-value", Schema(json.dumps(ORDER), "AVRO"))
        batch = pa.RecordBatch.from_pydict({"value": pa.array([{"id": 5}, None, {"id": 6}], STRUCT)})
        chosen = options(cluster, topic="orders", value__format="avro", schema__registry__url=registry.url)
        assert write_rows([batch], plan(chosen, batch, value="struct<id:bigint>")).rows == 3
        found = [record.value() for record in records(cluster, "orders", 3)]
        assert found[0][:5] == b"\0" + schema_id.to_bytes(4, "big")
        decoded = ColumnarDecoder(client.get_schema, Schema(json.dumps(ORDER), "AVRO")).decode(pa.array(found)).struct
    assert decoded.to_pylist() == [{"id": 5}, None, {"id": 6}]


def test_a_map_of_members_without_a_name(cluster: EmbeddedCluster, registry: RegistryServer) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": {"type": "string"}}
    more = {"value__format": "json", "schema__registry__url": registry.url, "topic": "open", "value__unnamed": "map"}
    kind = pa.struct([("n", pa.int64()), ("additionalProperties", pa.map_(pa.string(), pa.string()))])
    batch = pa.RecordBatch.from_pydict({"value": pa.array([{"n": 1, "additionalProperties": {"a": "x"}}], kind)})
    told = {"value": "struct<n:bigint,additionalProperties:map<string,string>>"}
    with pytest.raises(OptionError, match=r'"value\.unnamed" needs "value\.schema", or one that is registered'):
        plan(options(cluster, autoRegister="true", **more), batch, **told)
    made = plan(options(cluster, autoRegister="true", value__schema=json.dumps(schema), **more), batch, **told)
    write_rows([batch], made)
    (record,) = records(cluster, "open", 1)
    assert json.loads(record.value()[5:]) == {"n": 1, "a": "x"}


@pytest.mark.parametrize("kind", ["avro", "json"])
def test_a_schema_is_made_of_the_column_and_registered(
    cluster: EmbeddedCluster, registry: RegistryServer, kind: str
) -> None:
    batch = pa.RecordBatch.from_pydict({"value": pa.array([{"id": 5}], STRUCT)})
    more = {"value__format": kind, "schema__registry__url": registry.url, "topic": f"made-{kind}"}
    with pytest.raises(PlanError, match=f"can't be had from the registry: Subject 'made-{kind}-value'"):
        plan(options(cluster, **more), batch, value="struct<id:bigint>")
    made = plan(options(cluster, autoRegister="true", **more), batch, value="struct<id:bigint>")
    (how,) = made.fields
    assert isinstance(how.plan, EncodePlan)
    assert (how.plan.schema.schema_type, write_rows([batch], made).rows) == (kind.upper(), 1)


def test_rows_that_do_not_fit_stop_the_task_or_are_dead_letters(
    cluster: EmbeddedCluster, registry: RegistryServer
) -> None:
    batch = pa.RecordBatch.from_pydict({"key": [b"a", b"b"], "value": pa.array([{"id": 2**40}, {"id": 1}], STRUCT)})
    with SchemaRegistryClient({"url": registry.url}) as client:
        client.register_schema("bad-value", Schema(json.dumps(ORDER), "AVRO"))
    more = {"value__format": "avro", "schema__registry__url": registry.url, "topic": "bad"}
    with pytest.raises(WriteError, match="row 0 of a batch: the value can't be encoded"):
        write_rows([batch], plan(options(cluster, **more), batch, value="struct<id:bigint>"))
    lenient = options(cluster, mode="DEADLETTER", deadLetterTopic="bad-letters", **more)
    write_rows([batch], plan(lenient, batch, value="struct<id:bigint>"))
    assert [record.key() for record in records(cluster, "bad", 1)] == [b"b"]
    (letter,) = records(cluster, "bad-letters", 1)
    assert (letter.key(), json.loads(letter.value())) == (b"a", {"id": 2**40})
    assert dict(letter.headers())["__dlq.error.code"] == b"BAD_VALUE"


def test_undelivered_records_fail_the_task(cluster: EmbeddedCluster) -> None:
    topic_authorization_failed = 29
    rule = cluster.intercept(ProduceRequest, lambda request, context: topic_authorization_failed)
    batch = pa.RecordBatch.from_pydict({"value": [b"1"]})
    try:
        with pytest.raises(WriteError, match=r"refused\[0\]: a record was not delivered: .*[Aa]uthoriz"):
            write_rows([batch], plan(options(cluster, topic="refused"), batch))
    finally:
        cluster.stop_intercepting(rule)


@pytest.mark.parametrize(
    ("columns", "more", "text"),
    [
        ({"key": "binary"}, {"topic": "t"}, "a column 'value' is needed: the columns are key"),
        ({"value": "binary"}, {}, 'Give the option "topic"'),
        ({"value": "struct<a:int>"}, {"topic": "t"}, 'option "value.format" encodes structs'),
        ({"value": "binary", "partition": "bigint"}, {"topic": "t"}, "'partition' must be int, not bigint"),
        (
            {"value": "binary"},
            {"topic": "t", "value__format": "avro", "schema__registry__url": "http://x"},
            "must be a struct",
        ),
        ({"value": "binary"}, {"topic": "t", "deliveryId": "job 1"}, '"deliveryId" needs "delivery"'),
        (
            {"value": "binary"},
            {"topic": "t", "delivery": "exactly-once", "kafka__enable__idempotence": "false"},
            "are at odds",
        ),
        ({"value": "binary"}, {"topc": "t"}, "did you mean 'topic'"),
        ({"value": "binary"}, {"topic": "t", "value__format": "avro"}, "schema.registry.url"),
        ({"value": "binary"}, {"topic": "t", "value__unnamed": "map"}, 'option "value.unnamed" needs "value.format"'),
        ({"value": "binary"}, {"topic": "t", "mode": "DEADLETTER"}, "need each other"),
        ({"value": "binary"}, {"topic": "t", "subscribe": "t"}, "an option of reading"),
    ],
)
def test_wrong_frames_and_options_are_said(
    cluster: EmbeddedCluster, columns: dict[str, str], more: dict[str, str], text: str
) -> None:
    with pytest.raises(OptionError, match=text):
        plan_write(options(cluster, **more), columns, pa.schema([(name, pa.binary()) for name in columns]))


def by_topic(registry: RegistryServer, **more: str) -> dict[str, str]:
    return {"value__format": "avro", "schema__registry__url": registry.url, **more}


def test_each_row_is_written_with_the_schema_of_its_topic(cluster: EmbeddedCluster, registry: RegistryServer) -> None:
    other = {**ORDER, "fields": [*ORDER["fields"], {"name": "note", "type": "string", "default": "none"}]}
    with SchemaRegistryClient({"url": registry.url}) as client:
        ids = [
            client.register_schema(f"{topic}-value", Schema(json.dumps(schema), "AVRO"))
            for topic, schema in (("own-a", ORDER), ("own-b", other))
        ]
    kind = pa.struct([("id", pa.int64()), ("note", pa.string())])
    values = pa.array([{"id": 1, "note": "x"}, {"id": 2, "note": "y"}, None, {"id": 3, "note": "z"}], kind)
    batch = pa.RecordBatch.from_pydict({"value": values, "topic": ["own-b", "own-b", "own-b", "own-b"]})
    write_rows([batch], plan(options(cluster, **by_topic(registry)), batch, value="struct<id:bigint,note:string>"))
    frames = [record.value() for record in records(cluster, "own-b", 4)]
    head = b"\0" + ids[1].to_bytes(4, "big")
    assert frames == [head + b"\x02\x02x", head + b"\x04\x02y", None, head + b"\x06\x02z"]
    both = pa.RecordBatch.from_pydict(
        {"value": pa.array([{"id": 7}, {"id": 8}], STRUCT), "topic": ["own-a", "own-c"], "key": [b"a", b"c"]}
    )
    chosen = options(cluster, mode="DEADLETTER", deadLetterTopic="own-letters", **by_topic(registry))
    write_rows([both], plan(chosen, both, value="struct<id:bigint>"))
    assert [record.value() for record in records(cluster, "own-a", 1)] == [b"\0" + ids[0].to_bytes(4, "big") + b"\x0e"]
    (letter,) = records(cluster, "own-letters", 1)
    headers = dict(letter.headers())
    assert (letter.key(), headers["__dlq.error.code"]) == (b"c", b"BAD_SUBJECT")
    with pytest.raises(WriteError, match=r"row 1 of a batch: the value can't be encoded: .*topic 'own-c'"):
        write_rows([both], plan(options(cluster, **by_topic(registry)), both, value="struct<id:bigint>"))


def test_schemas_of_columns_are_registered_under_the_topic_of_each_row(
    cluster: EmbeddedCluster, registry: RegistryServer
) -> None:
    batch = pa.RecordBatch.from_pydict({"value": pa.array([{"id": 1}, {"id": 2}], STRUCT), "topic": ["new-a", "new-b"]})
    chosen = options(cluster, autoRegister="true", **by_topic(registry))
    assert write_rows([batch], plan(chosen, batch, value="struct<id:bigint>")).rows == 2
    with SchemaRegistryClient({"url": registry.url}) as client:
        for topic in ("new-a", "new-b"):
            found = client.get_latest_version(f"{topic}-value")
            (record,) = records(cluster, topic, 1)
            assert record.value()[:5] == b"\0" + found.schema_id.to_bytes(4, "big")
        named = {**by_topic(registry), "value__schema": json.dumps(ORDER), "value__strategy": "topic_record"}
        write_rows([batch], plan(options(cluster, autoRegister="true", **named), batch, value="struct<id:bigint>"))
        subjects = client.get_subjects()
    assert {"new-a-Order", "new-b-Order"} <= set(subjects)


def test_what_the_registry_is_told_stays_on_the_driver(cluster: EmbeddedCluster, registry: RegistryServer) -> None:
    secret = {"schema__registry__basic__auth__user__info": "ann:hush", "topic": "hushed"}
    batch = pa.RecordBatch.from_pydict({"value": pa.array([{"id": 1}], STRUCT), "topic": ["hushed"]})
    for more in (secret, {**secret, "value__subject": "hushed-value"}):
        chosen = options(cluster, autoRegister="true", **by_topic(registry, **more))
        made = plan_write(chosen, {"value": "struct<id:bigint>", "topic": "string"}, batch.schema)
        assert b"hush" not in pickle.dumps(made).replace(b"hushed", b"")


def test_a_column_that_the_schema_can_not_hold_is_said_on_the_driver(
    cluster: EmbeddedCluster, registry: RegistryServer
) -> None:
    batch = pa.RecordBatch.from_pydict({"value": pa.array([{"id": "x"}], pa.struct([("id", pa.string())]))})
    chosen = options(cluster, topic="t", value__schema=json.dumps(ORDER), autoRegister="true", **by_topic(registry))
    with pytest.raises(PlanError, match="can't be written as subject 't-value' wants it"):
        plan(chosen, batch, value="struct<id:string>")
    with pytest.raises(OptionError, match="are at odds"):
        options(cluster, topic="t", value__subject="s", value__strategy="record", **by_topic(registry))
