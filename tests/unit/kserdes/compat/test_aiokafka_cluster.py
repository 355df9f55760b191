"""aiokafka's view of the cluster: answers of brokers in, answers to questions out."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from kserdes.compat.aiokafka import TopicPartition
from kserdes.compat.aiokafka.cluster import ClusterMetadata, collect_hosts
from kserdes.compat.aiokafka.structs import BrokerMetadata, PartitionMetadata


def answer(*topics: Any, version: int = 1, brokers: Any = ((0, "h0", 1, "a"), (1, "h1", 2, None))) -> Any:
    return SimpleNamespace(API_VERSION=version, brokers=brokers, controller_id=1, topics=topics)


def test_metadata_answers_update_the_cluster() -> None:
    cluster = ClusterMetadata(bootstrap_servers=["boot:1"], other=1)
    assert cluster.brokers() == {BrokerMetadata("bootstrap-0", "boot", 1, None)}
    assert cluster.is_bootstrap("bootstrap-0")
    place, led = (0, 1, -1, [0], [0]), (0, 0, 1, [1], [1], [])
    cluster.update_metadata(
        answer((0, "t", False, [led, place]), (0, "__x", True, []), (29, "u", False, []), (5, "n", False, []))
    )
    assert str(cluster) == "ClusterMetadata(brokers: 2, topics: 2)"
    assert cluster.controller == BrokerMetadata(1, "h1", 2, None) == cluster.broker_metadata(1)
    assert (cluster.topics(), cluster.topics(False)) == ({"t"}, {"t", "__x"})
    assert (cluster.partitions_for_topic("t"), cluster.available_partitions_for_topic("t")) == ({0, 1}, {0})
    assert cluster.partitions_for_topic("n") is None
    assert cluster.available_partitions_for_topic("n") is None
    leaders = [cluster.leader_for_partition(TopicPartition(*key)) for key in (("t", 0), ("t", 1), ("t", 2), ("n", 0))]
    assert leaders == [1, -1, None, None]
    assert cluster.partitions_for_broker(1) == {TopicPartition("t", 0)}
    assert cluster.partitions_for_broker(0) is None
    assert cluster.unauthorized_topics == {"u"}
    more = cluster.with_partitions([PartitionMetadata("t", 2, 0, [0], [0], None)])
    assert more.partitions_for_broker(0) == {TopicPartition("t", 2)}
    assert cluster.partitions_for_topic("t") == {0, 1}


def test_the_oldest_answers_have_less_in_them() -> None:
    cluster = ClusterMetadata()
    cluster.update_metadata(answer((0, "t", [(0, 0, 0, [0], [0])]), version=0, brokers=[(0, "h", 1)]))
    assert cluster.controller is None
    assert cluster.broker_metadata(0) == BrokerMetadata(0, "h", 1, None)
    assert cluster.partitions_for_topic("t") == {0}


def test_listeners_and_waiters_hear_of_metadata() -> None:
    async def work() -> None:
        cluster, heard = ClusterMetadata(), []
        cluster.add_listener(heard.append)
        waiting = cluster.request_update()
        assert cluster.request_update() is waiting
        cluster.update_metadata(answer())
        assert await waiting is cluster
        assert heard == [cluster]
        waiting = cluster.request_update()
        cluster.update_metadata(answer(brokers=()))
        with pytest.raises(RuntimeError, match="no brokers"):
            await waiting
        cluster.remove_listener(heard.append)
        cluster.update_metadata(answer())
        assert heard == [cluster]

    asyncio.run(work())


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("localhost", [("localhost", 9092)]),
        (" a:1,b , [::1]:5,[::2]", [("a", 1), ("b", 9092), ("::1", 5), ("::2", 9092)]),
        (["fe80::1", "c:7"], [("fe80::1", 9092), ("c", 7)]),
    ],
)
def test_addresses_are_hosts_and_ports(given: Any, found: list[tuple[str, int]]) -> None:
    assert collect_hosts(given) == found
