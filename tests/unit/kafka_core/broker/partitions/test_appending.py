"""A leader's treatment of batches; every expectation was compared with a real Kafka 4.3.1."""

from __future__ import annotations

import pytest

from kafka_core.broker.codes import Code
from kafka_core.broker.partitions.appending import Appended, append_records
from kafka_core.broker.partitions.reading import messages
from kafka_core.broker.partitions.topics import Partition
from tests.unit.kafka_core.broker.harness import START_MS, Bench, batch, crc32c, header_of

HOUR_MS = 3_600_000


def append(
    partition: Partition, data: bytes | None, *, acks: int = -1, version: int = 12, now_ms: int = START_MS
) -> Appended:
    view = None if data is None else memoryview(bytearray(data))
    return append_records(partition, view, acks, version, now_ms)


@pytest.fixture
def partition() -> Partition:
    bench = Bench()
    bench.topic("t")
    return bench.partition()


def test_a_good_batch_is_appended(partition: Partition) -> None:
    assert append(partition, batch([b"a", b"b"])) == Appended(Code.NONE, 0, -1, 0)
    assert append(partition, batch([b"c"])) == Appended(Code.NONE, 2, -1, 0)
    assert [message.value() for message in messages(partition)] == [b"a", b"b", b"c"]


@pytest.mark.parametrize(
    ("data", "code", "start_offset"),
    [
        (None, Code.INVALID_RECORD, -1),
        (b"", Code.INVALID_RECORD, -1),
        (batch() + batch(), Code.INVALID_RECORD, -1),
        (batch()[:-3], Code.INVALID_RECORD, -1),
        (batch(magic=1), Code.INVALID_RECORD, -1),
        (batch(crc=1), Code.CORRUPT_MESSAGE, -1),
        (b"\0" * 100, Code.CORRUPT_MESSAGE, -1),
        (batch(attributes=0x20), Code.INVALID_RECORD, 0),
        (batch(attributes=0x10, producer=(1, 0, 0)), Code.INVALID_TXN_STATE, 0),
        (batch([b"v"] * 3, count=2), Code.INVALID_RECORD, 0),
        (batch([b"v"] * 3, last_offset_delta=7), Code.INVALID_RECORD, 0),
        (batch(producer=(77, 0, -1)), Code.INVALID_RECORD, 0),
    ],
)
def test_batches_no_topic_takes(partition: Partition, data: bytes | None, code: Code, start_offset: int) -> None:
    assert append(partition, data) == Appended(code, log_start_offset=start_offset)
    assert partition.log.end_offset == 0


def test_zstd_needs_a_client_that_knows_it(partition: Partition) -> None:
    assert append(partition, batch(attributes=4), version=6).code is Code.UNSUPPORTED_COMPRESSION_TYPE
    assert append(partition, batch(attributes=4), version=7).code is Code.NONE


def test_large_batches_are_refused_by_the_topics_limit(partition: Partition) -> None:
    data = batch([b"x" * 100])
    partition.topic.config.own["max.message.bytes"] = str(len(data) - 1)
    assert append(partition, data) == Appended(Code.MESSAGE_TOO_LARGE)
    partition.topic.config.own["max.message.bytes"] = str(len(data))
    assert append(partition, data).code is Code.NONE


def test_repeats_of_idempotent_producers_get_the_same_offset(partition: Partition) -> None:
    assert append(partition, batch([b"a"] * 2, producer=(5, 0, 0))).base_offset == 0
    assert append(partition, batch([b"b"] * 2, producer=(5, 0, 2))).base_offset == 2
    assert append(partition, batch([b"a"] * 2, producer=(5, 0, 0))) == Appended(Code.NONE, 0, -1, 0)
    assert append(partition, batch([b"c"], producer=(5, 0, 9))) == Appended(
        Code.OUT_OF_ORDER_SEQUENCE_NUMBER, log_start_offset=0
    )
    assert append(partition, batch([b"d"], producer=(5, 1, 0))).base_offset == 4
    assert append(partition, batch([b"e"], producer=(5, 0, 4))).code is Code.INVALID_PRODUCER_EPOCH
    assert partition.log.end_offset == 5


def test_the_brokers_time_replaces_the_producers(partition: Partition) -> None:
    partition.topic.config.own["message.timestamp.type"] = "LogAppendTime"
    data = batch([b"a"], timestamps_ms=[5], producer=(5, 0, 0))
    assert append(partition, data) == Appended(Code.NONE, 0, START_MS, 0)
    assert append(partition, data, now_ms=START_MS + 9) == Appended(Code.NONE, 0, START_MS, 0)
    (stored,) = partition.log.batches()
    header = header_of(stored.data)
    assert (header["max_timestamp"], header["attributes"]) == (START_MS, 0x08)
    assert header["crc"] == crc32c(bytes(stored.data[21:]))
    assert [message.timestamp() for message in messages(partition)] == [(2, START_MS)]


def test_a_batch_in_memory_of_others_is_not_changed_by_the_brokers_time(partition: Partition) -> None:
    partition.topic.config.own["message.timestamp.type"] = "LogAppendTime"
    data = batch([b"a"], timestamps_ms=[5])
    copy = bytes(bytearray(data))
    append_records(partition, memoryview(data), -1, 12, START_MS)
    assert data == copy


def test_records_from_the_future_are_refused_one_by_one(partition: Partition) -> None:
    late_ms = START_MS + HOUR_MS + 1
    result = append(partition, batch([b"a", b"b"], timestamps_ms=[START_MS, late_ms]))
    assert result.code is Code.INVALID_TIMESTAMP
    assert result.message == "One or more records have been rejected due to invalid timestamp"
    assert [index for index, _ in result.record_errors] == [1]
    assert f"Timestamp {late_ms} of message with offset 1 is out of range" in result.record_errors[0][1]
    assert append(partition, batch(timestamps_ms=[START_MS + HOUR_MS])).code is Code.NONE


def test_records_from_the_past_are_refused_where_the_topic_has_a_bound(partition: Partition) -> None:
    old = batch([b"a"], timestamps_ms=[1])
    assert append(partition, old).code is Code.NONE
    partition.topic.config.own["message.timestamp.before.max.ms"] = "1000"
    assert append(partition, old).code is Code.INVALID_TIMESTAMP
    assert append(partition, batch(timestamps_ms=[START_MS - 1000])).code is Code.NONE
    partition.topic.config.own["message.timestamp.type"] = "LogAppendTime"
    assert append(partition, old).code is Code.NONE


def test_a_compacted_topic_wants_keys(partition: Partition) -> None:
    partition.topic.config.own["cleanup.policy"] = "compact"
    result = append(partition, batch([b"a"] * 5))
    assert (result.code, len(result.record_errors)) == (Code.INVALID_RECORD, 5)
    assert "due to 5 record errors in total" in (result.message or "")
    assert (result.message or "").count("RecordError(") == 3
    assert append(partition, batch([b"a"], key=b"k")).code is Code.NONE


def test_too_few_replicas_in_sync() -> None:
    bench = Bench(3)
    bench.topic("t", configs={"min.insync.replicas": "3"})
    bench.cluster.create_topic("single", 1, 1, {"min.insync.replicas": "3"})
    bench.cluster.node_down(2)
    assert append(bench.partition(), batch()) == Appended(Code.NOT_ENOUGH_REPLICAS)
    assert append(bench.partition(), batch(), acks=1).code is Code.NONE
    assert append(bench.partition("single"), batch()).code is Code.NONE


def test_retention_is_applied_when_records_come(partition: Partition) -> None:
    partition.topic.config.own.update({"retention.bytes": "0", "segment.ms": "10"})
    for step in range(3):
        append(partition, batch(), now_ms=START_MS + 20 * step)
    assert (partition.log.start_offset, partition.log.end_offset) == (2, 3)
    partition.topic.config.own["cleanup.policy"] = "compact"
    append(partition, batch(key=b"k"), now_ms=START_MS + 100)
    assert partition.log.start_offset == 2
