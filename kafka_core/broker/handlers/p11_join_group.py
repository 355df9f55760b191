"""JoinGroup v0-9: enter a classic group; answered when its rebalance completes.

Must not know: the state machine (`coordinator.py`). Versions: v1 rebalance time-out, v4 known member ids (KIP-394),
v5 static members (KIP-345), v7 protocol type, v8 reason, v9 skip assignment (KIP-814). Spec: KIP-62.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.groups.classic_coordinator import JoinCall
from kafka_core.broker.groups.classic_groups import JoinResult
from kafka_core.broker.handlers.api import Api, Outcome
from kafka_core.broker.parking import Pending
from kafka_core.protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse, JoinGroupResponseMember

_FIRST_VERSION_WITH_KNOWN_IDS = 4
_FIRST_VERSION_WITH_NULL_PROTOCOL = 7
_FIRST_VERSION_WITH_SKIPPING = 9


def handle(cluster: ClusterState, context: Context, request: JoinGroupRequest) -> Outcome | Pending[Outcome]:
    """Pass the call on; the answer comes with the rebalance."""
    if request.group_id and not cluster.coordinates(context.broker_id, request.group_id):
        return _response(JoinResult(Code.NOT_COORDINATOR, request.member_id), context.api_version)
    version = context.api_version
    call = JoinCall(
        request.group_id,
        request.member_id,
        request.group_instance_id,
        context.client_id or "",
        context.connection.client_host,
        request.session_timeout_ms,
        request.session_timeout_ms if request.rebalance_timeout_ms < 0 else request.rebalance_timeout_ms,
        request.protocol_type,
        [(protocol.name, bytes(protocol.metadata)) for protocol in request.protocols],
        requires_known_id=version >= _FIRST_VERSION_WITH_KNOWN_IDS,
        supports_skipping_assignment=version >= _FIRST_VERSION_WITH_SKIPPING,
    )
    if cluster.share_groups.get(request.group_id) is not None:
        return _response(JoinResult(Code.INCONSISTENT_GROUP_PROTOCOL, request.member_id), version)
    consumers = cluster.consumer_groups.get(request.group_id)
    if consumers is not None and cluster.consumer_groups.give_way(request.group_id) is not Code.NONE:
        return _response(cluster.migration.join(consumers, call), version)
    answer: Pending[Outcome] = Pending()
    cluster.groups.join(call).then(lambda result: answer.resolve(_response(result, version)))
    return answer


def _response(result: JoinResult, version: int) -> JoinGroupResponse:
    no_name = None if version >= _FIRST_VERSION_WITH_NULL_PROTOCOL else ""
    return JoinGroupResponse(
        error_code=result.code,
        generation_id=result.generation,
        protocol_type=result.protocol_type,
        protocol_name=no_name if result.protocol_name is None else result.protocol_name,
        leader=result.leader,
        skip_assignment=result.skip_assignment,
        member_id=result.member_id,
        members=[JoinGroupResponseMember(m.member_id, m.instance_id, m.metadata) for m in result.members],
    )


def fail(request: JoinGroupRequest, code: int) -> JoinGroupResponse:
    """An answer that is the error."""
    return JoinGroupResponse(error_code=code, protocol_name="", member_id=request.member_id)


API = Api(JoinGroupRequest, handle, fail)
