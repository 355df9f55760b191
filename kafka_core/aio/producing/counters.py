"""Counters of a producer, by partition.

Must not know who reads them (`statistics` does).
"""

from dataclasses import dataclass, field


@dataclass(slots=True)
class PartitionCounters:
    """Records and bytes (before compression) of one partition that were delivered, and that failed."""

    records: int = 0
    record_bytes: int = 0
    errors: int = 0


@dataclass(slots=True)
class ProducerCounters:
    """All counters of a producer beside its `Traffic`; they only grow."""

    partitions: dict[tuple[str, int], PartitionCounters] = field(default_factory=dict)

    def partition(self, topic: str, partition: int) -> PartitionCounters:
        """The counters of a partition."""
        found = self.partitions.get((topic, partition))
        if found is None:
            found = self.partitions[topic, partition] = PartitionCounters()
        return found
