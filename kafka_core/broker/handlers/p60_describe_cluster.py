"""DescribeCluster v0-2: brokers and controller.

Must not know: topics. Versions: v1 endpoint type (KIP-919), v2 fenced brokers (KIP-1073). Spec: KIP-700.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.broker.handlers.lookup import authorized_operations
from kafka_core.broker.handlers.p03_metadata import NOT_ASKED
from kafka_core.broker.security.acls import CLUSTER_NAME, Resource
from kafka_core.protocol.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)

_BROKERS = 1
_CONTROLLERS = 2


def handle(cluster: ClusterState, context: Context, request: DescribeClusterRequest) -> DescribeClusterResponse:
    """Brokers that run; with fenced ones asked for (v2), also those that are stopped."""
    if request.endpoint_type == _CONTROLLERS:
        answer = fail(request, Code.MISMATCHED_ENDPOINT_TYPE)
        answer.error_message = (
            "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER"
        )
        return answer
    if request.endpoint_type != _BROKERS:
        answer = fail(request, Code.UNSUPPORTED_ENDPOINT_TYPE)
        answer.error_message = f"Unsupported endpoint type {request.endpoint_type}"
        return answer
    nodes = cluster.nodes.values() if request.include_fenced_brokers else cluster.alive_nodes()
    return DescribeClusterResponse(
        endpoint_type=_BROKERS,
        cluster_id=cluster.cluster_id,
        controller_id=cluster.controller_id,
        brokers=[
            DescribeClusterBroker(node.node_id, node.host, node.port, node.rack, not node.alive) for node in nodes
        ],
        cluster_authorized_operations=authorized_operations(cluster, context, Resource.CLUSTER, CLUSTER_NAME)
        if request.include_cluster_authorized_operations
        else NOT_ASKED,
    )


def fail(request: DescribeClusterRequest, code: int) -> DescribeClusterResponse:
    """An answer that is the error."""
    del request
    return DescribeClusterResponse(error_code=code)


API = Api(DescribeClusterRequest, handle, fail)
