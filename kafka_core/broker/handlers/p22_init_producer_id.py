"""InitProducerId v0-5: a producer id for an idempotent producer, or the next epoch of a transactional one.

Must not know: what producers do with it. Versions: v2 flexible, v3 id and epoch to bump (KIP-360), v4 fencing code,
v5 transactions V2 (KIP-890). Spec: KIP-98.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.broker.handlers.p24_add_partitions_to_txn import told
from kafka_core.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

_FIRST_VERSION_WITH_FENCING = 4


def handle(cluster: ClusterState, context: Context, request: InitProducerIdRequest) -> InitProducerIdResponse:
    """Without a transactional id, always a new producer id at epoch 0, as the real broker does."""
    if (request.producer_id == -1) != (request.producer_epoch == -1):
        return fail(request, Code.INVALID_REQUEST)
    transactional_id = request.transactional_id
    if transactional_id is not None:
        if not cluster.coordinates(context.broker_id, transactional_id):
            return fail(request, Code.NOT_COORDINATOR)
        code, producer_id, epoch = cluster.transactions.init(
            transactional_id, request.transaction_timeout_ms, request.producer_id, request.producer_epoch
        )
        if code is not Code.NONE:
            return fail(request, told(code, context.api_version, _FIRST_VERSION_WITH_FENCING))
        return InitProducerIdResponse(producer_id=producer_id, producer_epoch=epoch)
    return InitProducerIdResponse(producer_id=cluster.new_producer_id(), producer_epoch=0)


def fail(request: InitProducerIdRequest, code: int) -> InitProducerIdResponse:
    """An answer that is the error."""
    del request
    return InitProducerIdResponse(error_code=code, producer_id=-1, producer_epoch=-1)


API = Api(InitProducerIdRequest, handle, fail)
