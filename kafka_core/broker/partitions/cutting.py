"""A partition whose new leader lacks the end of the log, as after an unclean election: what is forgotten, what is left.

Must not know: requests, elections. Offsets that groups have committed stay, also those behind the log's new end.
Spec: KIP-101, KIP-320; `UnifiedLog.truncateTo` of Apache Kafka, which makes the producers' state anew from the log.
"""

from __future__ import annotations

from kafka_core import kernels
from kafka_core.broker.partitions.log import LogBatch
from kafka_core.broker.partitions.producers import ProducerStates
from kafka_core.broker.partitions.topics import Partition
from kafka_core.kernels.abc import CONTROL_FLAG, TRANSACTIONAL_FLAG, BatchHeader, MessageLike
from kafka_core.records import open_batches
from kafka_core.records.control import ControlType, parse_control_key, parse_control_value

_NO_PRODUCER_ID = -1


def lose_tail(partition: Partition, offset: int) -> int:
    """Forget all batches that end behind `offset`, and what was learnt from them; returns the log's new end."""
    partition.log.truncate(offset)
    partition.producers = ProducerStates()
    for batch in partition.log.batches():
        (header,) = kernels.scan_batches(batch.data, check_crc=False)
        if header.producer_id != _NO_PRODUCER_ID:
            _learn(partition, batch, header)
    return partition.log.end_offset


def _learn(partition: Partition, batch: LogBatch, header: BatchHeader) -> None:
    log, producers = partition.log, partition.producers
    if header.attributes & CONTROL_FLAG:
        marker = _marker(batch)
        commit = parse_control_key(marker.key()) is ControlType.COMMIT
        log.transaction_ended(header.producer_id, batch.base_offset, commit=commit)
        producers.mark(header.producer_id, header.producer_epoch, parse_control_value(marker.value()))
        return
    identity = header.producer_id, header.producer_epoch, header.base_sequence
    producers.record(*identity, header.count, batch.base_offset, header.max_timestamp_ms)
    if header.attributes & TRANSACTIONAL_FLAG:
        log.transaction_wrote(header.producer_id, batch.base_offset)


def _marker(batch: LogBatch) -> MessageLike:
    found: list[MessageLike] = []
    (opened,) = open_batches(batch.data, "", 0, 0)
    opened.cursor.take(found, 1)
    return found[0]
