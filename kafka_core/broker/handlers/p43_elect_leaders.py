"""ElectLeaders v0-2: make preferred replicas lead again, or any replica where nobody leads.

Must not know: the log. Versions: v1 unclean elections (KIP-460), v2 flexible. Spec: KIP-183, KIP-460. Replicas share
one log here, so an unclean election loses nothing.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.broker.handlers.lookup import may
from kafka_core.broker.partitions.topics import NO_LEADER, Partition
from kafka_core.broker.security.acls import CLUSTER_NAME, Operation, Resource
from kafka_core.protocol.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)

_PREFERRED = 0
_UNCLEAN = 1
_FIRST_VERSION_WITH_ERROR = 1


def handle(cluster: ClusterState, context: Context, request: ElectLeadersRequest) -> ElectLeadersResponse:
    """Elect for the partitions named; for all of the cluster, only those that needed it are told."""
    if not may(cluster, context, Operation.ALTER, Resource.CLUSTER, CLUSTER_NAME):
        answer = fail(request, Code.CLUSTER_AUTHORIZATION_FAILED)
        if context.api_version >= _FIRST_VERSION_WITH_ERROR:
            answer.error_code = Code.CLUSTER_AUTHORIZATION_FAILED
        return answer
    if request.election_type not in (_PREFERRED, _UNCLEAN):
        return ElectLeadersResponse(error_code=Code.INVALID_REQUEST)
    if request.topic_partitions is None:
        results = [
            ReplicaElectionResult(
                topic.name, [_elect(cluster, partition, request.election_type) for partition in topic.partitions]
            )
            for topic in cluster.topics.values()
        ]
        for result in results:
            result.partition_result = [
                item for item in result.partition_result if item.error_code != Code.ELECTION_NOT_NEEDED
            ]
        return ElectLeadersResponse(replica_election_results=[item for item in results if item.partition_result])
    return ElectLeadersResponse(
        replica_election_results=[
            ReplicaElectionResult(
                item.topic, [_named(cluster, item.topic, index, request.election_type) for index in item.partitions]
            )
            for item in request.topic_partitions
        ]
    )


def _named(cluster: ClusterState, name: str, index: int, election_type: int) -> PartitionResult:
    topic = cluster.topics.get(name)
    if topic is None:
        return PartitionResult(index, Code.UNKNOWN_TOPIC_OR_PARTITION, f"No such topic as {name}")
    partition = topic.partition(index)
    if partition is None:
        return PartitionResult(index, Code.UNKNOWN_TOPIC_OR_PARTITION, f"No such partition as {name}-{index}")
    return _elect(cluster, partition, election_type)


def _elect(cluster: ClusterState, partition: Partition, election_type: int) -> PartitionResult:
    index, preferred = partition.index, partition.replicas[0]
    if election_type == _PREFERRED:
        if partition.leader == preferred:
            return PartitionResult(index, Code.ELECTION_NOT_NEEDED, None)
        if preferred not in partition.isr or not cluster.nodes[preferred].alive:
            text = "The preferred leader was not available."
            return PartitionResult(index, Code.PREFERRED_LEADER_NOT_AVAILABLE, text)
        partition.lead(preferred)
        return PartitionResult(index, error_message=None)
    if partition.leader != NO_LEADER:
        return PartitionResult(index, Code.ELECTION_NOT_NEEDED, None)
    living = [node_id for node_id in partition.replicas if cluster.nodes[node_id].alive]
    if not living:
        return PartitionResult(index, Code.ELIGIBLE_LEADERS_NOT_AVAILABLE, None)
    partition.isr = [living[0]]
    partition.lead(living[0])
    return PartitionResult(index, error_message=None)


def fail(request: ElectLeadersRequest, code: int) -> ElectLeadersResponse:
    """The error for each partition that the request names; version 0 has no other place for it."""
    results = [
        ReplicaElectionResult(item.topic, [PartitionResult(index, code, None) for index in item.partitions])
        for item in request.topic_partitions or []
    ]
    return ElectLeadersResponse(replica_election_results=results)


API = Api(ElectLeadersRequest, handle, fail)
