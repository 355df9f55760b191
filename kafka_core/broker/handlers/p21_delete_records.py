"""DeleteRecords v0-2: move the start of partitions forward.

Must not know: other APIs. Versions: v2 flexible. Spec: KIP-107.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.broker.handlers.lookup import find_partition, serving_problem
from kafka_core.protocol import ZERO_UUID
from kafka_core.protocol.messages.delete_records import (
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)

_HIGH_WATERMARK = -1
_NOTHING = -1


def handle(cluster: ClusterState, context: Context, request: DeleteRecordsRequest) -> DeleteRecordsResponse:
    """Delete what lies before an offset, -1 being the high watermark."""
    return DeleteRecordsResponse(
        topics=[
            DeleteRecordsTopicResult(
                topic.name,
                [_delete(cluster, context, topic.name, item.partition_index, item.offset) for item in topic.partitions],
            )
            for topic in request.topics
        ]
    )


def _delete(
    cluster: ClusterState, context: Context, name: str, index: int, offset: int
) -> DeleteRecordsPartitionResult:
    code, partition = find_partition(cluster, name, ZERO_UUID, index, by_id=False)
    if partition is not None:
        code = serving_problem(context, partition)
    if partition is None or code is not Code.NONE:
        return DeleteRecordsPartitionResult(index, _NOTHING, code)
    if "delete" not in partition.topic.config.text("cleanup.policy"):
        return DeleteRecordsPartitionResult(index, _NOTHING, Code.POLICY_VIOLATION)
    log = partition.log
    target = log.high_watermark if offset == _HIGH_WATERMARK else offset
    if not 0 <= target <= log.high_watermark:
        return DeleteRecordsPartitionResult(index, _NOTHING, Code.OFFSET_OUT_OF_RANGE)
    log.delete_before(target)
    partition.changed()
    return DeleteRecordsPartitionResult(index, log.start_offset)


def fail(request: DeleteRecordsRequest, code: int) -> DeleteRecordsResponse:
    """The error for every partition of the request."""
    return DeleteRecordsResponse(
        topics=[
            DeleteRecordsTopicResult(
                topic.name,
                [DeleteRecordsPartitionResult(item.partition_index, _NOTHING, code) for item in topic.partitions],
            )
            for topic in request.topics
        ]
    )


API = Api(DeleteRecordsRequest, handle, fail)
