"""Metadata v0-13: brokers, controller, topics and who leads their partitions.

Must not know: the log. Versions: v1 null means all topics, v4 auto-creation on request, v5 offline replicas, v7 leader
epochs, v8 authorized operations, v10/v12 topic ids (KIP-516), v13 error for the whole answer. Spec: KIP-4.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState, Refused
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.broker.topics import NO_LEADER, Partition, Topic, topic_name_problem
from kafka_core.protocol import ZERO_UUID
from kafka_core.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

#: Bit sets of AclOperation codes a client without ACLs may do: on topics, on groups, on the cluster (KIP-430).
TOPIC_OPERATIONS = 3576
GROUP_OPERATIONS = 3400
CLUSTER_OPERATIONS = 8096
NOT_ASKED = -(2**31)
_FIRST_VERSION_WITH_IDS = 12


def handle(cluster: ClusterState, context: Context, request: MetadataRequest) -> MetadataResponse:
    """Describe the cluster and the topics asked for, creating missing ones where that is wished and allowed."""
    version = context.api_version
    with_operations = request.include_topic_authorized_operations
    if request.topics is None or (version == 0 and not request.topics):
        topics = [_described(cluster, topic, with_operations) for topic in cluster.topics.values()]
    elif version < _FIRST_VERSION_WITH_IDS and any(item.name is None for item in request.topics):
        return fail(request, Code.INVALID_REQUEST)
    else:
        may_create = (request.allow_auto_topic_creation or version < 4) and cluster.config.flag(
            "auto.create.topics.enable"
        )
        topics = [_answer(cluster, item, may_create, with_operations) for item in request.topics]
    asked = request.include_cluster_authorized_operations
    return MetadataResponse(
        brokers=[
            MetadataResponseBroker(node.node_id, node.host, node.port, node.rack) for node in cluster.alive_nodes()
        ],
        cluster_id=cluster.cluster_id,
        controller_id=cluster.controller_id,
        topics=topics,
        cluster_authorized_operations=CLUSTER_OPERATIONS if asked else NOT_ASKED,
    )


def _answer(
    cluster: ClusterState, item: MetadataRequestTopic, may_create: bool, with_operations: bool
) -> MetadataResponseTopic:
    if item.name is None or item.topic_id != ZERO_UUID:
        topic = cluster.topics_by_id.get(item.topic_id)
        if topic is None:
            return MetadataResponseTopic(error_code=Code.UNKNOWN_TOPIC_ID, name=None, topic_id=item.topic_id)
        return _described(cluster, topic, with_operations)
    topic = cluster.topics.get(item.name)
    if topic is not None:
        return _described(cluster, topic, with_operations)
    bad_name = topic_name_problem(item.name) is not None
    code = Code.INVALID_TOPIC_EXCEPTION if bad_name else Code.UNKNOWN_TOPIC_OR_PARTITION
    if may_create:
        # As the real broker does, the answer that triggers the creation still says "unknown": the next one has it.
        try:
            cluster.create_topic(item.name)
        except Refused as refusal:
            code = refusal.code
    return MetadataResponseTopic(error_code=code, name=item.name)


def _described(cluster: ClusterState, topic: Topic, with_operations: bool) -> MetadataResponseTopic:
    return MetadataResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.is_internal,
        partitions=[_partition(cluster, partition) for partition in topic.partitions],
        topic_authorized_operations=TOPIC_OPERATIONS if with_operations else NOT_ASKED,
    )


def _partition(cluster: ClusterState, partition: Partition) -> MetadataResponsePartition:
    return MetadataResponsePartition(
        error_code=Code.LEADER_NOT_AVAILABLE if partition.leader == NO_LEADER else Code.NONE,
        partition_index=partition.index,
        leader_id=partition.leader,
        leader_epoch=partition.leader_epoch,
        replica_nodes=list(partition.replicas),
        isr_nodes=list(partition.isr),
        offline_replicas=[node_id for node_id in partition.replicas if not cluster.nodes[node_id].alive],
    )


def fail(request: MetadataRequest, code: int) -> MetadataResponse:
    """The error for every topic asked for, and for the whole answer where the version has that."""
    return MetadataResponse(
        topics=[
            MetadataResponseTopic(error_code=code, name=item.name or "", topic_id=item.topic_id)
            for item in request.topics or []
        ],
        error_code=code,
    )


API = Api(MetadataRequest, handle, fail)
