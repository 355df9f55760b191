"""Producers on every kind of cluster. The proof is always what a consumer reads back."""

from __future__ import annotations

import threading
import time
from collections import defaultdict

import pytest

from kafka_core import (
    TIMESTAMP_CREATE_TIME,
    TIMESTAMP_LOG_APPEND_TIME,
    TIMESTAMP_NOT_AVAILABLE,
    KafkaError,
    KafkaException,
)
from kafka_core.admin import NewTopic
from tests.contract.clusters import (
    LIMIT_S,
    Cluster,
    Reports,
    consumer,
    fill,
    producer,
    take,
    unique,
    values_of,
    wait_for,
    whole,
)

CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]


def read(cluster: Cluster, topic: str, count: int, partitions: int = 1) -> list:
    with consumer(cluster) as reader:
        reader.assign([whole(topic, number) for number in range(partitions)])
        return take(reader, count)


def test_a_record_comes_back_with_everything_it_had(cluster: Cluster) -> None:
    topic, reports = cluster.topic(3), Reports()
    headers: list[tuple[str, bytes | str | None]] = [
        ("a", b"1"),
        ("a", b"2"),
        ("text", "ä"),
        ("nothing", None),
        ("empty", b""),
    ]
    with producer(cluster) as writer:
        writer.produce(topic, b"value", b"key", 1, reports, timestamp=1_700_000_000_123, headers=headers)
        assert len(writer) == 1
        assert writer.flush(LIMIT_S) == 0
        assert len(writer) == 0
    (message,) = read(cluster, topic, 1, 3)
    assert (message.topic(), message.partition(), message.offset()) == (topic, 1, 0)
    assert (message.key(), message.value(), message.error()) == (b"key", b"value", None)
    assert message.timestamp() == (TIMESTAMP_CREATE_TIME, 1_700_000_000_123)
    assert message.headers() == [("a", b"1"), ("a", b"2"), ("text", "ä".encode()), ("nothing", None), ("empty", b"")]
    (report,) = reports.delivered
    assert (report.topic(), report.partition(), report.offset()) == (topic, 1, 0)
    assert (report.key(), report.value()) == (b"key", b"value")
    assert 0 <= report.latency() < LIMIT_S


@pytest.mark.parametrize("key", [None, b"", b"k"])
@pytest.mark.parametrize("value", [None, b"", b"v"])
def test_nothing_and_empty_are_different(cluster: Cluster, key: bytes | None, value: bytes | None) -> None:
    topic = cluster.topic()
    with producer(cluster) as writer:
        writer.produce(topic, value, key)
    (message,) = read(cluster, topic, 1)
    assert (message.key(), message.value(), message.headers()) == (key, value, None)


def test_text_is_sent_as_utf_8_and_headers_may_be_a_dict(cluster: Cluster) -> None:
    topic = cluster.topic()
    with producer(cluster) as writer:
        writer.produce(topic, "wörter", "schlüssel", headers={"one": b"1", "two": "zwei", "three": None})
    (message,) = read(cluster, topic, 1)
    assert (message.key(), message.value()) == ("schlüssel".encode(), "wörter".encode())
    assert message.headers() == [("one", b"1"), ("two", b"zwei"), ("three", None)]


def test_a_record_without_a_time_gets_the_time_of_now(cluster: Cluster) -> None:
    topic = cluster.topic()
    before_ms = time.time_ns() // 1_000_000
    fill(cluster, topic, [b"x"])
    after_ms = time.time_ns() // 1_000_000 + 1
    (message,) = read(cluster, topic, 1)
    kind, at_ms = message.timestamp()
    assert kind == TIMESTAMP_CREATE_TIME
    assert before_ms <= at_ms <= after_ms


def test_a_topic_may_stamp_records_itself(cluster: Cluster) -> None:
    topic, reports = cluster.topic(message_timestamp_type="LogAppendTime"), Reports()
    before_ms = time.time_ns() // 1_000_000 - 1
    with producer(cluster) as writer:
        writer.produce(topic, b"x", timestamp=1_000, on_delivery=reports)
    (message,) = read(cluster, topic, 1)
    kind, at_ms = message.timestamp()
    assert kind == TIMESTAMP_LOG_APPEND_TIME
    assert before_ms <= at_ms <= time.time_ns() // 1_000_000 + 1
    assert reports.delivered[0].timestamp() == (TIMESTAMP_LOG_APPEND_TIME, at_ms)


@pytest.mark.parametrize("codec", CODECS)
def test_every_codec_keeps_every_byte(cluster: Cluster, codec: str) -> None:
    topic = cluster.topic()
    sent = [b"%d-" % number + bytes(number % 251 for _ in range(number % 700)) for number in range(500)]
    fill(cluster, topic, sent, compression_type=codec)
    assert values_of(read(cluster, topic, len(sent))) == sent


@pytest.mark.parametrize("acks", ["0", "1", "all"])
def test_every_kind_of_acknowledgement_writes_all_in_order(cluster: Cluster, acks: str) -> None:
    topic = cluster.topic()
    sent = [b"%d" % number for number in range(300)]
    reports = fill(cluster, topic, sent, acks=acks, enable_idempotence=acks == "all", batch_num_messages=20)
    assert values_of(reports) == sent
    if acks != "0":  # without an answer nobody knows the offset
        assert [report.offset() for report in reports] == list(range(300))
    assert values_of(read(cluster, topic, len(sent))) == sent


@pytest.mark.parametrize("in_flight", [1, 5])
def test_many_small_batches_keep_their_order(cluster: Cluster, in_flight: int) -> None:
    topic = cluster.topic()
    sent = [b"%d" % number for number in range(3000)]
    conf = {"batch.num.messages": 7, "linger.ms": 0, "max.in.flight": in_flight}
    reports = fill(cluster, topic, sent, **conf)
    assert [report.offset() for report in reports] == list(range(3000))
    assert values_of(read(cluster, topic, len(sent))) == sent


def test_times_before_1970_and_none_are_kept(cluster: Cluster) -> None:
    topic, times = cluster.topic(), [-2, -1, -1_000, 1, -(2**40)]
    with producer(cluster) as writer:
        for time_ms in times:
            writer.produce(topic, b"x", timestamp=time_ms)
        assert writer.produce_batch(topic, [{"value": b"x", "timestamp": -7}]) == 1
        assert writer.flush(LIMIT_S) == 0
    with consumer(cluster) as reader:
        reader.assign([whole(topic)])
        found = [message.timestamp() for message in take(reader, len(times) + 1)]
    assert found == [(TIMESTAMP_NOT_AVAILABLE if at == -1 else TIMESTAMP_CREATE_TIME, at) for at in [*times, -7]]


@pytest.mark.parametrize("bound", [{}, {"message_timestamp_before_max_ms": "3600000"}])
def test_times_that_are_too_early_are_refused(modern_cluster: Cluster, bound: dict[str, str]) -> None:
    topic, reports = modern_cluster.topic(**bound), Reports()
    with producer(modern_cluster) as writer:
        for time_ms in (-(2**63), -2, -1):
            writer.produce(topic, b"x", timestamp=time_ms, on_delivery=reports)
            assert writer.flush(LIMIT_S) == 0
    assert {error.code() for error, _ in reports.failed} == {KafkaError.INVALID_TIMESTAMP}
    assert len(reports.failed) == (2 if bound else 1)


def test_a_key_has_one_partition_and_its_order(cluster: Cluster) -> None:
    topic = cluster.topic(4)
    with producer(cluster, batch_num_messages=10) as writer:
        for number in range(1000):
            writer.produce(topic, b"%d" % number, b"key-%d" % (number % 20))
    places, numbers = defaultdict(set), defaultdict(list)
    for message in read(cluster, topic, 1000, 4):
        places[message.key()].add(message.partition())
        numbers[message.key()].append(int(message.value()))
    assert len(places) == 20
    assert all(len(found) == 1 for found in places.values())
    assert len(set.union(*places.values())) == 4
    assert all(found == sorted(found) for found in numbers.values())


def test_records_without_keys_are_spread(cluster: Cluster) -> None:
    topic = cluster.topic(4)
    with producer(cluster, sticky_partitioning_linger_ms=0, batch_num_messages=10) as writer:
        for number in range(2000):
            writer.produce(topic, b"%d" % number)
    assert {message.partition() for message in read(cluster, topic, 2000, 4)} == {0, 1, 2, 3}


def test_a_partition_that_does_not_exist_is_refused(cluster: Cluster) -> None:
    topic, reports = cluster.topic(2), Reports()
    with producer(cluster) as writer:
        writer.produce(topic, b"bad", partition=2, on_delivery=reports)  # nobody knows of the topic yet
        writer.produce(topic, b"good", partition=1, on_delivery=reports)
        writer.flush(LIMIT_S)
        with pytest.raises(KafkaException) as caught:  # now the number of partitions is known
            writer.produce(topic, b"bad", partition=7)
    assert caught.value.args[0].code() == KafkaError._UNKNOWN_PARTITION
    assert values_of(reports.delivered) == [b"good"]
    ((error, message),) = reports.failed
    assert error.code() == KafkaError._UNKNOWN_PARTITION
    assert message.value() == b"bad"


def test_a_batch_of_dicts(cluster: Cluster) -> None:
    topic, reports, own = cluster.topic(2), Reports(), Reports()
    batch = [{"value": b"%d" % number, "key": b"k", "partition": 1} for number in range(50)]
    batch[3] |= {"headers": [("h", b"x")], "timestamp": 1_700_000_000_000, "callback": own}
    with producer(cluster) as writer:
        assert writer.produce_batch(topic, batch, on_delivery=reports) == 50
    messages = read(cluster, topic, 50, 2)
    assert values_of(messages) == [item["value"] for item in batch]
    assert {message.partition() for message in messages} == {1}
    assert messages[3].headers() == [("h", b"x")]
    assert messages[3].timestamp()[1] == 1_700_000_000_000
    assert (len(reports.delivered), values_of(own.delivered)) == (49, [b"3"])


def test_a_record_near_the_limit_passes_and_one_beyond_it_fails_alone(cluster: Cluster) -> None:
    topic, reports = cluster.topic(max_message_bytes="50000"), Reports()
    with producer(cluster, linger_ms=20) as writer:
        for value in (b"before", b"x" * 49_000, b"y" * 60_000, b"after"):
            writer.produce(topic, value, on_delivery=reports)
        assert writer.flush(LIMIT_S) == 0
    ((error, message),) = reports.failed
    assert error.code() == KafkaError.MSG_SIZE_TOO_LARGE
    assert message.value() == b"y" * 60_000
    assert values_of(read(cluster, topic, 3)) == [b"before", b"x" * 49_000, b"after"]


def test_large_records(cluster: Cluster) -> None:
    topic = cluster.topic(max_message_bytes="5000000")
    sent = [bytes([number]) * 3_000_000 for number in range(3)]
    fill(cluster, topic, sent, message_max_bytes=4_000_000)
    assert values_of(read(cluster, topic, 3)) == sent


def test_several_threads_share_a_producer(cluster: Cluster) -> None:
    topic, reports = cluster.topic(4), Reports()
    with producer(cluster, batch_num_messages=20) as writer:

        def work(part: int) -> None:
            for number in range(300):
                writer.produce(topic, b"%d" % number, partition=part, on_delivery=reports)
                writer.poll(0)

        threads = [threading.Thread(target=work, args=(part,)) for part in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(LIMIT_S)
        assert writer.flush(LIMIT_S) == 0
    assert (len(reports.delivered), reports.failed) == (1200, [])
    per_partition = defaultdict(list)
    for message in read(cluster, topic, 1200, 4):
        per_partition[message.partition()].append(int(message.value()))
    assert per_partition == {part: list(range(300)) for part in range(4)}


def test_two_producers_do_not_disturb_each_other(cluster: Cluster) -> None:
    topic = cluster.topic()
    with producer(cluster) as one, producer(cluster) as two:
        for number in range(200):
            one.produce(topic, b"1-%d" % number)
            two.produce(topic, b"2-%d" % number)
            if number % 50 == 0:
                one.flush(LIMIT_S)
    found = values_of(read(cluster, topic, 400))
    for name in (b"1", b"2"):
        assert [value for value in found if value.startswith(name)] == [name + b"-%d" % number for number in range(200)]


def test_a_topic_is_made_when_it_is_written_to(cluster: Cluster) -> None:
    topic, reports = unique("made"), Reports()
    with producer(cluster) as writer:
        writer.produce(topic, b"first", on_delivery=reports)
        assert writer.flush(LIMIT_S) == 0
    assert reports.failed == []
    assert values_of(read(cluster, topic, 1)) == [b"first"]


def test_a_topic_that_nobody_makes_fails_with_its_name(cluster: Cluster) -> None:
    topic, reports = unique("unknown"), Reports()
    conf = {"allow.auto.create.topics": False, "topic.metadata.propagation.max.ms": 300}
    with producer(cluster, **conf) as writer:
        writer.produce(topic, b"lost?", on_delivery=reports)
        assert writer.flush(LIMIT_S) == 0
    ((error, message),) = reports.failed
    assert error.code() in (KafkaError._UNKNOWN_TOPIC, KafkaError.UNKNOWN_TOPIC_OR_PART)
    assert topic in error.str()
    assert (message.topic(), message.value()) == (topic, b"lost?")


def test_partitions_that_are_added_are_used(cluster: Cluster) -> None:
    from kafka_core.admin import NewPartitions

    topic = cluster.topic(1)
    with producer(cluster, topic_metadata_refresh_interval_ms=50) as writer:
        writer.produce(topic, b"0")
        writer.flush(LIMIT_S)
        cluster.admin.create_partitions([NewPartitions(topic, 3)])[topic].result(LIMIT_S)

        def goes_to_2() -> bool:
            reports = Reports()
            try:
                writer.produce(topic, b"2", partition=2, on_delivery=reports)
            except KafkaException:
                return False
            writer.flush(LIMIT_S)
            return bool(reports.delivered)

        wait_for(goes_to_2, "a new partition")


def test_a_topic_that_was_made_anew_is_written_to(cluster: Cluster) -> None:
    topic, reports = cluster.topic(), Reports()
    with producer(cluster) as writer:
        for number in range(10):
            writer.produce(topic, b"old-%d" % number)
        assert writer.flush(LIMIT_S) == 0
        cluster.admin.delete_topics([topic])[topic].result(LIMIT_S)

        def make() -> bool:
            error = cluster.admin.create_topics([NewTopic(topic, 1, 1)])[topic].exception(LIMIT_S)
            assert error is None or error.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS
            return error is None

        wait_for(make, "the topic is gone and made again")
        for number in range(10):
            writer.produce(topic, b"new-%d" % number, on_delivery=reports)
        assert writer.flush(LIMIT_S) == 0
    assert reports.failed == []
    assert values_of(read(cluster, topic, 10)) == [b"new-%d" % number for number in range(10)]


def test_a_topic_cannot_ask_for_more_replicas_in_sync_than_it_has(cluster: Cluster) -> None:
    topic = cluster.topic(min_insync_replicas="2")
    fill(cluster, topic, [b"kept"])
    assert values_of(read(cluster, topic, 1)) == [b"kept"]


def test_max_block_ms_lets_a_full_queue_wait_instead_of_raise(cluster: Cluster) -> None:
    topic = cluster.topic()
    with producer(cluster, max_block_ms=30_000, queue_buffering_max_messages=10) as writer:
        for number in range(500):
            writer.produce(topic, b"%d" % number)
    assert values_of(read(cluster, topic, 500)) == [b"%d" % number for number in range(500)]


def test_a_full_queue_raises_and_takes_more_after_a_flush(cluster: Cluster) -> None:
    topic = cluster.topic()
    with producer(cluster, linger_ms=60_000, queue_buffering_max_messages=10) as writer:
        for number in range(10):
            writer.produce(topic, b"%d" % number)
        with pytest.raises(BufferError):
            writer.produce(topic, b"too much")
        assert writer.flush(LIMIT_S) == 0
        writer.produce(topic, b"10")
    assert values_of(read(cluster, topic, 11)) == [b"%d" % number for number in range(11)]


def test_purged_records_are_reported_and_not_written(cluster: Cluster) -> None:
    topic, reports = cluster.topic(), Reports()
    with producer(cluster, linger_ms=60_000) as writer:
        for number in range(5):
            writer.produce(topic, b"%d" % number, on_delivery=reports)
        writer.purge()
        assert writer.flush(LIMIT_S) == 0
        assert [error.code() for error, _ in reports.failed] == [KafkaError._PURGE_QUEUE] * 5
        writer.produce(topic, b"kept", on_delivery=reports)
    assert values_of(reports.delivered) == [b"kept"]
    assert values_of(read(cluster, topic, 1)) == [b"kept"]


def test_a_closed_producer_has_delivered_what_it_took(cluster: Cluster) -> None:
    topic = cluster.topic()
    writer = producer(cluster, linger_ms=60_000)
    for number in range(100):
        writer.produce(topic, b"%d" % number)
    assert writer.close() is True
    assert len(read(cluster, topic, 100)) == 100
