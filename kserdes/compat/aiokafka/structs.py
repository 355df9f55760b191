"""The values of aiokafka 0.14: named tuples, and the record that a consumer gives.

Must not know clients.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from kserdes.compat.aiokafka.errors import KafkaError

__all__ = [
    "BrokerMetadata",
    "ConsumerRecord",
    "OffsetAndMetadata",
    "OffsetAndTimestamp",
    "PartitionMetadata",
    "RecordMetadata",
    "TopicPartition",
]

KT = TypeVar("KT")
VT = TypeVar("VT")


class TopicPartition(NamedTuple):
    """A partition of a topic."""

    topic: str
    partition: int


class BrokerMetadata(NamedTuple):
    """A broker."""

    nodeId: int | str
    host: str
    port: int
    rack: str | None


class PartitionMetadata(NamedTuple):
    """A partition, as metadata tells it."""

    topic: str
    partition: int
    leader: int
    replicas: list[int]
    isr: list[int]
    error: KafkaError | None


class OffsetAndMetadata(NamedTuple):
    """An offset to commit, or committed, and the text beside it."""

    offset: int
    metadata: str


class OffsetAndTimestamp(NamedTuple):
    """An offset that was found by time, and the time of its record in ms."""

    offset: int
    timestamp: int | None


class RecordMetadata(NamedTuple):
    """The place of a written record. `timestamp_type`: 0 the producer's time, 1 the broker's."""

    topic: str
    partition: int
    topic_partition: TopicPartition
    offset: int
    timestamp: int | None
    timestamp_type: int
    log_start_offset: int | None


@dataclass
class ConsumerRecord(Generic[KT, VT]):
    """A record that was read. Sizes are those of the bytes before a deserializer saw them, -1 for None."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    timestamp_type: int
    key: KT | None
    value: VT | None
    checksum: int | None
    serialized_key_size: int
    serialized_value_size: int
    headers: Sequence[tuple[str, bytes]]
