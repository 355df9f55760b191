"""Stored batches as messages."""

from __future__ import annotations

from kafka_core.broker.appending import append_records
from kafka_core.broker.reading import first_at_time, first_of_max_timestamp, messages
from tests.unit.kafka_core.broker.harness import START_MS, Bench, batch


def bench_with(*batches: list[int]) -> Bench:
    """A topic with one batch per list of timestamps (ms after the start)."""
    bench = Bench()
    bench.topic()
    for times in batches:
        data = batch([b"%d" % ms for ms in times], timestamps_ms=[START_MS + ms for ms in times])
        append_records(bench.partition(), memoryview(bytearray(data)), -1, 12, START_MS)
    return bench


def test_messages_from_an_offset_on() -> None:
    bench = bench_with([1, 2, 3], [4])
    assert [(m.offset(), m.value()) for m in messages(bench.partition(), 2)] == [(2, b"3"), (3, b"4")]
    bench.partition().log.delete_before(1)
    assert [m.offset() for m in messages(bench.partition())] == [1, 2, 3]


def test_the_first_record_of_a_time() -> None:
    bench = bench_with([0, 10, 20], [105, 104, 103])
    partition = bench.partition()
    assert first_at_time(partition, 0) == (0, START_MS)
    assert first_at_time(partition, START_MS + 11) == (2, START_MS + 20)
    assert first_at_time(partition, START_MS + 21) == (3, START_MS + 105)
    assert first_at_time(partition, START_MS + 106) is None
    assert first_of_max_timestamp(partition) == (3, START_MS + 105)


def test_records_before_the_start_are_not_found() -> None:
    bench = bench_with([50, 10], [40])
    bench.partition().log.delete_before(1)
    assert first_at_time(bench.partition(), START_MS + 30) == (2, START_MS + 40)


def test_an_empty_log_has_no_times() -> None:
    bench = bench_with()
    assert first_at_time(bench.partition(), 0) is None
    assert first_of_max_timestamp(bench.partition()) is None
