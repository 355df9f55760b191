"""Batch: the records of one partition that go out together.

Must not know of queues, bounds or brokers.
Spec: https://kafka.apache.org/documentation/#recordbatch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kafka_core.errors import KafkaError
from kafka_core.kernels.abc import (
    HEADER_BYTES,
    TIMESTAMP_CREATE_TIME,
    TIMESTAMP_LOG_APPEND_TIME,
    TRANSACTIONAL_FLAG,
    Buffer,
    DeliveryCallback,
)
from kafka_core.kernels.pure.message import Message
from kafka_core.kernels.pure.record_batch import Record, decode_record, encode_record, seal_batch
from kafka_core.kernels.pure.varint import wrapped

RECORD_SPARE = 41
"""The most bytes of a record beside its key, value and headers: attributes, and every varint at its longest."""


class Batch:
    """Records of one partition, already encoded, with their callbacks.

    Attributes:
        partition: -1 for records of a topic that was never found.
        count: number of records.
        size_bytes: what it counts against the queue's bound: its records, without the header.
        opened_at_s: monotonic time of its first record.
        max_timestamp_ms: -1 while it is empty.
        has_callbacks: whether any of its records wants a report.
    """

    def __init__(self, topic: str, partition: int, limit_bytes: int, opened_at_s: float) -> None:
        self.topic = topic
        self.partition = partition
        self.opened_at_s = opened_at_s
        self.count = 0
        self.size_bytes = 0
        self.max_timestamp_ms = -1
        self.has_callbacks = False
        self._limit_bytes = limit_bytes
        self._records = bytearray()
        self._base_timestamp_ms = 0
        self._callbacks: list[DeliveryCallback | None] = []

    def has_room(self, key: bytes | None, value: bytes | None, header_section: bytes, max_records: int) -> bool:
        """Whether the record may still go in; the first one always may."""
        payload = len(key or b"") + len(value or b"") + len(header_section)
        need = HEADER_BYTES + len(self._records) + payload + RECORD_SPARE
        return self.count == 0 or (need <= self._limit_bytes and self.count < max_records)

    def append(
        self,
        key: bytes | None,
        value: bytes | None,
        callback: DeliveryCallback | None,
        timestamp_ms: int,
        header_section: bytes,
    ) -> int:
        """Adds a record; gives back its size in bytes."""
        if self.count == 0:
            self._base_timestamp_ms = timestamp_ms
        record = encode_record(self.count, wrapped(timestamp_ms - self._base_timestamp_ms), key, value, header_section)
        self._records += record
        self._callbacks.append(callback)
        self.count += 1
        self.size_bytes += len(record)
        self.max_timestamp_ms = max(self.max_timestamp_ms, timestamp_ms)
        self.has_callbacks = self.has_callbacks or callback is not None
        return len(record)

    def encode(
        self,
        *,
        codec_id: int = 0,
        compress: Callable[[memoryview], Buffer] | None = None,
        producer_id: int = -1,
        producer_epoch: int = -1,
        base_sequence: int = -1,
        transactional: bool = False,
    ) -> Buffer:
        """The whole v2 batch as one buffer; may be called again with other ids once the first result is not in use.

        Records that the codec makes no smaller are left as they are.

        Args:
            codec_id: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd.
            compress: called with a view of the records; needed with a codec.

        Raises:
            TypeError: a codec without `compress`.
        """
        records: Buffer = self._records
        if codec_id:
            if compress is None:
                raise TypeError(f"codec {codec_id} needs a compress function")
            packed = compress(memoryview(self._records).toreadonly())
            if len(packed) < len(records):
                records = packed
            else:
                codec_id = 0
        return seal_batch(
            records,
            count=self.count,
            base_timestamp_ms=self._base_timestamp_ms,
            max_timestamp_ms=self.max_timestamp_ms,
            attributes=codec_id | (TRANSACTIONAL_FLAG if transactional else 0),
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            base_sequence=base_sequence,
        )

    def reports(
        self,
        error: KafkaError | None,
        base_offset: int,
        log_append_time_ms: int = -1,
        latency_s: float | None = None,
    ) -> list[tuple[DeliveryCallback | None, Message]]:
        """(callback or None, Message) for every record, in order: what poll() hands to the application.

        Args:
            error: why they were not delivered.
            base_offset: of the first record; -1: unknown.
            log_append_time_ms: the broker's time if the topic is configured for it, else -1.
            latency_s: from produce() to the acknowledgement.
        """
        found: list[tuple[DeliveryCallback | None, Message]] = []
        for index, record in enumerate(self._walk()):
            timestamp = (TIMESTAMP_CREATE_TIME, wrapped(self._base_timestamp_ms + record.timestamp_delta_ms))
            if log_append_time_ms >= 0:
                timestamp = (TIMESTAMP_LOG_APPEND_TIME, log_append_time_ms)
            message = Message(
                self.topic,
                self.partition,
                base_offset + index if base_offset >= 0 else None,
                record.key,
                record.value,
                [(name.decode(), value) for name, value in record.headers] or None,
                error,
                timestamp,
                latency_s,
            )
            found.append((self._callbacks[index], message))
        return found

    def split(self) -> list[Batch]:
        """Two batches with the first and the second half of the records; together they count as much as this one.

        Raises:
            ValueError: there is one record only.
        """
        if self.count < 2:
            raise ValueError("a batch of one record can't be split")
        middle = self.count // 2
        halves = [Batch(self.topic, self.partition, self._limit_bytes, self.opened_at_s) for _ in range(2)]
        for index, record in enumerate(self._walk()):
            timestamp_ms = wrapped(self._base_timestamp_ms + record.timestamp_delta_ms)
            halves[index >= middle].append(
                record.key, record.value, self._callbacks[index], timestamp_ms, record.header_section
            )
        # Numbered from 0 again, the second half may be a few bytes shorter; those were counted, too.
        halves[1].size_bytes = self.size_bytes - halves[0].size_bytes
        return halves

    def _walk(self) -> Iterator[Record]:
        data = bytes(self._records)
        position = 0
        while position < len(data):
            record = decode_record(data, position, len(data))
            assert record is not None, "a batch of our own making is corrupt"
            position += record.size_bytes
            yield record
