"""kafka_core.engine.administering.groups: what aio/administering/test_admin.py does not show."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_core.engine.administering import groups as admin_groups
from kafka_core.errors import ProtocolError
from kafka_core.listings import ConsumerGroupState, ConsumerGroupTopicPartitions, ConsumerGroupType
from kafka_core.model import TopicPartition
from kafka_core.protocol import encode_bytes
from kafka_core.protocol.messages.consumer_protocol_assignment import ConsumerProtocolAssignment
from kafka_core.protocol.messages.consumer_protocol_assignment import TopicPartition as AssignedTopic
from kafka_core.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from kafka_core.protocol.messages.offset_fetch import OffsetFetchRequest

NEWEST = admin_groups.MAX_OFFSET_API_VERSION


def test_no_filter_can_be_said_in_the_oldest_version() -> None:
    assert encode_bytes(admin_groups.list_groups_request(), 0) == b""


def test_filters_that_name_nothing_are_left_out() -> None:
    request = admin_groups.list_groups_request({ConsumerGroupState.UNKNOWN}, {ConsumerGroupType.UNKNOWN})
    assert (request.states_filter, request.types_filter) == ([], [])


@pytest.mark.parametrize(
    "version", range(OffsetFetchRequest.VALID_VERSIONS[0], admin_groups.MAX_OFFSET_API_VERSION + 1)
)
def test_offsets_can_be_asked_for_in_every_version(version: int) -> None:
    for partitions in ([TopicPartition("t", 0)], None)[: 2 if version > 1 else 1]:  # version 1 can't ask for all
        group = ConsumerGroupTopicPartitions("g", partitions)
        request = admin_groups.fetch_offsets_request(group, require_stable=False, version=version)
        assert encode_bytes(request, version)


@pytest.mark.parametrize(
    "version", range(OffsetCommitRequest.VALID_VERSIONS[0], admin_groups.MAX_OFFSET_API_VERSION + 1)
)
def test_offsets_can_be_committed_in_every_version(version: int) -> None:
    group = ConsumerGroupTopicPartitions("g", [TopicPartition("t", 0, 5), TopicPartition("u", 1, 6, "m")])
    assert encode_bytes(admin_groups.commit_offsets_request(group), version)


NAMES = st.text(min_size=1, max_size=10)


@given(st.dictionaries(NAMES, st.lists(st.integers(0, 2**31 - 1), max_size=5), max_size=5), st.integers(0, 3))
def test_assignments_are_read_back(topics: dict[str, list[int]], version: int) -> None:
    message = ConsumerProtocolAssignment([AssignedTopic(name, numbers) for name, numbers in topics.items()])
    data = version.to_bytes(2, "big") + encode_bytes(message, version)
    found = [(item.topic, item.partition) for item in admin_groups.decode_assignment(data)]
    assert found == [(name, number) for name, numbers in topics.items() for number in numbers]


def test_assignment_of_a_newer_version_is_read_as_the_newest_we_know() -> None:
    message = ConsumerProtocolAssignment([AssignedTopic("t", [1])])
    data = b"\0\x09" + encode_bytes(message, 3) + b"something new"
    assert admin_groups.decode_assignment(data) == [TopicPartition("t", 1)]


@given(st.binary(max_size=40))
def test_hostile_assignments_give_protocol_errors_only(data: bytes) -> None:
    with contextlib.suppress(ProtocolError):
        partitions = admin_groups.decode_assignment(data)
        assert len(partitions) <= len(data) // 4


def test_grouping_keeps_the_order() -> None:
    partitions = [TopicPartition("b", 2), TopicPartition("a", 0), TopicPartition("b", 1)]
    assert {name: admin_groups.numbers(items) for name, items in admin_groups.by_topic(partitions).items()} == {
        "b": [2, 1],
        "a": [0],
    }


def test_a_partition_that_the_response_leaves_out_is_not_committed() -> None:
    asked = ConsumerGroupTopicPartitions("group", [TopicPartition("topic", 0, 5), TopicPartition("topic", 1, 6)])
    answered = OffsetCommitResponse(
        topics=[OffsetCommitResponseTopic("topic", partitions=[OffsetCommitResponsePartition(0)])]
    )
    done = admin_groups.committed_offsets(asked, answered).value
    assert done is not None
    first, second = list(done.topic_partitions or [])
    assert first.error is None
    assert second.error is not None
    assert "leaves out" in str(second.error)
