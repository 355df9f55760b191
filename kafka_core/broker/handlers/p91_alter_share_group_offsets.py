"""AlterShareGroupOffsets v0: move an empty share group in its partitions; a group that is not there is made.

Must not know: how groups and records change. Spec: KIP-932.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.broker.handlers.sharing import NOT_HOSTED
from kafka_core.protocol import ZERO_UUID
from kafka_core.protocol.messages.share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestTopic,
    AlterShareGroupOffsetsResponse,
    AlterShareGroupOffsetsResponsePartition,
    AlterShareGroupOffsetsResponseTopic,
)


def handle(
    cluster: ClusterState, context: Context, request: AlterShareGroupOffsetsRequest
) -> AlterShareGroupOffsetsResponse:
    """Move the group in each partition by itself."""
    if request.group_id and not cluster.coordinates(context.broker_id, request.group_id):
        return fail(request, Code.NOT_COORDINATOR)
    code, text = cluster.share_groups.position_problem(request.group_id)
    if code is not Code.NONE:
        return AlterShareGroupOffsetsResponse(error_code=code, error_message=text)
    return AlterShareGroupOffsetsResponse(
        responses=[_topic(cluster, request.group_id, item) for item in request.topics]
    )


def _topic(
    cluster: ClusterState, group_id: str, item: AlterShareGroupOffsetsRequestTopic
) -> AlterShareGroupOffsetsResponseTopic:
    topic = cluster.topics.get(item.topic_name)
    answers = []
    for wanted in item.partitions:
        partition = topic.partition(wanted.partition_index) if topic is not None else None
        answer = AlterShareGroupOffsetsResponsePartition(wanted.partition_index)
        if partition is None:
            answer.error_code, answer.error_message = Code.UNKNOWN_TOPIC_OR_PARTITION, NOT_HOSTED
        else:
            cluster.share_partitions.begin(group_id, partition).begin_at(wanted.start_offset)
        answers.append(answer)
    return AlterShareGroupOffsetsResponseTopic(item.topic_name, ZERO_UUID if topic is None else topic.topic_id, answers)


def fail(request: AlterShareGroupOffsetsRequest, code: int) -> AlterShareGroupOffsetsResponse:
    """The error for every partition of the request and for the whole answer."""
    topics = [
        AlterShareGroupOffsetsResponseTopic(
            item.topic_name,
            ZERO_UUID,
            [AlterShareGroupOffsetsResponsePartition(wanted.partition_index, code) for wanted in item.partitions],
        )
        for item in request.topics
    ]
    return AlterShareGroupOffsetsResponse(error_code=code, responses=topics)


API = Api(AlterShareGroupOffsetsRequest, handle, fail)
