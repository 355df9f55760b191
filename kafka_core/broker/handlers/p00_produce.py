"""Produce v3-13: append one record batch per partition.

Must not know: how a batch is checked (`appending.py`), sockets. Versions: v5 log start offset, v7 zstd, v8 record
errors, v9 flexible, v10 hints to the new leader (KIP-951), v12 a write joins its transaction (KIP-890), v13 topic ids.
Spec: KIP-98, KIP-467.
"""

from __future__ import annotations

from functools import partial

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api, Outcome, Special
from kafka_core.broker.handlers.lookup import add_endpoint, find_partition, may, serving_problem
from kafka_core.broker.partitions.appending import append_records
from kafka_core.broker.partitions.topics import Partition
from kafka_core.broker.security.acls import Operation, Resource
from kafka_core.kernels.abc import BatchHeader
from kafka_core.protocol import Records
from kafka_core.protocol.messages.produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)

_FIRST_VERSION_WITH_HINTS = 10
_FIRST_VERSION_THAT_ADDS = 12
_FIRST_VERSION_WITH_IDS = 13


class _Producing:
    """One Produce request on its way through its partitions."""

    def __init__(self, cluster: ClusterState, context: Context, request: ProduceRequest) -> None:
        self.cluster = cluster
        self.context = context
        self.request = request
        self.endpoints: dict[int, NodeEndpoint] = {}
        self.touched: list[Partition] = []
        self.failed = False

    def topic(self, data: TopicProduceData) -> TopicProduceResponse:
        answers = [self.partition(data, item) for item in data.partition_data]
        return TopicProduceResponse(data.name, data.topic_id, answers)

    def partition(self, topic: TopicProduceData, data: PartitionProduceData) -> PartitionProduceResponse:
        version = self.context.api_version
        by_id = version >= _FIRST_VERSION_WITH_IDS
        code, partition = find_partition(self.cluster, topic.name, topic.topic_id, data.index, by_id=by_id)
        if partition is not None and not self._may_write(partition.topic.name):
            return self.refusal(data.index, Code.TOPIC_AUTHORIZATION_FAILED, None)
        if partition is not None:
            code = serving_problem(self.context, partition)
        if partition is None or code is not Code.NONE:
            return self.refusal(data.index, code, partition)
        now_ms = self.cluster.clock.time_ms()
        records, acks = _view(data.records), self.request.acks
        result = append_records(partition, records, acks, version, now_ms, partial(self._admit, partition))
        self.failed = self.failed or result.code is not Code.NONE
        if result.code is Code.NONE:
            self.touched.append(partition)
        return PartitionProduceResponse(
            data.index,
            result.code,
            result.base_offset,
            result.log_append_time_ms,
            result.log_start_offset,
            [BatchIndexAndErrorMessage(*error) for error in result.record_errors],
            result.message,
        )

    def _admit(self, partition: Partition, batch: BatchHeader) -> Code:
        """A batch of a transaction: from v12 on writing makes the partition part of it, before that it must be."""
        transactional_id, transactions = self.request.transactional_id, self.cluster.transactions
        if transactional_id is None:
            return Code.INVALID_TXN_STATE
        key = (partition.topic.name, partition.index)
        if self.context.api_version < _FIRST_VERSION_THAT_ADDS:
            return transactions.verify_partition(transactional_id, batch.producer_id, batch.producer_epoch, key)
        code = transactions.add_partitions(transactional_id, batch.producer_id, batch.producer_epoch, [key])
        return Code.INVALID_PRODUCER_EPOCH if code is Code.PRODUCER_FENCED else code

    def _may_write(self, topic: str) -> bool:
        return may(self.cluster, self.context, Operation.WRITE, Resource.TOPIC, topic)

    def refusal(self, index: int, code: Code, partition: Partition | None) -> PartitionProduceResponse:
        self.failed = True
        answer = PartitionProduceResponse(index, code, base_offset=-1)
        hints = self.context.api_version >= _FIRST_VERSION_WITH_HINTS
        if partition is not None and code is Code.NOT_LEADER_OR_FOLLOWER and hints:
            answer.current_leader = LeaderIdAndEpoch(partition.leader, partition.leader_epoch)
            add_endpoint(self.cluster, partition, self.endpoints, NodeEndpoint)
        return answer


def _view(records: Records) -> memoryview | None:
    if records is None:
        return None
    if isinstance(records, (bytes, bytearray, memoryview)):
        return memoryview(records)
    return memoryview(bytearray().join(records))


def handle(cluster: ClusterState, context: Context, request: ProduceRequest) -> Outcome:
    """Append; without acks there is no answer, and an error then cuts the connection as the real broker does."""
    if request.acks not in (-1, 0, 1):
        return fail(request, Code.INVALID_REQUIRED_ACKS)
    transactional_id = request.transactional_id
    if transactional_id is not None and not may(
        cluster, context, Operation.WRITE, Resource.TRANSACTIONAL_ID, transactional_id
    ):
        return fail(request, Code.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    producing = _Producing(cluster, context, request)
    topics = [producing.topic(data) for data in request.topic_data]
    for partition in producing.touched:
        partition.changed()
    if request.acks == 0:
        return Special.HANG_UP if producing.failed else Special.NO_ANSWER
    return ProduceResponse(responses=topics, node_endpoints=list(producing.endpoints.values()))


def fail(request: ProduceRequest, code: int) -> ProduceResponse:
    """The error for every partition of the request."""
    return ProduceResponse(
        responses=[
            TopicProduceResponse(
                topic.name,
                topic.topic_id,
                [PartitionProduceResponse(item.index, code, base_offset=-1) for item in topic.partition_data],
            )
            for topic in request.topic_data
        ]
    )


# Announced from 0 on as the real broker does: librdkafka looks for old versions to see which codecs it may use.
API = Api(ProduceRequest, handle, fail, announced_from=0)
