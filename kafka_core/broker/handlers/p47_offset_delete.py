"""OffsetDelete v0: forget positions of a group in partitions it is not subscribed to.

Must not know: how groups change. Spec: KIP-496.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.groups.classic_groups import Group, GroupState
from kafka_core.broker.handlers.api import Api
from kafka_core.broker.handlers.lookup import find_partition
from kafka_core.errors import ProtocolError
from kafka_core.protocol import ZERO_UUID, decode
from kafka_core.protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from kafka_core.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)

_CONSUMER = "consumer"


def handle(cluster: ClusterState, context: Context, request: OffsetDeleteRequest) -> OffsetDeleteResponse:
    """Delete positions of an empty group, or of topics nobody in a consumer group subscribes to."""
    if not cluster.coordinates(context.broker_id, request.group_id):
        return fail(request, Code.NOT_COORDINATOR)
    group = cluster.groups.groups.get(request.group_id)
    if group is None:
        return fail(request, Code.GROUP_ID_NOT_FOUND)
    if group.state is not GroupState.EMPTY and group.protocol_type != _CONSUMER:
        return fail(request, Code.NON_EMPTY_GROUP)
    consumers = cluster.consumer_groups.get(request.group_id)
    subscribed = _subscribed_topics(group) if consumers is None else set(consumers.topics)
    return OffsetDeleteResponse(topics=[_topic(cluster, group, topic, subscribed) for topic in request.topics])


def _topic(
    cluster: ClusterState, group: Group, topic: OffsetDeleteRequestTopic, subscribed: set[str] | None
) -> OffsetDeleteResponseTopic:
    answers = []
    for item in topic.partitions:
        code, _ = find_partition(cluster, topic.name, ZERO_UUID, item.partition_index, by_id=False)
        if code is Code.NONE and (subscribed is None or topic.name in subscribed):
            code = Code.GROUP_SUBSCRIBED_TO_TOPIC
        if code is Code.NONE:
            group.offsets.pop((topic.name, item.partition_index), None)
        answers.append(OffsetDeleteResponsePartition(item.partition_index, code))
    return OffsetDeleteResponseTopic(topic.name, answers)


def _subscribed_topics(group: Group) -> set[str] | None:
    """Topics the members subscribe to; None (any topic could be) if a member's metadata is no subscription."""
    try:
        return {
            topic
            for member in group.members.values()
            for _, metadata in member.protocols
            for topic in _subscription(metadata).topics
        }
    except ProtocolError:
        return None


def _subscription(metadata: bytes) -> ConsumerProtocolSubscription:
    """A version, then the fields; newer versions only add fields at the end."""
    newest = ConsumerProtocolSubscription.VALID_VERSIONS[1]
    version = min(int.from_bytes(metadata[:2], "big"), newest)
    return decode(ConsumerProtocolSubscription, version, metadata[2:], exact=False)


def fail(request: OffsetDeleteRequest, code: int) -> OffsetDeleteResponse:
    """An answer that is the error."""
    del request
    return OffsetDeleteResponse(error_code=code)


API = Api(OffsetDeleteRequest, handle, fail)
