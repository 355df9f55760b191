"""Batches on their way out: what they encode to, what they report, how they are split."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from kafka_core.errors import KafkaError
from kafka_core.records import Codec, NewRecord, build_batch, compress
from tests.strategies.records import plain

ROWS: list[dict[str, Any]] = [
    {"value": b"one", "key": "k", "timestamp": 1000, "headers": {"h": "x", "n": None}},
    {"value": None, "key": b"", "timestamp": 900},
    {"value": "drei", "key": None, "timestamp": 950, "headers": [("a", b""), ("a", b"2")]},
]
RECORDS = [
    NewRecord(b"one", b"k", [("h", b"x"), ("n", None)], 1000),
    NewRecord(None, b"", (), 900),
    NewRecord(b"drei", None, [("a", b""), ("a", b"2")], 950),
]


def accumulator(kernels: ModuleType, **options: Any) -> Any:
    settings: dict[str, Any] = {
        "batch_size_bytes": 100_000,
        "batch_max_records": 1000,
        "max_queue_records": 10_000,
        "max_queue_bytes": 10_000_000,
        "max_message_bytes": 1_000_000,
        "time_ms": lambda: 5000,
        "monotonic": lambda: 17.5,
    }
    return kernels.Accumulator(**{**settings, **options})


def batch_of(kernels: ModuleType, rows: list[dict[str, Any]], callbacks: Any = None) -> Any:
    memory = accumulator(kernels)
    memory.set_partition_count("t", 4)
    for index, row in enumerate(rows):
        memory.produce("t", partition=3, on_delivery=callbacks[index] if callbacks else None, **row)
    (batch,) = memory.take_ready(0.0, 0.0, True)[0]
    return batch


def test_facts(kernels: ModuleType) -> None:
    batch = batch_of(kernels, ROWS)
    assert (batch.topic, batch.partition, batch.count) == ("t", 3, 3)
    assert (batch.opened_at_s, batch.max_timestamp_ms, batch.has_callbacks) == (17.5, 1000, False)
    assert batch.size_bytes == len(batch.encode()) - 61


def test_encode(kernels: ModuleType) -> None:
    assert bytes(batch_of(kernels, ROWS).encode()) == build_batch(RECORDS)


def test_encode_with_ids_and_again_with_others(kernels: ModuleType) -> None:
    batch = batch_of(kernels, ROWS)
    for epoch, sequence in ((1, 7), (2, 0)):
        encoded = batch.encode(producer_id=2**40, producer_epoch=epoch, base_sequence=sequence, transactional=True)
        assert bytes(encoded) == build_batch(
            RECORDS, producer_id=2**40, producer_epoch=epoch, base_sequence=sequence, transactional=True
        )


def test_encode_compressed(kernels: ModuleType) -> None:
    seen: list[bytes] = []

    def zstd(view: memoryview) -> Any:
        seen.append(bytes(view))
        return compress(Codec.ZSTD, view)

    encoded = batch_of(kernels, ROWS * 20).encode(codec_id=4, compress=zstd)
    assert bytes(encoded) == build_batch(RECORDS * 20, codec=Codec.ZSTD)
    assert seen == [build_batch(RECORDS * 20)[61:]]


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_records_that_a_codec_makes_no_smaller_are_sent_as_they_are(kernels: ModuleType, more: int) -> None:
    batch = batch_of(kernels, ROWS)
    ids = {"producer_id": 7, "producer_epoch": 1, "base_sequence": 5, "transactional": True}
    longer = b"x" * (batch.size_bytes + more)
    encoded = batch.encode(codec_id=4, compress=lambda _: longer, **ids)
    assert len(encoded) == 61 + batch.size_bytes + min(more, 0)
    assert (bytes(encoded) == build_batch(RECORDS, **ids)) is (more >= 0)


def test_a_codec_without_compress(kernels: ModuleType) -> None:
    with pytest.raises(TypeError):
        batch_of(kernels, ROWS).encode(codec_id=4)


def test_reports_of_a_delivery(kernels: ModuleType) -> None:
    def first(*_: object) -> None: ...

    batch = batch_of(kernels, ROWS, [None, first, None])
    assert batch.has_callbacks
    callbacks, messages = zip(*batch.reports(None, 40, latency_s=0.25), strict=True)
    assert callbacks == (None, first, None)
    assert [plain(message) for message in messages] == [
        ("t", 3, 40, b"k", b"one", [("h", b"x"), ("n", None)], None, (1, 1000), 0.25, None, 3),
        ("t", 3, 41, b"", None, None, None, (1, 900), 0.25, None, 0),
        ("t", 3, 42, None, b"drei", [("a", b""), ("a", b"2")], None, (1, 950), 0.25, None, 4),
    ]


def test_reports_of_a_failure(kernels: ModuleType) -> None:
    error = KafkaError(KafkaError._MSG_TIMED_OUT, "late")
    for callback, message in batch_of(kernels, ROWS).reports(error, -1):
        assert callback is None
        assert message.error() is error
        assert message.offset() is None
        assert message.latency() is None


def test_reports_with_the_brokers_time(kernels: ModuleType) -> None:
    reports = batch_of(kernels, ROWS).reports(None, 0, log_append_time_ms=777)
    assert {message.timestamp() for _, message in reports} == {(2, 777)}


@pytest.mark.parametrize("count", [2, 5, 200])
def test_split(kernels: ModuleType, count: int) -> None:
    def callback(*_: object) -> None: ...

    rows = [{"value": b"%d" % index, "timestamp": 10**12 + index * 1000, "headers": [("h", b"%d" % index)]}
            for index in range(count)]  # fmt: skip
    batch = batch_of(kernels, rows, [callback if index == count - 1 else None for index in range(count)])
    first, second = batch.split()
    assert (first.count, second.count) == (count // 2, count - count // 2)
    assert (first.topic, first.partition, first.opened_at_s) == ("t", 3, 17.5)
    assert (first.has_callbacks, second.has_callbacks) == (False, True)
    assert second.max_timestamp_ms == batch.max_timestamp_ms
    whole = batch.reports(None, -1)
    assert first.reports(None, -1) + second.reports(None, -1) == whole
    (header,) = kernels.scan_batches(second.encode())
    assert (header.count, header.last_offset_delta) == (second.count, second.count - 1)


def test_the_halves_count_as_much_as_the_whole(kernels: ModuleType) -> None:
    """Or the queue would seem to hold something for ever."""
    rows = [{"value": b"x", "timestamp": 10**12 * (1 + index % 2)} for index in range(201)]
    batch = batch_of(kernels, rows)
    assert sum(half.size_bytes for half in batch.split()) == batch.size_bytes


def test_one_record_can_not_be_split(kernels: ModuleType) -> None:
    with pytest.raises(ValueError, match="one record"):
        batch_of(kernels, ROWS[:1]).split()
