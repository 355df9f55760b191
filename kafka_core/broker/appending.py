"""What a partition's leader does with a batch from a producer: check it, recognise repeats, append it.

Must not know: requests and topics' leaders (the Produce handler has looked). Records are never decoded.
Spec: `LogValidator`, `UnifiedLog.append` and `ProduceRequest.validateRecords` of Apache Kafka 4; KIP-98, KIP-32.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from kafka_core import kernels
from kafka_core.broker.codes import Code
from kafka_core.broker.topics import Partition
from kafka_core.errors import ProtocolError
from kafka_core.kernels import BatchHeader

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


@dataclass(frozen=True, slots=True)
class Appended:
    """What became of a batch. Offsets and time are -1 where there is none to tell."""

    code: Code
    text: str | None = None
    base_offset: int = -1
    log_append_time_ms: int = -1
    log_start_offset: int = -1


def append_records(partition: Partition, records: memoryview | None, acks: int, version: int, now_ms: int) -> Appended:
    """Check and append the records of one partition of a Produce request of this version.

    A writable `records` belongs to the log from here on: header fields are patched in place.
    """
    config = partition.topic.config
    if acks == -1 and len(partition.isr) < config.integer("min.insync.replicas"):
        text = f"The size of the current ISR is insufficient to satisfy the min.isr requirement for {_name(partition)}"
        return Appended(Code.NOT_ENOUGH_REPLICAS, text)
    limit = config.integer("max.message.bytes")
    if records is not None and len(records) > limit:
        text = f"The record batch size in the append to {_name(partition)} is {len(records)} bytes which exceeds the "
        return Appended(Code.MESSAGE_TOO_LARGE, f"{text}maximum configured value of {limit}.")
    try:
        headers = kernels.scan_batches(records, check_crc=True) if records is not None else []
    except ProtocolError as error:
        return Appended(Code.CORRUPT_MESSAGE, str(error))
    problem = _problem(headers, version) or _timestamp_problem(partition, headers[0], now_ms)
    if problem is not None or records is None:
        return problem or Appended(Code.INVALID_RECORD)
    return _append(partition, headers[0], records, now_ms)


def _name(partition: Partition) -> str:
    return f"partition {partition.topic.name}-{partition.index}"


def _problem(headers: list[BatchHeader], version: int) -> Appended | None:
    """What makes the records unacceptable whatever the topic is."""
    request = f"Produce requests with version {version} are"
    if len(headers) != 1:
        how_many = "at least" if not headers else "only"
        return Appended(Code.INVALID_RECORD, f"{request} {how_many} allowed to contain one record batch per partition")
    (header,) = headers
    if header.magic != 2:
        return Appended(Code.INVALID_RECORD, f"{request} only allowed to contain record batches with magic version 2")
    if header.attributes & _CODEC_MASK == _ZSTD and version < _FIRST_VERSION_WITH_ZSTD:
        return Appended(Code.UNSUPPORTED_COMPRESSION_TYPE, f"{request} not allowed to use ZStandard compression")
    if header.attributes & _CONTROL:
        return Appended(Code.INVALID_RECORD, "Clients are not allowed to write control records")
    if header.count <= 0 or header.last_offset_delta + 1 != header.count:
        text = f"Inconsistent batch offset range: {header.last_offset_delta + 1} offsets for {header.count} records"
        return Appended(Code.INVALID_RECORD, text)
    if header.producer_id != _NO_PRODUCER_ID and header.base_sequence < 0:
        text = f"Invalid sequence number {header.base_sequence} in record batch with producerId {header.producer_id}"
        return Appended(Code.INVALID_RECORD, text)
    if header.attributes & _TRANSACTIONAL:
        return Appended(Code.INVALID_TXN_STATE, "the embedded broker has no transactions yet")
    return None


def _timestamp_problem(partition: Partition, header: BatchHeader, now_ms: int) -> Appended | None:
    config = partition.topic.config
    if config.text("message.timestamp.type") == "LogAppendTime" or header.max_timestamp_ms < 0:
        return None
    early = now_ms - header.base_timestamp_ms > config.integer("message.timestamp.before.max.ms")
    late = header.max_timestamp_ms - now_ms > config.integer("message.timestamp.after.max.ms")
    if not early and not late:
        return None
    text = "One or more records have been rejected due to invalid timestamp"
    return Appended(Code.INVALID_TIMESTAMP, text)


def _append(partition: Partition, header: BatchHeader, records: memoryview, now_ms: int) -> Appended:
    log, producers, config = partition.log, partition.producers, partition.topic.config
    by_append_time = config.text("message.timestamp.type") == "LogAppendTime"
    identity = header.producer_id, header.producer_epoch, header.base_sequence
    if header.producer_id != _NO_PRODUCER_ID:
        repeat = producers.duplicate(*identity, header.count)
        if repeat is not None:
            written_ms = repeat.timestamp_ms if by_append_time else -1
            return Appended(Code.NONE, None, repeat.base_offset, written_ms, log.start_offset)
        code, text = producers.check(*identity)
        if code is not Code.NONE:
            return Appended(code, f"{text} on {_name(partition)}")
    batch = records[header.position : header.position + header.size_bytes]
    timestamp_ms = header.max_timestamp_ms
    if by_append_time:
        batch, timestamp_ms = _stamped(batch, header.attributes, now_ms), now_ms
    log.roll(len(batch), now_ms, config.integer("segment.bytes"), config.integer("segment.ms"))
    base_offset = log.append(batch, header.count, timestamp_ms, partition.leader_epoch, now_ms)
    if header.producer_id != _NO_PRODUCER_ID:
        producers.record(*identity, header.count, base_offset, timestamp_ms)
    if "delete" in config.text("cleanup.policy"):
        log.retain(now_ms, config.integer("retention.bytes"), config.integer("retention.ms"))
    return Appended(Code.NONE, None, base_offset, now_ms if by_append_time else -1, log.start_offset)


def _stamped(batch: memoryview, attributes: int, now_ms: int) -> memoryview:
    """The batch with the broker's time (KIP-32): attribute bit, max timestamp, and the CRC over them."""
    stamped = memoryview(bytearray(batch)) if batch.readonly else batch
    _I16.pack_into(stamped, _ATTRIBUTES_POSITION, attributes | _LOG_APPEND_TIME)
    _I64.pack_into(stamped, _MAX_TIMESTAMP_POSITION, now_ms)
    _U32.pack_into(stamped, _CRC_POSITION, kernels.crc32c(stamped[_ATTRIBUTES_POSITION:]))
    return stamped
