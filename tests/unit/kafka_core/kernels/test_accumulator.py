"""The memory behind produce(): bounds, order, lingering, waking, waiting for metadata."""

from __future__ import annotations

import threading
from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy
import pytest

from kafka_core.errors import KafkaError, KafkaException, StateError


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def accumulator(kernels: ModuleType, **options: Any) -> Any:
    settings: dict[str, Any] = {
        "batch_size_bytes": 100_000,
        "batch_max_records": 1000,
        "max_queue_records": 10_000,
        "max_queue_bytes": 10_000_000,
        "max_message_bytes": 1_000_000,
    }
    return kernels.Accumulator(**{**settings, **options})


def known(kernels: ModuleType, partitions: int = 1, **options: Any) -> Any:
    memory = accumulator(kernels, **options)
    memory.set_partition_count("t", partitions)
    return memory


def values(batches: list[Any]) -> list[list[bytes]]:
    return [[message.value() for _, message in batch.reports(None, -1)] for batch in batches]


def take_all(memory: Any) -> list[Any]:
    batches: list[Any] = memory.take_ready(0.0, 0.0, True)[0]
    return batches


def test_records_of_a_partition_stay_in_order(kernels: ModuleType) -> None:
    memory = known(kernels, 2, batch_max_records=3)
    for number in range(8):
        memory.produce("t", b"%d" % number, partition=1)
    batches = take_all(memory)
    assert values(batches) == [[b"0", b"1", b"2"], [b"3", b"4", b"5"], [b"6", b"7"]]
    assert {batch.partition for batch in batches} == {1}
    assert take_all(memory) == []


def test_keys_and_values_may_be_bytes_text_or_buffers(kernels: ModuleType) -> None:
    memory = known(kernels)
    for value in (b"x", "x", bytearray(b"x"), memoryview(b"x")):
        memory.produce("t", value, value, headers={"h": value})
    memory.produce("t")
    (batch,) = take_all(memory)
    seen = [(message.value(), message.key(), message.headers()) for _, message in batch.reports(None, -1)]
    assert seen == [(b"x", b"x", [("h", b"x")])] * 4 + [(None, None, None)]


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"value": 5}, TypeError),
        ({"key": 5}, TypeError),
        ({"headers": {"h": 5}}, TypeError),
        ({"headers": [(5, b"")]}, TypeError),
        ({"headers": [("a", b"", 1)]}, TypeError),
        ({"headers": 5}, TypeError),
        ({"topic": 5}, TypeError),
        ({"topic": None}, TypeError),
        ({"topic": ""}, ValueError),
        ({"partition": 2**31}, OverflowError),
        ({"partition": "1"}, TypeError),
        ({"timestamp": 2**63}, OverflowError),
        ({"callback": 5}, TypeError),
        ({"callback": print, "on_delivery": len}, ValueError),
    ],
)
def test_invalid_arguments_queue_nothing(kernels: ModuleType, options: dict[str, Any], kind: type[Exception]) -> None:
    memory = known(kernels)
    with pytest.raises(kind):
        memory.produce(**{"topic": "t", **options})
    assert memory.queued_records == 0
    assert take_all(memory) == []


@pytest.mark.parametrize("argument", ["partition", "timestamp"])
@pytest.mark.parametrize("number", [0.0, 1.5, 1e12, "0", None])
def test_numbers_that_are_not_whole_are_no_partition_and_no_time(
    kernels: ModuleType, argument: str, number: Any
) -> None:
    memory = known(kernels)
    with pytest.raises(TypeError):
        memory.produce("t", b"x", **{argument: number})
    with pytest.raises(TypeError):
        memory.produce_columns("t", None, 0, 0, number)
    item: dict[str, Any] = {"value": b"x", argument: number or 0.5}
    assert (memory.produce_batch("t", [item]), item["_error"].name()) == (0, "_INVALID_ARG")
    assert memory.queued_records == 0


def test_numbers_of_other_types_that_are_whole_are_taken(kernels: ModuleType) -> None:
    memory = known(kernels, 2)
    memory.produce("t", b"x", partition=numpy.int32(1), timestamp=numpy.int64(7))
    (batch,) = take_all(memory)
    assert (batch.partition, batch.max_timestamp_ms) == (1, 7)


def test_timestamps(kernels: ModuleType) -> None:
    memory = known(kernels, time_ms=lambda: 5000)
    memory.produce("t")
    memory.produce("t", timestamp=4000)
    (batch,) = take_all(memory)
    assert [message.timestamp() for _, message in batch.reports(None, -1)] == [(1, 5000), (1, 4000)]


def test_the_clocks_of_its_own(kernels: ModuleType) -> None:
    import time

    memory = known(kernels)
    before = time.monotonic(), time.time()
    memory.produce("t")
    (batch,) = take_all(memory)
    assert before[0] - 0.1 <= batch.opened_at_s <= time.monotonic() + 0.1
    assert before[1] * 1000 - 100 <= batch.max_timestamp_ms <= time.time() * 1000 + 100


# ---- bounds


def test_the_bound_on_records(kernels: ModuleType) -> None:
    memory = known(kernels, max_queue_records=2)
    memory.produce("t")
    memory.produce("t")
    with pytest.raises(BufferError, match=r"queue\.buffering\.max\.messages.*max\.block\.ms"):
        memory.produce("t")
    (batch,) = take_all(memory)
    with pytest.raises(BufferError):
        memory.produce("t")
    memory.settle(batch.count, batch.size_bytes)
    memory.produce("t")
    assert memory.queued_records == 1


def test_no_bound_on_records(kernels: ModuleType) -> None:
    memory = known(kernels, max_queue_records=0)
    for _ in range(100):
        memory.produce("t")
    assert memory.queued_records == 100


def test_the_bound_on_bytes(kernels: ModuleType) -> None:
    memory = known(kernels, max_queue_bytes=1000)
    memory.produce("t", b"x" * 2000)  # a first one always fits, or nothing ever would
    with pytest.raises(BufferError, match=r"queue\.buffering\.max\.kbytes.*max\.block\.ms"):
        memory.produce("t")
    (batch,) = take_all(memory)
    assert memory.queued_bytes == batch.size_bytes
    memory.settle(1, batch.size_bytes)
    assert (memory.queued_records, memory.queued_bytes) == (0, 0)


def test_the_bound_on_a_record(kernels: ModuleType) -> None:
    memory = known(kernels, max_message_bytes=1000)
    memory.produce("t", b"x" * 900)
    with pytest.raises(KafkaException, match=r"1101 bytes.*message\.max\.bytes \(1000\)") as raised:
        memory.produce("t", b"x" * 900, b"k" * 64, headers={"h": b"y" * 60})
    assert raised.value.code == KafkaError.MSG_SIZE_TOO_LARGE
    assert memory.queued_records == 1


def test_a_batch_does_not_grow_past_its_size(kernels: ModuleType) -> None:
    memory = known(kernels, batch_size_bytes=1000)
    for _ in range(30):
        memory.produce("t", b"x" * 100)
    memory.produce("t", b"y" * 5000)
    batches = take_all(memory)
    sizes = [batch.size_bytes + 61 for batch in batches]
    assert max(sizes[:-1]) <= 1000
    assert min(sizes[:-2]) > 800
    assert batches[-1].count == 1


def test_a_closed_producer(kernels: ModuleType) -> None:
    memory = known(kernels)
    memory.closed_reason = "the producer is closed"
    with pytest.raises(StateError, match="the producer is closed"):
        memory.produce("t")
    with pytest.raises(StateError):
        memory.produce_batch("t", [{}])


def test_an_unknown_partition(kernels: ModuleType) -> None:
    memory = known(kernels, 3)
    with pytest.raises(KafkaException, match="t has 3 partitions, there is no number 3") as raised:
        memory.produce("t", partition=3)
    assert raised.value.code == KafkaError._UNKNOWN_PARTITION


def test_an_unknown_partitioner(kernels: ModuleType) -> None:
    with pytest.raises(ValueError, match="'round' is unknown: random, consistent"):
        accumulator(kernels, partitioner="round")


# ---- waiting for metadata


def test_records_wait_for_the_partitions(kernels: ModuleType) -> None:
    candidates = [b"k%d" % number for number in range(20)]
    keys = [next(k for k in candidates if (kernels.murmur2(k) & 0x7FFFFFFF) % 2 == partition) for partition in (0, 1)]
    memory = accumulator(kernels, partitioner="murmur2")
    for number in range(6):
        memory.produce("t", b"%d" % number, key=keys[number % 2], headers={"h": b"x"}, timestamp=7)
    memory.produce("t", b"6", partition=0)
    assert memory.new_topics() == ["t"]
    assert memory.new_topics() == []
    assert take_all(memory) == []
    assert memory.has_open
    memory.set_partition_count("t", 2)
    batches = take_all(memory)
    assert not memory.has_open
    assert [batch.partition for batch in batches] == [0, 1]
    assert values(batches) == [[b"0", b"2", b"4", b"6"], [b"1", b"3", b"5"]]
    assert memory.queued_records == 7
    assert memory.queued_bytes == sum(batch.size_bytes for batch in batches)


def test_waiting_records_count(kernels: ModuleType) -> None:
    memory = accumulator(kernels, max_queue_records=1)
    memory.produce("t", b"x")
    assert memory.queued_records == 1
    assert memory.queued_bytes > 0
    with pytest.raises(BufferError):
        memory.produce("t")


def test_a_topic_that_does_not_exist(kernels: ModuleType) -> None:
    memory = accumulator(kernels)
    memory.produce("t", b"a", partition=5, on_delivery=print)
    memory.produce("t", b"b")
    batch = memory.fail_topic("t")
    assert (batch.topic, batch.partition, batch.count) == ("t", -1, 2)
    (callback, message), _ = batch.reports(KafkaError(KafkaError._UNKNOWN_TOPIC), -1)
    assert callback is print
    assert (message.value(), message.partition()) == (b"a", None)
    memory.settle(2, batch.size_bytes)
    assert (memory.queued_records, memory.queued_bytes, memory.has_open) == (0, 0, False)
    assert memory.fail_topic("t") is None
    assert memory.fail_topic("other") is None


def test_a_topic_is_asked_for_again_after_it_failed(kernels: ModuleType) -> None:
    memory = accumulator(kernels)
    memory.produce("t")
    assert memory.new_topics() == ["t"]
    memory.fail_topic("t")
    memory.produce("t")
    memory.produce("t")
    assert memory.new_topics() == ["t"]


def test_a_waiting_record_for_a_partition_that_is_not_there(kernels: ModuleType) -> None:
    memory = accumulator(kernels)
    memory.produce("t", b"x", partition=5)
    memory.set_partition_count("t", 2)
    (batch,) = take_all(memory)
    assert batch.partition == 5


def test_more_partitions(kernels: ModuleType) -> None:
    memory = known(kernels, 1)
    memory.set_partition_count("t", 3)
    memory.produce("t", partition=2)
    assert [batch.partition for batch in take_all(memory)] == [2]
    with pytest.raises(ValueError, match="0 partitions"):
        memory.set_partition_count("t", 0)


def test_purge(kernels: ModuleType) -> None:
    memory = known(kernels)
    memory.produce("t", b"open")
    memory.produce("new", b"waiting")
    batches = memory.purge()
    assert [(batch.topic, batch.partition) for batch in batches] == [("t", 0), ("new", -1)]
    assert values(batches) == [[b"open"], [b"waiting"]]
    assert not memory.has_open
    assert memory.purge() == []


# ---- lingering and waking


def test_lingering(kernels: ModuleType) -> None:
    clock = Clock()
    memory = known(kernels, 2, monotonic=clock)
    memory.produce("t", partition=0)
    clock.now_s = 101.0
    memory.produce("t", partition=1)
    assert memory.take_ready(101.0, 5.0, False) == ([], 105.0)
    batches, due_s = memory.take_ready(105.0, 5.0, False)
    assert ([batch.partition for batch in batches], due_s) == ([0], 106.0)
    batches, due_s = memory.take_ready(105.5, 5.0, True)
    assert ([batch.partition for batch in batches], due_s) == ([1], None)
    assert memory.take_ready(200.0, 5.0, False) == ([], None)


def test_a_full_batch_does_not_linger(kernels: ModuleType) -> None:
    memory = known(kernels, batch_max_records=2, monotonic=Clock())
    for number in range(3):
        memory.produce("t", b"%d" % number)
    batches, due_s = memory.take_ready(100.0, 5.0, False)
    assert (values(batches), due_s) == ([[b"0", b"1"]], 105.0)
    assert memory.has_open


def test_waking(kernels: ModuleType) -> None:
    calls: list[int] = []
    memory = accumulator(kernels, batch_max_records=2, wake=lambda: calls.append(1))
    memory.produce("t")
    assert len(calls) == 1  # a new topic
    memory.produce("t")
    memory.produce("u")
    assert len(calls) == 1  # nobody has looked yet
    memory.new_topics()
    memory.set_partition_count("t", 1)
    take_all(memory)
    memory.produce("t")
    assert len(calls) == 2  # a batch opens
    memory.take_ready(0.0, 1e9, False)
    memory.produce("t")
    assert len(calls) == 2  # it goes on
    memory.produce("t")
    assert len(calls) == 3  # it is full


def test_wake_may_use_the_accumulator(kernels: ModuleType) -> None:
    seen: list[Any] = []
    memory: Any = accumulator(kernels, wake=lambda: seen.append(memory.new_topics()), lock=threading.Lock())
    memory.produce("t")
    assert seen == [["t"]]


def test_several_threads(kernels: ModuleType) -> None:
    memory = known(kernels, 3, lock=threading.Lock(), batch_max_records=7)
    taken: list[Any] = []

    def produce(thread: int) -> None:
        for number in range(300):
            memory.produce("t", b"%d %d" % (thread, number), partition=number % 3)

    threads = [threading.Thread(target=produce, args=(thread,)) for thread in range(3)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        taken += memory.take_ready(0.0, 1e9, False)[0]
    for thread in threads:
        thread.join()
    taken += take_all(memory)
    assert sum(batch.count for batch in taken) == memory.queued_records == 900
    assert sum(batch.size_bytes for batch in taken) == memory.queued_bytes
    for partition in range(3):
        found = [value for batch in taken if batch.partition == partition for value in values([batch])[0]]
        for writer in range(3):
            mine = [int(value.split()[1]) for value in found if value.startswith(b"%d " % writer)]
            assert mine == list(range(partition, 300, 3))


# ---- partitions


def partitions_of(memory: Any) -> list[int]:
    return [batch.partition for batch in take_all(memory)]


def test_records_without_key_stick_to_a_partition_until_its_batch_is_sealed(kernels: ModuleType) -> None:
    memory = known(kernels, 4, batch_max_records=5)
    chosen = []
    for _ in range(20):
        for _ in range(5):
            memory.produce("t")
        batches = take_all(memory)
        assert [batch.count for batch in batches] == [5]
        chosen.append(batches[0].partition)
    assert all(first != second for first, second in pairwise(chosen))
    assert set(chosen) == {0, 1, 2, 3}


def test_one_partition_is_enough(kernels: ModuleType) -> None:
    memory = known(kernels, 1)
    memory.produce("t")
    memory.produce("t", key="k")
    assert partitions_of(memory) == [0]
    memory.produce("t")
    assert partitions_of(memory) == [0]


@pytest.mark.parametrize(
    ("partitioner", "key", "partition"),
    [
        ("consistent", b"foobar", 0x9EF61F95 % 100),
        ("consistent", b"", 0),
        ("consistent", None, 0),
        ("consistent_random", b"foobar", 0x9EF61F95 % 100),
        ("murmur2", b"foobar", (-790332482 & 0x7FFFFFFF) % 100),
        ("murmur2", b"", 275646681 % 100),
        ("murmur2", None, 275646681 % 100),
        ("murmur2_random", b"foobar", (-790332482 & 0x7FFFFFFF) % 100),
        ("murmur2_random", b"", 275646681 % 100),
        ("fnv1a", b"foobar", (2**32 - 0xBF9CF968) % 100),
        ("fnv1a", b"", (2**32 - 0x811C9DC5) % 100),
        ("fnv1a", None, (2**32 - 0x811C9DC5) % 100),
        ("fnv1a_random", b"foobar", (2**32 - 0xBF9CF968) % 100),
        ("fnv1a_random", b"", (2**32 - 0x811C9DC5) % 100),
    ],
)
def test_keyed(kernels: ModuleType, partitioner: str, key: bytes | None, partition: int) -> None:
    memory = known(kernels, 100, partitioner=partitioner)
    memory.produce("t", key=key)
    memory.produce("t", key=key)
    assert partitions_of(memory) == [partition]


@pytest.mark.parametrize(
    ("partitioner", "key"),
    [
        ("random", b"foobar"),
        ("random", None),
        ("consistent_random", b""),
        ("consistent_random", None),
        ("murmur2_random", None),
        ("fnv1a_random", None),
    ],
)
def test_not_keyed(kernels: ModuleType, partitioner: str, key: bytes | None) -> None:
    memory = known(kernels, 100, partitioner=partitioner)
    chosen = set()
    for _ in range(20):
        memory.produce("t", key=key)
        chosen.update(partitions_of(memory))
    assert len(chosen) > 10


def test_the_seed_decides(kernels: ModuleType) -> None:
    def chosen(seed: int) -> list[int]:
        memory = known(kernels, 1000, seed=seed)
        found = []
        for _ in range(5):
            memory.produce("t")
            found += partitions_of(memory)
        return found

    assert chosen(1) == chosen(1)
    assert chosen(1) != chosen(2)


# ---- produce_batch


def test_produce_batch(kernels: ModuleType) -> None:
    def own(*_: object) -> None: ...

    memory = known(kernels, 2, max_message_bytes=1000)
    items: list[dict[str, Any]] = [
        {"value": b"a", "key": "k", "headers": {"h": b"1"}, "timestamp": 5, "callback": own},
        {"value": b"x" * 2000},
        {"value": b"b", "partition": 9},
        {"value": b"c", "partition": 1, "on_delivery": own},
        {"value": b"d", "timestamp": None},
    ]
    assert memory.produce_batch("t", items, partition=0, on_delivery=print) == 3
    assert items[1]["_error"] == KafkaError.MSG_SIZE_TOO_LARGE
    assert items[2]["_error"] == KafkaError._UNKNOWN_PARTITION
    assert all("_error" not in items[index] for index in (0, 3, 4))
    first, second = sorted(take_all(memory), key=lambda batch: int(batch.partition))
    assert values([first, second]) == [[b"a", b"d"], [b"c"]]
    assert [callback for callback, _ in first.reports(None, -1)] == [own, print]
    assert [callback for callback, _ in second.reports(None, -1)] == [own]
    assert first.reports(None, -1)[0][1].timestamp() == (1, 5)


def test_produce_batch_into_a_full_queue(kernels: ModuleType) -> None:
    memory = known(kernels, max_queue_records=1)
    items: list[dict[str, Any]] = [{}, {}]
    assert memory.produce_batch("t", items) == 1
    assert items[1]["_error"] == KafkaError._QUEUE_FULL


def test_produce_batch_with_something_else(kernels: ModuleType) -> None:
    items: list[dict[str, Any]] = [{"value": 5}, {"value": b"fine"}]
    assert known(kernels).produce_batch("t", items) == 1
    assert items[0]["_error"] == KafkaError._INVALID_ARG
    assert "_error" not in items[1]


def test_the_time_of_a_record_that_waited_for_metadata_runs_since_it_was_produced(kernels: ModuleType) -> None:
    clock = Clock()
    memory = accumulator(kernels, monotonic=clock)
    memory.produce("t", b"1", partition=0)
    clock.now_s = 150.0
    memory.set_partition_count("t", 1)
    memory.produce("t", b"2", partition=0)
    (batch,) = take_all(memory)
    assert (batch.opened_at_s, batch.count) == (100.0, 2)


def test_a_partition_that_cannot_send_goes_on_collecting(kernels: ModuleType) -> None:
    clock = Clock()
    memory = known(kernels, 2, batch_max_records=3, monotonic=clock)
    held = {("t", 0)}
    memory.produce("t", b"0", partition=0)
    memory.produce("t", b"1", partition=1)
    clock.now_s = 101.0
    batches, due_s = memory.take_ready(101.0, 0.5, False, held, 10.0)
    assert values(batches) == [[b"1"]]
    assert due_s == 110.0
    assert memory.take_ready(101.0, 0.5, True, held, 10.0) == ([], 110.0)  # not even a flush
    memory.produce("t", b"2", partition=0)
    memory.produce("t", b"3", partition=0)
    memory.produce("t", b"4", partition=0)  # the batch was full
    assert values(memory.take_ready(101.0, 0.5, True, held, 10.0)[0]) == [[b"0", b"2", b"3"]]
    assert values(memory.take_ready(101.0, 0.5, True, None, 10.0)[0]) == [[b"4"]]


def test_a_held_batch_is_sealed_when_it_is_old(kernels: ModuleType) -> None:
    memory = known(kernels, monotonic=Clock())
    memory.produce("t", b"0", partition=0)
    assert memory.take_ready(109.9, 0.5, False, {("t", 0)}, 10.0) == ([], 110.0)
    assert values(memory.take_ready(110.0, 0.5, False, {("t", 0)}, 10.0)[0]) == [[b"0"]]


def test_unkeyed_records_leave_a_partition_that_cannot_send(kernels: ModuleType) -> None:
    memory = known(kernels, 2, monotonic=Clock())
    memory.produce("t", b"0")
    (batch,) = values_by_partition(memory.take_ready(101.0, 0.5, True)[0])
    memory.produce("t", b"1")
    memory.produce("t", b"2")
    (other,) = {0, 1} - {batch}
    assert memory.take_ready(101.0, 0.5, False, {("t", other)}, 10.0)[0] == []
    memory.produce("t", b"3")
    assert values_by_partition(take_all(memory)) == {other: [b"1", b"2"], batch: [b"3"]}


def values_by_partition(batches: list[Any]) -> dict[int, list[bytes]]:
    return {batch.partition: values([batch])[0] for batch in batches}
