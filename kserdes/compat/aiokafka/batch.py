"""A batch that an application fills itself: `create_batch` and `send_batch` of the producer.

Must not know the producer. Sizes are those of a v2 record batch, so that it is full after as many records as aiokafka's
would be. Spec: https://kafka.apache.org/documentation/#recordbatch.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

__all__ = ["BatchBuilder", "BatchedRecord"]

HEADER_BYTES: Final = 61

Serializer = Callable[[Any], Any]
Headers = Sequence[tuple[str, bytes | None]]


class BatchedRecord(NamedTuple):
    """The answer of `append` about a record: its number in the batch, its size, its time in ms."""

    offset: int
    size: int
    timestamp: int
    crc: None = None


class QueuedRecord(NamedTuple):
    """A record as it is kept until the batch is sent."""

    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Headers


class BatchBuilder:
    """Records for one partition, sent together.

    Args:
        batch_size: when it is full, bytes before compression; the first record always fits.
        compression_type: the producer's, which compresses when the batch is sent.
        is_transactional: the producer's.
    """

    def __init__(
        self,
        batch_size: int,
        compression_type: str | None,
        *,
        is_transactional: bool = False,
        key_serializer: Serializer | None = None,
        value_serializer: Serializer | None = None,
    ) -> None:
        self._limit = batch_size
        self._key_serializer = key_serializer
        self._value_serializer = value_serializer
        self._size = HEADER_BYTES
        self._first_ms = 0
        self._closed = False
        self.records: list[QueuedRecord] = []

    def append(self, *, timestamp: float | None, key: Any, value: Any, headers: Headers = ()) -> BatchedRecord | None:
        """Adds a record; None if the batch is closed or full (then it is closed).

        Args:
            timestamp: ms since 1970; None: now.
        """
        if self._closed:
            return None
        key_bytes = key if self._key_serializer is None else self._key_serializer(key)
        value_bytes = value if self._value_serializer is None else self._value_serializer(value)
        for part in (key_bytes, value_bytes):
            if part is not None and not isinstance(part, bytes | bytearray | memoryview):
                raise TypeError(f"a bytes-like object is required, not {type(part).__name__!r}")
        time_ms = int(time.time() * 1000) if timestamp is None else int(timestamp)
        first_ms = self._first_ms if self.records else time_ms
        size = record_bytes(len(self.records), time_ms - first_ms, key_bytes, value_bytes, headers)
        if self.records and self._size + size > self._limit:
            self._closed = True
            return None
        self._first_ms = first_ms
        self._size += size
        self.records.append(QueuedRecord(time_ms, key_bytes, value_bytes, headers))
        return BatchedRecord(len(self.records) - 1, size, time_ms)

    def close(self) -> None:
        """Takes no more records."""
        self._closed = True

    def closed(self) -> bool:
        """Whether it takes no more records."""
        return self._closed

    def size(self) -> int:
        """Bytes before compression."""
        return self._size

    def record_count(self) -> int:
        """The number of records."""
        return len(self.records)


def record_bytes(number: int, delta_ms: int, key: bytes | None, value: bytes | None, headers: Headers) -> int:
    """The size of a record in a v2 batch."""
    size = 1 + varint_bytes(delta_ms) + varint_bytes(number) + text_bytes(key) + text_bytes(value)
    size += varint_bytes(len(headers))
    for name, content in headers:
        size += text_bytes(name.encode()) + text_bytes(content)
    return size + varint_bytes(size)


def text_bytes(text: bytes | None) -> int:
    """The size of bytes with their length before them; -1 stands for None."""
    return 1 if text is None else varint_bytes(len(text)) + len(text)


def varint_bytes(number: int) -> int:
    """The size of a zigzag varint."""
    zigzag = (number << 1) ^ (number >> 63)
    return max(1, (zigzag.bit_length() + 6) // 7)
