"""A partition after its log lost the end: its state is as if the lost records had never been written."""

from __future__ import annotations

from kafka_core.broker.codes import Code
from kafka_core.broker.partitions.appending import append_marker, append_records
from kafka_core.broker.partitions.cutting import lose_tail
from kafka_core.broker.partitions.topics import Partition
from tests.unit.kafka_core.broker.harness import START_MS, Bench, batch

TRANSACTIONAL = 0x10


def partition() -> Partition:
    bench = Bench(1)
    bench.topic("t")
    return bench.cluster.topics["t"].partitions[0]


def write(part: Partition, sequence: int, count: int = 2, *, producer: int = 7, transactional: bool = False) -> Code:
    data = batch([b"v"] * count, producer=(producer, 0, sequence), attributes=TRANSACTIONAL if transactional else 0)
    admit = lambda _: Code.NONE  # noqa: E731
    return append_records(part, memoryview(bytearray(data)), -1, 11, START_MS, admit).code


def test_a_producer_goes_on_behind_what_is_left_of_its_batches() -> None:
    part = partition()
    assert [write(part, sequence) for sequence in (0, 2, 4)] == [Code.NONE] * 3
    assert lose_tail(part, 5) == 4  # whole batches go
    assert write(part, 6) is Code.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert part.producers.duplicate(7, 0, 2, 2) is not None
    assert part.producers.duplicate(7, 0, 4, 2) is None
    assert write(part, 4) is Code.NONE
    assert part.log.end_offset == 6


def test_a_producer_of_which_nothing_is_left_is_unknown() -> None:
    part = partition()
    write(part, 0)
    assert lose_tail(part, 0) == 0
    assert write(part, 40) is Code.NONE


def test_a_transaction_whose_marker_is_lost_is_open_again() -> None:
    part = partition()
    write(part, 0, transactional=True)
    append_marker(part, 7, 0, commit=False, now_ms=START_MS)
    write(part, 0, producer=8, transactional=True)
    append_marker(part, 8, 0, commit=True, now_ms=START_MS)
    assert part.log.end_offset == 6
    lose_tail(part, 5)
    assert (part.log.open_transactions, part.log.aborted_transactions(0, 9)) == ({8: 3}, [(7, 0)])
    lose_tail(part, 2)
    assert (part.log.open_transactions, part.log.aborted_transactions(0, 9)) == ({7: 0}, [])


def test_committed_and_aborted_are_told_apart_by_the_markers() -> None:
    part = partition()
    write(part, 0, transactional=True)
    append_marker(part, 7, 0, commit=True, now_ms=START_MS)
    write(part, 0, producer=9)
    lose_tail(part, 3)
    assert (part.log.open_transactions, part.log.aborted_transactions(0, 9)) == ({}, [])
    assert part.producers.check(7, -1, 0)[0] is Code.INVALID_PRODUCER_EPOCH
