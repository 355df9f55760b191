"""ShareAcknowledge v1-2: say what became of records that a member of a share group has.

Must not know: how records change (`share_records.py`). Versions: v2 renewal (KIP-1222). Spec: KIP-932.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.groups.consumer_groups import Id
from kafka_core.broker.handlers.api import Api
from kafka_core.broker.handlers.lookup import add_endpoint
from kafka_core.broker.handlers.sharing import acknowledge, locate
from kafka_core.broker.sharing.sessions import FINAL_EPOCH, INITIAL_EPOCH
from kafka_core.protocol.messages.share_acknowledge import (
    AcknowledgePartition,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
    ShareAcknowledgeTopicResponse,
)


def handle(cluster: ClusterState, context: Context, request: ShareAcknowledgeRequest) -> ShareAcknowledgeResponse:
    """Each partition by itself; the last request of a session gives back what was not acknowledged."""
    group_id, member_id, epoch = request.group_id or "", request.member_id or "", request.share_session_epoch
    if epoch == INITIAL_EPOCH:
        return fail(request, Code.INVALID_SHARE_SESSION_EPOCH)
    code, session = cluster.nodes[context.broker_id].share_sessions.find(group_id, member_id, epoch)
    if session is None:
        return fail(request, code)
    endpoints: dict[int, NodeEndpoint] = {}
    topics = []
    for topic in request.topics:
        named = [item for item in topic.partitions if item.acknowledgement_batches]
        answers = [
            _acknowledge(cluster, context, request, (topic.topic_id, item.partition_index), item, endpoints)
            for item in named
        ]
        if answers:
            topics.append(ShareAcknowledgeTopicResponse(topic.topic_id, answers))
    if epoch == FINAL_EPOCH:
        cluster.end_share_session(context.broker_id, session)
    return ShareAcknowledgeResponse(
        acquisition_lock_timeout_ms=cluster.group_config(group_id).integer("share.record.lock.duration.ms"),
        responses=topics,
        node_endpoints=list(endpoints.values()),
    )


def _acknowledge(
    cluster: ClusterState,
    context: Context,
    request: ShareAcknowledgeRequest,
    key: Id,
    item: AcknowledgePartition,
    endpoints: dict[int, NodeEndpoint],
) -> PartitionData:
    group_id, batches = request.group_id or "", item.acknowledgement_batches
    verdict = acknowledge(
        cluster, context, group_id, request.member_id or "", key, batches, is_renewal=request.is_renew_ack
    )
    data = PartitionData(item.partition_index, verdict.code, verdict.text)
    if verdict.code is Code.NOT_LEADER_OR_FOLLOWER:
        _, _, partition, _ = locate(cluster, context, group_id, key)
        if partition is not None:
            data.current_leader = LeaderIdAndEpoch(partition.leader, partition.leader_epoch)
            add_endpoint(cluster, partition, endpoints, NodeEndpoint)
    return data


def fail(request: ShareAcknowledgeRequest, code: int) -> ShareAcknowledgeResponse:
    """An answer that is the error."""
    del request
    return ShareAcknowledgeResponse(error_code=code)


API = Api(ShareAcknowledgeRequest, handle, fail)
