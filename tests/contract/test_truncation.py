"""Positions that the log no longer has (KIP-320): a committed or given offset whose epoch ended before it.

No cluster here loses records by itself, but what a consumer sees of one that did can be made: an offset behind the end
of the log, with the epoch of a record that it says was there. The embedded one can lose records (`move_leader`).
"""

from __future__ import annotations

import asyncio

import pytest

from kafka_core import KafkaError, LogTruncation, Message, TopicPartition
from kafka_core.aio import AIOConsumer
from tests.contract.clusters import (
    LIMIT_S,
    Cluster,
    consumer,
    consumer_conf,
    fill,
    poll_until,
    take,
    unique,
    values_of,
)

EPOCH = 0
"""Of the only leader that a new topic has had."""


def numbers(count: int, start: int = 0) -> list[bytes]:
    return [b"%d" % number for number in range(start, start + count)]


def behind(topic: str, offset: int, epoch: int = EPOCH) -> TopicPartition:
    return TopicPartition(topic, 0, offset, leader_epoch=epoch)


def test_a_position_that_the_log_has_is_read_from(cluster: Cluster) -> None:
    topic = cluster.topic()
    fill(cluster, topic, numbers(5))
    with consumer(cluster) as reader:
        reader.assign([behind(topic, 3)])
        assert values_of(take(reader, 2)) == numbers(2, 3)
        reader.seek(behind(topic, 5))
        fill(cluster, topic, numbers(2, 5))
        assert values_of(take(reader, 2)) == numbers(2, 5)


def test_reading_goes_on_where_the_log_was_cut_and_the_callback_hears_it(cluster: Cluster) -> None:
    topic, told = cluster.topic(), list[LogTruncation]()
    fill(cluster, topic, numbers(5))
    with consumer(cluster, auto_offset_reset="earliest", on_truncation=told.append) as reader:
        reader.assign([behind(topic, 9)])
        poll_until([reader], lambda: bool(told), "the truncation is told")
        assert told == [LogTruncation(topic, 0, 9, EPOCH, 5, EPOCH)]
        fill(cluster, topic, numbers(8, 5))  # the log has grown past the old position
        assert values_of(take(reader, 8)) == numbers(8, 5)
    assert len(told) == 1


def test_a_committed_offset_is_asked_about_with_its_epoch(cluster: Cluster) -> None:
    topic, group = cluster.topic(), unique("group")
    fill(cluster, topic, numbers(5))
    with consumer(cluster, group) as writer:
        writer.commit(offsets=[behind(topic, 9)], asynchronous=False)
    with consumer(cluster, group) as reader:
        reader.subscribe([topic])
        message = None
        while message is None:
            message = reader.poll(LIMIT_S)
        error = message.error()
        assert error is not None
        assert (error.code(), message.topic(), message.partition()) == (KafkaError._LOG_TRUNCATION, topic, 0)
        assert message.offset() == 5
        fill(cluster, topic, numbers(6, 5))
        assert values_of(take(reader, 6)) == numbers(6, 5)


def test_without_a_policy_reading_goes_on_after_a_seek(cluster: Cluster) -> None:
    topic = cluster.topic()
    fill(cluster, topic, numbers(5))
    with consumer(cluster, auto_offset_reset="error") as reader:
        reader.assign([behind(topic, 9)])
        message = reader.poll(LIMIT_S)
        assert message is not None
        error = message.error()
        assert error is not None
        assert (error.code(), message.offset()) == (KafkaError._LOG_TRUNCATION, 5)
        assert "auto.offset.reset" in error.str()
        reader.seek(TopicPartition(topic, 0, 4))
        assert values_of(take(reader, 1)) == numbers(1, 4)


@pytest.mark.parametrize("policy", ["earliest", "latest"])
def test_where_no_leader_knows_the_epoch_the_policy_says_where_to_go_on(cluster: Cluster, policy: str) -> None:
    topic, told = cluster.topic(), list[LogTruncation]()
    fill(cluster, topic, numbers(5))
    with consumer(cluster, auto_offset_reset=policy, on_truncation=told.append) as reader:
        reader.assign([behind(topic, 3, epoch=77)])
        if policy == "earliest":
            assert values_of(take(reader, 5)) == numbers(5)
        else:
            poll_until([reader], lambda: reader.health().lag.get((topic, 0)) == 0, "the end was found")
            fill(cluster, topic, numbers(1, 5))
            assert values_of(take(reader, 1)) == numbers(1, 5)
    assert told == [LogTruncation(topic, 0, 3, 77)]


def test_the_asyncio_consumer_awaits_the_callback(cluster: Cluster) -> None:
    topic, told = cluster.topic(), list[LogTruncation]()
    fill(cluster, topic, numbers(5))

    async def hear(truncation: LogTruncation) -> None:
        await asyncio.sleep(0)
        told.append(truncation)

    async def work() -> Message | None:
        async with asyncio.timeout(LIMIT_S), AIOConsumer(consumer_conf(cluster, on_truncation=hear)) as reader:
            await reader.assign([behind(topic, 9)])
            while not told:
                assert await reader.poll(0.1) is None
            await reader.seek(TopicPartition(topic, 0, 4))
            return await reader.poll(LIMIT_S)

    message = asyncio.run(work())
    assert told == [LogTruncation(topic, 0, 9, EPOCH, 5, EPOCH)]
    assert message is not None
    assert message.offset() == 4


# ---- a cluster that loses records


def test_records_that_were_read_and_lost_are_told_and_new_ones_all_come(embedded: Cluster) -> None:
    topic, told = embedded.topic(), list[LogTruncation]()
    fill(embedded, topic, numbers(3))
    fill(embedded, topic, numbers(5, 3))
    with consumer(embedded, on_truncation=told.append) as reader:
        reader.assign([TopicPartition(topic, 0, 0)])
        assert values_of(take(reader, 8)) == numbers(8)
        broker = embedded.partner.leader(topic, 0)
        embedded.partner.move_leader(topic, 0, broker, end_offset=4)
        fill(embedded, topic, numbers(20, 100))  # offsets 3 to 22: more than there were
        assert values_of(take(reader, 20)) == numbers(20, 100)
    assert told == [LogTruncation(topic, 0, 8, 0, 3, 0)]


def test_a_group_that_was_away_meanwhile_is_told_too(embedded: Cluster) -> None:
    topic, group, told = embedded.topic(), unique("group"), list[LogTruncation]()
    fill(embedded, topic, numbers(3))
    fill(embedded, topic, numbers(5, 3))
    with consumer(embedded, group, enable_auto_commit=False) as reader:
        reader.subscribe([topic])
        take(reader, 8)
        reader.commit(asynchronous=False)
    embedded.partner.move_leader(topic, 0, embedded.partner.leader(topic, 0), end_offset=3)
    fill(embedded, topic, numbers(20, 100))
    with consumer(embedded, group, on_truncation=told.append) as reader:
        reader.subscribe([topic])
        assert values_of(take(reader, 20)) == numbers(20, 100)
    assert told == [LogTruncation(topic, 0, 8, 0, 3, 0)]
