"""The data source `kserdes` inside a real Spark, on the embedded broker."""

from __future__ import annotations

import datetime
import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from kafka_core.broker import EmbeddedCluster
from tests.patience import judged_by
from tests.spark.conftest import SPARK, Produce

pytestmark = pytest.mark.spark


def load(spark: Any, cluster: EmbeddedCluster, topic: str, **options: str) -> Any:
    reader = spark.read.format("kserdes").option("kafka.bootstrap.servers", cluster.bootstrap_servers)
    return reader.option("subscribe", topic).options(**options).load()


def failure(make: Callable[[], Any]) -> str:
    """The text of what Spark raises when the frame is made or computed."""
    from pyspark.errors import PySparkException

    with pytest.raises(PySparkException) as caught:
        make().collect()
    return str(caught.value)


def test_everything_a_record_has_is_in_its_columns(
    spark: Any, cluster: EmbeddedCluster, topic: str, produce: Produce
) -> None:
    produce(
        topic,
        [{"key": b"k", "value": b"\x00\xff", "headers": [("a", b"1"), ("a", None)], "timestamp": 1_700_000_000_123}],
    )
    produce(topic, [{"key": None, "value": None, "timestamp": 1}], partition=1)
    frame = load(spark, cluster, topic, includeHeaders="true")
    assert frame.schema.simpleString() == (
        "struct<key:binary,value:binary,topic:string,partition:int,offset:bigint,timestamp:timestamp,"
        "timestampType:int,headers:array<struct<key:string,value:binary>>>"
    )
    first, second = frame.selectExpr("*", "unix_millis(timestamp) as ms").orderBy("partition").collect()
    assert (bytes(first.key), bytes(first.value), first.topic, first.partition, first.offset) == (
        b"k",
        b"\x00\xff",
        topic,
        0,
        0,
    )
    assert [(header.key, header.value) for header in first.headers] == [("a", b"1"), ("a", None)]
    assert (first.ms, first.timestampType) == (1_700_000_000_123, 0)
    assert first.timestamp.astimezone(datetime.UTC) == datetime.datetime(
        2023, 11, 14, 22, 13, 20, 123_000, datetime.UTC
    )
    assert (second.key, second.value, second.partition, second.ms, second.headers) == (None, None, 1, 1, None)


def test_one_task_reads_one_topic_partition(spark: Any, cluster: EmbeddedCluster, topic: str, produce: Produce) -> None:
    other = f"{topic}-other"
    cluster.create_topic(other, 3)
    for name, partition, count in ((topic, 0, 30), (topic, 1, 40), (other, 2, 50)):
        produce(name, [{"value": b"%d" % at} for at in range(count)], partition)
    frame = load(spark, cluster, f"{topic}, {other}")
    rows = frame.selectExpr("spark_partition_id() as task", "topic", "partition", "offset", "value").collect()
    assert len(rows) == 120
    assert len({(row.task, row.topic, row.partition) for row in rows}) == 3
    assert len({row.task for row in rows}) == frame.rdd.getNumPartitions() == 3
    assert all(bytes(row.value) == b"%d" % row.offset for row in rows)
    cluster.delete_topic(other)


def test_workers_look_through_what_they_have_loaded_only_once(
    spark: Any, cluster: EmbeddedCluster, topic: str, produce: Produce
) -> None:
    from pipeline.source.readers import KserdesReader
    from pyspark_kserdes import DefaultSource

    class CountingReader(KserdesReader):
        """Reads as ours does, and says what the worker then keeps from the garbage collector."""

        def read(self, partition: Any) -> Any:
            import gc

            rows = sum(batch.num_rows for batch in KserdesReader.read(self, partition))
            yield rows, gc.get_freeze_count()

    class CountingSource(DefaultSource):
        @classmethod
        def name(cls) -> str:
            return "counting"

        def schema(self) -> Any:
            return "rows bigint, frozen bigint"

        def reader(self, schema: Any) -> Any:
            return CountingReader(self._planned())

    produce(topic, [{"value": b"1"}])
    spark.dataSource.register(CountingSource)
    options = {"kafka.bootstrap.servers": cluster.bootstrap_servers, "subscribe": topic}
    (row,) = spark.read.format("counting").options(**options).load().collect()
    assert row.rows == 1
    assert row.frozen > 10_000


def test_an_empty_topic_is_an_empty_frame(spark: Any, cluster: EmbeddedCluster, topic: str) -> None:
    assert load(spark, cluster, topic).count() == 0


def test_a_large_partition_comes_in_several_batches(
    spark: Any, cluster: EmbeddedCluster, topic: str, produce: Produce
) -> None:
    produce(topic, [{"value": b"x" * 90} for _ in range(20_000)])
    frame = load(spark, cluster, topic, rowsPerBatch="3000")
    found = frame.selectExpr("count(*) as n", "count(distinct offset) as d", "max(offset) as last").collect()[0]
    assert (found.n, found.d, found.last) == (20_000, 20_000, 19_999)


def test_offsets_can_be_given(spark: Any, cluster: EmbeddedCluster, topic: str, produce: Produce) -> None:
    for partition in (0, 1):
        produce(topic, [{"value": b"%d" % at} for at in range(100)], partition)
    frame = load(
        spark,
        cluster,
        topic,
        startingOffsets=json.dumps({topic: {"0": 95, "1": -2}}),
        endingOffsets=json.dumps({topic: {"0": -1, "1": 3}}),
    )
    rows = frame.select("partition", "offset").collect()
    assert sorted((row.partition, row.offset) for row in rows) == [(0, at) for at in range(95, 100)] + [
        (1, at) for at in range(3)
    ]


def test_a_topic_that_is_not_there(spark: Any, cluster: EmbeddedCluster) -> None:
    text = failure(lambda: load(spark, cluster, "nowhere"))
    assert "PlanError: topic 'nowhere' can't be read" in text
    assert "UNKNOWN_TOPIC" in text.upper()


def test_a_broker_that_does_not_answer(spark: Any, refused_port: int) -> None:
    at = f"127.0.0.1:{refused_port}"
    reader = spark.read.format("kserdes").option("kafka.bootstrap.servers", at).option("subscribe", "flights")

    def refused(limit_s: float) -> None:
        text = failure(lambda: reader.option("timeoutSeconds", str(round(limit_s))).load())
        assert "PlanError: the offsets of flights can't be read" in text
        assert at in text
        assert "connection refused" in text

    judged_by(1.0, refused)


def test_offsets_that_are_not_held(spark: Any, cluster: EmbeddedCluster, topic: str, produce: Produce) -> None:
    produce(topic, [{"value": b"1"}])
    text = failure(lambda: load(spark, cluster, topic, endingOffsets=json.dumps({topic: {"0": 7}})))
    assert f"PlanError: {topic}[0] holds the offsets 0 to 1, but 0 to 7 were asked for" in text


def load_any(spark: Any, cluster: EmbeddedCluster, **options: str) -> Any:
    reader = spark.read.format("kserdes").option("kafka.bootstrap.servers", cluster.bootstrap_servers)
    return reader.options(**options).load()


def test_topics_by_pattern_partitions_by_number_and_times(
    spark: Any, cluster: EmbeddedCluster, topic: str, produce: Produce
) -> None:
    for partition in (0, 1):
        produce(topic, [{"value": b"%d" % at, "timestamp": 1_000 + at} for at in range(10)], partition)
    times = json.dumps({topic: {"0": 1_003, "1": 1_008}})
    pattern = load_any(
        spark, cluster, subscribePattern=topic[:-1] + ".", startingOffsetsByTimestamp=times, endingTimestamp="1009"
    )
    assigned = load_any(spark, cluster, assign=json.dumps({topic: [1]}), minPartitions="3", maxRecordsPerPartition="4")
    rows = [(row.partition, row.offset) for row in pattern.select("partition", "offset").collect()]
    assert sorted(rows) == [(0, at) for at in range(3, 9)] + [(1, 8)]
    found = assigned.selectExpr("partition", "offset", "spark_partition_id() as task").collect()
    assert sorted((row.partition, row.offset) for row in found) == [(1, at) for at in range(10)]
    assert len({row.task for row in found}) == 3


def test_filters_narrow_what_is_read(spark: Any, cluster: EmbeddedCluster, topic: str, produce: Produce) -> None:
    for partition in (0, 1):
        produce(topic, [{"value": b"%d" % at, "timestamp": 1_000 + at} for at in range(10)], partition)
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    try:
        frame = load(spark, cluster, topic, pushFilters="true")
        kept = frame.where("partition = 1 and offset >= 4 and timestamp < timestamp_millis(1007)")
        rows = kept.select("partition", "offset").collect()
        assert sorted((row.partition, row.offset) for row in rows) == [(1, at) for at in range(4, 7)]
        # the other partition is not read at all; Spark 4.0 tells Python sources nothing of filters
        assert kept.rdd.getNumPartitions() == (1 if SPARK >= (4, 1) else 2)
    finally:
        spark.conf.unset("spark.sql.python.filterPushdown.enabled")


def test_wrong_options_are_named(spark: Any, cluster: EmbeddedCluster, topic: str) -> None:
    assert "did you mean 'startingOffsets'?" in failure(lambda: load(spark, cluster, topic, startingOffset="earliest"))
    assert "linger.msx" in failure(lambda: load(spark, cluster, topic, **{"kafka.linger.msx": "1"}))


def test_sql_makes_views_and_no_tables(spark: Any, cluster: EmbeddedCluster, topic: str, produce: Produce) -> None:
    produce(topic, [{"value": b"1"}, {"value": b"2"}])
    options = f"OPTIONS (subscribe '{topic}', `kafka.bootstrap.servers` '{cluster.bootstrap_servers}')"
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW of_topic USING kserdes {options}")
    assert spark.sql("select count(*) as n from of_topic").first().n == 2
    table = lambda: spark.sql(f"CREATE TABLE of_topic_too USING kserdes {options}")  # noqa: E731
    assert "CREATE TEMPORARY VIEW … USING" in failure(table)


def test_a_password_is_in_no_error_text(spark: Any, cluster: EmbeddedCluster) -> None:
    text = failure(lambda: load(spark, cluster, "nowhere", **{"kafka.sasl.password": "hunter2"}))
    assert "hunter2" not in text


def test_source_objects_pickle_and_open_nothing(cluster: EmbeddedCluster) -> None:
    from pipeline.source.readers import KserdesReader
    from pyspark_kserdes import DefaultSource

    source = DefaultSource({"kafka.bootstrap.servers": "127.0.0.1:1", "subscribe": "flights"})
    assert (source.name(), source.schema().names) == (
        "kserdes",
        ["key", "value", "topic", "partition", "offset", "timestamp", "timestampType"],
    )
    reader = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(source)).reader(None)))
    assert isinstance(reader, KserdesReader)
