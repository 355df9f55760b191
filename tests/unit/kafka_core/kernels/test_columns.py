"""Records as columns: the buffers' layout, runs, the limit of 1 GiB."""

from __future__ import annotations

import struct
from types import ModuleType
from typing import Any

import pytest

from kafka_core.errors import CorruptRecordError
from kafka_core.kernels.abc import Columns
from kafka_core.kernels.pure import columns as pure_columns
from kafka_core.kernels.pure.record_batch import encode_record, seal_batch
from kafka_core.records import NewRecord, build_batch


def cursor(kernels: ModuleType, batch: bytes, topic: str = "t", partition: int = 1, from_offset: int = 0) -> Any:
    (header,) = kernels.scan_batches(batch)
    return kernels.RecordCursor(batch, 61, len(batch), header, topic, partition, from_offset)


def flat(columns: Columns) -> tuple[Any, ...]:
    return tuple(bytes(memoryview(item)) if not isinstance(item, int | list) else item for item in columns)


def test_layout(kernels: ModuleType) -> None:
    rows = [
        NewRecord(b"abc", None, [("h", b"x"), ("hh", None)], 1000),
        NewRecord(None, b"", (), 2000, offset_delta=3),
        NewRecord(b"", b"kk", [("", b"")], 500, offset_delta=4),
    ]
    sink = kernels.ColumnSink()
    assert cursor(kernels, build_batch(rows, base_offset=7)).take_columns(sink, 10) == 3
    assert (sink.rows, sink.runs) == (3, [("t", 1, 3)])
    columns = sink.take()
    assert isinstance(columns, Columns)
    assert flat(columns) == (
        3,
        [("t", 1, 3)],
        struct.pack("<3q", 7, 10, 11),
        struct.pack("<3q", 1000, 2000, 500),
        bytes([1, 1, 1]),
        bytes([0b110]),
        struct.pack("<4i", 0, 0, 0, 2),
        b"kk",
        1,
        bytes([0b101]),
        struct.pack("<4i", 0, 3, 3, 3),
        b"abc",
        1,
        struct.pack("<4i", 0, 2, 2, 3),
        struct.pack("<4i", 0, 1, 3, 3),
        b"hhh",
        bytes([0b101]),
        struct.pack("<4i", 0, 1, 1, 1),
        b"x",
        1,
        3,
    )


def test_an_empty_sink(kernels: ModuleType) -> None:
    columns = kernels.ColumnSink().take()
    assert (columns.rows, columns.runs, columns.header_count) == (0, [], 0)
    assert bytes(memoryview(columns.value_offsets)) == bytes(4)
    assert bytes(memoryview(columns.value_data)) == b""


def test_take_begins_anew(kernels: ModuleType) -> None:
    sink = kernels.ColumnSink()
    walk = cursor(kernels, build_batch([NewRecord(b"a"), NewRecord(b"b")]))
    assert walk.take_columns(sink, 1) == 1
    first = sink.take()
    assert sink.rows == 0
    assert walk.take_columns(sink, 5) == 1
    assert walk.exhausted
    assert bytes(memoryview(first.value_data)) == b"a"
    assert bytes(memoryview(sink.take().value_data)) == b"b"


def test_runs(kernels: ModuleType) -> None:
    sink = kernels.ColumnSink()
    batch = build_batch([NewRecord(b"a"), NewRecord(b"b")])
    for topic, partition in (("t", 1), ("t", 1), ("t", 2), ("u", 2), ("t", 1)):
        cursor(kernels, batch, topic, partition).take_columns(sink, 9)
    assert sink.runs == [("t", 1, 4), ("t", 2, 2), ("u", 2, 2), ("t", 1, 2)]
    assert cursor(kernels, batch, "v", 0, from_offset=5).take_columns(sink, 9) == 0
    assert sink.runs[-1] == ("t", 1, 2)


def test_nine_rows_need_two_bytes_of_validity(kernels: ModuleType) -> None:
    rows = [NewRecord(None if index == 3 else b"v") for index in range(9)]
    sink = kernels.ColumnSink()
    cursor(kernels, build_batch(rows)).take_columns(sink, 9)
    columns = sink.take()
    assert bytes(memoryview(columns.value_validity)) == bytes([0b11110111, 1])
    assert columns.value_null_count == 1


@pytest.mark.parametrize(("options", "kind", "time_ms"), [({}, 0, -1), ({"log_append_time_ms": 9}, 2, 9)])
def test_timestamps(kernels: ModuleType, options: dict[str, Any], kind: int, time_ms: int) -> None:
    sink = kernels.ColumnSink()
    cursor(kernels, build_batch([NewRecord(b"a")], **options)).take_columns(sink, 9)
    columns = sink.take()
    assert bytes(memoryview(columns.timestamp_type)) == bytes([kind])
    assert bytes(memoryview(columns.timestamp_ms)) == struct.pack("<q", time_ms)


def test_a_header_name_that_is_no_text_stays_as_it_is(kernels: ModuleType) -> None:
    record = encode_record(0, 0, None, None, b"\x02\x04a\xff\x01")
    batch = bytes(seal_batch(record, count=1, base_timestamp_ms=1, max_timestamp_ms=1))
    sink = kernels.ColumnSink()
    cursor(kernels, batch).take_columns(sink, 1)
    assert bytes(memoryview(sink.take().header_key_data)) == b"a\xff"


def test_rows_before_a_corrupt_record_are_kept(kernels: ModuleType) -> None:
    record = encode_record(0, 0, None, b"v", b"\0")
    batch = bytes(seal_batch(record + b"\x01", count=2, base_timestamp_ms=1, max_timestamp_ms=1))
    sink = kernels.ColumnSink()
    with pytest.raises(CorruptRecordError, match=r"t\[1\] near offset 1"):
        cursor(kernels, batch).take_columns(sink, 5)
    columns = sink.take()
    assert (columns.rows, columns.runs) == (1, [("t", 1, 1)])
    assert len(memoryview(columns.offset)) == 8


def test_a_full_sink_takes_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    from kafka_core.kernels import pure

    monkeypatch.setattr(pure_columns, "DATA_LIMIT", 5)
    walk = cursor(pure, build_batch([NewRecord(b"xxx")] * 3))
    sink = pure.ColumnSink()
    assert walk.take_columns(sink, 9) == 2
    assert walk.take_columns(sink, 9) == 0
    assert not walk.exhausted
    sink.take()
    assert walk.take_columns(sink, 9) == 1
