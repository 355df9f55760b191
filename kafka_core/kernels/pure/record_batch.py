"""Record batches of format 2: finding them in a records buffer, walking and writing their records.

Must not know of fetches, groups or compression: what a cursor is given is one decompressed payload.
Spec: https://kafka.apache.org/documentation/#recordbatch and #record (KIP-98, KIP-32).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

from kafka_core.errors import CorruptRecordError
from kafka_core.kernels.abc import (
    HEADER_BYTES,
    LOG_APPEND_FLAG,
    TIMESTAMP_CREATE_TIME,
    TIMESTAMP_LOG_APPEND_TIME,
    TIMESTAMP_NOT_AVAILABLE,
    BatchHeader,
    Buffer,
)
from kafka_core.kernels.pure.hashes import crc32c
from kafka_core.kernels.pure.message import Message, exact_text
from kafka_core.kernels.pure.varint import MAX_VARINT32_BYTES, encode_varint, read_uvarint, wrapped

PREFIX = struct.Struct(">qi")
"""The beginning of a batch (or message) of every format: base offset, and the length of the rest."""
BODY = struct.Struct(">iBIhiqqqhii")
"""The rest of a batch's header: leader epoch, magic, CRC, attributes, last offset delta, base and max timestamp,
producer id and epoch, base sequence, number of records."""

NO_TIMESTAMP = -1
"""The time of a record that has none. Other negative ones lie before 1970."""
CRC_AT = 17
CRC_FROM = 21
MAGIC_AT = 16
_LEAST_SIZE = MAGIC_AT + 1 - PREFIX.size
_LEAST_SIZE_V2 = HEADER_BYTES - PREFIX.size

RecordHeaders = list[tuple[bytes, bytes | None]]


def scan_batches(buffer: Buffer, start: int = 0, end: int = -1, check_crc: bool = True) -> list[BatchHeader]:
    """Headers of the complete batches in `buffer[start:end]`, in order; an incomplete last one is left out.

    Args:
        end: -1 for the end of the buffer.
        check_crc: verify the CRC-32C of batches of format 2 (not of formats 0 and 1, see records/legacy.py).

    Raises:
        CorruptRecordError: a length, a count, the magic byte or the CRC is wrong; names position and base offset.
        ValueError: `start` is negative.
    """
    view = memoryview(buffer).cast("B")
    if end < 0 or end > len(view):
        end = len(view)
    if start < 0:
        raise ValueError(f"start must not be negative, got {start}")
    found: list[BatchHeader] = []
    position = start
    while end - position > MAGIC_AT:
        base_offset, size = PREFIX.unpack_from(view, position)
        magic = view[position + MAGIC_AT]
        if size < _LEAST_SIZE or magic > 2 or (magic == 2 and size < _LEAST_SIZE_V2):
            raise CorruptRecordError(
                f"the batch at byte {position} (base offset {base_offset}) claims {size} bytes and magic {magic}"
            )
        size += PREFIX.size
        if size > end - position:
            break
        batch = view[position : position + size]
        header = _legacy_header(batch, position, base_offset) if magic < 2 else _header(batch, position, check_crc)
        found.append(header)
        position += size
    return found


def _legacy_header(message: memoryview, position: int, base_offset: int) -> BatchHeader:
    attributes = message[MAGIC_AT + 1] if len(message) > MAGIC_AT + 1 else 0
    magic, payload = message[MAGIC_AT], position + PREFIX.size
    return BatchHeader(position, len(message), magic, attributes, base_offset, 0, -1, -1, -1, -1, -1, 1, -1, payload)


def _header(batch: memoryview, position: int, check_crc: bool) -> BatchHeader:
    base_offset, _ = PREFIX.unpack_from(batch)
    (epoch, magic, crc, attributes, last_delta, base_ms, max_ms, producer_id, producer_epoch, sequence, count) = (
        BODY.unpack_from(batch, PREFIX.size)
    )
    if check_crc and crc32c(batch[CRC_FROM:]) != crc:
        raise CorruptRecordError(
            f"the batch at byte {position} (base offset {base_offset}) has CRC {crc32c(batch[CRC_FROM:]):#010x}, but "
            f"says {crc:#010x}: it was damaged on its way or on disk"
        )
    if count < 0 or last_delta < 0:
        raise CorruptRecordError(
            f"the batch at byte {position} (base offset {base_offset}) claims {count} records up to offset delta "
            f"{last_delta}"
        )
    return BatchHeader(
        position, len(batch), magic, attributes, base_offset, last_delta, base_ms, max_ms, producer_id, producer_epoch,
        sequence, count, epoch, position + HEADER_BYTES,
    )  # fmt: skip


def seal_batch(
    records: Buffer,
    *,
    count: int,
    base_timestamp_ms: int,
    max_timestamp_ms: int,
    attributes: int = 0,
    base_offset: int = 0,
    last_offset_delta: int | None = None,
    partition_leader_epoch: int = -1,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
) -> bytearray:
    """A whole batch: header, CRC and the (already compressed) records."""
    out = bytearray(HEADER_BYTES)
    out += records
    last_delta = max(count - 1, 0) if last_offset_delta is None else last_offset_delta
    PREFIX.pack_into(out, 0, base_offset, len(out) - PREFIX.size)
    BODY.pack_into(
        out, PREFIX.size, partition_leader_epoch, 2, 0, attributes, last_delta, base_timestamp_ms, max_timestamp_ms,
        producer_id, producer_epoch, base_sequence, count,
    )  # fmt: skip
    struct.pack_into(">I", out, CRC_AT, crc32c(memoryview(out)[CRC_FROM:]))
    return out


class Record(NamedTuple):
    """One record as it lies in a batch.

    Attributes:
        offset_delta: to the batch's base offset; `timestamp_delta_ms` to its base timestamp.
        header_section: count and pairs, as encoded.
        headers: the same, decoded; names as bytes.
        size_bytes: all of it, its length included.
    """

    timestamp_delta_ms: int
    offset_delta: int
    key: bytes | None
    value: bytes | None
    header_section: bytes
    headers: RecordHeaders
    size_bytes: int


NO_HEADERS = b"\0"
"""The header section of a record without headers."""


class _Malformed(Exception):
    """The lengths of a record do not fit together."""


def decode_record(data: bytes, position: int, end: int) -> Record | None:
    """The record at `position`; None if it is corrupt: cut off, or its lengths don't fit together."""
    try:
        length, at = _signed(data, position, end, 32, MAX_VARINT32_BYTES)
        if not 0 < length <= end - at:
            return None
        stop = at + length
        time_delta, at = _signed(data, at + 1, stop)
        offset_delta, at = _signed(data, at, stop, 32, MAX_VARINT32_BYTES)
        key, at = _nullable(data, at, stop)
        value, at = _nullable(data, at, stop)
        section = at
        headers, at = _headers(data, at, stop)
    except _Malformed:
        return None
    if at != stop:
        return None
    return Record(time_delta, offset_delta, key, value, data[section:stop], headers, stop - position)


def _signed(data: bytes, position: int, end: int, bits: int = 64, max_bytes: int = 10) -> tuple[int, int]:
    if position < end and (byte := data[position]) < 0x80:  # most are this short
        return byte >> 1 ^ -(byte & 1), position + 1
    found = read_uvarint(data, position, end, bits, max_bytes)
    if found is None:
        raise _Malformed
    value, position = found
    return value >> 1 ^ -(value & 1), position


def _nullable(data: bytes, position: int, end: int) -> tuple[bytes | None, int]:
    size, position = _signed(data, position, end, 32, MAX_VARINT32_BYTES)
    if size == -1:
        return None, position
    if not 0 <= size <= end - position:
        raise _Malformed
    return data[position : position + size], position + size


def _headers(data: bytes, position: int, end: int) -> tuple[RecordHeaders, int]:
    count, position = _signed(data, position, end, 32, MAX_VARINT32_BYTES)
    if not 0 <= count <= (end - position) // 2:
        raise _Malformed
    headers: RecordHeaders = []
    for _ in range(count):
        name, position = _nullable(data, position, end)
        if name is None:
            raise _Malformed
        value, position = _nullable(data, position, end)
        headers.append((name, value))
    return headers, position


def encode_record(
    offset_delta: int, timestamp_delta_ms: int, key: bytes | None, value: bytes | None, header_section: bytes
) -> bytes:
    """One record with its length; `header_section` as `encode_headers` makes it, b"" for none."""
    body = b"".join(
        (
            b"\0",
            encode_varint(timestamp_delta_ms),
            encode_varint(offset_delta),
            _sized(key),
            _sized(value),
            header_section or NO_HEADERS,
        )
    )
    return encode_varint(len(body)) + body


def encode_headers(headers: Sequence[tuple[bytes, bytes | None]]) -> bytes:
    """The header section of a record: their number, and name and value of each."""
    return encode_varint(len(headers)) + b"".join(_sized(name) + _sized(value) for name, value in headers)


def _sized(data: bytes | None) -> bytes:
    return b"\x01" if data is None else encode_varint(len(data)) + data


class RecordCursor:
    """Walks the records of one decompressed batch payload, from an offset on.

    Args:
        buffer: holds the payload in `[start, end)`.
        header: of the batch.
        from_offset: records before it are passed over.

    Raises:
        CorruptRecordError: bytes without a record.
        ValueError: the range does not lie in the buffer.
    """

    def __init__(
        self, buffer: Buffer, start: int, end: int, header: BatchHeader, topic: str, partition: int, from_offset: int
    ) -> None:
        view = memoryview(buffer).cast("B")
        if not 0 <= start <= end <= len(view):
            raise ValueError(f"no range {start} to {end} in a buffer of {len(view)} bytes")
        if not 0 <= header.base_offset < 2**63 - 1 - header.last_offset_delta:
            raise CorruptRecordError(f"{topic}[{partition}]: a batch begins at offset {header.base_offset}")
        self._data = bytes(view[start:end])
        self._at = 0
        self.header = header
        self.topic = exact_text(topic)
        self.partition = partition
        self._from_offset = from_offset
        self._next_offset = max(from_offset, header.base_offset)
        self._left = header.count
        self._by_append_time = bool(header.attributes & LOG_APPEND_FLAG)
        if self._left == 0:
            self._finish()

    @property
    def position(self) -> int:
        """The offset behind what was handed out; the end of the batch when it is exhausted."""
        return self._next_offset

    @property
    def exhausted(self) -> bool:
        """Whether every record was handed out."""
        return self._left == 0

    def next(self) -> Message | None:
        """The next record, None when there is none left.

        Raises:
            CorruptRecordError: a record's lengths don't fit the batch; names topic, partition and offset.
        """
        record = self.advance()
        if record is None:
            return None
        headers = [(name.decode("utf-8", "replace"), value) for name, value in record.headers] or None
        return Message(
            self.topic,
            self.partition,
            self.header.base_offset + record.offset_delta,
            record.key,
            record.value,
            headers,
            timestamp=self.timestamp_of(record),
            leader_epoch=self.header.partition_leader_epoch,
        )

    def take(self, out: list[Any], limit: int) -> int:
        """Appends up to `limit` records to `out`; returns how many."""
        for taken in range(limit):
            message = self.next()
            if message is None:
                return taken
            out.append(message)
        return max(limit, 0)

    def take_columns(self, sink: Any, limit: int) -> int:
        """Puts up to `limit` records into the sink's columns; returns how many: fewer at the end, or if it is full."""
        taken: int = sink.fill(self, limit)
        return taken

    def advance(self) -> Record | None:
        """The next record at or past `from_offset` as it lies in the batch; None at the end."""
        while self._left:
            record = decode_record(self._data, self._at, len(self._data))
            if record is None:
                raise self._corrupt("a record's lengths don't fit the batch")
            offset = self.header.base_offset + record.offset_delta
            end_offset = self.header.base_offset + self.header.last_offset_delta + 1
            if not self.header.base_offset <= offset < end_offset:
                raise self._corrupt(f"a record's offset {offset} is not in its batch, which ends before {end_offset}")
            self._at += record.size_bytes
            self._left -= 1
            if offset >= self._from_offset:
                self._next_offset = offset + 1
                if self._left == 0:
                    self._finish()
                return record
            if self._left == 0:
                self._finish()
        return None

    def timestamp_of(self, record: Record) -> tuple[int, int]:
        """(type, milliseconds): the batch's one time if the broker set it, -1 if there is none."""
        if self._by_append_time:
            return TIMESTAMP_LOG_APPEND_TIME, self.header.max_timestamp_ms
        time_ms = wrapped(self.header.base_timestamp_ms + record.timestamp_delta_ms)
        return TIMESTAMP_NOT_AVAILABLE if time_ms == NO_TIMESTAMP else TIMESTAMP_CREATE_TIME, time_ms

    def _finish(self) -> None:
        if self._at != len(self._data):
            raise self._corrupt(f"{len(self._data) - self._at} bytes follow the last record of the batch")
        self._next_offset = max(self._next_offset, self.header.base_offset + self.header.last_offset_delta + 1)

    def _corrupt(self, what: str) -> CorruptRecordError:
        return CorruptRecordError(f"{self.topic}[{self.partition}] near offset {self._next_offset}: {what}")
