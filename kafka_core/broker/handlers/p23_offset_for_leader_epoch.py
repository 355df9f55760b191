"""OffsetForLeaderEpoch v2-4: where a leader epoch ended, so that a reader can see whether its log was cut.

Must not know: other APIs. Versions: v2 current epoch, v3 replica id, v4 flexible. Spec: KIP-101, KIP-320.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.broker.handlers.lookup import find_partition, serving_problem
from kafka_core.protocol import ZERO_UUID
from kafka_core.protocol.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)


def handle(
    cluster: ClusterState, context: Context, request: OffsetForLeaderEpochRequest
) -> OffsetForLeaderEpochResponse:
    """Look up every partition asked for."""
    return OffsetForLeaderEpochResponse(
        topics=[
            OffsetForLeaderTopicResult(
                topic.topic, [_end(cluster, context, topic.topic, item) for item in topic.partitions]
            )
            for topic in request.topics
        ]
    )


def _end(cluster: ClusterState, context: Context, name: str, item: OffsetForLeaderPartition) -> EpochEndOffset:
    code, partition = find_partition(cluster, name, ZERO_UUID, item.partition, by_id=False)
    if partition is not None:
        code = serving_problem(context, partition, item.current_leader_epoch)
    if partition is None or code is not Code.NONE:
        return EpochEndOffset(code, item.partition)
    epoch, end_offset = partition.log.epochs.end_of(item.leader_epoch, partition.log.end_offset)
    return EpochEndOffset(Code.NONE, item.partition, epoch, end_offset)


def fail(request: OffsetForLeaderEpochRequest, code: int) -> OffsetForLeaderEpochResponse:
    """The error for every partition of the request."""
    return OffsetForLeaderEpochResponse(
        topics=[
            OffsetForLeaderTopicResult(topic.topic, [EpochEndOffset(code, item.partition) for item in topic.partitions])
            for topic in request.topics
        ]
    )


API = Api(OffsetForLeaderEpochRequest, handle, fail)
