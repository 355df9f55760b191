"""Administration of share groups and their offsets: arguments → requests, responses → results.

Must not know connections or time. Spec: KIP-932 (share groups), KIP-1226 (their lag).
"""

from collections.abc import Iterable, Mapping, Sequence

from kafka_core.admin_model import (
    AclOperation,
    MemberAssignment,
    Outcome,
    ShareGroupDescription,
    ShareMemberDescription,
    SharePartitionOffsetInfo,
)
from kafka_core.engine.administering.groups import by_topic, left_out, numbers, state_of
from kafka_core.engine.metadata import ClusterView
from kafka_core.errors import BrokerError, KafkaError, KafkaException
from kafka_core.listings import ConsumerGroupTopicPartitions
from kafka_core.model import Node, TopicPartition
from kafka_core.protocol.messages.share_group_describe import DescribedGroup, Member
from kafka_core.protocol.messages.share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
    AlterShareGroupOffsetsResponse,
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsRequestTopic,
    DeleteShareGroupOffsetsResponse,
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsRequestTopic,
    DescribeShareGroupOffsetsResponseGroup,
    DescribeShareGroupOffsetsResponsePartition,
)

Offsets = dict[TopicPartition, SharePartitionOffsetInfo]
Deleted = dict[str, KafkaException | None]


# ---- groups


def describe_share_group(group: DescribedGroup, coordinator: Node | None) -> Outcome[ShareGroupDescription]:
    """One group of a ShareGroupDescribe response."""
    if group.error_code:
        return Outcome.of(group.error_code, group.error_message)
    description = ShareGroupDescription(
        group.group_id,
        [_member(item) for item in group.members],
        group.assignor_name,
        state_of(group.group_state),
        coordinator,
        group.group_epoch,
        group.assignment_epoch,
        AclOperation.from_bits(group.authorized_operations),
    )
    return Outcome(description)


def _member(member: Member) -> ShareMemberDescription:
    partitions = [
        TopicPartition(topic.topic_name, number)
        for topic in member.assignment.topic_partitions
        for number in topic.partitions
    ]
    return ShareMemberDescription(
        member.member_id,
        member.client_id,
        member.client_host,
        MemberAssignment(partitions),
        member.member_epoch,
        list(member.subscribed_topic_names),
        member.rack_id,
    )


# ---- offsets


def known_partitions(view: ClusterView, partitions: Iterable[TopicPartition]) -> tuple[list[TopicPartition], Offsets]:
    """The partitions that the cluster has, and the errors of those it has not.

    Kafka 4.3.1 leaves DescribeShareGroupOffsets unanswered when it names a partition that is not there.
    """
    known: list[TopicPartition] = []
    missing: Offsets = {}
    for item in partitions:
        topic = view.topics.get(item.topic)
        if topic is not None and item.partition in topic.partitions:
            known.append(item)
        else:
            code = topic.error_code if topic is not None and topic.error_code else KafkaError.UNKNOWN_TOPIC_OR_PART
            missing[item] = SharePartitionOffsetInfo(error=_error(code, None))
    return known, missing


def describe_offsets_request(
    wanted: Mapping[str, Sequence[TopicPartition] | None],
) -> DescribeShareGroupOffsetsRequest:
    """The offsets of groups in some partitions; None: in all that the group has offsets in."""
    return DescribeShareGroupOffsetsRequest(
        [
            DescribeShareGroupOffsetsRequestGroup(
                group_id,
                None
                if partitions is None
                else [
                    DescribeShareGroupOffsetsRequestTopic(name, numbers(items))
                    for name, items in by_topic(partitions).items()
                ],
            )
            for group_id, partitions in wanted.items()
        ]
    )


def described_offsets(group: DescribeShareGroupOffsetsResponseGroup) -> Outcome[Offsets]:
    """The positions of one group in each partition of the answer."""
    if group.error_code:
        return Outcome.of(group.error_code, group.error_message)
    return Outcome(
        {
            TopicPartition(topic.topic_name, item.partition_index): _offset_info(item)
            for topic in group.topics
            for item in topic.partitions
        }
    )


def in_order(asked: Sequence[TopicPartition], found: Mapping[TopicPartition, SharePartitionOffsetInfo]) -> Offsets:
    """The partitions found, in the order asked for; one that was left out has an error."""
    return {item: found[item] if item in found else SharePartitionOffsetInfo(error=left_out(item)) for item in asked}


def _offset_info(item: DescribeShareGroupOffsetsResponsePartition) -> SharePartitionOffsetInfo:
    if item.error_code:
        return SharePartitionOffsetInfo(error=_error(item.error_code, item.error_message))
    if item.start_offset < 0:
        return SharePartitionOffsetInfo()
    return SharePartitionOffsetInfo(item.start_offset, item.leader_epoch, item.lag if item.lag >= 0 else None)


def alter_offsets_request(group: ConsumerGroupTopicPartitions) -> AlterShareGroupOffsetsRequest:
    """New start offsets for a group without members."""
    return AlterShareGroupOffsetsRequest(
        group.group_id,
        [
            AlterShareGroupOffsetsRequestTopic(
                name, [AlterShareGroupOffsetsRequestPartition(item.partition, item.offset) for item in items]
            )
            for name, items in by_topic(group.topic_partitions or ()).items()
        ],
    )


def altered_offsets(
    group: ConsumerGroupTopicPartitions, response: AlterShareGroupOffsetsResponse
) -> Outcome[ConsumerGroupTopicPartitions]:
    """The start offsets that were set, errors in the partitions; an error of the whole answer is the group's."""
    if response.error_code:
        return Outcome.of(response.error_code, response.error_message)
    answers = {
        TopicPartition(topic.topic_name, item.partition_index): _error(item.error_code, item.error_message)
        for topic in response.responses
        for item in topic.partitions
    }
    done = []
    for item in group.topic_partitions or ():
        copy = TopicPartition(item.topic, item.partition, item.offset)
        copy.error = answers[item] if item in answers else left_out(item)
        done.append(copy)
    return Outcome(ConsumerGroupTopicPartitions(group.group_id, done))


def delete_offsets_request(group_id: str, topics: Iterable[str]) -> DeleteShareGroupOffsetsRequest:
    """Forgets where a group without members is in topics."""
    return DeleteShareGroupOffsetsRequest(group_id, [DeleteShareGroupOffsetsRequestTopic(name) for name in topics])


def deleted_offsets(topics: Iterable[str], response: DeleteShareGroupOffsetsResponse) -> Outcome[Deleted]:
    """The outcome for each topic; an error of the whole answer is the group's."""
    if response.error_code:
        return Outcome.of(response.error_code, response.error_message)
    answers = {item.topic_name: _error(item.error_code, item.error_message) for item in response.responses}
    errors = {name: answers[name] if name in answers else left_out(name) for name in topics}
    return Outcome({name: None if error is None else BrokerError(error) for name, error in errors.items()})


def _error(code: int, message: str | None) -> KafkaError | None:
    error = Outcome.of(code, message).error
    return None if error is None else error.error
