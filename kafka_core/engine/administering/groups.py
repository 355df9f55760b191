"""Administration of consumer groups and offsets: arguments → requests, responses → results.

Must not know connections or time. Spec: KIP-222 (groups), KIP-396 (their offsets), KIP-518 and KIP-848 (states and
types), KIP-709 (OffsetFetch for groups).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from kafka_core.admin_model import (
    AclOperation,
    ConsumerGroupDescription,
    ConsumerGroupListing,
    ListOffsetsResultInfo,
    MemberAssignment,
    MemberDescription,
    Outcome,
)
from kafka_core.admin_offsets import OffsetSpec
from kafka_core.errors import BrokerError, KafkaError, ProtocolError
from kafka_core.listings import (
    ConsumerGroupState,
    ConsumerGroupTopicPartitions,
    ConsumerGroupType,
    GroupMember,
    GroupMetadata,
)
from kafka_core.model import OFFSET_INVALID, IsolationLevel, Node, TopicPartition
from kafka_core.protocol import decode
from kafka_core.protocol.messages import consumer_group_describe
from kafka_core.protocol.messages.consumer_protocol_assignment import ConsumerProtocolAssignment
from kafka_core.protocol.messages.describe_groups import DescribedGroup, DescribedGroupMember
from kafka_core.protocol.messages.list_groups import ListedGroup, ListGroupsRequest
from kafka_core.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from kafka_core.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from kafka_core.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
)

MAX_OFFSET_API_VERSION: Final = 9
"""OffsetFetch and OffsetCommit name topics by id from version 10 on; the names are what users give us."""

_STATES: Final = {
    "PreparingRebalance": ConsumerGroupState.PREPARING_REBALANCING,
    "CompletingRebalance": ConsumerGroupState.COMPLETING_REBALANCING,
    "Stable": ConsumerGroupState.STABLE,
    "Dead": ConsumerGroupState.DEAD,
    "Empty": ConsumerGroupState.EMPTY,
}
_STATE_NAMES: Final = {state: name for name, state in _STATES.items()}
_TYPES: Final = {
    "classic": ConsumerGroupType.CLASSIC,
    "consumer": ConsumerGroupType.CONSUMER,
    "share": ConsumerGroupType.SHARE,
}
_CONSUMER_PROTOCOL: Final = "consumer"
_SHARE_PROTOCOL: Final = "share"
NOT_ASSIGNED_BY_BROKER: Final = frozenset({KafkaError.GROUP_ID_NOT_FOUND, KafkaError.UNSUPPORTED_VERSION})
"""ConsumerGroupDescribe's errors for groups that DescribeGroups is to be asked for."""


# ---- groups


def list_groups_request(
    states: Iterable[ConsumerGroupState] = (), types: Iterable[ConsumerGroupType] = ()
) -> ListGroupsRequest:
    """All groups of one broker, or those in some states or of some types (brokers from 2.6 and 3.8 on)."""
    return ListGroupsRequest(
        [_STATE_NAMES[state] for state in sorted(states) if state in _STATE_NAMES],
        [kind.name.lower() for kind in sorted(types) if kind is not ConsumerGroupType.UNKNOWN],
    )


def state_of(name: str) -> ConsumerGroupState:
    """A group's state by the broker's word for it."""
    return _STATES.get(name, ConsumerGroupState.UNKNOWN)


def consumer_group_listings(
    groups: Iterable[ListedGroup], types: Collection[ConsumerGroupType] = ()
) -> list[ConsumerGroupListing]:
    """The groups of consumers, and share groups if asked for by type; those of Connect and the like are left out."""
    protocols = {"", _CONSUMER_PROTOCOL} | ({_SHARE_PROTOCOL} if ConsumerGroupType.SHARE in types else set())
    return [
        ConsumerGroupListing(
            item.group_id,
            item.protocol_type == "",
            state_of(item.group_state),
            _TYPES.get(item.group_type.lower(), ConsumerGroupType.UNKNOWN),
        )
        for item in groups
        if item.protocol_type in protocols
    ]


def describe_group(group: DescribedGroup, coordinator: Node | None) -> Outcome[ConsumerGroupDescription]:
    """One group of a DescribeGroups response."""
    if group.error_code:
        return Outcome.of(group.error_code, group.error_message)
    try:
        members = [_member(item, group.protocol_type) for item in group.members]
    except ProtocolError as error:  # with a code that is not tried again: the same bytes would come
        return Outcome(error=ProtocolError(f"group {group.group_id}: {error}", KafkaError._FAIL))
    description = ConsumerGroupDescription(
        group.group_id,
        group.protocol_type == "",
        members,
        group.protocol_data,
        state_of(group.group_state),
        coordinator,
        AclOperation.from_bits(group.authorized_operations),
        ConsumerGroupType.CLASSIC,
    )
    return Outcome(description)


def describe_consumer_group(
    group: consumer_group_describe.DescribedGroup, coordinator: Node | None
) -> Outcome[ConsumerGroupDescription]:
    """One group of a ConsumerGroupDescribe response."""
    if group.error_code:
        return Outcome.of(group.error_code, group.error_message)
    description = ConsumerGroupDescription(
        group.group_id,
        False,
        [_assigned_member(item) for item in group.members],
        group.assignor_name,
        state_of(group.group_state),
        coordinator,
        AclOperation.from_bits(group.authorized_operations),
        ConsumerGroupType.CONSUMER,
    )
    return Outcome(description)


def _assigned_member(member: consumer_group_describe.Member) -> MemberDescription:
    assigned, target = (
        MemberAssignment(
            [TopicPartition(item.topic_name, n) for item in part.topic_partitions for n in item.partitions]
        )
        for part in (member.assignment, member.target_assignment)
    )
    return MemberDescription(
        member.member_id, member.client_id, member.client_host, assigned, member.instance_id, target
    )


def _member(member: DescribedGroupMember, protocol_type: str) -> MemberDescription:
    consumer = protocol_type == _CONSUMER_PROTOCOL
    partitions = decode_assignment(member.member_assignment) if consumer else []
    return MemberDescription(
        member.member_id, member.client_id, member.client_host, MemberAssignment(partitions), member.group_instance_id
    )


def decode_assignment(data: bytes) -> list[TopicPartition]:
    """The partitions in a member's assignment: a 2-byte version, then ConsumerProtocolAssignment.

    Empty data (nothing was assigned yet) is no partitions; a newer version is read as the newest we know.
    Raises ProtocolError when it is malformed.
    """
    if not data:
        return []
    if len(data) < 2:
        raise ProtocolError("a member's assignment is too short for its version")
    newest = ConsumerProtocolAssignment.VALID_VERSIONS[1]
    version = min(int.from_bytes(data[:2], "big", signed=True), newest)
    if version < 0:
        raise ProtocolError(f"a member's assignment has version {version}")
    assignment = decode(ConsumerProtocolAssignment, version, memoryview(data)[2:], exact=False)
    return [TopicPartition(item.topic, number) for item in assignment.assigned_partitions for number in item.partitions]


def group_metadata(group_id: str, group: DescribedGroup | None) -> GroupMetadata:
    """One group as `list_groups()` returns it (its broker is set by the caller); None: the response leaves it out."""
    if group is None:
        return GroupMetadata(id=group_id, error=left_out(f"group {group_id}"))
    error = Outcome.of(group.error_code, group.error_message).error
    return GroupMetadata(
        id=group.group_id,
        error=None if error is None else error.error,
        state=group.group_state,
        protocol_type=group.protocol_type,
        protocol=group.protocol_data,
        members=[
            GroupMember(
                item.member_id,
                item.client_id,
                item.client_host,
                bytes(item.member_metadata),
                bytes(item.member_assignment),
            )
            for item in group.members
        ],
    )


# ---- offsets of groups


def fetch_offsets_request(
    group: ConsumerGroupTopicPartitions, *, require_stable: bool, version: int
) -> OffsetFetchRequest:
    """The committed offsets of one group, in the form of that version; no partitions named means all of them."""
    wanted = None if group.topic_partitions is None else by_topic(group.topic_partitions)
    if version < 8:
        old = (
            None
            if wanted is None
            else [OffsetFetchRequestTopic(name, numbers(items)) for name, items in wanted.items()]
        )
        return OffsetFetchRequest(group_id=group.group_id, topics=old, require_stable=require_stable)
    topics = (
        None
        if wanted is None
        else [OffsetFetchRequestTopics(name=name, partition_indexes=numbers(items)) for name, items in wanted.items()]
    )
    one = OffsetFetchRequestGroup(group_id=group.group_id, topics=topics)
    return OffsetFetchRequest(groups=[one], require_stable=require_stable)


def fetched_offsets(
    asked: ConsumerGroupTopicPartitions, response: OffsetFetchResponse
) -> Outcome[ConsumerGroupTopicPartitions]:
    """The committed offsets of the group; OFFSET_INVALID where none is committed, errors in the partitions.

    A partition that was asked for and left out has an error: nobody has said that nothing was committed.
    """
    found: list[TopicPartition] = []
    told = not response.groups
    for group in response.groups:
        if group.group_id == asked.group_id:
            told = True
            if group.error_code:
                return Outcome.of(group.error_code, None)
            found += [_committed(topic.name, item) for topic in group.topics for item in topic.partitions]
    if response.error_code:
        return Outcome.of(response.error_code, None)
    found += [_committed(topic.name, item) for topic in response.topics for item in topic.partitions]
    if not told:
        return Outcome(error=BrokerError(left_out(f"group {asked.group_id}")))
    answered = {(item.topic, item.partition) for item in found}
    for item in asked.topic_partitions or ():
        if (item.topic, item.partition) not in answered:
            missing = TopicPartition(item.topic, item.partition)
            missing.error = left_out(item)
            found.append(missing)
    return Outcome(ConsumerGroupTopicPartitions(asked.group_id, found))


def _committed(topic: str, item: OffsetFetchResponsePartition | OffsetFetchResponsePartitions) -> TopicPartition:
    partition = TopicPartition(
        topic,
        item.partition_index,
        item.committed_offset if item.committed_offset >= 0 else OFFSET_INVALID,
        item.metadata or None,
        item.committed_leader_epoch if item.committed_leader_epoch >= 0 else None,
    )
    error = Outcome.of(item.error_code, None).error
    partition.error = None if error is None else error.error
    return partition


def commit_offsets_request(group: ConsumerGroupTopicPartitions) -> OffsetCommitRequest:
    """New offsets for a group without members: no member, no generation."""
    return OffsetCommitRequest(
        group_id=group.group_id,
        topics=[
            OffsetCommitRequestTopic(
                name=name,
                partitions=[
                    OffsetCommitRequestPartition(
                        item.partition, item.offset, _epoch(item.leader_epoch), item.metadata or ""
                    )
                    for item in items
                ],
            )
            for name, items in by_topic(group.topic_partitions or ()).items()
        ],
    )


def committed_offsets(
    group: ConsumerGroupTopicPartitions, response: OffsetCommitResponse
) -> Outcome[ConsumerGroupTopicPartitions]:
    """Committed offsets, errors in the partitions; an error that is the same for all of them is the group's.

    A partition that the response leaves out has an error: nobody has said that it was committed.
    """
    codes = {
        (topic.name, item.partition_index): item.error_code for topic in response.topics for item in topic.partitions
    }
    distinct = set(codes.values())
    if len(distinct) == 1 and 0 not in distinct:
        return Outcome.of(distinct.pop(), None)
    done = []
    for item in group.topic_partitions or ():
        copy = TopicPartition(item.topic, item.partition, item.offset, item.metadata, item.leader_epoch)
        code = codes.get((item.topic, item.partition))
        error = None if not code else Outcome.of(code, None).error
        copy.error = left_out(item) if code is None else None if error is None else error.error
        done.append(copy)
    return Outcome(ConsumerGroupTopicPartitions(group.group_id, done))


def left_out(what: object) -> KafkaError:
    """The error of something that a response should tell of, and does not."""
    return KafkaError(KafkaError._FAIL, f"the broker's response leaves out {what}")


# ---- offsets of partitions


def list_offsets_request(
    wanted: Mapping[TopicPartition, OffsetSpec], isolation: IsolationLevel, timeout_ms: int
) -> ListOffsetsRequest:
    """The offsets of partitions that one broker leads."""
    return ListOffsetsRequest(
        replica_id=-1,
        isolation_level=isolation.value,
        topics=[
            ListOffsetsTopic(
                name, [ListOffsetsPartition(item.partition, timestamp=wanted[item].timestamp) for item in items]
            )
            for name, items in by_topic(wanted).items()
        ],
        timeout_ms=timeout_ms,
    )


def listed_offsets(response: ListOffsetsResponse) -> dict[TopicPartition, Outcome[ListOffsetsResultInfo]]:
    """The outcome for each partition."""
    return {
        TopicPartition(topic.name, item.partition_index): Outcome.of(
            item.error_code,
            None,
            ListOffsetsResultInfo(item.offset, item.timestamp, item.leader_epoch if item.leader_epoch >= 0 else None),
        )
        for topic in response.topics
        for item in topic.partitions
    }


# ---- shared


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[TopicPartition]]:
    """Partitions grouped by topic, in the order given."""
    topics: dict[str, list[TopicPartition]] = {}
    for item in partitions:
        topics.setdefault(item.topic, []).append(item)
    return topics


def numbers(partitions: Sequence[TopicPartition]) -> list[int]:
    """The numbers of partitions."""
    return [item.partition for item in partitions]


def _epoch(epoch: int | None) -> int:
    return -1 if epoch is None else epoch
