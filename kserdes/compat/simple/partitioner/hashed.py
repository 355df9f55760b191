"""Partitions by a hash of the key: Python's own, or Java's murmur2."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from kafka_core import kernels
from kserdes.compat.simple.partitioner.base import Partitioner
from kserdes.compat.simple.util import kafka_bytestring

logger: Final = logging.getLogger("kserdes.compat")


def murmur2(key: bytes | str) -> int:
    """The hash of Java's client, as an unsigned number of 32 bits."""
    return kernels.murmur2(kafka_bytestring(key))


class Murmur2Partitioner(Partitioner):
    """Partitions by key as Java's client, and `partitioner=murmur2`, do."""

    def partition(self, key: bytes | str | None, partitions: Sequence[int] | None = None) -> int:
        chosen_from = self.partitions if partitions is None else partitions
        return chosen_from[(murmur2(key or b"") & 0x7FFFFFFF) % len(chosen_from)]


class LegacyPartitioner(Partitioner):
    """By Python's `hash`, which differs in every process unless PYTHONHASHSEED is set: the log says so once."""

    _said = False

    def __init__(self, partitions: Sequence[int]) -> None:
        super().__init__(partitions)
        if not LegacyPartitioner._said:
            LegacyPartitioner._said = True
            logger.warning(
                "HashedPartitioner chooses partitions by Python's hash, so that a key has other partitions in other "
                "processes; use Murmur2Partitioner, which chooses as other Kafka clients do"
            )

    def partition(self, key: bytes | str | None, partitions: Sequence[int] | None = None) -> int:
        chosen_from = self.partitions if partitions is None else partitions
        return chosen_from[hash(key) % len(chosen_from)]


HashedPartitioner = LegacyPartitioner
