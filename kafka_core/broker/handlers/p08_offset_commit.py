"""OffsetCommit v2-10: store positions of a group.

Must not know: the group's state machine. Versions: v2-4 retention time (ignored as brokers since 2.1 do), v6 leader
epochs, v7 static members, v8 flexible, v9 member epochs and groups that are not found (KIP-848), v10 topic ids.
Spec: KIP-98, KIP-345, KIP-848.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.broker.handlers.lookup import find_partition
from kafka_core.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)

_FIRST_VERSION_WITH_EPOCHS = 9
_FIRST_VERSION_WITH_IDS = 10


def handle(cluster: ClusterState, context: Context, request: OffsetCommitRequest) -> OffsetCommitResponse:
    """Store every position whose partition exists, if the member may commit."""
    if not cluster.coordinates(context.broker_id, request.group_id):
        return fail(request, Code.NOT_COORDINATOR)
    if cluster.share_groups.get(request.group_id) is not None:
        return fail(request, Code.GROUP_ID_NOT_FOUND)
    epochs = context.api_version >= _FIRST_VERSION_WITH_EPOCHS
    consumers = cluster.consumer_groups.get(request.group_id)
    if consumers is not None:
        code = consumers.commit_problem(request.member_id, request.generation_id_or_member_epoch, epochs)
    else:
        code = cluster.groups.admit_commit(
            request.group_id,
            request.member_id,
            request.group_instance_id,
            request.generation_id_or_member_epoch,
            unknown=Code.GROUP_ID_NOT_FOUND if epochs else Code.ILLEGAL_GENERATION,
        )
    if code is not Code.NONE:
        return fail(request, code)
    by_id = context.api_version >= _FIRST_VERSION_WITH_IDS
    return OffsetCommitResponse(topics=[_topic(cluster, request.group_id, topic, by_id) for topic in request.topics])


def _topic(
    cluster: ClusterState, group_id: str, topic: OffsetCommitRequestTopic, by_id: bool
) -> OffsetCommitResponseTopic:
    answers = []
    for item in topic.partitions:
        code, partition = find_partition(cluster, topic.name, topic.topic_id, item.partition_index, by_id=by_id)
        if partition is not None:
            code = cluster.groups.commit(
                group_id,
                partition.topic.name,
                partition.index,
                item.committed_offset,
                item.committed_leader_epoch,
                item.committed_metadata,
            )
        answers.append(OffsetCommitResponsePartition(item.partition_index, code))
    return OffsetCommitResponseTopic(topic.name, topic.topic_id, answers)


def fail(request: OffsetCommitRequest, code: int) -> OffsetCommitResponse:
    """The error for every partition of the request."""
    return OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(
                topic.name,
                topic.topic_id,
                [OffsetCommitResponsePartition(item.partition_index, code) for item in topic.partitions],
            )
            for topic in request.topics
        ]
    )


API = Api(OffsetCommitRequest, handle, fail)
