"""Requests and responses about offsets, and what is stored and committed."""

from __future__ import annotations

from uuid import UUID

import pytest

from kafka_core.engine.consuming import offsets
from kafka_core.engine.consuming.offsets import Committed, ConsumerGroupMetadata
from kafka_core.engine.consuming.subscription import Assignment
from kafka_core.errors import ConfigError, KafkaError, StateError
from kafka_core.kernels import Message
from kafka_core.model import OFFSET_INVALID, TopicPartition
from kafka_core.protocol import decode, encode_bytes
from kafka_core.protocol.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from kafka_core.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from kafka_core.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)

MEMBER = ConsumerGroupMetadata("g", 3, "m", None)
IDS = {"t": UUID(int=1), "u": UUID(int=2)}


def topic_id(name: str) -> UUID:
    return IDS.get(name, UUID(int=0))


def assignment_of(*partitions: TopicPartition) -> Assignment:
    assignment = Assignment()
    assignment.add(partitions)
    return assignment


def test_stored_offsets_that_are_not_committed_are_storable() -> None:
    assignment = assignment_of(TopicPartition("t", 0, 0), TopicPartition("t", 1, 0), TopicPartition("t", 2, 0))
    offsets.store(assignment, [TopicPartition("t", 0, 5, "note", 2), TopicPartition("t", 1, 6)])
    assert offsets.storable(assignment) == {("t", 0): Committed(5, 2, "note"), ("t", 1): Committed(6)}
    offsets.committed(assignment, offsets.storable(assignment), {("t", 0): 0, ("t", 1): 25})
    assert list(offsets.storable(assignment)) == [("t", 1)]


def test_store_takes_all_or_nothing() -> None:
    assignment = assignment_of(TopicPartition("t", 0, 0))
    with pytest.raises(StateError):
        offsets.store(assignment, [TopicPartition("t", 0, 5), TopicPartition("t", 9, 5)])
    with pytest.raises(ConfigError):
        offsets.store(assignment, [TopicPartition("t", 0, -3)])
    offsets.store(assignment, [TopicPartition("t", 0, offset) for offset in (-1, -2, -1000, -1001)])
    assert offsets.storable(assignment) == {}


def test_the_offset_behind_a_record_is_stored_as_store_does_it() -> None:
    assignment = assignment_of(TopicPartition("t", 0, 0), TopicPartition("t", 1, 0))
    offsets.store(assignment, [TopicPartition("t", 0, 3, "note", 2)])
    assert assignment.store_behind(Message(topic="t", partition=0, offset=5, leader_epoch=4))
    assert assignment.store_behind(Message(topic="t", partition=1, offset=0))
    stored = offsets.storable(assignment)
    offsets.store(assignment, [TopicPartition("t", 0, 6, None, 4), TopicPartition("t", 1, 1)])
    assert stored == offsets.storable(assignment) == {("t", 0): Committed(6, 4), ("t", 1): Committed(1)}


def test_no_offset_is_stored_for_a_partition_that_was_taken_away() -> None:
    assignment = assignment_of(TopicPartition("t", 0, 0))
    record = Message(topic="t", partition=0, offset=5)
    assert assignment.store_behind(Message(topic="t", partition=0, offset=3))
    removed = assignment.remove([("t", 0)])
    assert not assignment.store_behind(record)
    assignment.add([TopicPartition("t", 0, 0)])
    assert assignment.store_behind(record)
    assert [state.stored for state in (*removed, *assignment)] == [4, 6]


def test_offsets_of_a_former_life_or_topic_are_known() -> None:
    assignment = assignment_of(TopicPartition("t", 0, 0), TopicPartition("t", 1, 0))
    for state in assignment:
        state.stored, state.topic_id = 5, IDS["t"]
    commits = offsets.storable(assignment) | offsets.of_assigned({("u", 0): Committed(1)}, assignment)
    assert offsets.given_up(commits, assignment) == offsets.of_former_topics(commits, topic_id) == []
    assignment.remove([("t", 0)])
    assignment.add([TopicPartition("t", 0, 0)])
    assert offsets.given_up(commits, assignment) == [("t", 0)]
    offsets.committed(assignment, commits, {})
    assert {state.key: state.committed for state in assignment} == {("t", 0): OFFSET_INVALID, ("t", 1): 5}
    anew = UUID(int=99)
    assert offsets.of_former_topics(commits, lambda _: anew) == [("t", 0), ("t", 1)]
    assert offsets.of_former_topics(commits, lambda _: UUID(int=0)) == [], "not known at the moment"
    (topic, _) = offsets.commit_request(MEMBER, commits, lambda _: anew).topics
    assert topic.topic_id == IDS["t"], "the id of the topic that the offsets belong to: the broker will refuse it"


def test_offsets_of_users_come_and_go() -> None:
    commits = offsets.from_partitions([TopicPartition("t", 0, 5, "x", 1), TopicPartition("t", 1)])
    assert commits == {("t", 0): Committed(5, 1, "x")}
    with pytest.raises(ConfigError):
        offsets.from_partitions([TopicPartition("t", 0, -3)])
    assert offsets.from_partitions([TopicPartition("t", 0, -1)]) == {}
    (view,) = offsets.to_partitions({("t", 0): Committed(5, 1, "x", KafkaError.OFFSET_METADATA_TOO_LARGE)})
    assert (view.offset, view.leader_epoch, view.metadata) == (5, 1, "x")
    assert view.error is not None
    assert view.error.code() == KafkaError.OFFSET_METADATA_TOO_LARGE


@pytest.mark.parametrize("version", range(2, 11))
def test_a_commit_is_the_same_in_every_version(version: int) -> None:
    commits = {("t", 0): Committed(5, 2, "x"), ("u", 1): Committed(6)}
    request = offsets.commit_request(MEMBER, commits, topic_id)
    read = decode(OffsetCommitRequest, version, encode_bytes(request, version))
    rows = {
        (topic.name or {value: key for key, value in IDS.items()}[topic.topic_id], item.partition_index): (
            item.committed_offset,
            item.committed_metadata,
        )
        for topic in read.topics
        for item in topic.partitions
    }
    assert rows == {("t", 0): (5, "x"), ("u", 1): (6, "")}
    assert (read.group_id, read.generation_id_or_member_epoch, read.member_id) == ("g", 3, "m")


def test_commit_errors_are_found_by_name_or_id() -> None:
    part = OffsetCommitResponsePartition(partition_index=1, error_code=25)
    by_name = OffsetCommitResponse(topics=[OffsetCommitResponseTopic(name="t", partitions=[part])])
    by_id = OffsetCommitResponse(topics=[OffsetCommitResponseTopic(topic_id=IDS["t"], partitions=[part])])
    for response in (by_name, by_id):
        assert offsets.commit_errors(response, {IDS["t"]: "t"}) == {("t", 1): 25}


@pytest.mark.parametrize("version", range(1, 11))
def test_committed_offsets_are_asked_for_in_every_version(version: int) -> None:
    request = offsets.fetch_request(MEMBER, [("t", 0), ("t", 1), ("u", 0)], topic_id, version)
    read = decode(OffsetFetchRequest, version, encode_bytes(request, version))
    if version < 8:
        assert read.topics is not None
        assert {topic.name: topic.partition_indexes for topic in read.topics} == {"t": [0, 1], "u": [0]}
    else:
        topics = read.groups[0].topics
        assert topics is not None
        assert [topic.partition_indexes for topic in topics] == [[0, 1], [0]]
    assert read.require_stable == (version >= 7)


def test_committed_offsets_are_read_from_both_forms() -> None:
    old = OffsetFetchResponse(
        topics=[
            OffsetFetchResponseTopic(
                name="t",
                partitions=[
                    OffsetFetchResponsePartition(partition_index=0, committed_offset=5, committed_leader_epoch=2),
                    OffsetFetchResponsePartition(partition_index=1, committed_offset=-1),
                ],
            )
        ]
    )
    code, commits = offsets.fetched_commits(old, {})
    assert code == 0
    assert commits["t", 0].offset == 5
    assert commits["t", 1].offset == OFFSET_INVALID
    row = OffsetFetchResponsePartitions(partition_index=0, committed_offset=5, error_code=88)
    new = OffsetFetchResponse(
        groups=[OffsetFetchResponseGroup(topics=[OffsetFetchResponseTopics(topic_id=IDS["t"], partitions=[row])])]
    )
    assert offsets.fetched_commits(new, {IDS["t"]: "t"})[1]["t", 0].error_code == 88
    new.groups[0].error_code = 16
    assert offsets.fetched_commits(new, {}) == (16, {})


@pytest.mark.parametrize("version", range(1, 12))
def test_offsets_by_time_are_asked_for_in_every_version(version: int) -> None:
    request = offsets.list_request(
        {("t", 0): -2, ("t", 1): 77}, {("t", 0): 4}, read_committed=True, version=version, timeout_ms=9
    )
    read = decode(ListOffsetsRequest, version, encode_bytes(request, version))
    assert [item.timestamp for item in read.topics[0].partitions] == [-2, 77]
    assert read.replica_id == -1
    assert read.isolation_level == (1 if version >= 2 else 0)


def test_listed_offsets_are_read_by_partition() -> None:
    part = ListOffsetsPartitionResponse(partition_index=1, offset=9, leader_epoch=2)
    response = ListOffsetsResponse(topics=[ListOffsetsTopicResponse(name="t", partitions=[part])])
    assert offsets.listed_offsets(response) == {("t", 1): Committed(9, 2)}
    response.topics[0].partitions[0].error_code = KafkaError._UNKNOWN_PARTITION  # no broker sends that
    assert offsets.listed_offsets(response)["t", 1].error_code == KafkaError.UNKNOWN
