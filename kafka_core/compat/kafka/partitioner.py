"""Partitioners of kafka-python, and the view of the cluster that one is given.

Must not know clients: the producer uses ours for the two that stand here, and asks only those of users.
Spec: `kafka.partitioner` of kafka-python 3.0.
"""

from __future__ import annotations

import abc
import random
import threading
from typing import Any, Final, NamedTuple

from kafka_core.compat.kafka.structs import TopicPartition
from kafka_core.compat.simple.partitioner.hashed import murmur2
from kafka_core.model import ClusterMetadata as Known
from kafka_core.partitioners import murmur2 as partition_of

__all__ = ["Broker", "ClusterMetadata", "DefaultPartitioner", "Partitioner", "StickyPartitioner", "murmur2"]


INTERNAL_TOPICS: Final = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})


class Broker(NamedTuple):
    """A broker of the cluster; of its rack nothing is known here."""

    node_id: int
    host: str | None
    port: int
    rack: str | None


class ClusterMetadata:
    """What is known of the cluster, as a partitioner is given it. One that an application makes knows nothing.

    Args:
        metadata: what `list_topics()` of our clients gives.

    Attributes:
        cluster_id: its name; None if nothing is known.
    """

    def __init__(self, metadata: Known | None = None) -> None:
        self._metadata = Known() if metadata is None else metadata
        self.cluster_id = self._metadata.cluster_id

    @property
    def controller(self) -> Broker | None:
        """The broker that is the controller."""
        return self.broker_metadata(self._metadata.controller_id)

    def brokers(self) -> list[Broker]:
        """All brokers."""
        return [self._broker(each) for each in self._metadata.brokers.values()]

    def broker_metadata(self, broker_id: int) -> Broker | None:
        """One broker; None if it is not known."""
        found = self._metadata.brokers.get(broker_id)
        return None if found is None else self._broker(found)

    @staticmethod
    def _broker(found: Any) -> Broker:
        return Broker(found.id, found.host, found.port, None)

    def topics(self, exclude_internal_topics: bool = True) -> set[str]:
        """The topics that are known."""
        return {each for each in self._metadata.topics if not exclude_internal_topics or each not in INTERNAL_TOPICS}

    def leader_for_partition(self, partition: TopicPartition) -> int | None:
        """The id of a partition's leader: -1 if it has none, None if the partition is unknown."""
        found = self._metadata.topics.get(partition.topic)
        place = None if found is None else found.partitions.get(partition.partition)
        return None if place is None else place.leader

    def partitions_for_broker(self, broker_id: int) -> set[TopicPartition] | None:
        """The partitions that a broker leads; None if there are none."""
        led = {
            TopicPartition(topic, number)
            for topic, found in self._metadata.topics.items()
            for number, place in found.partitions.items()
            if place.leader == broker_id
        }
        return led or None

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        """All partitions; None for an unknown topic."""
        found = self._metadata.topics.get(topic)
        return set(found.partitions) if found is not None and found.partitions else None

    def available_partitions_for_topic(self, topic: str) -> set[int] | None:
        """The partitions that have a leader; None for an unknown topic."""
        found = self._metadata.topics.get(topic)
        if found is None or not found.partitions:
            return None
        return {number for number, each in found.partitions.items() if each.leader >= 0}


class Partitioner(abc.ABC):
    """Chooses the partition of a record."""

    @abc.abstractmethod
    def partition(
        self,
        topic: str,
        key: Any,
        serialized_key: bytes | None,
        value: Any,
        serialized_value: bytes | None,
        cluster: Any,
    ) -> int:
        """The partition's number. ValueError: the topic is unknown."""


def known(topic: str, cluster: Any) -> tuple[list[int], list[int]]:
    """All partitions of a topic, and those that have a leader.

    Raises:
        ValueError: the topic is unknown.
    """
    if topic not in cluster.topics():
        raise ValueError(f"Topic {topic} not found in ClusterMetadata")
    return sorted(cluster.partitions_for_topic(topic)), sorted(cluster.available_partitions_for_topic(topic))


class DefaultPartitioner(Partitioner):
    """Murmur2 of the key, as the Java client has it; without one, any partition that has a leader."""

    def partition(
        self,
        topic: str,
        key: Any,
        serialized_key: bytes | None,
        value: Any,
        serialized_value: bytes | None,
        cluster: Any,
    ) -> int:
        """By the key, or by chance."""
        every, available = known(topic, cluster)
        if serialized_key is not None:
            return every[partition_of(bytes(serialized_key), len(every))]
        return random.choice(available or every)


class StickyPartitioner(DefaultPartitioner):
    """As the default one, but records without a key stay with a partition until its batch is full (KIP-480)."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sticky: dict[str, int] = {}

    def partition(
        self,
        topic: str,
        key: Any,
        serialized_key: bytes | None,
        value: Any,
        serialized_value: bytes | None,
        cluster: Any,
    ) -> int:
        """By the key, or where the last one went if that can take it still."""
        if serialized_key is not None:
            return super().partition(topic, key, serialized_key, value, serialized_value, cluster)
        every, available = known(topic, cluster)
        with self._lock:
            if self._sticky.get(topic) not in (available or every):
                self._sticky[topic] = random.choice(available or every)
            return self._sticky[topic]

    def on_new_batch(self, topic: str, cluster: Any, prev_partition: int) -> None:
        """The next record without a key goes to another partition with a leader, if there is one."""
        with self._lock:
            every = cluster.partitions_for_topic(topic)
            if self._sticky.get(topic) != prev_partition or not every:
                return
            available = set(cluster.available_partitions_for_topic(topic) or ())
            others = available - {prev_partition} or available or every
            self._sticky[topic] = random.choice(sorted(others))
