"""Streams beside Spark's own `format("kafka")`, on the same topics of a real broker: rows, and where batches end.

Topics with transactions that end in markers, with compacted gaps, empty ones, ones that grow and ones that come later;
queries that go on from their checkpoints each time. What else sources have in common: test_beside_spark.py.
"""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from kafka_core import Consumer, IsolationLevel, Producer, TopicPartition
from kafka_core.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourceType,
)
from tests.contract.clusters import LIMIT_S, wait_for, wait_until_led
from tests.spark.conftest import SPARK, finished
from tools.real_kafka import RealKafka

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.usefixtures("connectors"),
    pytest.mark.skipif(SPARK < (4, 2), reason="admission control of Python sources came with Spark 4.2"),
]
COLUMNS = ("key", "value", "topic", "partition", "offset", "unix_millis(timestamp)", "timestampType", "headers")
FIRST_MS = 1_700_000_000_000
SMALL = {
    "cleanup.policy": "compact",
    "segment.ms": "100",
    "min.cleanable.dirty.ratio": "0.01",
    "retention.ms": "-1",
    "max.compaction.lag.ms": "1000",
}


class Topics:
    """Topics whose names begin alike, and what is done to them."""

    def __init__(self, servers: str) -> None:
        self.servers = servers
        self.prefix = f"streams-{uuid.uuid4().hex[:8]}"
        self.admin = AdminClient({"bootstrap.servers": servers})

    def name(self, what: str) -> str:
        return f"{self.prefix}-{what}"

    def make(self, what: str, partitions: int, **config: str) -> None:
        topic = NewTopic(self.name(what), partitions, 1, config={"retention.ms": "-1", **config})
        for answer in self.admin.create_topics([topic]).values():
            answer.result(LIMIT_S)
        wait_until_led(self.admin, {self.name(what): partitions})

    def produce(self, what: str, first: int, count: int, partitions: Sequence[int]) -> None:
        """Records some of which have no key, no value or headers."""
        with Producer({"bootstrap.servers": self.servers}) as producer:
            for at in range(first, first + count):
                producer.produce(
                    self.name(what),
                    None if at % 5 == 4 else b"%d" % at,
                    None if at % 3 == 0 else b"k%d" % at,
                    partition=partitions[at % len(partitions)],
                    timestamp=FIRST_MS + at,
                    headers=[("a", b"1"), ("a", None), ("ü", b"")][: at % 4] or None,
                )

    def transactions(self, *given: tuple[int, int, bool]) -> None:
        """A transaction each: its partition, the number of its records, whether it is committed."""
        ends = self._ends()
        with Producer({"bootstrap.servers": self.servers, "transactional.id": self.name("writer")}) as producer:
            producer.init_transactions(LIMIT_S)
            for partition, count, committed in given:
                producer.begin_transaction()
                for at in range(count):
                    producer.produce(self.name("transactions"), b"%d %d" % (partition, at), partition=partition)
                producer.flush(LIMIT_S)
                (producer.commit_transaction if committed else producer.abort_transaction)(LIMIT_S)
                ends[partition] += count + 1
        # Brokers answer before the markers are written.
        wait_for(lambda: self._ends() == ends, "the last marker")

    def _ends(self) -> list[int]:
        asked = {TopicPartition(self.name("transactions"), at): OffsetSpec.latest() for at in range(3)}
        found = self.admin.list_offsets(asked, isolation_level=IsolationLevel.READ_COMMITTED)
        return [found[place].result(LIMIT_S).offset for place in asked]

    def compact(self) -> None:
        """Writes the same keys again and again, and waits until the cleaner has made gaps."""
        with Producer({"bootstrap.servers": self.servers}) as producer:
            for turn in range(4):
                for key in range(20):
                    producer.produce(self.name("compacted"), b"%d" % turn, b"%d" % key, partition=0)
                producer.flush(LIMIT_S)

        def has_gaps() -> bool:
            # only a younger record ends a segment, and the cleaner leaves the last one alone
            with Producer({"bootstrap.servers": self.servers}) as producer:
                producer.produce(self.name("compacted"), b"last", b"last", partition=0)
            return len(self._offsets("compacted")) < self._end("compacted")

        wait_for(has_gaps, "gaps")
        self._stay_as_it_is("compacted")

    def _stay_as_it_is(self, what: str) -> None:
        """Keeps the cleaner away: it must not come between two that read the same."""
        entry = ConfigEntry("cleanup.policy", "delete", incremental_operation=AlterConfigOpType.SET)
        changed = ConfigResource(ResourceType.TOPIC, self.name(what), incremental_configs=[entry])
        self.admin.incremental_alter_configs([changed])[changed].result(LIMIT_S)

        def is_known() -> bool:
            asked = ConfigResource(ResourceType.TOPIC, self.name(what))
            found = self.admin.describe_configs([asked])[asked].result(LIMIT_S)
            return bool(found["cleanup.policy"].value == "delete")

        wait_for(is_known, "the policy")

    def _end(self, what: str) -> int:
        place = TopicPartition(self.name(what), 0)
        return self.admin.list_offsets({place: OffsetSpec.latest()})[place].result(LIMIT_S).offset

    def _offsets(self, what: str) -> list[int]:
        conf = {"bootstrap.servers": self.servers, "group.id": "gaps", "enable.auto.commit": False}
        end, found = self._end(what), []
        with Consumer(conf) as consumer:
            consumer.assign([TopicPartition(self.name(what), 0, 0)])
            while not found or found[-1] < end - 1:
                found += [record.offset() or 0 for record in consumer.consume(100, timeout=1)]
        return found

    def grow(self, what: str, partitions: int) -> None:
        for answer in self.admin.create_partitions([NewPartitions(self.name(what), partitions)]).values():
            answer.result(LIMIT_S)
        wait_until_led(self.admin, {self.name(what): partitions})

    def close(self) -> None:
        mine = [name for name in self.admin.list_topics(timeout=LIMIT_S).topics if name.startswith(self.prefix)]
        for answer in self.admin.delete_topics(mine).values():
            answer.result(LIMIT_S)
        self.admin.close()


class Run:
    """A query that goes on from its checkpoint.

    Attributes:
        rows: all that came, without the batch they came in.
    """

    def __init__(self, spark: Any, kind: str, options: dict[str, str], checkpoint: Path) -> None:
        self._spark, self._kind, self._options, self._checkpoint = spark, kind, options, checkpoint
        self.rows: Counter[tuple[Any, ...]] = Counter()

    def go_on(self) -> list[tuple[int, int, Any]]:
        """Takes what is there; number, rows and end of each batch."""
        frame = self._spark.readStream.format(self._kind).options(**self._options).load()
        writer = frame.writeStream.foreachBatch(self._take).option("checkpointLocation", str(self._checkpoint))
        query = finished(writer.trigger(availableNow=True).start)
        return [(one["batchId"], one["numInputRows"], _end_of(one)) for one in query.recentProgress]

    def _take(self, frame: Any, number: int) -> None:
        for row in frame.selectExpr(*COLUMNS).collect():
            self.rows[tuple(_plain(value) for value in row)] += 1


def _end_of(progress: Any) -> dict[str, Any]:
    end = progress["sources"][0]["endOffset"]
    offsets: dict[str, Any] = json.loads(end) if isinstance(end, str) else end
    return {topic: ends for topic, ends in offsets.items() if not topic.startswith("#")}


def _plain(value: Any) -> Any:
    if isinstance(value, bytearray):
        return bytes(value)
    if isinstance(value, list):
        return tuple((header.key, None if header.value is None else bytes(header.value)) for header in value)
    return value


@pytest.fixture
def topics(real_kafka: RealKafka) -> Iterator[Topics]:
    made = Topics(real_kafka.bootstrap_servers)
    yield made
    made.close()


def test_both_take_the_same_batches(spark: Any, topics: Topics, tmp_path: Path) -> None:
    topics.make("plain", 3)
    topics.make("transactions", 3)
    topics.make("empty", 2)
    topics.make("compacted", 1, **SMALL)
    topics.produce("plain", 0, 31, [0, 1, 2])
    topics.transactions((0, 4, True), (1, 3, False), (0, 2, False), (2, 1, True), (1, 5, True), (2, 6, False))
    topics.compact()
    options = {
        "kafka.bootstrap.servers": topics.servers,
        "subscribePattern": topics.prefix,
        "startingOffsets": "earliest",
        "includeHeaders": "true",
        "maxOffsetsPerTrigger": "40",
    }
    levels = ("read_uncommitted", "read_committed")
    runs = {
        (level, kind): Run(spark, kind, {**options, "kafka.isolation.level": level}, tmp_path / f"{level}-{kind}")
        for level in levels
        for kind in ("kserdes", "kafka")
    }

    def compare() -> None:
        batches = {place: run.go_on() for place, run in runs.items()}
        for level in levels:
            ours, theirs = runs[level, "kserdes"], runs[level, "kafka"]
            assert ours.rows == theirs.rows
            assert set(ours.rows.values()) == {1}
            assert batches[level, "kserdes"] == batches[level, "kafka"]

    compare()
    topics.produce("plain", 31, 17, [0, 1, 2])
    topics.grow("plain", 5)
    topics.produce("plain", 48, 6, [3, 4])
    topics.make("later", 1)
    topics.produce("later", 0, 3, [0])
    topics.transactions((0, 2, True), (1, 2, False))
    compare()
    topics.transactions((0, 3, False))  # nothing that is committed comes, and offsets move
    compare()
    committed = sum(row[2] == topics.name("transactions") for row in runs["read_committed", "kserdes"].rows)
    uncommitted = sum(row[2] == topics.name("transactions") for row in runs["read_uncommitted", "kserdes"].rows)
    assert (committed, uncommitted) == (4 + 1 + 5 + 2, 4 + 3 + 2 + 1 + 5 + 6 + 2 + 2 + 3)
