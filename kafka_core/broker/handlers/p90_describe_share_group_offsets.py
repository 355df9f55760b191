"""DescribeShareGroupOffsets v0-1: where share groups are in their partitions.

Must not know: how groups and records change. Versions: v1 lag (KIP-1226). Spec: KIP-932.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.broker.handlers.lookup import may
from kafka_core.broker.handlers.p77_share_group_describe import NOT_COORDINATOR
from kafka_core.broker.security.acls import Operation, Resource
from kafka_core.broker.sharing.partitions import UNKNOWN_OFFSET, SharePartition
from kafka_core.protocol import ZERO_UUID
from kafka_core.protocol.messages.share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsRequestTopic,
    DescribeShareGroupOffsetsResponse,
    DescribeShareGroupOffsetsResponseGroup,
    DescribeShareGroupOffsetsResponsePartition,
    DescribeShareGroupOffsetsResponseTopic,
)


def handle(
    cluster: ClusterState, context: Context, request: DescribeShareGroupOffsetsRequest
) -> DescribeShareGroupOffsetsResponse:
    """Describe each group: the partitions named, or all that it reads. A group that is not there is nowhere."""
    return DescribeShareGroupOffsetsResponse(groups=[_group(cluster, context, item) for item in request.groups])


def _group(
    cluster: ClusterState, context: Context, item: DescribeShareGroupOffsetsRequestGroup
) -> DescribeShareGroupOffsetsResponseGroup:
    if not cluster.coordinates(context.broker_id, item.group_id):
        return DescribeShareGroupOffsetsResponseGroup(item.group_id, [], Code.NOT_COORDINATOR, NOT_COORDINATOR)
    if item.topics is not None:
        topics = [_named(cluster, context, item.group_id, topic) for topic in item.topics]
        return DescribeShareGroupOffsetsResponseGroup(item.group_id, topics)
    found: dict[str, DescribeShareGroupOffsetsResponseTopic] = {}
    for part in cluster.share_partitions.of_group(item.group_id):
        topic = part.partition.topic
        if not may(cluster, context, Operation.DESCRIBE, Resource.TOPIC, topic.name):
            continue
        answer = found.setdefault(topic.name, DescribeShareGroupOffsetsResponseTopic(topic.name, topic.topic_id))
        answer.partitions.append(_partition(part.partition.index, part))
    return DescribeShareGroupOffsetsResponseGroup(item.group_id, list(found.values()))


def _named(
    cluster: ClusterState, context: Context, group_id: str, item: DescribeShareGroupOffsetsRequestTopic
) -> DescribeShareGroupOffsetsResponseTopic:
    if not may(cluster, context, Operation.DESCRIBE, Resource.TOPIC, item.topic_name):
        code = Code.TOPIC_AUTHORIZATION_FAILED
        refused = [
            DescribeShareGroupOffsetsResponsePartition(index, UNKNOWN_OFFSET, error_code=code)
            for index in item.partitions
        ]
        return DescribeShareGroupOffsetsResponseTopic(item.topic_name, ZERO_UUID, refused)
    topic = cluster.topics.get(item.topic_name)
    topic_id = ZERO_UUID if topic is None else topic.topic_id
    parts = [(index, cluster.share_partitions.get(group_id, topic_id, index)) for index in item.partitions]
    return DescribeShareGroupOffsetsResponseTopic(
        item.topic_name, topic_id, [_partition(index, part) for index, part in parts]
    )


def _partition(index: int, part: SharePartition | None) -> DescribeShareGroupOffsetsResponsePartition:
    start_offset, lag = (UNKNOWN_OFFSET, -1) if part is None else part.position
    return DescribeShareGroupOffsetsResponsePartition(index, start_offset, 0, lag)


def fail(request: DescribeShareGroupOffsetsRequest, code: int) -> DescribeShareGroupOffsetsResponse:
    """The error for every group of the request."""
    return DescribeShareGroupOffsetsResponse(
        groups=[DescribeShareGroupOffsetsResponseGroup(item.group_id, [], code) for item in request.groups]
    )


API = Api(DescribeShareGroupOffsetsRequest, handle, fail)
