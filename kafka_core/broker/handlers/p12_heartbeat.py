"""Heartbeat v0-4: a member is alive; tells it of a rebalance.

Must not know: the state machine (`coordinator.py`). Versions: v3 static members (KIP-345), v4 flexible.
Spec: KIP-62.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse


def handle(cluster: ClusterState, context: Context, request: HeartbeatRequest) -> HeartbeatResponse:
    """Pass the call on."""
    if not request.group_id:
        return fail(request, Code.INVALID_GROUP_ID)
    if not cluster.coordinates(context.broker_id, request.group_id):
        return fail(request, Code.NOT_COORDINATOR)
    who = (request.member_id, request.group_instance_id, request.generation_id)
    consumers = cluster.consumer_groups.get(request.group_id)
    if consumers is not None:
        return HeartbeatResponse(error_code=cluster.migration.heartbeat(consumers, *who))
    code = cluster.groups.heartbeat(request.group_id, *who)
    return HeartbeatResponse(error_code=code)


def fail(request: HeartbeatRequest, code: int) -> HeartbeatResponse:
    """An answer that is the error."""
    del request
    return HeartbeatResponse(error_code=code)


API = Api(HeartbeatRequest, handle, fail)
