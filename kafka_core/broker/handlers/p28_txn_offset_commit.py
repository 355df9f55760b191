"""TxnOffsetCommit v0-5: offsets that count once their transaction is committed.

Must not know: the group's state machine. Versions: v2 leader epochs, v3 the member that commits (KIP-447), flexible, v4
TRANSACTION_ABORTABLE, v5 the second protocol: the group joins the transaction by it (KIP-890). Spec: KIP-98.
"""

from __future__ import annotations

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.groups.classic_groups import CommittedOffset
from kafka_core.broker.handlers.api import Api
from kafka_core.broker.handlers.lookup import find_partition
from kafka_core.broker.handlers.p24_add_partitions_to_txn import told
from kafka_core.protocol import ZERO_UUID
from kafka_core.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

_FIRST_VERSION_THAT_ADDS = 5
_FIRST_VERSION_WITH_FENCING = 2


def handle(cluster: ClusterState, context: Context, request: TxnOffsetCommitRequest) -> TxnOffsetCommitResponse:
    """Keep the offsets until the transaction ends, if the member may commit."""
    if not cluster.coordinates(context.broker_id, request.group_id):
        return fail(request, Code.NOT_COORDINATOR)
    code = _admit(cluster, request)
    if code is Code.NONE:
        code = _join(cluster, context, request)
    if code is not Code.NONE:
        return fail(request, told(code, context.api_version, _FIRST_VERSION_WITH_FENCING))
    return TxnOffsetCommitResponse(
        topics=[
            TxnOffsetCommitResponseTopic(
                topic.name, [_partition(cluster, request, topic.name, item) for item in topic.partitions]
            )
            for topic in request.topics
        ]
    )


def _admit(cluster: ClusterState, request: TxnOffsetCommitRequest) -> Code:
    """A member is checked as for any commit; who names none is not, as old clients could not name any."""
    named = request.member_id or request.generation_id >= 0 or request.group_instance_id is not None
    consumers = cluster.consumer_groups.get(request.group_id)
    if consumers is not None:
        problem = consumers.commit_problem(request.member_id, request.generation_id, version_knows_epochs=True)
        if not named:
            return Code.NONE
        return Code.ILLEGAL_GENERATION if problem is Code.STALE_MEMBER_EPOCH else problem
    if not named and request.group_id in cluster.groups.groups:
        return Code.NONE
    return cluster.groups.admit_commit(
        request.group_id,
        request.member_id,
        request.group_instance_id,
        request.generation_id,
        unknown=Code.ILLEGAL_GENERATION,
    )


def _join(cluster: ClusterState, context: Context, request: TxnOffsetCommitRequest) -> Code:
    producer = request.transactional_id, request.producer_id, request.producer_epoch
    if context.api_version >= _FIRST_VERSION_THAT_ADDS:
        return cluster.transactions.add_group(*producer, request.group_id)
    return cluster.transactions.verify_group(*producer, request.group_id)


def _partition(
    cluster: ClusterState, request: TxnOffsetCommitRequest, topic: str, item: TxnOffsetCommitRequestPartition
) -> TxnOffsetCommitResponsePartition:
    code, _ = find_partition(cluster, topic, ZERO_UUID, item.partition_index, by_id=False)
    metadata = item.committed_metadata or ""
    if code is Code.NONE and len(metadata) > cluster.groups.settings.metadata_max_bytes:
        code = Code.OFFSET_METADATA_TOO_LARGE
    if code is Code.NONE:
        now_ms = cluster.clock.time_ms()
        offset = CommittedOffset(item.committed_offset, item.committed_leader_epoch, metadata, now_ms)
        key = (topic, item.partition_index)
        cluster.transactions.stage_offset(request.group_id, request.producer_id, key, offset)
    return TxnOffsetCommitResponsePartition(item.partition_index, code)


def fail(request: TxnOffsetCommitRequest, code: int) -> TxnOffsetCommitResponse:
    """The error for every partition of the request."""
    return TxnOffsetCommitResponse(
        topics=[
            TxnOffsetCommitResponseTopic(
                topic.name,
                [TxnOffsetCommitResponsePartition(item.partition_index, code) for item in topic.partitions],
            )
            for topic in request.topics
        ]
    )


API = Api(TxnOffsetCommitRequest, handle, fail)
