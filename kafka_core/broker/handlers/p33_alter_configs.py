"""AlterConfigs v0-2: replace all properties of topics or brokers.

Must not know: what properties there are. Versions: v2 flexible. Spec: KIP-133. Deprecated for p44.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState, Refused
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.altering import alter, replace_all
from kafka_core.broker.handlers.api import Api
from kafka_core.protocol.messages.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)


def handle(cluster: ClusterState, context: Context, request: AlterConfigsRequest) -> AlterConfigsResponse:
    """Change each resource on its own."""
    return AlterConfigsResponse(
        responses=[_alter(cluster, context, item, validate_only=request.validate_only) for item in request.resources]
    )


def _alter(
    cluster: ClusterState, context: Context, item: AlterConfigsResource, *, validate_only: bool
) -> AlterConfigsResourceResponse:
    change = replace_all({config.name: config.value for config in item.configs})
    try:
        alter(cluster, context.broker_id, item.resource_type, item.resource_name, change, validate_only=validate_only)
    except Refused as refusal:
        return _result(item, refusal.code, str(refusal))
    return _result(item, Code.NONE, None)


def _result(item: AlterConfigsResource, code: int, text: str | None) -> AlterConfigsResourceResponse:
    return AlterConfigsResourceResponse(code, text, item.resource_type, item.resource_name)


def fail(request: AlterConfigsRequest, code: int) -> AlterConfigsResponse:
    """The error for every resource of the request."""
    return AlterConfigsResponse(responses=[_result(item, code, None) for item in request.resources])


API = Api(AlterConfigsRequest, handle, fail)
