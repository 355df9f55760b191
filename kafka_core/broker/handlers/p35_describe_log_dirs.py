"""DescribeLogDirs v1-5: the one log directory that each broker pretends to have, and how large its partitions are.

Must not know: segments. Versions: v3 error code, v4 sizes of the volume (unknown here), v5 cordoned. Spec: KIP-113,
KIP-827, KIP-1066.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.protocol.messages.log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)


def handle(cluster: ClusterState, context: Context, request: DescribeLogDirsRequest) -> DescribeLogDirsResponse:
    """The partitions that this broker has replicas of; others are left out."""
    wanted = None if request.topics is None else {item.topic: set(item.partitions) for item in request.topics}
    topics = []
    for topic in cluster.topics.values():
        if wanted is not None and topic.name not in wanted:
            continue
        partitions = [
            DescribeLogDirsPartition(partition.index, partition.log.size_bytes)
            for partition in topic.partitions
            if context.broker_id in partition.replicas and (wanted is None or partition.index in wanted[topic.name])
        ]
        if partitions:
            topics.append(DescribeLogDirsTopic(topic.name, partitions))
    return DescribeLogDirsResponse(results=[DescribeLogDirsResult(Code.NONE, log_dir(cluster, context), topics)])


def log_dir(cluster: ClusterState, context: Context) -> str:
    """The log directory that the broker pretends to have."""
    return f"/memory/{cluster.cluster_id}/{context.broker_id}"


def fail(request: DescribeLogDirsRequest, code: int) -> DescribeLogDirsResponse:
    """An answer that is the error; before version 3 it has no place and there are no directories."""
    del request
    return DescribeLogDirsResponse(error_code=code)


API = Api(DescribeLogDirsRequest, handle, fail)
