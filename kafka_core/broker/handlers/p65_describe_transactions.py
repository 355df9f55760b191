"""DescribeTransactions v0: state, producer and partitions of transactional ids.

Must not know: how transactions change. Spec: KIP-664.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api
from kafka_core.broker.handlers.lookup import may
from kafka_core.broker.security.acls import Operation, Resource
from kafka_core.broker.transactions import Transaction
from kafka_core.protocol.messages.transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TopicData,
)
from kafka_core.protocol.messages.transactions import (
    DescribeTransactionsResponseTransactionState as TransactionState,
)


def handle(
    cluster: ClusterState, context: Context, request: DescribeTransactionsRequest
) -> DescribeTransactionsResponse:
    """One state per id; topics that the client may not describe are left out."""

    def one(transactional_id: str) -> TransactionState:
        if not cluster.coordinates(context.broker_id, transactional_id):
            return TransactionState(Code.NOT_COORDINATOR, transactional_id)
        found = cluster.transactions.transactions.get(transactional_id)
        if found is None:
            return TransactionState(Code.TRANSACTIONAL_ID_NOT_FOUND, transactional_id)
        return TransactionState(
            Code.NONE,
            transactional_id,
            found.state.value,
            found.timeout_ms,
            found.started_ms,
            found.producer_id,
            found.epoch,
            _topics(cluster, context, found),
        )

    return DescribeTransactionsResponse(transaction_states=[one(item) for item in request.transactional_ids])


def _topics(cluster: ClusterState, context: Context, transaction: Transaction) -> list[TopicData]:
    topics: dict[str, TopicData] = {}
    for name, index in sorted(transaction.partitions):
        if may(cluster, context, Operation.DESCRIBE, Resource.TOPIC, name):
            topics.setdefault(name, TopicData(name)).partitions.append(index)
    return list(topics.values())


def fail(request: DescribeTransactionsRequest, code: int) -> DescribeTransactionsResponse:
    """The error for every id."""
    return DescribeTransactionsResponse(
        transaction_states=[TransactionState(code, item) for item in request.transactional_ids]
    )


API = Api(DescribeTransactionsRequest, handle, fail)
