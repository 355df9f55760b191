"""Several batches one behind the other: what a response holds, and what a producer fills.

Must not know clients.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import ClassVar

from kserdes.compat.kafka.errors import IllegalStateError, UnsupportedVersionError
from kserdes.compat.records.default import (
    DefaultRecordBatch,
    DefaultRecordBatchBuilder,
    DefaultRecordMetadata,
    Headers,
)
from kserdes.compat.records.legacy import LegacyRecordBatch, LegacyRecordBatchBuilder, LegacyRecordMetadata

__all__ = ["MemoryRecords", "MemoryRecordsBuilder"]

Batch = DefaultRecordBatch | LegacyRecordBatch

SMALLEST = 14


class MemoryRecords:
    """Batches in a buffer; what is cut off at its end does not count.

    Args:
        bytes_data: batches as a broker sends them.
    """

    LENGTH_OFFSET: ClassVar = 8
    LOG_OVERHEAD: ClassVar = 12
    MAGIC_OFFSET: ClassVar = 16
    MIN_SLICE: ClassVar = 26
    batch: ClassVar[type[DefaultRecordBatch]] = DefaultRecordBatch
    legacy: ClassVar[type[LegacyRecordBatch]] = LegacyRecordBatch

    def __init__(self, bytes_data: bytes | bytearray | memoryview) -> None:
        self._buffer = bytes(bytes_data)
        self._at = 0
        self._next: bytes | None = None
        self._advance()

    def _advance(self) -> None:
        left = len(self._buffer) - self._at
        if left < self.LOG_OVERHEAD:
            self._next = None
            return
        (length,) = struct.unpack_from(">i", self._buffer, self._at + self.LENGTH_OFFSET)
        end = self._at + self.LOG_OVERHEAD + length
        if length < 0 or end > len(self._buffer):
            self._next = None
            return
        self._next = self._buffer[self._at : end]
        self._at = end

    def size_in_bytes(self) -> int:
        """Bytes of the buffer."""
        return len(self._buffer)

    def valid_bytes(self) -> int:
        """Bytes of whole batches."""
        at = 0
        while at + self.LOG_OVERHEAD <= len(self._buffer):
            (length,) = struct.unpack_from(">i", self._buffer, at + self.LENGTH_OFFSET)
            if length < 0 or at + self.LOG_OVERHEAD + length > len(self._buffer):
                break
            at += self.LOG_OVERHEAD + length
        return at

    def has_next(self) -> bool:
        """Whether there is another batch."""
        return self._next is not None

    def next_batch(self) -> Batch | None:
        """The next batch, or message of magic 0 or 1; None at the end.

        Raises:
            CorruptRecordError: it is shorter than any message.
        """
        data = self._next
        if data is None:
            return None
        if len(data) < self.MIN_SLICE:
            raise self.batch.corrupt(f"Record size is less than the minimum record overhead ({SMALLEST})")
        self._advance()
        magic = data[self.MAGIC_OFFSET]
        return self.batch(data) if magic >= 2 else self.legacy(data, magic)

    def __iter__(self) -> Iterator[Batch]:
        return self

    def __next__(self) -> Batch:
        found = self.next_batch()
        if found is None:
            raise StopIteration
        return found

    next = __next__


class MemoryRecordsBuilder:
    """One batch that is filled and closed, as a producer does.

    Args:
        magic: 2; 0 and 1 make messages as before Kafka 0.11.
        compression_type: number of the codec.
        batch_size: when it is full, bytes before compression.
        offset: of the first record in the batch.
        transactional: whether it belongs to a transaction.
        producer_id, producer_epoch, base_sequence: -1 without.

    Raises:
        AssertionError: an unknown magic or codec, or half an identity of a producer.
    """

    def __init__(
        self,
        magic: int,
        compression_type: int,
        batch_size: int,
        offset: int = 0,
        transactional: bool = False,
        producer_id: int = -1,
        producer_epoch: int = -1,
        base_sequence: int = -1,
    ) -> None:
        assert magic in (0, 1, 2), "Not supported magic"
        assert compression_type in (0, 1, 2, 3, 4), "Not valid compression type"
        self._builder: DefaultRecordBatchBuilder | LegacyRecordBatchBuilder
        if magic < 2:
            assert not transactional, f"messages of magic {magic} are in no transaction"
            assert producer_id == -1, f"messages of magic {magic} name no producer"
            self._builder = LegacyRecordBatchBuilder(magic, compression_type, batch_size)
        else:
            assert not transactional or producer_id != -1, "transactions need a producer id"
            assert producer_id == -1 or producer_epoch != -1, "a producer id needs an epoch"
            assert producer_id == -1 or base_sequence != -1, "a producer id needs a sequence number"
            self._builder = DefaultRecordBatchBuilder(
                magic, compression_type, transactional, producer_id, producer_epoch, base_sequence, batch_size
            )
        self._batch_size = batch_size
        self._next_offset = offset
        self._closed = False
        self._buffer: bytearray | None = None
        self._written = 0

    @property
    def producer_id(self) -> int | None:
        """Of the batch; -1 without, None for magic 0 and 1."""
        return self._builder.producer_id if isinstance(self._builder, DefaultRecordBatchBuilder) else None

    @property
    def producer_epoch(self) -> int | None:
        """Of the batch; -1 without, None for magic 0 and 1."""
        return self._builder.producer_epoch if isinstance(self._builder, DefaultRecordBatchBuilder) else None

    @property
    def base_sequence(self) -> int | None:
        """Of the batch; -1 without, None for magic 0 and 1."""
        return self._builder.base_sequence if isinstance(self._builder, DefaultRecordBatchBuilder) else None

    def skip(self, offsets_to_skip: int) -> None:
        """Leaves offsets out."""
        self._next_offset += offsets_to_skip

    def append(
        self, timestamp: int | None, key: bytes | None, value: bytes | None, headers: Headers | None = None
    ) -> DefaultRecordMetadata | LegacyRecordMetadata | None:
        """Adds a record; None if the batch is full or closed."""
        if self._closed:
            return None
        added = self._builder.append(self._next_offset, timestamp, key, value, headers or [])
        if added is not None:
            self._next_offset += 1
        return added

    def set_producer_state(
        self, producer_id: int, producer_epoch: int, base_sequence: int, is_transactional: bool
    ) -> None:
        """Says who sends the batch.

        Raises:
            UnsupportedVersionError: messages of magic 0 and 1 name no producer.
            IllegalStateError: it is closed.
        """
        if isinstance(self._builder, LegacyRecordBatchBuilder):
            raise UnsupportedVersionError("Producer State requires Message format v2+")
        if self._closed:
            raise IllegalStateError("Trying to set producer state of a closed batch")
        self._builder.set_producer_state(producer_id, producer_epoch, base_sequence, is_transactional)

    def close(self) -> None:
        """Builds the batch; may be called again."""
        if not self._closed:
            self._written = self._builder.size()
            self._buffer = self._builder.build()
            self._closed = True

    def size_in_bytes(self) -> int:
        """Bytes so far, or of the batch as it is sent."""
        return self._builder.size() if self._buffer is None else len(self._buffer)

    def compression_rate(self) -> float:
        """Size of the batch as it is sent, as a part of what was written."""
        assert self._closed, "the batch is open"
        return self.size_in_bytes() / self._written

    def is_full(self) -> bool:
        """Whether it is closed, or has no more room."""
        return self._closed or self._builder.size() >= self._batch_size

    def next_offset(self) -> int:
        """Of the next record in the batch."""
        return self._next_offset

    def buffer(self) -> bytearray:
        """The batch as it is sent; only when it is closed."""
        assert self._buffer is not None, "the batch is open"
        return self._buffer

    def records(self) -> MemoryRecords:
        """The batch for reading; only when it is closed."""
        return MemoryRecords(self.buffer())
