"""ShareFetch v1-2: acquire records for a member of a share group, with acknowledgements of earlier ones on the way.

Must not know: sockets, how records change (`share_records.py`). Versions: v2 strict limits (KIP-1206) and renewal
(KIP-1222). Spec: KIP-932.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from uuid import UUID

from kafka_core.broker.cluster import ClusterState
from kafka_core.broker.codes import Code
from kafka_core.broker.context import Context
from kafka_core.broker.groups.consumer_groups import Id
from kafka_core.broker.handlers.api import Api, Outcome
from kafka_core.broker.handlers.lookup import add_endpoint
from kafka_core.broker.handlers.sharing import acknowledge, locate
from kafka_core.broker.parking import Pending, Timer
from kafka_core.broker.partitions.topics import Partition
from kafka_core.broker.sharing.partitions import SharePartition, Wanted
from kafka_core.broker.sharing.records import Refusal
from kafka_core.broker.sharing.sessions import FINAL_EPOCH, INITIAL_EPOCH, ShareSession
from kafka_core.protocol.messages.share_fetch import (
    AcquiredRecords,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
    ShareFetchableTopicResponse,
    ShareFetchRequest,
    ShareFetchResponse,
)


class AcquireMode(IntEnum):
    """Whether `max_records` is kept to the record (KIP-1206)."""

    BATCH_OPTIMIZED = 0
    RECORD_LIMIT = 1


class _Answer:
    """The answer as it grows, a partition at a time."""

    def __init__(self, cluster: ClusterState, lock_ms: int) -> None:
        self._cluster = cluster
        self._lock_ms = lock_ms
        self._found: dict[Id, PartitionData] = {}
        self._endpoints: dict[int, NodeEndpoint] = {}

    def partition(self, key: Id) -> PartitionData:
        """The answer for one partition; it is part of the response from now on."""
        return self._found.setdefault(key, PartitionData(key[1], records=b""))

    def refuse(self, key: Id, code: Code, partition: Partition | None) -> None:
        """A partition can't be read here."""
        data = self.partition(key)
        data.error_code = code
        if code is Code.NOT_LEADER_OR_FOLLOWER and partition is not None:
            data.current_leader = LeaderIdAndEpoch(partition.leader, partition.leader_epoch)
            add_endpoint(self._cluster, partition, self._endpoints, NodeEndpoint)

    def acknowledged(self, key: Id, verdict: Refusal) -> None:
        """Sets the result of a member's acknowledgements of a partition."""
        data = self.partition(key)
        data.acknowledge_error_code, data.acknowledge_error_message = verdict.code, verdict.text

    def message(self) -> ShareFetchResponse:
        """The whole answer."""
        topics: dict[UUID, ShareFetchableTopicResponse] = {}
        for (topic_id, _), data in self._found.items():
            topics.setdefault(topic_id, ShareFetchableTopicResponse(topic_id)).partitions.append(data)
        return ShareFetchResponse(
            acquisition_lock_timeout_ms=self._lock_ms,
            responses=list(topics.values()),
            node_endpoints=list(self._endpoints.values()),
        )


class _ShareFetching:
    """One ShareFetch request of a session, parked or not."""

    def __init__(
        self,
        cluster: ClusterState,
        context: Context,
        request: ShareFetchRequest,
        session: ShareSession,
        verdicts: dict[Id, Refusal],
    ) -> None:
        self.cluster = cluster
        self.context = context
        self.request = request
        self.session = session
        self.verdicts = verdicts
        self.answer: Pending[Outcome] = Pending()
        self._watched: list[tuple[Partition, SharePartition]] = []
        self._timer: Timer | None = None

    def start(self) -> Pending[Outcome]:
        """Answer at once if there is enough to say, else park."""
        if self.request.max_wait_ms <= 0 or self.request.max_records <= 0 or self._enough():
            self.answer.resolve(self._response())
            return self.answer
        self._timer = self.cluster.timers.after(self.request.max_wait_ms / 1000, self._finish)
        for key in self.session.partitions:
            _, _, partition, part = locate(self.cluster, self.context, self.session.group_id, key)
            if partition is not None and part is not None:
                self._watched.append((partition, part))
                partition.watchers[self._wake] = None
                part.watchers[self._wake] = None
        self.session.give_up = self._give_up
        return self.answer

    def _wake(self) -> None:
        if not self.answer.done and self._enough():
            self._finish()

    def _finish(self) -> None:
        self._stop_waiting()
        self.session.give_up = None
        self.answer.resolve(self._response())

    def _give_up(self) -> None:
        """The session ended meanwhile: nobody is there to take records."""
        if not self.answer.done:
            self._stop_waiting()
            self.answer.resolve(fail(self.request, Code.SHARE_SESSION_NOT_FOUND))

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        for partition, part in self._watched:
            partition.watchers.pop(self._wake, None)
            part.watchers.pop(self._wake, None)

    def _enough(self) -> bool:
        total, least = 0, max(self.request.min_bytes, 1)
        for key in self.session.partitions:
            code, _, _, part = locate(self.cluster, self.context, self.session.group_id, key)
            if code is not Code.NONE or part is None:
                return True
            total += part.available_bytes(least)
        return bool(self.session.partitions) and total >= least

    def _response(self) -> ShareFetchResponse:
        session = self.session
        answer = _Answer(self.cluster, _lock_ms(self.cluster, session.group_id))
        for key, verdict in self.verdicts.items():
            answer.acknowledged(key, verdict)
        if self.request.share_session_epoch == INITIAL_EPOCH:
            for key in session.partitions:
                answer.partition(key)
        left_bytes, left_records = self.request.max_bytes, self.request.max_records
        for key in list(session.partitions):
            code, _, partition, part = locate(self.cluster, self.context, session.group_id, key)
            if code is not Code.NONE or part is None:
                answer.refuse(key, Code.UNKNOWN_SERVER_ERROR if code is Code.NONE else code, partition)
                continue
            if left_records <= 0:
                continue
            strict = self.request.share_acquire_mode == AcquireMode.RECORD_LIMIT
            wanted = Wanted(left_bytes, left_records, max(self.request.batch_size, 1), strict)
            given = part.acquire(session.member_id, wanted, at_least_one=left_bytes == self.request.max_bytes)
            if given.acquired:
                data = answer.partition(key)
                data.records = given.chunks
                data.acquired_records = [
                    AcquiredRecords(item.first, item.last, item.delivery_count) for item in given.acquired
                ]
                left_bytes -= min(left_bytes, given.size_bytes)
                left_records -= given.count
                session.served(key)
        return answer.message()


def _lock_ms(cluster: ClusterState, group_id: str) -> int:
    return cluster.group_config(group_id).integer("share.record.lock.duration.ms")


def _named(request: ShareFetchRequest) -> list[Id]:
    return [(topic.topic_id, item.partition_index) for topic in request.topics for item in topic.partitions]


def _forgotten(request: ShareFetchRequest) -> Iterable[Id]:
    return ((topic.topic_id, index) for topic in request.forgotten_topics_data for index in topic.partitions)


def handle(cluster: ClusterState, context: Context, request: ShareFetchRequest) -> Outcome | Pending[Outcome]:
    """Take acknowledgements, then acquire what the session names; parked until there is something or time is over."""
    group_id, member_id, epoch = request.group_id or "", request.member_id or "", request.share_session_epoch
    if request.is_renew_ack and any((request.max_wait_ms, request.min_bytes, request.max_bytes, request.max_records)):
        return fail(request, Code.INVALID_REQUEST)
    sessions = cluster.nodes[context.broker_id].share_sessions
    session: ShareSession | None
    if epoch == INITIAL_EPOCH:
        if any(item.acknowledgement_batches for topic in request.topics for item in topic.partitions):
            return fail(request, Code.INVALID_REQUEST)
        session = sessions.open(group_id, member_id, context.connection.connection_id)
        code = Code.NONE if session is not None else Code.SHARE_SESSION_LIMIT_REACHED
    else:
        code, session = sessions.find(group_id, member_id, epoch)
    if session is None:
        return fail(request, code)
    if request.share_acquire_mode not in tuple(AcquireMode):
        return fail(request, Code.UNKNOWN_SERVER_ERROR)
    verdicts = _acknowledge(cluster, context, request)
    if epoch == FINAL_EPOCH:
        cluster.end_share_session(context.broker_id, session)
        answer = _Answer(cluster, _lock_ms(cluster, group_id))
        for key, verdict in verdicts.items():
            answer.acknowledged(key, verdict)
        return answer.message()
    session.update(_named(request), _forgotten(request))
    return _ShareFetching(cluster, context, request, session, verdicts).start()


def _acknowledge(cluster: ClusterState, context: Context, request: ShareFetchRequest) -> dict[Id, Refusal]:
    return {
        (topic.topic_id, item.partition_index): acknowledge(
            cluster,
            context,
            request.group_id or "",
            request.member_id or "",
            (topic.topic_id, item.partition_index),
            item.acknowledgement_batches,
            is_renewal=request.is_renew_ack,
        )
        for topic in request.topics
        for item in topic.partitions
        if item.acknowledgement_batches
    }


def fail(request: ShareFetchRequest, code: int) -> ShareFetchResponse:
    """An answer that is the error."""
    del request
    return ShareFetchResponse(error_code=code)


API = Api(ShareFetchRequest, handle, fail)
