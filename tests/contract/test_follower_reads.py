"""Reading from a replica in the consumer's own rack (KIP-392), on an embedded cluster with three racks."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from kafka_core import Consumer, TopicPartition
from kafka_core.broker import EmbeddedCluster
from kafka_core.protocol.messages.fetch import FetchRequest
from tests.contract.clusters import Cluster, consumer, fill, take, unique, values_of, wait_for

BY_RACK = {"replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector"}


@pytest.fixture
def racks() -> Iterator[Cluster]:
    """Brokers 1, 2 and 3 in racks a, b and c."""
    with EmbeddedCluster(3, properties=BY_RACK, racks=["a", "b", "c"]) as made:
        cluster = Cluster("embedded", made.bootstrap_servers, partner=made)
        yield cluster
        cluster.close()


def numbers(count: int, start: int = 0) -> list[bytes]:
    return [b"%d" % number for number in range(start, start + count)]


class Asked:
    """Notes which broker was asked for which offset."""

    def __init__(self, cluster: Cluster) -> None:
        self.log: list[tuple[int, int]] = []
        cluster.partner.intercept(FetchRequest, self.note)

    def note(self, request: FetchRequest, context: Any) -> None:
        self.log += [(context.broker_id, part.fetch_offset) for item in request.topics for part in item.partitions]

    def from_offset(self, offset: int) -> set[int]:
        """The brokers that were asked for this offset."""
        return {broker for broker, asked in list(self.log) if asked == offset}


def reading(cluster: Cluster, topic: str) -> Consumer:
    reader = consumer(cluster, client_rack="b")
    reader.assign([TopicPartition(topic, 0, 0)])
    return reader


def topic_of(cluster: Cluster) -> str:
    """A topic whose partition broker 1 leads and all replicate."""
    name = unique("racks")
    cluster.partner.create_topic(name, replication_factor=3)
    cluster.partner.move_leader(name, 0, 1)
    fill(cluster, name, numbers(5))
    return name


def test_records_come_from_the_replica_in_the_same_rack(racks: Cluster) -> None:
    topic, asked = topic_of(racks), Asked(racks)
    with reading(racks, topic) as reader:
        assert values_of(take(reader, 5)) == numbers(5)
        wait_for(lambda: 2 in asked.from_offset(5), "the follower is asked for what comes next")
        fill(racks, topic, numbers(3, 5))
        assert values_of(take(reader, 3)) == numbers(3, 5)  # the leader gives none to this rack


def test_when_the_replica_is_gone_the_leader_serves_until_it_is_back(racks: Cluster) -> None:
    topic, asked = topic_of(racks), Asked(racks)
    with reading(racks, topic) as reader:
        assert values_of(take(reader, 5)) == numbers(5)
        racks.partner.stop_broker(2)
        fill(racks, topic, numbers(3, 5))
        assert values_of(take(reader, 3)) == numbers(3, 5)
        wait_for(lambda: 1 in asked.from_offset(8), "the leader is asked for what comes next")
        racks.partner.start_broker(2)
        fill(racks, topic, numbers(3, 8))
        assert values_of(take(reader, 3)) == numbers(3, 8)
        wait_for(lambda: 2 in asked.from_offset(11), "the follower is asked again")


def test_a_replica_that_the_client_does_not_know_is_looked_for(racks: Cluster) -> None:
    """It was away when the client last asked who is in the cluster, and the leader gives nothing to its rack."""
    topic = topic_of(racks)
    with reading(racks, topic) as reader:
        assert values_of(take(reader, 5)) == numbers(5)
        racks.partner.stop_broker(2)
        fill(racks, topic, numbers(3, 5))
        assert values_of(take(reader, 3)) == numbers(3, 5)
        client = reader._core.client

        def asks_no_more() -> bool:
            view = client.metadata
            time.sleep(0.5)  # too short, it is found for another reason
            return client.metadata is view and 2 not in view.brokers

        wait_for(asks_no_more, "the client knows that it is away")
        racks.partner.start_broker(2)
        fill(racks, topic, numbers(3, 8))
        assert values_of(take(reader, 3)) == numbers(3, 8)


def test_a_new_leader_in_the_same_rack_is_read_itself(racks: Cluster) -> None:
    topic = topic_of(racks)
    with reading(racks, topic) as reader:
        assert values_of(take(reader, 5)) == numbers(5)
        racks.partner.move_leader(topic, 0, 2)
        fill(racks, topic, numbers(3, 5))
        assert values_of(take(reader, 3)) == numbers(3, 5)
