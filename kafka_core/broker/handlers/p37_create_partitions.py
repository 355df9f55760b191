"""CreatePartitions v0-3: grow topics.

Must not know: the log. Versions: v2 flexible, v3 quota (none here). Spec: KIP-195.
"""

from __future__ import annotations

from collections import Counter

from kafka_core.broker.cluster import ClusterState, Refused
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)


def handle(cluster: ClusterState, context: Context, request: CreatePartitionsRequest) -> CreatePartitionsResponse:
    """Grow each topic on its own."""
    del context
    times = Counter(item.name for item in request.topics)
    results = [
        CreatePartitionsTopicResult(name, Code.INVALID_REQUEST, "Duplicate topic name.")
        for name in times
        if times[name] > 1
    ]
    results += [
        _grow(cluster, item, validate_only=request.validate_only) for item in request.topics if times[item.name] == 1
    ]
    return CreatePartitionsResponse(results=results)


def _grow(cluster: ClusterState, item: CreatePartitionsTopic, *, validate_only: bool) -> CreatePartitionsTopicResult:
    assignments = None if item.assignments is None else [assignment.broker_ids for assignment in item.assignments]
    try:
        cluster.add_partitions(item.name, item.count, assignments, validate_only=validate_only)
    except Refused as refusal:
        return CreatePartitionsTopicResult(item.name, refusal.code, str(refusal) or None)
    return CreatePartitionsTopicResult(item.name)


def fail(request: CreatePartitionsRequest, code: int) -> CreatePartitionsResponse:
    """The error for every topic of the request."""
    return CreatePartitionsResponse(results=[CreatePartitionsTopicResult(item.name, code) for item in request.topics])


API = Api(CreatePartitionsRequest, handle, fail)
