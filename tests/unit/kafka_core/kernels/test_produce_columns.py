"""produce_columns: rows of Arrow columns into open batches; both kernels give what `produce` gives for each row."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_core.aio.producing.record_columns import record_columns
from kafka_core.errors import KafkaError, KafkaException, StateError
from kafka_core.kernels.abc import ByteColumn, HeaderColumn, NumberColumn, RecordColumns

NATIVE = pytest.mark.skipif(
    importlib.util.find_spec("kafka_core.kernels.native.accumulator") is None, reason="no native kernels"
)
HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
SCHEMA = pa.schema(
    [
        ("key", pa.string()),
        ("value", pa.large_binary()),
        ("partition", pa.int32()),
        ("timestamp", pa.int64()),
        ("headers", HEADERS),
    ]
)
RECORD = st.fixed_dictionaries(
    {
        "key": st.none() | st.text(max_size=5),
        "value": st.none() | st.binary(max_size=20),
        "partition": st.none() | st.integers(-1, 2),
        "timestamp": st.none() | st.integers(-(2**63), 2**63 - 1),
        "headers": st.none()
        | st.lists(
            st.fixed_dictionaries({"key": st.text(max_size=3), "value": st.none() | st.binary(max_size=3)}), max_size=3
        ),
    }
)


def memory(kernels: ModuleType, **options: Any) -> Any:
    settings: dict[str, Any] = {
        "batch_size_bytes": 200,
        "batch_max_records": 5,
        "max_queue_records": 1000,
        "max_queue_bytes": 1_000_000,
        "max_message_bytes": 500,
        "time_ms": lambda: 77,
        "monotonic": lambda: 1.0,
    }
    return kernels.Accumulator(**{**settings, **options})


def batches(accumulator: Any) -> list[tuple[int, bytes]]:
    return [(batch.partition, bytes(batch.encode())) for batch in accumulator.take_ready(9.0, 0.0, True)[0]]


def columns(rows: list[dict[str, Any]], cut: int = 0) -> RecordColumns:
    batch = pa.RecordBatch.from_pylist(rows, schema=SCHEMA).slice(cut)
    return next(iter(record_columns(batch)))


@pytest.mark.parametrize("name", ["pure", pytest.param("native", marks=NATIVE)])
@given(rows=st.lists(RECORD, max_size=20), cut=st.integers(0, 4), early=st.booleans())
def test_rows_are_what_produce_makes_of_them(name: str, rows: list[dict[str, Any]], cut: int, early: bool) -> None:
    kernels = importlib.import_module(f"kafka_core.kernels.{name}")
    one, other = memory(kernels), memory(kernels)
    kept = rows[cut:]
    found = columns(rows, min(cut, len(rows)))
    for accumulator in (one, other):
        if not early:
            accumulator.set_partition_count("t", 3)
    assert one.produce_columns("t", found, 0, len(kept)) == len(kept)
    for row in kept:
        headers = [(header["key"], header["value"]) for header in row["headers"] or ()]
        partition = -1 if row["partition"] is None else row["partition"]
        other.produce("t", row["value"], row["key"], partition, timestamp=row["timestamp"] or 0, headers=headers)
    if early:
        for accumulator in (one, other):
            accumulator.set_partition_count("t", 3)
    assert (one.queued_records, one.queued_bytes) == (other.queued_records, other.queued_bytes)
    assert batches(one) == batches(other)


def test_a_row_that_can_not_be_queued_ends_the_call(kernels: ModuleType) -> None:
    accumulator = memory(kernels)
    accumulator.set_partition_count("t", 2)
    rows = [{"value": b"a"}, {"value": b"b", "partition": 7}, {"value": b"x" * 600}, {"value": b"c", "partition": -5}]
    found = columns(rows)
    assert accumulator.produce_columns("t", found, 0, 4) == 1
    with pytest.raises(KafkaException, match="there is no number 7"):
        accumulator.produce_columns("t", found, 1, 4)
    with pytest.raises(KafkaException) as caught:
        accumulator.produce_columns("t", found, 2, 4)
    assert caught.value.args[0].code() == KafkaError.MSG_SIZE_TOO_LARGE
    with pytest.raises(ValueError, match="partition must be"):
        accumulator.produce_columns("t", found, 3, 4)
    assert accumulator.queued_records == 1


def test_the_bound_of_the_queue_holds(kernels: ModuleType) -> None:
    accumulator = memory(kernels, max_queue_records=3)
    accumulator.set_partition_count("t", 1)
    found = columns([{"value": b"a"}] * 5)
    assert accumulator.produce_columns("t", found, 0, 5) == 3
    with pytest.raises(BufferError):
        accumulator.produce_columns("t", found, 3, 5)
    accumulator.closed_reason = "closed"
    with pytest.raises(StateError):
        accumulator.produce_columns("t", found, 3, 5)


def test_every_record_has_the_callback(kernels: ModuleType) -> None:
    accumulator = memory(kernels)
    accumulator.set_partition_count("t", 1)

    def done(*_: object) -> None:
        """Never called here."""

    accumulator.produce_columns("t", columns([{"value": b"a"}] * 2), 0, 2, -1, done)
    (batch,) = accumulator.take_ready(9.0, 0.0, True)[0]
    assert [callback for callback, _ in batch.reports(None, 0)] == [done, done]


ENDS = (0).to_bytes(4, "little") + (1).to_bytes(4, "little")
FULL = ByteColumn(0, None, ENDS, b"x")


@pytest.mark.parametrize(
    "wrong",
    [
        RecordColumns(1, ByteColumn(0, None, ENDS[:7], b"x")),
        RecordColumns(1, ByteColumn(0, None, ENDS, b"")),
        RecordColumns(1, ByteColumn(1, None, ENDS, b"x")),
        RecordColumns(1, ByteColumn(-1, None, ENDS, b"x")),
        RecordColumns(1, ByteColumn(0, b"", ENDS, b"x")),
        RecordColumns(1, ByteColumn(0, None, ENDS[4:] + ENDS[:4], b"x")),
        RecordColumns(1, ByteColumn(0, None, b"\xff" * 8, b"x")),
        RecordColumns(1, ByteColumn(0, None, ENDS, b"x", True)),
        RecordColumns(-1),
        RecordColumns(1, FULL, None, NumberColumn(0, None, b"abc")),
        RecordColumns(1, FULL, None, None, NumberColumn(2**62, None, b"a" * 8)),
        RecordColumns(1, FULL, headers=HeaderColumn(0, None, ENDS, 0, FULL, FULL)),
        RecordColumns(1, FULL, headers=HeaderColumn(0, None, ENDS, 1, ByteColumn(0, b"\0", ENDS, b"x"), FULL)),
        RecordColumns(1, FULL, headers=HeaderColumn(0, None, ENDS, 1, ByteColumn(0, None, ENDS, b"\xff"), FULL)),
    ],
)
def test_buffers_are_not_believed(kernels: ModuleType, wrong: RecordColumns) -> None:
    accumulator = memory(kernels)
    accumulator.set_partition_count("t", 1)
    with pytest.raises(ValueError):
        accumulator.produce_columns("t", wrong, 0, 1)
    assert accumulator.queued_records == 0


@pytest.mark.parametrize(("start", "stop"), [(-1, 1), (0, 2), (1, 0)])
def test_rows_that_are_not_there(kernels: ModuleType, start: int, stop: int) -> None:
    with pytest.raises(ValueError, match="are not among the 1 rows"):
        memory(kernels).produce_columns("t", RecordColumns(1, FULL), start, stop)


def test_an_interrupt_of_the_wake_says_which_row_was_reached(kernels: ModuleType) -> None:
    failures = [KeyboardInterrupt()]

    def wake() -> None:
        if failures:
            raise failures.pop()

    accumulator = memory(kernels, wake=wake)
    accumulator.set_partition_count("t", 2)
    found = columns([{"value": b"a", "partition": 0}, {"value": b"b", "partition": 0}, {"value": b"c"}])
    with pytest.raises(KeyboardInterrupt) as raised:
        accumulator.produce_columns("t", found, 0, 3)
    assert raised.value.reached_row == 1  # type: ignore[attr-defined]
    assert accumulator.queued_records == 1
    assert accumulator.produce_columns("t", found, 1, 3) == 3
    assert accumulator.queued_records == 3
