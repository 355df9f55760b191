"""DescribeQuorum v0-2: who keeps the cluster's metadata. Here the broker named as controller does, all by itself.

Must not know: topics. There is no log of metadata, so its end is told as 0. Versions: v1 times of fetches, v2
directories and nodes (KIP-853). Spec: KIP-595, KIP-836.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.protocol.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    DescribeQuorumResponsePartitionData,
    DescribeQuorumResponseTopicData,
    Listener,
    Node,
    ReplicaState,
)

_TOPIC = "__cluster_metadata"
_UNKNOWN = "This server does not host this topic-partition."


def handle(cluster: ClusterState, context: Context, request: DescribeQuorumRequest) -> DescribeQuorumResponse:
    """The one partition of metadata; there are no others."""
    del context
    if any(
        topic.topic_name != _TOPIC or any(each.partition_index for each in topic.partitions) for topic in request.topics
    ):
        return _everywhere(request, Code.UNKNOWN_TOPIC_OR_PARTITION, _UNKNOWN)
    controller, now_ms = cluster.controller_id, cluster.clock.time_ms()
    states = {
        node.node_id: ReplicaState(node.node_id, last_fetch_timestamp=now_ms, last_caught_up_timestamp=now_ms)
        for node in cluster.alive_nodes()
    }
    partition = DescribeQuorumResponsePartitionData(
        leader_id=controller,
        leader_epoch=1,
        current_voters=[states[controller]],
        observers=[state for node_id, state in states.items() if node_id != controller],
    )
    node = cluster.nodes[controller]
    return DescribeQuorumResponse(
        topics=[DescribeQuorumResponseTopicData(topic.topic_name, [partition]) for topic in request.topics],
        nodes=[Node(controller, [Listener("CONTROLLER", node.host, node.port)])] if request.topics else [],
    )


def _everywhere(request: DescribeQuorumRequest, code: int, text: str) -> DescribeQuorumResponse:
    """The error for every partition of the request."""
    return DescribeQuorumResponse(
        topics=[
            DescribeQuorumResponseTopicData(
                topic.topic_name,
                [DescribeQuorumResponsePartitionData(each.partition_index, code, text) for each in topic.partitions],
            )
            for topic in request.topics
        ]
    )


def fail(request: DescribeQuorumRequest, code: int) -> DescribeQuorumResponse:
    """An answer that is the error."""
    del request
    return DescribeQuorumResponse(error_code=code)


API = Api(DescribeQuorumRequest, handle, fail)
