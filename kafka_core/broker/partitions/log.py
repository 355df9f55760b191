"""The records of one partition: segments of raw batch bytes in memory, found by offset and by time.

Must not know: topics, leaders, producers, requests. It patches base offset and leader epoch into a batch (the CRC does
not cover them) and never decodes records. Spec: https://kafka.apache.org/documentation/#recordbatch, KIP-101 (epochs).
"""

from __future__ import annotations

import struct
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

_OFFSET = struct.Struct(">q")
_EPOCH = struct.Struct(">i")
_EPOCH_POSITION = 12
_FIRST_BLOCK_BYTES = 16 * 1024
_MAX_BLOCK_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class LogBatch:
    """The place and times of one stored batch. `data` is a view of the stored bytes (header included)."""

    base_offset: int
    last_offset: int
    max_timestamp_ms: int
    data: memoryview


@dataclass(frozen=True, slots=True)
class LogRead:
    """Whole batches in offset order, as views of the stored bytes: nothing is copied."""

    chunks: list[memoryview]
    size_bytes: int


@dataclass(slots=True)
class Block:
    """A stretch of batches side by side in one buffer; `start` is its position in the segment."""

    start: int
    data: memoryview
    used_bytes: int


@dataclass(slots=True)
class Segment:
    """A run of batches that retention keeps or drops as one. The lists run in step, one entry per batch."""

    base_offset: int
    created_ms: int
    base_offsets: list[int] = field(default_factory=list)
    last_offsets: list[int] = field(default_factory=list)
    max_timestamps_ms: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    max_timestamp_ms: int = -1

    @property
    def size_bytes(self) -> int:
        """Bytes of all batches."""
        return self.ends[-1] if self.ends else 0

    def start_of(self, index: int) -> int:
        """Position in the segment of the batch `index`."""
        return self.ends[index - 1] if index else 0

    def add(self, base_offset: int, last_offset: int, max_timestamp_ms: int, data: memoryview) -> memoryview:
        """Store a batch and return the view of the stored bytes, which the caller may still patch.

        A small batch is copied into a shared block, so that a fetch of many small batches is one slice; a large one in
        a buffer we own (writable) is kept as it is, without a copy.
        """
        stored = self._store(data)
        self.base_offsets.append(base_offset)
        self.last_offsets.append(last_offset)
        self.max_timestamps_ms.append(max_timestamp_ms)
        self.ends.append(self.size_bytes + len(data))
        self.max_timestamp_ms = max(self.max_timestamp_ms, max_timestamp_ms)
        return stored

    def _store(self, data: memoryview) -> memoryview:
        size_bytes = len(data)
        if size_bytes >= _FIRST_BLOCK_BYTES and not data.readonly:
            self.blocks.append(Block(self.size_bytes, data, size_bytes))
            return data
        block = self.blocks[-1] if self.blocks else None
        if block is None or len(block.data) - block.used_bytes < size_bytes:
            room = min(_MAX_BLOCK_BYTES, max(_FIRST_BLOCK_BYTES, self.size_bytes))
            block = Block(self.size_bytes, memoryview(bytearray(max(room, size_bytes))), 0)
            self.blocks.append(block)
        stored = block.data[block.used_bytes : block.used_bytes + size_bytes]
        stored[:] = data
        block.used_bytes += size_bytes
        return stored

    def cut(self, count: int) -> None:
        """Keep the first `count` batches. The room behind them is not used again: readers may still look at it."""
        end = self.start_of(count)
        for entries in (self.base_offsets, self.last_offsets, self.max_timestamps_ms, self.ends):
            del entries[count:]
        self.blocks = [block for block in self.blocks if block.start < end]
        if self.blocks:
            last = self.blocks[-1]
            last.used_bytes = min(last.used_bytes, end - last.start)
            last.data = last.data[: last.used_bytes]
        self.max_timestamp_ms = max(self.max_timestamps_ms, default=-1)

    def slices(self, start: int, end: int) -> Iterator[memoryview]:
        """Views of the positions `start` to `end`, one per block they touch."""
        index = bisect_right(self.blocks, start, key=lambda block: block.start) - 1
        while start < end:
            block = self.blocks[index]
            stop = min(end, block.start + block.used_bytes)
            yield block.data[start - block.start : stop - block.start]
            start = stop
            index += 1

    def batch(self, index: int) -> LogBatch:
        """The batch `index`."""
        (data,) = self.slices(self.start_of(index), self.ends[index])
        return LogBatch(self.base_offsets[index], self.last_offsets[index], self.max_timestamps_ms[index], data)


class EpochCache:
    """The start offsets of leader epochs (KIP-101)."""

    def __init__(self) -> None:
        self._entries: list[tuple[int, int]] = []

    def begin(self, epoch: int, start_offset: int) -> None:
        """A leader took over; an epoch that wrote nothing is forgotten."""
        while self._entries and self._entries[-1][1] >= start_offset:
            self._entries.pop()
        self._entries.append((epoch, start_offset))

    def cut(self, end_offset: int) -> None:
        """The log ends here now: epochs that begin later never were."""
        self._entries = [entry for entry in self._entries if entry[1] < end_offset]

    @property
    def latest(self) -> int:
        """The newest epoch, -1 before any."""
        return self._entries[-1][0] if self._entries else -1

    def end_of(self, epoch: int, end_offset: int) -> tuple[int, int]:
        """(largest epoch <= `epoch`, its end offset); (-1, -1) when it is unknown. As `endOffsetFor` of the broker."""
        if epoch == self.latest:
            return epoch, end_offset
        index = bisect_right(self._entries, epoch, key=lambda entry: entry[0])
        if epoch < 0 or index == len(self._entries):
            return -1, -1
        floor_epoch = self._entries[index - 1][0] if index else epoch
        return floor_epoch, self._entries[index][1]

    def epoch_at(self, offset: int) -> int:
        """The epoch that wrote `offset`, -1 when unknown."""
        index = bisect_right(self._entries, offset, key=lambda entry: entry[1])
        return self._entries[index - 1][0] if index else -1


@dataclass(frozen=True, slots=True)
class AbortedRange:
    """The beginning of a producer's aborted transaction, and the place of its marker."""

    producer_id: int
    first_offset: int
    marker_offset: int


class PartitionLog:
    """Append-only batches of one partition. Every copy is in sync at once: the high watermark is the end offset.

    Attributes:
        open_transactions: producer id → offset of the first batch of its open transaction.
    """

    def __init__(self) -> None:
        self.start_offset = 0
        self.end_offset = 0
        self.epochs = EpochCache()
        self.segments: list[Segment] = []
        self.open_transactions: dict[int, int] = {}
        self._aborted: list[AbortedRange] = []

    @property
    def high_watermark(self) -> int:
        """First offset consumers can't see."""
        return self.end_offset

    @property
    def last_stable_offset(self) -> int:
        """First offset of an open transaction; as long as there are none, the high watermark."""
        return min(self.open_transactions.values(), default=self.high_watermark)

    @property
    def size_bytes(self) -> int:
        """Bytes of all segments."""
        return sum(segment.size_bytes for segment in self.segments)

    def aborted_transactions(self, start_offset: int, end_offset: int) -> list[tuple[int, int]]:
        """(producer id, first offset) of aborted transactions that overlap the range."""
        return [
            (item.producer_id, item.first_offset)
            for item in self._aborted
            if item.marker_offset >= start_offset and item.first_offset < end_offset
        ]

    def was_aborted(self, producer_id: int, offset: int) -> bool:
        """Whether what a producer wrote there belongs to an aborted transaction."""
        return any(
            item.producer_id == producer_id and item.first_offset <= offset <= item.marker_offset
            for item in self._aborted
        )

    def transaction_wrote(self, producer_id: int, base_offset: int) -> None:
        """A transactional batch was stored there."""
        self.open_transactions.setdefault(producer_id, base_offset)

    def transaction_ended(self, producer_id: int, marker_offset: int, *, commit: bool) -> None:
        """The marker of a transaction was stored there."""
        first_offset = self.open_transactions.pop(producer_id, None)
        if first_offset is not None and not commit:
            self._aborted.append(AbortedRange(producer_id, first_offset, marker_offset))

    def append(self, data: memoryview, count: int, max_timestamp_ms: int, leader_epoch: int, now_ms: int) -> int:
        """Store one whole v2 batch of `count` offsets and return its base offset.

        Args:
            data: the batch, header included. If it is writable the log may keep it and owns it from then on.
            count: offsets the batch covers (last offset delta + 1).
            max_timestamp_ms: the largest timestamp in it.
            leader_epoch: patched into the header with the base offset.
            now_ms: wall clock, for segments rolled by age.
        """
        base_offset = self.end_offset
        last_offset = base_offset + count - 1
        if not self.segments:
            self.segments.append(Segment(base_offset, now_ms))
        stored = self.segments[-1].add(base_offset, last_offset, max_timestamp_ms, data)
        _OFFSET.pack_into(stored, 0, base_offset)
        _EPOCH.pack_into(stored, _EPOCH_POSITION, leader_epoch)
        self.end_offset = last_offset + 1
        return base_offset

    def read(self, offset: int, max_bytes: int, *, at_least_one: bool, end_offset: int | None = None) -> LogRead:
        """Whole batches from the one that holds `offset` on, up to `max_bytes`, that begin before `end_offset`.

        `at_least_one` returns the first batch whatever its size (KIP-74). `offset` must lie in the log (see
        `holds`); at the end offset the result is empty.
        """
        chunks: list[memoryview] = []
        left = max_bytes
        for segment, index in self._from(offset):
            start = segment.start_of(index)
            stop = bisect_right(segment.ends, start + left, index)
            if stop == index and at_least_one and not chunks:
                stop = index + 1
            if end_offset is not None:
                stop = min(stop, bisect_left(segment.base_offsets, end_offset))
            if stop > index:
                chunks.extend(segment.slices(start, segment.ends[stop - 1]))
                left -= segment.ends[stop - 1] - start
            if stop < len(segment.ends):
                break
        return LogRead(chunks, max_bytes - left)

    def available_bytes(self, offset: int, limit: int, end_offset: int | None = None) -> int:
        """Bytes a reader at `offset` could get (of batches before `end_offset`), counted up to about `limit`."""
        total = 0
        for segment, index in self._from(offset):
            last = len(segment.ends) if end_offset is None else bisect_left(segment.base_offsets, end_offset)
            if last <= index:
                break
            total += segment.ends[last - 1] - segment.start_of(index)
            if total >= limit:
                break
        return min(total, limit)

    def holds(self, offset: int) -> bool:
        """Whether a fetch at `offset` is in range (the end offset is)."""
        return self.start_offset <= offset <= self.end_offset

    def batches(self, offset: int = 0) -> Iterator[LogBatch]:
        """All stored batches from the one that holds `offset` on."""
        for segment, first in self._from(max(offset, self.start_offset)):
            for index in range(first, len(segment.ends)):
                yield segment.batch(index)

    def batches_at_time(self, timestamp_ms: int) -> Iterator[LogBatch]:
        """Batches whose max timestamp is `timestamp_ms` or later, in offset order."""
        for segment in self.segments:
            if segment.max_timestamp_ms >= timestamp_ms:
                for index, newest_ms in enumerate(segment.max_timestamps_ms):
                    if newest_ms >= timestamp_ms and segment.last_offsets[index] >= self.start_offset:
                        yield segment.batch(index)

    @property
    def max_timestamp_ms(self) -> int:
        """The largest timestamp of all batches that are kept, -1 when there are none."""
        return max((segment.max_timestamp_ms for segment in self.segments), default=-1)

    def roll(self, next_batch_bytes: int, now_ms: int, segment_bytes: int, segment_ms: int) -> None:
        """Open a new segment when the batch to come does not fit any more or the open one is too old."""
        if not self.segments or not self.segments[-1].ends:
            return
        active = self.segments[-1]
        if active.size_bytes + next_batch_bytes > segment_bytes or now_ms - active.created_ms >= segment_ms:
            self.segments.append(Segment(self.end_offset, now_ms))

    def retain(self, now_ms: int, retention_bytes: int, retention_ms: int) -> None:
        """Drop closed segments that are too old or too much; -1 means no bound. The open segment always stays."""
        surplus = self.size_bytes - retention_bytes if retention_bytes >= 0 else 0
        while len(self.segments) > 1:
            oldest = self.segments[0]
            expired = 0 <= retention_ms < now_ms - oldest.max_timestamp_ms
            if not expired and (retention_bytes < 0 or surplus < oldest.size_bytes):
                break
            surplus -= oldest.size_bytes
            del self.segments[0]
            self.start_offset = max(self.start_offset, self.segments[0].base_offset)

    def delete_before(self, offset: int) -> None:
        """Move the start to `offset` (DeleteRecords) and free the segments that lie wholly before it."""
        self.start_offset = max(self.start_offset, offset)
        while self.segments and self.segments[0].ends and self.segments[0].last_offsets[-1] < offset:
            del self.segments[0]

    def truncate(self, offset: int) -> None:
        """Forget all batches that end behind `offset`, their epochs, and every transaction: the log must be read anew.

        Whole batches go, so the log may end before `offset`.
        """
        while self.segments:
            segment = self.segments[-1]
            kept = bisect_left(segment.last_offsets, offset)
            if kept < len(segment.ends):
                self.end_offset = segment.base_offsets[kept]
                segment.cut(kept)
            if segment.ends:
                break
            del self.segments[-1]
        self.start_offset = min(self.start_offset, self.end_offset)
        self.epochs.cut(self.end_offset)
        self.open_transactions.clear()
        self._aborted.clear()

    def _from(self, offset: int) -> Iterator[tuple[Segment, int]]:
        """Segments from `offset` on, each with the index of the first batch to read."""
        first = max(bisect_right(self.segments, offset, key=lambda segment: segment.base_offset) - 1, 0)
        for position in range(first, len(self.segments)):
            segment = self.segments[position]
            index = bisect_left(segment.last_offsets, offset)
            if index < len(segment.ends):
                yield segment, index
