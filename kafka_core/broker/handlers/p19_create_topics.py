"""CreateTopics v2-7: new topics with partitions, replicas and configuration.

Must not know: the log. Versions: v4 broker defaults (KIP-464), v5 what was made (KIP-525), v6 quota (none here),
v7 topic ids. Spec: KIP-4, KIP-464, KIP-525.
"""

from __future__ import annotations

from collections import Counter

from kafka_core.broker.cluster import ClusterState, Refused
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.broker.partitions.topics import Topic
from kafka_core.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)


def handle(cluster: ClusterState, context: Context, request: CreateTopicsRequest) -> CreateTopicsResponse:
    """Create each topic on its own; one that fails does not stop the others."""
    del context
    times = Counter(item.name for item in request.topics)
    results = [_refusal(name, Code.INVALID_REQUEST, "Duplicate topic name.") for name in times if times[name] > 1]
    for item in request.topics:
        if times[item.name] > 1:
            continue
        try:
            results.append(_made(_create(cluster, item, validate_only=request.validate_only)))
        except Refused as refusal:
            results.append(_refusal(item.name, refusal.code, str(refusal)))
    return CreateTopicsResponse(topics=results)


def _create(cluster: ClusterState, item: CreatableTopic, *, validate_only: bool) -> Topic:
    ordered = sorted(item.assignments, key=lambda assignment: assignment.partition_index)
    if [assignment.partition_index for assignment in ordered] != list(range(len(ordered))):
        text = "partitions should be a consecutive 0-based integer sequence"
        raise Refused(Code.INVALID_REPLICA_ASSIGNMENT, text)
    return cluster.create_topic(
        item.name,
        item.num_partitions,
        item.replication_factor,
        {config.name: config.value for config in item.configs},
        [assignment.broker_ids for assignment in ordered],
        validate_only=validate_only,
    )


def _made(topic: Topic) -> CreatableTopicResult:
    configs = [
        CreatableTopicConfigs(entry.key.name, entry.value, False, entry.source, False)
        for entry in topic.config.entries()
    ]
    return CreatableTopicResult(
        topic.name,
        topic.topic_id,
        Code.NONE,
        None,
        num_partitions=len(topic.partitions),
        replication_factor=len(topic.partitions[0].replicas),
        configs=configs,
    )


def _refusal(name: str, code: int, text: str | None) -> CreatableTopicResult:
    return CreatableTopicResult(name, error_code=code, error_message=text)


def fail(request: CreateTopicsRequest, code: int) -> CreateTopicsResponse:
    """The error for every topic of the request."""
    return CreateTopicsResponse(topics=[_refusal(item.name, code, None) for item in request.topics])


API = Api(CreateTopicsRequest, handle, fail)
