"""DescribeGroups v0-6: state, protocol and members of classic groups.

Must not know: how groups change. Versions: v3 authorized operations, v4 instance ids, v5 flexible, v6 an error for
groups there are not (KIP-1043). Spec: KIP-848 (coexistence), KIP-1043.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.groups.classic_groups import Group, GroupState, Member
from kafka_core.broker.handlers.api import Api
from kafka_core.broker.handlers.lookup import authorized_operations
from kafka_core.broker.handlers.p03_metadata import NOT_ASKED
from kafka_core.broker.security.acls import Resource
from kafka_core.protocol.messages.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)

_FIRST_VERSION_WITH_NOT_FOUND = 6


def handle(cluster: ClusterState, context: Context, request: DescribeGroupsRequest) -> DescribeGroupsResponse:
    """Describe each group; one that is not there is Dead."""
    asked = request.include_authorized_operations
    return DescribeGroupsResponse(
        groups=[
            _described(cluster, context, group_id, _operations(cluster, context, group_id) if asked else NOT_ASKED)
            for group_id in request.groups
        ]
    )


def _operations(cluster: ClusterState, context: Context, group_id: str) -> int:
    return authorized_operations(cluster, context, Resource.GROUP, group_id)


def _described(cluster: ClusterState, context: Context, group_id: str, operations: int) -> DescribedGroup:
    if not cluster.coordinates(context.broker_id, group_id):
        return DescribedGroup(Code.NOT_COORDINATOR, group_id=group_id)
    group = cluster.groups.groups.get(group_id)
    known = group is not None or cluster.share_groups.get(group_id) is not None
    if group is None or cluster.consumer_groups.get(group_id) is not None:
        dead = GroupState.DEAD.value
        if context.api_version < _FIRST_VERSION_WITH_NOT_FOUND:
            return DescribedGroup(group_id=group_id, group_state=dead, authorized_operations=operations)
        text = f"Group {group_id} is not a classic group." if known else f"Group {group_id} not found."
        return DescribedGroup(Code.GROUP_ID_NOT_FOUND, text, group_id, dead)
    stable = group.state is GroupState.STABLE
    return DescribedGroup(
        group_id=group_id,
        group_state=group.state.value,
        protocol_type=group.protocol_type or "",
        protocol_data=(group.protocol_name or "") if stable else "",
        members=[_member(group, member, stable=stable) for member in group.members.values()],
        authorized_operations=operations,
    )


def _member(group: Group, member: Member, *, stable: bool) -> DescribedGroupMember:
    return DescribedGroupMember(
        member.member_id,
        member.instance_id,
        member.client_id,
        member.client_host,
        member.metadata(group.protocol_name or "") if stable else b"",
        member.assignment,
    )


def fail(request: DescribeGroupsRequest, code: int) -> DescribeGroupsResponse:
    """The error for every group of the request."""
    return DescribeGroupsResponse(groups=[DescribedGroup(code, group_id=group_id) for group_id in request.groups])


API = Api(DescribeGroupsRequest, handle, fail)
