"""Metadata v0-13: brokers, controller, topics and who leads their partitions.

Must not know: the log. Versions: v1 null means all topics, v4 auto-creation on request, v5 offline replicas, v7 leader
epochs, v8 authorized operations, v10/v12 topic ids (KIP-516), v13 error for the whole answer. Spec: KIP-4.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState, Refused
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.broker.handlers.lookup import authorized_operations, may
from kafka_core.broker.partitions.topics import NO_LEADER, Partition, Topic, topic_name_problem
from kafka_core.broker.security.acls import CLUSTER_NAME, Operation, Resource
from kafka_core.protocol import ZERO_UUID
from kafka_core.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

#: The value if authorized operations were not asked for (KIP-430).
NOT_ASKED = -(2**31)
_FIRST_VERSION_WITH_CREATION = 4
_FIRST_VERSION_WITH_IDS = 12


def handle(cluster: ClusterState, context: Context, request: MetadataRequest) -> MetadataResponse:
    """Describe the cluster and the topics asked for, creating missing ones where that is wished and allowed."""
    version = context.api_version
    describing = _Describing(cluster, context, request)
    if request.topics is None or (version == 0 and not request.topics):
        topics = [describing.topic(topic) for topic in cluster.topics.values() if describing.may_see(topic.name)]
    elif version < _FIRST_VERSION_WITH_IDS and any(item.name is None for item in request.topics):
        return fail(request, Code.INVALID_REQUEST)
    else:
        topics = [describing.answer(item) for item in request.topics]
    asked = request.include_cluster_authorized_operations
    return MetadataResponse(
        brokers=[
            MetadataResponseBroker(node.node_id, node.host, node.port, node.rack) for node in cluster.alive_nodes()
        ],
        cluster_id=cluster.cluster_id,
        controller_id=cluster.controller_id,
        topics=topics,
        cluster_authorized_operations=authorized_operations(cluster, context, Resource.CLUSTER, CLUSTER_NAME)
        if asked
        else NOT_ASKED,
    )


class _Describing:
    """One Metadata request on its way through the topics."""

    def __init__(self, cluster: ClusterState, context: Context, request: MetadataRequest) -> None:
        self.cluster = cluster
        self.context = context
        self.with_operations = request.include_topic_authorized_operations
        self.creates = (
            request.allow_auto_topic_creation or context.api_version < _FIRST_VERSION_WITH_CREATION
        ) and cluster.config.flag("auto.create.topics.enable")

    def may_see(self, name: str) -> bool:
        return may(self.cluster, self.context, Operation.DESCRIBE, Resource.TOPIC, name)

    def answer(self, item: MetadataRequestTopic) -> MetadataResponseTopic:
        """One topic that was asked for by name or id."""
        if item.name is None or item.topic_id != ZERO_UUID:
            topic = self.cluster.topics_by_id.get(item.topic_id)
            if topic is not None and self.may_see(topic.name):
                return self.topic(topic)
            code = Code.UNKNOWN_TOPIC_ID if topic is None else Code.TOPIC_AUTHORIZATION_FAILED
            return MetadataResponseTopic(error_code=code, name=None, topic_id=item.topic_id)
        if not self.may_see(item.name):
            return MetadataResponseTopic(error_code=Code.TOPIC_AUTHORIZATION_FAILED, name=item.name)
        topic = self.cluster.topics.get(item.name)
        return self.topic(topic) if topic is not None else self.missing(item.name)

    def missing(self, name: str) -> MetadataResponseTopic:
        """A topic that is not there; made if that is wished.

        As the real broker does, the answer that triggers the creation still says "unknown": the next one has it.
        """
        bad_name = topic_name_problem(name) is not None
        code = Code.INVALID_TOPIC_EXCEPTION if bad_name else Code.UNKNOWN_TOPIC_OR_PARTITION
        if self.creates and not self.may_create(name):
            code = Code.TOPIC_AUTHORIZATION_FAILED
        elif self.creates:
            try:
                self.cluster.create_topic(name)
            except Refused as refusal:
                code = refusal.code
        return MetadataResponseTopic(error_code=code, name=name)

    def may_create(self, name: str) -> bool:
        everywhere = may(self.cluster, self.context, Operation.CREATE, Resource.CLUSTER, CLUSTER_NAME)
        return everywhere or may(self.cluster, self.context, Operation.CREATE, Resource.TOPIC, name)

    def topic(self, topic: Topic) -> MetadataResponseTopic:
        operations = NOT_ASKED
        if self.with_operations:
            operations = authorized_operations(self.cluster, self.context, Resource.TOPIC, topic.name)
        return MetadataResponseTopic(
            name=topic.name,
            topic_id=topic.topic_id,
            is_internal=topic.is_internal,
            partitions=[_partition(self.cluster, partition) for partition in topic.partitions],
            topic_authorized_operations=operations,
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
