"""Partitioners of kafka-python.

Must not know clients: the producer uses ours for the two that stand here, and asks only those of users.
Spec: `kafka.partitioner` of kafka-python 3.0.
"""

from __future__ import annotations

import abc
import random
import threading
from typing import Any

from kafka_core import murmur2 as partition_of
from kserdes.compat.simple.partitioner.hashed import murmur2 as hashed

__all__ = ["DefaultPartitioner", "Partitioner", "StickyPartitioner", "murmur2"]


def murmur2(data: bytes | str) -> int:
    """The hash of Java's client, as an unsigned number of 32 bits."""
    return hashed(data)


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
