"""Streams of the data source `kserdes` inside a real Spark, on the embedded broker."""

from __future__ import annotations

import contextlib
import json
import uuid
from pathlib import Path
from typing import Any

import pytest

from kafka_core import Consumer, Producer
from kafka_core.admin import AdminClient, NewPartitions, NewTopic
from kafka_core.broker import EmbeddedCluster
from tests.contract.clusters import wait_for, wait_until_led
from tests.patience import PROCESS_S
from tests.spark.conftest import SPARK, Produce, finished, patiently

pytestmark = pytest.mark.spark
COUNT = 20


def stream(spark: Any, cluster: EmbeddedCluster, topic: str, **options: str) -> Any:
    reader = spark.readStream.format("kserdes").option("kafka.bootstrap.servers", cluster.bootstrap_servers)
    return reader.option("subscribe", topic).options(**{"startingOffsets": "earliest", **options}).load()


def run(frame: Any, folder: Path) -> Any:
    """Runs the stream until what is there is done; the query, which has ended."""
    return finished(writer(frame, folder).trigger(availableNow=True).start)


def writer(frame: Any, folder: Path) -> Any:
    """Writes the stream to files, with a checkpoint."""
    return (
        frame.selectExpr("partition", "offset", "cast(value as string) as value")
        .writeStream.format("json")
        .option("path", str(folder / "out"))
        .option("checkpointLocation", str(folder / "checkpoint"))
    )


def begun(query: Any, folder: Path) -> Any:
    """The query, when it has done its first batch; raises what has ended it before."""
    wait_for(lambda: bool(viewed(folder)) or not query.isActive, "the first batch", PROCESS_S)
    if query.exception() is not None:
        raise query.exception()
    return query


def rows(folder: Path) -> list[tuple[int, int]]:
    """Partition and offset of every row in the sink's view."""
    return sorted((row["partition"], row["offset"]) for row in viewed(folder))


def viewed(folder: Path) -> list[dict[str, Any]]:
    """Every row in the sink's view: of the files that its log of batches names, some of them twice."""
    entries = sorted((folder / "out" / "_spark_metadata").glob("[0-9]*"))
    lines = {line for entry in entries for line in entry.read_text().splitlines()[1:]}
    paths = {json.loads(line)["path"].removeprefix("file:").replace("//", "/") for line in lines}
    return [json.loads(row) for path in sorted(paths) for row in Path(path).read_text().splitlines()]


def numbered(count: int, first: int = 0) -> list[dict[str, Any]]:
    return [{"value": b"%d" % at} for at in range(first, first + count)]


@pytest.mark.skipif(SPARK < (4, 2), reason="admission control and progress of Python sources came with Spark 4.2")
def test_a_stream_goes_on_from_its_checkpoint_in_small_batches(
    spark: Any, cluster: EmbeddedCluster, topic: str, produce: Produce, tmp_path: Path
) -> None:
    produce(topic, numbered(30))
    produce(topic, numbered(10), 1)
    options = {"maxOffsetsPerTrigger": "20", "commitProgressToGroup": f"{topic}-lag"}
    first = run(stream(spark, cluster, topic, **options), tmp_path)
    ends = [json.loads(progress["sources"][0]["endOffset"]) for progress in first.recentProgress]
    assert [end[topic] for end in ends[:2]] == [{"0": 15, "1": 5}, {"0": 30, "1": 10}]
    produce(topic, numbered(5, 30))
    again = run(stream(spark, cluster, topic, **options), tmp_path)
    assert rows(tmp_path) == [(0, at) for at in range(35)] + [(1, at) for at in range(10)]
    assert sum(progress["numInputRows"] for progress in again.recentProgress) == 5
    assert json.loads(again.lastProgress["sources"][0]["latestOffset"]) == {topic: {"0": 35, "1": 10}}


def test_a_topic_made_anew_while_a_query_is_down_is_not_taken_for_the_old_one(
    spark: Any, cluster: EmbeddedCluster, topic: str, produce: Produce, tmp_path: Path
) -> None:
    """The new topic is longer than what was read of the old one: its offsets alone would not show it."""
    from pyspark.errors import StreamingQueryException

    produce(topic, numbered(3))
    run(stream(spark, cluster, topic), tmp_path)
    cluster.delete_topic(topic)
    cluster.create_topic(topic, 2)
    produce(topic, numbered(5, 100))
    for _ in range(2):  # it stays an error when the query is started again
        with pytest.raises(StreamingQueryException, match=r"was deleted and created again \(its id was"):
            run(stream(spark, cluster, topic), tmp_path)
    assert len(viewed(tmp_path)) == 3
    run(stream(spark, cluster, topic, failOnDataLoss="false"), tmp_path)
    assert sorted(int(row["value"]) for row in viewed(tmp_path)) == [0, 1, 2, *range(100, 105)]


def test_a_checkpoint_without_ids_goes_on(
    spark: Any, cluster: EmbeddedCluster, topic: str, produce: Produce, tmp_path: Path
) -> None:
    """As earlier versions and Spark's own source wrote them."""
    produce(topic, numbered(3))
    run(stream(spark, cluster, topic, checkTopicIds="false"), tmp_path)
    (first,) = (tmp_path / "checkpoint" / "offsets").glob("0")
    assert "topicIds" not in first.read_text()
    run(stream(spark, cluster, topic), tmp_path)
    produce(topic, numbered(2, 3))
    run(stream(spark, cluster, topic), tmp_path)
    assert rows(tmp_path) == [(0, at) for at in range(5)]
    last = max((tmp_path / "checkpoint" / "offsets").glob("[0-9]*"), key=lambda path: int(path.name))
    assert "topicIds" in last.read_text()


def test_wrong_options_of_a_stream_are_said(spark: Any, cluster: EmbeddedCluster, topic: str, tmp_path: Path) -> None:
    from pyspark.errors import PySparkException

    with pytest.raises(PySparkException, match="did you mean 'maxOffsetsPerTrigger'"):
        stream(spark, cluster, topic, maxOffsetPerTrigger="5")
    query = None
    with pytest.raises(PySparkException, match="a stream has no end"):
        query = run(stream(spark, cluster, topic, endingOffsets="latest"), tmp_path)
    assert query is None


@pytest.mark.slow
@pytest.mark.parametrize("broker", ["embedded", "real"])
def test_partitions_come_groups_rebalance_and_topics_go_beside_a_stream(
    broker: str, spark: Any, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """No row is lost and none comes twice while a topic grows and others share it out; what is gone is said."""
    found = request.getfixturevalue("cluster" if broker == "embedded" else "real_kafka")
    beside = Beside(found.bootstrap_servers)
    with contextlib.closing(beside):
        _beside(spark, beside, tmp_path)


def _beside(spark: Any, beside: Beside, folder: Path) -> None:
    from pyspark.errors import StreamingQueryException

    beside.grow(2)
    beside.send(0, 1)
    reader = spark.readStream.format("kserdes").option("kafka.bootstrap.servers", beside.servers)
    reader = reader.options(subscribe=beside.topic, startingOffsets="earliest", maxOffsetsPerTrigger="50")
    query = patiently(lambda: begun(writer(reader.load(), folder).start(), folder))
    try:
        beside.join(2)  # another group shares the topic out, and does so again whenever somebody comes or goes
        beside.send(0, 1)
        beside.grow(4)
        beside.send(0, 1, 2, 3)
        beside.leave()
        beside.send(2, 3)
        wait_for(lambda: len(viewed(folder)) >= len(beside.sent) or not query.isActive, "all rows", PROCESS_S)
        assert query.exception() is None
    finally:
        query.stop()
    beside.grow(6)  # while nobody reads
    beside.send(0, 5)
    finished(writer(reader.load(), folder).trigger(availableNow=True).start)
    assert rows(folder) == sorted(beside.sent)

    beside.remake(1)
    beside.send(0)
    with pytest.raises(StreamingQueryException, match=r"is gone|was read to \d+ already"):
        finished(writer(reader.load(), folder).trigger(availableNow=True).start)
    assert rows(folder) == sorted(beside.sent[:-COUNT])
    finished(writer(reader.option("failOnDataLoss", "false").load(), folder).trigger(availableNow=True).start)
    assert rows(folder) == sorted(beside.sent)


class Beside:
    """A topic that grows, and a group of others that read it."""

    def __init__(self, servers: str) -> None:
        self.servers = servers
        self.topic = f"beside-{uuid.uuid4()}"
        self.sent: list[tuple[int, int]] = []
        self._partitions = 0
        self._readers: list[Consumer] = []
        self._admin = AdminClient({"bootstrap.servers": servers})

    def grow(self, partitions: int) -> None:
        """Makes the topic, or gives it more partitions."""
        if self._partitions:
            answers = self._admin.create_partitions([NewPartitions(self.topic, partitions)])
        else:
            answers = self._admin.create_topics([NewTopic(self.topic, partitions, 1)])
        answers[self.topic].result(PROCESS_S)
        self._partitions = partitions
        wait_until_led(self._admin, {self.topic: partitions})

    def remake(self, partitions: int) -> None:
        """Deletes the topic, and makes another one of its name."""
        self._admin.delete_topics([self.topic])[self.topic].result(PROCESS_S)
        wait_for(lambda: self.topic not in self._admin.list_topics(timeout=PROCESS_S).topics, "the deletion", PROCESS_S)
        self._partitions = 0
        self.grow(partitions)

    def send(self, *partitions: int) -> None:
        """Writes rows to each of these partitions."""
        reports: list[Any] = []
        with Producer({"bootstrap.servers": self.servers}) as producer:
            for partition in partitions:
                for _ in range(COUNT):
                    producer.produce(
                        self.topic,
                        b"x",
                        partition=partition,
                        callback=lambda error, sent: reports.append((error, sent)),
                    )
            assert producer.flush(PROCESS_S) == 0
        assert [error for error, _ in reports if error is not None] == []
        self.sent += [(sent.partition(), sent.offset()) for _, sent in reports]

    def join(self, readers: int) -> None:
        """Readers of one group that come one after another, each until all have something."""
        for _ in range(readers):
            reader = Consumer(
                {"bootstrap.servers": self.servers, "group.id": self.topic, "auto.offset.reset": "earliest"}
            )
            reader.subscribe([self.topic])
            self._readers.append(reader)
            wait_for(self._all_have_some, "a rebalance", PROCESS_S)

    def leave(self) -> None:
        """One of them goes, and the others take what it had."""
        self._readers.pop().close()
        wait_for(lambda: self._all_have_some() and self._count() == self._partitions, "a rebalance", PROCESS_S)

    def _all_have_some(self) -> bool:
        for reader in self._readers:
            reader.consume(100, timeout=0.05)
        return all(reader.assignment() for reader in self._readers)

    def _count(self) -> int:
        return sum(len(reader.assignment()) for reader in self._readers)

    def close(self) -> None:
        """Ends all."""
        for reader in self._readers:
            reader.close()
        self._admin.delete_topics([self.topic])[self.topic].result(PROCESS_S)
        self._admin.close()
