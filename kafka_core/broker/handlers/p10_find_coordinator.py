"""FindCoordinator v0-6: which broker coordinates a group, a transactional id or a partition of a share group.

Must not know: these themselves. Versions: v1 key types, v3 flexible, v4 several keys at once (KIP-699),
v6 partitions of share groups (KIP-932). Spec: KIP-699.
"""

from __future__ import annotations

import re

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import MALFORMED, Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.protocol.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

_GROUP = 0
_TRANSACTION = 1
_SHARE = 2
_FIRST_BATCHED_VERSION = 4
_FIRST_VERSION_WITH_SHARES = 6
_SHARE_KEY = re.compile(r".+:[A-Za-z0-9_-]{22}:[0-9]+")
"""Group, topic id and partition."""


def _find(cluster: ClusterState, key: str, key_type: int, version: int) -> Coordinator:
    if key_type == _SHARE and (version < _FIRST_VERSION_WITH_SHARES or not _SHARE_KEY.fullmatch(key)):
        return Coordinator(key, -1, "", -1, Code.INVALID_REQUEST, "")
    if key_type not in (_GROUP, _TRANSACTION, _SHARE):
        return Coordinator(key, -1, "", -1, Code.INVALID_REQUEST, MALFORMED)
    node = cluster.coordinator_of(key)
    if node is None:
        return Coordinator(key, -1, "", -1, Code.COORDINATOR_NOT_AVAILABLE, "no broker is available")
    return Coordinator(key, node.node_id, node.host, node.port, Code.NONE, "")


def handle(cluster: ClusterState, context: Context, request: FindCoordinatorRequest) -> FindCoordinatorResponse:
    """One coordinator per key."""
    batched = context.api_version >= _FIRST_BATCHED_VERSION
    keys = request.coordinator_keys if batched else [request.key]
    return _response([_find(cluster, key, request.key_type, context.api_version) for key in keys], batched=batched)


def _response(found: list[Coordinator], *, batched: bool) -> FindCoordinatorResponse:
    if batched:
        return FindCoordinatorResponse(coordinators=found)
    (one,) = found
    return FindCoordinatorResponse(
        error_code=one.error_code,
        error_message=one.error_message or "NONE",
        node_id=one.node_id,
        host=one.host,
        port=one.port,
    )


def fail(request: FindCoordinatorRequest, code: int) -> FindCoordinatorResponse:
    """The error for every key. A request without any key is taken for a batched one: the others always have one."""
    batched = not request.key
    keys = request.coordinator_keys if batched else [request.key]
    return _response([Coordinator(key, -1, "", -1, code, None) for key in keys], batched=batched)


API = Api(FindCoordinatorRequest, handle, fail)
