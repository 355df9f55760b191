"""Records as Arrow record batches."""

from __future__ import annotations

from datetime import UTC, datetime
from types import ModuleType
from typing import Any

import pytest

from kafka_core.kernels.pure.record_batch import encode_record, seal_batch
from kafka_core.records import NewRecord, build_batch, open_batches

pa = pytest.importorskip("pyarrow")
from kafka_core.records.arrow import SCHEMA, ColumnSink, first_offsets  # noqa: E402


def fill(sink: Any, batch: bytes, topic: str = "t", partition: int = 1) -> None:
    for opened in open_batches(batch, topic, partition, 0):
        opened.cursor.take_columns(sink, 1000)


def table(*batches: bytes) -> Any:
    sink = ColumnSink()
    for batch in batches:
        fill(sink, batch)
    found = sink.finish()
    found.validate(full=True)
    return found


def test_columns() -> None:
    rows = [
        NewRecord(b"v", None, [("h", b"x"), ("n", None)], 1500),
        NewRecord(None, b"k", (), 2000),
        NewRecord(b"", b"", [("", b"")], 2500),
    ]
    found = table(build_batch(rows, base_offset=7))
    assert found.schema == SCHEMA
    assert found.schema.names == [
        "topic", "partition", "offset", "timestamp", "timestamp_type", "key", "value", "headers",
    ]  # fmt: skip
    moment = datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=UTC)
    assert found.to_pylist()[0] == {
        "topic": "t",
        "partition": 1,
        "offset": 7,
        "timestamp": moment,
        "timestamp_type": 1,
        "key": None,
        "value": b"v",
        "headers": [{"key": "h", "value": b"x"}, {"key": "n", "value": None}],
    }
    assert found.column("key").to_pylist() == [None, b"k", b""]
    assert found.column("value").to_pylist() == [b"v", None, b""]
    assert found.column("headers").to_pylist()[1:] == [[], [{"key": "", "value": b""}]]


def test_several_partitions() -> None:
    sink = ColumnSink()
    batch = build_batch([NewRecord(b"v"), NewRecord(b"w")])
    for topic, partition in (("t", 1), ("u", 2)):
        fill(sink, batch, topic, partition)
    found = sink.finish()
    assert found.column("topic").to_pylist() == ["t", "t", "u", "u"]
    assert found.column("partition").to_pylist() == [1, 1, 2, 2]


def test_rows_without_time_are_null() -> None:
    found = table(build_batch([NewRecord(b"v")]), build_batch([NewRecord(b"v", timestamp_ms=0)]))
    assert found.column("timestamp").to_pylist() == [None, datetime(1970, 1, 1, tzinfo=UTC)]
    assert found.column("timestamp_type").to_pylist() == [0, 1]


def test_nothing() -> None:
    found = table()
    assert (found.num_rows, found.schema) == (0, SCHEMA)


def test_the_sink_begins_anew() -> None:
    sink = ColumnSink()
    fill(sink, build_batch([NewRecord(b"v")]))
    first = sink.finish()
    fill(sink, build_batch([NewRecord(b"w"), NewRecord(b"x")]))
    assert (first.num_rows, sink.finish().column("value").to_pylist()) == (1, [b"w", b"x"])
    assert first.column("value").to_pylist() == [b"v"]


def test_header_names_that_are_no_text() -> None:
    record = encode_record(0, 0, None, None, b"\x04\x04a\xff\x01\x02b\x01")
    found = table(bytes(seal_batch(record, count=1, base_timestamp_ms=1, max_timestamp_ms=1)))
    assert [pair["key"] for pair in found.column("headers").to_pylist()[0]] == ["a\ufffd", "b"]


def test_bytes_are_not_copied() -> None:
    sink = ColumnSink()
    fill(sink, build_batch([NewRecord(bytes(100_000))]))
    before = pa.total_allocated_bytes()
    found = sink.finish()
    assert pa.total_allocated_bytes() - before < 10_000
    assert len(found.column("value")[0].as_py()) == 100_000


def test_columns_of_both_kernels_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    from kafka_core.kernels import pure
    from kafka_core.records.arrow import to_record_batch

    native = pytest.importorskip("kafka_core.kernels.native", reason="make kernels", exc_type=ImportError)
    batch = build_batch([NewRecord(b"v%d" % n, None if n % 3 else b"k", [("h", b"x")] * (n % 2)) for n in range(50)])

    def columns(kernels: ModuleType) -> Any:
        (header,) = kernels.scan_batches(batch)
        sink = kernels.ColumnSink()
        kernels.RecordCursor(batch, 61, len(batch), header, "t", 1, 0).take_columns(sink, 100)
        return to_record_batch(sink.take())

    assert columns(pure).equals(columns(native))


def test_where_each_partition_begins() -> None:
    sink = ColumnSink()
    for partition, base_offset in ((1, 7), (0, 100), (1, 8)):
        fill(sink, build_batch([NewRecord(b"v", None, (), 1)], base_offset=base_offset), partition=partition)
    assert first_offsets(sink.finish()) == {("t", 1): 7, ("t", 0): 100}
    assert first_offsets(sink.finish()) == {}
