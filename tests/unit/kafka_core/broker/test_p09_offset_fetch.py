"""OffsetFetch requests through the dispatcher."""

from __future__ import annotations

from uuid import UUID

import pytest

from kafka_core.broker.codes import Code
from kafka_core.protocol import ZERO_UUID
from kafka_core.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from tests.unit.kafka_core.broker.harness import Bench

Found = list[tuple[str | UUID, int, int, int, str | None, int]]


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.topic(partitions=3)
    for group in ("g", "h"):
        bench.cluster.groups.admit_commit(group, "", None, -1, unknown=Code.GROUP_ID_NOT_FOUND)
        bench.cluster.groups.commit(group, "t", 1, 5 if group == "g" else 6, 3, "m")
    return bench


def old(bench: Bench, version: int, indexes: list[int] | None) -> tuple[int, Found]:
    topics = None if indexes is None else [OffsetFetchRequestTopic("t", indexes)]
    response = bench.ask(OffsetFetchRequest("g", topics), version)
    found: Found = [
        (topic.name, p.partition_index, p.committed_offset, p.committed_leader_epoch, p.metadata, p.error_code)
        for topic in response.topics
        for p in topic.partitions
    ]
    return response.error_code, found


def new(bench: Bench, version: int, group: str, indexes: list[int] | None, topic_id: UUID | None = None) -> Found:
    by_id = version >= 10
    topic_id = topic_id or bench.cluster.topics["t"].topic_id
    asked = OffsetFetchRequestTopics("" if by_id else "t", topic_id if by_id else ZERO_UUID, indexes or [])
    groups = [OffsetFetchRequestGroup(group, topics=None if indexes is None else [asked])]
    (answer,) = bench.ask(OffsetFetchRequest(groups=groups), version).groups
    assert (answer.group_id, answer.error_code) == (group, 0)
    return [
        (
            t.topic_id if by_id else t.name,
            p.partition_index,
            p.committed_offset,
            p.committed_leader_epoch,
            p.metadata,
            p.error_code,
        )
        for t in answer.topics
        for p in t.partitions
    ]


@pytest.mark.parametrize("version", range(1, 8))
def test_one_group(bench: Bench, version: int) -> None:
    epoch = 3 if version >= 5 else -1
    expected = [("t", 1, 5, epoch, "m", 0), ("t", 2, -1, -1, "", 0)]
    assert old(bench, version, [1, 2]) == (0, expected)
    if version >= 2:
        assert old(bench, version, None) == (0, expected[:1])


@pytest.mark.parametrize("version", [8, 9, 10])
def test_groups_one_by_one(bench: Bench, version: int) -> None:
    name = bench.cluster.topics["t"].topic_id if version >= 10 else "t"
    assert new(bench, version, "g", [1, 0]) == [(name, 1, 5, 3, "m", 0), (name, 0, -1, -1, "", 0)]
    assert new(bench, version, "h", None) == [(name, 1, 6, 3, "m", 0)]
    assert new(bench, version, "nobody", None) == []
    assert new(bench, version, "nobody", [1]) == [(name, 1, -1, -1, "", 0)]


def test_several_groups_at_once(bench: Bench) -> None:
    groups = [OffsetFetchRequestGroup(name, topics=None) for name in ("h", "g")]
    answers = bench.ask(OffsetFetchRequest(groups=groups), 8).groups
    assert [(a.group_id, a.topics[0].partitions[0].committed_offset) for a in answers] == [("h", 6), ("g", 5)]


def test_an_unknown_topic_id(bench: Bench) -> None:
    assert new(bench, 10, "g", [0], UUID(int=9)) == [(UUID(int=9), 0, -1, -1, "", Code.UNKNOWN_TOPIC_ID)]


def test_the_wrong_broker_says_so() -> None:
    bench = Bench(2)
    node = bench.cluster.coordinator_of("g")
    assert node is not None
    other = 3 - node.node_id
    request = OffsetFetchRequest("g", [OffsetFetchRequestTopic("t", [0])])
    assert bench.ask(request, 2, broker=other).error_code == Code.NOT_COORDINATOR
    assert bench.ask(request, 1, broker=other).topics[0].partitions[0].error_code == Code.NOT_COORDINATOR
    batched = OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g", topics=None)])
    assert bench.ask(batched, 8, broker=other).groups[0].error_code == Code.NOT_COORDINATOR
