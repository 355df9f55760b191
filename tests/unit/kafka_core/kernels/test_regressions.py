"""Defects that a review of the kernels found; each test is one of them, on both implementations."""

from __future__ import annotations

import enum
import gc
import pickle
import struct
import sys
import weakref
from itertools import pairwise
from types import ModuleType
from typing import Any

import pytest

import kafka_core.kernels
from kafka_core.errors import CorruptRecordError, KafkaError, KafkaException, StateError
from kafka_core.kernels.abc import BatchHeader
from kafka_core.records import open_batches


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


def known(kernels: ModuleType, **options: Any) -> Any:
    memory = accumulator(kernels, **options)
    memory.set_partition_count("t", 4)
    return memory


def values(memory: Any) -> list[tuple[int, list[bytes]]]:
    """(partition, values) of every batch, in the order in which they come out."""
    batches, _ = memory.take_ready(0.0, 0.0, True)
    return [(batch.partition, [message.value() for _, message in batch.reports(None, -1)]) for batch in batches]


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


def test_a_header_that_refers_to_its_message_is_freed(kernels: ModuleType) -> None:
    encoded = bytes(one_batch(kernels, headers={"h": b"1"}).encode())
    message = cursor(kernels, encoded, header_of(kernels, encoded)).next()
    keeper = Keeper()
    alive = weakref.ref(keeper)
    keeper.message = message
    message.headers().append(("keeper", keeper))
    del keeper, message
    gc.collect()
    assert alive() is None


def test_a_consumed_message_costs_the_garbage_collector_nothing() -> None:
    native = pytest.importorskip("kafka_core.kernels.native")
    encoded = bytes(one_batch(native).encode())
    message = cursor(native, encoded, header_of(native, encoded)).next()
    assert message.value() == b"v"
    assert not gc.is_tracked(message)
    message.set_value("v")
    assert gc.is_tracked(message)


def test_callbacks_that_are_bound_methods_come_back(kernels: ModuleType) -> None:
    """The native twin keeps function and object apart; mixed with others, each belongs to its own record still."""

    def plain(*_: object) -> None: ...

    first, second = Keeper(), Keeper()
    before = sys.getrefcount(first)
    memory = known(kernels)
    callbacks = [None, plain, first.__call__, None, second, second.__call__, print, first.__call__]
    for callback in callbacks:
        memory.produce("t", b"v", partition=0, on_delivery=callback)
    (batch,), _ = memory.take_ready(0.0, 0.0, True)
    assert [callback for callback, _ in batch.reports(None, 0)] == callbacks
    halves = [[callback for callback, _ in half.reports(None, 0)] for half in batch.split()]
    assert halves == [callbacks[:4], callbacks[4:]]
    reports = batch.reports(None, 0)
    callback, message = reports[2]
    callback(None, message)
    assert first.message is message
    del memory, batch, halves, callbacks, callback, reports
    assert sys.getrefcount(first) == before


def test_a_huge_partition_number_costs_nothing(kernels: ModuleType) -> None:
    memory = accumulator(kernels)
    memory.produce("t", b"v", partition=2**31 - 1)
    memory.set_partition_count("t", 2)
    (batch,), _ = memory.take_ready(0.0, 0.0, True)
    assert (batch.partition, batch.count) == (2**31 - 1, 1)


def test_a_partition_that_comes_true_keeps_its_order(kernels: ModuleType) -> None:
    memory = accumulator(kernels, batch_max_records=2)
    memory.produce("t", b"1", partition=5)
    memory.set_partition_count("t", 2)
    memory.set_partition_count("t", 8)
    for value in (b"2", b"3"):
        memory.produce("t", value, partition=5)
    assert values(memory) == [(5, [b"1", b"2"]), (5, [b"3"])]


def test_records_produced_during_a_move_do_not_overtake_waiting_ones(kernels: ModuleType) -> None:
    late: list[bytes] = []

    def clock() -> float:
        if late:
            memory.produce("t", late.pop())
        return 0.0

    memory: Any = accumulator(kernels, monotonic=clock)
    memory.produce("t", b"early 1")
    memory.produce("t", b"early 2")
    late.append(b"late")
    memory.set_partition_count("t", 1)
    assert values(memory) == [(0, [b"early 1", b"early 2", b"late"])]
    assert (memory.queued_records, memory.has_open) == (3, False)


def test_the_clock_may_produce_when_a_batch_opens(kernels: ModuleType) -> None:
    late: list[bytes] = []

    def clock() -> float:
        if late:
            memory.produce("t", late.pop(), partition=0)
        return 0.0

    memory: Any = known(kernels, monotonic=clock)
    late.append(b"inner")
    memory.produce("t", b"outer", partition=0)
    assert values(memory) == [(0, [b"inner", b"outer"])]


def test_columns_after_a_corrupt_record_are_not_shifted(kernels: ModuleType) -> None:
    memory = known(kernels)
    encoded = []
    for kind in (b"bad", b"good"):
        for number in range(3):
            memory.produce("t", b"%s %d" % (kind, number), partition=0)
        (batch,), _ = memory.take_ready(0.0, 0.0, True)
        encoded.append(bytearray(batch.encode()))
    header, good = (header_of(kernels, bytes(data)) for data in encoded)
    encoded[0][-len(b"bad 2") - 3] = 0x7F  # the length of the last key
    sink = kernels.ColumnSink()
    with pytest.raises(CorruptRecordError):
        sink.fill(kernels.RecordCursor(bytes(encoded[0]), 61, len(encoded[0]), header, "bad", 0, 0), 10)
    assert sink.fill(kernels.RecordCursor(bytes(encoded[1]), 61, len(encoded[1]), good, "good", 0, 0), 10) == 3
    columns = sink.take()
    assert (columns.rows, columns.runs) == (5, [("bad", 0, 2), ("good", 0, 3)])
    ends = struct.unpack("6i", bytes(columns.value_offsets))
    data = bytes(columns.value_data)
    rows = [data[start:end] for start, end in pairwise(ends)]
    assert rows == [b"bad 0", b"bad 1", b"good 0", b"good 1", b"good 2"]


def test_an_earlier_view_keeps_its_ids(kernels: ModuleType) -> None:
    batch = one_batch(kernels)
    first = batch.encode(producer_id=1, producer_epoch=2, base_sequence=3)
    shown = bytes(first)
    second = batch.encode(producer_id=1, producer_epoch=3, base_sequence=0)
    assert bytes(first) == shown
    assert kernels.scan_batches(second)[0].producer_epoch == 3


def test_the_first_encoding_is_not_a_copy() -> None:
    native = pytest.importorskip("kafka_core.kernels.native")
    batch = one_batch(native)
    first = batch.encode(producer_id=1, producer_epoch=2, base_sequence=3)
    again = batch.encode(producer_id=1, producer_epoch=2, base_sequence=3)
    assert first.obj is again.obj
    del first, again  # nobody looks any more: the next one may write in place
    assert isinstance(batch.encode(producer_id=1, producer_epoch=3, base_sequence=0), memoryview)


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
    memory.produce_batch(Topic.ORDERS, [{"value": b"w"}])
    (name,) = memory.new_topics()
    assert (name, type(name)) == ("orders", str)
    memory.set_partition_count(name, 1)
    (batch,), _ = memory.take_ready(0.0, 0.0, True)
    assert type(batch.topic) is str
    encoded = bytes(batch.encode())
    header = header_of(kernels, encoded)
    reader = kernels.RecordCursor(encoded, header.payload_position, len(encoded), header, Topic.ORDERS, 0, 0)
    assert type(reader.next().topic()) is str
    with pytest.raises(TypeError, match="topic must be str, not int"):
        kernels.RecordCursor(encoded, header.payload_position, len(encoded), header, 5, 0, 0)


def test_a_record_of_the_largest_size_goes_in(kernels: ModuleType) -> None:
    memory = known(kernels, max_message_bytes=200)
    memory.produce("t", b"x" * 127, key=b"", partition=0)
    for options in ({"value": b"x" * 128}, {"value": b"x" * 127, "key": b"k"}, {"headers": {"h": b"x" * 124}}):
        with pytest.raises(KafkaException, match=r"message\.max\.bytes"):
            memory.produce("t", partition=0, **options)
    (batch,), _ = memory.take_ready(0.0, 0.0, True)
    assert len(batch.encode()) <= 200


def test_pickles_name_no_implementation(kernels: ModuleType) -> None:
    message = kernels.Message("t", 1, 2, b"k", b"v", [("h", b"1")], None, (1, 5), 0.5, 3)
    pickled = pickle.dumps(message)
    assert b"native" not in pickled
    assert b"pure" not in pickled
    again = pickle.loads(pickled)
    assert type(again) is kafka_core.kernels.Message
    assert (again.value(), again.timestamp(), again.latency(), again.leader_epoch()) == (b"v", (1, 5), 0.5, 3)


@pytest.mark.parametrize(
    ("options", "text"),
    [({"partition": -7}, "partition must be"), ({"partition": -2}, "partition must be")],
)
@pytest.mark.parametrize("topic", ["t", "new"])
def test_negative_numbers_are_refused(kernels: ModuleType, topic: str, options: dict[str, int], text: str) -> None:
    memory = known(kernels)
    with pytest.raises(ValueError, match=text):
        memory.produce(topic, b"v", **options)
    item: dict[str, Any] = {"value": b"v", **options}
    assert memory.produce_batch(topic, [item]) == 0
    assert item["_error"] == KafkaError._INVALID_ARG
    assert memory.queued_records == 0


def test_the_time_of_a_message_without_one_is_now(kernels: ModuleType) -> None:
    memory = known(kernels, time_ms=lambda: 5000)
    memory.produce("t", b"v", timestamp=kernels.Message().timestamp()[1])
    (batch,), _ = memory.take_ready(0.0, 0.0, True)
    assert batch.max_timestamp_ms == 5000


@pytest.mark.parametrize("topic", ["t", "new"])
def test_times_before_1970_and_none_are_kept(kernels: ModuleType, topic: str) -> None:
    times = [-5, 1_700_000_000_000, -(2**63), 2**63 - 1, -1]
    memory = known(kernels)
    for time_ms in times:
        memory.produce(topic, b"v", partition=0, timestamp=time_ms)
    assert memory.produce_batch(topic, [{"value": b"v", "partition": 0, "timestamp": -7}]) == 1
    memory.set_partition_count("new", 1)
    (batch,), _ = memory.take_ready(0.0, 0.0, True)
    assert [message.timestamp() for _, message in batch.reports(None, 0)] == [(1, time_ms) for time_ms in [*times, -7]]
    (opened,) = open_batches(batch.encode(), topic, 0, 0)
    read: list[Any] = []
    opened.cursor.take(read, 10)
    kinds = [0 if time_ms == -1 else 1 for time_ms in [*times, -7]]
    assert [message.timestamp() for message in read] == list(zip(kinds, [*times, -7], strict=True))


def test_a_buffer_with_gaps_is_not_a_full_queue(kernels: ModuleType) -> None:
    memory = known(kernels)
    memory.produce("t", memoryview(b"a-b-c-")[::2], partition=0)
    assert values(memory) == [(0, [b"abc"])]


@pytest.mark.parametrize("topic", ["t", "new"])
@pytest.mark.parametrize("partition", [0, 1])
def test_a_wake_that_failed_is_tried_again(kernels: ModuleType, topic: str, partition: int) -> None:
    calls: list[int] = []

    def wake() -> None:
        calls.append(1)
        if len(calls) == 1:
            raise RuntimeError("the loop is not there")

    memory = known(kernels, wake=wake)
    with pytest.raises(RuntimeError):
        memory.produce(topic, b"v", partition=0)
    memory.produce(topic, b"v", partition=partition)
    assert len(calls) == 2
    memory.new_topics()
    memory.produce(topic, b"v", partition=partition)
    assert len(calls) == 2  # the loop has looked, and nothing is new


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


def test_a_batch_of_dicts_with_something_else_is_refused_as_a_whole(kernels: ModuleType) -> None:
    memory = known(kernels)
    wrong: list[tuple[dict[str, Any], type[Exception]]] = [
        ({"messages": [{"value": b"a"}, 5]}, TypeError),
        ({"messages": [{"value": b"a"}], "topic": 5}, TypeError),
        ({"messages": [{"value": b"a"}], "topic": ""}, ValueError),
        ({"messages": [{"value": b"a"}], "callback": 5}, TypeError),
        ({"messages": [{"value": b"a"}], "callback": print, "on_delivery": len}, ValueError),
    ]
    for options, kind in wrong:
        with pytest.raises(kind):
            memory.produce_batch(**{"topic": "t", **options})
        assert "_error" not in options["messages"][0]
    assert memory.queued_records == 0


def test_a_batch_of_dicts_keeps_its_count_when_the_producer_is_closed_meanwhile(kernels: ModuleType) -> None:
    def close() -> None:
        memory.closed_reason = "closed"

    memory: Any = known(kernels, wake=close)
    items: list[dict[str, Any]] = [{"value": b"a"}, {"value": b"b"}]
    assert memory.produce_batch("t", items) == 1
    assert items[1]["_error"] == KafkaError._STATE
    with pytest.raises(StateError):
        memory.produce_batch("t", items)


class Asker:
    """Asks a message for its key when it goes, which is when the collector has broken the cycle between the two."""

    asked: list[object]

    def __init__(self, message: Any, asked: list[object]) -> None:
        self.message = message
        self.asked = asked

    def __del__(self) -> None:
        self.asked.append((self.message.key(), self.message.headers(), len(self.message)))


def test_a_message_in_a_broken_cycle_may_still_be_asked(kernels: ModuleType) -> None:
    asked: list[object] = []
    encoded = bytes(one_batch(kernels, key=b"k").encode())
    message = cursor(kernels, encoded, header_of(kernels, encoded)).next()
    message.set_value([Asker(message, asked)])
    del message
    gc.collect()
    assert asked == [(b"k", None, 1)]


class Failing:
    """A clock that fails once, at the n-th look: stands for memory that is not there when a batch is made."""

    def __init__(self) -> None:
        self.left = -1

    def __call__(self) -> float:
        self.left -= 1
        if self.left == 0:
            raise MemoryError
        return 1.0


@pytest.mark.parametrize("at", [1, 2, 3, 4])
def test_records_that_wait_outlive_a_want_of_memory_when_their_topic_is_found(kernels: ModuleType, at: int) -> None:
    clock = Failing()
    memory = accumulator(kernels, monotonic=clock, batch_max_records=2)
    for number in range(8):
        memory.produce("t", b"%d" % number)
    before = memory.queued_records, memory.queued_bytes
    clock.left = at
    with pytest.raises(MemoryError):
        memory.set_partition_count("t", 1)
    assert memory.queued_records == before[0]
    memory.produce("t", b"8")  # goes behind those that still wait
    memory.set_partition_count("t", 1)
    found = values(memory)
    assert [value for _, batch in found for value in batch] == [b"%d" % number for number in range(9)]
    assert memory.queued_records == 9


def test_the_records_of_a_topic_that_failed_count_as_long_as_their_batch(kernels: ModuleType) -> None:
    memory = accumulator(kernels)
    reports: list[Any] = []
    for number in range(3):
        memory.produce("t", b"%d" % number, on_delivery=reports.append)
    batch = memory.fail_topic("t")
    assert batch.count == 3
    memory.settle(batch.count, batch.size_bytes)
    assert (memory.queued_records, memory.queued_bytes) == (0, 0)
