"""Stored batches: offsets, reading, times, epochs, retention."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_core.broker.partitions.log import EpochCache, PartitionLog
from tests.unit.kafka_core.broker.harness import batch, header_of


def append(log: PartitionLog, size: int = 1, *, timestamp_ms: int = 1, value: bytes = b"v", now_ms: int = 0) -> int:
    data = batch([value] * size, timestamps_ms=[timestamp_ms] * size)
    return log.append(memoryview(bytearray(data)), size, timestamp_ms, 3, now_ms)


def joined(log: PartitionLog, offset: int, max_bytes: int = 1 << 30, *, at_least_one: bool = False) -> bytes:
    read = log.read(offset, max_bytes, at_least_one=at_least_one)
    data = b"".join(read.chunks)
    assert len(data) == read.size_bytes
    return data


def base_offsets(data: bytes) -> list[int]:
    found = []
    while data:
        header = header_of(data)
        found.append(header["base_offset"])
        data = data[12 + header["size"] :]
    return found


def test_offsets_and_epoch_are_patched_into_the_stored_batch() -> None:
    log = PartitionLog()
    assert [append(log, 3), append(log, 1), append(log, 2)] == [0, 3, 4]
    assert (log.start_offset, log.end_offset, log.high_watermark, log.last_stable_offset) == (0, 6, 6, 6)
    data = joined(log, 0)
    assert base_offsets(data) == [0, 3, 4]
    assert header_of(data)["leader_epoch"] == 3


def test_a_read_starts_with_the_batch_that_holds_the_offset() -> None:
    log = PartitionLog()
    for _ in range(3):
        append(log, 3)
    assert base_offsets(joined(log, 4)) == [3, 6]
    assert joined(log, 9) == b""
    assert log.holds(9)
    assert not log.holds(10)
    assert not log.holds(-1)


def test_the_first_batch_may_be_larger_than_the_bound_if_one_is_wanted() -> None:
    log = PartitionLog()
    append(log, value=b"x" * 1000)
    append(log, value=b"x" * 10)
    assert joined(log, 0, 10) == b""
    assert base_offsets(joined(log, 0, 10, at_least_one=True)) == [0]
    assert base_offsets(joined(log, 1, 10, at_least_one=True)) == [1]


def test_small_batches_lie_side_by_side_and_large_writable_ones_are_not_copied() -> None:
    log = PartitionLog()
    for _ in range(50):
        append(log)
    assert len(log.read(0, 1 << 20, at_least_one=True).chunks) == 1
    large = memoryview(bytearray(batch([b"x" * 50_000])))
    log.append(large, 1, 1, 0, 0)
    chunk = log.read(50, 1 << 20, at_least_one=True).chunks[0]
    chunk[:8] = b"\x11" * 8
    assert bytes(large[:8]) == b"\x11" * 8


def test_a_large_batch_in_memory_of_others_is_copied() -> None:
    log = PartitionLog()
    data = batch([b"x" * 50_000])
    log.append(memoryview(data), 1, 1, 9, 0)
    assert header_of(joined(log, 0))["leader_epoch"] == 9
    assert header_of(data)["leader_epoch"] == -1


@given(
    sizes=st.lists(st.tuples(st.integers(1, 5), st.sampled_from([0, 50, 9000, 20_000])), min_size=1, max_size=20),
    bound=st.integers(1, 60_000),
    rolled=st.booleans(),
)
def test_reading_step_by_step_gives_every_batch_once(sizes: list[tuple[int, int]], bound: int, rolled: bool) -> None:
    log = PartitionLog()
    written = []
    for count, size_bytes in sizes:
        if rolled:
            log.roll(size_bytes, 0, segment_bytes=30_000, segment_ms=1 << 40)
        written.append(append(log, count, value=b"x" * size_bytes))
    seen: list[int] = []
    offset = 0
    while offset < log.end_offset:
        data = joined(log, offset, bound, at_least_one=True)
        seen += base_offsets(data)
        offset = seen[-1] + dict(zip(written, [count for count, _ in sizes], strict=True))[seen[-1]]
    assert seen == written
    assert [stored.base_offset for stored in log.batches()] == written


def test_available_bytes_are_counted_up_to_a_limit() -> None:
    log = PartitionLog()
    append(log)
    append(log, value=b"x" * 100)
    sizes = [len(stored.data) for stored in log.batches()]
    assert log.available_bytes(0, 1 << 20) == sum(sizes)
    assert log.available_bytes(1, 1 << 20) == sizes[1]
    assert log.available_bytes(0, 7) == 7
    assert log.available_bytes(2, 7) == 0


def test_batches_are_found_by_time() -> None:
    log = PartitionLog()
    for timestamp_ms in (10, 30, 20, 40):
        append(log, timestamp_ms=timestamp_ms)
    assert [stored.base_offset for stored in log.batches_at_time(25)] == [1, 3]
    assert list(log.batches_at_time(41)) == []
    assert log.max_timestamp_ms == 40
    assert PartitionLog().max_timestamp_ms == -1


def test_segments_roll_by_size_and_by_age() -> None:
    log = PartitionLog()
    size = len(batch([b"v"]))
    for now_ms in (0, 1, 2, 100):
        log.roll(size, now_ms, segment_bytes=2 * size, segment_ms=50)
        append(log, now_ms=now_ms)
    assert [segment.base_offset for segment in log.segments] == [0, 2, 3]


def segmented(count: int) -> PartitionLog:
    log = PartitionLog()
    for index in range(count):
        log.roll(1, 0, segment_bytes=1, segment_ms=1 << 40)
        append(log, timestamp_ms=index * 10)
    return log


def test_retention_by_size_drops_whole_segments_from_the_front() -> None:
    log = segmented(5)
    size = log.segments[0].size_bytes
    log.retain(0, retention_bytes=3 * size + 1, retention_ms=-1)
    assert (log.start_offset, len(log.segments)) == (1, 4)
    log.retain(0, retention_bytes=0, retention_ms=-1)
    assert (log.start_offset, len(log.segments)) == (4, 1)
    log.retain(0, retention_bytes=-1, retention_ms=-1)
    assert log.start_offset == 4


def test_retention_by_time_keeps_the_open_segment() -> None:
    log = segmented(4)
    log.retain(25, retention_bytes=-1, retention_ms=10)
    assert log.start_offset == 2
    log.retain(10_000, retention_bytes=-1, retention_ms=0)
    assert (log.start_offset, log.end_offset) == (3, 4)


def test_records_are_deleted_up_to_an_offset() -> None:
    log = segmented(4)
    log.delete_before(2)
    assert (log.start_offset, len(log.segments)) == (2, 2)
    log.delete_before(1)
    assert log.start_offset == 2
    log.delete_before(4)
    assert (log.start_offset, log.size_bytes) == (4, 0)
    assert append(log) == 4
    assert base_offsets(joined(log, 4)) == [4]


def test_a_start_inside_a_batch_hides_it_from_looks_by_time() -> None:
    log = PartitionLog()
    append(log, 5, timestamp_ms=50)
    append(log, 1, timestamp_ms=60)
    log.delete_before(3)
    assert base_offsets(joined(log, 3)) == [0, 5]
    log.delete_before(5)
    assert [stored.base_offset for stored in log.batches_at_time(0)] == [5]


@pytest.mark.parametrize(
    ("epoch", "expected"),
    [(-1, (-1, -1)), (0, (0, 10)), (1, (0, 10)), (2, (2, 20)), (3, (2, 20)), (5, (5, 30)), (6, (-1, -1))],
)
def test_ends_of_epochs(epoch: int, expected: tuple[int, int]) -> None:
    epochs = EpochCache()
    epochs.begin(0, 0)
    epochs.begin(2, 10)
    epochs.begin(5, 20)
    assert epochs.end_of(epoch, 30) == expected


def test_an_epoch_before_the_first_ends_where_the_first_begins() -> None:
    epochs = EpochCache()
    epochs.begin(3, 0)
    assert epochs.end_of(1, 9) == (1, 0)


def test_an_epoch_that_wrote_nothing_is_forgotten() -> None:
    epochs = EpochCache()
    assert (epochs.latest, epochs.epoch_at(0)) == (-1, -1)
    epochs.begin(0, 0)
    epochs.begin(1, 5)
    epochs.begin(2, 5)
    assert epochs.latest == 2
    assert [epochs.epoch_at(offset) for offset in (0, 4, 5)] == [0, 0, 2]
    assert epochs.end_of(1, 9) == (0, 5)


# ---- a log that loses its end


@given(st.lists(st.integers(1, 4), max_size=12), st.integers(0, 40), st.integers(0, 3))
def test_a_truncated_log_is_one_that_was_never_longer(sizes: list[int], offset: int, rolls: int) -> None:
    log, short = PartitionLog(), PartitionLog()
    for number, size in enumerate(sizes):
        if rolls and number % (rolls + 1) == rolls:
            log.roll(1, 10**9, 0, 0)
        if log.end_offset + size <= offset:
            append(short, size, timestamp_ms=number)
        append(log, size, timestamp_ms=number)
    before = joined(log, 0)
    log.truncate(offset)
    assert (log.start_offset, log.end_offset) == (0, short.end_offset)
    assert joined(log, 0) == joined(short, 0) == before[: log.size_bytes]
    assert log.max_timestamp_ms == short.max_timestamp_ms
    append(log, 2, value=b"after")
    append(short, 2, value=b"after")
    assert joined(log, 0) == joined(short, 0)


def test_a_reader_keeps_what_it_was_given_when_the_log_is_truncated_and_grows_again() -> None:
    log = PartitionLog()
    for number in range(4):
        append(log, value=b"%d" % number)
    read = log.read(0, 1 << 30, at_least_one=True)
    before = b"".join(read.chunks)
    log.truncate(1)
    for number in range(4):
        append(log, value=b"new %d" % number)
    assert b"".join(read.chunks) == before


def test_epochs_that_begin_behind_the_cut_are_forgotten() -> None:
    epochs = EpochCache()
    for epoch, start in ((0, 0), (2, 5), (3, 9)):
        epochs.begin(epoch, start)
    epochs.cut(5)
    epochs.begin(4, 5)
    assert (epochs.latest, epochs.end_of(2, 8), epochs.end_of(0, 8), epochs.end_of(4, 8)) == (4, (0, 5), (0, 5), (4, 8))
