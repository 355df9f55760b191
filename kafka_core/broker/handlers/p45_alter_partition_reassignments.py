"""AlterPartitionReassignments v0-1: give partitions other replicas.

Must not know: the log. All replicas are one log, so a move is over when it is answered, and none can be cancelled.
Versions: v1 whether the number of replicas may change (KIP-860). Spec: KIP-455.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState, Refused
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.protocol.messages.partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)


def handle(
    cluster: ClusterState, context: Context, request: AlterPartitionReassignmentsRequest
) -> AlterPartitionReassignmentsResponse:
    """Move each partition on its own."""
    del context
    same_count = not request.allow_replication_factor_change
    return AlterPartitionReassignmentsResponse(
        allow_replication_factor_change=request.allow_replication_factor_change,
        error_message=None,
        responses=[
            ReassignableTopicResponse(
                topic.name, [_moved(cluster, topic.name, item, same_count=same_count) for item in topic.partitions]
            )
            for topic in request.topics
        ],
    )


def _moved(
    cluster: ClusterState, topic: str, item: ReassignablePartition, *, same_count: bool
) -> ReassignablePartitionResponse:
    try:
        cluster.reassign(topic, item.partition_index, item.replicas, same_count=same_count)
    except Refused as refusal:
        return ReassignablePartitionResponse(item.partition_index, refusal.code, str(refusal) or None)
    return ReassignablePartitionResponse(item.partition_index, Code.NONE, None)


def fail(request: AlterPartitionReassignmentsRequest, code: int) -> AlterPartitionReassignmentsResponse:
    """An answer that is the error."""
    del request
    return AlterPartitionReassignmentsResponse(error_code=code, error_message=None)


API = Api(AlterPartitionReassignmentsRequest, handle, fail)
