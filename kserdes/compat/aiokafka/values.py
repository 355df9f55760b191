"""aiokafka's values and errors made of ours, and back.

Must not know clients.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from kafka_core import OFFSET_INVALID, Message
from kafka_core import KafkaError as CoreError
from kafka_core import TopicPartition as CorePartition
from kafka_core.kernels.abc import MessageRow
from kserdes.compat.aiokafka.errors import (
    CommitFailedError,
    NoOffsetForPartitionError,
    OffsetOutOfRangeError,
    TopicAuthorizationFailedError,
    translated,
)
from kserdes.compat.aiokafka.structs import ConsumerRecord, OffsetAndMetadata, RecordMetadata, TopicPartition
from kserdes.compat.aiokafka.util import commit_structure_validate

MEMBERSHIP_LOST: Final = frozenset(
    {
        CoreError.ILLEGAL_GENERATION,
        CoreError.UNKNOWN_MEMBER_ID,
        CoreError.REBALANCE_IN_PROGRESS,
        CoreError.FENCED_INSTANCE_ID,
        CoreError._ASSIGNMENT_LOST,
    }
)
"""Codes of commits that come too late."""

Deserializer = Callable[[bytes | None], Any]
Offsets = Mapping[TopicPartition, int | tuple[int, str] | OffsetAndMetadata]


def core(partition: TopicPartition, offset: int = OFFSET_INVALID) -> CorePartition:
    """A partition as ours."""
    return CorePartition(partition.topic, partition.partition, offset)


def ours(partition: CorePartition) -> TopicPartition:
    """A partition as aiokafka has it."""
    return TopicPartition(partition.topic, partition.partition)


def checked(partition: object) -> TopicPartition:
    """A partition, or TypeError."""
    if not isinstance(partition, TopicPartition):
        raise TypeError(f"expected a TopicPartition, not {partition!r}")
    return partition


def is_offset(offset: object) -> bool:
    """Whether it is a whole number from 0."""
    return isinstance(offset, int) and offset >= 0


def check_topics(topics: Iterable[str]) -> frozenset[str]:
    """Names of topics, or TypeError."""
    if isinstance(topics, str) or not all(isinstance(topic, str) for topic in topics):
        raise TypeError("Topics should be list of strings")
    return frozenset(topics)


def records_of(
    rows: Iterable[MessageRow], key_deserializer: Deserializer | None, value_deserializer: Deserializer | None
) -> dict[TopicPartition, list[ConsumerRecord[Any, Any]]]:
    """Rows of messages (`kernels.message_rows`) as aiokafka's records, by partition."""
    found: dict[TopicPartition, list[ConsumerRecord[Any, Any]]] = {}
    records: list[ConsumerRecord[Any, Any]] = []
    last_topic, last_partition = "", -1
    new, record_type = object.__new__, ConsumerRecord
    for topic, partition, offset, kind, timestamp_ms, key, value, headers in rows:
        if partition != last_partition or topic != last_topic:  # they come in runs of one partition
            topic = last_topic = topic or ""
            last_partition = partition
            records = found.setdefault(TopicPartition(topic, partition), [])
        record: ConsumerRecord[Any, Any] = new(record_type)  # its fields one by one: faster than __init__ by a third
        record.topic = last_topic
        record.partition = partition
        record.offset = offset
        record.timestamp = timestamp_ms
        record.timestamp_type = 1 if kind == 2 else 0
        record.key = key if key_deserializer is None else key_deserializer(key)
        record.value = value if value_deserializer is None else value_deserializer(value)
        record.checksum = None
        record.serialized_key_size = -1 if key is None else len(key)
        record.serialized_value_size = -1 if value is None else len(value)
        record.headers = headers
        records.append(record)
    return found


def trouble_of(message: Message) -> Exception:
    """The exception that aiokafka raises for a message that is an error."""
    error = message.error()
    assert error is not None
    partition = TopicPartition(message.topic() or "", message.partition() or 0)
    offset = message.offset()
    if error.code() == CoreError._AUTO_OFFSET_RESET:
        if offset is None or offset < 0:
            return NoOffsetForPartitionError(partition)
        return OffsetOutOfRangeError({partition: offset})
    if error.code() == CoreError.TOPIC_AUTHORIZATION_FAILED:
        return TopicAuthorizationFailedError(partition.topic)
    return translated(error)


def commit_error(error: CoreError) -> Exception:
    """The exception that aiokafka raises for a failed commit."""
    if error.code() in MEMBERSHIP_LOST:
        return CommitFailedError(error.str())
    return translated(error)


def metadata_of(message: Message) -> RecordMetadata:
    """The metadata of a written record. Each record gets one, so the tuple is made without its class's function."""
    topic, partition, offset = message.topic() or "", message.partition() or 0, message.offset()
    kind, timestamp_ms = message.timestamp()
    return tuple.__new__(
        RecordMetadata,
        (
            topic,
            partition,
            _place(topic, partition),
            -1 if offset is None or offset < 0 else offset,
            timestamp_ms,
            1 if kind == 2 else 0,
            None,
        ),
    )


@functools.lru_cache(maxsize=4096)
def _place(topic: str, partition: int) -> TopicPartition:
    """The partition; many records have the same."""
    return TopicPartition(topic, partition)


def core_offsets(
    offsets: Mapping[TopicPartition, int | tuple[int, str] | OffsetAndMetadata],
) -> list[CorePartition]:
    """Offsets to commit, as ours.

    Raises:
        ValueError, TypeError: they are not a dict of TopicPartition and offset, or (offset, text).
    """
    return [
        CorePartition(partition.topic, partition.partition, wanted.offset, wanted.metadata)
        for partition, wanted in commit_structure_validate(offsets).items()
    ]
