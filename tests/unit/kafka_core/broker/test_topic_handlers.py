"""CreateTopics, DeleteTopics, CreatePartitions, DeleteRecords, OffsetForLeaderEpoch through the dispatcher."""

from __future__ import annotations

from uuid import UUID

import pytest

from kafka_core.broker.codes import Code
from kafka_core.protocol import ZERO_UUID
from kafka_core.protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kafka_core.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kafka_core.protocol.messages.delete_records import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from kafka_core.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from kafka_core.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from tests.unit.kafka_core.broker.harness import Bench


@pytest.mark.parametrize("version", range(2, 8))
def test_topics_are_created(version: int) -> None:
    bench = Bench(2)
    item = CreatableTopic("t", 3, 2, [], [CreatableTopicConfig("retention.ms", "7")])
    (answer,) = bench.ask(CreateTopicsRequest([item]), version).topics
    assert (answer.name, answer.error_code) == ("t", 0)
    topic = bench.cluster.topics["t"]
    assert (len(topic.partitions), topic.config.integer("retention.ms")) == (3, 7)
    if version >= 5:
        assert (answer.num_partitions, answer.replication_factor) == (3, 2)
        assert {config.name: config.value for config in answer.configs or []}["retention.ms"] == "7"
    if version >= 7:
        assert answer.topic_id == topic.topic_id


def test_one_topic_that_fails_does_not_stop_the_others() -> None:
    bench = Bench()
    names = ("good", "bad name", "twice", "twice")
    answers = bench.ask(CreateTopicsRequest([CreatableTopic(name, 1, 1) for name in names])).topics
    assert {answer.name: answer.error_code for answer in answers} == {
        "good": 0,
        "bad name": Code.INVALID_TOPIC_EXCEPTION,
        "twice": Code.INVALID_REQUEST,
    }
    assert list(bench.cluster.topics) == ["good"]


def test_replicas_are_given_by_hand() -> None:
    bench = Bench(2)

    def create(*indexes: int) -> int:
        assignments = [CreatableReplicaAssignment(index, [2, 1]) for index in indexes]
        return bench.ask(CreateTopicsRequest([CreatableTopic("t", -1, -1, assignments)])).topics[0].error_code

    assert create(0, 2) == Code.INVALID_REPLICA_ASSIGNMENT
    assert create(1, 0) == 0
    assert [partition.replicas for partition in bench.cluster.topics["t"].partitions] == [[2, 1], [2, 1]]


def test_creation_can_be_tried() -> None:
    bench = Bench()
    request = CreateTopicsRequest([CreatableTopic("t", -1, -1)], validate_only=True)
    assert bench.ask(request).topics[0].num_partitions == 1
    assert bench.cluster.topics == {}


@pytest.mark.parametrize("version", range(1, 7))
def test_topics_are_deleted(version: int) -> None:
    bench = Bench()
    bench.topic()
    if version >= 6:
        request = DeleteTopicsRequest([DeleteTopicState("t"), DeleteTopicState("nope")])
    else:
        request = DeleteTopicsRequest(topic_names=["t", "nope"])
    answers = bench.ask(request, version).responses
    assert [(answer.name, answer.error_code) for answer in answers] == [
        ("t", 0),
        ("nope", Code.UNKNOWN_TOPIC_OR_PARTITION),
    ]
    assert bench.cluster.topics == {}


def test_topics_are_deleted_by_id() -> None:
    bench = Bench()
    topic_id = bench.topic()
    states = [
        DeleteTopicState(None, UUID(int=9)),
        DeleteTopicState("t", topic_id),
        DeleteTopicState(None, ZERO_UUID),
        DeleteTopicState(None, topic_id),
    ]
    answers = bench.ask(DeleteTopicsRequest(states)).responses
    codes = [answer.error_code for answer in answers]
    assert codes == [Code.UNKNOWN_TOPIC_ID, Code.INVALID_REQUEST, Code.INVALID_REQUEST, 0]
    assert answers[3].name == "t"


@pytest.mark.parametrize("version", range(4))
def test_topics_grow(version: int) -> None:
    bench = Bench()
    bench.topic("t")
    bench.topic("u")
    items = [
        CreatePartitionsTopic("t", 3, None),
        CreatePartitionsTopic("u", 2, [CreatePartitionsAssignment([1])]),
        CreatePartitionsTopic("nope", 2, None),
        CreatePartitionsTopic("v", 2, None),
        CreatePartitionsTopic("v", 3, None),
    ]
    answers = bench.ask(CreatePartitionsRequest(items), version).results
    assert {answer.name: answer.error_code for answer in answers} == {
        "t": 0,
        "u": 0,
        "nope": Code.UNKNOWN_TOPIC_OR_PARTITION,
        "v": Code.INVALID_REQUEST,
    }
    assert [len(topic.partitions) for topic in bench.cluster.topics.values()] == [3, 2]


def delete_records(bench: Bench, offset: int, name: str = "t", version: int = 2, broker: int = 1) -> tuple[int, int]:
    items = [DeleteRecordsTopic(name, [DeleteRecordsPartition(0, offset)])]
    answer = bench.ask(DeleteRecordsRequest(items, 1000), version, broker=broker).topics[0].partitions[0]
    return answer.error_code, answer.low_watermark


@pytest.mark.parametrize("version", range(3))
def test_records_are_deleted(version: int) -> None:
    bench = Bench(2)
    bench.topic()
    bench.write([b"v"] * 5)
    assert delete_records(bench, 2, version=version) == (0, 2)
    assert delete_records(bench, 1, version=version) == (0, 2)
    assert delete_records(bench, -1, version=version) == (0, 5)
    for offset in (6, -2):
        assert delete_records(bench, offset, version=version) == (Code.OFFSET_OUT_OF_RANGE, -1)
    assert delete_records(bench, 0, "nope", version) == (Code.UNKNOWN_TOPIC_OR_PARTITION, -1)
    assert delete_records(bench, 0, version=version, broker=2) == (Code.NOT_LEADER_OR_FOLLOWER, -1)


def test_records_of_a_compacted_topic_are_kept() -> None:
    bench = Bench()
    bench.topic(configs={"cleanup.policy": "compact"})
    assert delete_records(bench, 0) == (Code.POLICY_VIOLATION, -1)


@pytest.mark.parametrize("version", [2, 3, 4])
def test_ends_of_leader_epochs(version: int) -> None:
    bench = Bench(2)
    bench.topic()
    bench.write([b"v"] * 3)
    bench.partition().lead(1)
    bench.write([b"v"])

    def ask(epoch: int, name: str = "t", current: int = -1, broker: int = 1) -> tuple[int, int, int]:
        items = [OffsetForLeaderTopic(name, [OffsetForLeaderPartition(0, current, epoch)])]
        request = OffsetForLeaderEpochRequest(-1 if version >= 3 else -2, items)
        answer = bench.ask(request, version, broker=broker).topics[0].partitions[0]
        return answer.error_code, answer.leader_epoch, answer.end_offset

    assert [ask(epoch) for epoch in (-1, 0, 1, 2)] == [(0, -1, -1), (0, 0, 3), (0, 1, 4), (0, -1, -1)]
    assert ask(0, "nope")[0] == Code.UNKNOWN_TOPIC_OR_PARTITION
    assert ask(0, current=0)[0] == Code.FENCED_LEADER_EPOCH
    assert ask(0, broker=2)[0] == Code.NOT_LEADER_OR_FOLLOWER
