"""Stored batches as messages: for looks by time and for tests that inspect a topic. Not on the hot path.

Must not know: requests, leaders. Decoding is `kafka_core.records`.
Spec: https://kafka.apache.org/documentation/#recordbatch, KIP-79 (offsets by time).
"""

from __future__ import annotations

from collections.abc import Iterator

from kafka_core.broker.partitions.log import LogBatch
from kafka_core.broker.partitions.topics import Partition
from kafka_core.kernels.abc import MessageLike
from kafka_core.records import open_batches

_EVERYTHING = 2**31 - 1


def messages(partition: Partition, from_offset: int = 0) -> list[MessageLike]:
    """All data records the partition holds from `from_offset` (and its log start) on, aborted ones included."""
    first = max(from_offset, partition.log.start_offset)
    return [message for batch in partition.log.batches(first) for message in _decoded(partition, batch, first)]


def _decoded(partition: Partition, batch: LogBatch, from_offset: int) -> Iterator[MessageLike]:
    out: list[MessageLike] = []
    for opened in open_batches(batch.data, partition.topic.name, partition.index, from_offset):
        if not opened.is_control:
            opened.cursor.take(out, _EVERYTHING)
    return iter(out)


def first_at_time(partition: Partition, timestamp_ms: int) -> tuple[int, int] | None:
    """(offset, timestamp) of the first record with `timestamp_ms` or later; None if there is none."""
    for batch in partition.log.batches_at_time(timestamp_ms):
        for message in _decoded(partition, batch, partition.log.start_offset):
            offset, record_ms = message.offset(), message.timestamp()[1]
            if offset is not None and record_ms >= timestamp_ms:
                return offset, record_ms
    return None


def first_of_max_timestamp(partition: Partition) -> tuple[int, int] | None:
    """(offset, timestamp) of the first record with the largest timestamp; None for an empty log."""
    return first_at_time(partition, partition.log.max_timestamp_ms)
