"""Assignments made right after a subscription has ended stay: leaving the group gives up the group's partitions
alone, however late that is."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from kafka_core import Consumer, Message, TopicPartition
from kafka_core.aio import AIOConsumer
from kserdes.compat import aiokafka
from tests.contract import test_aio as aio
from tests.contract.clusters import LIMIT_S, Cluster, consumer, consumer_conf, fill, poll_until, take, whole
from tests.contract.conftest import KINDS
from tests.contract.groups import Callbacks, numbers, partitions_of

BOTH_PROTOCOLS = [
    pytest.param((kind.values[0], protocol), marks=kind.marks, id=f"{kind.values[0]}-{protocol}")
    for kind, protocol in itertools.product(KINDS, ["classic", "consumer"])
    if protocol == "classic" or kind.values[0] in ("embedded", "real")
]


@pytest.fixture(params=BOTH_PROTOCOLS)
def groups(request: pytest.FixtureRequest) -> Cluster:
    kind, protocol = request.param
    cluster: Cluster = request.getfixturevalue(kind)
    return replace(cluster, protocol=protocol)


def offsets_of(messages: list[Message]) -> list[int | None]:
    return [message.offset() for message in messages]


COOPERATIVE = "cooperative-sticky"


def strategy(cluster: Cluster, name: str) -> dict[str, object]:
    return {"partition_assignment_strategy": name} if cluster.protocol == "classic" else {}


# ---- the blocking consumer


@pytest.mark.parametrize("assignor", ["range", COOPERATIVE])
@pytest.mark.parametrize("with_callbacks", [False, True])
def test_the_same_partition_is_read_on(groups: Cluster, with_callbacks: bool, assignor: str) -> None:
    topic, calls = groups.topic(), Callbacks()
    fill(groups, topic, numbers(8))
    with consumer(groups, **strategy(groups, assignor)) as reader:
        if with_callbacks:
            calls.subscribe(reader, topic)
        else:
            reader.subscribe([topic])
        take(reader, 8)
        reader.unsubscribe()
        reader.assign([whole(topic, offset=5)])
        assert offsets_of(take(reader, 3)) == [5, 6, 7]
        poll_until([reader], lambda: reader.health().state == "idle", "the group is left")
        fill(groups, topic, numbers(2, 8))
        assert offsets_of(take(reader, 2)) == [8, 9]
        assert partitions_of(reader) == {(topic, 0)}
    assert calls.calls == ([("assign", [0]), ("revoke", [0])] if with_callbacks else [])


@pytest.mark.parametrize("with_callbacks", [False, True])
def test_partitions_are_added_in_place_of_the_groups(groups: Cluster, with_callbacks: bool) -> None:
    topic, calls = groups.topic(2), Callbacks()
    fill(groups, topic, numbers(4))
    with consumer(groups) as reader:
        if with_callbacks:
            calls.subscribe(reader, topic)
        else:
            reader.subscribe([topic])
        take(reader, 4)
        reader.unsubscribe()
        reader.incremental_assign([whole(topic, offset=3)])
        assert offsets_of(take(reader, 1)) == [3]
        poll_until([reader], lambda: reader.health().state == "idle", "the group is left")
        assert partitions_of(reader) == {(topic, 0)}


def test_what_was_assigned_within_a_subscription_ends_with_it(groups: Cluster) -> None:
    topic = groups.topic()
    fill(groups, topic, numbers(4))
    with consumer(groups) as reader:
        reader.subscribe([topic])
        take(reader, 4)
        reader.assign([whole(topic, offset=2)])
        take(reader, 2)
        reader.unsubscribe()
        poll_until([reader], lambda: reader.health().state == "idle", "the group is left")
        assert partitions_of(reader) == set()


def test_a_second_end_takes_nothing_away(groups: Cluster) -> None:
    topic = groups.topic()
    fill(groups, topic, numbers(4))
    with consumer(groups) as reader:
        reader.subscribe([topic])
        take(reader, 4)
        reader.unsubscribe()
        reader.assign([whole(topic, offset=1)])
        reader.unsubscribe()
        assert offsets_of(take(reader, 3)) == [1, 2, 3]
        assert partitions_of(reader) == {(topic, 0)}


def test_closing_at_once_commits_what_was_read_since(groups: Cluster) -> None:
    topic = groups.topic()
    fill(groups, topic, numbers(6))
    with consumer(groups, "group-of-" + topic, enable_auto_commit=True) as reader:
        reader.subscribe([topic], on_revoke=lambda *_: None)
        take(reader, 6)
        reader.unsubscribe()
        reader.assign([whole(topic, offset=1)])
        poll_until([reader], lambda: reader.position([whole(topic)])[0].offset == 6, "all is read again")
        fill(groups, topic, numbers(1, 6))
        take(reader, 1)
    with consumer(groups, "group-of-" + topic) as reader:
        assert reader.committed([whole(topic)], LIMIT_S)[0].offset == 7


def test_a_callback_ends_the_subscription_and_assigns_itself(groups: Cluster) -> None:
    topic = groups.topic()
    fill(groups, topic, numbers(4))

    def assigned(reader: Consumer, partitions: list[TopicPartition]) -> None:
        reader.unsubscribe()
        reader.assign([whole(item.topic, item.partition, 2) for item in partitions])

    with consumer(groups) as reader:
        reader.subscribe([topic], on_assign=assigned)
        assert offsets_of(take(reader, 2)) == [2, 3]
        poll_until([reader], lambda: reader.health().state == "idle", "the group is left")
        assert partitions_of(reader) == {(topic, 0)}


# ---- the asyncio consumer


def aio_consumer(cluster: Cluster, **conf: object) -> AIOConsumer:
    return AIOConsumer(consumer_conf(cluster, **conf))


async def until_idle(reader: AIOConsumer) -> None:
    async def idle() -> bool:
        return reader.health().state == "idle"

    await aio.poll_until([reader], idle)


@pytest.mark.parametrize("assignor", ["range", COOPERATIVE])
@pytest.mark.parametrize("with_callbacks", [False, True])
def test_an_asyncio_consumer_reads_the_same_partition_on(groups: Cluster, with_callbacks: bool, assignor: str) -> None:
    topic = groups.topic()
    fill(groups, topic, numbers(8))
    calls: list[str] = []

    async def revoked(_: AIOConsumer, __: list[TopicPartition]) -> None:
        calls.append("revoke")

    async def work() -> None:
        async with aio_consumer(groups, **strategy(groups, assignor)) as reader:
            await reader.subscribe([topic], on_revoke=revoked if with_callbacks else None)
            await aio.take(reader, 8)
            await reader.unsubscribe()
            await reader.assign([whole(topic, offset=5)])
            assert offsets_of(await aio.take(reader, 3)) == [5, 6, 7]
            await until_idle(reader)
            fill(groups, topic, numbers(2, 8))
            assert offsets_of(await aio.take(reader, 2)) == [8, 9]

    aio.run(work)
    assert calls == ["revoke"] * with_callbacks


@pytest.mark.parametrize("by", ["on_assign", "nobody"])
def test_a_subscription_that_ends_in_on_assign_leaves_what_is_assigned_then(groups: Cluster, by: str) -> None:
    """The group's partitions are being taken when another task ends the subscription and assigns one itself."""
    topic = groups.topic(2)
    fill(groups, topic, numbers(4), partition=0)
    begun, goes_on = asyncio.Event(), asyncio.Event()

    async def assigned(reader: AIOConsumer, partitions: list[TopicPartition]) -> None:
        if by == "on_assign":
            await reader.assign(partitions)
        begun.set()
        await goes_on.wait()

    async def work() -> None:
        async with aio_consumer(groups) as reader:
            await reader.subscribe([topic], on_assign=assigned)
            polling = asyncio.create_task(aio.take(reader, 2))
            await asyncio.wait_for(begun.wait(), LIMIT_S)
            await reader.unsubscribe()
            await reader.assign([whole(topic, offset=2)])
            goes_on.set()
            assert offsets_of(await polling) == [2, 3]
            await until_idle(reader)
            assert [item.partition for item in await reader.assignment()] == [0]

    aio.run(work)


def test_a_subscription_that_ends_in_on_assign_keeps_nothing(groups: Cluster) -> None:
    topic = groups.topic(2)
    begun, goes_on = asyncio.Event(), asyncio.Event()

    async def assigned(reader: AIOConsumer, partitions: list[TopicPartition]) -> None:
        begun.set()
        await goes_on.wait()
        await reader.assign(partitions)

    async def work() -> None:
        async with aio_consumer(groups) as reader:
            await reader.subscribe([topic], on_assign=assigned)
            polling = asyncio.create_task(reader.poll(LIMIT_S))
            await asyncio.wait_for(begun.wait(), LIMIT_S)
            await reader.unsubscribe()
            goes_on.set()
            await until_idle_beside(reader)
            assert await reader.assignment() == []
            reader.wakeup()
            assert await polling is None

    async def until_idle_beside(reader: AIOConsumer) -> None:
        async with asyncio.timeout(LIMIT_S):
            while reader.health().state != "idle":  # noqa: ASYNC110  (another task polls)
                await asyncio.sleep(0.01)

    aio.run(work)


# ---- aiokafka's dialect


def test_the_dialect_of_aiokafka_reads_the_same_partition_on(cluster: Cluster) -> None:
    topic = cluster.topic(2)
    fill(cluster, topic, numbers(8))

    async def work() -> None:
        reader = aiokafka.AIOKafkaConsumer(
            topic, bootstrap_servers=cluster.servers, group_id="group-of-" + topic, auto_offset_reset="earliest",
            enable_auto_commit=False,
        )  # fmt: skip
        async with reader:
            assert (await reader.getone()).offset == 0
            reader.unsubscribe()
            reader.assign([aiokafka.TopicPartition(topic, 0)])
            await until_left(reader)
            fill(cluster, topic, numbers(1, 8))
            async with asyncio.timeout(LIMIT_S):
                assert [(await reader.getone()).offset for _ in range(9)] == list(range(9))
            assert reader.assignment() == {aiokafka.TopicPartition(topic, 0)}

    async def until_left(reader: aiokafka.AIOKafkaConsumer) -> None:
        async with asyncio.timeout(LIMIT_S):
            while reader._consumer.health().state != "idle":  # noqa: ASYNC110  (nothing tells when)
                await asyncio.sleep(0.01)

    aio.run(work)


def test_the_dialect_of_aiokafka_assigns_while_its_listener_is_told(cluster: Cluster) -> None:
    topic = cluster.topic(2)
    fill(cluster, topic, numbers(4))
    begun, goes_on = asyncio.Event(), asyncio.Event()

    class Slow(aiokafka.ConsumerRebalanceListener):
        async def on_partitions_assigned(self, assigned: object) -> None:
            begun.set()
            await goes_on.wait()

        async def on_partitions_revoked(self, revoked: object) -> None:
            return None

    async def work() -> None:
        reader = aiokafka.AIOKafkaConsumer(
            bootstrap_servers=cluster.servers, group_id="group-of-" + topic, auto_offset_reset="earliest"
        )
        async with reader:
            reader.subscribe([topic], listener=Slow())
            await asyncio.wait_for(begun.wait(), LIMIT_S)
            reader.unsubscribe()
            reader.assign([aiokafka.TopicPartition(topic, 0)])
            goes_on.set()
            async with asyncio.timeout(LIMIT_S):
                assert [(await reader.getone()).offset for _ in range(4)] == [0, 1, 2, 3]
            assert reader.assignment() == {aiokafka.TopicPartition(topic, 0)}

    aio.run(work)


# ---- any calls before


@pytest.mark.parametrize("seed", range(6))
def test_a_subscription_ends_after_any_sequence_of_calls(groups: Cluster, seed: int) -> None:
    """Subscriptions, assignments and polls in any order; then the subscription ends and one partition is assigned."""
    rng = random.Random(seed)
    topics = [groups.topic(), groups.topic()]
    for topic in topics:
        fill(groups, topic, numbers(5))
    conf = strategy(groups, rng.choice(["range", COOPERATIVE])) | {"enable_auto_commit": rng.random() < 0.5}
    with consumer(groups, **conf) as reader:
        steps: list[Callable[[], object]] = [
            lambda: reader.subscribe([rng.choice(topics)]),
            lambda: Callbacks().subscribe(reader, rng.choice(topics)),
            reader.unsubscribe,
            lambda: reader.assign([whole(rng.choice(topics), offset=1)]),
            reader.unassign,
            lambda: reader.poll(rng.choice([0, 0.01, 0.3])),
        ]
        for _ in range(8):
            rng.choice(steps)()
        reader.unsubscribe()
        reader.unassign()
        reader.assign([whole(topics[0], offset=2)])
        found = poll_until([reader], lambda: reader.health().state == "idle", "the group is left")
        fill(groups, topics[0], numbers(1, 5))
        found += take(reader, 4 - len(found))
        assert [(message.topic(), message.offset()) for message in found] == [(topics[0], at) for at in range(2, 6)]
        assert partitions_of(reader) == {(topics[0], 0)}
