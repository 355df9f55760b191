"""ConsumerGroupHeartbeat v0-1: join, stay in and leave a consumer group.

Must not know: how groups change (`consumer_coordinator.py`). Versions: v1 patterns and member ids made by the client
(KIP-1082); in v0 the coordinator makes one for who has none. Spec: KIP-848.
"""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.groups.consumer_coordinator import HeartbeatCall
from kafka_core.broker.groups.consumer_groups import Id
from kafka_core.broker.handlers.api import Api
from kafka_core.protocol.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)

_FIRST_VERSION_WITH_OWN_IDS = 1


def handle(
    cluster: ClusterState, context: Context, request: ConsumerGroupHeartbeatRequest
) -> ConsumerGroupHeartbeatResponse:
    """Pass the call on."""
    if request.group_id and not cluster.coordinates(context.broker_id, request.group_id):
        return fail(request, Code.NOT_COORDINATOR)
    if cluster.share_groups.get(request.group_id) is not None:
        text = f"Group {request.group_id} is not a consumer group."
        return ConsumerGroupHeartbeatResponse(error_code=Code.GROUP_ID_NOT_FOUND, error_message=text)
    member_id = request.member_id
    if not member_id and request.member_epoch == 0 and context.api_version < _FIRST_VERSION_WITH_OWN_IDS:
        member_id = str(UUID(int=cluster.rng.getrandbits(128), version=4))
    names, owned = request.subscribed_topic_names, request.topic_partitions
    result = cluster.consumer_groups.heartbeat(
        HeartbeatCall(
            request.group_id,
            member_id,
            request.member_epoch,
            request.instance_id,
            request.rack_id,
            context.client_id or "",
            context.connection.client_host,
            request.rebalance_timeout_ms,
            None if names is None else frozenset(names),
            request.subscribed_topic_regex,
            request.server_assignor,
            None if owned is None else frozenset(_ids(owned)),
        )
    )
    assigned = result.assigned
    return ConsumerGroupHeartbeatResponse(
        error_code=result.code,
        error_message=result.text,
        member_id=result.member_id,
        member_epoch=result.epoch,
        heartbeat_interval_ms=result.heartbeat_interval_ms,
        assignment=None if assigned is None else Assignment([TopicPartitions(*item) for item in by_topic(assigned)]),
    )


def _ids(topics: Iterable[TopicPartitions]) -> Iterable[Id]:
    return ((topic.topic_id, number) for topic in topics for number in topic.partitions)


def by_topic(keys: Iterable[Id]) -> list[tuple[UUID, list[int]]]:
    """Partition numbers by topic, both sorted."""
    topics: dict[UUID, list[int]] = {}
    for topic_id, number in sorted(keys):
        topics.setdefault(topic_id, []).append(number)
    return list(topics.items())


def fail(request: ConsumerGroupHeartbeatRequest, code: int) -> ConsumerGroupHeartbeatResponse:
    """An answer that is the error."""
    del request
    return ConsumerGroupHeartbeatResponse(error_code=code)


API = Api(ConsumerGroupHeartbeatRequest, handle, fail)
