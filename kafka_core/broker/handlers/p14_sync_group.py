"""SyncGroup v0-5: the leader hands out assignments, members take theirs.

Must not know: the state machine (`coordinator.py`). Versions: v3 static members (KIP-345), v4 flexible, v5 protocol
type and name (KIP-559). Spec: KIP-62.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.groups.classic_groups import SyncResult
from kafka_core.broker.handlers.api import Api, Outcome
from kafka_core.broker.parking import Pending
from kafka_core.protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse

_FIRST_VERSION_WITH_PROTOCOL = 5


def handle(cluster: ClusterState, context: Context, request: SyncGroupRequest) -> Outcome | Pending[Outcome]:
    """Pass the call on; a follower's answer comes with the leader's call."""
    if not request.group_id:
        return fail(request, Code.INVALID_GROUP_ID)
    if not cluster.coordinates(context.broker_id, request.group_id):
        return fail(request, Code.NOT_COORDINATOR)
    named = context.api_version >= _FIRST_VERSION_WITH_PROTOCOL
    if named and (request.protocol_type is None or request.protocol_name is None):
        return fail(request, Code.INCONSISTENT_GROUP_PROTOCOL)
    consumers = cluster.consumer_groups.get(request.group_id)
    if consumers is not None:
        instance_id = request.group_instance_id
        return _response(cluster.migration.sync(consumers, request.member_id, instance_id, request.generation_id))
    answer: Pending[Outcome] = Pending()
    cluster.groups.sync(
        request.group_id,
        request.member_id,
        request.group_instance_id,
        request.generation_id,
        request.protocol_type,
        request.protocol_name,
        {item.member_id: bytes(item.assignment) for item in request.assignments},
    ).then(lambda result: answer.resolve(_response(result)))
    return answer


def _response(result: SyncResult) -> SyncGroupResponse:
    return SyncGroupResponse(
        error_code=result.code,
        protocol_type=result.protocol_type,
        protocol_name=result.protocol_name,
        assignment=result.assignment,
    )


def fail(request: SyncGroupRequest, code: int) -> SyncGroupResponse:
    """An answer that is the error."""
    del request
    return SyncGroupResponse(error_code=code)


API = Api(SyncGroupRequest, handle, fail)
