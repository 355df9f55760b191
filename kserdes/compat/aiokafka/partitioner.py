"""aiokafka's partitioner: murmur2 of the key as the Java client has it, any partition without one.

Must not know clients.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from kafka_core import murmur2 as partition_of
from kserdes.compat.simple.partitioner.hashed import murmur2 as hashed

__all__ = ["DefaultPartitioner", "murmur2"]


def murmur2(data: bytes) -> int:
    """The hash of Java's client, as an unsigned number of 32 bits."""
    return hashed(data)


class DefaultPartitioner:
    """The default of `AIOKafkaProducer`, which leaves the choice to kafka_core (`partitioner=murmur2_random`)."""

    @classmethod
    def __call__(cls, key: bytes | None, all_partitions: Sequence[int], available: Sequence[int]) -> int:
        """The partition of a key; without a key one that has a leader, at random."""
        if key is None:
            return random.choice(available or all_partitions)
        return all_partitions[partition_of(key, len(all_partitions))]
