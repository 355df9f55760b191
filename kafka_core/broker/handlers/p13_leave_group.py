"""LeaveGroup v0-5: members go, and the group rebalances.

Must not know: the state machine (`coordinator.py`). Versions: v3 several members, also by instance id (KIP-345),
v4 flexible, v5 reason (KIP-800). Spec: KIP-62.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberResponse

_FIRST_BATCHED_VERSION = 3


def handle(cluster: ClusterState, context: Context, request: LeaveGroupRequest) -> LeaveGroupResponse:
    """Let one member (until v2) or several go."""
    if not request.group_id:
        return fail(request, Code.INVALID_GROUP_ID)
    if not cluster.coordinates(context.broker_id, request.group_id):
        return fail(request, Code.NOT_COORDINATOR)
    group_id = request.group_id
    if context.api_version < _FIRST_BATCHED_VERSION:
        return LeaveGroupResponse(error_code=_leave(cluster, group_id, request.member_id, None))
    return LeaveGroupResponse(
        members=[
            MemberResponse(
                item.member_id,
                item.group_instance_id,
                _leave(cluster, group_id, item.member_id, item.group_instance_id),
            )
            for item in request.members
        ]
    )


def _leave(cluster: ClusterState, group_id: str, member_id: str, instance_id: str | None) -> Code:
    consumers = cluster.consumer_groups.get(group_id)
    if consumers is not None:
        return cluster.migration.leave(consumers, member_id, instance_id)
    return cluster.groups.leave(group_id, member_id, instance_id)


def fail(request: LeaveGroupRequest, code: int) -> LeaveGroupResponse:
    """An answer that is the error."""
    del request
    return LeaveGroupResponse(error_code=code)


API = Api(LeaveGroupRequest, handle, fail)
