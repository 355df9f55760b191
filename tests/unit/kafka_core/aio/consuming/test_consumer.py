"""The asyncio consumer on an embedded cluster: the same promises, with coroutines, on the application's loop."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from typing import Any

import pytest

from kafka_core.aio.consuming.consumer import AIOConsumer
from kafka_core.broker import EmbeddedCluster
from kafka_core.errors import ConfigError, ConsumeError, KafkaError, KafkaException, StateError
from kafka_core.kernels import Message
from kafka_core.model import OFFSET_END, OFFSET_INVALID, TopicPartition
from kafka_core.sync.consumer import Consumer
from tests.faults.consumer_cluster import fill, settings
from tests.faults.loop import until
from tests.patience import judged_by

PATIENCE_S = 60.0
"""Nothing takes that long but what hangs."""


@pytest.fixture
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(auto_create_topics=False) as cluster:
        cluster.create_topic("t", 2)
        for partition in range(2):
            fill(cluster, "t", partition, [b"%d-%d" % (partition, n) for n in range(10)])
        yield cluster


def run(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Runs a test's coroutine; nothing may take for ever."""
    asyncio.run(asyncio.wait_for(work(), 2 * PATIENCE_S))


async def read(consumer: AIOConsumer, count: int) -> list[Message]:
    found: list[Message] = []
    async with asyncio.timeout(PATIENCE_S):
        while len(found) < count:
            for message in await consumer.consume(count - len(found), 0.2):
                assert message.error() is None, str(message.error())
                found.append(message)
    return found


async def poll_until(consumer: AIOConsumer, done: Callable[[], Awaitable[object]]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not await done():
            await consumer.poll(0.02)


def test_both_faces_have_the_same_methods_and_arguments() -> None:
    def public(cls: type) -> dict[str, list[str]]:
        members = inspect.getmembers(cls, inspect.isfunction)
        return {name: list(inspect.signature(item).parameters) for name, item in members if not name.startswith("_")}

    asynchronous = public(AIOConsumer)
    assert asynchronous.pop("serve") == ["self"]  # a blocking consumer has no task beside those that poll
    assert asynchronous == public(Consumer)


def test_poll_consume_and_iteration(cluster: EmbeddedCluster) -> None:
    async def work() -> None:
        async with AIOConsumer(settings(cluster)) as consumer:
            await consumer.assign([TopicPartition("t", 0, 0)])
            first = await consumer.poll(PATIENCE_S)
            assert first is not None
            assert first.value() == b"0-0"
            assert [message.value() for message in await read(consumer, 7)] == [b"0-%d" % n for n in range(1, 8)]
            rest = []
            async for message in consumer:
                rest.append(message.value())
                if len(rest) == 2:
                    break
            assert rest == [b"0-8", b"0-9"]
            assert await consumer.poll(0.01) is None
            assert await consumer.consume(5, 0.01) == []

    run(work)


def test_iteration_ends_when_the_consumer_is_closed(cluster: EmbeddedCluster) -> None:
    async def work() -> None:
        consumer = AIOConsumer(settings(cluster))
        await consumer.assign([TopicPartition("t", 0, 9)])
        found: list[bytes | None] = []
        closing: list[asyncio.Future[None]] = []
        async for message in consumer:
            found.append(message.value())
            asyncio.get_running_loop().call_later(
                0.1, lambda: closing.append(asyncio.ensure_future(consumer.close()))
            )  # while it waits for the next
        assert found == [b"0-9"]
        await closing[0]

    run(work)


def test_a_group_with_coroutine_callbacks(cluster: EmbeddedCluster) -> None:
    async def work() -> None:
        calls: list[tuple[str, list[int]]] = []
        committed: list[object] = []

        async def on_assign(consumer: AIOConsumer, partitions: list[TopicPartition]) -> None:
            await asyncio.sleep(0)
            calls.append(("assign", [item.partition for item in partitions]))
            for item in partitions:
                item.offset = 8
            await consumer.assign(partitions)

        async def on_revoke(_: AIOConsumer, partitions: list[TopicPartition]) -> None:
            calls.append(("revoke", [item.partition for item in partitions]))

        async def on_commit(error: object, _: object) -> None:
            committed.append(error)

        consumer = AIOConsumer({**settings(cluster, auto_commit_interval_ms=3_600_000), "on_commit": on_commit})
        await consumer.subscribe(["t"], on_assign=on_assign, on_revoke=on_revoke)
        found = await read(consumer, 4)
        assert sorted(message.value() for message in found) == [b"0-8", b"0-9", b"1-8", b"1-9"]
        assert await consumer.memberid()
        assert await consumer.subscription() == ["t"]
        await consumer.close()
        assert calls == [("assign", [0, 1]), ("revoke", [0, 1])]
        assert committed == [None]

    run(work)
    assert cluster.committed("g", "t", 0) == 10


def test_positions_commits_and_look_ups(cluster: EmbeddedCluster) -> None:
    async def work() -> None:
        async with AIOConsumer(settings(cluster, enable_auto_commit=False)) as consumer:
            place = TopicPartition("t", 0, 0)
            await consumer.assign([place])
            messages = await read(consumer, 3)
            done = await consumer.commit(messages[1], asynchronous=False)
            assert done is not None
            assert done[0].offset == 2
            assert await consumer.commit(offsets=[TopicPartition("t", 0, 5)]) is None

            async def is_committed() -> bool:
                return [item.offset for item in await consumer.committed([place], PATIENCE_S)] == [5]

            await poll_until(consumer, is_committed)
            await consumer.seek(TopicPartition("t", 0, 9))
            assert [item.offset for item in await consumer.position([place])] == [OFFSET_INVALID]
            assert (await read(consumer, 1))[0].value() == b"0-9"
            assert await consumer.get_watermark_offsets(place, PATIENCE_S) == (0, 10)
            assert await consumer.get_watermark_offsets(place, cached=True) == (0, 10)
            asked = [TopicPartition("t", 0, 1003), TopicPartition("t", 1, 10**9)]
            times = await consumer.offsets_for_times(asked, PATIENCE_S)
            assert [item.offset for item in times] == [3, OFFSET_END]
            await consumer.pause([place])
            await consumer.resume([place])
            await consumer.incremental_assign([TopicPartition("t", 1, 9)])
            assert (await read(consumer, 1))[0].value() == b"1-9"
            await consumer.incremental_unassign([place])
            assert await consumer.assignment() == [TopicPartition("t", 1)]
            await consumer.unassign()
            assert set((await consumer.list_topics(timeout=PATIENCE_S)).topics) == {"t"}
            assert await consumer.cluster_id(PATIENCE_S)
            assert (await consumer.consumer_group_metadata()).group_id == "g"
            assert consumer.health().healthy

    run(work)


def test_stored_offsets(cluster: EmbeddedCluster) -> None:
    async def work() -> None:
        async with AIOConsumer(settings(cluster, enable_auto_offset_store=False)) as consumer:
            await consumer.assign([TopicPartition("t", 0, 0)])
            messages = await read(consumer, 5)
            await consumer.store_offsets(messages[2])

    run(work)
    assert cluster.committed("g", "t", 0) == 3


def test_columns(cluster: EmbeddedCluster) -> None:
    pytest.importorskip("pyarrow")

    async def work() -> None:
        async with AIOConsumer(settings(cluster, auto_offset_reset="error")) as consumer:
            await consumer.assign([TopicPartition("t", 0, 4)])
            assert (await consumer.consume_arrow(3, PATIENCE_S)).column("offset").to_pylist() == [4, 5, 6]
            await consumer.assign([TopicPartition("t", 0, 77)])
            with pytest.raises(ConsumeError):
                await consumer.consume_arrow(3, PATIENCE_S)

    run(work)


def test_a_cancelled_poll_loses_nothing(cluster: EmbeddedCluster) -> None:
    async def work() -> None:
        async with AIOConsumer(settings(cluster)) as consumer:
            await consumer.assign([TopicPartition("t", 0, 10)])
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(consumer.poll(), 0.1)
            await consumer.seek(TopicPartition("t", 0, 0))
            assert [message.offset() for message in await read(consumer, 10)] == list(range(10))

    run(work)


def test_wakeup_ends_a_poll(cluster: EmbeddedCluster) -> None:
    async def work() -> None:
        async with AIOConsumer(settings(cluster)) as consumer:
            asyncio.get_running_loop().call_later(0.05, consumer.wakeup)
            assert await consumer.poll() is None

    run(work)


def test_polling_in_a_tight_loop_lets_other_tasks_run(cluster: EmbeddedCluster) -> None:
    async def work() -> None:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        async with AIOConsumer(settings(cluster)) as consumer:
            await consumer.assign([TopicPartition("t", 0, 0), TopicPartition("t", 1, 0)])
            await read(consumer, 1)
            task = asyncio.ensure_future(tick())
            await asyncio.sleep(0.05)
            before = ticks
            for _ in range(6):
                assert await consumer.poll(PATIENCE_S) is not None
                end_s = time.monotonic() + 0.01
                while time.monotonic() < end_s:  # a handler that computes
                    pass
            assert ticks >= before + 3
            task.cancel()

    run(work)


@pytest.fixture
def quick_groups() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(auto_create_topics=False, properties={"group.min.session.timeout.ms": "100"}) as cluster:
        cluster.create_topic("t", 1)
        fill(cluster, "t", 0, [b"first"])
        yield cluster


def test_one_poll_is_enough_to_come_back_after_not_polling(quick_groups: EmbeddedCluster) -> None:
    async def on_revoke(*_: object) -> None:
        await asyncio.sleep(0)

    async def work(limit_ms: int) -> None:
        conf = settings(quick_groups, max_poll_interval_ms=limit_ms, session_timeout_ms=limit_ms)
        async with AIOConsumer({**conf, "auto.offset.reset": "earliest"}) as consumer:
            await consumer.subscribe(["t"], on_revoke=on_revoke)
            await read(consumer, 1)
            await until(lambda: consumer.health().state == "expelled")
            told = await consumer.poll(PATIENCE_S)
            assert told is not None
            assert told.error() == KafkaError._MAX_POLL_EXCEEDED
            await asyncio.to_thread(fill, quick_groups, "t", 0, [b"back"])
            message = await consumer.poll(PATIENCE_S)
            assert message is not None

    judged_by(1.0, lambda limit_s: run(lambda: work(round(limit_s * 1000))))


@pytest.mark.parametrize("turns", [*range(12), 20, 30, 50])
def test_a_close_that_is_cancelled_leaves_no_member_and_no_task(quick_groups: EmbeddedCluster, turns: int) -> None:
    async def work() -> None:
        before = asyncio.all_tasks()
        consumer = AIOConsumer(settings(quick_groups, heartbeat_interval_ms=50))
        await consumer.subscribe(["t"])
        await read(consumer, 1)
        closing = asyncio.ensure_future(consumer.close())
        for _ in range(turns):
            await asyncio.sleep(0)
        closing.cancel()
        await asyncio.wait((closing,))
        await consumer.close()
        assert [task for task in asyncio.all_tasks() - before if not task.done()] == []
        with pytest.raises(StateError):
            await consumer.poll(0)
        other = AIOConsumer(settings(quick_groups))  # joins at once: nobody beats for a member that is closed
        await other.subscribe(["t"])
        await poll_until(other, other.assignment)
        await other.close()

    run(work)


def test_a_poll_that_is_cancelled_does_not_end_the_last_commit_of_what_is_given_up(
    quick_groups: EmbeddedCluster,
) -> None:
    async def work() -> None:
        conf = settings(quick_groups, auto_commit_interval_ms=60_000)
        async with AIOConsumer(conf) as consumer:
            await consumer.subscribe(["t"], on_revoke=lambda *_: None)
            await read(consumer, 1)
            commit = consumer._core.committer.commit_last
            begun = asyncio.Event()

            async def slow(*args: Any) -> None:
                begun.set()
                await asyncio.sleep(0.01)
                await commit(*args)

            consumer._core.committer.commit_last = slow  # type: ignore[method-assign, assignment]
            await consumer.unsubscribe()
            polling = asyncio.ensure_future(consumer.poll(PATIENCE_S))
            await begun.wait()
            polling.cancel()
            await asyncio.wait((polling,))
            await poll_until(consumer, lambda: asyncio.sleep(0, consumer.health().state == "idle"))
        assert quick_groups.committed("g", "t", 0) == 1

    run(work)


def test_errors_of_coroutine_callbacks_are_raised_by_poll(cluster: EmbeddedCluster) -> None:
    async def work() -> None:
        async def on_assign(*_: object) -> None:
            raise ValueError("mine")

        async with AIOConsumer(settings(cluster)) as consumer:
            await consumer.subscribe(["t"], on_assign=on_assign)
            with pytest.raises(ValueError, match="mine"):
                await read(consumer, 1)
            assert len(await read(consumer, 20)) == 20

    run(work)


def test_a_closed_consumer_says_so_and_bad_arguments_are_refused(cluster: EmbeddedCluster) -> None:
    async def work() -> None:
        consumer = AIOConsumer(settings(cluster), max_workers=3)
        with pytest.raises(ConfigError):
            await consumer.subscribe([])
        with pytest.raises(ValueError, match="num_messages"):
            await consumer.consume(10**7)
        assert await consumer.commit() is None
        with pytest.raises(KafkaException) as caught:
            await consumer.commit(asynchronous=False)
        assert caught.value.code == KafkaError._NO_OFFSET
        await consumer.close()
        await consumer.close()
        assert "closed" in repr(consumer)
        for call in (consumer.poll, consumer.consume, consumer.assignment, consumer.unsubscribe, consumer.memberid):
            with pytest.raises(StateError):
                await call()

    run(work)
