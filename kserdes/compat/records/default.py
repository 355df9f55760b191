"""Record batches of magic 2: a builder, a reader, records and control records.

Must not know clients. Spec: KIP-98, https://kafka.apache.org/documentation/#recordbatch.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Self

from kserdes.compat.kafka.errors import CorruptRecordError
from kserdes.compat.records.codecs import CODECS
from kserdes.compat.records.util import calc_crc32c, decode_varint, encode_varint, size_of_varint

__all__ = [
    "ControlRecord",
    "DefaultRecord",
    "DefaultRecordBase",
    "DefaultRecordBatch",
    "DefaultRecordBatchBuilder",
    "DefaultRecordMetadata",
]

Headers = Sequence[tuple[str, bytes | None]]
BYTES: Final = (bytes, bytearray, memoryview)


class DefaultRecordBase:
    """The offsets of a batch's fields, and the bits of its attributes."""

    HEADER_STRUCT: ClassVar = struct.Struct(">qiibIhiqqqhii")
    NO_PARTITION_LEADER_EPOCH: ClassVar = -1
    ATTRIBUTES_OFFSET: ClassVar = 21
    CRC_OFFSET: ClassVar = 17
    AFTER_LEN_OFFSET: ClassVar = 12
    CODEC_MASK: ClassVar = 0x07
    CODEC_NONE: ClassVar = 0
    CODEC_GZIP: ClassVar = 1
    CODEC_SNAPPY: ClassVar = 2
    CODEC_LZ4: ClassVar = 3
    CODEC_ZSTD: ClassVar = 4
    TIMESTAMP_TYPE_MASK: ClassVar = 0x08
    TRANSACTIONAL_MASK: ClassVar = 0x10
    CONTROL_MASK: ClassVar = 0x20
    LOG_APPEND_TIME: ClassVar = 1
    CREATE_TIME: ClassVar = 0
    NO_PRODUCER_ID: ClassVar = -1
    NO_SEQUENCE: ClassVar = -1
    MAX_INT: ClassVar = 2147483647


@dataclass(frozen=True, slots=True)
class DefaultRecordMetadata:
    """The builder's answer about a record: its offset in the batch, its size in bytes, its time in ms."""

    offset: int
    size: int
    timestamp: int
    crc: ClassVar[None] = None


class DefaultRecord:
    """A record of a batch."""

    def __init__(
        self,
        size_in_bytes: int,
        offset: int,
        timestamp: int,
        timestamp_type: int,
        key: bytes | None,
        value: bytes | None,
        headers: Headers,
    ) -> None:
        self.size_in_bytes = size_in_bytes
        self.offset = offset
        self.timestamp = timestamp
        self.timestamp_type = timestamp_type
        self.key = key
        self.value = value
        self.headers = headers
        self.checksum = None

    def validate_crc(self) -> bool:
        """True: batches have checksums, their records have none."""
        return True

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(offset={self.offset!r}, timestamp={self.timestamp!r}, "
            f"timestamp_type={self.timestamp_type!r}, key={self.key!r}, value={self.value!r}, headers={self.headers!r})"
        )


class ControlRecord(DefaultRecord):
    """A marker that ends a transaction."""

    KEY_STRUCT: ClassVar = struct.Struct(">hh")

    @property
    def version(self) -> int:
        """Version of the marker's key."""
        return self._facts()[0]

    @property
    def type(self) -> int:
        """0: aborted, 1: committed."""
        return self._facts()[1]

    @property
    def abort(self) -> bool:
        """Whether the transaction was aborted."""
        return self.type == 0

    @property
    def commit(self) -> bool:
        """Whether the transaction was committed."""
        return self.type == 1

    def _facts(self) -> tuple[int, int]:
        version, kind = self.KEY_STRUCT.unpack_from(self.key or b"")
        return version, kind


class DefaultRecordBatch(DefaultRecordBase):
    """A batch that was received.

    Args:
        buffer: the batch, from its base offset on.

    Raises:
        struct.error: the buffer is shorter than a header.
    """

    corrupt: ClassVar[type[Exception]] = CorruptRecordError

    def __init__(self, buffer: bytes | bytearray | memoryview) -> None:
        self._buffer = bytearray(buffer)
        fields = self.HEADER_STRUCT.unpack_from(self._buffer)
        (
            self.base_offset,
            self._length,
            self.leader_epoch,
            self.magic,
            self.crc,
            self.attributes,
            self.last_offset_delta,
            self.first_timestamp,
            self.max_timestamp,
            self.producer_id,
            self.producer_epoch,
            self.base_sequence,
            self.records_count,
        ) = fields
        self._records: bytes | bytearray | None = None
        self._at = 0
        self._read = 0

    @property
    def size_in_bytes(self) -> int:
        """Of the whole batch."""
        return int(self._length) + self.AFTER_LEN_OFFSET

    @property
    def compression_type(self) -> int:
        """Number of the codec."""
        return int(self.attributes & self.CODEC_MASK)

    @property
    def timestamp_type(self) -> int:
        """0: of the producer, 1: of the broker."""
        return int(bool(self.attributes & self.TIMESTAMP_TYPE_MASK))

    @property
    def is_transactional(self) -> bool:
        """Whether it belongs to a transaction."""
        return bool(self.attributes & self.TRANSACTIONAL_MASK)

    @property
    def is_control_batch(self) -> bool:
        """Whether it holds markers."""
        return bool(self.attributes & self.CONTROL_MASK)

    @property
    def last_offset(self) -> int:
        """Offset of the last record."""
        return int(self.base_offset + self.last_offset_delta)

    @property
    def next_offset(self) -> int:
        """The offset at which the next batch begins."""
        return self.last_offset + 1

    @property
    def has_sequence(self) -> bool:
        """Whether its producer numbers records."""
        return bool(self.base_sequence != self.NO_SEQUENCE)

    @property
    def last_sequence(self) -> int:
        """Sequence number of the last record; numbers begin anew behind the largest int32."""
        if not self.has_sequence:
            return self.NO_SEQUENCE
        return int(self.base_sequence + self.last_offset_delta) & self.MAX_INT

    def has_producer_id(self) -> bool:
        """Whether its producer has an id."""
        return bool(self.producer_id > self.NO_PRODUCER_ID)

    def validate_crc(self) -> bool:
        """Whether the checksum is right."""
        return bool(calc_crc32c(memoryview(self._buffer)[self.ATTRIBUTES_OFFSET : self.size_in_bytes]) == self.crc)

    def __iter__(self) -> Self:
        self._open()
        return self

    def __next__(self) -> DefaultRecord:
        if self._read >= self.records_count:
            if self._at != len(self._open()):
                raise self.corrupt(f"{len(self._open()) - self._at} unconsumed bytes after all records consumed")
            raise StopIteration
        try:
            record = self._record(self._open())
        except (ValueError, IndexError) as error:
            raise self.corrupt(f"Found invalid record structure: {error!r}") from error
        self._read += 1
        return record

    next = __next__

    def _open(self) -> bytes | bytearray:
        """The records, decompressed."""
        if self._records is None:
            data = self._buffer[self.HEADER_STRUCT.size : self.size_in_bytes]
            codec = self.compression_type
            self._records = data if codec == self.CODEC_NONE else CODECS[codec][1](bytes(data))
        return self._records

    def _record(self, data: bytes | bytearray) -> DefaultRecord:
        start = self._at
        length, begin = decode_varint(data, start)
        at = begin + 1  # the attributes, which no bit of is in use
        timestamp_delta, at = decode_varint(data, at)
        offset_delta, at = decode_varint(data, at)
        timestamp = self.max_timestamp if self.timestamp_type else self.first_timestamp + timestamp_delta
        key, at = take(data, at)
        value, at = take(data, at)
        count, at = decode_varint(data, at)
        if count < 0:
            raise self.corrupt(f"Found invalid number of record headers {count}")
        headers = []
        for _ in range(count):
            name, at = take(data, at)
            if name is None:
                raise self.corrupt("Invalid negative header key size -1")
            content, at = take(data, at)
            headers.append((name.decode("utf-8"), content))
        if at - begin != length:
            raise self.corrupt(f"Invalid record size: expected to read {length} bytes in record payload, but instead "
                               f"read {at - begin}")  # fmt: skip
        self._at = at
        kind = ControlRecord if self.is_control_batch else DefaultRecord
        offset = self.base_offset + offset_delta
        return kind(at - start, offset, timestamp, self.timestamp_type, key, value, headers)

    def __repr__(self) -> str:
        return (
            f"DefaultRecordBatch(magic={self.magic}, base_offset={self.base_offset}, "
            f"last_offset_delta={self.last_offset_delta}, first_timestamp={self.first_timestamp}, "
            f"max_timestamp={self.max_timestamp}, is_transactional={self.is_transactional}, "
            f"producer_id={self.producer_id}, producer_epoch={self.producer_epoch}, "
            f"base_sequence={self.base_sequence}, records_count={self.records_count})"
        )


class DefaultRecordBatchBuilder(DefaultRecordBase):
    """A batch that is filled record by record.

    Args:
        magic: 2.
        compression_type: number of the codec.
        is_transactional: whether it belongs to a transaction.
        producer_id, producer_epoch, base_sequence: -1 without.
        batch_size: when it is full, in bytes before compression; the first record always fits.
    """

    MAX_RECORD_OVERHEAD: ClassVar = 21
    LEADER_EPOCH: ClassVar = 0
    """The value in the place where brokers put the leader's epoch."""

    def __init__(
        self,
        magic: int,
        compression_type: int,
        is_transactional: bool,
        producer_id: int,
        producer_epoch: int,
        base_sequence: int,
        batch_size: int,
    ) -> None:
        assert magic >= 2, "older batches have a builder of their own"
        self._magic = magic
        self._codec = compression_type & self.CODEC_MASK
        self._batch_size = batch_size
        self._is_transactional = bool(is_transactional)
        self.producer_id, self.producer_epoch, self.base_sequence = producer_id, producer_epoch, base_sequence
        self._first_ms: int | None = None
        self._max_ms: int | None = None
        self._last_offset = 0
        self._count = 0
        self._buffer = bytearray(self.HEADER_STRUCT.size)

    def set_producer_state(
        self, producer_id: int, producer_epoch: int, base_sequence: int, is_transactional: bool | None = None
    ) -> None:
        """Says who sends the batch, once it is known."""
        self.producer_id, self.producer_epoch, self.base_sequence = producer_id, producer_epoch, base_sequence
        if is_transactional is not None:
            self._is_transactional = is_transactional

    def append(
        self, offset: int, timestamp: int | None, key: Any, value: Any, headers: Headers
    ) -> DefaultRecordMetadata | None:
        """Adds a record; None if the batch is full. Without a timestamp it is now, in ms.

        Raises:
            TypeError: something is not of its type.
        """
        if not isinstance(offset, int):
            raise TypeError(offset)
        if timestamp is None:
            timestamp = int(time.time() * 1000)
        elif not isinstance(timestamp, int):
            raise TypeError(timestamp)
        for name, data in (("key", key), ("value", value)):
            if data is not None and not isinstance(data, BYTES):
                raise TypeError(f"Not supported type for {name}: {type(data)}")
        first = timestamp if self._first_ms is None else self._first_ms
        body = bytearray(1)
        encode_varint(timestamp - first, body.append)
        encode_varint(offset, body.append)
        put(body, key)
        put(body, value)
        encode_varint(len(headers), body.append)
        for name, content in headers:
            put(body, name.encode("utf-8"))
            put(body, content)
        size = len(body) + size_of_varint(len(body))
        if self._first_ms is None:
            self._first_ms = timestamp
        elif len(self._buffer) + size > self._batch_size:
            return None
        self._max_ms = timestamp if self._max_ms is None else max(self._max_ms, timestamp)
        self._count += 1
        self._last_offset = offset
        encode_varint(len(body), self._buffer.append)
        self._buffer += body
        return DefaultRecordMetadata(offset, size, timestamp)

    def write_header(self, use_compression_type: bool = True) -> None:
        """Fills the header of what is there."""
        attributes = self._codec if use_compression_type else 0
        if self._is_transactional:
            attributes |= self.TRANSACTIONAL_MASK
        self.HEADER_STRUCT.pack_into(
            self._buffer,
            0,
            0,
            len(self._buffer) - self.AFTER_LEN_OFFSET,
            self.LEADER_EPOCH,
            self._magic,
            0,
            attributes,
            self._last_offset,
            self._first_ms or 0,
            self._max_ms or 0,
            self.producer_id,
            self.producer_epoch,
            self.base_sequence,
            self._count,
        )
        crc = calc_crc32c(memoryview(self._buffer)[self.ATTRIBUTES_OFFSET :])
        struct.pack_into(">I", self._buffer, self.CRC_OFFSET, crc)

    def build(self) -> bytearray:
        """The batch; compressed only if that makes it smaller."""
        shrunk = False
        if self._codec != self.CODEC_NONE:
            records = bytes(self._buffer[self.HEADER_STRUCT.size :])
            packed = CODECS[self._codec][0](records)
            if len(packed) < len(records):
                self._buffer[self.HEADER_STRUCT.size :] = packed
                shrunk = True
        self.write_header(shrunk)
        return self._buffer

    def size(self) -> int:
        """Bytes so far, before compression."""
        return len(self._buffer)

    @classmethod
    def header_size_in_bytes(cls) -> int:
        """Bytes of a batch's header."""
        return cls.HEADER_STRUCT.size

    @classmethod
    def size_in_bytes(
        cls, offset_delta: int, timestamp_delta: int, key: bytes | None, value: bytes | None, headers: Headers
    ) -> int:
        """Bytes that a record will take."""
        size = 1 + size_of_varint(offset_delta) + size_of_varint(timestamp_delta) + cls.size_of(key, value, headers)
        return size + size_of_varint(size)

    @classmethod
    def size_of(cls, key: bytes | None, value: bytes | None, headers: Headers) -> int:
        """Bytes of a record's key, value and headers with their lengths."""
        size = sum(1 if data is None else size_of_varint(len(data)) + len(data) for data in (key, value))
        size += size_of_varint(len(headers))
        for name, content in headers:
            encoded = len(name.encode("utf-8"))
            size += size_of_varint(encoded) + encoded
            size += 1 if content is None else size_of_varint(len(content)) + len(content)
        return size

    @classmethod
    def estimate_size_in_bytes(cls, key: bytes | None, value: bytes | None, headers: Headers) -> int:
        """At most so many bytes for a batch with one record."""
        return cls.HEADER_STRUCT.size + cls.MAX_RECORD_OVERHEAD + cls.size_of(key, value, headers)


def put(body: bytearray, data: Any) -> None:
    """Appends bytes with their length before them; -1 for None."""
    if data is None:
        encode_varint(-1, body.append)
        return
    encode_varint(len(data), body.append)
    body += data


def take(data: bytes | bytearray, at: int) -> tuple[bytes | None, int]:
    """Bytes with their length before them, and the position behind."""
    length, at = decode_varint(data, at)
    if length < 0:
        return None, at
    if at + length > len(data):
        raise IndexError("the record ends behind its batch")
    return bytes(data[at : at + length]), at + length
