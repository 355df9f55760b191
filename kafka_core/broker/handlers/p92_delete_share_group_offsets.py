"""DeleteShareGroupOffsets v0: forget where an empty share group is in topics.

Must not know: how groups and records change. Spec: KIP-932.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.broker.handlers.sharing import NOT_HOSTED
from kafka_core.protocol import ZERO_UUID
from kafka_core.protocol.messages.share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsResponse,
    DeleteShareGroupOffsetsResponseTopic,
)

_NOTHING = "There is no offset information to delete."


def handle(
    cluster: ClusterState, context: Context, request: DeleteShareGroupOffsetsRequest
) -> DeleteShareGroupOffsetsResponse:
    """Forget each topic by itself."""
    if request.group_id and not cluster.coordinates(context.broker_id, request.group_id):
        return fail(request, Code.NOT_COORDINATOR)
    code, text = cluster.share_groups.position_problem(request.group_id)
    if code is not Code.NONE:
        return DeleteShareGroupOffsetsResponse(error_code=code, error_message=text)
    return DeleteShareGroupOffsetsResponse(
        responses=[_delete(cluster, request.group_id, item.topic_name) for item in request.topics]
    )


def _delete(cluster: ClusterState, group_id: str, name: str) -> DeleteShareGroupOffsetsResponseTopic:
    topic = cluster.topics.get(name)
    unknown = Code.UNKNOWN_TOPIC_OR_PARTITION
    if topic is None:
        return DeleteShareGroupOffsetsResponseTopic(name, ZERO_UUID, unknown, NOT_HOSTED)
    if not cluster.share_partitions.forget(group_id=group_id, topic_id=topic.topic_id):
        return DeleteShareGroupOffsetsResponseTopic(name, ZERO_UUID, unknown, _NOTHING)
    return DeleteShareGroupOffsetsResponseTopic(name, topic.topic_id)


def fail(request: DeleteShareGroupOffsetsRequest, code: int) -> DeleteShareGroupOffsetsResponse:
    """The error for every topic of the request and for the whole answer."""
    topics = [DeleteShareGroupOffsetsResponseTopic(item.topic_name, ZERO_UUID, code) for item in request.topics]
    return DeleteShareGroupOffsetsResponse(error_code=code, responses=topics)


API = Api(DeleteShareGroupOffsetsRequest, handle, fail)
