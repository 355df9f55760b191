"""ListGroups v0-5: the groups this broker coordinates.

Must not know: how groups change. Versions: v3 flexible, v4 states (KIP-518), v5 types (KIP-848).
Spec: KIP-518, KIP-848.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.broker.handlers.lookup import may
from kafka_core.broker.security.acls import CLUSTER_NAME, Operation, Resource
from kafka_core.protocol.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse

_CLASSIC, _CONSUMER, _SHARE = "classic", "consumer", "share"


def handle(cluster: ClusterState, context: Context, request: ListGroupsRequest) -> ListGroupsResponse:
    """All groups that the client may know of, or those in the states and of the types asked for."""
    everything = may(cluster, context, Operation.DESCRIBE, Resource.CLUSTER, CLUSTER_NAME)
    types = [name.lower() for name in request.types_filter]
    consumer_groups = cluster.consumer_groups
    found = [
        *(
            ListedGroup(group.group_id, group.protocol_type or "", group.state.value, _CLASSIC)
            for group in cluster.groups.list(request.states_filter)
            if consumer_groups.get(group.group_id) is None
        ),
        *(
            ListedGroup(group.group_id, _CONSUMER, group.state.value, _CONSUMER)
            for group in consumer_groups.list(request.states_filter)
        ),
        *(
            ListedGroup(group.group_id, _SHARE, group.state.value, _SHARE)
            for group in cluster.share_groups.list(request.states_filter)
        ),
    ]
    return ListGroupsResponse(
        groups=[
            group
            for group in found
            if (not types or group.group_type in types)
            and cluster.coordinates(context.broker_id, group.group_id)
            and (everything or may(cluster, context, Operation.DESCRIBE, Resource.GROUP, group.group_id))
        ]
    )


def fail(request: ListGroupsRequest, code: int) -> ListGroupsResponse:
    """An answer that is the error."""
    del request
    return ListGroupsResponse(error_code=code)


API = Api(ListGroupsRequest, handle, fail)
