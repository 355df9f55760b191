"""The producer's logic from sealed batch to verdict: queues, requests, retries in order, time-outs, epochs.

Must not know connections, loops, clocks or bytes: events and the time go in, shipments and verdicts come out.
Spec: DESIGN §3; KIP-98/360 (idempotence), KIP-91 (delivery time-out), KIP-951 (leader hints); Java's Sender.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from uuid import UUID

from kafka_core.engine.metadata import BrokerAddress, ClusterView
from kafka_core.engine.producing.lane import NEVER_S, Delivery, Lane, SealedBatch
from kafka_core.engine.producing.pacing import Window
from kafka_core.engine.producing.sequences import IdentityPhase, ProducerIds, sequence_plus
from kafka_core.engine.producing.transactions import Transactions, marker_delay_s
from kafka_core.engine.retry import Action, Backoff, classify
from kafka_core.errors import KafkaError, KafkaException
from kafka_core.protocol import ZERO_UUID
from kafka_core.protocol.messages.produce import PartitionProduceResponse, ProduceResponse

UNKNOWN_OFFSET: Final = -1
NO_LOG_APPEND_TIME: Final = -1
LACKING_S: Final = 1.0
"""Seconds for which views must have lacked a partition before its records fail."""
PURGED_IN_FLIGHT: Final = "purged after it was sent: it may or may not be in the log"

_SEQUENCE_ERRORS: Final = frozenset({KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER, KafkaError.UNKNOWN_PRODUCER_ID})
_FATAL_WHEN_IDEMPOTENT: Final = frozenset(
    {KafkaError.CLUSTER_AUTHORIZATION_FAILED, KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED}
)


@dataclass(frozen=True, slots=True)
class BatcherRules:
    """The configuration that matters here.

    Attributes:
        acks: 0, 1 or -1 (all).
        retries: How often a batch is sent again.
        message_timeout_s: From a batch's first record to its verdict; infinite for none.
        max_in_flight: Requests per broker.
        max_request_bytes: Batches are added to a request up to this size; the first one always fits.
    """

    acks: int = -1
    idempotent: bool = True
    retries: int = 2**31 - 1
    message_timeout_s: float = 300.0
    max_in_flight: int = 5
    max_request_bytes: int = 1_000_000
    transactional: bool = False


@dataclass(slots=True)
class Shipment:
    """One ProduceRequest: at most one batch per partition (the protocol allows no more)."""

    node_id: int
    items: list[tuple[Lane, Delivery]]
    topic_ids: Mapping[UUID, str] = field(default_factory=dict)
    """Set by the sender when the request names topics by their ids, to read the answer."""
    taken_at_s: float = 0.0
    alone: bool = False
    """Whether nothing was in flight to that broker."""
    opens: bool = False
    """Whether its records are the first of a transaction."""


class Settled(NamedTuple):
    """The verdict on a batch.

    Attributes:
        error: None when it is delivered.
        base_offset: Of its first record; -1 when unknown (acks=0, or a duplicate the broker no longer remembers).
        log_append_time_ms: -1 unless the topic is configured for it.
    """

    batch: SealedBatch
    error: KafkaError | None = None
    base_offset: int = UNKNOWN_OFFSET
    log_append_time_ms: int = NO_LOG_APPEND_TIME


@dataclass(slots=True)
class Reaction:
    """The caller's tasks after an event.

    Attributes:
        settled: Verdicts, in order per partition.
        stale_topics: Whose leaders are not what the metadata says.
        hints: New leaders that the broker named: (topic, partition, leader id, leader epoch).
        endpoints: Addresses that came with the hints.
        fatal: The producer cannot go on.
    """

    settled: list[Settled] = field(default_factory=list)
    stale_topics: set[str] = field(default_factory=set)
    hints: list[tuple[str, int, int, int]] = field(default_factory=list)
    endpoints: list[BrokerAddress] = field(default_factory=list)
    fatal: KafkaError | None = None


class Batcher:
    """Batches of all partitions on their way to the brokers.

    Drive it: `add` what was sealed; whenever something happened, `take` per node of `nodes()` until it gives None and
    send each shipment; report its fate by `answered` or `failed`; call `expire` when `next_deadline_s` has come. Not
    thread-safe.
    """

    def __init__(self, rules: BatcherRules, backoff: Backoff) -> None:
        self.rules = rules
        self.ids = ProducerIds()
        self.transactions = Transactions(self.ids) if rules.transactional else None
        self._backoff = backoff
        self._lanes: dict[tuple[str, int], Lane] = {}
        self._queued: dict[int | None, dict[Lane, None]] = {}
        self._requests: dict[int, int] = {}
        self._windows: dict[int, Window] = {}
        self._waiting: set[Lane] = set()
        self._view = ClusterView()
        self._expire_at_s = NEVER_S
        self._opens_at_s = NEVER_S
        self._order = 0

    # ---- state

    @property
    def empty(self) -> bool:
        """Whether every batch has its verdict and every request its answer. O(partitions)."""
        return all(lane.empty for lane in self._lanes.values())

    def nodes(self) -> list[int]:
        """Brokers for which batches are queued, whether or not they may be sent now."""
        return [node_id for node_id, lanes in self._queued.items() if node_id is not None and lanes]

    def has_queued(self, node_id: int) -> bool:
        """Whether batches are queued for that broker."""
        return bool(self._queued.get(node_id))

    def leaderless_topics(self) -> set[str]:
        """Topics with queued batches for partitions whose leader is not known: metadata must be asked for."""
        lanes = self._queued.get(None)
        return {lane.topic for lane in lanes} if lanes else set()

    def requests_in_flight(self, node_id: int) -> int:
        """Shipments taken for a broker and not reported back."""
        return self._requests.get(node_id, 0)

    def lanes(self) -> Iterator[Lane]:
        """All partitions ever used, for statistics."""
        return iter(self._lanes.values())

    def in_flight(self) -> bool:
        """Whether any broker owes an answer."""
        return any(self._requests.values())

    def sequences_have_gaps(self) -> bool:
        """Whether a partition's sequence may not be where its broker's is: only a new epoch puts that right."""
        return any(lane.broken or (lane.sequence is not None and lane.sequence.gap) for lane in self._lanes.values())

    def waiting(self) -> set[tuple[str, int]]:
        """Partitions with queued batches. After everything was sent that may be, they can't send at the moment."""
        if not any(self._queued.values()):
            return set()
        return {(lane.topic, lane.partition) for lanes in self._queued.values() for lane in lanes if lane.queue}

    def is_waiting(self, key: tuple[str, int]) -> bool:
        """Whether that (topic, partition) has queued batches."""
        return bool(self._lanes[key].queue)

    def needs_identity(self) -> bool:
        """Whether batches wait for a producer id that nobody has asked for yet."""
        if self.ids.phase is not IdentityPhase.MISSING or self.ids.transactional:
            return False
        return self.rules.idempotent and any(self._queued.values())

    # ---- batches in, requests out

    def add(self, batches: Iterable[SealedBatch]) -> None:
        """Queue sealed batches, behind all earlier ones of their partitions."""
        for batch in batches:
            lane = self._lane(batch.topic, batch.partition)
            deadline_s = batch.opened_at_s + self.rules.message_timeout_s
            self._order += 1
            lane.queue.append(Delivery(batch, (self._order,), deadline_s))
            self._expire_at_s = min(self._expire_at_s, deadline_s)
            self._queued.setdefault(lane.leader, {})[lane] = None

    def at_rest(self, batch: SealedBatch, now_s: float) -> Lane | None:
        """The batch's lane, if `take_alone` may be called: nothing is queued, and nothing in flight to its broker."""
        lane = self._lanes.get((batch.topic, batch.partition))
        return lane if lane is not None and self.rests(lane, now_s) else None

    def rests(self, lane: Lane, now_s: float) -> bool:
        """Whether `take_alone` may be called for the lane's next batch."""
        if lane.leader is None or self.transactions is not None or self.ids.error is not None:
            return False
        if self._requests.get(lane.leader) or any(self._queued.values()):
            return False
        return lane.at_rest(now_s, self.ids)

    def take_alone(self, lane: Lane, batch: SealedBatch, now_s: float) -> Shipment:
        """`add` and `take` in one step, for the only batch there is (decision 0101)."""
        node_id = lane.leader
        assert node_id is not None
        deadline_s = batch.opened_at_s + self.rules.message_timeout_s
        if deadline_s < self._expire_at_s:
            self._expire_at_s = deadline_s
        self._order += 1
        delivery = Delivery(batch, (self._order,), deadline_s)
        lane.send_alone(delivery, node_id)
        self._requests[node_id] = 1
        return Shipment(node_id, [(lane, delivery)], {}, now_s, True)

    def wrote_alone(self, lane: Lane, batch: SealedBatch, took_s: float) -> None:
        """`take_alone`, and `answered` after so many seconds, in one step, for a batch that is written."""
        assert lane.leader is not None
        self._expire_at_s = min(self._expire_at_s, batch.opened_at_s + self.rules.message_timeout_s)
        self._order += 1
        self._requests[lane.leader] = 0
        self._window(lane.leader).answered(took_s, alone=True)
        lane.wrote_alone(batch.count)

    def take(self, node_id: int, now_s: float) -> Shipment | None:
        """The next request for a broker, None when there is nothing that may be sent to it now.

        Partitions take turns. The batches count as in flight from here on. A lane's only batch, which is not full as a
        rule, waits while as much is in flight as makes sense (`pacing`); meanwhile its next records collect.
        """
        lanes = self._queued.get(node_id)
        in_flight = self._requests.get(node_id, 0)
        if not lanes or in_flight >= self.rules.max_in_flight:
            return None
        if in_flight >= self._window(node_id).size and all(len(lane.queue) <= 1 for lane in lanes):
            return None
        transactions = self.transactions
        if transactions is not None and transactions.opens_at_s > now_s:
            self._opens_at_s = transactions.opens_at_s
            return None
        opens = transactions is not None and not transactions.touched
        items: list[tuple[Lane, Delivery]] = []
        left_bytes = self.rules.max_request_bytes
        for lane in list(lanes):
            if not lane.may_send(now_s, self.ids):
                if not lane.queue:
                    del lanes[lane]
                continue
            if transactions is not None and not transactions.admits(lane.topic, lane.partition):
                continue
            size_bytes = lane.queue[0].batch.size_bytes
            if items and size_bytes > left_bytes:
                break
            left_bytes -= size_bytes
            items.append((lane, lane.send(node_id)))
            del lanes[lane]
            if lane.queue:
                lanes[lane] = None
        if not items:
            return None
        self._requests[node_id] = in_flight + 1
        return Shipment(node_id, items, taken_at_s=now_s, alone=not in_flight, opens=opens)

    def _window(self, node_id: int) -> Window:
        if node_id not in self._windows:
            self._windows[node_id] = Window(self.rules.max_in_flight)
        return self._windows[node_id]

    def use_view(self, view: ClusterView) -> None:
        """There is new metadata: send to the leaders it names."""
        self._view = view
        for lane in self._lanes.values():
            leader = view.leader(lane.topic, lane.partition)
            if leader is not None and leader not in view.brokers:
                leader = None
            topic_id = view.topic_id(lane.topic)
            if topic_id not in (ZERO_UUID, lane.topic_id):
                lane.change_topic(topic_id)
            if leader != lane.leader:
                self._move(lane, leader)

    def fail_lacking(self, now_s: float) -> Reaction:
        """Fails records for partitions that their topic, made anew with fewer of them, lacks.

        Call it after `use_view`. Two views must say so: one may come from a broker that lags behind.
        """
        reaction = Reaction()
        for lane in self._lanes.values():
            count = self._view.partition_count(lane.topic)
            if not lane.made_anew or count is None or lane.partition < count:
                lane.lacking_since_s = None
            elif lane.lacking_since_s is None:
                lane.lacking_since_s = now_s
            elif now_s - lane.lacking_since_s >= LACKING_S:
                text = f"{lane.topic} was deleted and created again with {count} partitions, without {lane.partition}"
                error = KafkaError(KafkaError._UNKNOWN_PARTITION, text)
                self._purge_lane(lane, error, error, reaction)
                self._queued.get(lane.leader, {}).pop(lane, None)
        return reaction

    # ---- what became of a request

    def answered(self, shipment: Shipment, response: ProduceResponse, now_s: float) -> Reaction:
        """The broker's answer; with acks=0 an empty one: sent is as good as it gets."""
        reaction = Reaction()
        self._requests[shipment.node_id] -= 1
        self._window(shipment.node_id).answered(now_s - shipment.taken_at_s, alone=shipment.alone)
        if shipment.opens and self.transactions is not None:
            self.transactions.pause.answered(now_s - shipment.taken_at_s)
        if len(shipment.items) == 1 and self._all_is_written(shipment, response, reaction):
            return reaction
        answers = self._answers(shipment, response)
        for endpoint in response.node_endpoints:
            address = BrokerAddress(endpoint.node_id, endpoint.host, endpoint.port, endpoint.rack)
            reaction.endpoints.append(address)
        for lane, delivery in shipment.items:
            answer = answers.get((lane.topic, lane.partition))
            lane.landed(delivery)
            if self.rules.acks == 0:
                self._delivered(lane, delivery, None, reaction)
            elif answer is None:
                text = f"the broker's answer lacks {lane.topic}[{lane.partition}]"
                self._unsure(lane, delivery, KafkaError(KafkaError._BAD_MSG, text, retriable=True), now_s, reaction)
            elif answer.error_code == KafkaError.NO_ERROR:
                self._delivered(lane, delivery, answer, reaction)
            else:
                self._judge(lane, delivery, answer, shipment.node_id, now_s, reaction)
        return reaction

    def _all_is_written(self, shipment: Shipment, response: ProduceResponse, reaction: Reaction) -> bool:
        """The short way of an answer that only says that the only batch is written; False for any other."""
        if len(response.responses) != 1 or response.node_endpoints or not self.rules.acks:
            return False
        topic, (lane, delivery) = response.responses[0], shipment.items[0]
        if len(topic.partition_responses) != 1:
            return False
        answer = topic.partition_responses[0]
        name = topic.name or shipment.topic_ids.get(topic.topic_id)
        if answer.error_code or answer.index != lane.partition or name != lane.topic:
            return False
        lane.landed(delivery)
        self._delivered(lane, delivery, answer, reaction)
        return True

    def failed(self, shipment: Shipment, error: KafkaException, now_s: float) -> Reaction:
        """There is no answer: the connection broke, or the request could not be sent. Its batches are sent again."""
        reaction = Reaction()
        self._requests[shipment.node_id] -= 1
        for lane, delivery in shipment.items:
            lane.landed(delivery)
            if classify(error).tries_again:
                self._unsure(lane, delivery, error.error, now_s, reaction)
            else:
                self._report(delivery, error.error, reaction)
                self._requeue_lane(lane)
        return reaction

    def _answers(
        self, shipment: Shipment, response: ProduceResponse
    ) -> dict[tuple[str, int], PartitionProduceResponse]:
        return {
            (topic.name or shipment.topic_ids.get(topic.topic_id, ""), answer.index): answer
            for topic in response.responses
            for answer in topic.partition_responses
        }

    def _judge(
        self,
        lane: Lane,
        delivery: Delivery,
        answer: PartitionProduceResponse,
        node_id: int,
        now_s: float,
        reaction: Reaction,
    ) -> None:
        code = answer.error_code
        if code == KafkaError.DUPLICATE_SEQUENCE_NUMBER:
            self._delivered(lane, delivery, answer, reaction)
            return
        error = KafkaError.from_code(code, answer.error_message)
        action = Action.FATAL if self._is_fatal(code) else classify(code)
        if code == KafkaError.MSG_SIZE_TOO_LARGE and delivery.batch.count > 1 and not delivery.reported:
            self._split(lane, delivery)
        elif code in _SEQUENCE_ERRORS and not (self.transactions is not None and lane.is_first(delivery)):
            lane.disputed(delivery)
            self._again(lane, delivery, error, now_s, reaction)
        elif action in (Action.RETRY, Action.REFRESH_AND_RETRY, Action.FIND_COORDINATOR):
            refresh = action is Action.REFRESH_AND_RETRY
            moved = refresh and lane.leader not in (None, node_id)  # it was on its way to the leader before
            hinted = self._note_hint(lane, answer, reaction)
            if refresh and not hinted and not moved:
                reaction.stale_topics.add(lane.topic)
            self._again(lane, delivery, error, now_s, reaction, at_once=hinted or moved)
        else:
            self._refuse(lane, delivery, error, reaction)
            if action is Action.FATAL and self.transactions is None:
                reaction.fatal = error

    def _is_fatal(self, code: int) -> bool:
        return self.rules.idempotent and code in _FATAL_WHEN_IDEMPOTENT

    def _note_hint(self, lane: Lane, answer: PartitionProduceResponse, reaction: Reaction) -> bool:
        hint = answer.current_leader
        known = self._view.partition(lane.topic, lane.partition)
        if hint.leader_id < 0 or (known is not None and hint.leader_epoch <= known.leader_epoch):
            return False
        reaction.hints.append((lane.topic, lane.partition, hint.leader_id, hint.leader_epoch))
        return True

    def _delivered(
        self, lane: Lane, delivery: Delivery, answer: PartitionProduceResponse | None, reaction: Reaction
    ) -> None:
        lane.succeeded(delivery)
        if delivery.reported:
            return
        if answer is None or answer.error_code:
            reaction.settled.append(Settled(delivery.batch))
        else:
            reaction.settled.append(Settled(delivery.batch, None, answer.base_offset, answer.log_append_time_ms))

    def _unsure(self, lane: Lane, delivery: Delivery, error: KafkaError, now_s: float, reaction: Reaction) -> None:
        """It may be in the log or not; sent again, only an idempotent producer does not double it then."""
        if self.rules.acks == 0:  # written to a socket that broke: nobody will ever know more
            self._report(delivery, error, reaction)
            return
        reaction.stale_topics.add(lane.topic)
        self._again(lane, delivery, error, now_s, reaction)

    def _again(
        self,
        lane: Lane,
        delivery: Delivery,
        error: KafkaError,
        now_s: float,
        reaction: Reaction,
        *,
        at_once: bool = False,
    ) -> None:
        """Queue it for another try, unless its tries or its time are used up."""
        delivery.last_error = lane.last_error = error
        if delivery.reported:
            self._requeue_lane(lane)
        elif self.transactions is not None and self.transactions.abandons_records:
            self._report(delivery, KafkaError(KafkaError._PURGE_INFLIGHT, PURGED_IN_FLIGHT), reaction)
        elif delivery.attempts > self.rules.retries:
            self._report(delivery, error, reaction)
            self._requeue_lane(lane)
        elif now_s >= delivery.deadline_s:
            self._report(delivery, self._timed_out(lane, delivery, None), reaction)
            self._requeue_lane(lane)
        else:
            lane.put_back(delivery)
            if not at_once and now_s >= lane.retry_at_s:  # batches that failed together count as one failure
                lane.retry_at_s = now_s + self._delay_s(error, lane.failures)
                lane.failures += 1
            lane.failures = max(lane.failures, 1)
            self._waiting.add(lane)
            self._requeue_lane(lane)

    def _delay_s(self, error: KafkaError, failures: int) -> float:
        if error.code() == KafkaError.CONCURRENT_TRANSACTIONS:
            return marker_delay_s(failures)
        return self._backoff.delay_s(failures)

    def _split(self, lane: Lane, delivery: Delivery) -> None:
        """Too large for the broker: two halves in its place, which share its range of sequences."""
        sequence = delivery.sequence
        for number, batch in enumerate(delivery.batch.split()):
            half = Delivery(batch, (*delivery.order, number), delivery.deadline_s)
            if delivery.identity is not None:
                half.number(delivery.identity, sequence)
                sequence = sequence_plus(sequence, batch.count)
            lane.put_back(half)
        self._requeue_lane(lane)

    def _refuse(self, lane: Lane, delivery: Delivery, error: KafkaError, reaction: Reaction) -> None:
        lane.refused(delivery, epoch_is_old=error.code() == KafkaError.INVALID_PRODUCER_EPOCH)
        self._report(delivery, error, reaction)
        self._requeue_lane(lane)

    def _report(self, delivery: Delivery, error: KafkaError, reaction: Reaction) -> None:
        if not delivery.reported:
            delivery.reported = True
            reaction.settled.append(Settled(delivery.batch, error))

    # ---- time

    def next_deadline_s(self) -> float | None:
        """The time to call `expire` and `take` again although nothing happened; may be in the past, None: never."""
        due_s = min(self._expire_at_s, self._opens_at_s)
        for lane in self._waiting:
            due_s = min(due_s, lane.retry_at_s)
        return None if due_s == NEVER_S else due_s

    def expire(self, now_s: float, cause: KafkaException | None = None) -> Reaction:
        """Fail expired batches, queued or in flight (KIP-91).

        Args:
            cause: What keeps the client from its brokers, for the text of the error.
        """
        reaction = Reaction()
        for lane in [lane for lane in self._waiting if lane.retry_at_s <= now_s]:
            self._waiting.discard(lane)
        if self._opens_at_s <= now_s:
            self._opens_at_s = NEVER_S
        if now_s < self._expire_at_s:
            return reaction
        self._expire_at_s = NEVER_S
        for lane in self._lanes.values():
            # Those in flight may be younger than a batch that was refused and waits in the queue to be sent again.
            for delivery in [item for item in lane.in_flight if not item.reported]:
                if self._is_over(delivery, now_s):
                    self._report(delivery, self._timed_out(lane, delivery, cause), reaction)
            for delivery in [item for item in lane.queue if not item.reported]:
                if not self._is_over(delivery, now_s):
                    break  # the others are younger
                lane.queue.remove(delivery)
                self._report(delivery, self._timed_out(lane, delivery, cause), reaction)
        return reaction

    def _is_over(self, delivery: Delivery, now_s: float) -> bool:
        """Whether its time is over; if not, `expire` is due when it is."""
        if delivery.deadline_s <= now_s:
            return True
        self._expire_at_s = min(self._expire_at_s, delivery.deadline_s)
        return False

    def _timed_out(self, lane: Lane, delivery: Delivery, cause: KafkaException | None) -> KafkaError:
        batch, tries = delivery.batch, delivery.attempts
        limit_s = self.rules.message_timeout_s
        text = f"Message timed out: {batch.topic}[{batch.partition}]: not delivered within {limit_s:g} s"
        if delivery.last_error is not None:
            text += f" and {tries} {'try' if tries == 1 else 'tries'}; last error: {delivery.last_error.str()}"
        elif cause is not None:
            text += f"; first cause: {cause}"
        elif tries:
            text += "; the broker has not answered"
        elif lane.last_error is not None:
            text += f"; it waited behind batches that failed: {lane.last_error.str()}"
        else:
            text += "; it was not sent yet"
        return KafkaError(KafkaError._MSG_TIMED_OUT, f"{text} (message.timeout.ms)")

    # ---- the end

    def purge(self, *, queued: bool, sent: bool) -> Reaction:
        """Give batches up, with code _PURGE_QUEUE those never sent, with _PURGE_INFLIGHT those that were.

        What was sent may be in the log all the same.
        """
        reaction = Reaction()
        in_queue = KafkaError(KafkaError._PURGE_QUEUE, "purged before it was sent")
        in_flight = KafkaError(KafkaError._PURGE_INFLIGHT, PURGED_IN_FLIGHT)
        for lane in self._lanes.values():
            self._purge_lane(lane, in_queue if queued else None, in_flight if sent else None, reaction)
        return reaction

    def purge_queues(self) -> Reaction:
        """Give up batches not in flight, as `purge` does; others wait for their broker's answer."""
        reaction = Reaction()
        in_queue = KafkaError(KafkaError._PURGE_QUEUE, "purged before it was sent")
        in_flight = KafkaError(KafkaError._PURGE_INFLIGHT, PURGED_IN_FLIGHT)
        for lane in self._lanes.values():
            self._purge_queue(lane, in_queue, in_flight, reaction)
        return reaction

    def fail_topic(self, topic: str, error: KafkaError) -> Reaction:
        """The topic is gone: all its batches get this error."""
        reaction = Reaction()
        for lane in self._lanes.values():
            if lane.topic == topic:
                self._purge_lane(lane, error, error, reaction)
        return reaction

    def fail_all(self, error: KafkaError) -> Reaction:
        """The producer cannot go on: everything gets this error."""
        reaction = Reaction()
        self.ids.fail(error)
        for lane in self._lanes.values():
            self._purge_lane(lane, error, error, reaction)
        return reaction

    def _purge_lane(self, lane: Lane, queued: KafkaError | None, sent: KafkaError | None, reaction: Reaction) -> None:
        for delivery in lane.in_flight:
            if sent is not None:
                self._report(delivery, sent, reaction)
        self._purge_queue(lane, queued, sent, reaction)

    def _purge_queue(self, lane: Lane, queued: KafkaError | None, sent: KafkaError | None, reaction: Reaction) -> None:
        for delivery in list(lane.queue):
            error = sent if delivery.started else queued
            if error is not None:
                lane.queue.remove(delivery)
                self._report(delivery, error, reaction)

    # ---- inside

    def _lane(self, topic: str, partition: int) -> Lane:
        lane = self._lanes.get((topic, partition))
        if lane is None:
            lane = self._lanes[topic, partition] = Lane(topic, partition, idempotent=self.rules.idempotent)
            leader = self._view.leader(topic, partition)
            lane.leader = leader if leader in self._view.brokers else None
            lane.topic_id = self._view.topic_id(topic)
        return lane

    def _move(self, lane: Lane, leader: int | None) -> None:
        self._queued.get(lane.leader, {}).pop(lane, None)
        lane.leader = leader
        lane.retry_at_s = 0.0
        self._requeue_lane(lane)

    def _requeue_lane(self, lane: Lane) -> None:
        if lane.queue:
            self._queued.setdefault(lane.leader, {})[lane] = None
