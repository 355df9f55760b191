"""Consumers without rebalances, on every kind of cluster: reading, positions, offsets by time, events."""

from __future__ import annotations

import threading
import time

import pyarrow as pa
import pytest

from kafka_core import (
    OFFSET_BEGINNING,
    OFFSET_END,
    OFFSET_INVALID,
    ConfigError,
    KafkaError,
    KafkaException,
    Message,
    StateError,
    TopicPartition,
)
from kafka_core.admin import NewPartitions, NewTopic
from tests.contract.clusters import (
    LIMIT_S,
    Cluster,
    consumer,
    fill,
    poll_until,
    producer,
    take,
    take_error,
    unique,
    values_of,
    wait_for,
    wait_until_led,
    whole,
)

START_MS = 1_700_000_000_000


def numbers(count: int, start: int = 0) -> list[bytes]:
    return [b"%d" % number for number in range(start, start + count)]


def offsets_of(partitions: list[TopicPartition]) -> list[int]:
    assert [item.error for item in partitions] == [None] * len(partitions)
    return [item.offset for item in partitions]


# ---- where it begins


def test_a_new_group_begins_where_auto_offset_reset_says(cluster: Cluster) -> None:
    topic = cluster.topic()
    fill(cluster, topic, numbers(5))
    with (
        consumer(cluster, auto_offset_reset="earliest") as early,
        consumer(cluster, auto_offset_reset="latest") as late,
    ):
        late.subscribe([topic])
        early.subscribe([topic])
        assert values_of(take(early, 5)) == numbers(5)
        poll_until([late], lambda: late.health().lag.get((topic, 0)) == 0, "the end was found")
        fill(cluster, topic, numbers(3, 5))
        assert values_of(take(late, 3)) == numbers(3, 5)
        assert values_of(take(early, 3)) == numbers(3, 5)


def test_without_a_position_and_without_a_rule_it_says_so(cluster: Cluster) -> None:
    topic = cluster.topic()
    fill(cluster, topic, numbers(5))
    with consumer(cluster, auto_offset_reset="error") as reader:
        reader.assign([TopicPartition(topic, 0)])
        error = take_error(reader)
        assert error.code() == KafkaError._AUTO_OFFSET_RESET
        assert topic in error.str()
        reader.seek(whole(topic, 0, 2))
        assert values_of(take(reader, 3)) == numbers(3, 2)


@pytest.mark.parametrize(("offset", "first"), [(0, 0), (7, 7), (OFFSET_BEGINNING, 0)])
def test_it_begins_at_the_assigned_offset(cluster: Cluster, offset: int, first: int) -> None:
    topic = cluster.topic()
    fill(cluster, topic, numbers(10), batch_num_messages=4)
    with consumer(cluster) as reader:
        reader.assign([TopicPartition(topic, 0, offset)])
        messages = take(reader, 10 - first)
    assert [message.offset() for message in messages] == list(range(first, 10))
    assert values_of(messages) == numbers(10 - first, first)


def test_it_begins_at_the_end(cluster: Cluster) -> None:
    topic = cluster.topic()
    fill(cluster, topic, numbers(10))
    with consumer(cluster, enable_partition_eof=True) as reader:
        reader.assign([TopicPartition(topic, 0, OFFSET_END)])
        assert take_error(reader).code() == KafkaError._PARTITION_EOF
        fill(cluster, topic, numbers(2, 10))
        assert values_of(take(reader, 2)) == numbers(2, 10)


# ---- reading


def test_nothing_comes_from_an_empty_topic_within_the_time(cluster: Cluster) -> None:
    topic = cluster.topic()
    with consumer(cluster) as reader:
        reader.assign([whole(topic)])
        begun_s = time.monotonic()
        assert reader.poll(0.2) is None
        assert reader.consume(10, 0.2) == []
        assert reader.consume_arrow(10, 0.1).num_rows == 0
        assert time.monotonic() - begun_s > 0.4
        assert reader.poll(0) is None


def test_a_record_that_comes_while_it_waits_is_handed_out_at_once(cluster: Cluster) -> None:
    topic = cluster.topic()
    with consumer(cluster) as reader, producer(cluster) as writer:
        reader.assign([whole(topic)])
        assert reader.poll(0.1) is None
        timer = threading.Timer(0.1, writer.produce, (topic, b"late"))
        timer.start()
        message = reader.poll(LIMIT_S)
        timer.join()
        assert message is not None
        assert message.value() == b"late"


def test_a_blocked_poll_is_woken(cluster: Cluster) -> None:
    topic = cluster.topic()
    with consumer(cluster) as reader:
        reader.assign([whole(topic)])
        timer = threading.Timer(0.2, reader.wakeup)
        timer.start()
        begun_s = time.monotonic()
        assert reader.poll(20 * LIMIT_S) is None
        assert time.monotonic() - begun_s < 10 * LIMIT_S
        timer.join()


def test_poll_and_consume_hand_out_the_same_records_once(cluster: Cluster) -> None:
    topic = cluster.topic()
    fill(cluster, topic, numbers(1000), batch_num_messages=30)
    with consumer(cluster) as reader:
        reader.assign([whole(topic)])
        found: list[Message] = []
        while len(found) < 1000:
            message = reader.poll(LIMIT_S)
            assert message is not None
            found += [message, *take(reader, min(73, 999 - len(found)))]
        assert values_of(found) == numbers(1000)
        assert reader.poll(0.1) is None


def test_many_partitions_are_all_read(cluster: Cluster) -> None:
    topic = cluster.topic(12)
    for partition in range(12):
        fill(cluster, topic, numbers(20, partition * 100), partition)
    with consumer(cluster) as reader:
        reader.assign([whole(topic, partition) for partition in range(12)])
        messages = take(reader, 240)
    for partition in range(12):
        assert values_of(m for m in messages if m.partition() == partition) == numbers(20, partition * 100)


def test_small_fetches_get_on_even_if_one_record_is_larger(cluster: Cluster) -> None:
    topic = cluster.topic(2)
    sent = [b"%d" % number * 3000 for number in range(10)]
    for partition in range(2):
        fill(cluster, topic, sent, partition, batch_num_messages=1)
    conf = {"max.partition.fetch.bytes": 1000, "fetch.max.bytes": 2000, "message.max.bytes": 2000}
    with consumer(cluster, **conf) as reader:
        reader.assign([whole(topic, 0), whole(topic, 1)])
        messages = take(reader, 20)
    for partition in range(2):
        assert values_of(m for m in messages if m.partition() == partition) == sent


def test_a_bounded_queue_loses_nothing(cluster: Cluster) -> None:
    topic = cluster.topic(2)
    sent = [b"%d" % number + b"x" * 1000 for number in range(500)]
    for partition in range(2):
        fill(cluster, topic, sent, partition, batch_num_messages=10)
    with consumer(cluster, queued_max_messages_kbytes=50, queued_min_messages=1, fetch_max_bytes=20_000,
                  message_max_bytes=20_000) as reader:  # fmt: skip
        reader.assign([whole(topic, 0), whole(topic, 1)])
        messages = take(reader, 1000)
    for partition in range(2):
        assert values_of(m for m in messages if m.partition() == partition) == sent


def test_columns_hold_what_messages_hold(cluster: Cluster) -> None:
    topic = cluster.topic(2)
    with producer(cluster) as writer:
        for number in range(100):
            writer.produce(
                topic,
                None if number % 7 == 0 else b"v%d" % number,
                None if number % 5 == 0 else b"k%d" % number,
                number % 2,
                timestamp=START_MS + number,
                headers=[("n", b"%d" % number), ("none", None)] if number % 3 == 0 else None,
            )
    with consumer(cluster) as reader, consumer(cluster) as columns:
        reader.assign([whole(topic, 0), whole(topic, 1)])
        columns.assign([whole(topic, 0), whole(topic, 1)])
        expected = {
            (m.partition(), m.offset()): (m.topic(), m.timestamp()[1], m.key(), m.value(), m.headers() or [])
            for m in take(reader, 100)
        }
        batches: list[pa.RecordBatch] = []
        deadline_s = time.monotonic() + LIMIT_S
        while sum(batch.num_rows for batch in batches) < 100 and time.monotonic() < deadline_s:
            batches.append(columns.consume_arrow(33, 0.5))
    assert max(batch.num_rows for batch in batches) <= 33
    rows = [row for batch in batches for row in batch.to_pylist()]
    found = {
        (row["partition"], row["offset"]): (
            row["topic"],
            round(row["timestamp"].timestamp() * 1000),
            row["key"],
            row["value"],
            [(item["key"], item["value"]) for item in row["headers"] or []],
        )
        for row in rows
    }
    assert (len(rows), found) == (100, expected)


def test_the_end_of_a_partition_is_told_once_each_time(cluster: Cluster) -> None:
    topic = cluster.topic()
    fill(cluster, topic, numbers(3))
    with consumer(cluster, enable_partition_eof=True) as reader:
        reader.assign([whole(topic)])
        for start in (0, 3):
            assert values_of(take(reader, 3)) == numbers(3, start)
            event = reader.poll(LIMIT_S)
            assert event is not None
            assert event.error().code() == KafkaError._PARTITION_EOF
            assert (event.topic(), event.partition(), event.offset()) == (topic, 0, start + 3)
            assert reader.poll(0.1) is None
            fill(cluster, topic, numbers(3, start + 3))


def test_a_timeout_of_the_fetch_shorter_than_the_pause_between_records(cluster: Cluster) -> None:
    topic = cluster.topic()
    with consumer(cluster, fetch_wait_max_ms=10, fetch_min_bytes=1000) as reader:
        reader.assign([whole(topic)])
        for number in range(3):
            fill(cluster, topic, [b"%d" % number])
            assert values_of(take(reader, 1)) == [b"%d" % number]
            assert reader.poll(0.05) is None


# ---- positions


def test_positions_follow_what_was_handed_out(cluster: Cluster) -> None:
    topic = cluster.topic(2)
    fill(cluster, topic, numbers(10))
    with consumer(cluster) as reader:
        reader.assign([whole(topic, 0), whole(topic, 1)])
        assert offsets_of(reader.position([whole(topic, 0)])) == [OFFSET_INVALID]
        take(reader, 4)
        assert offsets_of(reader.position([TopicPartition(topic, 0), TopicPartition(topic, 1)])) == [4, OFFSET_INVALID]
        reader.seek(TopicPartition(topic, 0, 9))
        assert values_of(take(reader, 1)) == [b"9"]
        assert offsets_of(reader.position([TopicPartition(topic, 0)])) == [10]


def test_seek_goes_back_and_forth(cluster: Cluster) -> None:
    topic = cluster.topic()
    fill(cluster, topic, numbers(50), batch_num_messages=8)
    with consumer(cluster, fetch_wait_max_ms=50) as reader:  # a fetch that waits for new records holds up a seek
        reader.assign([whole(topic)])
        take(reader, 20)
        for offset in (3, 40, 0, 49, 11):
            reader.seek(TopicPartition(topic, 0, offset))
            message = reader.poll(LIMIT_S)
            assert message is not None
            assert message.offset() == offset
        reader.seek(TopicPartition(topic, 0, OFFSET_BEGINNING))
        assert values_of(take(reader, 50)) == numbers(50)
        reader.seek(TopicPartition(topic, 0, OFFSET_END))
        assert reader.poll(0.2) is None


def test_seek_needs_an_assignment(cluster: Cluster) -> None:
    topic = cluster.topic()
    with consumer(cluster) as reader:
        with pytest.raises(KafkaException) as caught:
            reader.seek(TopicPartition(topic, 0, 3))
        assert topic in str(caught.value)
        reader.assign([whole(topic)])
        with pytest.raises(ConfigError):
            reader.seek(TopicPartition(topic, 0, -5))


def test_a_paused_partition_keeps_its_place(cluster: Cluster) -> None:
    topic = cluster.topic(2)
    fill(cluster, topic, numbers(10), 0)
    fill(cluster, topic, numbers(10, 100), 1)
    with consumer(cluster) as reader:
        reader.assign([whole(topic, 0), whole(topic, 1)])
        asked = [TopicPartition(topic, 0), TopicPartition(topic, 7)]
        reader.pause(asked)
        assert [item.error for item in asked] == [None, KafkaError._UNKNOWN_PARTITION]
        assert values_of(take(reader, 10)) == numbers(10, 100)
        assert reader.consume(1, 0.2) == []
        reader.resume([TopicPartition(topic, 0)])
        assert values_of(take(reader, 4)) == numbers(4)
        reader.pause([TopicPartition(topic, 0)])
        fill(cluster, topic, numbers(1, 110), 1)
        assert values_of(take(reader, 1)) == numbers(1, 110)
        reader.resume([TopicPartition(topic, 0)])
        assert values_of(take(reader, 6)) == numbers(6, 4)


def test_a_pause_outlives_the_assignment(cluster: Cluster) -> None:
    topic = cluster.topic(2)
    fill(cluster, topic, numbers(4), 0)
    fill(cluster, topic, numbers(4, 100), 1)
    with consumer(cluster) as reader:
        reader.assign([whole(topic, 0), whole(topic, 1)])
        reader.pause([TopicPartition(topic, 0)])
        reader.assign([whole(topic, 0), whole(topic, 1)])
        assert values_of(take(reader, 4)) == numbers(4, 100)
        reader.unassign()
        reader.incremental_assign([whole(topic, 0)])
        assert reader.consume(1, 0.3) == []
        reader.unassign()
        asked = [TopicPartition(topic, 0)]
        reader.resume(asked)
        assert asked[0].error is None
        reader.assign([whole(topic, 0)])
        assert values_of(take(reader, 4)) == numbers(4)


def test_partitions_come_and_go_incrementally(cluster: Cluster) -> None:
    topic = cluster.topic(2)
    fill(cluster, topic, numbers(4), 0)
    fill(cluster, topic, numbers(4, 100), 1)
    with consumer(cluster) as reader:
        reader.incremental_assign([whole(topic, 0)])
        assert values_of(take(reader, 2)) == numbers(2)
        reader.incremental_assign([whole(topic, 1)])
        assert sorted(values_of(take(reader, 6))) == sorted(numbers(2, 2) + numbers(4, 100))
        with pytest.raises(ConfigError):
            reader.incremental_assign([whole(topic, 1)])
        reader.incremental_unassign([TopicPartition(topic, 0)])
        with pytest.raises(ConfigError):
            reader.incremental_unassign([TopicPartition(topic, 0)])
        assert [(item.topic, item.partition) for item in reader.assignment()] == [(topic, 1)]
        fill(cluster, topic, numbers(1, 4), 0)
        fill(cluster, topic, numbers(1, 104), 1)
        assert values_of(take(reader, 1)) == [b"104"]
        assert reader.poll(0.1) is None
        reader.unassign()
        assert reader.assignment() == []


# ---- offsets


def test_a_seek_does_not_wait_for_the_request_that_waits_at_the_broker(cluster: Cluster) -> None:
    """The broker sits on the session's fetch for longer than this test may take."""
    topic = cluster.topic(2)
    fill(cluster, topic, numbers(30), 0, batch_num_messages=5)
    fill(cluster, topic, numbers(3), 1)
    with consumer(cluster, fetch_wait_max_ms=60_000, enable_partition_eof=True) as reader:
        reader.assign([whole(topic)])
        assert values_of(take(reader, 30)) == numbers(30)
        assert take_error(reader).code() == KafkaError._PARTITION_EOF
        for offset in (20, 0, 29):
            reader.seek(whole(topic, 0, offset))
            assert values_of(take(reader, 30 - offset)) == numbers(30 - offset, offset)
            assert take_error(reader).code() == KafkaError._PARTITION_EOF
        reader.pause([TopicPartition(topic, 0)])
        reader.incremental_assign([whole(topic, 1)])
        assert values_of(take(reader, 3)) == numbers(3)
        reader.seek(whole(topic, 0, 28))
        reader.resume([TopicPartition(topic, 0)])
        assert take_error(reader).code() == KafkaError._PARTITION_EOF  # of partition 1
        assert values_of(take(reader, 2)) == numbers(2, 28)


def test_offsets_of_what_is_not_there_are_refused_at_once(cluster: Cluster) -> None:
    topic = cluster.topic(2)
    missing = unique("missing")
    with consumer(cluster, allow_auto_create_topics=False) as reader:
        for name, number, code in (
            (missing, 0, KafkaError.UNKNOWN_TOPIC_OR_PART),
            (topic, 2, KafkaError._UNKNOWN_PARTITION),
        ):
            with pytest.raises(KafkaException) as caught:
                reader.get_watermark_offsets(TopicPartition(name, number), LIMIT_S)
            assert caught.value.code == code
            (beyond,) = reader.offsets_for_times([TopicPartition(topic, 2, 0)], LIMIT_S)
            assert beyond.error is not None
            assert beyond.error.code() == KafkaError._UNKNOWN_PARTITION
            assert caught.value.error.str().startswith("Failed to get watermark offsets: ")
            assert f"{name}[{number}]" in str(caught.value)
        asked = [TopicPartition(missing, 0, 1), TopicPartition(topic, 0, 1), TopicPartition(topic, 2, 1)]
        found = reader.offsets_for_times(asked, LIMIT_S)
        assert [item.error and item.error.code() for item in found] == [
            KafkaError.UNKNOWN_TOPIC_OR_PART,
            None,
            KafkaError._UNKNOWN_PARTITION,
        ]
        cluster.admin.create_partitions([NewPartitions(topic, 3)])[topic].result(LIMIT_S)
        wait_for(lambda: len(cluster.admin.list_topics(topic, LIMIT_S).topics[topic].partitions) == 3, "it has grown")
        assert reader.get_watermark_offsets(TopicPartition(topic, 2), LIMIT_S) == (0, 0)


def test_watermarks(cluster: Cluster) -> None:
    topic = cluster.topic()
    with consumer(cluster) as reader:
        assert reader.get_watermark_offsets(TopicPartition(topic, 0), cached=True) == (OFFSET_INVALID, OFFSET_INVALID)
        assert reader.get_watermark_offsets(TopicPartition(topic, 0), LIMIT_S) == (0, 0)
        fill(cluster, topic, numbers(7))
        assert reader.get_watermark_offsets(TopicPartition(topic, 0), LIMIT_S) == (0, 7)
        reader.assign([whole(topic)])
        take(reader, 7)
        assert reader.get_watermark_offsets(TopicPartition(topic, 0), cached=True) == (0, 7)


def test_offsets_by_time(cluster: Cluster) -> None:
    topic = cluster.topic(2)
    with producer(cluster, batch_num_messages=3) as writer:
        for number in range(10):
            writer.produce(topic, b"x", partition=0, timestamp=START_MS + number * 1000)
    with consumer(cluster) as reader:
        for at_ms, offset in [
            (0, 0),
            (START_MS, 0),
            (START_MS + 4000, 4),
            (START_MS + 4001, 5),
            (START_MS + 9001, OFFSET_END),
        ]:
            asked = [TopicPartition(topic, 0, at_ms), TopicPartition(topic, 1, at_ms)]
            assert offsets_of(reader.offsets_for_times(asked, LIMIT_S)) == [offset, OFFSET_END]


def test_metadata_of_the_cluster_and_of_a_topic(cluster: Cluster) -> None:
    topic = cluster.topic(3)
    with consumer(cluster) as reader:
        found = reader.list_topics(topic, LIMIT_S)
        everything = reader.list_topics(timeout=LIMIT_S)
        cluster_id = reader.cluster_id(LIMIT_S)
    assert list(found.topics) == [topic]
    assert topic in everything.topics
    assert sorted(found.topics[topic].partitions) == [0, 1, 2]
    partition = found.topics[topic].partitions[0]
    assert partition.leader in found.brokers
    assert (partition.replicas, partition.isrs) == ([partition.leader], [partition.leader])
    assert cluster_id == everything.cluster_id
    assert cluster_id


# ---- what is not there, or comes later


def test_a_topic_that_does_not_exist_is_an_event_and_no_end(cluster: Cluster) -> None:
    topic, later = cluster.topic(), unique("later")
    fill(cluster, topic, numbers(2))
    with consumer(cluster, topic_metadata_refresh_interval_ms=200) as reader:
        reader.subscribe([topic, later])
        events: list[Message] = []
        values: list[Message] = []
        deadline_s = time.monotonic() + LIMIT_S
        while (not events or len(values) < 2) and time.monotonic() < deadline_s:
            message = reader.poll(0.2)
            if message is not None:
                (events if message.error() else values).append(message)
        assert [event.error().code() for event in events] == [KafkaError.UNKNOWN_TOPIC_OR_PART]
        assert later in events[0].error().str()
        cluster.admin.create_topics([NewTopic(later, 1, 1)])[later].result(LIMIT_S)
        fill(cluster, later, [b"late"])
        found = poll_until([reader], lambda: len(reader.assignment()) == 2, "the new topic")
        found += take(reader, 1 - len(found)) if not found else []
        assert values_of(found) == [b"late"]


def test_topics_by_pattern_come_when_they_are_made(cluster: Cluster) -> None:
    prefix = unique("pattern")
    names = [f"{prefix}-{part}" for part in ("a", "b")]
    with consumer(cluster, topic_metadata_refresh_interval_ms=100) as reader:
        reader.subscribe([f"^{prefix}-[ab]$"])
        assert reader.poll(0.1) is None
        for count, name in enumerate([*names, f"{prefix}-c"], 1):
            cluster.admin.create_topics([NewTopic(name, 1, 1)])[name].result(LIMIT_S)
            fill(cluster, name, [name.encode()])
            if name in names:
                assert values_of(take(reader, 1)) == [name.encode()]
                assert len(reader.assignment()) == count
        assert reader.poll(0.5) is None
        assert sorted(item.topic for item in reader.assignment()) == names


def test_partitions_that_are_added_are_read(cluster: Cluster) -> None:
    topic = cluster.topic(1)
    with consumer(cluster, topic_metadata_refresh_interval_ms=100) as reader:
        reader.subscribe([topic])
        poll_until([reader], lambda: len(reader.assignment()) == 1, "assigned")
        cluster.admin.create_partitions([NewPartitions(topic, 3)])[topic].result(LIMIT_S)
        poll_until([reader], lambda: len(reader.assignment()) == 3, "all three assigned")
        fill(cluster, topic, [b"x"], 2)
        assert values_of(take(reader, 1)) == [b"x"]


def test_a_topic_that_was_made_anew_is_read_from_its_start(cluster: Cluster) -> None:
    topic = cluster.topic()
    fill(cluster, topic, numbers(10))
    with consumer(cluster, topic_metadata_refresh_interval_ms=200) as reader:
        reader.subscribe([topic])
        take(reader, 10)
        cluster.admin.delete_topics([topic])[topic].result(LIMIT_S)

        def make() -> bool:
            error = cluster.admin.create_topics([NewTopic(topic, 1, 1)])[topic].exception(LIMIT_S)
            return error is None

        wait_for(make, "the topic is gone and made again")
        fill(cluster, topic, numbers(3, 500))
        found: list[bytes] = []
        deadline_s = time.monotonic() + LIMIT_S
        while len(found) < 3 and time.monotonic() < deadline_s:
            message = reader.poll(0.2)
            if message is not None and message.error() is None:
                found.append(message.value())
        assert found == numbers(3, 500)


# ---- the end


def test_a_closed_consumer_refuses_everything_but_close(cluster: Cluster) -> None:
    topic = cluster.topic()
    reader = consumer(cluster)
    reader.subscribe([topic])
    reader.close()
    reader.close()
    for call in (
        lambda: reader.poll(0),
        lambda: reader.consume(1, 0),
        lambda: reader.subscribe([topic]),
        lambda: reader.assign([whole(topic)]),
        lambda: reader.assignment(),
        lambda: reader.commit(),
        lambda: reader.list_topics(),
        lambda: reader.seek(whole(topic)),
    ):
        with pytest.raises(StateError, match="closed"):
            call()


def test_records_written_with_every_codec_mix_in_one_partition(cluster: Cluster) -> None:
    topic, sent = cluster.topic(), []
    for codec in ("zstd", "none", "lz4", "gzip", "snappy"):
        part = [codec.encode() + b"-%d" % number for number in range(50)]
        fill(cluster, topic, part, compression_type=codec)
        sent += part
    with consumer(cluster) as reader:
        reader.assign([whole(topic, 0, 25)])
        assert values_of(take(reader, 225)) == sent[25:]


# ---- epochs of positions


def test_a_position_has_the_epoch_of_what_is_behind_it(cluster: Cluster) -> None:
    topic = cluster.topic()
    fill(cluster, topic, [b"%d" % number for number in range(6)])
    with consumer(cluster, enable_auto_commit=False, enable_auto_offset_store=False) as reader:
        asked = TopicPartition(topic, 0, 3, "note")

        def position() -> tuple[int, int | None]:
            (found,) = reader.position([asked])
            assert (found.topic, found.partition, found.metadata) == (topic, 0, "note")
            return found.offset, found.leader_epoch

        assert position() == (OFFSET_INVALID, None)
        reader.assign([whole(topic)])
        assert position() == (OFFSET_INVALID, None)
        (message,) = [reader.poll(LIMIT_S)]
        assert message is not None
        epoch = message.leader_epoch()
        assert epoch is not None
        assert position() == (1, epoch)
        take(reader, 3)
        assert position() == (4, epoch)
        reader.seek(whole(topic, offset=2))
        assert position() == (OFFSET_INVALID, None)
        take(reader, 1)
        assert position() == (3, epoch)
        reader.store_offsets(offsets=reader.position([asked]))
        reader.commit(asynchronous=False)
        (kept,) = reader.committed([asked], LIMIT_S)
        assert (kept.offset, kept.metadata) == (3, "note")
        assert kept.leader_epoch in (epoch, None)  # brokers before 2.1 keep none
        reader.assign([TopicPartition(topic, 0, 4, leader_epoch=epoch)])
        assert [(item.offset, item.leader_epoch) for item in reader.assignment()] == [(4, epoch)]
        assert position() == (OFFSET_INVALID, None)
        take(reader, 2)
        assert position() == (6, epoch)
        assert (asked.offset, asked.leader_epoch) == (3, None)  # what is asked with stays as it is


@pytest.mark.parametrize("known", [False, True])
def test_a_partition_that_is_not_there_is_told_once_and_read_when_it_comes(cluster: Cluster, known: bool) -> None:
    topic, troubles = cluster.topic(), list[KafkaError]()
    fill(cluster, topic, [b"a"])
    conf = {"error_cb": troubles.append, "topic_metadata_refresh_interval_ms": 300}
    with consumer(cluster, **conf) as reader:
        if known:
            reader.assign([whole(topic)])
            take(reader, 1)
        reader.assign([whole(topic), whole(topic, 1)])
        assert values_of(poll_until([reader], lambda: bool(troubles), "it is told")) in ([b"a"], [])
        assert [(error.code(), error.str().split(":")[0]) for error in troubles] == [
            (KafkaError._UNKNOWN_PARTITION, f"{topic} [1]")
        ]
        cluster.admin.create_partitions([NewPartitions(topic, 2)])[topic].result(LIMIT_S)
        wait_until_led(cluster.admin, {topic: 2})
        fill(cluster, topic, [b"b"], 1)
        found = poll_until(
            [reader], lambda: reader.position([whole(topic, 1)])[0].offset == 1, "the new partition is read"
        )
        assert b"b" in values_of(found)
        assert len(troubles) == 1
