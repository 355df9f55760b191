"""ShareGroupDescribe v1: state, epochs and members of share groups.

Must not know: how groups change. Spec: KIP-932.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.groups.consumer_groups import Id
from kafka_core.broker.handlers.api import Api
from kafka_core.broker.handlers.lookup import authorized_operations
from kafka_core.broker.handlers.p68_consumer_group_heartbeat import by_topic
from kafka_core.broker.security.acls import Resource
from kafka_core.broker.sharing.groups import ASSIGNOR, ShareMember
from kafka_core.protocol.messages.share_group_describe import (
    Assignment,
    DescribedGroup,
    Member,
    ShareGroupDescribeRequest,
    ShareGroupDescribeResponse,
    TopicPartitions,
)

NOT_COORDINATOR = "This is not the correct coordinator."


def handle(cluster: ClusterState, context: Context, request: ShareGroupDescribeRequest) -> ShareGroupDescribeResponse:
    """Describe each group; one that is not there, or of another kind, is not found."""
    groups = [_described(cluster, context, group_id) for group_id in request.group_ids]
    if request.include_authorized_operations:
        for found in groups:
            if not found.error_code:
                operations = authorized_operations(cluster, context, Resource.GROUP, found.group_id)
                found.authorized_operations = operations
    return ShareGroupDescribeResponse(groups=groups)


def _described(cluster: ClusterState, context: Context, group_id: str) -> DescribedGroup:
    if not cluster.coordinates(context.broker_id, group_id):
        return DescribedGroup(Code.NOT_COORDINATOR, NOT_COORDINATOR, group_id)
    group = cluster.share_groups.get(group_id)
    if group is None:
        return DescribedGroup(*cluster.share_groups.group_problem(group_id), group_id)
    return DescribedGroup(
        group_id=group_id,
        group_state=group.state.value,
        group_epoch=group.epoch,
        assignment_epoch=group.target_epoch,
        assignor_name=ASSIGNOR,
        members=[_member(cluster, member) for member in group.members.values()],
    )


def _member(cluster: ClusterState, member: ShareMember) -> Member:
    return Member(
        member.member_id,
        member.rack_id,
        member.epoch,
        member.client_id,
        member.client_host,
        sorted(member.topics),
        _assignment(cluster, member.assigned),
    )


def _assignment(cluster: ClusterState, keys: frozenset[Id]) -> Assignment:
    found = [(topic_id, numbers, cluster.topics_by_id.get(topic_id)) for topic_id, numbers in by_topic(keys)]
    return Assignment(
        [TopicPartitions(topic_id, topic.name, numbers) for topic_id, numbers, topic in found if topic is not None]
    )


def fail(request: ShareGroupDescribeRequest, code: int) -> ShareGroupDescribeResponse:
    """The error for every group of the request."""
    return ShareGroupDescribeResponse(groups=[DescribedGroup(code, group_id=name) for name in request.group_ids])


API = Api(ShareGroupDescribeRequest, handle, fail)
