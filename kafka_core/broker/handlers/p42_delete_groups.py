"""DeleteGroups v0-2: forget empty groups and their positions.

Must not know: how groups change. Versions: v2 flexible. Spec: KIP-229.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.protocol.messages.delete_groups import DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse


def handle(cluster: ClusterState, context: Context, request: DeleteGroupsRequest) -> DeleteGroupsResponse:
    """Delete each group on its own."""
    return DeleteGroupsResponse(
        results=[DeletableGroupResult(name, _delete(cluster, context, name)) for name in request.groups_names]
    )


def _delete(cluster: ClusterState, context: Context, group_id: str) -> Code:
    if not cluster.coordinates(context.broker_id, group_id):
        return Code.NOT_COORDINATOR
    if cluster.share_groups.get(group_id) is not None:
        return cluster.delete_share_group(group_id)
    code = cluster.consumer_groups.give_way(group_id)
    return cluster.groups.delete(group_id) if code is Code.NONE else code


def fail(request: DeleteGroupsRequest, code: int) -> DeleteGroupsResponse:
    """The error for every group of the request."""
    return DeleteGroupsResponse(results=[DeletableGroupResult(name, code) for name in request.groups_names])


API = Api(DeleteGroupsRequest, handle, fail)
