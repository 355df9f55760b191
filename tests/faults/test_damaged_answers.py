"""Answers damaged on their way: only KafkaException with a sentence comes out, no task dies unseen, clients recover."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
from collections.abc import Callable
from typing import Any

import pytest

from kafka_core import Consumer, Producer, TopicCollection, TopicPartition
from kafka_core.admin import AdminClient, ConfigResource, NewTopic
from kafka_core.aio import AIOConsumer, AIOProducer
from kafka_core.broker import EmbeddedCluster
from kafka_core.errors import KafkaException
from tests.faults.damage import Damage, Watch, damaged

QUICK: dict[str, Any] = {
    "socket.timeout.ms": 500,
    "socket.connection.setup.timeout.ms": 1000,
    "reconnect.backoff.ms": 1,
    "reconnect.backoff.max.ms": 5,
    "retry.backoff.ms": 1,
    "retry.backoff.max.ms": 5,
    "topic.metadata.refresh.fast.interval.ms": 1,
    "topic.metadata.refresh.interval.ms": 50,
}
GROUP: dict[str, Any] = {
    "group.id": "g",
    "auto.offset.reset": "earliest",
    "session.timeout.ms": 6000,
    "max.poll.interval.ms": 6000,  # with it ends the wait for the answer of a JoinGroup or SyncGroup that never comes
    "heartbeat.interval.ms": 50,
    "auto.commit.interval.ms": 20,
    "fetch.wait.max.ms": 10,
}
RECOVERY_S = 400.0
"""Only a hang takes as long; where a machine is so slow that every other request times out, a client needs minutes."""
PARTITIONS = 2
LAST = b"written after the damage ended"
FEW = 300
MANY = 10_000


def halted(message: Any) -> TopicPartition | None:
    """The place to read again, if a batch can't be read: the partition waits for the application's seek() then."""
    if message.error() is None or "seek() past" not in message.error().str():
        return None
    return TopicPartition(message.topic(), message.partition(), message.offset())


def produce(servers: str, damage: Damage, watch: Watch, answers: int) -> None:
    """The blocking producer."""
    made = Producer({"bootstrap.servers": servers, **QUICK, "linger.ms": 0, "message.timeout.ms": 3000})
    made.produce("t", b"first")
    assert made.flush(RECOVERY_S) == 0
    damage.on = True

    def report(error: Any, message: Any) -> None:
        if error is not None:
            watch.judge(error)

    while damage.seen < answers:
        watch.call(made.produce, "t", b"x" * 50, on_delivery=report)
        watch.call(made.poll, 0.001)
        if damage.seen % 50 == 0:
            watch.call(made.list_topics, timeout=0.5)
    damage.on = False
    made.flush(RECOVERY_S)
    codes: list[Any] = []
    while codes[-1:] != [None]:  # records given up while it was damaged may be still to come
        made.produce("t", LAST, on_delivery=lambda error, message: codes.append(error))
        assert made.flush(RECOVERY_S) == 0
        assert len(codes) < 100, codes[-1]
    made.close()


def consume(servers: str, damage: Damage, watch: Watch, answers: int) -> None:
    """The blocking consumer, in a group that commits."""
    with Producer({"bootstrap.servers": servers}) as producer:
        for number in range(200):
            producer.produce("t", b"%d" % number)
    made = Consumer({"bootstrap.servers": servers, **QUICK, **GROUP, "error_cb": watch.judge})
    made.subscribe(["t"])
    while (message := made.poll(RECOVERY_S)) is None or message.error():
        pass
    damage.on = True
    for turn in itertools.count():
        if damage.seen >= answers:
            break
        message = watch.call(made.poll, 0.005)
        if message is not None and message.error():
            watch.judge(message.error())
            if place := halted(message):
                watch.call(made.seek, place)
        if turn % 20 == 5:
            watch.call(made.commit, asynchronous=False)
        if turn % 20 == 10:
            watch.call(made.committed, [TopicPartition("t", 0)], timeout=0.3)
            watch.call(made.get_watermark_offsets, TopicPartition("t", 0), timeout=0.3)
            watch.call(made.offsets_for_times, [TopicPartition("t", 0, 0)], timeout=0.3)
        if turn % 20 == 15:
            for partition in watch.call(made.assignment) or ():
                watch.call(made.seek, TopicPartition("t", partition.partition, 0))
    damage.on = False
    with Producer({"bootstrap.servers": servers}) as producer:
        for partition in range(PARTITIONS):
            producer.produce("t", LAST, partition=partition)
    missing, deadline_s = set(range(PARTITIONS)), time.monotonic() + RECOVERY_S
    while missing:
        assert time.monotonic() < deadline_s, f"it does not recover: {made.assignment()}"
        message = made.poll(1.0)
        if message is None:
            continue
        if place := halted(message):
            made.seek(place)
        elif not message.error() and message.value() == LAST:
            missing.discard(message.partition())
    end = TopicPartition("t", 0, 1)  # not what was stored: the automatic commit may have come before
    while not (watch.call(made.commit, offsets=[end], asynchronous=False) or ()):
        assert time.monotonic() < deadline_s, "it cannot commit"
        made.poll(0.01)  # where it stood still, its session has ended
    made.close()


def administer(servers: str, damage: Damage, watch: Watch, answers: int) -> None:
    """The administration client."""
    made = AdminClient({"bootstrap.servers": servers, **QUICK})
    made.list_topics(timeout=RECOVERY_S)
    damage.on = True
    for number in itertools.count():
        if damage.seen >= answers:
            break
        name = f"a{number % 5}"
        calls: list[Callable[[], Any]] = [
            lambda: made.list_topics(timeout=0.5),
            lambda: made.create_topics([NewTopic(name, 1)], request_timeout=0.5),  # noqa: B023  # called in this round
            lambda: made.delete_topics([name], request_timeout=0.5),  # noqa: B023
            lambda: made.describe_configs([ConfigResource("topic", "t")], request_timeout=0.5),
            lambda: made.list_consumer_groups(request_timeout=0.5),
            lambda: made.describe_consumer_groups(["g"], request_timeout=0.5),
            lambda: made.describe_cluster(request_timeout=0.5),
            lambda: made.describe_topics(["t"], request_timeout=0.5),
        ]
        for call in calls:
            result = watch.call(call)
            futures = result.values() if isinstance(result, dict) else [result]
            for future in futures:
                if hasattr(future, "result"):
                    watch.call(future.result, RECOVERY_S)
    damage.on = False
    assert made.list_topics(timeout=RECOVERY_S).topics
    made.create_topics([NewTopic("after", 1)], request_timeout=RECOVERY_S)["after"].result()
    described = made.describe_topics(TopicCollection(["after"]), request_timeout=RECOVERY_S)
    assert described["after"].result().partitions
    made.close()


def produce_and_consume_on_asyncio(servers: str, damage: Damage, watch: Watch, answers: int) -> None:
    """Both asyncio clients."""

    async def settled(producer: AIOProducer, value: bytes) -> None:
        """Records given up while it was damaged may be still to come; where it stands still, any may time out."""
        for _ in range(100):
            with contextlib.suppress(KafkaException):
                await (await producer.produce("t", value))
                return
        raise AssertionError("it does not recover")

    async def run() -> None:
        producer = AIOProducer({"bootstrap.servers": servers, **QUICK, "linger.ms": 0, "message.timeout.ms": 3000})
        consumer = AIOConsumer({"bootstrap.servers": servers, **QUICK, **GROUP})
        await settled(producer, b"first")
        await consumer.subscribe(["t"])
        damage.on = True
        futures: list[Any] = []
        while damage.seen < answers:
            future = await watch.wait(producer.produce("t", b"x"))
            futures += [] if future is None else [future]
            message = await watch.wait(consumer.poll(0.005))
            if message is not None and message.error():
                watch.judge(message.error())
                if place := halted(message):
                    await watch.wait(consumer.seek(place))
        damage.on = False
        for future in futures:
            await watch.wait(future)
        async with asyncio.timeout(RECOVERY_S):
            await settled(producer, LAST)
        deadline_s, places = (
            time.monotonic() + RECOVERY_S,
            [TopicPartition("t", number) for number in range(PARTITIONS)],
        )
        while (message := await consumer.poll(1.0)) is None or message.error() or message.value() != LAST:
            if time.monotonic() > deadline_s:
                raise AssertionError(f"it does not recover: {consumer.health()}, {await consumer.position(places)}")
            if message is not None and (place := halted(message)):
                await consumer.seek(place)
        await consumer.close()
        await producer.close()

    asyncio.run(run())


WORK = [produce, consume, administer, produce_and_consume_on_asyncio]


def spoil(work: Callable[..., None], seed: int, answers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    damage = Damage(seed)
    with damaged(damage, monkeypatch) as watch, EmbeddedCluster(brokers=2) as cluster:
        cluster.create_topic("t", PARTITIONS)
        work(cluster.bootstrap_servers, damage, watch, answers)


@pytest.mark.parametrize("work", WORK)
def test_damaged_answers_do_no_harm(work: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    spoil(work, 1, FEW, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 5))
@pytest.mark.parametrize("work", WORK)
def test_many_damaged_answers_do_no_harm(work: Callable[..., None], seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    spoil(work, seed, MANY, monkeypatch)
