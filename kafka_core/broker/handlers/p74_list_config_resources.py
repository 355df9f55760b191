"""ListConfigResources v0-1: what has a configuration.

Must not know: configurations. Versions: v0 only subscriptions to client metrics, v1 all (KIP-1142).
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.protocol.messages.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)

_TOPIC, _BROKER, _LOGGER, _METRICS, _GROUP = 2, 4, 8, 16, 32
_FIRST_VERSION_WITH_TYPES = 1


def handle(cluster: ClusterState, context: Context, request: ListConfigResourcesRequest) -> ListConfigResourcesResponse:
    """Topics, brokers, subscriptions to metrics, and groups that have settings of their own."""
    brokers = [str(node.node_id) for node in cluster.alive_nodes()]
    names = {
        _GROUP: list(cluster.group_configs),
        _METRICS: list(cluster.telemetry.subscriptions),
        _LOGGER: brokers,
        _BROKER: brokers,
        _TOPIC: list(cluster.topics),
    }
    asked = request.resource_types if context.api_version >= _FIRST_VERSION_WITH_TYPES else [_METRICS]
    if set(asked) - set(names):
        return fail(request, Code.UNSUPPORTED_VERSION)
    kinds = [kind for kind in names if not asked or kind in asked]
    return ListConfigResourcesResponse(
        config_resources=[ConfigResource(name, kind) for kind in kinds for name in names[kind]]
    )


def fail(request: ListConfigResourcesRequest, code: int) -> ListConfigResourcesResponse:
    """An answer that is the error."""
    del request
    return ListConfigResourcesResponse(error_code=code)


API = Api(ListConfigResourcesRequest, handle, fail)
