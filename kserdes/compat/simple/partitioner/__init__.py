"""Partitioners of keyed messages: classes that are given the partitions, one instance for each topic."""

from kserdes.compat.simple.partitioner.hashed import HashedPartitioner, LegacyPartitioner, Murmur2Partitioner
from kserdes.compat.simple.partitioner.roundrobin import RoundRobinPartitioner

__all__ = ["HashedPartitioner", "LegacyPartitioner", "Murmur2Partitioner", "RoundRobinPartitioner"]
