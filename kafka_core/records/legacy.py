"""Messages of formats 0 and 1, from logs that were written before Kafka 0.11: read only.

Must not know fetches. A message set becomes records of format 2, so that one cursor reads everything.
Spec: https://kafka.apache.org/documentation/#messageset; KIP-31 (relative offsets), KIP-32 (timestamps).
"""

from __future__ import annotations

import struct
import zlib
from typing import NamedTuple

from kafka_core.errors import CorruptRecordError
from kafka_core.kernels import BatchHeader, Buffer
from kafka_core.kernels.abc import LOG_APPEND_FLAG
from kafka_core.kernels.pure.record_batch import NO_HEADERS, PREFIX, encode_record
from kafka_core.records.codecs import Codec, codec_of
from kafka_core.records.compression import decompress

_FIXED = struct.Struct(">IBB")
_TIMESTAMP = struct.Struct(">q")
_LENGTH = struct.Struct(">i")
_CRC_BYTES = 4


class OldMessage(NamedTuple):
    """One message of a set, its offset as written."""

    offset: int
    magic: int
    attributes: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None


def read_message_set(buffer: Buffer, header: BatchHeader, check_crc: bool, max_bytes: int) -> tuple[BatchHeader, bytes]:
    """The records of one outer message, alone or a whole compressed set.

    Args:
        buffer: the message from its offset field on, nothing behind it.
        header: of `scan_batches`.
        max_bytes: bound of the decompressed set.

    Returns:
        A header in terms of format 2, and the records to go with it.

    Raises:
        CorruptRecordError: lengths or CRC-32 are wrong, or what is in a compressed set is not as it must be.
        UnknownCodecError: compressed in a way we do not know.
    """
    outer, _ = _parse(memoryview(buffer).cast("B"), 0, check_crc)
    if not outer.attributes & 0x07:
        return _as_records(header, outer, [outer])
    codec = codec_of(outer.attributes)
    if codec is Codec.ZSTD:
        raise CorruptRecordError(f"a message of format {outer.magic} can't be compressed with zstd")
    if outer.value is None:
        raise CorruptRecordError("a compressed message has no value")
    return _as_records(header, outer, _inner(outer, decompress(codec, outer.value, max_bytes), check_crc))


def _inner(outer: OldMessage, data: Buffer, check_crc: bool) -> list[OldMessage]:
    view = memoryview(data).cast("B")
    found: list[OldMessage] = []
    position = 0
    while position < len(view):
        message, position = _parse(view, position, check_crc)
        if message.magic != outer.magic or message.attributes & 0x07:
            raise CorruptRecordError(f"a compressed message of format {outer.magic} holds one that may not be in it")
        found.append(message)
    if not found:
        raise CorruptRecordError("a compressed message is empty")
    if outer.magic == 0:
        return found
    # Relative offsets (KIP-31): the wrapper has the offset of the last one.
    first = outer.offset - found[-1].offset
    return [message._replace(offset=first + message.offset) for message in found]


def _parse(view: memoryview, position: int, check_crc: bool) -> tuple[OldMessage, int]:
    """The message at `position`, and the position behind it."""
    if len(view) - position < PREFIX.size + _FIXED.size:
        raise CorruptRecordError(f"a message is cut off after {len(view) - position} bytes")
    offset, size = PREFIX.unpack_from(view, position)
    position += PREFIX.size
    end = position + size
    if not _FIXED.size <= size <= len(view) - position:
        raise CorruptRecordError(f"the message at offset {offset} claims {size} bytes, {len(view) - position} are left")
    crc, magic, attributes = _FIXED.unpack_from(view, position)
    if check_crc and zlib.crc32(view[position + _CRC_BYTES : end]) != crc:
        raise CorruptRecordError(f"the message at offset {offset} does not have the CRC that it says")
    if magic > 1:
        raise CorruptRecordError(f"the message at offset {offset} has format {magic} inside a set of format 0 or 1")
    position += _FIXED.size
    timestamp_ms = -1
    if magic == 1:
        if end - position < _TIMESTAMP.size:
            raise CorruptRecordError(f"the message at offset {offset} ends inside its timestamp")
        (timestamp_ms,) = _TIMESTAMP.unpack_from(view, position)
        position += _TIMESTAMP.size
    key, position = _nullable(view, position, end, offset)
    value, position = _nullable(view, position, end, offset)
    if position != end:
        raise CorruptRecordError(f"the message at offset {offset} is {end - position} bytes longer than its content")
    return OldMessage(offset, magic, attributes, timestamp_ms, key, value), end


def _nullable(view: memoryview, position: int, end: int, offset: int) -> tuple[bytes | None, int]:
    if end - position < _LENGTH.size:
        raise CorruptRecordError(f"the message at offset {offset} ends inside a length")
    (size,) = _LENGTH.unpack_from(view, position)
    position += _LENGTH.size
    if size == -1:
        return None, position
    if not 0 <= size <= end - position:
        raise CorruptRecordError(f"the message at offset {offset} has a key or value of {size} bytes")
    return bytes(view[position : position + size]), position + size


def _as_records(header: BatchHeader, outer: OldMessage, messages: list[OldMessage]) -> tuple[BatchHeader, bytes]:
    by_append_time = outer.magic == 1 and outer.attributes & LOG_APPEND_FLAG
    base_offset = messages[0].offset
    last_delta = messages[-1].offset - base_offset
    if last_delta < 0:
        raise CorruptRecordError(f"offsets run backwards from {base_offset} to {messages[-1].offset}")
    base_ms = next((message.timestamp_ms for message in messages if message.timestamp_ms >= 0), -1)
    latest_ms = outer.timestamp_ms if by_append_time else max(message.timestamp_ms for message in messages)
    records = b"".join(
        encode_record(
            message.offset - base_offset, message.timestamp_ms - base_ms, message.key, message.value, NO_HEADERS
        )
        for message in messages
    )
    described = header._replace(
        attributes=LOG_APPEND_FLAG if by_append_time else 0,
        base_offset=base_offset,
        last_offset_delta=last_delta,
        base_timestamp_ms=base_ms,
        max_timestamp_ms=latest_ms,
        count=len(messages),
        payload_position=0,
    )
    return described, records
