"""AddPartitionsToTxn v0-3: partitions join the open transaction.

Must not know: how transactions end. Versions: v2 tells fencing apart (KIP-588), v3 flexible; v4 and v5 are for brokers
among themselves (KIP-890), and are announced as the real broker does it. Spec: KIP-98.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.broker.handlers.lookup import find_partition
from kafka_core.protocol import ZERO_UUID
from kafka_core.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopicResult,
)

FIRST_VERSION_WITH_FENCING = 2
_LAST_VERSION_FOR_CLIENTS = 3


def handle(cluster: ClusterState, context: Context, request: AddPartitionsToTxnRequest) -> AddPartitionsToTxnResponse:
    """All partitions, or none if one of them does not exist."""
    transactional_id = request.v3_and_below_transactional_id
    if not cluster.coordinates(context.broker_id, transactional_id):
        return fail(request, Code.NOT_COORDINATOR)
    keys = [(topic.name, index) for topic in request.v3_and_below_topics for index in topic.partitions]
    codes = {key: find_partition(cluster, key[0], ZERO_UUID, key[1], by_id=False)[0] for key in keys}
    if any(codes.values()):
        return _answer(request, {key: int(code or Code.OPERATION_NOT_ATTEMPTED) for key, code in codes.items()})
    code = cluster.transactions.add_partitions(
        transactional_id, request.v3_and_below_producer_id, request.v3_and_below_producer_epoch, keys
    )
    return fail(request, told(code, context.api_version))


def told(code: Code, version: int, since: int = FIRST_VERSION_WITH_FENCING) -> Code:
    """The code as a version says it: before KIP-588 a fenced producer had an invalid epoch."""
    return Code.INVALID_PRODUCER_EPOCH if code is Code.PRODUCER_FENCED and version < since else code


def _answer(request: AddPartitionsToTxnRequest, codes: dict[tuple[str, int], int]) -> AddPartitionsToTxnResponse:
    return AddPartitionsToTxnResponse(
        results_by_topic_v3_and_below=[
            AddPartitionsToTxnTopicResult(
                topic.name,
                [AddPartitionsToTxnPartitionResult(index, codes[topic.name, index]) for index in topic.partitions],
            )
            for topic in request.v3_and_below_topics
        ]
    )


def fail(request: AddPartitionsToTxnRequest, code: int) -> AddPartitionsToTxnResponse:
    """The code for every partition of the request."""
    keys = [(topic.name, index) for topic in request.v3_and_below_topics for index in topic.partitions]
    return _answer(request, dict.fromkeys(keys, code))


API = Api(AddPartitionsToTxnRequest, handle, fail, max_version=_LAST_VERSION_FOR_CLIENTS)
