"""AddOffsetsToTxn v0-4: offsets of a group join the open transaction.

Must not know: groups. Versions: v2 tells fencing apart (KIP-588), v3 flexible, v4 TRANSACTION_ABORTABLE (KIP-890).
Spec: KIP-98.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.broker.handlers.p24_add_partitions_to_txn import told
from kafka_core.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse


def handle(cluster: ClusterState, context: Context, request: AddOffsetsToTxnRequest) -> AddOffsetsToTxnResponse:
    """Note the group."""
    if not cluster.coordinates(context.broker_id, request.transactional_id):
        return fail(request, Code.NOT_COORDINATOR)
    code = cluster.transactions.add_group(
        request.transactional_id, request.producer_id, request.producer_epoch, request.group_id
    )
    return fail(request, told(code, context.api_version))


def fail(request: AddOffsetsToTxnRequest, code: int) -> AddOffsetsToTxnResponse:
    """An answer with that code."""
    del request
    return AddOffsetsToTxnResponse(error_code=code)


API = Api(AddOffsetsToTxnRequest, handle, fail)
