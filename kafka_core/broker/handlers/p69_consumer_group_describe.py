"""ConsumerGroupDescribe v0-1: state, epochs and members of consumer groups.

Must not know: how groups change. Versions: v1 kind of member (KIP-1099). Spec: KIP-848.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.groups.consumer_groups import ConsumerGroup, ConsumerMember, Id
from kafka_core.broker.handlers.api import Api
from kafka_core.broker.handlers.lookup import authorized_operations
from kafka_core.broker.handlers.p03_metadata import NOT_ASKED
from kafka_core.broker.handlers.p68_consumer_group_heartbeat import by_topic
from kafka_core.broker.security.acls import Resource
from kafka_core.protocol.messages.consumer_group_describe import (
    Assignment,
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
    Member,
    TopicPartitions,
)

_CLASSIC, _CONSUMER = 0, 1


def handle(
    cluster: ClusterState, context: Context, request: ConsumerGroupDescribeRequest
) -> ConsumerGroupDescribeResponse:
    """Describe each group; one that is not there, or of another protocol, is not found."""
    groups = [_described(cluster, context, group_id) for group_id in request.group_ids]
    if request.include_authorized_operations:
        for found in groups:
            if not found.error_code:
                operations = authorized_operations(cluster, context, Resource.GROUP, found.group_id)
                found.authorized_operations = operations
    return ConsumerGroupDescribeResponse(groups=groups)


def _described(cluster: ClusterState, context: Context, group_id: str) -> DescribedGroup:
    if not cluster.coordinates(context.broker_id, group_id):
        return DescribedGroup(Code.NOT_COORDINATOR, group_id=group_id)
    group = cluster.consumer_groups.get(group_id)
    if group is None:
        known = group_id in cluster.groups.groups or cluster.share_groups.get(group_id) is not None
        text = f"Group {group_id} is not a consumer group." if known else f"Group {group_id} not found."
        return DescribedGroup(Code.GROUP_ID_NOT_FOUND, text, group_id)
    return DescribedGroup(
        group_id=group_id,
        group_state=group.state.value,
        group_epoch=group.epoch,
        assignment_epoch=group.target_epoch,
        assignor_name=group.assignor(cluster.consumer_groups.settings.assignors[0]),
        members=[_member(cluster, group, member) for member in group.members.values()],
        authorized_operations=NOT_ASKED,
    )


def _member(cluster: ClusterState, group: ConsumerGroup, member: ConsumerMember) -> Member:
    return Member(
        member.member_id,
        member.instance_id,
        member.rack_id,
        member.epoch,
        member.client_id,
        member.client_host,
        sorted(member.topics),
        member.regex,
        _assignment(cluster, member.assigned),
        _assignment(cluster, group.target.get(member.member_id, frozenset())),
        _CONSUMER if member.classic is None else _CLASSIC,
    )


def _assignment(cluster: ClusterState, keys: frozenset[Id]) -> Assignment:
    found = [(topic_id, numbers, cluster.topics_by_id.get(topic_id)) for topic_id, numbers in by_topic(keys)]
    return Assignment(
        [TopicPartitions(topic_id, topic.name, numbers) for topic_id, numbers, topic in found if topic is not None]
    )


def fail(request: ConsumerGroupDescribeRequest, code: int) -> ConsumerGroupDescribeResponse:
    """The error for every group of the request."""
    return ConsumerGroupDescribeResponse(groups=[DescribedGroup(code, group_id=name) for name in request.group_ids])


API = Api(ConsumerGroupDescribeRequest, handle, fail)
