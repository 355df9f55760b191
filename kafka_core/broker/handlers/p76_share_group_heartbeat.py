"""ShareGroupHeartbeat v1: join, stay in and leave a share group.

Must not know: how groups change (`share_coordinator.py`). Spec: KIP-932.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.broker.handlers.p68_consumer_group_heartbeat import by_topic
from kafka_core.broker.sharing.coordinator import ShareHeartbeatCall
from kafka_core.protocol.messages.share_group_heartbeat import (
    Assignment,
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
    TopicPartitions,
)


def handle(cluster: ClusterState, context: Context, request: ShareGroupHeartbeatRequest) -> ShareGroupHeartbeatResponse:
    """Pass the call on."""
    if request.group_id and not cluster.coordinates(context.broker_id, request.group_id):
        return fail(request, Code.NOT_COORDINATOR)
    names = request.subscribed_topic_names
    result = cluster.share_groups.heartbeat(
        ShareHeartbeatCall(
            request.group_id,
            request.member_id,
            request.member_epoch,
            request.rack_id,
            context.client_id or "",
            context.connection.client_host,
            None if names is None else frozenset(names),
        )
    )
    assigned = result.assigned
    return ShareGroupHeartbeatResponse(
        error_code=result.code,
        error_message=result.text,
        member_id=result.member_id,
        member_epoch=result.epoch,
        heartbeat_interval_ms=result.heartbeat_interval_ms,
        assignment=None if assigned is None else Assignment([TopicPartitions(*item) for item in by_topic(assigned)]),
    )


def fail(request: ShareGroupHeartbeatRequest, code: int) -> ShareGroupHeartbeatResponse:
    """An answer that is the error."""
    del request
    return ShareGroupHeartbeatResponse(error_code=code)


API = Api(ShareGroupHeartbeatRequest, handle, fail)
