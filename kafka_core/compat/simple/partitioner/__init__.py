"""Which partition a keyed message goes to: a class that is given the partitions, one for each topic."""

from kafka_core.compat.simple.partitioner.hashed import HashedPartitioner, LegacyPartitioner, Murmur2Partitioner
from kafka_core.compat.simple.partitioner.roundrobin import RoundRobinPartitioner

__all__ = ["HashedPartitioner", "LegacyPartitioner", "Murmur2Partitioner", "RoundRobinPartitioner"]
