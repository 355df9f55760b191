"""The compiled kernels do what the pure ones do: equal results for valid input, the same error for damaged input."""

from __future__ import annotations

import gc
import pickle
import struct
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_core.errors import KafkaError, KafkaException
from kafka_core.kernels import pure
from kafka_core.kernels.abc import BatchHeader
from kafka_core.records import Codec
from tests.strategies.records import NOW_MS, batches, damaged, headers, names, payloads, plain

native = pytest.importorskip(
    "kafka_core.kernels.native", reason="the native kernels are not built (make kernels)", exc_type=ImportError
)
BOTH = (pure, native)
uncompressed = batches(codec=st.just(Codec.NONE))
chunks = st.lists(uncompressed, max_size=3).map(b"".join)


def outcome(work: Callable[..., Any], *arguments: Any) -> Any:
    """The result, or the class of the error (and its code, if it is one of ours)."""
    try:
        return work(*arguments)
    except KafkaException as error:
        return type(error), error.code, str(error)
    except (OverflowError, ValueError, TypeError, BufferError) as error:
        return type(error)


def same(work: Callable[..., Any], *arguments: Any) -> Any:
    first, second = (outcome(work, kernels, *arguments) for kernels in BOTH)
    assert first == second
    return first


# ---- hashes


@given(st.binary(max_size=200), st.integers(0, 2**32 - 1))
def test_hashes(data: bytes, value: int) -> None:
    for name in ("crc32c", "murmur2", "fnv1a"):
        same(lambda kernels, name=name: getattr(kernels, name)(data))
    same(lambda kernels: kernels.crc32c(data, value))


# ---- reading


def scan(kernels: Any, data: bytes, check_crc: bool) -> Any:
    return kernels.scan_batches(data, 0, -1, check_crc)


@given(chunks | damaged(chunks) | st.binary(max_size=80), st.booleans())
def test_scanning(data: bytes, check_crc: bool) -> None:
    same(scan, data, check_crc)


@given(chunks, st.integers(0, 300), st.integers(-1, 300))
def test_scanning_a_part(data: bytes, start: int, end: int) -> None:
    same(lambda kernels: kernels.scan_batches(data, start, end, False))


def walk(kernels: Any, data: bytes, header: BatchHeader, from_offset: int, limits: list[int]) -> Any:
    """Everything that can be seen of a cursor while it is used up."""
    seen: list[Any] = []
    try:
        cursor = kernels.RecordCursor(data, 0, len(data), header, "t", 3, from_offset)
        for limit in limits:
            message = cursor.next()
            seen.append(None if message is None else plain(message))
            out: list[Any] = []
            seen.append(cursor.take(out, limit))
            seen += [*map(plain, out), cursor.position, cursor.exhausted]
    except KafkaException as error:
        seen.append((type(error), str(error)))
    return seen


def columns(kernels: Any, data: bytes, header: BatchHeader, from_offset: int, limits: list[int]) -> Any:
    sink = kernels.ColumnSink()
    seen: list[Any] = []
    try:
        cursor = kernels.RecordCursor(data, 0, len(data), header, "t", 3, from_offset)
        for limit in limits:
            seen += [cursor.take_columns(sink, limit), sink.rows, list(sink.runs), cursor.position]
    except KafkaException as error:
        seen.append((type(error), str(error)))
    taken = sink.take()
    return seen + [item if isinstance(item, int | list) else bytes(memoryview(item)) for item in taken]


limit_lists = st.lists(st.integers(0, 6), min_size=1, max_size=4)


@given(uncompressed, st.integers(-3, 300), limit_lists)
def test_reading(batch: bytes, skip: int, limits: list[int]) -> None:
    (header,) = pure.scan_batches(batch)
    for read in (walk, columns):
        same(read, batch[61:], header, header.base_offset + skip, limits)


@given(damaged(uncompressed.map(lambda batch: batch[61:])), st.integers(0, 5), st.integers(0, 9), limit_lists)
def test_reading_damaged_records(data: bytes, count: int, skip: int, limits: list[int]) -> None:
    header = BatchHeader(0, 0, 2, 0, 100, 20, NOW_MS, NOW_MS, -1, -1, -1, count, 1, 61)
    for read in (walk, columns):
        same(read, data, header, 100 + skip, limits)


# ---- messages

messages = st.fixed_dictionaries(
    {},
    optional={
        "topic": st.none() | names,
        "partition": st.none() | st.integers(-1, 2**31 - 1),
        "offset": st.none() | st.integers(-1, 2**63 - 1),
        "key": payloads,
        "value": payloads | names,
        "headers": st.none() | headers | st.dictionaries(names, payloads, max_size=2),
        "error": st.none() | st.builds(KafkaError, st.integers(-200, 100), names),
        "timestamp": st.tuples(st.integers(0, 2), st.integers(-1, 2**60)),
        "latency": st.none() | st.floats(0, 100),
        "leader_epoch": st.none() | st.integers(-1, 2**31 - 1),
    },
)


@given(messages)
def test_messages(arguments: dict[str, Any]) -> None:
    same(lambda kernels: plain(kernels.Message(**arguments)))
    same(lambda kernels: repr(kernels.Message(**arguments)))
    same(lambda kernels: plain(pickle.loads(pickle.dumps(kernels.Message(**arguments)))))


# ---- writing

records = st.fixed_dictionaries(
    {},
    optional={
        "value": payloads,
        "key": payloads | names,
        "headers": headers | st.dictionaries(names, payloads | names, max_size=2),
        "timestamp": st.integers(NOW_MS - 10**6, NOW_MS + 10**6) | st.just(0) | st.integers(-(2**63), 2**63 - 1),
        "partition": st.integers(-1, 3),
        "topic": st.sampled_from("tu"),
        "on_delivery": st.none() | st.just(print),
    },
)
steps = st.one_of(
    st.tuples(st.just("produce"), records),
    st.tuples(st.just("take"), st.booleans()),
    st.tuples(st.just("found"), st.sampled_from("tu"), st.integers(1, 4)),
    st.tuples(st.just("fail"), st.sampled_from("tu")),
    st.tuples(st.just("topics")),
    st.tuples(st.just("purge")),
)


class Memory:
    """An accumulator with a clock that ticks, and everything that can be seen of it."""

    def __init__(self, kernels: Any, settings: dict[str, Any]) -> None:
        self.now = 0
        self.seen: list[Any] = []
        self.accumulator = kernels.Accumulator(
            max_message_bytes=400,
            wake=lambda: self.seen.append("wake"),
            time_ms=self.time_ms,
            monotonic=self.monotonic,
            **settings,
        )

    def time_ms(self) -> int:
        return NOW_MS + self.now

    def monotonic(self) -> float:
        return float(self.now)

    def step(self, name: str, *arguments: Any) -> None:
        self.now += 1
        self.seen.append(outcome(getattr(self, name), *arguments))
        memory = self.accumulator
        self.seen.append((memory.queued_records, memory.queued_bytes, memory.has_open))

    def produce(self, record: dict[str, Any]) -> None:
        self.accumulator.produce(**{"topic": "t", **record})

    def take(self, force: bool) -> Any:
        taken, due_s = self.accumulator.take_ready(self.now, 3.0, force)
        return [self.settled(batch) for batch in taken], due_s

    def found(self, topic: str, count: int) -> None:
        self.accumulator.set_partition_count(topic, count)

    def fail(self, topic: str) -> Any:
        batch = self.accumulator.fail_topic(topic)
        return None if batch is None else self.settled(batch)

    def topics(self) -> list[str]:
        found: list[str] = self.accumulator.new_topics()
        return found

    def purge(self) -> Any:
        return [self.settled(batch) for batch in self.accumulator.purge()]

    def settled(self, batch: Any) -> Any:
        self.accumulator.settle(batch.count, batch.size_bytes)
        return described(batch)


def described(batch: Any) -> Any:
    facts = [batch.topic, batch.partition, batch.count, batch.size_bytes, batch.opened_at_s, batch.max_timestamp_ms,
             batch.has_callbacks, bytes(batch.encode()), bytes(batch.encode(producer_id=5, base_sequence=9)),
             bytes(batch.encode(codec_id=2, compress=lambda view: bytes(view)[::-1], transactional=True))]  # fmt: skip
    facts += [
        [(callback, plain(message)) for callback, message in batch.reports(*arguments)]
        for arguments in ((None, 7, -1, 0.5), (None, -1, 9, None), (KafkaError(-1), -1))
    ]
    if batch.count > 1:
        halves = batch.split()
        assert sum(half.count for half in halves) == batch.count
        facts += [[bytes(half.encode()), half.count, half.size_bytes, half.has_callbacks] for half in halves]
    return facts


settings_of = st.fixed_dictionaries(
    {
        "batch_size_bytes": st.sampled_from([0, 200, 1000]),
        "batch_max_records": st.integers(0, 4),
        "max_queue_records": st.sampled_from([0, 3, 100]),
        "max_queue_bytes": st.sampled_from([500, 100_000]),
        "partitioner": st.sampled_from(sorted(native.accumulator.PARTITIONERS)),
        "seed": st.integers(0, 2**62),
    }
)


@given(settings_of, st.lists(steps, max_size=30))
def test_producing(settings: dict[str, Any], work: list[Any]) -> None:
    memories = [Memory(kernels, settings) for kernels in BOTH]
    for memory in memories:
        for name, *arguments in work:
            memory.step(name, *arguments)
        memory.step("purge")
    assert memories[0].seen == memories[1].seen
    assert memories[0].accumulator.queued_bytes == memories[1].accumulator.queued_bytes == 0


wrong = st.fixed_dictionaries(
    {},
    optional={
        "topic": st.sampled_from([None, 5, "", b"t"]),
        "value": st.sampled_from([5, 1.5, object(), []]),
        "key": st.sampled_from([5, object(), "\ud800"]),
        "headers": st.sampled_from([5, {"a": 5}, {5: b""}, [("a",)], [("a", b"", 1)], ["ab"], [5], {"\ud800": b""}]),
        "partition": st.sampled_from([2**31, -(2**31) - 1, "1", None]),
        "timestamp": st.sampled_from(["1", None, 2**63]),
        "callback": st.sampled_from([5, "x"]),
    },
)


@given(wrong)
def test_wrong_arguments(arguments: dict[str, Any]) -> None:
    """The same class of error where one argument is wrong; where several are, which one is told first is left open."""

    def produce(kernels: Any, arguments: dict[str, Any]) -> str:
        memory = Memory(kernels, {"batch_size_bytes": 100, "batch_max_records": 5, "max_queue_records": 5,
                                  "max_queue_bytes": 1000})  # fmt: skip
        memory.accumulator.produce(**{"topic": "t", **arguments})
        return "taken"

    if len(arguments) < 2:
        same(produce, arguments)
    else:
        first, second = (outcome(produce, kernels, arguments) for kernels in BOTH)
        assert (first == "taken") == (second == "taken")


# ---- memory


@pytest.mark.parametrize("damage", [b"", b"\xff"])
def test_no_memory_is_lost(damage: bytes) -> None:
    """Reading and producing over and over, with errors too, needs no more memory at the end than after the start."""
    memory = native.Accumulator(
        batch_size_bytes=2000,
        batch_max_records=50,
        max_queue_records=1000,
        max_queue_bytes=10**6,
        max_message_bytes=5000,
    )
    memory.set_partition_count("t", 2)

    def once() -> None:
        for number in range(20):
            memory.produce("t", b"v" * 20, key=b"k%d" % number, headers={"h": b"x"}, on_delivery=print)
        outcome(lambda: memory.produce("t", b"v" * 6000))
        outcome(lambda: memory.produce("t", object()))
        for batch in memory.take_ready(0.0, 0.0, True)[0]:
            data = bytes(batch.encode())
            batch.reports(None, 5, latency_s=0.5)
            [half.encode() for half in batch.split()]
            memory.settle(batch.count, batch.size_bytes)
            (header,) = native.scan_batches(data)
            for read in (walk, columns):
                read(native, data[61:] + damage, header, 0, [5, 30])
            outcome(native.scan_batches, struct.pack(">qi", 0, 3) + data)

    for _ in range(20):
        once()
    gc.collect()
    tracemalloc.start()
    once()
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(50):
        once()
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 20_000
