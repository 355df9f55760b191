"""Fetch v4-18: read record batches; waits for `min_bytes` up to `max_wait_ms`.

Must not know: sockets. Versions: v7 sessions (KIP-227), v9 leader epochs, v11 rack and follower reads (KIP-392),
v12 divergence and flexible, v13 topic ids, v16 hints to the new leader (KIP-951). Spec: KIP-74, KIP-227.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.handlers.api import Api, Outcome
from kafka_core.broker.handlers.lookup import add_endpoint, find_partition, may, reading_problem, serving_problem
from kafka_core.broker.parking import Pending, Timer
from kafka_core.broker.partitions.fetch_sessions import NO_SESSION, FetchPlan, FetchTarget, PartitionKey
from kafka_core.broker.partitions.topics import Partition
from kafka_core.broker.security.acls import Operation, Resource
from kafka_core.protocol.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
)

_READ_COMMITTED = 1
_NO_REPLICA = -1
_FIRST_VERSION_WITH_FOLLOWERS = 11
_BY_RACK = "RackAwareReplicaSelector"
_FIRST_VERSION_WITH_EPOCH_HINTS = 12
_FIRST_VERSION_WITH_IDS = 13
_FIRST_VERSION_WITH_ENDPOINTS = 16


@dataclass(frozen=True, slots=True)
class Located:
    """One partition to read: its log if this broker may serve it at that offset, else the reason why not."""

    target: FetchTarget
    code: Code
    partition: Partition | None
    #: (epoch, end offset) where the reader's log and this one part (KIP-595), if they do.
    diverging: tuple[int, int] | None = None
    #: The replica that the reader should ask instead of this one.
    preferred: int = _NO_REPLICA

    @property
    def urgent(self) -> bool:
        """Whether the answer must not wait."""
        return self.code is not Code.NONE or self.diverging is not None or self.preferred != _NO_REPLICA


class _Fetching:
    """One Fetch request, parked or not."""

    def __init__(self, cluster: ClusterState, context: Context, request: FetchRequest, plan: FetchPlan) -> None:
        self.cluster = cluster
        self.context = context
        self.request = request
        self.plan = plan
        self.max_bytes = min(request.max_bytes, cluster.config.integer("fetch.max.bytes"))
        self.answer: Pending[Outcome] = Pending()
        self._selects_by_rack = cluster.config.text("replica.selector.class").endswith(_BY_RACK)
        self._watched: list[Partition] = []
        self._timer: Timer | None = None

    def start(self) -> Pending[Outcome]:
        """Answer at once if there is enough to say, else park."""
        if self.request.max_wait_ms <= 0 or not self.plan.targets or self._enough():
            self.answer.resolve(self._response())
            return self.answer
        self._timer = self.cluster.timers.after(self.request.max_wait_ms / 1000, self._finish)
        self._watched = [item.partition for item in self._located() if item.partition is not None]
        for partition in self._watched:
            partition.watchers[self._wake] = None
        return self.answer

    def _wake(self) -> None:
        if not self.answer.done and self._enough():
            self._finish()

    def _finish(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        for partition in self._watched:
            partition.watchers.pop(self._wake, None)
        self.answer.resolve(self._response())

    def _located(self) -> Iterator[Located]:
        return (self._locate(target) for target in self.plan.targets)

    def _locate(self, target: FetchTarget) -> Located:
        name, topic_id, index = target.key
        by_id = self.context.api_version >= _FIRST_VERSION_WITH_IDS
        code, partition = find_partition(self.cluster, name, topic_id, index, by_id=by_id)
        if partition is None:
            return Located(target, code, None)
        if not may(self.cluster, self.context, Operation.READ, Resource.TOPIC, partition.topic.name):
            return Located(target, Code.TOPIC_AUTHORIZATION_FAILED, None)
        with_followers = self.context.api_version >= _FIRST_VERSION_WITH_FOLLOWERS
        problem = reading_problem if with_followers else serving_problem
        code = problem(self.context, partition, target.current_leader_epoch)
        if code is not Code.NONE:
            return Located(target, code, partition)
        if target.last_fetched_epoch >= 0:
            epoch, end_offset = partition.log.epochs.end_of(target.last_fetched_epoch, partition.log.end_offset)
            if epoch < 0:
                return Located(target, Code.OFFSET_OUT_OF_RANGE, partition)
            if epoch < target.last_fetched_epoch or end_offset < target.fetch_offset:
                return Located(target, Code.NONE, partition, (epoch, end_offset))
        if not partition.log.holds(target.fetch_offset):
            return Located(target, Code.OFFSET_OUT_OF_RANGE, partition)
        return Located(target, Code.NONE, partition, preferred=self._preferred(partition))

    def _preferred(self, partition: Partition) -> int:
        """A replica in sync in the reader's rack, if this broker leads from another one and selects by racks."""
        rack, nodes = self.request.rack_id, self.cluster.nodes
        if not rack or partition.leader != self.context.broker_id or not self._selects_by_rack:
            return _NO_REPLICA
        near = [node_id for node_id in partition.isr if nodes[node_id].rack == rack and nodes[node_id].alive]
        return near[0] if near and partition.leader not in near else _NO_REPLICA

    def _enough(self) -> bool:
        total = 0
        for item in self._located():
            if item.urgent:
                return True
            if item.partition is not None:
                limit = min(item.target.max_bytes, self.request.min_bytes)
                log = item.partition.log
                total += log.available_bytes(item.target.fetch_offset, limit, self._end(item.partition))
        return total >= self.request.min_bytes

    def _end(self, partition: Partition) -> int | None:
        """The end of reading: before open transactions for readers of committed records."""
        if self.request.isolation_level != _READ_COMMITTED:
            return None
        return partition.log.last_stable_offset

    def _response(self) -> FetchResponse:
        left = self.max_bytes
        at_least_one = True
        topics: dict[tuple[str, UUID], FetchableTopicResponse] = {}
        endpoints: dict[int, NodeEndpoint] = {}
        for item in list(self._located()):
            data, size_bytes = self._read(item, left, at_least_one)
            left -= min(left, size_bytes)
            at_least_one = at_least_one and not size_bytes
            self._add_hints(item, data, endpoints)
            elsewhere = item.diverging is not None or item.preferred != _NO_REPLICA
            fresh = item.target.news(
                data.error_code, data.high_watermark, data.log_start_offset, size_bytes, elsewhere=elsewhere
            )
            if fresh or not self.plan.incremental:
                name, topic_id, _ = item.target.key
                topic = topics.setdefault((name, topic_id), FetchableTopicResponse(name, topic_id))
                topic.partitions.append(data)
            if size_bytes and self.plan.incremental and self.plan.session is not None:
                self.plan.session.served(item.target.key)
        return FetchResponse(
            session_id=self.plan.session.session_id if self.plan.session is not None else NO_SESSION,
            responses=list(topics.values()),
            node_endpoints=list(endpoints.values()),
        )

    def _read(self, item: Located, left: int, at_least_one: bool) -> tuple[PartitionData, int]:
        index = item.target.key[2]
        if item.code is not Code.NONE or item.partition is None:
            aborted: list[AbortedTransaction] | None = [] if item.partition is None else None
            return PartitionData(index, item.code, -1, -1, -1, aborted_transactions=aborted, records=b""), 0
        log = item.partition.log
        read_committed = self.request.isolation_level == _READ_COMMITTED
        data = PartitionData(
            index,
            Code.NONE,
            log.high_watermark,
            log.last_stable_offset,
            log.start_offset,
            aborted_transactions=[] if read_committed else None,
            records=b"",
        )
        if item.diverging is not None:
            data.diverging_epoch = EpochEndOffset(*item.diverging)
            return data, 0
        if item.preferred != _NO_REPLICA:
            data.preferred_read_replica = item.preferred
            return data, 0
        max_bytes = min(item.target.max_bytes, left)
        end_offset = self._end(item.partition)
        read = log.read(item.target.fetch_offset, max_bytes, at_least_one=at_least_one, end_offset=end_offset)
        data.records = read.chunks if read.chunks else b""
        if read_committed:
            ranges = log.aborted_transactions(item.target.fetch_offset, log.last_stable_offset)
            data.aborted_transactions = [AbortedTransaction(*entry) for entry in ranges]
        return data, read.size_bytes

    def _add_hints(self, item: Located, data: PartitionData, endpoints: dict[int, NodeEndpoint]) -> None:
        wrong_leader = item.code in (Code.NOT_LEADER_OR_FOLLOWER, Code.FENCED_LEADER_EPOCH)
        if item.partition is None or not wrong_leader:
            return
        if self.context.api_version >= _FIRST_VERSION_WITH_EPOCH_HINTS:
            data.current_leader = LeaderIdAndEpoch(item.partition.leader, item.partition.leader_epoch)
        if self.context.api_version >= _FIRST_VERSION_WITH_ENDPOINTS:
            add_endpoint(self.cluster, item.partition, endpoints, NodeEndpoint)


def _targets(request: FetchRequest) -> list[FetchTarget]:
    return [
        FetchTarget(
            (topic.topic, topic.topic_id, item.partition),
            item.fetch_offset,
            item.partition_max_bytes,
            item.current_leader_epoch,
            item.last_fetched_epoch,
        )
        for topic in request.topics
        for item in topic.partitions
    ]


def _forgotten(request: FetchRequest) -> list[PartitionKey]:
    return [
        (topic.topic, topic.topic_id, index) for topic in request.forgotten_topics_data for index in topic.partitions
    ]


def handle(cluster: ClusterState, context: Context, request: FetchRequest) -> Outcome | Pending[Outcome]:
    """Read what the session or the request asks for; parked until there are `min_bytes` or an error to tell."""
    plan = cluster.nodes[context.broker_id].sessions.plan(
        request.session_id,
        request.session_epoch,
        _targets(request),
        _forgotten(request),
        uses_topic_ids=context.api_version >= _FIRST_VERSION_WITH_IDS,
    )
    if plan.code is not Code.NONE:
        return FetchResponse(error_code=plan.code)
    return _Fetching(cluster, context, request, plan).start()


def fail(request: FetchRequest, code: int) -> FetchResponse:
    """The error for every partition of the request and for the whole answer."""
    topics = [
        FetchableTopicResponse(
            topic.topic,
            topic.topic_id,
            [PartitionData(item.partition, code, -1, records=b"") for item in topic.partitions],
        )
        for topic in request.topics
    ]
    return FetchResponse(error_code=code, responses=topics)


API = Api(FetchRequest, handle, fail)
