"""ListTransactions v0-2: the transactional ids that this broker coordinates.

Must not know: how transactions change. Versions: v1 by duration (KIP-994), v2 by a pattern of ids (KIP-1152).
Spec: KIP-664. Patterns are Python's here, RE2J's on a real broker: they differ in rarities.
"""

from __future__ import annotations

import re

from kafka_core.broker import transactions
from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.broker.handlers.lookup import may
from kafka_core.broker.security.acls import Operation, Resource
from kafka_core.broker.transactions import Transaction
from kafka_core.protocol.messages.transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from kafka_core.protocol.messages.transactions import (
    ListTransactionsResponseTransactionState as TransactionState,
)

_KNOWN = {state.value for state in transactions.TransactionState}


def handle(cluster: ClusterState, context: Context, request: ListTransactionsRequest) -> ListTransactionsResponse:
    """Those that pass every filter and that the client may describe."""
    try:
        pattern = re.compile(request.transactional_id_pattern or ".*", re.DOTALL)
    except re.error:
        return fail(request, Code.INVALID_REGULAR_EXPRESSION)
    now_ms = cluster.clock.time_ms()

    def passes(item: Transaction) -> bool:
        ongoing_ms = now_ms - item.started_ms if item.partitions or item.groups else -1
        return (
            (not request.state_filters or item.state.value in request.state_filters)
            and (not request.producer_id_filters or item.producer_id in request.producer_id_filters)
            and (request.duration_filter < 0 or ongoing_ms > request.duration_filter)
            and pattern.fullmatch(item.transactional_id) is not None
        )

    return ListTransactionsResponse(
        unknown_state_filters=[name for name in request.state_filters if name not in _KNOWN],
        transaction_states=[
            TransactionState(item.transactional_id, item.producer_id, item.state.value)
            for item in cluster.transactions.transactions.values()
            if cluster.coordinates(context.broker_id, item.transactional_id)
            and passes(item)
            and may(cluster, context, Operation.DESCRIBE, Resource.TRANSACTIONAL_ID, item.transactional_id)
        ],
    )


def fail(request: ListTransactionsRequest, code: int) -> ListTransactionsResponse:
    """An answer that is the error."""
    del request
    return ListTransactionsResponse(error_code=code)


API = Api(ListTransactionsRequest, handle, fail)
