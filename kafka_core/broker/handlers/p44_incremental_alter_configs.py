"""IncrementalAlterConfigs v0-1: set, delete, append to or subtract from single properties.

Must not know: what properties there are. Versions: v1 flexible. Spec: KIP-339.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState, Refused
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.altering import alter, apply_operations
from kafka_core.broker.handlers.api import Api
from kafka_core.protocol.messages.incremental_alter_configs import (
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)


def handle(
    cluster: ClusterState, context: Context, request: IncrementalAlterConfigsRequest
) -> IncrementalAlterConfigsResponse:
    """Change each resource on its own; a resource changes wholly or not at all."""
    return IncrementalAlterConfigsResponse(
        responses=[_alter(cluster, context, item, validate_only=request.validate_only) for item in request.resources]
    )


def _alter(
    cluster: ClusterState, context: Context, item: AlterConfigsResource, *, validate_only: bool
) -> AlterConfigsResourceResponse:
    change = apply_operations([(config.name, config.config_operation, config.value) for config in item.configs])
    try:
        alter(cluster, context.broker_id, item.resource_type, item.resource_name, change, validate_only=validate_only)
    except Refused as refusal:
        return _result(item, refusal.code, str(refusal))
    return _result(item, Code.NONE, None)


def _result(item: AlterConfigsResource, code: int, text: str | None) -> AlterConfigsResourceResponse:
    return AlterConfigsResourceResponse(code, text, item.resource_type, item.resource_name)


def fail(request: IncrementalAlterConfigsRequest, code: int) -> IncrementalAlterConfigsResponse:
    """The error for every resource of the request."""
    return IncrementalAlterConfigsResponse(responses=[_result(item, code, None) for item in request.resources])


API = Api(IncrementalAlterConfigsRequest, handle, fail)
