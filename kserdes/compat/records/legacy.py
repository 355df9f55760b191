"""Messages of magic 0 and 1, alone or a set inside a compressed one: a builder and a reader.

Must not know clients: brokers of Kafka 4 take and give none, but logs written before Kafka 0.11 hold them.
Spec: https://kafka.apache.org/documentation/#messageset; KIP-31 (relative offsets), KIP-32 (timestamps).
"""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Final, NamedTuple

from kserdes.compat.kafka.errors import CorruptRecordError, UnsupportedCodecError
from kserdes.compat.records.codecs import CODECS
from kserdes.compat.records.util import calc_crc32

__all__ = [
    "LegacyRecord",
    "LegacyRecordBase",
    "LegacyRecordBatch",
    "LegacyRecordBatchBuilder",
    "LegacyRecordMetadata",
]

Buffer = bytes | bytearray | memoryview
BYTES: Final = (bytes, bytearray, memoryview)


class LegacyRecordBase:
    """The offsets of a message's fields, and the bits of its attributes."""

    HEADER_STRUCT_V0: ClassVar = struct.Struct(">qiIbb")
    HEADER_STRUCT_V1: ClassVar = struct.Struct(">qiIbbq")
    LOG_OVERHEAD: ClassVar = 12
    CRC_OFFSET: ClassVar = 12
    MAGIC_OFFSET: ClassVar = 16
    RECORD_OVERHEAD_V0: ClassVar = 14
    RECORD_OVERHEAD_V1: ClassVar = 22
    RECORD_OVERHEAD: ClassVar = MappingProxyType({0: RECORD_OVERHEAD_V0, 1: RECORD_OVERHEAD_V1})
    """By magic."""
    KEY_OFFSET_V0: ClassVar = HEADER_STRUCT_V0.size
    KEY_OFFSET_V1: ClassVar = HEADER_STRUCT_V1.size
    KEY_LENGTH: ClassVar = 4
    VALUE_LENGTH: ClassVar = 4
    CODEC_MASK: ClassVar = 0x07
    CODEC_NONE: ClassVar = 0
    CODEC_GZIP: ClassVar = 1
    CODEC_SNAPPY: ClassVar = 2
    CODEC_LZ4: ClassVar = 3
    TIMESTAMP_TYPE_MASK: ClassVar = 0x08
    LOG_APPEND_TIME: ClassVar = 1
    CREATE_TIME: ClassVar = 0
    NO_TIMESTAMP: ClassVar = -1

    unsupported: ClassVar[type[Exception]] = UnsupportedCodecError

    def _codec(self, number: int, magic: int) -> tuple[Any, Any]:
        """The two functions of a codec."""
        if number == self.CODEC_LZ4 and magic == 0:
            # KAFKA-3160: its frames had a wrong checksum of their header.
            raise self.unsupported("LZ4 is not supported in messages of magic 0")
        if number not in (self.CODEC_GZIP, self.CODEC_SNAPPY, self.CODEC_LZ4):
            raise self.unsupported(f"Unknown compression codec {number:#04x}")
        return CODECS[number]


@dataclass(frozen=True, slots=True)
class LegacyRecordMetadata:
    """The builder's answer about a message: its offset in the set, its checksum, size in bytes, and time in ms."""

    offset: int
    crc: int
    size: int
    timestamp: int


class LegacyRecord:
    """A message that was read."""

    def __init__(
        self,
        magic: int,
        offset: int,
        timestamp: int | None,
        timestamp_type: int | None,
        key: bytes | None,
        value: bytes | None,
        crc: int,
        crc_bytes: Buffer,
    ) -> None:
        self.magic = magic
        self.offset = offset
        self.timestamp = timestamp
        self.timestamp_type = timestamp_type
        self.key = key
        self.value = value
        self.crc = crc
        self._crc_bytes = crc_bytes

    @property
    def headers(self) -> list[tuple[str, bytes | None]]:
        """None in such messages."""
        return []

    @property
    def checksum(self) -> int:
        """CRC-32 as the message says."""
        return self.crc

    @property
    def size_in_bytes(self) -> int:
        """With its offset and length."""
        return LegacyRecordBatchBuilder.estimate_size_in_bytes(self.magic, 0, self.key, self.value)

    def validate_crc(self) -> bool:
        """Whether the checksum is right."""
        return calc_crc32(self._crc_bytes) == self.crc

    def __repr__(self) -> str:
        return (
            f"LegacyRecord(magic={self.magic!r} offset={self.offset!r}, timestamp={self.timestamp!r}, "
            f"timestamp_type={self.timestamp_type!r}, key={self.key!r}, value={self.value!r}, crc={self.crc!r})"
        )


class Message(NamedTuple):
    """A message as it is written, and where it begins and ends."""

    offset: int
    crc: int
    attributes: int
    timestamp: int | None
    key: bytes | None
    value: bytes | None
    start: int
    end: int


class LegacyRecordBatch(LegacyRecordBase):
    """One message, or a compressed one with a set inside.

    Args:
        buffer: the message from its offset on, with nothing behind it.
        magic: 0 or 1, as the message says.
    """

    corrupt: ClassVar[type[Exception]] = CorruptRecordError
    is_control_batch: ClassVar = False
    is_transactional: ClassVar = False
    producer_id: ClassVar[int | None] = None

    def __init__(self, buffer: Buffer, magic: int) -> None:
        self._buffer = bytes(buffer)
        self._magic = magic
        header = self.HEADER_STRUCT_V1 if magic else self.HEADER_STRUCT_V0
        self._offset, self._length, self._crc, written, self._attributes, *rest = header.unpack_from(self._buffer)
        self._timestamp: int | None = rest[0] if rest else None
        assert self._length == len(self._buffer) - self.LOG_OVERHEAD, "the buffer is not one message"
        assert written == magic, f"the message has magic {written}"

    @property
    def base_offset(self) -> int:
        """Of the message; of a set within, that of its last one."""
        return int(self._offset)

    @property
    def next_offset(self) -> int:
        """The offset at which the next message begins."""
        return int(self._offset) + 1

    @property
    def size_in_bytes(self) -> int:
        """Of the message with its offset and length."""
        return int(self._length) + self.LOG_OVERHEAD

    @property
    def timestamp_type(self) -> int | None:
        """0: of the producer, 1: of the broker; None with magic 0, which has no time."""
        return int(bool(self._attributes & self.TIMESTAMP_TYPE_MASK)) if self._magic else None

    @property
    def compression_type(self) -> int:
        """Number of the codec."""
        return int(self._attributes & self.CODEC_MASK)

    @property
    def magic(self) -> int:
        """0 or 1."""
        return self._magic

    def validate_crc(self) -> bool:
        """Whether the checksum is right."""
        return bool(calc_crc32(memoryview(self._buffer)[self.MAGIC_OFFSET :]) == self._crc)

    def __iter__(self) -> Iterator[LegacyRecord]:
        data, messages = self._messages()
        # KIP-31: within a set of magic 1 offsets begin with 0; the outer message has that of the last one.
        first = self._offset - messages[-1].offset if self._magic and self.compression_type else 0
        kind = self.timestamp_type
        for each in messages:
            covered = memoryview(data)[each.start + self.MAGIC_OFFSET : each.end]
            timestamp = self._timestamp if kind == self.LOG_APPEND_TIME else each.timestamp
            yield self._record(each, each.offset + max(0, first), timestamp, kind, covered)

    def _record(
        self, message: Message, offset: int, timestamp: int | None, kind: int | None, covered: memoryview
    ) -> LegacyRecord:
        return LegacyRecord(self._magic, offset, timestamp, kind, message.key, message.value, message.crc, covered)

    def _messages(self) -> tuple[bytes, list[Message]]:
        """The messages, and the bytes that they lie in."""
        outer = self._parse(self._buffer, 0)
        if not self.compression_type:
            return self._buffer, [outer]
        if outer.value is None:
            raise self.corrupt("Value of compressed message is None")
        data = self._codec(self.compression_type, self._magic)[1](outer.value)
        found: list[Message] = []
        at = 0
        while at < len(data):
            found.append(self._parse(data, at))
            assert not found[-1].attributes & self.CODEC_MASK, (
                f"MessageSet at offset {found[-1].offset} appears double-compressed. This should not happen -- check "
                "your producers!"
            )
            at = found[-1].end
        if not found:
            raise self.corrupt("A compressed message is empty")
        return data, found

    def _parse(self, data: bytes, start: int) -> Message:
        header = self.HEADER_STRUCT_V1 if self._magic else self.HEADER_STRUCT_V0
        try:
            offset, length, crc, _, attributes, *rest = header.unpack_from(data, start)
            end = start + self.LOG_OVERHEAD + length
            key, at = self._field(data, start + header.size, end)
            value, _ = self._field(data, at, end)
        except struct.error as error:
            raise self.corrupt(f"A message is cut off at {start}: {error}") from error
        return Message(offset, crc, attributes, rest[0] if rest else None, key, value, start, end)

    def _field(self, data: bytes, at: int, end: int) -> tuple[bytes | None, int]:
        """Bytes behind their length, and the position behind them."""
        (size,) = struct.unpack_from(">i", data, at)
        at += self.KEY_LENGTH
        if size == -1:
            return None, at
        if size < 0 or at + size > min(end, len(data)):
            raise self.corrupt(f"A message has a key or value of {size} bytes, {min(end, len(data)) - at} are left")
        return data[at : at + size], at + size


class LegacyRecordBatchBuilder(LegacyRecordBase):
    """Messages one behind the other, or one compressed message that holds them.

    Args:
        magic: 0 or 1.
        compression_type: number of the codec; 0 for none.
        batch_size: when it is full, in bytes before compression; the message with offset 0 always fits.
    """

    def __init__(self, magic: int, compression_type: int, batch_size: int) -> None:
        assert magic in (0, 1), "Not supported magic"
        self._magic = magic
        self._compression_type = compression_type
        self._batch_size = batch_size
        self._buffer = bytearray()

    def append(
        self, offset: int, timestamp: int | None, key: Any, value: Any, headers: Any = None
    ) -> LegacyRecordMetadata | None:
        """Adds a message; None if there is no room. Magic 0 has no time; without one it is now, in ms.

        Raises:
            TypeError: something is not of its type.
        """
        assert not headers, "Headers not supported in v0/v1"
        if type(offset) is not int:
            raise TypeError(offset)
        if self._magic == 0:
            timestamp = self.NO_TIMESTAMP
        elif timestamp is None:
            timestamp = int(time.time() * 1000)
        elif type(timestamp) is not int:
            raise TypeError(f"`timestamp` should be int, but {type(timestamp)} provided")
        for name, data in (("key", key), ("value", value)):
            if data is not None and not isinstance(data, BYTES):
                raise TypeError(f"Unsupported type for {name}: {type(data)}")
        size = self.size_in_bytes(offset, timestamp, key, value)
        if offset != 0 and len(self._buffer) + size >= self._batch_size:
            return None
        message, crc = self._message(offset, timestamp, key, value, 0)
        self._buffer += message
        return LegacyRecordMetadata(offset, crc, size, timestamp)

    def _message(self, offset: int, timestamp: int, key: Any, value: Any, attributes: int) -> tuple[bytes, int]:
        body = struct.pack(">bbq", 1, attributes, timestamp) if self._magic else struct.pack(">bb", 0, attributes)
        for data in (key, value):
            body += struct.pack(">i", -1) if data is None else struct.pack(">i", len(data)) + data
        crc = calc_crc32(body)
        return struct.pack(">qiI", offset, len(body) + 4, crc) + body, crc

    def build(self) -> bytearray:
        """The messages as they are sent.

        Raises:
            UnsupportedCodecError: messages of this magic can't be compressed so.
        """
        if self._compression_type:
            packed = self._codec(self._compression_type, self._magic)[0](bytes(self._buffer))
            self._buffer = bytearray(self._message(0, 0, None, packed, self._compression_type)[0])
        return self._buffer

    def size(self) -> int:
        """Bytes so far."""
        return len(self._buffer)

    def size_in_bytes(
        self, offset: int, timestamp: int | None, key: bytes | None, value: bytes | None, headers: Any = None
    ) -> int:
        """Bytes that a message will take."""
        assert not headers, "Headers not supported in v0/v1"
        return self.LOG_OVERHEAD + self.record_size(self._magic, key, value)

    @classmethod
    def record_size(cls, magic: int, key: bytes | None, value: bytes | None) -> int:
        """Bytes of a message without its offset and length."""
        return cls.record_overhead(magic) + sum(len(data) for data in (key, value) if data is not None)

    @classmethod
    def record_overhead(cls, magic: int) -> int:
        """Bytes of an empty message without its offset and length."""
        assert magic in (0, 1), "Not supported magic"
        return cls.RECORD_OVERHEAD_V1 if magic else cls.RECORD_OVERHEAD_V0

    @classmethod
    def estimate_size_in_bytes(cls, magic: int, compression_type: int, key: bytes | None, value: bytes | None) -> int:
        """At most so many bytes for one message; compressed, another one is around it."""
        size = cls.LOG_OVERHEAD + cls.record_size(magic, key, value)
        return size + cls.record_overhead(magic) if compression_type else size
