"""EndTxn v0-5: commit or abort.

Must not know: logs and groups. Versions: v2 tells fencing apart (KIP-588), v3 flexible, v4 TRANSACTION_ABORTABLE, v5
the second protocol: the answer has the next epoch (KIP-890). Spec: KIP-98.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.broker.handlers.p24_add_partitions_to_txn import told
from kafka_core.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse

_FIRST_VERSION_WITH_EPOCHS = 5


def handle(cluster: ClusterState, context: Context, request: EndTxnRequest) -> EndTxnResponse:
    """End the transaction."""
    if not cluster.coordinates(context.broker_id, request.transactional_id):
        return fail(request, Code.NOT_COORDINATOR)
    bump = context.api_version >= _FIRST_VERSION_WITH_EPOCHS
    code, producer_id, epoch = cluster.transactions.end(
        request.transactional_id, request.producer_id, request.producer_epoch, commit=request.committed, bump=bump
    )
    if code is not Code.NONE:
        return fail(request, told(code, context.api_version))
    return EndTxnResponse(producer_id=producer_id if bump else -1, producer_epoch=epoch if bump else -1)


def fail(request: EndTxnRequest, code: int) -> EndTxnResponse:
    """An answer that is the error."""
    del request
    return EndTxnResponse(error_code=code)


API = Api(EndTxnRequest, handle, fail)
