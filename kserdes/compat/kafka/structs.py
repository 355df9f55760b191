"""The named tuples of kafka-python: partitions, offsets, records, what became of a record.

Must not know clients. Spec: `kafka.structs`, `kafka.producer.future.RecordMetadata` and
`kafka.consumer.fetcher.ConsumerRecord` of kafka-python 3.0.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

__all__ = [
    "ConsumerGroupMetadata",
    "ConsumerRecord",
    "MemberState",
    "OffsetAndMetadata",
    "OffsetAndTimestamp",
    "RecordMetadata",
    "TopicPartition",
    "TopicPartitionReplica",
]


class TopicPartition(NamedTuple):
    """A partition of a topic."""

    topic: str
    partition: int


class TopicPartitionReplica(NamedTuple):
    """One copy of a partition."""

    topic: str
    partition: int
    broker_id: int


class OffsetAndMetadata(NamedTuple):
    """The commit of a partition: the next offset to read, a text, the epoch of the record before it."""

    offset: int | None = None
    metadata: str | None = ""
    leader_epoch: int | None = -1


class OffsetAndTimestamp(NamedTuple):
    """An offset that was found by time; the time is in ms."""

    offset: int
    timestamp: int | None
    leader_epoch: int | None


class MemberState:
    """The state of a group's member."""

    UNJOINED: Final = "<unjoined>"
    REBALANCING: Final = "<rebalancing>"
    STABLE: Final = "<stable>"


class ConsumerGroupMetadata(NamedTuple):
    """A membership, as `KafkaProducer.send_offsets_to_transaction` wants it."""

    group_id: str | None = None
    generation_id: int = -1
    member_id: str = ""
    group_instance_id: str | None = None
    state: str = MemberState.UNJOINED


class RecordMetadata(NamedTuple):
    """The place of a written record; sizes are -1 for a part it does not have."""

    topic: str
    partition: int
    topic_partition: TopicPartition
    offset: int
    timestamp: int
    checksum: int | None
    serialized_key_size: int
    serialized_value_size: int
    serialized_header_size: int


class ConsumerRecord(NamedTuple):
    """A record that was read; times are in ms, sizes -1 for what it does not have."""

    topic: str
    partition: int
    leader_epoch: int | None
    offset: int
    timestamp: int
    timestamp_type: int
    key: Any
    value: Any
    headers: list[tuple[str, bytes | None]]
    checksum: int | None
    serialized_key_size: int
    serialized_value_size: int
    serialized_header_size: int
