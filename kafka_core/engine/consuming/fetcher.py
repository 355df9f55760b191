"""Plans fetch requests per broker and turns their responses into chunks for the queue.

Must not know connections, loops or threads: views, responses and the time go in, requests and outcomes come out.
Spec: KIP-227 (sessions), KIP-320 (epochs), KIP-392 (follower fetching), KIP-516 (topic ids), KIP-951 (leader hints);
DESIGN §4.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol
from uuid import UUID

from kafka_core.engine.consuming.aborted import AbortedFilter
from kafka_core.engine.consuming.chunks import Chunk, Cursor
from kafka_core.engine.consuming.fetch_queue import FetchQueue
from kafka_core.engine.consuming.fetch_session import (
    NO_SESSION,
    WITHOUT_SESSION,
    FetchSession,
    LogEnds,
    SessionRequest,
    Wanted,
    fetch_topics,
    uses_topic_ids,
)
from kafka_core.engine.consuming.subscription import (
    EARLIEST_TIMESTAMP,
    LATEST_TIMESTAMP,
    NO_REQUEST,
    Assignment,
    Key,
    PartitionState,
    Phase,
    new_version,
)
from kafka_core.engine.consuming.topic_changes import TopicChanges
from kafka_core.engine.metadata import BrokerAddress, ClusterView
from kafka_core.engine.retry import Action, Backoff, classify
from kafka_core.errors import KafkaError, KafkaException
from kafka_core.model import OFFSET_INVALID
from kafka_core.protocol.messages.fetch import FetchRequest, FetchResponse, PartitionData

logger: Final = logging.getLogger("kafka_core.consumer")

FIRST_SHORT_WAIT_MS: Final = 10
PREFERRED_REPLICA_S: Final = 300.0
MAX_PARTITION_BYTES: Final = 2**31 - 1
BATCH_PREFIX_BYTES: Final = 12
"""Base offset (int64) and length (int32), which begin a batch or message of any format."""
MAGIC_POSITION: Final = 16
LEAST_V2_LENGTH: Final = 48

ErrorReporter = Callable[[PartitionState, KafkaError, int], Any]
"""Makes the message that tells the application about an error of a partition at an offset."""


class OpenBatch(Protocol):
    """The part of `records.OpenBatch` that the fetcher needs."""

    @property
    def header(self) -> Any: ...
    @property
    def cursor(self) -> Cursor: ...


class BatchOpener(Protocol):
    """`records.open_batches`: checks and decompresses the batches of one partition's records."""

    def __call__(
        self, buffer: Any, topic: str, partition: int, from_offset: int, *, check_crcs: bool = True
    ) -> list[Any]: ...


@dataclass(frozen=True, slots=True)
class FetchSettings:
    """The properties that shape fetches, under their usual names.

    Attributes:
        reset: timestamp to look up when there is no valid offset (-2 earliest, -1 latest); None: report an error.
    """

    max_wait_ms: int = 500
    min_bytes: int = 1
    max_bytes: int = 52_428_800
    partition_max_bytes: int = 1_048_576
    read_committed: bool = True
    check_crcs: bool = True
    partition_eof: bool = False
    reset: int | None = LATEST_TIMESTAMP
    rack: str = ""


RESETS: Final[Mapping[str, int | None]] = {
    "smallest": EARLIEST_TIMESTAMP,
    "earliest": EARLIEST_TIMESTAMP,
    "beginning": EARLIEST_TIMESTAMP,
    "largest": LATEST_TIMESTAMP,
    "latest": LATEST_TIMESTAMP,
    "end": LATEST_TIMESTAMP,
    "error": None,
}
"""`auto.offset.reset` as `FetchSettings.reset`."""


@dataclass(frozen=True, slots=True)
class PlannedFetch:
    """A request with the facts to read its response.

    Attributes:
        number: what the partitions that it asks for have noted; one that notes another has changed its mind since, and
            the answer is void for it.
        by_topic_id: whether a protocol version without topic names can carry it.
    """

    node_id: int
    request: FetchRequest
    session: SessionRequest
    number: int
    names: Mapping[UUID, str]
    by_topic_id: bool

    def topics(self) -> set[str]:
        """The topics that it asks for."""
        return {topic for topic, _ in self.session.wanted}


@dataclass(slots=True)
class Outcome:
    """The consequences of a response outside the fetcher.

    Attributes:
        stale_topics: their leaders are wrong: refresh.
        leaders: hints (topic, partition, leader, epoch) with `brokers`, their addresses.
        records: records that came, per partition, with their bytes: for hooks.
    """

    stale_topics: set[str] = field(default_factory=set)
    leaders: list[tuple[str, int, int, int]] = field(default_factory=list)
    brokers: list[BrokerAddress] = field(default_factory=list)
    records: list[tuple[str, int, int, int]] = field(default_factory=list)


@dataclass(slots=True)
class BrokerMemory:
    """The state of a broker between its fetches, until it leaves the cluster.

    Attributes:
        retry_at_s: no request before this time. `attempt`: failures in a row.
        short_wait_ms: how long it may wait for data while a partition is held back.
    """

    session: FetchSession = field(default_factory=FetchSession)
    retry_at_s: float = 0.0
    attempt: int = 0
    short_wait_ms: int = FIRST_SHORT_WAIT_MS


class Fetcher:
    """Keeps one request per broker in flight for everything that is assigned, not paused and not full.

    Args:
        open_batches: `records.open_batches`.
        event: makes the message that carries an error to the application.
    """

    def __init__(
        self,
        settings: FetchSettings,
        assignment: Assignment,
        queue: FetchQueue,
        open_batches: BatchOpener,
        event: ErrorReporter,
        backoff: Backoff,
    ) -> None:
        self._settings = settings
        self._assignment = assignment
        self._queue = queue
        self._open_batches = open_batches
        self._event = event
        self._backoff = backoff
        self._brokers: dict[int, BrokerMemory] = {}
        self._topic_changes = TopicChanges(assignment, queue, settings.reset)

    # ---- planning

    def plan(
        self, view: ClusterView, now_s: float, busy: Collection[int]
    ) -> tuple[list[PlannedFetch], set[str], float | None]:
        """The requests to send now.

        Args:
            busy: brokers whose last request has no response yet.

        Returns:
            Requests for brokers that are not busy; topics without a known leader, or to be read from a replica that is
            not known; when to plan again if nothing else happens (monotonic seconds, None: no need).
        """
        for state, error in self._topic_changes.follow(view):
            self._push_event(state, state.version, error, OFFSET_INVALID)
        wanted: dict[int, dict[Key, Wanted]] = {}
        held: set[int] = set()
        unknown: set[str] = set()
        again: list[float] = []
        leaders: set[int] = set()
        for state in self._assignment:
            if state.phase is not Phase.FETCH or state.paused:
                continue
            if state.preferred_replica is not None and state.preferred_replica not in view.brokers:
                unknown.add(state.topic)  # it has come back: until it is found, the leader has nothing for this rack
                state.retry_at_s = max(state.retry_at_s, now_s + self._backoff.delay_s(0))
            node = self._node_for(state, view, now_s)
            if node is None:
                unknown.add(state.topic)
                continue
            leaders.add(node)
            retry_s = max(state.retry_at_s, self._broker(node).retry_at_s)
            if retry_s > now_s:
                again.append(retry_s)
            elif still_fetches(state) and node not in busy:
                if self._queue.has_room(state):
                    state.hurried = False
                    item = wanted.setdefault(node, {})[state.key] = self._wanted(state)
                    self._recall(state, node, item)
                else:
                    held.add(node)
        requests = [self._request(node, items, node in held) for node, items in wanted.items()]
        for gone in self._brokers.keys() - view.brokers.keys() - leaders.union(busy):
            del self._brokers[gone]
        return requests, unknown, min(again, default=None)

    def plan_beside(self, view: ClusterView, now_s: float, in_flight: Mapping[int, PlannedFetch]) -> list[PlannedFetch]:
        """Requests to send beside those in flight, for partitions that came, moved or were resumed since (`hurried`).

        A broker answers the requests of a connection in order, and may sit on one until fetch.wait.max.ms is over: a
        seek would have to wait for that. These go over another connection, outside the session, and don't wait; as
        soon as one of them brings nothing more, its partition is left to the session again.

        Args:
            in_flight: the requests of sessions that have no response yet, by broker.
        """
        wanted: dict[int, dict[Key, Wanted]] = {}
        for state in self._assignment:
            if not state.hurried or state.phase is not Phase.FETCH or state.paused:
                continue
            node = self._node_for(state, view, now_s)
            if node is None or node not in in_flight or in_flight[node].number == state.request:
                continue
            late = max(state.retry_at_s, self._broker(node).retry_at_s) > now_s
            if not late and still_fetches(state) and self._queue.has_room(state):
                wanted.setdefault(node, {})[state.key] = self._wanted(state)
        return [self._request_beside(node, items) for node, items in wanted.items()]

    def _request_beside(self, node: int, wanted: dict[Key, Wanted]) -> PlannedFetch:
        settings = self._settings
        session = SessionRequest(NO_SESSION, WITHOUT_SESSION, fetch_topics(wanted.items()), [], wanted)
        request = FetchRequest(
            max_wait_ms=0,
            min_bytes=0,
            max_bytes=settings.max_bytes,
            isolation_level=1 if settings.read_committed else 0,
            session_id=session.session_id,
            session_epoch=session.session_epoch,
            topics=session.topics,
            rack_id=settings.rack,
        )
        return self._planned(node, request, session)

    def _planned(self, node: int, request: FetchRequest, session: SessionRequest) -> PlannedFetch:
        """Notes in the partitions which request is theirs now."""
        number = new_version()
        for key in session.wanted:
            state = self._assignment.get(key)
            if state is not None:
                state.request = number
        names = {item.topic_id: topic for (topic, _), item in session.wanted.items()}
        return PlannedFetch(node, request, session, number, names, uses_topic_ids(session))

    def _node_for(self, state: PartitionState, view: ClusterView, now_s: float) -> int | None:
        """The broker to fetch from; another leader epoch sends the position to be validated first.

        The view decides which epoch counts, also an older one: a leader refuses requests with one it has not heard of.
        """
        known = view.partition(state.topic, state.partition)
        if known is None or known.leader is None:
            return None
        if known.leader_epoch != state.leader_epoch and known.leader_epoch >= 0:
            if state.leader_epoch >= 0 and state.fetch_epoch >= 0:
                self._queue.leave(state, state.version, Phase.VALIDATE)
            state.request = NO_REQUEST  # the old leader may have had what the new one has not
            state.retry_at_s = 0.0  # and its errors say nothing about the new one
            state.leader_epoch = known.leader_epoch
            state.preferred_replica = None
        if state.preferred_replica is not None:
            if state.preferred_replica in view.brokers and now_s < state.preferred_until_s:
                return state.preferred_replica
            state.preferred_replica = None
        return known.leader

    def _recall(self, state: PartitionState, node: int, item: Wanted) -> None:
        """Takes from the session what the broker won't say again, for a partition that came back or was seeked."""
        session = self._session(node)
        if not session.knows(state.key, item):
            return
        ends = session.ends.get(state.key)
        if ends is not None and state.high_watermark < 0:
            state.high_watermark, state.last_stable_offset, state.log_start_offset = ends
        if ends is not None:
            self._end_of_partition(state, state.version)

    def _wanted(self, state: PartitionState) -> Wanted:
        size = min(self._settings.partition_max_bytes * state.max_bytes_factor, MAX_PARTITION_BYTES)
        return Wanted(state.topic_id, state.next_fetch_offset, state.leader_epoch, size)

    def _request(self, node: int, wanted: dict[Key, Wanted], held: bool) -> PlannedFetch:
        settings = self._settings
        session = self._session(node).next_request(wanted)
        request = FetchRequest(
            max_wait_ms=self._wait_ms(node, held),
            min_bytes=settings.min_bytes,
            max_bytes=settings.max_bytes,
            isolation_level=1 if settings.read_committed else 0,
            session_id=session.session_id,
            session_epoch=session.session_epoch,
            topics=session.topics,
            forgotten_topics_data=session.forgotten,
            rack_id=settings.rack,
        )
        return self._planned(node, request, session)

    def _wait_ms(self, node: int, held: bool) -> int:
        """The longest wait of the broker for data.

        While a partition is held back its broker must not sit on a request for the others: the application may empty
        the queue meanwhile and would starve until the wait is over. So the wait starts short and doubles as long as
        the queue stays full.
        """
        broker, longest_ms = self._broker(node), self._settings.max_wait_ms
        if not held:
            broker.short_wait_ms = FIRST_SHORT_WAIT_MS
            return longest_ms
        wait_ms = min(broker.short_wait_ms, longest_ms)
        broker.short_wait_ms = min(broker.short_wait_ms * 2, longest_ms)
        return wait_ms

    def _broker(self, node: int) -> BrokerMemory:
        found = self._brokers.get(node)
        if found is None:
            found = self._brokers[node] = BrokerMemory()
        return found

    def _session(self, node: int) -> FetchSession:
        return self._broker(node).session

    # ---- responses

    def failed(self, planned: PlannedFetch, now_s: float, *, lost: bool = False) -> Outcome:
        """No response: the leaders may have moved, and nobody knows what the session thinks it sent.

        Args:
            lost: the connection broke. The first time the broker is asked again at once: new connections to it are
                spaced anyway (`reconnect.backoff.ms`).
        """
        self._session(planned.node_id).reset(keep_id=True)
        self.leave_follower(planned)
        broker = self._broker(planned.node_id)
        if lost and not broker.attempt:
            broker.attempt = 1
        else:
            self._delay(planned.node_id, now_s)
        return Outcome(stale_topics=planned.topics())

    def leave_follower(self, planned: PlannedFetch) -> bool:
        """Its partitions are left to their leaders again, where it is a follower that was asked (KIP-392).

        Returns:
            Whether there are such partitions: they can be asked for elsewhere at once.
        """
        left = False
        for key in planned.session.wanted:
            state = self._assignment.get(key)
            if state is not None and state.preferred_replica == planned.node_id:
                state.preferred_replica, left = None, True
        return left

    def _delay(self, node: int, now_s: float) -> None:
        broker = self._broker(node)
        broker.retry_at_s = now_s + self._backoff.delay_s(broker.attempt)
        broker.attempt += 1

    def received(self, planned: PlannedFetch, response: FetchResponse, now_s: float) -> Outcome:
        """Queues the response's records and moves the fetch positions on."""
        broker = self._broker(planned.node_id)
        session = broker.session
        outcome = Outcome()
        if response.error_code:
            session.reset(keep_id=response.error_code == KafkaError.INVALID_FETCH_SESSION_EPOCH)
            action = classify(response.error_code)
            if action is not Action.RESET_SESSION:
                self.leave_follower(planned)
                self._delay(planned.node_id, now_s)
                outcome.stale_topics |= planned.topics()
            if not action.tries_again:
                self._tell_all(planned, response.error_code)
            return outcome
        session.succeeded(response.session_id)
        broker.attempt, broker.retry_at_s = 0, 0.0
        for endpoint in response.node_endpoints:
            outcome.brokers.append(BrokerAddress(endpoint.node_id, endpoint.host, endpoint.port, endpoint.rack))
        self._partitions(planned, response, now_s, outcome)
        return outcome

    def received_beside(self, planned: PlannedFetch, response: FetchResponse | None, now_s: float) -> Outcome:
        """The same for a request beside the session; None if there was no response, which the session will mend."""
        outcome = Outcome()
        before = {key: self._hurried_at(key, planned) for key in planned.session.wanted}
        if response is not None and not response.error_code:
            self._partitions(planned, response, now_s, outcome)
        for key, known in before.items():
            offset = self._hurried_at(key, planned)
            state = self._assignment.get(key)
            if state is not None and offset is not None and offset == known:
                state.hurried = False  # nothing new
        return outcome

    def _hurried_at(self, key: Key, planned: PlannedFetch) -> int | None:
        """The next offset to fetch of a partition that has not changed its mind since."""
        state = self._assignment.get(key)
        return state.next_fetch_offset if state is not None and state.request == planned.number else None

    def _partitions(self, planned: PlannedFetch, response: FetchResponse, now_s: float, outcome: Outcome) -> None:
        for topic in response.responses:
            name = topic.topic or planned.names.get(topic.topic_id, "")
            for data in topic.partitions:
                key = (name, data.partition_index)
                if not data.error_code:  # it won't be said again in this session, whatever becomes of the partition
                    ends = LogEnds(data.high_watermark, data.last_stable_offset, data.log_start_offset)
                    self._session(planned.node_id).ends[key] = ends
                state = self._assignment.get(key)
                if state is None:
                    continue
                # Read first: the taker's thread may void the partition (a batch that can't be read) at any moment, and
                # what is queued with this version is refused then.
                version = state.version
                # Seeked, revoked, assigned anew or asked for elsewhere since: the answer is about something else.
                if state.request == planned.number and state.phase is Phase.FETCH:
                    self._partition(state, version, data, planned, now_s, outcome)

    def _partition(
        self,
        state: PartitionState,
        version: int,
        data: PartitionData,
        planned: PlannedFetch,
        now_s: float,
        outcome: Outcome,
    ) -> None:
        if data.error_code:
            self._partition_error(state, version, data, planned, now_s, outcome)
            return
        state.high_watermark = data.high_watermark
        state.last_stable_offset = data.last_stable_offset
        state.log_start_offset = data.log_start_offset
        state.told_at_s = now_s
        state.attempt, state.reported = 0, 0
        if data.preferred_read_replica >= 0 and self._settings.rack:
            state.preferred_replica = data.preferred_read_replica
            state.preferred_until_s = now_s + PREFERRED_REPLICA_S
        if data.records:
            self._records(state, version, data, now_s, outcome)
        self._end_of_partition(state, version)

    def _end_of_partition(self, state: PartitionState, version: int) -> None:
        """Tells once that the end was reached, if that is wanted."""
        if not self._settings.partition_eof or state.phase is not Phase.FETCH:
            return
        end = state.last_stable_offset if self._settings.read_committed else state.high_watermark
        offset = state.next_fetch_offset
        if offset >= (end if end >= 0 else state.high_watermark) and state.eof_reported_at != offset:
            state.eof_reported_at = offset
            text = "Broker: No more messages"
            self._push_event(state, version, KafkaError(KafkaError._PARTITION_EOF, text), offset)

    # ---- records

    def _records(
        self, state: PartitionState, version: int, data: PartitionData, now_s: float, outcome: Outcome
    ) -> None:
        """Queues the records of one partition: those before a corrupt batch, then the error.

        The error comes only when reading the same place a second time finds it corrupt, too.
        """
        offset = state.next_fetch_offset
        size_bytes = len(data.records)  # type: ignore[arg-type]
        corrupt: tuple[int, int, KafkaException] | None = None
        try:
            batches = self._open(state, data.records, offset)
        except KafkaException:
            batches, corrupt = self._salvage(state, data.records, offset)
        if not batches and corrupt is None:
            state.max_bytes_factor = min(state.max_bytes_factor * 2, 1024)  # not even one whole batch fitted
            return
        state.max_bytes_factor = 1
        count = self._queue_batches(state, version, batches, data)
        outcome.records.append((state.topic, state.partition, count, size_bytes))
        if corrupt is not None:
            if state.suspect == state.next_fetch_offset:
                self._corrupt(state, version, *corrupt)
            else:
                logger.warning("%s[%d]: %s; it is read once more", state.topic, state.partition, corrupt[2])
                state.suspect = state.next_fetch_offset  # it may have been damaged on its way
                state.retry_at_s = now_s + self._backoff.delay_s(0)

    def _open(self, state: PartitionState, buffer: Any, offset: int) -> list[Any]:
        return self._open_batches(buffer, state.topic, state.partition, offset, check_crcs=self._settings.check_crcs)

    def _salvage(
        self, state: PartitionState, buffer: Any, offset: int
    ) -> tuple[list[Any], tuple[int, int, KafkaException] | None]:
        """Opens batch by batch: the good ones, and (first offset, end offset, reason) of the first bad one."""
        opened: list[Any] = []
        for base_offset, end_offset, piece in pieces(memoryview(buffer)):
            try:
                opened += self._open(state, piece, offset)
            except KafkaException as error:
                return opened, (max(base_offset, offset), end_offset, error)
        return opened, None

    def _queue_batches(self, state: PartitionState, version: int, batches: list[Any], data: PartitionData) -> int:
        aborted = AbortedFilter(data.aborted_transactions or ()) if self._settings.read_committed else None
        cursors: deque[tuple[Cursor, int]] = deque()
        records = size_bytes = 0
        end_offset, epoch = state.next_fetch_offset, state.fetch_epoch
        for batch in batches:
            header = batch.header
            end_offset = max(end_offset, batch.end_offset)
            epoch = header.partition_leader_epoch
            # A filter keeps no control batch.
            if not batch.is_control if aborted is None else aborted.keeps(batch):
                cursors.append((batch.cursor, epoch))
                records += header.count
                size_bytes += batch.memory_bytes
        chunk = Chunk(version, cursors, end_offset, epoch, records, size_bytes)
        state.next_fetch_offset, state.fetch_epoch = end_offset, epoch
        self._queue.push(state, chunk)
        return records

    def _corrupt(self, state: PartitionState, version: int, first: int, end: int, error: KafkaException) -> None:
        """Broken a second time: the stored batch is broken."""
        past = f" (it claims to end before offset {end})" if end > first else ""
        reason = (
            f"{state.topic}[{state.partition}]: the batch at offset {first} can't be read: {error}. Nothing was "
            f"skipped: seek() past it to go on{past}, or to {first} to try it again"
        )
        if self._queue.leave(state, version, Phase.HALTED):
            self._push_event(state, version, KafkaError(error.code, reason), first)

    # ---- errors

    def _partition_error(
        self,
        state: PartitionState,
        version: int,
        data: PartitionData,
        planned: PlannedFetch,
        now_s: float,
        outcome: Outcome,
    ) -> None:
        code = data.error_code
        action = classify(code)
        from_follower = state.preferred_replica == planned.node_id
        state.preferred_replica = None
        if action is Action.RESET_OFFSET:
            if not from_follower:  # a follower may lag behind: ask the leader before believing it
                self._out_of_range(state, version, data)
            return
        state.retry_at_s = now_s + self._backoff.delay_s(state.attempt)
        state.attempt += 1
        if action is Action.RESET_SESSION:
            self._session(planned.node_id).reset(keep_id=True)
        if action is Action.REFRESH_AND_RETRY or action is Action.RESET_SESSION:
            outcome.stale_topics.add(state.topic)
            hint = data.current_leader
            if hint.leader_id >= 0:
                outcome.leaders.append((state.topic, state.partition, hint.leader_id, hint.leader_epoch))
                state.retry_at_s = now_s
        elif action is not Action.RETRY:
            self._tell(state, version, planned.node_id, code)

    def _tell_all(self, planned: PlannedFetch, code: int) -> None:
        """An error of the whole response that trying again will hardly mend."""
        for key in planned.session.wanted:
            state = self._assignment.get(key)
            if state is not None and (version := state.version) and state.request == planned.number:
                self._tell(state, version, planned.node_id, code)

    def _tell(self, state: PartitionState, version: int, node_id: int, code: int) -> None:
        """Tells the application, once until the partition is well again."""
        if state.reported != code:
            state.reported = code
            error = KafkaError.from_code(code)
            text = f"Fetch from broker {node_id} failed: {state.topic}[{state.partition}]: {error.str()}"
            known = KafkaError(error.code(), text, retriable=error.retriable())
            self._push_event(state, version, known, state.next_fetch_offset)

    def _out_of_range(self, state: PartitionState, version: int, data: PartitionData) -> None:
        """The log no longer (or not yet) has the offset: do what `auto.offset.reset` says."""
        reset = self._settings.reset
        if reset is not None:
            state.lookup_timestamp = reset
            self._queue.leave(state, version, Phase.LOOKUP)
            return
        offset = state.next_fetch_offset
        known = f" (the log begins at {data.log_start_offset})" if data.log_start_offset >= 0 else ""
        text = (
            f"{state.topic}[{state.partition}]: offset {offset} is out of range{known} and auto.offset.reset is "
            "`error`: seek() to an offset that exists, OFFSET_BEGINNING or OFFSET_END"
        )
        if self._queue.leave(state, version, Phase.HALTED):
            self._push_event(state, version, KafkaError(KafkaError._AUTO_OFFSET_RESET, text), offset)

    def _push_event(self, state: PartitionState, version: int, error: KafkaError, offset: int) -> None:
        message = self._event(state, error, offset)
        self._queue.push(state, Chunk(version, deque(), offset, state.fetch_epoch, 0, 0, message))


def still_fetches(state: PartitionState) -> bool:
    """Whether looking at the leader has left the partition in its phase."""
    return state.phase is Phase.FETCH


def pieces(buffer: memoryview) -> Iterator[tuple[int, int, memoryview]]:
    """The batches of a records field one by one: base offset, end offset as its header claims it, bytes.

    A last one that is cut short is left out, and so is everything after a length that makes no sense, except that the
    rest is given once, so that opening it says what is wrong.
    """
    position = 0
    while len(buffer) - position >= BATCH_PREFIX_BYTES:
        base_offset = int.from_bytes(buffer[position : position + 8], "big", signed=True)
        length = int.from_bytes(buffer[position + 8 : position + BATCH_PREFIX_BYTES], "big", signed=True)
        end = position + BATCH_PREFIX_BYTES + length
        if length < 0:
            yield base_offset, base_offset, buffer[position:]
            return
        if end > len(buffer):
            return
        is_v2 = length > LEAST_V2_LENGTH and buffer[position + MAGIC_POSITION] == 2
        delta = int.from_bytes(buffer[position + 23 : position + 27], "big", signed=True) if is_v2 else 0
        yield base_offset, base_offset + max(delta, 0) + 1, buffer[position:end]
        position = end
