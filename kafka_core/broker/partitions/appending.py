"""Appending a producer's batch at the partition's leader: check it, recognise repeats, append it.

Must not know: requests and topics' leaders (the Produce handler has looked). Records are decoded only where a
topic's rules need it.
Spec: `LogValidator`, `UnifiedLog.append` and `ProduceRequest.validateRecords` of Apache Kafka 4; KIP-98, KIP-32.
"""

from __future__ import annotations

import logging
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from kafka_core import kernels
from kafka_core.broker.codes import Code
from kafka_core.broker.partitions.topics import Partition
from kafka_core.errors import ProtocolError
from kafka_core.kernels.abc import BatchHeader, MessageLike
from kafka_core.records import open_batches
from kafka_core.records.batch import NewRecord, build_batch
from kafka_core.records.control import ControlType, control_key, control_value

logger: Final = logging.getLogger(__name__)

_CRC_POSITION = 17
_ATTRIBUTES_POSITION = 21
_MAX_TIMESTAMP_POSITION = 35
_U32 = struct.Struct(">I")
_I16 = struct.Struct(">h")
_I64 = struct.Struct(">q")

_CODEC_MASK = 0x07
_LOG_APPEND_TIME = 0x08
_TRANSACTIONAL = 0x10
_CONTROL = 0x20
_ZSTD = 4
_FIRST_VERSION_WITH_ZSTD = 7
_NO_PRODUCER_ID = -1
_NO_TIMESTAMP = -1
_NO_BOUND_MS = 2**63 - 1
_SHOWN_RECORD_ERRORS = 3
_EVERY_RECORD = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Appended:
    """The outcome for a batch. Offsets and time are -1 where there is none to tell.

    `record_errors` are (index in the batch, text) of the records at fault (KIP-467).
    """

    code: Code
    base_offset: int = -1
    log_append_time_ms: int = -1
    log_start_offset: int = -1
    message: str | None = None
    record_errors: tuple[tuple[int, str], ...] = ()


class _BatchRefused(Exception):
    """The batch can't be appended. The reason goes to our log: real brokers tell clients only of single records.

    `early` refusals come before the partition's log is looked at, so they can't name its start offset.
    """

    def __init__(
        self,
        code: Code,
        reason: str,
        *,
        early: bool = False,
        message: str | None = None,
        record_errors: tuple[tuple[int, str], ...] = (),
    ) -> None:
        super().__init__(reason)
        self.code = code
        self.early = early
        self.message = message
        self.record_errors = record_errors


Admission: TypeAlias = Callable[[BatchHeader], Code]
"""Says whether a batch of a transaction may be written."""


def _no_transactions(header: BatchHeader) -> Code:
    del header
    return Code.INVALID_TXN_STATE


def append_records(
    partition: Partition,
    records: memoryview | None,
    acks: int,
    version: int,
    now_ms: int,
    admit: Admission = _no_transactions,
) -> Appended:
    """Check and append the records of one partition of a Produce request of this version.

    A writable `records` belongs to the log from here on: header fields are patched in place.
    """
    try:
        _check_replicas(partition, acks)
        if records is None:
            raise _BatchRefused(Code.INVALID_RECORD, "no records", early=True)
        header = _check_batch(partition, records, version)
        batch = records[header.position : header.position + header.size_bytes]
        _check_for_topic(partition, header, batch, now_ms)
        if header.attributes & _TRANSACTIONAL and not _is_repeat(partition, header):
            code = admit(header)
            if code is not Code.NONE:
                reason = f"producer {header.producer_id} (epoch {header.producer_epoch}) may not write: {code.name}"
                raise _BatchRefused(code, reason)
        return _append(partition, header, batch, now_ms)
    except _BatchRefused as refusal:
        logger.info("%s-%d refuses a batch: %s", partition.topic.name, partition.index, refusal)
        start_offset = -1 if refusal.early else partition.log.start_offset
        return Appended(refusal.code, -1, -1, start_offset, refusal.message, refusal.record_errors)


def _check_replicas(partition: Partition, acks: int) -> None:
    """Enough replicas in sync; a topic with fewer replicas than asked for needs only those (KIP-966)."""
    needed = min(partition.topic.config.integer("min.insync.replicas"), len(partition.replicas))
    if acks == -1 and len(partition.isr) < needed:
        raise _BatchRefused(Code.NOT_ENOUGH_REPLICAS, f"{len(partition.isr)} in sync, {needed} needed", early=True)


def _check_batch(partition: Partition, records: memoryview, version: int) -> BatchHeader:
    """Refuses batches that no topic accepts; the header of the one batch there must be."""
    limit = partition.topic.config.integer("max.message.bytes")
    try:
        headers = kernels.scan_batches(records, check_crc=False)
        if len(headers) != 1:
            raise _BatchRefused(Code.INVALID_RECORD, f"{len(headers)} batches where there must be one", early=True)
        (header,) = headers
        if header.magic != 2:
            raise _BatchRefused(Code.INVALID_RECORD, f"magic {header.magic} where 2 is needed", early=True)
        if header.attributes & _CODEC_MASK == _ZSTD and version < _FIRST_VERSION_WITH_ZSTD:
            raise _BatchRefused(Code.UNSUPPORTED_COMPRESSION_TYPE, f"zstd in Produce v{version}", early=True)
        if header.size_bytes > limit:
            reason = f"{header.size_bytes} bytes, more than max.message.bytes={limit}"
            raise _BatchRefused(Code.MESSAGE_TOO_LARGE, reason, early=True)
        kernels.scan_batches(records, check_crc=True)
    except ProtocolError as error:
        raise _BatchRefused(Code.CORRUPT_MESSAGE, str(error), early=True) from error
    return header


def _check_for_topic(partition: Partition, header: BatchHeader, batch: memoryview, now_ms: int) -> None:
    """Makes the checks of Kafka's `LogValidator`."""
    if header.attributes & _CONTROL:
        raise _BatchRefused(Code.INVALID_RECORD, "clients are not allowed to write control records")
    if header.count <= 0 or header.last_offset_delta + 1 != header.count:
        reason = f"{header.last_offset_delta + 1} offsets for {header.count} records"
        raise _BatchRefused(Code.INVALID_RECORD, reason)
    if header.producer_id != _NO_PRODUCER_ID and header.base_sequence < 0:
        raise _BatchRefused(Code.INVALID_RECORD, f"sequence {header.base_sequence} of producer {header.producer_id}")
    if "compact" in partition.topic.config.text("cleanup.policy"):
        _check_keys(partition, batch)
    if partition.topic.config.text("message.timestamp.type") == "CreateTime":
        _check_timestamps(partition, header, batch, now_ms)


def _check_keys(partition: Partition, batch: memoryview) -> None:
    name = f"{partition.topic.name}-{partition.index}"
    text = f"Compacted topic cannot accept message without key in topic partition {name}"
    bad = tuple((index, text) for index, message in enumerate(_decoded(batch)) if message.key() is None)
    if not bad:
        return
    shown = ", ".join(f"RecordError(batchIndex={index}, message='{text}')" for index, _ in bad[:_SHOWN_RECORD_ERRORS])
    message = (
        f"One or more records have been rejected due to {len(bad)} record errors in total, and only showing the first "
        f"three errors at most: [{shown}]"
    )
    raise _BatchRefused(Code.INVALID_RECORD, text, message=message, record_errors=bad)


def _check_timestamps(partition: Partition, header: BatchHeader, batch: memoryview, now_ms: int) -> None:
    """Records are looked at only if the header says one is too late, or if there is a bound for early ones."""
    config = partition.topic.config
    before_ms, after_ms = (config.integer(f"message.timestamp.{side}.max.ms") for side in ("before", "after"))
    early = min(header.base_timestamp_ms, header.max_timestamp_ms) < now_ms - before_ms
    if before_ms == _NO_BOUND_MS and not early and header.max_timestamp_ms - now_ms <= after_ms:
        return
    first_ms, last_ms = now_ms - before_ms, now_ms + after_ms
    bad = []
    for index, message in enumerate(_decoded(batch)):
        timestamp_ms = message.timestamp()[1]
        if timestamp_ms != _NO_TIMESTAMP and not first_ms <= timestamp_ms <= last_ms:
            text = f"Timestamp {timestamp_ms} of message with offset {index} is out of range. "
            bad.append((index, f"{text}The timestamp should be within [{first_ms}, {last_ms}]"))
    if bad:
        message_text = "One or more records have been rejected due to invalid timestamp"
        raise _BatchRefused(Code.INVALID_TIMESTAMP, bad[0][1], message=message_text, record_errors=tuple(bad))


def _decoded(batch: memoryview) -> list[MessageLike]:
    out: list[MessageLike] = []
    for opened in open_batches(batch, "", 0, 0):
        opened.cursor.take(out, _EVERY_RECORD)
    return out


def _append(partition: Partition, header: BatchHeader, batch: memoryview, now_ms: int) -> Appended:
    stored, producers, config = partition.log, partition.producers, partition.topic.config
    by_append_time = config.text("message.timestamp.type") == "LogAppendTime"
    identity = header.producer_id, header.producer_epoch, header.base_sequence
    if header.producer_id != _NO_PRODUCER_ID:
        repeat = producers.duplicate(*identity, header.count)
        if repeat is not None:
            written_ms = repeat.timestamp_ms if by_append_time else -1
            return Appended(Code.NONE, repeat.base_offset, written_ms, stored.start_offset)
        code, reason = producers.check(*identity)
        if code is not Code.NONE:
            raise _BatchRefused(code, reason)
    timestamp_ms = header.max_timestamp_ms
    if by_append_time:
        batch, timestamp_ms = _stamped(batch, header.attributes, now_ms), now_ms
    stored.roll(len(batch), now_ms, config.integer("segment.bytes"), config.integer("segment.ms"))
    base_offset = stored.append(batch, header.count, timestamp_ms, partition.leader_epoch, now_ms)
    if header.producer_id != _NO_PRODUCER_ID:
        producers.record(*identity, header.count, base_offset, timestamp_ms)
    if header.attributes & _TRANSACTIONAL:
        stored.transaction_wrote(header.producer_id, base_offset)
    if "delete" in config.text("cleanup.policy"):
        stored.retain(now_ms, config.integer("retention.bytes"), config.integer("retention.ms"))
    return Appended(Code.NONE, base_offset, now_ms if by_append_time else -1, stored.start_offset)


def _is_repeat(partition: Partition, header: BatchHeader) -> bool:
    identity = header.producer_id, header.producer_epoch, header.base_sequence
    return partition.producers.duplicate(*identity, header.count) is not None


def append_marker(
    partition: Partition, producer_id: int, epoch: int, *, commit: bool, now_ms: int, coordinator_epoch: int = 0
) -> None:
    """Write the control batch that ends a producer's transaction."""
    kind = ControlType.COMMIT if commit else ControlType.ABORT
    row = NewRecord(control_value(coordinator_epoch), control_key(kind), timestamp_ms=now_ms)
    data = build_batch([row], producer_id=producer_id, producer_epoch=epoch, transactional=True, control=True)
    batch = memoryview(bytearray(data))
    config = partition.topic.config
    partition.log.roll(len(batch), now_ms, config.integer("segment.bytes"), config.integer("segment.ms"))
    offset = partition.log.append(batch, 1, now_ms, partition.leader_epoch, now_ms)
    partition.log.transaction_ended(producer_id, offset, commit=commit)
    partition.producers.mark(producer_id, epoch, coordinator_epoch)


def _stamped(batch: memoryview, attributes: int, now_ms: int) -> memoryview:
    """The batch with the broker's time (KIP-32): attribute bit, max timestamp, and the CRC over them."""
    stamped = memoryview(bytearray(batch)) if batch.readonly else batch
    _I16.pack_into(stamped, _ATTRIBUTES_POSITION, attributes | _LOG_APPEND_TIME)
    _I64.pack_into(stamped, _MAX_TIMESTAMP_POSITION, now_ms)
    _U32.pack_into(stamped, _CRC_POSITION, kernels.crc32c(stamped[_ATTRIBUTES_POSITION:]))
    return stamped
