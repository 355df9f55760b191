"""Groups whose members read from their own racks (KIP-881), on an embedded cluster with two racks.

That the shares are those of the Java client: tests/interop/jvm/test_assignor_parity.py.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka_core import Consumer, TopicPartition
from kafka_core.admin import AdminClient, NewTopic
from kafka_core.broker import EmbeddedCluster
from tests.contract.clusters import LIMIT_S, Cluster, consumer, poll_until, unique
from tests.contract.groups import partitions_of


@pytest.fixture
def racks() -> Iterator[Cluster]:
    """Brokers 1 and 2 in the racks a and b."""
    with EmbeddedCluster(2, racks=["a", "b"]) as made:
        cluster = Cluster("embedded", made.bootstrap_servers, partner=made)
        yield cluster
        cluster.close()


def member(cluster: Cluster, group: str, rack: str | None, strategy: str) -> Consumer:
    conf = {"client.rack": rack} if rack is not None else {}
    return consumer(
        cluster,
        group,
        **conf,
        **{"partition.assignment.strategy": strategy, "topic.metadata.refresh.interval.ms": 200},
    )


@pytest.mark.parametrize("strategy", ["range", "cooperative-sticky"])
def test_members_get_what_has_a_replica_in_their_rack_and_follow_it(racks: Cluster, strategy: str) -> None:
    """Partitions 0 to 3 are on brokers 2, 1, 2, 1; then they change places."""
    topic, group = unique("near"), unique("group")
    with (
        AdminClient({"bootstrap.servers": racks.servers}) as admin,
        member(racks, group, "a", strategy) as one,
        member(racks, group, "b", strategy) as two,
    ):
        admin.create_topics([NewTopic(topic, replica_assignment=[[2], [1], [2], [1]])])[topic].result(LIMIT_S)
        even, odd = {(topic, 0), (topic, 2)}, {(topic, 1), (topic, 3)}
        for reader in (one, two):
            reader.subscribe([topic])
        poll_until([one, two], lambda: (partitions_of(one), partitions_of(two)) == (odd, even), "each reads nearby")
        moved = {TopicPartition(topic, number): [2 if number % 2 else 1] for number in range(4)}
        for outcome in admin.alter_partition_reassignments(moved).values():
            outcome.result(LIMIT_S)
        poll_until([one, two], lambda: (partitions_of(one), partitions_of(two)) == (even, odd), "both have followed")


def test_a_group_without_racks_is_shared_out_as_ever(racks: Cluster) -> None:
    topic, group = unique("near"), unique("group")
    with (
        AdminClient({"bootstrap.servers": racks.servers}) as admin,
        member(racks, group, None, "range") as one,
        member(racks, group, None, "range") as two,
    ):
        admin.create_topics([NewTopic(topic, replica_assignment=[[2], [1], [2], [1]])])[topic].result(LIMIT_S)
        for reader in (one, two):
            reader.subscribe([topic])
        halves = [{(topic, 0), (topic, 1)}, {(topic, 2), (topic, 3)}]
        poll_until(
            [one, two],
            lambda: sorted(map(sorted, (partitions_of(one), partitions_of(two)))) == [sorted(half) for half in halves],
            "each has a half",
        )
