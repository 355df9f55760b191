"""Administration of partitions: records deleted, leaders elected, replicas moved, hanging transactions ended, pages.

Arguments → requests, responses → results. Must not know connections or time. Spec: KIP-107 (DeleteRecords), KIP-113
(AlterReplicaLogDirs), KIP-460 (ElectLeaders), KIP-664 (WriteTxnMarkers), KIP-836 (DescribeQuorum), KIP-966
(DescribeTopicPartitions).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from uuid import UUID

from kafka_core.admin_cluster import (
    PartitionCursor,
    PartitionDescription,
    QuorumInfo,
    QuorumListener,
    QuorumReplica,
    TopicPartitionReplica,
    TopicPartitionsDescription,
    TopicPartitionsPage,
)
from kafka_core.admin_model import DeletedRecords, Outcome
from kafka_core.engine.administering.groups import left_out
from kafka_core.errors import BrokerError, KafkaException
from kafka_core.listings import ElectionType
from kafka_core.model import TopicPartition
from kafka_core.protocol import ZERO_UUID
from kafka_core.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from kafka_core.protocol.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumRequestPartitionData,
    DescribeQuorumRequestTopicData,
    DescribeQuorumResponse,
    ReplicaState,
)
from kafka_core.protocol.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
    TopicRequest,
)
from kafka_core.protocol.messages.elect_leaders import ElectLeadersRequest, ElectLeadersResponse, TopicPartitions
from kafka_core.protocol.messages.log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopic,
)
from kafka_core.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

METADATA_TOPIC: Final = "__cluster_metadata"
NO_OPERATIONS: Final = -(2**31)
"""The value that brokers send if they do not list the allowed operations."""

Elected = dict[TopicPartition, KafkaException | None]


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[TopicPartition]]:
    """The partitions of each topic."""
    topics: dict[str, list[TopicPartition]] = {}
    for item in partitions:
        topics.setdefault(item.topic, []).append(item)
    return topics


def delete_records_request(offsets: Mapping[TopicPartition, int], timeout_ms: int) -> DeleteRecordsRequest:
    """One request for the partitions that one broker leads."""
    topics = [
        DeleteRecordsTopic(name, [DeleteRecordsPartition(item.partition, offsets[item]) for item in parts])
        for name, parts in by_topic(offsets).items()
    ]
    return DeleteRecordsRequest(topics, timeout_ms)


def deleted_records(response: DeleteRecordsResponse) -> dict[TopicPartition, Outcome[DeletedRecords]]:
    """The new first offset of each partition."""
    return {
        TopicPartition(topic.name, item.partition_index): Outcome.of(
            item.error_code, None, DeletedRecords(item.low_watermark)
        )
        for topic in response.topics
        for item in topic.partitions
    }


def elect_leaders_request(
    election_type: ElectionType, partitions: Sequence[TopicPartition] | None, timeout_ms: int
) -> ElectLeadersRequest:
    """One request for all partitions; None for all of the cluster."""
    topics = (
        None
        if partitions is None
        else [TopicPartitions(name, [item.partition for item in parts]) for name, parts in by_topic(partitions).items()]
    )
    return ElectLeadersRequest(election_type.value, topics, timeout_ms)


def elected(wanted: Iterable[TopicPartition] | None, response: ElectLeadersResponse) -> Elected:
    """The outcome for each partition asked for (None: those in the answer); None where a leader was elected.

    Raises:
        BrokerError: the request as a whole was refused.
    """
    if response.error_code:
        raise BrokerError(response.error_code, None)
    found: Elected = {
        TopicPartition(topic.topic, item.partition_id): (
            BrokerError(item.error_code, item.error_message or None) if item.error_code else None
        )
        for topic in response.replica_election_results
        for item in topic.partition_result
    }
    return found | {item: BrokerError(left_out(item)) for item in wanted or () if item not in found}


# ---- the quorum


def describe_quorum_request() -> DescribeQuorumRequest:
    """Asks for the quorum of the one partition of metadata."""
    return DescribeQuorumRequest(
        [DescribeQuorumRequestTopicData(METADATA_TOPIC, [DescribeQuorumRequestPartitionData(0)])]
    )


def described_quorum(response: DescribeQuorumResponse) -> QuorumInfo:
    """The quorum that keeps the metadata.

    Raises:
        BrokerError: the request was refused, or there is no such partition (a cluster with ZooKeeper).
    """
    if response.error_code:
        raise BrokerError(response.error_code, response.error_message or None)
    ((partition,),) = [topic.partitions for topic in response.topics]
    if partition.error_code:
        raise BrokerError(partition.error_code, partition.error_message or None)
    return QuorumInfo(
        partition.leader_id,
        partition.leader_epoch,
        partition.high_watermark,
        [_replica(each) for each in partition.current_voters],
        [_replica(each) for each in partition.observers],
        {
            node.node_id: [QuorumListener(each.name, each.host, each.port) for each in node.listeners]
            for node in response.nodes
        },
    )


def _replica(state: ReplicaState) -> QuorumReplica:
    return QuorumReplica(
        state.replica_id,
        _id(state.replica_directory_id),
        state.log_end_offset,
        _known(state.last_fetch_timestamp),
        _known(state.last_caught_up_timestamp),
    )


def _id(given: UUID) -> UUID | None:
    return None if given == ZERO_UUID else given


def _known(number: int) -> int | None:
    return None if number < 0 else number


# ---- directories of replicas


def alter_replica_log_dirs_request(wanted: Mapping[TopicPartitionReplica, str]) -> AlterReplicaLogDirsRequest:
    """One request for the replicas of one broker."""
    folders: dict[str, dict[str, list[int]]] = {}
    for replica, path in wanted.items():
        folders.setdefault(path, {}).setdefault(replica.topic, []).append(replica.partition)
    return AlterReplicaLogDirsRequest(
        [
            AlterReplicaLogDir(path, [AlterReplicaLogDirTopic(name, numbers) for name, numbers in topics.items()])
            for path, topics in folders.items()
        ]
    )


def altered_replica_log_dirs(
    broker_id: int, response: AlterReplicaLogDirsResponse
) -> dict[TopicPartitionReplica, Outcome[None]]:
    """The outcome for each replica of a broker."""
    return {
        TopicPartitionReplica(topic.topic_name, item.partition_index, broker_id): Outcome.of(item.error_code, None)
        for topic in response.results
        for item in topic.partitions
    }


# ---- pages of partitions


def describe_topic_partitions_request(
    topics: Iterable[str], limit: int, cursor: PartitionCursor | None
) -> DescribeTopicPartitionsRequest:
    """One page: of these topics, or of all."""
    begin = None if cursor is None else Cursor(cursor.topic, cursor.partition)
    return DescribeTopicPartitionsRequest([TopicRequest(name) for name in topics], limit, begin)


def described_topic_partitions(response: DescribeTopicPartitionsResponse) -> TopicPartitionsPage:
    """One page."""
    cursor = response.next_cursor
    return TopicPartitionsPage(
        [_topic(each) for each in response.topics],
        None if cursor is None else PartitionCursor(cursor.topic_name, cursor.partition_index),
    )


def _topic(found: DescribeTopicPartitionsResponseTopic) -> TopicPartitionsDescription:
    operations = found.topic_authorized_operations
    return TopicPartitionsDescription(
        found.name or "",
        _id(found.topic_id),
        found.is_internal,
        [_partition(each) for each in found.partitions],
        None if operations == NO_OPERATIONS else operations,
        Outcome.of(found.error_code, None).error,
    )


def _partition(found: DescribeTopicPartitionsResponsePartition) -> PartitionDescription:
    eligible, last = found.eligible_leader_replicas, found.last_known_elr
    return PartitionDescription(
        found.partition_index,
        _known(found.leader_id),
        found.leader_epoch,
        list(found.replica_nodes),
        list(found.isr_nodes),
        list(found.offline_replicas),
        None if eligible is None else list(eligible),
        None if last is None else list(last),
        Outcome.of(found.error_code, None).error,
    )


# ---- hanging transactions


def abort_transaction_request(
    partition: TopicPartition, producer_id: int, producer_epoch: int, coordinator_epoch: int
) -> WriteTxnMarkersRequest:
    """A marker that aborts a producer's transaction in a partition."""
    topics = [WritableTxnMarkerTopic(partition.topic, [partition.partition])]
    return WriteTxnMarkersRequest(
        [WritableTxnMarker(producer_id, producer_epoch, False, topics, coordinator_epoch)],
    )


def aborted_transactions(response: WriteTxnMarkersResponse) -> dict[TopicPartition, Outcome[None]]:
    """The outcome for each partition."""
    return {
        TopicPartition(topic.name, item.partition_index): Outcome.of(item.error_code, None)
        for marker in response.markers
        for topic in marker.topics
        for item in topic.partitions
    }
