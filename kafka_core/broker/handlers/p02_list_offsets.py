"""ListOffsets v1-11: the offset of a time, the earliest, the latest, or the newest timestamp.

Must not know: groups. Versions: v2 isolation, v4 leader epochs, v7 max timestamp (KIP-734), v8 earliest local and
v9/v11 tiered offsets (KIP-405; nothing is tiered here). Spec: KIP-79, KIP-734.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.broker.handlers.lookup import find_partition, serving_problem
from kafka_core.broker.partitions.reading import first_at_time, first_of_max_timestamp
from kafka_core.broker.partitions.topics import Partition
from kafka_core.protocol import ZERO_UUID
from kafka_core.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)

LATEST = -1
EARLIEST = -2
MAX_TIMESTAMP = -3
EARLIEST_LOCAL = -4
LATEST_TIERED = -5
EARLIEST_PENDING_UPLOAD = -6
_FIRST_VERSION_WITH_EPOCHS = 4
#: First version that knows each special timestamp.
_SINCE = {LATEST: 0, EARLIEST: 0, MAX_TIMESTAMP: 7, EARLIEST_LOCAL: 8, LATEST_TIERED: 9, EARLIEST_PENDING_UPLOAD: 11}


@dataclass(frozen=True, slots=True)
class _Place:
    offset: int = -1
    timestamp_ms: int = -1
    leader_epoch: int = -1


def _find(partition: Partition, timestamp_ms: int, *, read_committed: bool) -> _Place:
    log = partition.log
    match timestamp_ms:
        case -1:
            end = log.last_stable_offset if read_committed else log.high_watermark
            return _Place(end, leader_epoch=log.epochs.latest)
        case -2 | -4:
            return _Place(log.start_offset, leader_epoch=log.epochs.epoch_at(log.start_offset))
        case -5 | -6:
            return _Place()
        case -3:
            found = first_of_max_timestamp(partition)
        case _:
            found = first_at_time(partition, timestamp_ms)
    if found is None:
        return _Place()
    return _Place(found[0], found[1], log.epochs.epoch_at(found[0]))


def _partition(
    cluster: ClusterState, context: Context, name: str, item: ListOffsetsPartition, read_committed: bool
) -> ListOffsetsPartitionResponse:
    code, partition = find_partition(cluster, name, ZERO_UUID, item.partition_index, by_id=False)
    if partition is not None:
        code = serving_problem(context, partition, item.current_leader_epoch)
    if item.timestamp < 0 and context.api_version < _SINCE.get(item.timestamp, 2**15):
        code = Code.UNSUPPORTED_VERSION
    if partition is None or code is not Code.NONE:
        return ListOffsetsPartitionResponse(item.partition_index, code)
    place = _find(partition, item.timestamp, read_committed=read_committed)
    epoch = place.leader_epoch if context.api_version >= _FIRST_VERSION_WITH_EPOCHS else -1
    return ListOffsetsPartitionResponse(item.partition_index, Code.NONE, place.timestamp_ms, place.offset, epoch)


def handle(cluster: ClusterState, context: Context, request: ListOffsetsRequest) -> ListOffsetsResponse:
    """Look up every partition asked for."""
    committed = request.isolation_level == 1
    return ListOffsetsResponse(
        topics=[
            ListOffsetsTopicResponse(
                topic.name, [_partition(cluster, context, topic.name, item, committed) for item in topic.partitions]
            )
            for topic in request.topics
        ]
    )


def fail(request: ListOffsetsRequest, code: int) -> ListOffsetsResponse:
    """The error for every partition of the request."""
    return ListOffsetsResponse(
        topics=[
            ListOffsetsTopicResponse(
                topic.name, [ListOffsetsPartitionResponse(item.partition_index, code) for item in topic.partitions]
            )
            for topic in request.topics
        ]
    )


API = Api(ListOffsetsRequest, handle, fail)
