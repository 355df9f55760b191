"""Defects that a review of the kernels found; each test is one of them, on both implementations."""

from __future__ import annotations

import enum
import gc
import weakref
from types import ModuleType
from typing import Any

import pytest

from kafka_core.errors import CorruptRecordError, KafkaError
from kafka_core.kernels.abc import BatchHeader


def accumulator(kernels: ModuleType, **options: Any) -> Any:
    return kernels.Accumulator(
        **{
            "batch_size_bytes": 100_000,
            "batch_max_records": 1000,
            "max_queue_records": 100_000,
            "max_queue_bytes": 10_000_000,
            "max_message_bytes": 1_000_000,
            **options,
        }
    )


def one_batch(kernels: ModuleType, **record: Any) -> Any:
    memory = accumulator(kernels)
    memory.set_partition_count("t", 1)
    memory.produce("t", **{"value": b"v", **record})
    (batch,), _ = memory.take_ready(0.0, 0.0, True)
    return batch


def header_of(kernels: ModuleType, encoded: Any, **changes: Any) -> BatchHeader:
    (header,) = kernels.scan_batches(encoded)
    changed: BatchHeader = header._replace(**changes)
    return changed


def cursor(kernels: ModuleType, encoded: Any, header: BatchHeader) -> Any:
    return kernels.RecordCursor(encoded, header.payload_position, header.size_bytes, header, "t", 0, 0)


class Keeper:
    """A callback that keeps the message it was called with."""

    message: Any = None

    def __call__(self, error: object, message: object) -> None:
        self.message = message


def test_a_callback_that_keeps_its_message_is_freed(kernels: ModuleType) -> None:
    keeper = Keeper()
    alive = weakref.ref(keeper)
    ((callback, message),) = one_batch(kernels, on_delivery=keeper).reports(None, 7)
    callback(None, message)
    del keeper, callback, message
    gc.collect()
    assert alive() is None


def test_a_value_that_refers_to_its_message_is_freed(kernels: ModuleType) -> None:
    batch = one_batch(kernels)
    encoded = bytes(batch.encode())
    message = cursor(kernels, encoded, header_of(kernels, encoded)).next()
    keeper = Keeper()
    alive = weakref.ref(keeper)
    keeper.message = message
    message.set_value(keeper)
    del keeper, message
    gc.collect()
    assert alive() is None


def test_a_huge_partition_number_costs_nothing(kernels: ModuleType) -> None:
    memory = accumulator(kernels)
    memory.produce("t", b"v", partition=2**31 - 1)
    memory.set_partition_count("t", 2)
    (batch,), _ = memory.take_ready(0.0, 0.0, True)
    assert (batch.partition, batch.count) == (2**31 - 1, 1)


def test_an_earlier_view_keeps_its_ids(kernels: ModuleType) -> None:
    batch = one_batch(kernels)
    first = batch.encode(producer_id=1, producer_epoch=2, base_sequence=3)
    shown = bytes(first)
    second = batch.encode(producer_id=1, producer_epoch=3, base_sequence=0)
    assert bytes(first) == shown
    assert kernels.scan_batches(second)[0].producer_epoch == 3


@pytest.mark.parametrize("base_offset", [2**63 - 1, -1])
def test_an_impossible_base_offset_is_corrupt(kernels: ModuleType, base_offset: int) -> None:
    encoded = bytes(one_batch(kernels).encode())
    with pytest.raises(CorruptRecordError):
        cursor(kernels, encoded, header_of(kernels, encoded, base_offset=base_offset))


def test_an_offset_outside_of_the_batch_is_corrupt(kernels: ModuleType) -> None:
    memory = accumulator(kernels)
    memory.set_partition_count("t", 1)
    for _ in range(3):
        memory.produce("t", b"v")
    (batch,), _ = memory.take_ready(0.0, 0.0, True)
    encoded = bytes(batch.encode())
    header = header_of(kernels, encoded, last_offset_delta=1)
    with pytest.raises(CorruptRecordError, match="not in its batch"):
        cursor(kernels, encoded, header).take([], 3)


class Topic(enum.StrEnum):
    ORDERS = "orders"


def test_a_topic_may_be_a_kind_of_str(kernels: ModuleType) -> None:
    memory = accumulator(kernels)
    memory.produce(Topic.ORDERS, b"v")
    assert memory.new_topics() == ["orders"]


def test_a_wake_that_failed_is_tried_again(kernels: ModuleType) -> None:
    calls: list[int] = []

    def wake() -> None:
        calls.append(1)
        if len(calls) == 1:
            raise RuntimeError("the loop is not there")

    memory = accumulator(kernels, wake=wake)
    memory.set_partition_count("t", 4)
    with pytest.raises(RuntimeError):
        memory.produce("t", b"v", partition=0)
    memory.produce("t", b"v", partition=1)
    assert len(calls) == 2


def test_records_that_wait_for_metadata_wake_once(kernels: ModuleType) -> None:
    memory: Any = None
    calls: list[list[str]] = []
    memory = accumulator(kernels, wake=lambda: calls.append(memory.new_topics()))
    for _ in range(100):
        memory.produce("t", b"v")
    assert calls == [["t"]]


def test_a_batch_of_dicts_keeps_its_count(kernels: ModuleType) -> None:
    memory = accumulator(kernels)
    items: list[dict[str, Any]] = [{"value": b"a"}, {"value": object()}, {"value": b"c"}]
    assert memory.produce_batch("t", items) == 2
    assert items[1]["_error"].code() == KafkaError._INVALID_ARG
