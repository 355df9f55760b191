"""DescribeProducers v0: the producers that a partition's leader remembers, and their open transactions.

Must not know: coordinators. Spec: KIP-664.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.broker.handlers.lookup import find_partition, serving_problem
from kafka_core.broker.partitions.topics import Partition
from kafka_core.protocol import ZERO_UUID
from kafka_core.protocol.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)


def handle(cluster: ClusterState, context: Context, request: DescribeProducersRequest) -> DescribeProducersResponse:
    """Look at every partition asked for."""

    def one(name: str, index: int) -> PartitionResponse:
        code, partition = find_partition(cluster, name, ZERO_UUID, index, by_id=False)
        if partition is not None:
            code = serving_problem(context, partition)
        if partition is None or code is not Code.NONE:
            return PartitionResponse(index, code)
        return PartitionResponse(index, Code.NONE, None, _states(partition))

    return DescribeProducersResponse(
        topics=[
            TopicResponse(topic.name, [one(topic.name, index) for index in topic.partition_indexes])
            for topic in request.topics
        ]
    )


def _states(partition: Partition) -> list[ProducerState]:
    found = []
    for producer_id, entry in partition.producers.entries():
        last = entry.batches[-1] if entry.batches else None
        found.append(
            ProducerState(
                producer_id,
                entry.epoch,
                last.last_sequence if last is not None else -1,
                last.timestamp_ms if last is not None else -1,
                entry.coordinator_epoch,
                partition.log.open_transactions.get(producer_id, -1),
            )
        )
    return found


def fail(request: DescribeProducersRequest, code: int) -> DescribeProducersResponse:
    """The error for every partition of the request."""
    return DescribeProducersResponse(
        topics=[
            TopicResponse(topic.name, [PartitionResponse(index, code) for index in topic.partition_indexes])
            for topic in request.topics
        ]
    )


API = Api(DescribeProducersRequest, handle, fail)
