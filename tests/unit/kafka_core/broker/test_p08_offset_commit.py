"""OffsetCommit requests through the dispatcher."""

from __future__ import annotations

from uuid import UUID

import pytest

from kafka_core.broker.codes import Code
from kafka_core.protocol import ZERO_UUID
from kafka_core.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from tests.unit.kafka_core.broker.harness import Bench


def commit(
    bench: Bench,
    version: int = 9,
    *,
    group: str = "g",
    topic: str = "t",
    topic_id: UUID | None = None,
    index: int = 0,
    generation: int = -1,
    metadata: str | None = "m",
    broker: int = 1,
) -> int:
    by_id = version >= 10
    if topic_id is None:
        topic_id = bench.cluster.topics["t"].topic_id
    item = OffsetCommitRequestPartition(index, 5, 3 if version >= 6 else -1, metadata)
    asked = OffsetCommitRequestTopic("" if by_id else topic, topic_id if by_id else ZERO_UUID, [item])
    request = OffsetCommitRequest(group, generation, "m" if generation >= 0 else "", None, -1, [asked])
    (answer,) = bench.ask(request, version, broker=broker).topics
    assert (answer.topic_id if by_id else answer.name) == (topic_id if by_id else topic)
    (partition,) = answer.partitions
    assert partition.partition_index == index
    return partition.error_code


@pytest.mark.parametrize("version", range(2, 11))
def test_every_version_stores_a_position(version: int) -> None:
    bench = Bench()
    bench.topic()
    assert commit(bench, version) == 0
    entry = bench.cluster.groups.committed("g", "t", 0)
    assert entry is not None
    assert (entry.offset, entry.metadata, entry.leader_epoch) == (5, "m", 3 if version >= 6 else -1)


def test_invalid_commits_are_refused() -> None:
    bench = Bench(2)
    bench.topic()
    other = 3 - (bench.cluster.coordinator_of("g") or bench.cluster.nodes[1]).node_id
    home = 3 - other
    assert commit(bench, broker=other) == Code.NOT_COORDINATOR
    assert commit(bench, broker=home, topic="nope") == Code.UNKNOWN_TOPIC_OR_PARTITION
    assert commit(bench, broker=home, index=9) == Code.UNKNOWN_TOPIC_OR_PARTITION
    assert commit(bench, 10, broker=home, topic_id=UUID(int=9)) == Code.UNKNOWN_TOPIC_ID
    assert commit(bench, broker=home, metadata="x" * 4097) == Code.OFFSET_METADATA_TOO_LARGE
    assert commit(bench, broker=home, metadata=None) == 0
    assert commit(bench, broker=home, generation=3) == Code.UNKNOWN_MEMBER_ID


def test_the_answer_for_a_group_there_is_not_depends_on_the_version() -> None:
    bench = Bench()
    bench.topic()
    assert commit(bench, 8, generation=3) == Code.ILLEGAL_GENERATION
    assert commit(bench, 9, generation=3) == Code.GROUP_ID_NOT_FOUND
