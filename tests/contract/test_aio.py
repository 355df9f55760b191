"""The asyncio clients on every kind of cluster: the same promises on the caller's loop, and what cancelling does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest

from kafka_core import KafkaError, KafkaException, Message, StateError, TopicPartition
from kafka_core.admin import AIOAdminClient, NewPartitions, NewTopic
from kafka_core.aio import AIOConsumer, AIOProducer
from tests.contract.clusters import LIMIT_S, Cluster, fill, options, unique, values_of, whole


def run(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Runs a test's coroutine; nothing may take for ever, and nothing may be left running."""

    async def bounded() -> None:
        await asyncio.wait_for(work(), 2 * LIMIT_S)
        await asyncio.sleep(0)
        left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task() and not task.done()]
        assert left == []

    asyncio.run(bounded())


def producer(cluster: Cluster, **conf: object) -> AIOProducer:
    return AIOProducer({"bootstrap.servers": cluster.servers, "linger.ms": 2, **options(conf)})


def consumer(cluster: Cluster, group: str | None = None, **conf: object) -> AIOConsumer:
    own = {"group.id": group or unique("group"), "auto.offset.reset": "earliest", "heartbeat.interval.ms": 100}
    return AIOConsumer({"bootstrap.servers": cluster.servers, **own, **options(conf)})


def admin(cluster: Cluster) -> AIOAdminClient:
    return AIOAdminClient({"bootstrap.servers": cluster.servers})


async def take(reader: AIOConsumer, count: int) -> list[Message]:
    found: list[Message] = []
    async with asyncio.timeout(LIMIT_S):
        while len(found) < count:
            for message in await reader.consume(count - len(found), 0.5):
                assert message.error() is None, message.error()
                found.append(message)
    return found


async def poll_until(readers: list[AIOConsumer], done: Callable[[], Awaitable[bool]]) -> list[Message]:
    found: list[Message] = []
    async with asyncio.timeout(LIMIT_S):
        while not await done():
            for reader in readers:
                message = await reader.poll(0.02)
                if message is not None:
                    assert message.error() is None, message.error()
                    found.append(message)
    return found


def numbers(count: int, start: int = 0) -> list[bytes]:
    return [b"%d" % number for number in range(start, start + count)]


# ---- the producer


def test_a_record_is_delivered_with_everything_it_had(cluster: Cluster) -> None:
    topic = cluster.topic(2)
    heard: list[tuple[KafkaError | None, Message]] = []

    async def work() -> None:
        async with producer(cluster) as writer:
            future = await writer.produce(
                topic, "välue", b"key", 1, lambda error, message: heard.append((error, message)),
                timestamp=1_700_000_000_123, headers={"a": b"1", "b": None},
            )  # fmt: skip
            report = await future
        assert (report.topic(), report.partition(), report.offset()) == (topic, 1, 0)
        async with consumer(cluster) as reader:
            await reader.assign([whole(topic, 1)])
            (message,) = await take(reader, 1)
        assert (message.key(), message.value()) == (b"key", "välue".encode())
        assert message.timestamp()[1] == 1_700_000_000_123
        assert message.headers() == [("a", b"1"), ("b", None)]

    run(work)
    ((error, message),) = heard
    assert error is None
    assert message.value() == "välue".encode()


def test_many_are_delivered_in_order(cluster: Cluster) -> None:
    topic = cluster.topic()

    async def work() -> None:
        async with producer(cluster, batch_num_messages=50) as writer:
            futures = [await writer.produce(topic, value) for value in numbers(1000)]
            offsets = [message.offset() for message in await asyncio.gather(*futures)]
            assert offsets == list(range(1000))
            assert await writer.flush() == 0
        async with consumer(cluster) as reader:
            await reader.assign([whole(topic)])
            assert values_of(await take(reader, 1000)) == numbers(1000)

    run(work)


def test_a_full_queue_makes_produce_wait(cluster: Cluster) -> None:
    topic = cluster.topic()

    async def work() -> None:
        async with producer(cluster, queue_buffering_max_messages=10) as writer:
            futures = []
            for value in numbers(300):
                futures.append(await writer.produce(topic, value))
                assert len(writer) <= 10
            assert [message.value() for message in await asyncio.gather(*futures)] == numbers(300)

    run(work)


def test_a_future_raises_when_the_record_fails(cluster: Cluster) -> None:
    topic = cluster.topic(1, max_message_bytes="1000")

    async def work() -> None:
        async with producer(cluster) as writer:
            large = await writer.produce(topic, bytes(5000))
            small = await writer.produce(topic, b"small")
            with pytest.raises(KafkaException) as caught:
                await large
            assert caught.value.code == KafkaError.MSG_SIZE_TOO_LARGE
            assert (await small).value() == b"small"

    run(work)


def test_a_cancelled_future_does_not_take_the_record_back(cluster: Cluster) -> None:
    topic = cluster.topic()

    async def work() -> None:
        async with producer(cluster, linger_ms=200) as writer:
            futures = [await writer.produce(topic, value) for value in numbers(3)]
            futures[1].cancel()
            assert await writer.flush() == 0
            assert [(await futures[0]).offset(), (await futures[2]).offset()] == [0, 2]
        async with consumer(cluster) as reader:
            await reader.assign([whole(topic)])
            assert values_of(await take(reader, 3)) == numbers(3)

    run(work)


def test_a_cancelled_flush_loses_nothing(cluster: Cluster) -> None:
    topic = cluster.topic()

    async def work() -> None:
        async with producer(cluster, linger_ms=100) as writer:
            for value in numbers(500):
                await writer.produce(topic, value)
            flush = asyncio.create_task(writer.flush())
            await asyncio.sleep(0)
            flush.cancel()
            with pytest.raises(asyncio.CancelledError):
                await flush
            assert await writer.flush() == 0
        async with consumer(cluster) as reader:
            await reader.assign([whole(topic)])
            assert values_of(await take(reader, 500)) == numbers(500)

    run(work)


def test_leaving_the_block_delivers_and_a_closed_producer_says_so(cluster: Cluster) -> None:
    topic = cluster.topic()

    async def work() -> None:
        async with producer(cluster, linger_ms=500) as writer:
            future = await writer.produce(topic, b"last")
        assert future.done()
        assert future.result().offset() == 0
        with pytest.raises(StateError):
            await writer.produce(topic, b"too late")
        await writer.close()

    run(work)


# ---- the consumer


def test_poll_consume_iteration_and_columns_hand_out_each_record_once(cluster: Cluster) -> None:
    topic = cluster.topic()
    fill(cluster, topic, numbers(100), batch_num_messages=7)

    async def work() -> None:
        async with consumer(cluster) as reader:
            await reader.assign([whole(topic)])
            first = await reader.poll(LIMIT_S)
            assert first is not None
            found = [first.value(), *values_of(await take(reader, 9))]
            async for message in reader:
                found.append(message.value())
                if len(found) == 20:
                    break
            while len(found) < 100:
                found += (await reader.consume_arrow(100, 0.5)).column("value").to_pylist()
        assert found == numbers(100)

    run(work)


def test_iteration_ends_with_the_consumer_and_not_with_an_error_of_the_same_kind(cluster: Cluster) -> None:
    topic = cluster.topic()
    fill(cluster, topic, numbers(1))

    def fails(reader: AIOConsumer, partitions: list[TopicPartition]) -> None:
        raise StateError("something of the application is closed")

    async def work() -> None:
        async with consumer(cluster) as reader:
            await reader.subscribe([topic], on_assign=fails)
            with pytest.raises(StateError, match="of the application"):
                async for _ in reader:
                    pass
        async with consumer(cluster) as reader:
            await reader.assign([whole(topic)])
            async for _ in reader:
                await reader.close()

    run(work)


def test_a_cancelled_poll_takes_nothing_away(cluster: Cluster) -> None:
    topic = cluster.topic()

    async def work() -> None:
        async with consumer(cluster) as reader, producer(cluster) as writer:
            await reader.assign([whole(topic)])
            found = []
            for value in numbers(20):
                waiting = asyncio.create_task(reader.poll(LIMIT_S))
                await asyncio.sleep(0)
                sent = await writer.produce(topic, value)
                if int(value) % 2:
                    await sent  # the record may be on its way to the waiting poll just now
                waiting.cancel()
                try:
                    message = await waiting
                except asyncio.CancelledError:
                    continue
                assert message is not None
                found.append(message.value())
            found += values_of(await take(reader, 20 - len(found)))
            assert found == numbers(20)
            assert await reader.poll(0.1) is None

    run(work)


@pytest.mark.parametrize("columns", [False, True])
def test_a_cancelled_consume_hands_its_records_back(cluster: Cluster, columns: bool) -> None:
    """One batch per fetch: consume() has a part and waits for the next while it is cancelled."""
    topic, group = cluster.topic(), unique("group")
    fill(cluster, topic, numbers(3000), batch_num_messages=10)

    async def work() -> None:
        async with consumer(cluster, group, fetch_message_max_bytes=1, fetch_max_bytes=1) as reader:
            await reader.subscribe([topic])
            await take(reader, 7)
            for _ in range(3):
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.02):
                        await (reader.consume_arrow if columns else reader.consume)(3000, -1)
            assert (await reader.position([TopicPartition(topic, 0)]))[0].offset in (7, -1001)
        async with consumer(cluster, group) as reader:
            await reader.subscribe([topic])
            assert values_of(await take(reader, 2993)) == numbers(2993, 7)

    run(work)


def test_two_members_share_and_a_coroutine_may_be_told(cluster: Cluster) -> None:
    topic, group = cluster.topic(4), unique("group")
    told: list[tuple[str, int]] = []

    async def on_assign(_: object, partitions: list[TopicPartition]) -> None:
        await asyncio.sleep(0)
        told.append(("assign", len(partitions)))

    async def on_revoke(reader: AIOConsumer, partitions: list[TopicPartition]) -> None:
        try:
            await reader.commit(asynchronous=False)
        except KafkaException as error:
            if error.code != KafkaError._NO_OFFSET:  # nothing new since the last time
                raise
        told.append(("revoke", len(partitions)))

    async def work() -> None:
        async with consumer(cluster, group, enable_auto_commit=False) as one:
            await one.subscribe([topic], on_assign, on_revoke)
            for partition in range(4):
                await asyncio.to_thread(fill, cluster, topic, numbers(5, partition * 5), partition)
            found = await take(one, 20)
            async with consumer(cluster, group) as two:
                await two.subscribe([topic])

                async def halves() -> bool:
                    return [len(await one.assignment()), len(await two.assignment())] == [2, 2]

                found += await poll_until([one, two], halves)
            committed = await one.committed([TopicPartition(topic, number) for number in range(4)], LIMIT_S)
        assert sorted(values_of(found)) == sorted(numbers(20))
        assert [item.offset for item in committed] == [5, 5, 5, 5]

    run(work)
    assert told[:3] == [("assign", 4), ("revoke", 4), ("assign", 2)]


def test_a_cancelled_commit_leaves_the_consumer_usable(cluster: Cluster) -> None:
    topic, group = cluster.topic(), unique("group")
    fill(cluster, topic, numbers(10))

    async def work() -> None:
        async with consumer(cluster, group, enable_auto_commit=False) as reader:
            await reader.subscribe([topic])
            await take(reader, 10)
            commit = asyncio.create_task(reader.commit(asynchronous=False))
            await asyncio.sleep(0)
            commit.cancel()
            await asyncio.gather(commit, return_exceptions=True)
            (done,) = await reader.commit(asynchronous=False)
            assert done.offset == 10
            (seen,) = await reader.committed([TopicPartition(topic, 0)], LIMIT_S)
            assert seen.offset == 10

    run(work)


def test_wakeup_ends_a_wait_and_close_is_final(cluster: Cluster) -> None:
    topic = cluster.topic()

    async def work() -> None:
        async with consumer(cluster) as reader:
            await reader.assign([whole(topic)])
            asyncio.get_running_loop().call_later(0.05, reader.wakeup)
            assert await reader.poll(LIMIT_S) is None
        with pytest.raises(StateError):
            await reader.poll(0)
        await reader.close()

    run(work)


def test_offsets_by_time_watermarks_seek_and_pause(cluster: Cluster) -> None:
    topic = cluster.topic()
    fill(cluster, topic, numbers(10))

    async def work() -> None:
        async with consumer(cluster) as reader:
            await reader.assign([whole(topic)])
            assert values_of(await take(reader, 10)) == numbers(10)
            assert await reader.get_watermark_offsets(TopicPartition(topic, 0), LIMIT_S) == (0, 10)
            (found,) = await reader.offsets_for_times([TopicPartition(topic, 0, 1)], LIMIT_S)
            assert found.offset == 0
            await reader.seek(whole(topic, 0, 7))
            assert values_of(await take(reader, 3)) == numbers(3, 7)
            await reader.pause([TopicPartition(topic, 0)])
            await reader.seek(whole(topic, 0, 5))
            assert await reader.poll(0.2) is None
            await reader.resume([TopicPartition(topic, 0)])
            assert values_of(await take(reader, 5)) == numbers(5, 5)

    run(work)


# ---- the administrator


def test_topics_are_made_described_and_deleted(cluster: Cluster) -> None:
    name = unique("topic")

    async def work() -> None:
        async with admin(cluster) as client:
            made = await client.create_topics([NewTopic(name, 2, 1)])
            assert made[name].error is None
            assert (await client.create_partitions([NewPartitions(name, 3)]))[name].error is None
            async with asyncio.timeout(LIMIT_S):
                while len((await client.list_topics(name)).topics[name].partitions) != 3:
                    pass  # metadata follows the answer
            described = (await client.describe_topics([name]))[name].result()
            assert described is not None
            assert [item.id for item in described.partitions] == [0, 1, 2]
            again = (await client.create_topics([NewTopic(name, 2, 1)]))[name].error
            assert again is not None
            assert again.code == KafkaError.TOPIC_ALREADY_EXISTS
            assert (await client.delete_topics([name]))[name].error is None
            assert (await client.describe_cluster()).cluster_id == await client.cluster_id()

    run(work)


def test_a_cancelled_call_leaves_the_administrator_usable(cluster: Cluster) -> None:
    async def work() -> None:
        async with admin(cluster) as client:
            for turns in range(12):
                call = asyncio.create_task(client.list_topics())
                for _ in range(turns):
                    await asyncio.sleep(0)
                call.cancel()
                await asyncio.gather(call, return_exceptions=True)
            assert (await client.list_topics(timeout=LIMIT_S)).brokers

    run(work)
