"""DeleteTopics v1-6: remove topics by name or id.

Must not know: the log. Versions: v4 flexible, v5 error messages, v6 topic ids (KIP-516). Spec: KIP-4, KIP-516.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.protocol import ZERO_UUID
from kafka_core.protocol.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)

_FIRST_VERSION_WITH_IDS = 6


def handle(cluster: ClusterState, context: Context, request: DeleteTopicsRequest) -> DeleteTopicsResponse:
    """Delete each topic on its own."""
    items = request.topics
    if context.api_version < _FIRST_VERSION_WITH_IDS:
        items = [DeleteTopicState(name) for name in request.topic_names]
    return DeleteTopicsResponse(responses=[_delete(cluster, item) for item in items])


def _delete(cluster: ClusterState, item: DeleteTopicState) -> DeletableTopicResult:
    if item.name is None and item.topic_id == ZERO_UUID:
        text = "Neither topic name nor id were specified."
        return DeletableTopicResult(None, ZERO_UUID, Code.INVALID_REQUEST, text)
    if item.name is not None and item.topic_id != ZERO_UUID:
        return DeletableTopicResult(
            item.name, item.topic_id, Code.INVALID_REQUEST, "You may not specify both topic name and topic id."
        )
    topic = cluster.topic(item.name, item.topic_id)
    if topic is None:
        by_id = item.topic_id != ZERO_UUID
        text = (
            "This server does not host this topic ID." if by_id else "This server does not host this topic-partition."
        )
        code = Code.UNKNOWN_TOPIC_ID if by_id else Code.UNKNOWN_TOPIC_OR_PARTITION
        return DeletableTopicResult(item.name, item.topic_id, code, text)
    cluster.delete_topic(topic)
    return DeletableTopicResult(topic.name, topic.topic_id)


def fail(request: DeleteTopicsRequest, code: int) -> DeleteTopicsResponse:
    """The error for every topic of the request."""
    items = request.topics or [DeleteTopicState(name) for name in request.topic_names]
    return DeleteTopicsResponse(responses=[DeletableTopicResult(item.name, item.topic_id, code) for item in items])


API = Api(DeleteTopicsRequest, handle, fail)
