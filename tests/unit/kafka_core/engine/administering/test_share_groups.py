"""kafka_core.engine.administering.share_groups: requests in every version, and answers that leave something out."""

from __future__ import annotations

import pytest

from kafka_core.admin_model import SharePartitionOffsetInfo
from kafka_core.engine.administering import share_groups
from kafka_core.engine.metadata import ClusterView, PartitionView, TopicView
from kafka_core.errors import KafkaError
from kafka_core.listings import ConsumerGroupState, ConsumerGroupTopicPartitions
from kafka_core.model import TopicPartition
from kafka_core.protocol import encode_bytes
from kafka_core.protocol.messages.share_group_describe import DescribedGroup
from kafka_core.protocol.messages.share_group_offsets import (
    AlterShareGroupOffsetsResponse,
    AlterShareGroupOffsetsResponsePartition,
    AlterShareGroupOffsetsResponseTopic,
    DeleteShareGroupOffsetsResponse,
    DeleteShareGroupOffsetsResponseTopic,
    DescribeShareGroupOffsetsResponseGroup,
    DescribeShareGroupOffsetsResponsePartition,
    DescribeShareGroupOffsetsResponseTopic,
)

T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)


def code(error: KafkaError | None) -> int | None:
    return None if error is None else error.code()


@pytest.mark.parametrize("version", [0, 1])
def test_offsets_are_asked_for_by_topic_or_all_of_them(version: int) -> None:
    request = share_groups.describe_offsets_request({"all": None, "some": [T0, U0, T1]})
    everything, some = request.groups
    assert (everything.group_id, everything.topics) == ("all", None)
    assert some.topics is not None
    assert [(item.topic_name, item.partitions) for item in some.topics] == [("t", [0, 1]), ("u", [0])]
    assert encode_bytes(request, version)


def test_offsets_that_are_not_known_are_none() -> None:
    part = DescribeShareGroupOffsetsResponsePartition
    rows = [part(0, -1, 0, -1), part(1, 7, 3, -1), part(2, 7, 3, 2), part(3, 0, 0, 0, 29, "not yours")]
    group = DescribeShareGroupOffsetsResponseGroup("g", [DescribeShareGroupOffsetsResponseTopic("t", partitions=rows)])
    found = share_groups.described_offsets(group).result()
    assert found is not None
    assert [found[TopicPartition("t", number)] for number in range(3)] == [
        SharePartitionOffsetInfo(),
        SharePartitionOffsetInfo(7, 3),
        SharePartitionOffsetInfo(7, 3, 2),
    ]
    refused = found[TopicPartition("t", 3)]
    assert refused.error is not None
    assert (refused.start_offset, refused.error.code(), refused.error.str()) == (None, 29, "not yours")


def test_an_error_of_the_group_is_the_outcome() -> None:
    answer = DescribeShareGroupOffsetsResponseGroup("g", [], 30, "no")
    for outcome in (
        share_groups.described_offsets(answer),
        share_groups.altered_offsets(
            ConsumerGroupTopicPartitions("g", [T0]), AlterShareGroupOffsetsResponse(0, 30, "no")
        ),
        share_groups.deleted_offsets(["t"], DeleteShareGroupOffsetsResponse(0, 30, "no")),
        share_groups.describe_share_group(DescribedGroup(30, "no", "g"), None),
    ):
        assert outcome.value is None
        assert outcome.error is not None
        assert (outcome.error.code, outcome.error.error.str()) == (30, "no")


def test_partitions_that_are_not_there_are_not_asked_for() -> None:
    topics = {
        "t": TopicView("t", partitions={0: PartitionView(0, 1)}),
        "secret": TopicView("secret", error_code=KafkaError.TOPIC_AUTHORIZATION_FAILED),
    }
    secret = TopicPartition("secret", 0)
    known, missing = share_groups.known_partitions(ClusterView({}, topics), [T1, T0, U0, secret])
    assert known == [T0]
    assert {item: code(info.error) for item, info in missing.items()} == {
        T1: KafkaError.UNKNOWN_TOPIC_OR_PART,
        U0: KafkaError.UNKNOWN_TOPIC_OR_PART,
        secret: KafkaError.TOPIC_AUTHORIZATION_FAILED,
    }


def test_what_an_answer_leaves_out_is_an_error() -> None:
    listed = share_groups.in_order([U0, T0], {T0: SharePartitionOffsetInfo(1, 0, 2)})
    assert list(listed) == [U0, T0]
    assert (code(listed[U0].error), listed[T0].start_offset) == (KafkaError._FAIL, 1)
    row = AlterShareGroupOffsetsResponsePartition(0)
    altered = share_groups.altered_offsets(
        ConsumerGroupTopicPartitions("g", [TopicPartition("t", 0, 4), T1]),
        AlterShareGroupOffsetsResponse(responses=[AlterShareGroupOffsetsResponseTopic("t", partitions=[row])]),
    ).result()
    assert altered is not None
    assert altered.topic_partitions is not None
    first, second = altered.topic_partitions
    assert (first.offset, code(first.error)) == (4, None)
    assert code(second.error) == KafkaError._FAIL
    deleted = share_groups.deleted_offsets(
        ["u", "t"], DeleteShareGroupOffsetsResponse(responses=[DeleteShareGroupOffsetsResponseTopic("t")])
    ).result()
    assert deleted is not None
    assert deleted["t"] is None
    assert deleted["u"] is not None
    assert deleted["u"].code == KafkaError._FAIL
    assert "leaves out u" in str(deleted["u"])


def test_what_was_asked_for_is_not_changed_by_the_answer() -> None:
    wanted = TopicPartition("t", 0, 4)
    row = AlterShareGroupOffsetsResponsePartition(0, 3, "nowhere")
    answer = AlterShareGroupOffsetsResponse(responses=[AlterShareGroupOffsetsResponseTopic("t", partitions=[row])])
    group = ConsumerGroupTopicPartitions("g", [wanted])
    (partition,) = share_groups.alter_offsets_request(group).topics[0].partitions
    assert (partition.partition_index, partition.start_offset) == (0, 4)
    altered = share_groups.altered_offsets(group, answer).result()
    assert altered is not None
    assert altered.topic_partitions is not None
    assert code(altered.topic_partitions[0].error) == 3
    assert wanted.error is None


@pytest.mark.parametrize(
    ("word", "state"),
    [
        ("Stable", ConsumerGroupState.STABLE),
        ("Empty", ConsumerGroupState.EMPTY),
        ("Dead", ConsumerGroupState.DEAD),
        ("New", ConsumerGroupState.UNKNOWN),
    ],
)
def test_states(word: str, state: ConsumerGroupState) -> None:
    found = share_groups.describe_share_group(DescribedGroup(group_id="g", group_state=word), None).result()
    assert found is not None
    assert (found.state, found.members, found.authorized_operations) == (state, [], None)
