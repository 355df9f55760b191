"""The data source `kserdes` as a sink, and decoding inside the source, in a real Spark on the embedded broker."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kafka_core import Consumer, TopicPartition
from kafka_core.broker import EmbeddedCluster
from registry import SchemaRegistryClient
from registry.dev import RegistryServer
from tests.spark.conftest import SPARK, WITH_STREAMS_OUT, Produce, finished, frame, register

pytestmark = pytest.mark.spark
ORDER = {
    "type": "record",
    "name": "Order",
    "fields": [{"name": "id", "type": "long"}, {"name": "name", "type": "string"}],
}


def common(cluster: EmbeddedCluster, server: RegistryServer) -> dict[str, str]:
    return {"kafka.bootstrap.servers": cluster.bootstrap_servers, "schema.registry.url": server.url}


def letters(cluster: EmbeddedCluster, topic: str, count: int) -> list[Any]:
    conf = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "g"}
    with Consumer(conf) as consumer:
        consumer.assign([TopicPartition(topic, 0, 0)])
        return consumer.consume(count, timeout=60)


def test_structs_go_out_and_come_back(
    spark: Any, cluster: EmbeddedCluster, registry_server: RegistryServer, registry: SchemaRegistryClient, topic: str
) -> None:
    options = {**common(cluster, registry_server), "value.format": "avro"}
    register(registry, f"{topic}-value", ORDER)
    rows = spark.range(100).selectExpr(
        "cast(id as string) as key",
        "named_struct('id', id, 'name', concat('n', id)) as value",
        "array(named_struct('key', 'h', 'value', cast('x' as binary))) as headers",
    )
    rows.write.format("kserdes").options(**options, topic=topic).mode("append").save()
    back = (
        spark.read.format("kserdes")
        .options(**options, subscribe=topic, includeHeaders="true", **{"value.columns": "id"})
        .load()
    )
    assert dict(back.dtypes)["value"] == "struct<id:bigint>"
    found = back.selectExpr("cast(key as string) as key", "value.id as id", "headers").collect()
    assert sorted((int(row.key), row.id) for row in found) == [(at, at) for at in range(100)]
    assert {(row.headers[0].key, bytes(row.headers[0].value)) for row in found} == {("h", b"x")}


def test_bad_payloads_stop_the_query_are_null_or_dead_letters(
    spark: Any,
    cluster: EmbeddedCluster,
    registry_server: RegistryServer,
    registry: SchemaRegistryClient,
    topic: str,
    produce: Produce,
) -> None:
    from pyspark.errors import PySparkException

    schema_id = register(registry, f"{topic}-value", ORDER)
    good = frame(schema_id, ORDER, {"id": 1, "name": "a"})
    produce(topic, [{"value": good}, {"value": b"junk", "key": b"k"}, {"value": None}])
    reader = spark.read.format("kserdes").options(**common(cluster, registry_server), subscribe=topic)
    reader = reader.option("value.format", "auto")
    with pytest.raises(PySparkException, match=f"topic {topic}, partition 0, offset 1 can't be decoded: value: "):
        reader.load().collect()
    lenient = reader.option("mode", "PERMISSIVE").option("errorField", "_error").load()
    rows = lenient.select("offset", "value.id", "_error").orderBy("offset").collect()
    assert [(row.offset, row.id, row._error is None) for row in rows] == [
        (0, 1, True),
        (1, None, False),
        (2, None, True),
    ]
    cluster.create_topic(f"{topic}-letters", 1)
    strict = spark.read.format("kserdes").options(**common(cluster, registry_server), subscribe=topic)
    kept = strict.options(
        **{"value.format": "avro", "mode": "DEADLETTER", "deadLetterTopic": f"{topic}-letters"}
    ).load()
    assert [(row.offset, row.value is None) for row in kept.orderBy("offset").collect()] == [(0, False), (2, True)]
    (letter,) = letters(cluster, f"{topic}-letters", 1)
    headers = dict(letter.headers())
    assert (letter.key(), letter.value(), headers["__dlq.offset"]) == (b"k", b"junk", b"1")


@WITH_STREAMS_OUT
def test_a_stream_from_topic_to_topic(
    spark: Any, cluster: EmbeddedCluster, topic: str, produce: Produce, tmp_path: Path
) -> None:
    cluster.create_topic(f"{topic}-out", 1)
    brokers = {"kafka.bootstrap.servers": cluster.bootstrap_servers}
    for first in (0, 5):
        produce(topic, [{"key": b"%d" % at, "value": b"v%d" % at} for at in range(first, first + 5)])
        stream = spark.readStream.format("kserdes").options(**brokers, subscribe=topic, startingOffsets="earliest")
        writer = (
            stream.load()
            .select("key", "value")
            .writeStream.format("kserdes")
            .options(**brokers, topic=f"{topic}-out", checkpointLocation=str(tmp_path))
            .trigger(availableNow=True)
        )
        finished(writer.start)
    found = letters(cluster, f"{topic}-out", 10)
    assert [record.value() for record in found] == [b"v%d" % at for at in range(10)]


def test_unwritable_columns_are_named(spark: Any, cluster: EmbeddedCluster, topic: str) -> None:
    from pyspark.errors import PySparkException

    rows = spark.range(1).selectExpr("id as value")
    writer = rows.write.format("kserdes").option("kafka.bootstrap.servers", cluster.bootstrap_servers)
    with pytest.raises(PySparkException, match="'value' must be binary or string, not bigint"):
        writer.option("topic", topic).mode("append").save()
    with pytest.raises(PySparkException, match="can't be overwritten"):
        writer.option("topic", topic).mode("overwrite").save()


def committed(cluster: EmbeddedCluster, topic: str) -> list[int]:
    """The numbers in the first partition for a reader with read_committed."""
    conf = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "g", "isolation.level": "read_committed"}
    with Consumer({**conf, "enable.partition.eof": True}) as consumer:
        consumer.assign([TopicPartition(topic, 0, 0)])
        found: list[int] = []
        while True:
            for message in consumer.consume(1000, timeout=60):
                if message.error() is not None:  # the end
                    return sorted(found)
                found.append(int(message.value() or b""))


ONCE = {"delivery": "exactly-once"}


@WITH_STREAMS_OUT
def test_a_stream_that_loses_its_commit_log_writes_its_last_batch_once(
    spark: Any, cluster: EmbeddedCluster, topic: str, produce: Produce, tmp_path: Path
) -> None:
    """As after a driver that died between the last task's end and Spark's own note of it."""
    cluster.create_topic(f"{topic}-out", 1)
    brokers = {"kafka.bootstrap.servers": cluster.bootstrap_servers}

    def run() -> None:
        stream = spark.readStream.format("kserdes").options(**brokers, subscribe=topic, startingOffsets="earliest")
        writer = stream.load().select("value").writeStream.format("kserdes").options(**brokers, **ONCE)
        writer = writer.option("topic", f"{topic}-out").option("checkpointLocation", str(tmp_path))
        finished(writer.trigger(availableNow=True).start)

    for partition in (0, 1):
        produce(topic, [{"value": b"%d" % (10 * partition + at)} for at in range(5)], partition)
    run()
    (last,) = (tmp_path / "commits").glob("[0-9]*")
    for file in (last, last.with_name(f".{last.name}.crc")):
        file.unlink()
    produce(topic, [{"value": b"20"}])
    run()
    if SPARK < (4, 2):  # there, AvailableNow is one batch, and the one that is done again is that
        assert committed(cluster, f"{topic}-out") == [*range(5), *range(10, 15)]
        run()
    assert committed(cluster, f"{topic}-out") == [*range(5), *range(10, 15), 20]


def test_a_batch_with_an_id_is_written_once_however_often_it_is_run(
    spark: Any, cluster: EmbeddedCluster, topic: str
) -> None:
    from pyspark.errors import PySparkException

    def write(parts: int, **more: str) -> None:
        rows = spark.range(0, 10, 1, parts).selectExpr("cast(id as string) as value", "0 as partition")
        brokers = {"kafka.bootstrap.servers": cluster.bootstrap_servers}
        rows.write.format("kserdes").options(**brokers, **ONCE, topic=topic, **more).mode("append").save()

    for _ in range(2):
        write(3, deliveryId="10 numbers")
        assert committed(cluster, topic) == list(range(10))
    with pytest.raises(PySparkException, match="a try must have the same rows in the same tasks"):
        write(2, deliveryId="10 numbers")
    write(2)  # without an id it is another write
    assert committed(cluster, topic) == sorted([*range(10), *range(10)])


def test_a_task_that_fails_leaves_nothing_that_a_reader_sees(spark: Any, cluster: EmbeddedCluster, topic: str) -> None:
    def rows(batches: Any) -> Any:
        import pyarrow as pa

        for batch in batches:
            yield pa.RecordBatch.from_pydict({"value": batch.column(0).cast(pa.string())})
        raise OSError("no more rows")

    writer = spark.range(0, 10, 1, 1).mapInArrow(rows, "value string").write.format("kserdes").options(**ONCE)
    with pytest.raises(Exception, match="no more rows"):
        writer.options(**{"kafka.bootstrap.servers": cluster.bootstrap_servers}, topic=topic).mode("append").save()
    assert committed(cluster, topic) == []
