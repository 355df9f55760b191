"""The consumer while requests fail, leaders move, brokers stop and bytes rot: nothing lost or doubled, in order."""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kafka_core.aio import AIOConsumer
from kafka_core.broker import Delay, Disconnect, Drop, EmbeddedCluster
from kafka_core.errors import KafkaError, KafkaException
from kafka_core.kernels import Message
from kafka_core.model import TopicPartition
from kafka_core.protocol import ApiMessage
from kafka_core.protocol.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from kafka_core.protocol.messages.find_coordinator import FindCoordinatorRequest
from kafka_core.protocol.messages.heartbeat import HeartbeatRequest
from kafka_core.protocol.messages.join_group import JoinGroupRequest
from kafka_core.protocol.messages.leave_group import LeaveGroupRequest
from kafka_core.protocol.messages.list_offsets import ListOffsetsRequest
from kafka_core.protocol.messages.offset_commit import OffsetCommitRequest
from kafka_core.protocol.messages.offset_fetch import OffsetFetchRequest
from kafka_core.protocol.messages.sync_group import SyncGroupRequest
from kafka_core.records import Codec, NewRecord, build_batch
from kafka_core.sync.consumer import Consumer
from tests.faults.consumer_cluster import fill, next_error, poll_until, read, settings, values

HANG_S = 60.0
"""Nothing takes that long but what hangs."""

TOPIC = "t"
PER_PARTITION = 300


@pytest.fixture
def cluster() -> Iterator[EmbeddedCluster]:
    """Three brokers, two partitions of 300 records in batches of 10."""
    properties = {"group.min.session.timeout.ms": "100"}
    with EmbeddedCluster(brokers=3, auto_create_topics=False, properties=properties) as cluster:
        cluster.create_topic(TOPIC, 2)
        for partition in range(2):
            for start in range(0, PER_PARTITION, 100):
                fill(cluster, TOPIC, partition, [b"%d" % n for n in range(start, start + 100)])
        yield cluster


def subscribed(cluster: EmbeddedCluster, **more: Any) -> Consumer:
    consumer = Consumer(settings(cluster, max_partition_fetch_bytes=2000, **more))
    consumer.subscribe([TOPIC])
    return consumer


def check_everything_once_in_order(messages: list[Message]) -> None:
    for partition in range(2):
        found = [int(message.value()) for message in messages if message.partition() == partition]
        assert found == list(range(PER_PARTITION))


def every(period: int, action: object) -> Callable[[object, object], Any]:
    """An interceptor that acts on every `period`-th request."""
    turn = itertools.count(1)
    return lambda request, context: action if next(turn) % period == 0 else None


# ---- fetching


@pytest.mark.parametrize(
    "action",
    [
        Disconnect(),
        Disconnect(handled=True),
        Delay(0.05),
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError.FETCH_SESSION_ID_NOT_FOUND,
        KafkaError.INVALID_FETCH_SESSION_EPOCH,
        KafkaError.KAFKA_STORAGE_ERROR,
        KafkaError.UNKNOWN_LEADER_EPOCH,
    ],
    ids=str,
)
def test_fetches_that_fail_now_and_then(cluster: EmbeddedCluster, action: object) -> None:
    cluster.intercept(FetchRequest, every(2, action), times=6)
    with subscribed(cluster) as consumer:
        check_everything_once_in_order(read(consumer, 2 * PER_PARTITION))


def test_a_fetch_without_an_answer_ends_with_its_time_out(cluster: EmbeddedCluster) -> None:
    cluster.intercept(FetchRequest, every(2, Drop()), times=1)
    with subscribed(cluster, socket_timeout_ms=300) as consumer:
        check_everything_once_in_order(read(consumer, 2 * PER_PARTITION))


def test_leaders_that_move_while_reading(cluster: EmbeddedCluster) -> None:
    with subscribed(cluster) as consumer:
        found: list[Message] = []
        for turn in range(12):
            found += read(consumer, 50)
            cluster.move_leader(TOPIC, turn % 2, 1 + turn % 3)
        check_everything_once_in_order(found)


def test_brokers_that_stop_and_start_while_reading(cluster: EmbeddedCluster) -> None:
    with subscribed(cluster) as consumer:
        found: list[Message] = []
        for broker in (1, 2, 3):
            found += read(consumer, 100)
            cluster.stop_broker(broker)
            found += read(consumer, 100)
            cluster.start_broker(broker)
        check_everything_once_in_order(found)


def test_all_connections_cut_again_and_again(cluster: EmbeddedCluster) -> None:
    with subscribed(cluster) as consumer:
        found: list[Message] = []
        for _ in range(12):
            found += read(consumer, 50)
            cluster.disconnect_all()
        check_everything_once_in_order(found)


# ---- bytes


def answer_with(records: bytes) -> Callable[[FetchRequest, Any], Any]:
    """An interceptor that gives these bytes as the records of partition 0."""

    def interceptor(request: FetchRequest, _: Any) -> FetchResponse | None:
        if not request.topics:
            return None
        topic = request.topics[0]
        data = PartitionData(partition_index=0, high_watermark=100, last_stable_offset=100, records=records)
        rows = FetchableTopicResponse(topic=topic.topic, topic_id=topic.topic_id, partitions=[data])
        return FetchResponse(session_id=0, responses=[rows])

    return interceptor


def batch(base_offset: int, *contents: bytes, **options: Any) -> bytearray:
    return bytearray(
        build_batch([NewRecord(value, timestamp_ms=1) for value in contents], base_offset=base_offset, **options)
    )


def spoiled(kind: str) -> bytes:
    """A good batch at 0 and 1, a bad one at 2 and 3."""
    bad = batch(2, b"c", b"d", codec=Codec.GZIP if kind == "compressed" else Codec.NONE)
    if kind == "checksum":
        bad[-1] ^= 1
    elif kind == "codec":
        bad = bytearray(batch(2, b"c", b"d"))
        bad[22] |= 7
        bad = with_checksum(bad)
    elif kind == "compressed":
        bad[70:80] = bytes(10)
        bad = with_checksum(bad)
    elif kind == "lengths":
        bad[61] = 0x7E
        bad = with_checksum(bad)
    return bytes(batch(0, b"a", b"b") + bad)


def with_checksum(data: bytearray) -> bytearray:
    from kafka_core.kernels import crc32c

    data[17:21] = crc32c(memoryview(data)[21:]).to_bytes(4, "big")
    return data


@pytest.mark.parametrize("kind", ["checksum", "codec", "compressed", "lengths"])
def test_a_batch_that_rotted_is_told_once_and_can_be_passed(cluster: EmbeddedCluster, kind: str) -> None:
    rule = cluster.intercept(FetchRequest, answer_with(spoiled(kind)))  # type: ignore[arg-type]
    with Consumer(settings(cluster)) as consumer:
        consumer.assign([TopicPartition(TOPIC, 0, 0)])
        assert values(read(consumer, 2)) == [b"a", b"b"]
        message = next_error(consumer)
        error = message.error()
        assert error is not None
        assert (message.topic(), message.partition(), message.offset()) == (TOPIC, 0, 2)
        assert "seek()" in error.str()
        assert f"{TOPIC}[0]" in error.str()
        assert consumer.poll(0.2) is None
        assert [item.offset for item in consumer.position([TopicPartition(TOPIC, 0)])] == [2]
        assert not consumer.health().healthy
        cluster.stop_intercepting(rule)
        consumer.seek(TopicPartition(TOPIC, 0, 4))
        assert values(read(consumer, 1)) == [b"4"]


def test_a_response_cut_off_in_a_batch_gives_the_whole_ones(cluster: EmbeddedCluster) -> None:
    cut = bytes(batch(0, b"a", b"b") + batch(2, b"c")[:30])
    cluster.intercept(FetchRequest, answer_with(cut), times=1)  # type: ignore[arg-type]
    with Consumer(settings(cluster)) as consumer:
        consumer.assign([TopicPartition(TOPIC, 0, 0)])
        assert values(read(consumer, 4)) == [b"a", b"b", b"2", b"3"]


def test_an_offset_out_of_range_follows_the_policy(cluster: EmbeddedCluster) -> None:
    for policy, expected in (("earliest", b"0"), ("latest", b"late")):
        with Consumer(settings(cluster, auto_offset_reset=policy)) as consumer:
            consumer.assign([TopicPartition(TOPIC, 0, 99_999)])
            if policy == "latest":
                assert poll_until(consumer, lambda: consumer.health().lag.get((TOPIC, 0)) == 0) == []
                fill(cluster, TOPIC, 0, [b"late"])
            assert values(read(consumer, 1)) == [expected]


# ---- group


@pytest.mark.parametrize(
    "request_type", [JoinGroupRequest, SyncGroupRequest, FindCoordinatorRequest, OffsetFetchRequest]
)
@pytest.mark.parametrize(
    "action",
    [
        Disconnect(),
        Delay(0.05),
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
        KafkaError.NOT_COORDINATOR,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
    ],
    ids=str,
)
def test_joining_while_the_coordinator_has_trouble(
    cluster: EmbeddedCluster, request_type: type, action: object
) -> None:
    cluster.intercept(request_type, lambda request, context: action, times=2)  # type: ignore[arg-type, return-value]
    with subscribed(cluster) as consumer:
        check_everything_once_in_order(read(consumer, 2 * PER_PARTITION))


def forgotten(cluster: EmbeddedCluster, code: int) -> Callable[[Any, Any], int]:
    """An interceptor that answers with the code; a member that is told it is unknown is out of the group by then."""

    def interceptor(request: Any, _: object) -> int:
        if code == KafkaError.UNKNOWN_MEMBER_ID:
            cluster.state.groups.leave(request.group_id, request.member_id, None)
        return code

    return interceptor


@pytest.mark.parametrize(
    "code", [KafkaError.REBALANCE_IN_PROGRESS, KafkaError.ILLEGAL_GENERATION, KafkaError.UNKNOWN_MEMBER_ID]
)
def test_a_sync_that_comes_too_late_joins_again(cluster: EmbeddedCluster, code: int) -> None:
    cluster.intercept(SyncGroupRequest, forgotten(cluster, code), times=1)
    with subscribed(cluster) as consumer:
        check_everything_once_in_order(read(consumer, 2 * PER_PARTITION))


def test_a_membership_that_the_coordinator_forgot_is_lost_and_won_again(cluster: EmbeddedCluster) -> None:
    events: list[str] = []
    with Consumer(settings(cluster, enable_auto_commit=False)) as consumer:
        consumer.subscribe(
            [TOPIC], on_assign=lambda *_: events.append("assign"), on_lost=lambda *_: events.append("lost")
        )
        read(consumer, 2 * PER_PARTITION)
        cluster.intercept(HeartbeatRequest, forgotten(cluster, KafkaError.UNKNOWN_MEMBER_ID), times=1)
        again = poll_until(consumer, lambda: events == ["assign", "lost", "assign"])
        check_everything_once_in_order(again + read(consumer, 2 * PER_PARTITION - len(again)))


def test_the_coordinator_stops_and_another_one_takes_over(cluster: EmbeddedCluster) -> None:
    with subscribed(cluster, enable_auto_commit=False) as consumer:
        found = read(consumer, PER_PARTITION)
        consumer.commit(asynchronous=False)
        cluster.stop_broker(cluster.coordinator("g"))
        found += read(consumer, PER_PARTITION)
        check_everything_once_in_order(found)
        consumer.commit(asynchronous=False)
        poll_until(consumer, lambda: consumer.health().state == "stable")


@pytest.mark.parametrize(
    ("request_type", "delay"),
    [
        pytest.param(JoinGroupRequest, Delay(0.4, handled=True), id="the coordinator is a generation ahead"),
        pytest.param(SyncGroupRequest, Delay(0.4), id="the generation has not begun"),
    ],
)
def test_a_commit_between_join_and_sync_waits_for_the_end_of_the_rebalance(
    cluster: EmbeddedCluster, request_type: type[ApiMessage], delay: Delay
) -> None:
    cluster.create_topic("more", 1)
    conf = {"enable_auto_commit": False, "partition_assignment_strategy": "cooperative-sticky"}
    with subscribed(cluster, **conf) as consumer:
        read(consumer, 1)
        poll_until(consumer, lambda: consumer.health().state == "stable")
        rule = cluster.intercept(request_type, lambda *_: delay, times=1)
        consumer.subscribe([TOPIC, "more"])  # it joins again, and keeps what it has meanwhile
        poll_until(consumer, lambda: rule.seen)
        (done,) = consumer.commit(offsets=[TopicPartition(TOPIC, 0, 7)], asynchronous=False)
        assert done.error is None
        assert cluster.committed("g", TOPIC, 0) == 7


def test_not_being_allowed_into_the_group_is_told(cluster: EmbeddedCluster) -> None:
    cluster.intercept(JoinGroupRequest, lambda request, context: KafkaError.GROUP_AUTHORIZATION_FAILED, times=3)
    with subscribed(cluster) as consumer:
        error = next_error(consumer).error()
        assert error is not None
        assert error.code() == KafkaError.GROUP_AUTHORIZATION_FAILED
        assert "'g'" in error.str()
        check_everything_once_in_order(read(consumer, 2 * PER_PARTITION))


def test_not_being_allowed_to_read_is_told_once_and_mends_itself(cluster: EmbeddedCluster) -> None:
    cluster.intercept(FetchRequest, lambda request, context: KafkaError.TOPIC_AUTHORIZATION_FAILED, times=6)
    with subscribed(cluster) as consumer:
        assert next_error(consumer).error() == KafkaError.TOPIC_AUTHORIZATION_FAILED
        found: list[Message] = []
        while len(found) < 2 * PER_PARTITION:
            message = consumer.poll(HANG_S)
            assert message is not None
            if message.error() is None:
                found.append(message)
        check_everything_once_in_order(found)


def test_heartbeats_go_on_while_a_handler_takes_its_time(cluster: EmbeddedCluster) -> None:
    with subscribed(cluster) as consumer:
        read(consumer, 1)
        generation = consumer.consumer_group_metadata().generation_id
        beats = cluster.intercept(HeartbeatRequest, lambda request, context: None)
        deadline_s = time.monotonic() + HANG_S
        while beats.seen < 5:  # no call to the consumer meanwhile
            assert time.monotonic() < deadline_s
            time.sleep(0.01)
        read(consumer, 1)
        assert consumer.consumer_group_metadata().generation_id == generation


def test_a_slow_on_revoke_holds_the_rebalance_up(cluster: EmbeddedCluster) -> None:
    """The other member begins at the offset committed in on_revoke."""
    first = Consumer(settings(cluster, enable_auto_commit=False))
    second = Consumer(settings(cluster, enable_auto_commit=False))
    taken: list[Message] = []

    def on_revoke(consumer: Consumer, partitions: list[TopicPartition]) -> None:
        time.sleep(0.3)
        known = [item for item in consumer.position(partitions) if item.offset >= 0]
        if known:
            consumer.commit(offsets=known, asynchronous=False)

    first.subscribe([TOPIC], on_revoke=on_revoke)
    taken += read(first, 100)
    second.subscribe([TOPIC])

    def shared_out() -> bool:
        message = second.poll(0)
        if message is not None:
            taken.append(message)
        return len(second.assignment()) == 1 and len(first.assignment()) == 1

    taken += poll_until(first, shared_out)
    while len(taken) < 2 * PER_PARTITION:
        taken += first.consume(50, 0.05) + second.consume(50, 0.05)
    check_everything_once_in_order(taken)
    first.close()
    second.close()


# ---- commits and look-ups


@pytest.mark.parametrize(
    "action",
    [Disconnect(), Disconnect(handled=True), KafkaError.NOT_COORDINATOR, KafkaError.COORDINATOR_LOAD_IN_PROGRESS],
    ids=str,
)
def test_a_commit_is_tried_until_it_works(cluster: EmbeddedCluster, action: object) -> None:
    cluster.intercept(OffsetCommitRequest, lambda request, context: action, times=2)  # type: ignore[arg-type, return-value]
    with subscribed(cluster, enable_auto_commit=False) as consumer:
        read(consumer, 2 * PER_PARTITION)
        done = consumer.commit(asynchronous=False)
        assert done is not None
        assert [item.error for item in done] == [None, None]
    assert cluster.committed("g", TOPIC, 0) == PER_PARTITION


def test_a_commit_in_a_rebalance_says_so_and_the_member_joins_again(cluster: EmbeddedCluster) -> None:
    cluster.intercept(OffsetCommitRequest, lambda request, context: KafkaError.REBALANCE_IN_PROGRESS, times=1)
    with subscribed(cluster, enable_auto_commit=False) as consumer:
        read(consumer, 10)
        with pytest.raises(KafkaException) as caught:
            consumer.commit(asynchronous=False)
        assert caught.value.code == KafkaError.REBALANCE_IN_PROGRESS
        poll_until(consumer, lambda: consumer.health().rebalances == 2)


def test_a_commit_that_one_partition_refuses_fails(cluster: EmbeddedCluster) -> None:
    cluster.intercept(OffsetCommitRequest, lambda request, context: KafkaError.OFFSET_METADATA_TOO_LARGE, times=1)
    with subscribed(cluster, enable_auto_commit=False) as consumer:
        with pytest.raises(KafkaException, match=r"^Commit failed: ") as caught:
            consumer.commit(offsets=[TopicPartition(TOPIC, 0, 1)], asynchronous=False)
        assert caught.value.code == KafkaError.OFFSET_METADATA_TOO_LARGE


@pytest.mark.parametrize("action", [Disconnect(), KafkaError.NOT_LEADER_FOR_PARTITION], ids=str)
def test_looking_offsets_up_is_tried_until_it_works(cluster: EmbeddedCluster, action: object) -> None:
    cluster.intercept(ListOffsetsRequest, lambda request, context: action, times=2)  # type: ignore[arg-type, return-value]
    with Consumer(settings(cluster)) as consumer:
        assert consumer.get_watermark_offsets(TopicPartition(TOPIC, 0), HANG_S) == (0, PER_PARTITION)


# ---- closing


@pytest.mark.parametrize("request_type", [LeaveGroupRequest, OffsetCommitRequest])
def test_closing_is_bounded_when_nobody_answers(cluster: EmbeddedCluster, request_type: type) -> None:
    consumer = subscribed(cluster, socket_timeout_ms=1000)
    read(consumer, 10)
    cluster.intercept(request_type, lambda request, context: Drop())
    started_s = time.monotonic()
    consumer.close()
    assert time.monotonic() - started_s < HANG_S


@pytest.mark.parametrize("by_hand", [False, True])
def test_closing_waits_for_a_commit_that_is_under_way_and_tells_it(cluster: EmbeddedCluster, by_hand: bool) -> None:
    told: list[KafkaError | None] = []
    conf = settings(cluster, enable_auto_commit=False)
    conf["on_commit"] = lambda error, places: told.append(error)
    with Consumer(conf) as consumer:
        if by_hand:
            consumer.assign([TopicPartition(TOPIC, 0, 0), TopicPartition(TOPIC, 1, 0)])
        else:
            consumer.subscribe([TOPIC])
        read(consumer, 2 * PER_PARTITION)
        cluster.intercept(
            OffsetCommitRequest, lambda request, context: KafkaError.COORDINATOR_LOAD_IN_PROGRESS, times=3
        )
        consumer.commit(asynchronous=True)
    assert [cluster.committed("g", TOPIC, partition) for partition in range(2)] == [PER_PARTITION, PER_PARTITION]
    assert told == [None]


def test_closing_an_asyncio_consumer_waits_for_a_commit_that_is_under_way(cluster: EmbeddedCluster) -> None:
    async def run() -> None:
        async with AIOConsumer(settings(cluster, enable_auto_commit=False)) as consumer:
            await consumer.assign([TopicPartition(TOPIC, 0, 0)])
            taken = 0
            while taken < PER_PARTITION:
                taken += len(await consumer.consume(PER_PARTITION, 1))
            cluster.intercept(
                OffsetCommitRequest, lambda request, context: KafkaError.COORDINATOR_LOAD_IN_PROGRESS, times=3
            )
            await consumer.commit(asynchronous=True)

    asyncio.run(asyncio.wait_for(run(), HANG_S))
    assert cluster.committed("g", TOPIC, 0) == PER_PARTITION


def test_a_commit_that_nobody_answers_does_not_keep_close_waiting_for_ever(cluster: EmbeddedCluster) -> None:
    consumer = subscribed(cluster, enable_auto_commit=False)
    read(consumer, 10)
    cluster.intercept(OffsetCommitRequest, lambda request, context: Drop())
    consumer.commit(asynchronous=True)
    started_s = time.monotonic()
    consumer.close()
    assert time.monotonic() - started_s < HANG_S


def test_closing_while_everything_is_down_is_bounded(cluster: EmbeddedCluster) -> None:
    before = set(threading.enumerate())  # those of other tests may start and end meanwhile
    consumer = subscribed(cluster, socket_timeout_ms=1000)
    read(consumer, 10)
    for broker in (1, 2, 3):
        cluster.stop_broker(broker)
    started_s = time.monotonic()
    consumer.close()
    assert time.monotonic() - started_s < HANG_S
    assert {"kafka-core-consumer"}.isdisjoint(thread.name for thread in set(threading.enumerate()) - before)


def test_closing_while_a_join_waits_leaves_the_group_at_once(cluster: EmbeddedCluster) -> None:
    first = Consumer(settings(cluster))
    first.subscribe([TOPIC], on_revoke=lambda consumer, partitions: None)  # runs inside a poll
    read(first, 1)
    second = subscribed(cluster)
    deadline_s = time.monotonic() + HANG_S
    while second.health().state != "joining":  # waits for the first one, which does not poll
        assert time.monotonic() < deadline_s
        second.poll(0.01)
    started_s = time.monotonic()
    second.close()
    assert time.monotonic() - started_s < HANG_S
    first.close()
