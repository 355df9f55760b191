"""Plans what a member of a share group asks each broker for, and reads what comes: records and answers.

Must not know connections, loops or the application: metadata, responses and the time are handed in.
Spec: KIP-932 (ShareFetch, ShareAcknowledge), KIP-1206 (record limits), KIP-1222 (renewals).

Records are fetched only while a poll waits and nothing is at hand: their locks run from the moment in which the broker
acquires them. There is one request at a time per broker. Acknowledgements ride on the next fetch, or go alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final
from uuid import UUID

from kafka_core.engine.consuming.subscription import Key
from kafka_core.engine.metadata import BrokerAddress, ClusterView
from kafka_core.engine.retry import Action, Backoff, classify
from kafka_core.engine.sharing.holdings import GAP, Acknowledged, Origin
from kafka_core.engine.sharing.session import FetchLimits, Id, ShareSession
from kafka_core.errors import KafkaError, KafkaException
from kafka_core.kernels import Message, set_delivery_count
from kafka_core.model import AcknowledgeType
from kafka_core.protocol.messages.share_acknowledge import ShareAcknowledgeRequest, ShareAcknowledgeResponse
from kafka_core.protocol.messages.share_fetch import PartitionData, ShareFetchRequest, ShareFetchResponse

LOST_SESSION: Final = frozenset({KafkaError.SHARE_SESSION_NOT_FOUND, KafkaError.INVALID_SHARE_SESSION_EPOCH})
EVERYTHING: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class Planned:
    """A request to be sent to a broker, and the acknowledgements that it carries."""

    node_id: int
    request: ShareFetchRequest | ShareAcknowledgeRequest
    acknowledged: tuple[Acknowledged, ...]


@dataclass(slots=True, eq=False)
class Delivery:
    """The messages of one fetch, to be given to the application at once.

    Attributes:
        held: which records of it are acquired.
        until_s: when the first of the locks may end.
    """

    messages: list[Message] = field(default_factory=list)
    held: list[tuple[Origin, list[int]]] = field(default_factory=list)
    until_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Settled:
    """The broker's answer to acknowledgements, or why there will be none.

    Attributes:
        part_of: the acknowledgements of which these were some, if others of them are still on their way.
    """

    acknowledged: Acknowledged
    error: KafkaError | None
    part_of: Acknowledged | None = None


@dataclass(slots=True)
class News:
    """A response without its records: how many, topics whose metadata is old, leaders, errors for the application."""

    records: int = 0
    stale_topics: set[str] = field(default_factory=set)
    leaders: list[tuple[str, int, int, int]] = field(default_factory=list)
    brokers: list[BrokerAddress] = field(default_factory=list)
    errors: list[Message] = field(default_factory=list)


@dataclass(slots=True)
class _Broker:
    session: ShareSession
    pending: list[Acknowledged] = field(default_factory=list)
    in_flight: Planned | None = None
    retry_at_s: float = 0.0
    failures: int = 0


class ShareFetching:
    """All sessions of one member; see the module.

    Args:
        open_batches: `records.open_batches`.

    Attributes:
        settled: answers to acknowledgements, to be taken by whoever tells the application.
        lock_timeout_ms: how long the brokers' locks last, as they last said; None before.
    """

    def __init__(
        self,
        group_id: str,
        member_id: str,
        limits: FetchLimits,
        open_batches: Callable[..., Sequence[Any]],
        backoff: Backoff,
        *,
        check_crcs: bool = True,
    ) -> None:
        self.settled: deque[Settled] = deque()
        self.lock_timeout_ms: int | None = None
        self._group_id = group_id
        self._member_id = member_id
        self._limits = limits
        self._open_batches = open_batches
        self._backoff = backoff
        self._check_crcs = check_crcs
        self._brokers: dict[int, _Broker] = {}
        self._ids: dict[Key, UUID] = {}
        self._names: dict[UUID, str] = {}
        self._ready: deque[Delivery] = deque()
        self._told_errors: dict[tuple[str, int], int] = {}

    # ---- what is wanted

    def assign(self, ids: Mapping[Key, UUID]) -> None:
        """The partitions to fetch from now on; what was acquired of others stays."""
        self._ids = dict(ids)
        self._names |= {topic_id: key[0] for key, topic_id in ids.items()}

    def acknowledge(self, parts: Sequence[Acknowledged]) -> None:
        """Acknowledgements to be sent where the records came from."""
        for part in parts:
            broker = self._broker(part.origin.node_id)
            if broker.session.number != part.origin.session or not broker.session.open:
                self.settled.append(Settled(part, _lost_session(part.origin)))
            else:
                broker.pending.append(part)

    def take(self, now_s: float) -> Delivery | None:
        """Records for the application; those whose lock has ended meanwhile are left out: others may have them."""
        while self._ready:
            delivery = self._ready.popleft()
            if self._valid(delivery, now_s):
                return delivery
        return None

    def put_back(self, delivery: Delivery) -> None:
        """The application never saw it."""
        self._ready.appendleft(delivery)

    def release(self) -> None:
        """Gives back acquired records not given to the application."""
        for delivery in self._ready:
            self.acknowledge(
                [
                    Acknowledged(origin, dict.fromkeys(offsets, AcknowledgeType.RELEASE))
                    for origin, offsets in delivery.held
                ]
            )
        self._ready.clear()

    @property
    def idle(self) -> bool:
        """Whether no request is under way and no session open: everything is given back."""
        return all(broker.in_flight is None and not broker.session.open for broker in self._brokers.values())

    def _valid(self, delivery: Delivery, now_s: float) -> bool:
        if not delivery.held:
            return True
        return now_s < delivery.until_s and all(
            self._broker(origin.node_id).session.number == origin.session for origin, _ in delivery.held
        )

    def _broker(self, node_id: int) -> _Broker:
        if node_id not in self._brokers:
            self._brokers[node_id] = _Broker(ShareSession(self._group_id, self._member_id))
        return self._brokers[node_id]

    # ---- requests

    def plan(
        self, view: ClusterView, now_s: float, *, wait_ms: int | None = None, closes: bool = False
    ) -> tuple[list[Planned], set[str], float | None]:
        """The requests to send now.

        Args:
            wait_ms: how long a poll waits for records; None: none does, only acknowledgements are sent.
            closes: sessions are to be closed.

        Returns:
            The requests, topics without a leader, and when to plan again (None: when something happens).
        """
        wanted, leaderless = self._by_leader(view) if wait_ms is not None and not closes else ({}, set())
        planned: list[Planned] = []
        again_s: float | None = None
        for node_id in sorted({*self._brokers, *wanted}):
            broker = self._broker(node_id)
            if broker.in_flight is not None:
                continue
            fetches = node_id in wanted and not self._ready
            if now_s < broker.retry_at_s and not closes:
                if fetches or broker.pending:
                    again_s = min(again_s or broker.retry_at_s, broker.retry_at_s)
                continue
            request = self._request(broker, wanted.get(node_id, set()), wait_ms if fetches else None, closes)
            if request is not None:
                carried = tuple(broker.pending) if self._carries(request) else ()
                if carried:
                    broker.pending = []
                broker.in_flight = Planned(node_id, request, carried)
                planned.append(broker.in_flight)
        return planned, leaderless, again_s

    def _request(
        self, broker: _Broker, wanted: Collection[Id], wait_ms: int | None, closes: bool
    ) -> ShareFetchRequest | ShareAcknowledgeRequest | None:
        session, pending = broker.session, broker.pending
        if closes:
            return session.acknowledge(pending, closes=True) if session.open else None
        rides = wait_ms is not None and all(_rides(part, wanted) for part in pending)
        if pending and not rides:
            return session.acknowledge(pending)
        if wait_ms is None:
            return None
        limits = replace(self._limits, max_wait_ms=min(wait_ms, self._limits.max_wait_ms))
        return session.fetch(wanted, limits, pending)

    @staticmethod
    def _carries(request: ShareFetchRequest | ShareAcknowledgeRequest) -> bool:
        return any(partition.acknowledgement_batches for topic in request.topics for partition in topic.partitions)

    def _by_leader(self, view: ClusterView) -> tuple[dict[int, set[Id]], set[str]]:
        wanted: dict[int, set[Id]] = {}
        leaderless: set[str] = set()
        for (topic, partition), topic_id in self._ids.items():
            leader = view.leader(topic, partition)
            if leader is None:
                leaderless.add(topic)
            else:
                wanted.setdefault(leader, set()).add((topic_id, partition))
        return wanted, leaderless

    # ---- answers

    def failed(self, planned: Planned, error: KafkaException, now_s: float) -> News:
        """A request got no answer. Whether it arrived is not known, so the session is over, and its locks run out."""
        broker = self._broker(planned.node_id)
        broker.in_flight = None
        self._end_session(planned.node_id, broker, planned, error.error)
        self._back_off(broker, now_s)
        news = News(stale_topics={topic for topic, _ in self._ids})
        if not classify(error).tries_again:
            self._tell_once(news, ("", -1), error.error)
        return news

    def received(self, planned: Planned, response: ShareFetchResponse | ShareAcknowledgeResponse, now_s: float) -> News:
        """A request was answered."""
        broker = self._broker(planned.node_id)
        broker.in_flight = None
        news = News()
        if response.error_code:
            self._refused(planned, broker, response.error_code, response.error_message, now_s, news)
            return news
        if response.acquisition_lock_timeout_ms > 0:
            self.lock_timeout_ms = response.acquisition_lock_timeout_ms
        broker.session.answered(planned.request)
        broker.failures = 0
        broker.retry_at_s = 0.0
        news.brokers = [
            BrokerAddress(item.node_id, item.host, item.port, item.rack) for item in response.node_endpoints
        ]
        errors: dict[Id, KafkaError | None] = {}
        delivery = Delivery(until_s=now_s + (self.lock_timeout_ms or EVERYTHING) / 1000)
        for topic in response.responses:
            name = self._names.get(topic.topic_id)
            for item in topic.partitions:
                fetched = isinstance(item, PartitionData)
                code = item.acknowledge_error_code if fetched else item.error_code  # type: ignore[union-attr]
                text = item.acknowledge_error_message if fetched else item.error_message  # type: ignore[union-attr]
                errors[topic.topic_id, item.partition_index] = _error(code, text)
                if name is None:
                    continue
                if item.current_leader.leader_id >= 0:
                    hint = (name, item.partition_index, item.current_leader.leader_id, item.current_leader.leader_epoch)
                    news.leaders.append(hint)
                if isinstance(item, PartitionData):
                    origin = Origin(name, item.partition_index, topic.topic_id, planned.node_id, broker.session.number)
                    self._read(origin, item, broker, delivery, news, now_s)
        for part in planned.acknowledged:
            key = (part.origin.topic_id, part.origin.partition)
            self.settled.append(Settled(part, errors[key] if key in errors else _left_out(part.origin)))
        news.records = len(delivery.messages)
        if delivery.messages:
            self._ready.append(delivery)
        return news

    def _refused(
        self, planned: Planned, broker: _Broker, code: int, text: str | None, now_s: float, news: News
    ) -> None:
        error = _error(code, text)
        assert error is not None
        self._end_session(planned.node_id, broker, planned, error)
        if code in LOST_SESSION:
            return  # the next fetch begins another one at once
        self._back_off(broker, now_s)
        news.stale_topics |= {topic for topic, _ in self._ids}
        if not classify(code).tries_again:
            self._tell_once(news, ("", -1), error)

    def _end_session(self, node_id: int, broker: _Broker, planned: Planned, error: KafkaError) -> None:
        broker.session.lost()
        self.settled.extend(Settled(part, error) for part in (*planned.acknowledged, *broker.pending))
        broker.pending = []
        self._ready = deque(
            delivery for delivery in self._ready if all(origin.node_id != node_id for origin, _ in delivery.held)
        )

    def _read(
        self, origin: Origin, item: PartitionData, broker: _Broker, delivery: Delivery, news: News, now_s: float
    ) -> None:
        key = (origin.topic, origin.partition)
        if item.error_code:
            action = classify(item.error_code)
            if action is Action.REFRESH_AND_RETRY or action.tries_again:
                news.stale_topics.add(origin.topic)
            else:
                error = _error(item.error_code, item.error_message)
                assert error is not None
                self._tell_once(news, key, error)
            self._back_off(broker, now_s)
            return
        self._told_errors.pop(key, None)
        if not item.acquired_records:
            return
        self._supersede(broker, origin, item)
        try:
            records = self._records(origin, item)
        except KafkaException as error:
            # Never looked into: whoever gets them next may be luckier, and the group's limit of deliveries ends it.
            offsets = [n for part in item.acquired_records for n in range(part.first_offset, part.last_offset + 1)]
            broker.pending.append(Acknowledged(origin, dict.fromkeys(offsets, AcknowledgeType.RELEASE)))
            first = item.acquired_records[0].first_offset
            news.errors.append(Message(topic=origin.topic, partition=origin.partition, offset=first, error=error.error))
            return
        held: list[int] = []
        gaps: dict[int, int] = {}
        for part in item.acquired_records:
            for offset in range(part.first_offset, part.last_offset + 1):
                record = records.get(offset)
                if record is None:
                    gaps[offset] = GAP
                else:
                    set_delivery_count(record, part.delivery_count)
                    delivery.messages.append(record)
                    held.append(offset)
        if held:
            delivery.held.append((origin, held))
        if gaps:
            broker.pending.append(Acknowledged(origin, gaps))

    def _supersede(self, broker: _Broker, origin: Origin, item: PartitionData) -> None:
        """Drops what waits to be sent of records that are acquired again: their locks had ended.

        An application says ACCEPT while a fetch is under way; the lock ends; the fetch brings the record again. Sent
        behind that, the word would be one about the new lock, and count before the application's next one.
        """
        left: list[Acknowledged] = []
        for part in broker.pending:
            old: dict[int, int] = {}
            if part.origin == origin:
                for taken in item.acquired_records:
                    offsets = range(taken.first_offset, taken.last_offset + 1)
                    old |= {offset: kind for offset, kind in part.types.items() if offset in offsets}
            if len(old) == len(part.types):
                self.settled.append(Settled(part, _too_late(origin)))
                continue
            if old:
                for offset in old:
                    del part.types[offset]
                self.settled.append(Settled(Acknowledged(origin, old), _too_late(origin), part))
            left.append(part)
        broker.pending = left

    def _records(self, origin: Origin, item: PartitionData) -> dict[int, Message]:
        if item.records is None:
            return {}
        first = item.acquired_records[0].first_offset
        found: list[Message] = []
        for batch in self._open_batches(
            item.records, origin.topic, origin.partition, first, check_crcs=self._check_crcs
        ):
            if not batch.is_control:
                batch.cursor.take(found, EVERYTHING)
        return {message.offset() or 0: message for message in found}

    def _tell_once(self, news: News, key: tuple[str, int], error: KafkaError) -> None:
        if self._told_errors.get(key) != error.code():
            self._told_errors[key] = error.code()
            named = {"topic": key[0], "partition": key[1]} if key[0] else {}
            news.errors.append(Message(error=error, **named))  # type: ignore[arg-type]

    def _back_off(self, broker: _Broker, now_s: float) -> None:
        broker.retry_at_s = now_s + self._backoff.delay_s(broker.failures)
        broker.failures += 1


def _rides(part: Acknowledged, wanted: Collection[Id]) -> bool:
    """Whether acknowledgements may go with a fetch: of partitions that it asks for, and no renewals among them."""
    origin = part.origin
    return (origin.topic_id, origin.partition) in wanted and AcknowledgeType.RENEW not in part.types.values()


def _error(code: int, text: str | None) -> KafkaError | None:
    if not code:
        return None
    known = KafkaError.from_code(code)
    return KafkaError(known.code(), text, retriable=known.retriable()) if text else known


def _left_out(origin: Origin) -> KafkaError:
    text = (
        f"broker {origin.node_id}: the answer to acknowledgements lacks {origin.topic}[{origin.partition}]: whether "
        "they were taken is not known"
    )
    return KafkaError(KafkaError._BAD_MSG, text)


def _too_late(origin: Origin) -> KafkaError:
    text = (
        f"{origin.topic}[{origin.partition}]: the lock of these records ended before their acknowledgement was sent; "
        "the group has given them out again, to this member"
    )
    return KafkaError(KafkaError.INVALID_RECORD_STATE, text)


def _lost_session(origin: Origin) -> KafkaError:
    text = (
        f"{origin.topic}[{origin.partition}]: the share session with broker {origin.node_id} in which these records "
        "were acquired is over; the group gives them out again"
    )
    return KafkaError(KafkaError.SHARE_SESSION_NOT_FOUND, text)
