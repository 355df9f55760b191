"""ListOffsets requests through the dispatcher."""

from __future__ import annotations

import pytest

from kafka_core.broker.codes import Code
from kafka_core.protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from tests.unit.kafka_core.broker.harness import START_MS, Bench

LATEST, EARLIEST, MAX_TIMESTAMP, EARLIEST_LOCAL, TIERED, PENDING = range(-1, -7, -1)


@pytest.fixture
def bench() -> Bench:
    bench = Bench(2)
    bench.topic()
    for _ in range(3):
        bench.write([b"v"] * 2)
        bench.advance(1)
    return bench


def ask(
    bench: Bench,
    timestamp: int,
    version: int = 11,
    *,
    name: str = "t",
    broker: int = 1,
    epoch: int = -1,
    level: int = 0,
) -> tuple[int, int, int, int]:
    item = ListOffsetsPartition(0, epoch, timestamp)
    response = bench.ask(ListOffsetsRequest(-1, level, [ListOffsetsTopic(name, [item])]), version, broker=broker)
    (answer,) = response.topics[0].partitions
    return answer.error_code, answer.offset, answer.timestamp, answer.leader_epoch


@pytest.mark.parametrize("version", range(1, 12))
def test_ends_in_every_version(bench: Bench, version: int) -> None:
    epoch = 0 if version >= 4 else -1
    assert ask(bench, LATEST, version) == (0, 6, -1, epoch)
    assert ask(bench, EARLIEST, version) == (0, 0, -1, epoch)


@pytest.mark.parametrize(
    ("timestamp", "expected"),
    [
        (0, (0, START_MS)),
        (START_MS, (0, START_MS)),
        (START_MS + 1, (2, START_MS + 1000)),
        (START_MS + 2001, (-1, -1)),
        (MAX_TIMESTAMP, (4, START_MS + 2000)),
        (TIERED, (-1, -1)),
        (PENDING, (-1, -1)),
    ],
)
def test_offsets_by_time(bench: Bench, timestamp: int, expected: tuple[int, int]) -> None:
    assert ask(bench, timestamp)[1:3] == expected


def test_the_start_moves_with_deleted_records(bench: Bench) -> None:
    bench.partition().lead(1)
    bench.write([b"v"])
    bench.partition().log.delete_before(6)
    assert ask(bench, EARLIEST) == (0, 6, -1, 1)
    assert ask(bench, EARLIEST_LOCAL) == (0, 6, -1, 1)


@pytest.mark.parametrize(("timestamp", "first"), [(MAX_TIMESTAMP, 7), (EARLIEST_LOCAL, 8), (TIERED, 9), (PENDING, 11)])
def test_special_times_need_their_version(bench: Bench, timestamp: int, first: int) -> None:
    assert ask(bench, timestamp, first - 1)[0] == Code.UNSUPPORTED_VERSION
    assert ask(bench, timestamp, first)[0] == Code.NONE
    assert ask(bench, -7)[0] == Code.UNSUPPORTED_VERSION


def test_errors(bench: Bench) -> None:
    assert ask(bench, LATEST, name="nope")[0] == Code.UNKNOWN_TOPIC_OR_PARTITION
    assert ask(bench, LATEST, broker=2)[0] == Code.NOT_LEADER_OR_FOLLOWER
    assert ask(bench, LATEST, epoch=5)[0] == Code.UNKNOWN_LEADER_EPOCH
    assert ask(bench, LATEST, level=1) == (0, 6, -1, 0)


def test_an_empty_partition() -> None:
    bench = Bench()
    bench.topic()
    assert ask(bench, LATEST) == ask(bench, EARLIEST) == (0, 0, -1, 0)
    assert ask(bench, MAX_TIMESTAMP) == ask(bench, 5) == (0, -1, -1, -1)
