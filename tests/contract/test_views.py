"""Views that a dialect needs besides confluent_kafka's methods: records of chosen partitions, where reading is
and begins, offsets with their times, callbacks without a poll, records without a future."""

from __future__ import annotations

import asyncio
import time

import pytest

from kafka_core import Consumer, KafkaError, KafkaException, Message, StateError, TopicPartition
from kafka_core.admin import OffsetSpec
from kafka_core.aio import AIOProducer
from tests.contract.clusters import LIMIT_S, Cluster, fill, unique, wait_for
from tests.contract.clusters import consumer as blocking
from tests.contract.clusters import producer as blocking_producer
from tests.contract.test_aio import consumer, poll_until, producer, run


def test_consume_takes_only_from_the_partitions_that_are_named(cluster: Cluster) -> None:
    topic = cluster.topic(partitions=3)
    for number in range(3):
        fill(cluster, topic, [b"%d-%d" % (number, index) for index in range(5)], partition=number)
    with blocking(cluster) as reader:
        reader.assign([TopicPartition(topic, number, 0) for number in range(3)])
        wanted = [TopicPartition(topic, 1)]
        found: list[Message] = []
        wait_for(lambda: found.extend(reader.consume(10, 0.5, partitions=wanted)) or len(found) >= 5, "records of one")
        assert [message.value() for message in found] == [b"1-%d" % index for index in range(5)]
        assert reader.consume(10, 0, partitions=wanted) == []
        assert reader.consume(10, 0, partitions=[]) == []
        rest: list[Message] = []
        wait_for(lambda: rest.extend(reader.consume(10, 0.5)) or len(rest) >= 10, "the rest")
        for number in (0, 2):  # nothing was lost, and each partition kept its order
            values = [message.value() for message in rest if message.partition() == number]
            assert values == [b"%d-%d" % (number, index) for index in range(5)]


def test_the_next_offset_is_known_before_a_record_was_read(cluster: Cluster) -> None:
    topic = cluster.topic()
    fill(cluster, topic, [b"a", b"b", b"c"])
    partition = TopicPartition(topic, 0)
    with blocking(cluster, **{"auto.offset.reset": "latest"}) as reader:
        with pytest.raises(StateError, match="not assigned"):
            reader.next_offset(partition)
        assert reader.partition_status(partition) is None
        reader.assign([partition])
        assert reader.next_offset(partition, LIMIT_S) == 3
        assert reader.position([partition])[0].offset < 0  # as confluent_kafka has it
        reader.seek(TopicPartition(topic, 0, 1))
        assert reader.next_offset(partition) == 1
        assert [message.value() for message in reader.consume(2, LIMIT_S)] == [b"b", b"c"]
        before_ms = time.time() * 1000 - 60_000
        status = reader.partition_status(partition)
        assert status is not None
        assert (status.position, status.high_watermark, status.log_start_offset, status.paused) == (3, 3, 0, False)
        assert status.told_at_ms is not None
        assert before_ms < status.told_at_ms <= time.time() * 1000 + 1
        reader.pause([partition])
        status = reader.partition_status(partition)
        assert status is not None
        assert status.paused


def test_without_an_offset_and_without_a_reset_there_is_no_next_offset(cluster: Cluster) -> None:
    topic = cluster.topic()
    with blocking(cluster, **{"auto.offset.reset": "error"}) as reader:
        reader.assign([TopicPartition(topic, 0)])
        with pytest.raises(KafkaException) as caught:
            reader.next_offset(TopicPartition(topic, 0), LIMIT_S)
        assert caught.value.code == KafkaError._AUTO_OFFSET_RESET


def test_a_consumer_lists_offsets_with_their_times(cluster: Cluster) -> None:
    topic = cluster.topic(partitions=2)
    with blocking_producer(cluster) as writer:
        for index in range(3):
            writer.produce(topic, b"x", partition=0, timestamp=1_700_000_000_000 + index)
        assert writer.flush(LIMIT_S) == 0
    one, other, missing = TopicPartition(topic, 0), TopicPartition(topic, 1), TopicPartition(topic, 7)
    with blocking(cluster) as reader:
        found = reader.list_offsets(
            {one: OffsetSpec.for_timestamp(1_700_000_000_001), other: OffsetSpec.for_timestamp(5)}, LIMIT_S
        )
        at, none = found[one], found[other]
        assert not isinstance(at, KafkaException)
        assert not isinstance(none, KafkaException)
        assert (at.offset, at.timestamp) == (1, 1_700_000_000_001)
        assert none.offset == -1
        ends = reader.list_offsets({one: OffsetSpec.latest(), missing: OffsetSpec.latest()}, LIMIT_S)
        assert not isinstance(ends[one], KafkaException)
        assert ends[one].offset == 3  # type: ignore[union-attr]
        failed = ends[missing]
        assert isinstance(failed, KafkaException)
        assert failed.code == KafkaError._UNKNOWN_PARTITION


def test_callbacks_run_without_a_poll_while_somebody_serves(modern_cluster: Cluster) -> None:
    async def work() -> None:
        topic, group = modern_cluster.topic(partitions=2), unique("group")
        first, second = consumer(modern_cluster, group), consumer(modern_cluster, group)
        told: list[tuple[str, int]] = []

        async def assigned(_: object, partitions: list[TopicPartition]) -> None:
            told.append(("assigned", len(partitions)))

        async def revoked(_: object, partitions: list[TopicPartition]) -> None:
            told.append(("revoked", len(partitions)))

        await first.subscribe([topic], on_assign=assigned, on_revoke=revoked)
        serving = asyncio.create_task(first.serve())
        await second.subscribe([topic])

        async def shared() -> bool:
            return bool(await second.assignment()) and len(await first.assignment()) == 1

        await poll_until([second], shared)  # the first one never polls
        assert ("assigned", 2) in told or ("assigned", 1) in told
        fill(modern_cluster, topic, [b"a"] * 4)
        assert not serving.done()  # records are not for it
        await first.close()
        with pytest.raises(StateError):
            await serving
        await second.close()

    run(work)


def test_records_without_a_future_are_told_to_their_callback(cluster: Cluster) -> None:
    async def work() -> None:
        topic = cluster.topic()
        writer = producer(cluster, **{"queue.buffering.max.messages": 100})
        told: list[tuple[KafkaError | None, int | None]] = []
        with pytest.raises(StateError, match="not been started"):
            writer.produce_nowait(topic, b"x")
        async with writer:
            queued = 0
            while queued < 250:
                try:
                    writer.produce_nowait(
                        topic, b"x", on_delivery=lambda error, message: told.append((error, message.offset()))
                    )
                    queued += 1
                except BufferError:
                    await writer.wait_for_room()
            assert await writer.flush(LIMIT_S) == 0
        assert sorted(offset for error, offset in told if error is None and offset is not None) == list(range(250))
        with pytest.raises(StateError):
            writer.produce_nowait(topic, b"x")
        assert AIOProducer is type(writer)

    run(work)


def test_a_blocking_consumer_that_is_closed_refuses_the_new_calls(cluster: Cluster) -> None:
    reader: Consumer = blocking(cluster)
    reader.close()
    with pytest.raises(StateError):
        reader.next_offset(TopicPartition("t", 0))
    with pytest.raises(StateError):
        reader.list_offsets({TopicPartition("t", 0): OffsetSpec.latest()})
