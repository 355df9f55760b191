"""Administration of a cluster's insides: arguments → requests, responses → results.

Must not know connections or time. Specs: KIP-113, KIP-345, KIP-455, KIP-496, KIP-584, KIP-664, KIP-1142.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from kafka_core.admin_cluster import (
    FeatureMetadata,
    FeatureUpdate,
    FeatureUpgradeType,
    LogDirDescription,
    MemberToRemove,
    PartitionReassignment,
    ProducerState,
    ReplicaInfo,
    TransactionDescription,
    TransactionListing,
    VersionRange,
)
from kafka_core.admin_model import Outcome
from kafka_core.engine.administering.partitions import by_topic
from kafka_core.errors import BrokerError
from kafka_core.model import TopicPartition
from kafka_core.protocol import ApiKey
from kafka_core.protocol.messages.api_versions import ApiVersionsResponse
from kafka_core.protocol.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    TopicRequest,
)
from kafka_core.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from kafka_core.protocol.messages.log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
)
from kafka_core.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)
from kafka_core.protocol.messages.partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    ListPartitionReassignmentsTopics,
    ReassignablePartition,
    ReassignableTopic,
)
from kafka_core.protocol.messages.transactions import (
    DescribeTransactionsResponse,
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from kafka_core.protocol.messages.update_features import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)

Deleted = dict[TopicPartition, Outcome[None]]
Removed = dict[MemberToRemove, Outcome[None]]

# ---- groups


def delete_offsets_request(group_id: str, partitions: Iterable[TopicPartition]) -> OffsetDeleteRequest:
    """Forgets where a group is in partitions."""
    topics = [
        OffsetDeleteRequestTopic(name, [OffsetDeleteRequestPartition(item.partition) for item in parts])
        for name, parts in by_topic(partitions).items()
    ]
    return OffsetDeleteRequest(group_id, topics)


def deleted_offsets(response: OffsetDeleteResponse) -> Outcome[Deleted]:
    """The outcome for each partition; an error of the whole answer is the group's."""
    found: Deleted = {
        TopicPartition(topic.name, item.partition_index): Outcome.of(item.error_code, None)
        for topic in response.topics
        for item in topic.partitions
    }
    return Outcome.of(response.error_code, None, found)


def remove_members_request(group_id: str, members: Iterable[MemberToRemove]) -> LeaveGroupRequest:
    """Members leave, though they did not ask for it."""
    identities = [MemberIdentity(item.member_id or "", item.group_instance_id, item.reason) for item in members]
    return LeaveGroupRequest(group_id, members=identities)


def removed_members(members: Iterable[MemberToRemove], response: LeaveGroupResponse) -> Outcome[Removed]:
    """The outcome for each member; an error of the whole answer is the group's."""
    answers = {(item.member_id, item.group_instance_id or None): item.error_code for item in response.members}
    by_name = {item.group_instance_id: item.error_code for item in response.members if item.group_instance_id}
    found: Removed = {}
    for member in members:
        key = (member.member_id or "", member.group_instance_id or None)
        code = answers.get(key, by_name.get(member.group_instance_id or ""))
        if code is not None:
            found[member] = Outcome.of(code, None)
    return Outcome.of(response.error_code, None, found)


# ---- transactions


def list_transactions_request(
    states: Collection[str], producer_ids: Collection[int], longer_than_ms: int, pattern: str | None
) -> ListTransactionsRequest:
    """Transactions that pass every filter."""
    return ListTransactionsRequest(list(states), list(producer_ids), longer_than_ms, pattern)


def listed_transactions(response: ListTransactionsResponse) -> Outcome[list[TransactionListing]]:
    """The transactions that one broker coordinates."""
    found = [
        TransactionListing(item.transactional_id, item.producer_id, item.transaction_state)
        for item in response.transaction_states
    ]
    return Outcome.of(response.error_code, None, found)


def described_transactions(
    coordinator_id: int, response: DescribeTransactionsResponse
) -> dict[str, Outcome[TransactionDescription]]:
    """The coordinator's description of each transactional id."""
    return {
        item.transactional_id: Outcome.of(
            item.error_code,
            None,
            TransactionDescription(
                coordinator_id,
                item.transaction_state,
                item.producer_id,
                item.producer_epoch,
                item.transaction_timeout_ms,
                item.transaction_start_time_ms if item.transaction_start_time_ms >= 0 else None,
                frozenset(TopicPartition(topic.topic, number) for topic in item.topics for number in topic.partitions),
            ),
        )
        for item in response.transaction_states
    }


def describe_producers_request(partitions: Iterable[TopicPartition]) -> DescribeProducersRequest:
    """One request for the partitions that one broker has."""
    return DescribeProducersRequest(
        [TopicRequest(name, [item.partition for item in parts]) for name, parts in by_topic(partitions).items()]
    )


def described_producers(response: DescribeProducersResponse) -> dict[TopicPartition, Outcome[list[ProducerState]]]:
    """The producers that wrote to each partition."""
    return {
        TopicPartition(topic.name, item.partition_index): Outcome.of(
            item.error_code,
            item.error_message,
            [
                ProducerState(
                    each.producer_id,
                    each.producer_epoch,
                    each.last_sequence,
                    each.last_timestamp,
                    known(each.coordinator_epoch),
                    known(each.current_txn_start_offset),
                )
                for each in item.active_producers
            ],
        )
        for topic in response.topics
        for item in topic.partitions
    }


# ---- features


def feature_metadata(response: ApiVersionsResponse) -> FeatureMetadata:
    """A broker's features and requests, from its answer.

    Raises:
        BrokerError: it refused to.
    """
    if response.error_code:
        raise BrokerError(response.error_code)
    names = {int(key): key.name for key in ApiKey}
    return FeatureMetadata(
        {item.name: VersionRange(item.min_version, item.max_version) for item in response.supported_features},
        {
            item.name: VersionRange(item.min_version_level, item.max_version_level)
            for item in response.finalized_features
        },
        known(response.finalized_features_epoch),
        {
            (item.api_key, names.get(item.api_key, "")): VersionRange(item.min_version, item.max_version)
            for item in response.api_keys
        },
    )


def update_features_request(
    updates: Mapping[str, FeatureUpdate], timeout_ms: int, validate_only: bool, version: int
) -> UpdateFeaturesRequest:
    """New levels, as a version of the request says them: version 0 knows only whether one may go down."""
    keys = []
    for name, item in updates.items():
        key = FeatureUpdateKey(name, item.max_version_level)
        if version == 0:
            key.allow_downgrade = item.upgrade_type is not FeatureUpgradeType.UPGRADE
        else:
            key.upgrade_type = item.upgrade_type.value
        keys.append(key)
    return UpdateFeaturesRequest(timeout_ms, keys, validate_only)


def updated_features(names: Iterable[str], response: UpdateFeaturesResponse) -> dict[str, Outcome[None]]:
    """The outcome for each feature; from version 2 on, they all fail or none does.

    Raises:
        BrokerError: the request as a whole was refused.
    """
    if response.error_code:
        raise BrokerError(response.error_code, response.error_message or None)
    named: dict[str, Outcome[None]] = {
        item.feature: Outcome.of(item.error_code, item.error_message) for item in response.results
    }
    return {name: named.get(name) or Outcome() for name in names}


# ---- replicas


def describe_log_dirs_request(partitions: Collection[TopicPartition] | None) -> DescribeLogDirsRequest:
    """The log directories of a broker, with some partitions or all (None)."""
    if partitions is None:
        return DescribeLogDirsRequest(None)
    topics = by_topic(partitions)
    return DescribeLogDirsRequest(
        [DescribableLogDirTopic(name, [item.partition for item in parts]) for name, parts in topics.items()]
    )


def described_log_dirs(response: DescribeLogDirsResponse) -> Outcome[list[LogDirDescription]]:
    """The log directories of one broker."""
    found = [
        LogDirDescription(
            item.log_dir,
            {
                TopicPartition(topic.name, each.partition_index): ReplicaInfo(
                    each.partition_size, each.offset_lag, each.is_future_key
                )
                for topic in item.topics
                for each in topic.partitions
            },
            known(item.total_bytes),
            known(item.usable_bytes),
            item.is_cordoned,
            Outcome.of(item.error_code, None).error,
        )
        for item in response.results
    ]
    return Outcome.of(response.error_code, None, found)


def list_reassignments_request(
    partitions: Collection[TopicPartition] | None, timeout_ms: int
) -> ListPartitionReassignmentsRequest:
    """Asks for the reassignments under way, of some partitions or of all (None)."""
    if partitions is None:
        return ListPartitionReassignmentsRequest(timeout_ms, None)
    topics = [
        ListPartitionReassignmentsTopics(name, [item.partition for item in parts])
        for name, parts in by_topic(partitions).items()
    ]
    return ListPartitionReassignmentsRequest(timeout_ms, topics)


def listed_reassignments(
    response: ListPartitionReassignmentsResponse,
) -> dict[TopicPartition, PartitionReassignment]:
    """The partitions that are on their way.

    Raises:
        BrokerError: the request was refused.
    """
    if response.error_code:
        raise BrokerError(response.error_code, response.error_message or None)
    return {
        TopicPartition(topic.name, item.partition_index): PartitionReassignment(
            list(item.replicas), list(item.adding_replicas), list(item.removing_replicas)
        )
        for topic in response.topics
        for item in topic.partitions
    }


def alter_reassignments_request(
    wanted: Mapping[TopicPartition, Sequence[int] | None], timeout_ms: int
) -> AlterPartitionReassignmentsRequest:
    """New replicas for partitions; None ends a move that is under way."""
    topics = []
    for name, parts in by_topic(wanted).items():
        moves = []
        for item in parts:
            replicas = wanted[item]
            moves.append(ReassignablePartition(item.partition, None if replicas is None else list(replicas)))
        topics.append(ReassignableTopic(name, moves))
    return AlterPartitionReassignmentsRequest(timeout_ms, topics=topics)


def altered_reassignments(response: AlterPartitionReassignmentsResponse) -> dict[TopicPartition, Outcome[None]]:
    """The outcome for each partition.

    Raises:
        BrokerError: the request as a whole was refused.
    """
    if response.error_code:
        raise BrokerError(response.error_code, response.error_message or None)
    return {
        TopicPartition(topic.name, item.partition_index): Outcome.of(item.error_code, item.error_message)
        for topic in response.responses
        for item in topic.partitions
    }


def known(number: int) -> int | None:
    """A number that brokers leave at -1 when there is none."""
    return None if number < 0 else number
