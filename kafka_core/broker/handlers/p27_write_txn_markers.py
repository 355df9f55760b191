"""WriteTxnMarkers v1-2: an administrator ends a hanging transaction in the log of a partition.

Must not know: transaction coordinators, which write their markers themselves here. Versions: v2 says which protocol of
transactions the marker belongs to. Spec: KIP-98, KIP-664 (administrators), KIP-890 (v2).
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.broker.handlers.lookup import find_partition, serving_problem
from kafka_core.broker.partitions.appending import append_marker
from kafka_core.protocol import ZERO_UUID
from kafka_core.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)


def handle(cluster: ClusterState, context: Context, request: WriteTxnMarkersRequest) -> WriteTxnMarkersResponse:
    """Write each marker into each of its partitions."""

    def one(marker: WritableTxnMarker, name: str, index: int) -> WritableTxnMarkerPartitionResult:
        return WritableTxnMarkerPartitionResult(index, _written(cluster, context, marker, name, index))

    return WriteTxnMarkersResponse(
        [
            WritableTxnMarkerResult(
                marker.producer_id,
                [
                    WritableTxnMarkerTopicResult(
                        topic.name, [one(marker, topic.name, index) for index in topic.partition_indexes]
                    )
                    for topic in marker.topics
                ],
            )
            for marker in request.markers
        ]
    )


def _written(cluster: ClusterState, context: Context, marker: WritableTxnMarker, name: str, index: int) -> Code:
    """Write one marker, or say why not: an older epoch of the producer, or of the coordinator, ends nothing."""
    code, partition = find_partition(cluster, name, ZERO_UUID, index, by_id=False)
    if partition is not None:
        code = serving_problem(context, partition)
    if partition is None or code is not Code.NONE:
        return code
    if marker.producer_id < 0:
        return Code.UNKNOWN_SERVER_ERROR
    known = partition.producers.entry(marker.producer_id)
    if known is not None and marker.producer_epoch < known.epoch:
        return Code.INVALID_PRODUCER_EPOCH
    if known is not None and marker.coordinator_epoch < known.coordinator_epoch:
        return Code.TRANSACTION_COORDINATOR_FENCED
    append_marker(
        partition,
        marker.producer_id,
        marker.producer_epoch,
        commit=marker.transaction_result,
        now_ms=cluster.clock.time_ms(),
        coordinator_epoch=marker.coordinator_epoch,
    )
    partition.changed()
    return Code.NONE


def fail(request: WriteTxnMarkersRequest, code: int) -> WriteTxnMarkersResponse:
    """The error for every partition of the request."""
    return WriteTxnMarkersResponse(
        [
            WritableTxnMarkerResult(
                marker.producer_id,
                [
                    WritableTxnMarkerTopicResult(
                        topic.name, [WritableTxnMarkerPartitionResult(index, code) for index in topic.partition_indexes]
                    )
                    for topic in marker.topics
                ],
            )
            for marker in request.markers
        ]
    )


API = Api(WriteTxnMarkersRequest, handle, fail)
