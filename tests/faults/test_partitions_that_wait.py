"""A partition that can't be looked up holds up no other one: its broker is away, or its topic has lost it."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from kafka_core import OFFSET_BEGINNING, Consumer, TopicPartition
from kafka_core.broker import EmbeddedCluster
from kafka_core.broker.faults import Drop
from kafka_core.protocol.messages.list_offsets import ListOffsetsRequest
from tests.faults.consumer_cluster import fill

LIMIT_S = 60.0
"""Well below socket.timeout.ms, which they waited for."""


@pytest.fixture
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster(brokers=2, auto_create_topics=False) as made:
        yield made


def consumer(cluster: EmbeddedCluster, **conf: object) -> Consumer:
    names = {name.replace("_", "."): value for name, value in conf.items()}
    return Consumer(
        {
            "bootstrap.servers": cluster.bootstrap_servers,
            "group.id": "g",
            "auto.offset.reset": "earliest",
            "topic.metadata.refresh.interval.ms": 100,
            "socket.timeout.ms": 300_000,
            **names,
        }
    )


def read(consumer: Consumer, count: int) -> set[tuple[int, bytes]]:
    found: set[tuple[int, bytes]] = set()
    deadline_s = time.monotonic() + LIMIT_S
    while len(found) < count and time.monotonic() < deadline_s:
        message = consumer.poll(0.1)
        if message is not None and message.error() is None:
            found.add((message.partition() or 0, message.value() or b""))
    return found


def led_by(cluster: EmbeddedCluster, topic: str, partitions: int) -> None:
    """A topic of so many partitions, odd ones led by broker 2, with a record in each."""
    cluster.create_topic(topic, partitions)
    for number in range(partitions):
        cluster.move_leader(topic, number, 1 + number % 2)
        fill(cluster, topic, number, [b"%d" % number])


def test_a_broker_that_does_not_answer_holds_up_its_own_partitions_only(cluster: EmbeddedCluster) -> None:
    led_by(cluster, "t", 4)
    cluster.intercept(ListOffsetsRequest, lambda _, context: Drop() if context.broker_id == 2 else None)
    with consumer(cluster) as reader:
        reader.assign([TopicPartition("t", number) for number in range(4)])
        assert read(reader, 2) == {(0, b"0"), (2, b"2")}
        led_by(cluster, "later", 1)
        # From its beginning: committed offsets are the coordinator's, and that is broker 2, whose connections break.
        reader.incremental_assign([TopicPartition("later", 0, OFFSET_BEGINNING)])
        assert read(reader, 1) == {(0, b"0")}
        cluster.stop_intercepting()


def test_partitions_whose_broker_has_gone_away_are_looked_up_at_the_next_one(cluster: EmbeddedCluster) -> None:
    led_by(cluster, "t", 4)
    with consumer(cluster) as reader:
        reader.list_topics("t", LIMIT_S)
        cluster.stop_broker(2)
        reader.assign([TopicPartition("t", number) for number in range(4)])
        assert read(reader, 4) == {(0, b"0"), (1, b"1"), (2, b"2"), (3, b"3")}


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_topic_made_anew_with_fewer_partitions_is_read(cluster: EmbeddedCluster, protocol: str) -> None:
    led_by(cluster, "t", 3)
    with consumer(cluster, group_protocol=protocol) as reader:
        reader.subscribe(["t"])
        assert read(reader, 3) == {(0, b"0"), (1, b"1"), (2, b"2")}
        cluster.delete_topic("t")
        cluster.create_topic("t", 2)
        for number in range(2):
            fill(cluster, "t", number, [b"new"])
        assert read(reader, 2) == {(0, b"new"), (1, b"new")}
