"""Batches in a records buffer and the records in them, in bytes that Kafka wrote and in damaged ones."""

from __future__ import annotations

import struct
from types import ModuleType
from typing import Any

import pytest

from kafka_core.errors import CorruptRecordError
from kafka_core.kernels.abc import BatchHeader
from kafka_core.kernels.pure.record_batch import encode_record, seal_batch
from kafka_core.records import NewRecord, build_batch
from tests.strategies.records import plain

BY_KAFKA = bytes.fromhex(  # a group's first batch in __consumer_offsets, written by Kafka 4.3.1
    "00000000000000000000005f0000000002d488cd0d000000000000000001a1fc8b5ae2000001a1fc8b5ae2ffffffffffffffffffff"
    "00000000000000015a0000001e0002000b6731643039623531332d35300003000000000000ffffffff000001a1fc8b5ae20000000000"
)


def cursor(kernels: ModuleType, batch: bytes, from_offset: int = 0) -> Any:
    (header,) = kernels.scan_batches(batch)
    return kernels.RecordCursor(batch, header.payload_position, len(batch), header, "t", 1, from_offset)


def records_cursor(kernels: ModuleType, records: bytes, count: int, from_offset: int = 0) -> Any:
    return cursor(
        kernels, bytes(seal_batch(records, count=count, base_timestamp_ms=1, max_timestamp_ms=1)), from_offset
    )


def abc_batch(**options: Any) -> bytes:
    return build_batch([NewRecord(value) for value in (b"a", b"b", b"c")], base_offset=10, **options)


def test_a_batch_by_kafka(kernels: ModuleType) -> None:
    (header,) = kernels.scan_batches(BY_KAFKA)
    assert header == BatchHeader(
        0, 107, 2, 0, 0, 0, 1795238353634, 1795238353634, -1, -1, 0, 1, 0, 61
    )  # fmt: skip
    assert isinstance(header, BatchHeader)
    message = cursor(kernels, BY_KAFKA).next()
    assert message.key() == b"\x00\x02\x00\x0bg1d09b513-5"
    assert message.value()[:4] == b"\x00\x03\x00\x00"
    assert plain(message)[5:] == (None, None, (1, 1795238353634), None, 0, 24)


def test_batches_one_after_the_other(kernels: ModuleType) -> None:
    buffer = b"junk" + abc_batch(producer_id=5, producer_epoch=6, base_sequence=7) + BY_KAFKA
    first, second = kernels.scan_batches(buffer, 4)
    assert (first.position, first.base_offset, first.last_offset_delta, first.count) == (4, 10, 2, 3)
    assert (first.producer_id, first.producer_epoch, first.base_sequence) == (5, 6, 7)
    assert second.position == 4 + first.size_bytes
    assert second.payload_position == second.position + 61
    assert kernels.scan_batches(memoryview(buffer), 4, 4 + first.size_bytes) == [first]


@pytest.mark.parametrize("missing", [1, 40, 90, 91, 106, 107])
def test_an_incomplete_batch_ends_the_walk(kernels: ModuleType, missing: int) -> None:
    whole = abc_batch()
    assert len(kernels.scan_batches(whole + BY_KAFKA[: len(BY_KAFKA) - missing])) == 1
    assert kernels.scan_batches(b"") == []


def patched(position: int, layout: str, value: int) -> bytes:
    batch = bytearray(abc_batch())
    struct.pack_into(layout, batch, position, value)
    return bytes(batch)


@pytest.mark.parametrize(
    ("buffer", "words"),
    [
        (patched(8, ">i", 48), "claims 48 bytes"),
        (patched(8, ">i", -1), "claims -1 bytes"),
        (patched(16, ">B", 3), "magic 3"),
        (patched(21, ">h", 1), "CRC"),
        (patched(70, ">B", 1), "CRC"),
    ],
)
def test_damaged_batches(kernels: ModuleType, buffer: bytes, words: str) -> None:
    with pytest.raises(CorruptRecordError, match=words) as raised:
        kernels.scan_batches(BY_KAFKA + buffer)
    assert "byte 107" in str(raised.value)
    assert "base offset 10" in str(raised.value)


@pytest.mark.parametrize(("count", "last_delta"), [(-1, 2), (3, -1)])
def test_negative_counts(kernels: ModuleType, count: int, last_delta: int) -> None:
    batch = seal_batch(b"", count=count, base_timestamp_ms=1, max_timestamp_ms=1, last_offset_delta=last_delta)
    with pytest.raises(CorruptRecordError, match=f"claims {count} records up to offset delta {last_delta}"):
        kernels.scan_batches(batch)


def test_crc_is_checked_only_on_request(kernels: ModuleType) -> None:
    buffer = patched(17, ">I", 0)
    assert len(kernels.scan_batches(buffer, 0, -1, False)) == 1
    with pytest.raises(CorruptRecordError, match="0x00000000"):
        kernels.scan_batches(buffer, check_crc=True)


def test_a_negative_start(kernels: ModuleType) -> None:
    with pytest.raises(ValueError, match="start"):
        kernels.scan_batches(b"", -1)


def test_old_formats_are_reported_whole(kernels: ModuleType) -> None:
    old = struct.pack(">qiIBB", 9, 14, 0, 1, 2) + bytes(8)
    (header,) = kernels.scan_batches(old)
    assert header == BatchHeader(0, 26, 1, 2, 9, 0, -1, -1, -1, -1, -1, 1, -1, 12)
    (bare,) = kernels.scan_batches(struct.pack(">qiIB", 9, 5, 0, 0))
    assert bare.attributes == 0
    with pytest.raises(CorruptRecordError, match="claims 4 bytes"):
        kernels.scan_batches(struct.pack(">qiIB", 9, 4, 0, 0))


def test_next_and_positions(kernels: ModuleType) -> None:
    walk = cursor(kernels, abc_batch())
    assert (walk.position, walk.exhausted) == (10, False)
    seen = []
    while (message := walk.next()) is not None:
        seen.append((message.offset(), message.value(), walk.position, walk.exhausted))
    assert seen == [(10, b"a", 11, False), (11, b"b", 12, False), (12, b"c", 13, True)]
    assert walk.next() is None
    assert walk.position == 13


def test_take(kernels: ModuleType) -> None:
    walk = cursor(kernels, abc_batch())
    out: list[Any] = ["before"]
    assert walk.take(out, 0) == 0
    assert walk.take(out, -1) == 0
    assert walk.take(out, 2) == 2
    assert walk.take(out, 5) == 1
    assert walk.take(out, 5) == 0
    assert [message.value() for message in out[1:]] == [b"a", b"b", b"c"]


def test_from_offset(kernels: ModuleType) -> None:
    walk = cursor(kernels, abc_batch(), from_offset=12)
    assert walk.position == 12
    assert walk.next().value() == b"c"
    assert walk.exhausted


def test_gaps_that_compaction_left(kernels: ModuleType) -> None:
    rows = [NewRecord(b"a", offset_delta=1), NewRecord(b"b", offset_delta=5)]
    batch = build_batch(rows, base_offset=100, last_offset_delta=9)
    walk = cursor(kernels, batch)
    assert walk.next().offset() == 101
    assert walk.position == 102
    assert walk.next().offset() == 105
    assert (walk.position, walk.exhausted) == (110, True)
    tail = cursor(kernels, batch, from_offset=107)
    assert tail.next() is None
    assert (tail.position, tail.exhausted) == (110, True)


def test_a_batch_without_records(kernels: ModuleType) -> None:
    walk = cursor(kernels, build_batch([], base_offset=100, last_offset_delta=9))
    assert (walk.position, walk.exhausted, walk.next()) == (110, True, None)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [(1, 1000), (1, 900)]),
        ({"log_append_time_ms": 5000}, [(2, 5000), (2, 5000)]),
    ],
)
def test_timestamps(kernels: ModuleType, options: dict[str, int], expected: list[tuple[int, int]]) -> None:
    batch = build_batch([NewRecord(timestamp_ms=1000), NewRecord(timestamp_ms=900)], **options)  # type: ignore[arg-type]
    out: list[Any] = []
    cursor(kernels, batch).take(out, 9)
    assert [message.timestamp() for message in out] == expected


def test_no_timestamp(kernels: ModuleType) -> None:
    assert cursor(kernels, abc_batch()).next().timestamp() == (0, -1)


def test_times_before_1970_are_times_and_so_are_those_behind_them(kernels: ModuleType) -> None:
    """They hid the times of their whole batch."""
    times_ms = [-86_400_000, -1, 0, 5, -2]
    batch = build_batch([NewRecord(b"v", timestamp_ms=time_ms) for time_ms in times_ms])
    out: list[Any] = []
    cursor(kernels, batch).take(out, 9)
    assert [message.timestamp() for message in out] == [(1, -86_400_000), (0, -1), (1, 0), (1, 5), (1, -2)]
    sink = kernels.ColumnSink()
    cursor(kernels, batch).take_columns(sink, 9)
    columns = sink.take()
    assert bytes(memoryview(columns.timestamp_type)) == bytes([1, 0, 1, 1, 1])
    assert struct.unpack("<5q", bytes(memoryview(columns.timestamp_ms))) == tuple(times_ms)


def test_headers(kernels: ModuleType) -> None:
    rows = [NewRecord(headers=[("ä", b"1"), ("ä", None), ("", b"")]), NewRecord()]
    out: list[Any] = []
    cursor(kernels, build_batch(rows)).take(out, 9)
    assert [message.headers() for message in out] == [[("ä", b"1"), ("ä", None), ("", b"")], None]


def test_a_header_name_that_is_no_text(kernels: ModuleType) -> None:
    record = encode_record(0, 0, None, None, b"\x02\x04a\xff\x01")
    assert records_cursor(kernels, record, 1).next().headers() == [("a\ufffd", None)]


def test_messages_outlive_cursor_and_buffer_changes_nothing(kernels: ModuleType) -> None:
    message = cursor(kernels, bytes(bytearray(abc_batch()))).next()
    assert message.value() == b"a"
    assert message.value() is message.value()


GOOD = encode_record(0, 0, b"k", b"v", b"\0")
HOSTILE = {
    "no bytes": b"",
    "length 0": b"\0",
    "negative length": b"\x01" + GOOD[1:],
    "length beyond the end": b"\x7e" + GOOD[1:],
    "length of six bytes": b"\x90\x80\x80\x80\x80\0" + GOOD[1:],
    "only attributes": b"\x02\0",
    "timestamp cut off": b"\x04\0\x80",
    "timestamp too long": b"\x18\0" + b"\xff" * 10 + b"\x01",
    "no offset": b"\x04\0\0",
    "offset beyond 32 bits": b"\x12\0\0\xff\xff\xff\xff\x1f\x01\x01",
    "no key": b"\x06\0\0\0",
    "key length -2": b"\x0c\0\0\0\x03\x01\0",
    "key beyond the record": b"\x0c\0\0\0\x0c\x01\0",
    "value length -2": b"\x0c\0\0\0\x01\x03\0",
    "value beyond the record": b"\x0c\0\0\0\x01\x0c\0",
    "no header count": b"\x0a\0\0\0\x01\x01",
    "negative header count": b"\x0c\0\0\0\x01\x01\x01",
    "more headers than bytes": b"\x10\0\0\0\x01\x01\x04\0\0",
    "null header name": b"\x10\0\0\0\x01\x01\x02\x01\x01",
    "header name beyond the record": b"\x10\0\0\0\x01\x01\x02\x7e\x01",
    "header value length -2": b"\x10\0\0\0\x01\x01\x02\0\x03",
    "header value beyond the record": b"\x10\0\0\0\x01\x01\x02\0\x04",
    "bytes behind the headers": b"\x0e\0\0\0\x01\x01\0\0",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_records(kernels: ModuleType, name: str) -> None:
    walk = records_cursor(kernels, GOOD + HOSTILE[name], 2)
    assert walk.next().value() == b"v"
    for _ in range(2):
        with pytest.raises(CorruptRecordError, match=r"t\[1\] near offset 1"):
            walk.next()
    assert not walk.exhausted


def test_bytes_behind_the_last_record(kernels: ModuleType) -> None:
    walk = records_cursor(kernels, GOOD + b"\0\0", 1)
    with pytest.raises(CorruptRecordError, match="2 bytes follow"):
        walk.next()
    with pytest.raises(CorruptRecordError, match="1 bytes follow"):
        records_cursor(kernels, b"\0", 0)
    passed = records_cursor(kernels, GOOD + b"\0", 1, from_offset=5)
    with pytest.raises(CorruptRecordError, match="1 bytes follow"):
        passed.next()


def test_a_range_outside_the_buffer(kernels: ModuleType) -> None:
    (header,) = kernels.scan_batches(BY_KAFKA)
    for start, end in ((-1, 5), (5, 4), (0, 108)):
        with pytest.raises(ValueError, match="no range"):
            kernels.RecordCursor(BY_KAFKA, start, end, header, "t", 1, 0)
