"""ListPartitionReassignments v0: moves of partitions that are under way. There are none: they are over at once.

Must not know: partitions. Spec: KIP-455.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.protocol.messages.partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)


def handle(
    cluster: ClusterState, context: Context, request: ListPartitionReassignmentsRequest
) -> ListPartitionReassignmentsResponse:
    """Nothing moves."""
    del cluster, context, request
    return ListPartitionReassignmentsResponse(error_message=None)


def fail(request: ListPartitionReassignmentsRequest, code: int) -> ListPartitionReassignmentsResponse:
    """An answer that is the error."""
    del request
    return ListPartitionReassignmentsResponse(error_code=code, error_message=None)


API = Api(ListPartitionReassignmentsRequest, handle, fail)
