"""AlterReplicaLogDirs v1-2: a replica is to lie in a log directory; each broker has the one that it pretends to have.

Must not know: the log. Spec: KIP-113.
"""

from __future__ import annotations

from collections.abc import Iterable

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.broker.handlers.lookup import find_partition
from kafka_core.broker.handlers.p35_describe_log_dirs import log_dir
from kafka_core.protocol import ZERO_UUID
from kafka_core.protocol.messages.log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)


def handle(cluster: ClusterState, context: Context, request: AlterReplicaLogDirsRequest) -> AlterReplicaLogDirsResponse:
    """Replicas are where they are to be, or the directory is not there."""
    here = log_dir(cluster, context)

    def one(path: str, name: str, index: int) -> Code:
        if path != here:
            return Code.LOG_DIR_NOT_FOUND
        code, partition = find_partition(cluster, name, ZERO_UUID, index, by_id=False)
        if partition is None:
            return code
        return Code.NONE if context.broker_id in partition.replicas else Code.NOT_LEADER_OR_FOLLOWER

    return _answer(
        (topic.name, index, one(item.path, topic.name, index))
        for item in request.dirs
        for topic in item.topics
        for index in topic.partitions
    )


def _answer(found: Iterable[tuple[str, int, int]]) -> AlterReplicaLogDirsResponse:
    """One entry for each topic, whatever directories its partitions were to go to."""
    topics: dict[str, AlterReplicaLogDirTopicResult] = {}
    for name, index, code in found:
        result = topics.setdefault(name, AlterReplicaLogDirTopicResult(name))
        result.partitions.append(AlterReplicaLogDirPartitionResult(index, code))
    return AlterReplicaLogDirsResponse(results=list(topics.values()))


def fail(request: AlterReplicaLogDirsRequest, code: int) -> AlterReplicaLogDirsResponse:
    """The error for every partition of the request."""
    return _answer(
        (topic.name, index, code) for item in request.dirs for topic in item.topics for index in topic.partitions
    )


API = Api(AlterReplicaLogDirsRequest, handle, fail)
