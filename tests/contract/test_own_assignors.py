"""Assignors of applications: run by the group's leader, in the dialects of kafka-python and aiokafka."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterable
from typing import Any

import pytest

from kserdes.compat.aiokafka import AIOKafkaConsumer
from kserdes.compat.aiokafka.assignors import (
    AbstractPartitionAssignor as AioAssignor,
)
from kserdes.compat.aiokafka.assignors import (
    ConsumerProtocolMemberAssignment,
    ConsumerProtocolMemberMetadata,
)
from kserdes.compat.kafka import KafkaConsumer
from kserdes.compat.kafka.assignors import (
    AbstractPartitionAssignor,
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    RangePartitionAssignor,
    RebalanceProtocol,
)
from kserdes.compat.kafka.errors import KafkaError
from tests.contract.clusters import LIMIT_S, Cluster, unique
from tests.contract.test_aio import run


class ByWeight(AbstractPartitionAssignor):
    """An assignor that gives all partitions to the heaviest member."""

    name = "by-weight"
    version = 1

    def __init__(self, weight: int = 0) -> None:
        self.weight = weight
        self.got: list[tuple[Any, Any, int]] = []

    def metadata(self, topics: Iterable[str]) -> ConsumerProtocolSubscription:
        return ConsumerProtocolSubscription(self.version, list(topics), b"%d" % self.weight)

    def assign(self, cluster: Any, members: Iterable[Any]) -> dict[str, ConsumerProtocolAssignment]:
        ranked = sorted(members, key=lambda each: int(each.metadata.user_data), reverse=True)
        everything = [(topic, sorted(cluster.partitions_for_topic(topic))) for topic in ranked[0].metadata.topics]
        shares = {each.member_id: ConsumerProtocolAssignment(self.version, [], b"nothing") for each in ranked}
        shares[ranked[0].member_id] = ConsumerProtocolAssignment(self.version, everything, b"all")
        return shares

    def on_assignment(self, assignment: ConsumerProtocolAssignment, generation: int) -> None:
        self.got.append((assignment.partitions(), assignment.user_data, generation))


def until(consumers: list[KafkaConsumer], sizes: list[int]) -> None:
    """Polls in threads, as applications do, until the members have so many partitions."""
    ended = threading.Event()

    def poll(consumer: KafkaConsumer) -> None:
        while not ended.is_set():
            consumer.poll(timeout_ms=100)

    threads = [threading.Thread(target=poll, args=(consumer,)) for consumer in consumers]
    for thread in threads:
        thread.start()
    try:
        ends_s = time.monotonic() + LIMIT_S
        while [len(consumer.assignment()) for consumer in consumers] != sizes:
            assert time.monotonic() < ends_s, [consumer.assignment() for consumer in consumers]
            time.sleep(0.05)
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def test_the_leader_runs_the_assignor_with_what_members_say(cluster: Cluster) -> None:
    topic, group = cluster.topic(partitions=3), unique("group")
    light, heavy = ByWeight(1), ByWeight(2)
    conf = {"bootstrap_servers": cluster.servers, "group_id": group, "heartbeat_interval_ms": 300}
    with KafkaConsumer(topic, partition_assignment_strategy=[light], **conf) as first:
        until([first], [3])
        with KafkaConsumer(topic, partition_assignment_strategy=[heavy], **conf) as second:
            until([first, second], [0, 3])
    whole, _, generation = heavy.got[-1]
    assert [place.partition for place in whole] == [0, 1, 2]
    assert heavy.got[-1][1] == b"all"
    assert generation >= 2
    assert light.got[0][1] == b"all"
    assert light.got[-1][:2] == ([], b"nothing")


def test_a_class_of_the_other_dialect_shares_out_too(cluster: Cluster) -> None:
    class Even(AioAssignor):
        name = "own-even"
        version = 0

        @classmethod
        def assign(cls, cluster: Any, members: Any) -> dict[str, ConsumerProtocolMemberAssignment]:
            shares: dict[str, list[tuple[str, list[int]]]] = {member: [] for member in members}
            for topic in sorted({topic for each in members.values() for topic in each.subscription}):
                for number in sorted(cluster.partitions_for_topic(topic)):
                    shares[sorted(members)[number % len(members)]].append((topic, [number]))
            return {member: ConsumerProtocolMemberAssignment(0, share, b"") for member, share in shares.items()}

        @classmethod
        def metadata(cls, topics: Iterable[str]) -> ConsumerProtocolMemberMetadata:
            return ConsumerProtocolMemberMetadata(0, list(topics), b"")

    async def work() -> None:
        topic, group = cluster.topic(partitions=4), unique("group")
        conf: dict[str, Any] = {"bootstrap_servers": cluster.servers, "group_id": group, "heartbeat_interval_ms": 300}
        conf["partition_assignment_strategy"] = (Even,)
        async with AIOKafkaConsumer(topic, **conf) as first, AIOKafkaConsumer(topic, **conf) as second:
            ends_s = time.monotonic() + LIMIT_S
            sizes: list[int] = []
            while sizes != [2, 2] and time.monotonic() < ends_s:
                await asyncio.gather(*(each.getmany(timeout_ms=100) for each in (first, second)))
                sizes = [len(each.assignment()) for each in (first, second)]
            assert sizes == [2, 2]

    run(work)


def test_one_that_fails_is_told_and_asked_again(cluster: Cluster) -> None:
    class Fails(ByWeight):
        name = "fails"
        fails = True

        def assign(self, cluster: Any, members: Iterable[Any]) -> dict[str, ConsumerProtocolAssignment]:
            if self.fails:
                raise ZeroDivisionError("no members")
            return super().assign(cluster, members)

    own = Fails()
    topic = cluster.topic(partitions=2)
    conf = {"bootstrap_servers": cluster.servers, "group_id": unique("group")}
    with KafkaConsumer(topic, partition_assignment_strategy=[own], **conf) as consumer:
        with pytest.raises(KafkaError, match="the assignor 'fails' failed: ZeroDivisionError"):
            consumer.poll(LIMIT_S * 1000)
        own.fails = False
        until([consumer], [2])


def test_strategies_that_do_not_agree_are_refused(cluster: Cluster) -> None:
    class Cooperative(ByWeight):
        name = "cooperative"

        def supported_protocols(self) -> list[RebalanceProtocol]:
            return [RebalanceProtocol.COOPERATIVE]

    for strategies in ([Cooperative, RangePartitionAssignor], [], [object()], ["fair"]):
        with pytest.raises(KafkaError):
            KafkaConsumer(bootstrap_servers=cluster.servers, partition_assignment_strategy=strategies)
