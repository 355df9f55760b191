"""The producer on its event loop: drains the accumulator, sends shipments, settles batches. Both producers stand on it.

Must not know threads or user callbacks: verdicts and events go to its `ProducerListener`. Decisions are made in
engine/producing/batcher.py; this file only moves bytes and time.
Spec: DESIGN §3; KIP-98/360 for the producer id; KIP-951 for leader hints.
"""

import asyncio
import functools
import logging
import os
import random
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from kafka_core.aio.cluster.client import ClusterClient
from kafka_core.aio.cluster.traffic import Traffic
from kafka_core.aio.cluster.unanswered import CLUSTER_ID, METADATA, answering
from kafka_core.aio.net.answers import OnAnswer
from kafka_core.aio.net.connection import BrokerConnection
from kafka_core.aio.producing.ahead import SendingAhead
from kafka_core.aio.producing.counters import ProducerCounters
from kafka_core.aio.producing.requests import ProduceRequests
from kafka_core.aio.producing.topic_watch import TopicWatch
from kafka_core.aio.tasks.background import background
from kafka_core.clock import Clock, SystemClock
from kafka_core.config import Config
from kafka_core.engine.metadata import ClusterView
from kafka_core.engine.producing.batcher import Batcher, BatcherRules, Reaction, Settled, Shipment
from kafka_core.engine.producing.lane import NEVER_S, Lane
from kafka_core.engine.producing.sequences import ProducerIdentity
from kafka_core.engine.producing.transactions import FIRST_PROTOCOL_PRODUCE, NOT_CONFIGURED, SECOND_PROTOCOL
from kafka_core.engine.retry import Backoff, classify
from kafka_core.engine.telemetry.meters import PRODUCE_THROTTLE, QUEUE_TIME
from kafka_core.errors import (
    PRODUCER_CLOSED,
    BrokerError,
    KafkaError,
    KafkaException,
    NetworkError,
    StateError,
    UnsupportedVersionError,
)
from kafka_core.kernels import IMPL as KERNELS
from kafka_core.kernels import Accumulator
from kafka_core.model import ThrottleEvent
from kafka_core.protocol.messages.init_producer_id import InitProducerIdRequest
from kafka_core.protocol.messages.produce import ProduceRequest, ProduceResponse

if TYPE_CHECKING:
    from kafka_core.aio.producing.transactor import Transactor
    from kafka_core.listings import ClusterMetadata

logger: Final = logging.getLogger("kafka_core.producer")

_INT32_MAX: Final = 2**31 - 1

NO_TRANSACTION: Final = (
    "Unable to produce message: Local: Erroneous state: no transaction is open; call begin_transaction() (after "
    "init_transactions(), once), or abort_transaction() first if something failed"
)

HOLD_PART: Final = 0.05
"""Part of message.timeout.ms for which a batch of a partition that cannot send goes on collecting. The time of all its
records runs from the first one on, so the last one loses no more than this."""

CLOSE_SLACK_S: Final = 10.0
"""Time for the last verdicts to arrive, behind message.timeout.ms."""


class ProducerListener(Protocol):
    """A listener for the core's events; called on the loop, must be quick."""

    def on_settled(self, verdicts: Sequence[Settled]) -> None:
        """Batches have their verdict. The listener calls `accumulator.settle` when it is done with each."""
        ...

    def on_throttle(self, event: ThrottleEvent) -> None:
        """A broker asked us to slow down."""
        ...

    def on_statistics(self, text: str) -> None:
        """statistics.interval.ms has passed; JSON text."""
        ...


class ProducerCore:
    """One producer. Made anywhere; everything but `accumulator.produce` runs on one loop.

    Args:
        config: Parsed for the producer role.
        listener: Told of verdicts, throttling and statistics.
        wake: Called by `produce` on the caller's thread when the loop has work: must have `drain` called on the loop.
        lock: Guards the accumulator against several threads; None when only the loop's thread produces.
        on_alone: The listener's `on_settled` for a record on its own: lets the thread that waits for it go before the
            loop. With it `produce` may send a record itself (`ahead.py`); None if it runs on the loop's thread.
        client: For tests; made from `config` otherwise.

    Raises:
        ConfigError: as `ClusterClient`.
    """

    def __init__(
        self,
        config: Config,
        listener: ProducerListener,
        *,
        wake: Callable[[], object],
        lock: Any = None,
        on_alone: Callable[[Settled], object] | None = None,
        client: ClusterClient | None = None,
        clock: Clock | None = None,
        rng: random.Random | None = None,
    ) -> None:
        self.config = config
        self._listener = listener
        self._clock = clock or SystemClock()
        self._rng = rng or random.SystemRandom()
        hooks = config.hooks()
        self._traffic = Traffic(self._clock)
        self._counts_times = config.callback("stats_cb") is not None
        if self._counts_times:
            hooks = hooks.plus(self._traffic)
        self.client = client or ClusterClient(config, clock=self._clock, rng=self._rng, hooks=hooks)
        self._backoff = Backoff(config.integer("retry.backoff.ms"), config.integer("retry.backoff.max.ms"), self._rng)
        self._linger_s = config.seconds("linger.ms")
        self._rules = batcher_rules(config)
        self.batcher = Batcher(self._rules, self._backoff)
        self.accumulator = make_accumulator(config, wake, lock, self._rng)
        self._requests = ProduceRequests(config)
        self._on_alone = on_alone or self._settled_alone
        self._ahead = SendingAhead(self.accumulator, self.batcher, self._requests, self, self._on_alone)
        self._sends_ahead = on_alone is not None and not self._linger_s and KERNELS == "native"
        self._meters = self.client.meters
        self._transactor = self._make_transactor(config)
        self._hooks = hooks
        self.counters = ProducerCounters()
        self._topics: dict[str, int] = {}
        self._watch = TopicWatch(
            self.client,
            self._clock,
            self._backoff,
            patience_s=config.seconds("topic.metadata.propagation.max.ms"),
            limit_s=self._rules.message_timeout_s,
            on_found=self._topic_found,
            on_missing=self._topic_missing,
        )
        self._connections: dict[int, BrokerConnection] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._connecting: set[int] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at_s = NEVER_S
        self._linger_at_s: float | None = None
        self._hold_s = HOLD_PART * self._rules.message_timeout_s
        self._held: set[tuple[str, int]] = set()
        self._draining_again = False
        self._flushes: set[object] = set()
        self._started_at_s = self._clock.monotonic()
        self._running = False
        self._closed = False

    def _make_transactor(self, config: Config) -> "Transactor | None":
        transactional_id, transactions = config.optional_text("transactional.id"), self.batcher.transactions
        if transactional_id is None or transactions is None:
            return None
        from kafka_core.aio.producing.transactor import Transactor  # with requests that few producers make

        self.accumulator.closed_reason = NO_TRANSACTION
        limit_ms = config.integer("transaction.timeout.ms")
        return Transactor(transactional_id, limit_ms, transactions, self.client, self._clock, self._backoff, self)

    # ---- life

    @property
    def running(self) -> bool:
        """Whether it was started; also true once it is closed."""
        return self._running

    async def start(self) -> None:
        """Begin: background metadata, statistics. May be called again."""
        if self._running or self._closed:
            return
        self._running = True
        self._loop = asyncio.get_running_loop()
        self.client.on_metadata(self._use_view)
        await self.client.start()
        interval_s = self.config.seconds("statistics.interval.ms")
        if interval_s:
            self._run(self._tell_statistics(interval_s))
        self.drain()

    async def close(self, timeout_s: float = 5.0) -> None:
        """Stop. What is not settled is given up with _PURGE_QUEUE or _PURGE_INFLIGHT. Takes at most `timeout_s`.

        An open transaction is aborted, so that nobody has to wait until its time is over.
        """
        if self._closed:
            return
        if self._transactor is not None and self._running:
            began_s = self._clock.monotonic()
            await self._transactor.abort_open(timeout_s / 2)
            timeout_s -= self._clock.monotonic() - began_s
        self.purge(in_queue=True, in_flight=True)
        self._closed = True
        self._watch.stop()
        self._ahead.stop()
        if self._timer is not None:
            self._timer.cancel()
        for task in list(self._tasks):
            task.cancel()
        if self._transactor is not None:
            self._transactor.close()
        await self.client.close(timeout_s)

    # ---- what the faces ask for

    def begin_flush(self, flush: object) -> None:
        """Batches are not held back for linger.ms until `end_flush` of the same; flushes may overlap."""
        self._flushes.add(flush)
        if not self._running:  # the first record's wake was interrupted
            self._run(self.start())
        self.drain()

    def end_flush(self, flush: object) -> None:
        """Notes that a flush is over, or has not begun: its caller may have been interrupted before."""
        self._flushes.discard(flush)

    def purge(self, *, in_queue: bool, in_flight: bool) -> None:
        """Give records up, those not sent yet and those sent; their verdicts are _PURGE_QUEUE and _PURGE_INFLIGHT."""
        self._ahead.take_back()
        if in_queue:
            self._empty_accumulator(KafkaError(KafkaError._PURGE_QUEUE, "purged before its topic was found"))
        self._react(self.batcher.purge(queued=in_queue, sent=in_flight))

    async def list_topics(self, topic: str | None, timeout_s: float | None) -> "ClusterMetadata":
        """Metadata of one topic, or all; raises as `ClusterClient.refresh_metadata`."""
        from kafka_core.engine.cluster_metadata import cluster_metadata  # few producers list topics

        with answering(METADATA, KafkaError._TRANSPORT):
            view = await self.client.refresh_metadata(None if topic is None else [topic], timeout_s=timeout_s)
        return cluster_metadata(view, topic)

    async def cluster_id(self, timeout_s: float | None) -> str | None:
        """The cluster's id, asked for if it is not known yet."""
        if self.client.metadata.cluster_id is None:
            with answering(CLUSTER_ID):
                await self.client.refresh_metadata((), timeout_s=timeout_s)
        return self.client.metadata.cluster_id

    def set_sasl_credentials(self, username: str, password: str) -> None:
        """See `ClusterClient.set_sasl_credentials`."""
        self.client.set_sasl_credentials(username, password)

    def statistics(self) -> str:
        """The statistics of now, as JSON text."""
        from kafka_core.aio.producing.statistics import StatsFacts, statistics_json  # few producers are asked for them

        accumulator = self.accumulator
        client_id = self.config.optional_text("client.id") or ""
        facts = StatsFacts(
            name=f"{client_id or 'kserdes'}#producer-{id(self):x}",
            client_id=client_id,
            clock=self._clock,
            started_at_s=self._started_at_s,
            queued_records=accumulator.queued_records,
            queued_bytes=accumulator.queued_bytes,
            max_queue_records=self.config.integer("queue.buffering.max.messages"),
            max_queue_bytes=self.config.integer("queue.buffering.max.kbytes") * 1024,
        )
        return statistics_json(facts, self.counters, self._traffic, self.batcher, self.client)

    # ---- transactions

    @property
    def transactor(self) -> "Transactor":
        """The transactions.

        Raises:
            KafkaException: _NOT_CONFIGURED: transactional.id is not set.
            StateError: closed.
        """
        if self._transactor is None:
            if self.accumulator.closed_reason == PRODUCER_CLOSED:
                raise StateError(PRODUCER_CLOSED)
            raise KafkaException(KafkaError(KafkaError._NOT_CONFIGURED, NOT_CONFIGURED))
        return self._transactor

    def send_waiting(self) -> None:
        """See `RecordSender`."""
        self.drain()

    def give_up_waiting(self) -> None:
        """See `RecordSender`."""
        self._ahead.take_back()
        self._empty_accumulator(KafkaError(KafkaError._PURGE_QUEUE, "purged before its topic was found"))
        self._react(self.batcher.purge_queues())

    def in_flight(self) -> bool:
        """See `RecordSender`."""
        return self.batcher.in_flight()

    def sequences_have_gaps(self) -> bool:
        """See `RecordSender`."""
        return self.batcher.sequences_have_gaps()

    def gate(self) -> None:
        """Records are taken in an open transaction only."""
        transactions, accumulator = self.batcher.transactions, self.accumulator
        if transactions is None or self._closed:
            return
        if transactions.takes_records:
            if accumulator.closed_reason == NO_TRANSACTION:
                accumulator.closed_reason = None
        elif accumulator.closed_reason is None:
            accumulator.closed_reason = NO_TRANSACTION

    def fail(self, error: KafkaError) -> None:
        """See `RecordSender`."""
        self._fail(error)

    def _note_failures(self, verdicts: Iterable[Settled]) -> bool:
        """Tells the transaction of records that failed: from then on it may only be aborted."""
        transactions = self.batcher.transactions
        if transactions is None or self._closed or transactions.abandons_records:
            return False
        for verdict in verdicts:
            if verdict.error is not None:
                batch = verdict.batch
                what = f"{batch.count} record(s) for {batch.topic}[{batch.partition}] failed"
                fatal = transactions.records_failed(batch.count, verdict.error, what)
                if fatal is not None:
                    self._fail(fatal)
        self.gate()
        return transactions.abandons_records

    # ---- the accumulator's side

    def drain(self) -> None:
        """Take what is ready out of the accumulator and send what may be sent; what `wake` must lead to."""
        if self._closed or not self._running:
            return
        self._ahead.take_back()
        for topic in self.accumulator.new_topics():
            self._watch.look_up(topic)
        batches = self._take_ready(force=bool(self._flushes) or self._sends_all())
        if len(batches) == 1 and self._send_alone(batches[0]):
            return
        if batches:
            self.batcher.add(self._with_partition(batches))
            if self.batcher.ids.error is not None:
                self._react(self.batcher.fail_all(self.batcher.ids.error))
            self._mind_leaderless()
        self._send_all()

    def _send_alone(self, batch: Any) -> bool:
        """The short way of the only batch there is: at once, if nothing stands before it and its connection is free."""
        now_s = self._clock.monotonic()
        lane = self.batcher.at_rest(batch, now_s)
        if lane is None or lane.partition >= self._topics.get(lane.topic, _INT32_MAX):
            return False
        connection = self._connections.get(lane.leader)  # type: ignore[arg-type]  # one at rest has a leader
        if connection is None or not connection.free:
            return False
        self._send(connection, self.batcher.take_alone(lane, batch, now_s))
        self._arm_timer()
        return True

    def _sends_all(self) -> bool:
        """Whether a commit waits for the records."""
        return self.batcher.transactions is not None and self.batcher.transactions.sends_all

    def _with_partition(self, batches: list[Any]) -> list[Any]:
        """Those whose partition exists; records that named another one before the topic was known fail here."""
        topics = self._topics
        lost = [batch for batch in batches if batch.partition >= topics.get(batch.topic, _INT32_MAX)]
        for batch in lost:
            text = f"{batch.topic} has {self._topics[batch.topic]} partitions, there is no number {batch.partition}"
            self._react(Reaction(settled=[Settled(batch, KafkaError(KafkaError._UNKNOWN_PARTITION, text))]))
        return [batch for batch in batches if batch not in lost] if lost else batches

    def _take_ready(self, *, force: bool) -> list[Any]:
        """The batches that are full or have lingered. A partition with batches that can't be sent yet goes on filling
        its open one: a backlog must be a few large batches, not one per linger.ms."""
        self._held = self.batcher.waiting()
        now_s = self._clock.monotonic()
        batches, self._linger_at_s = self.accumulator.take_ready(
            now_s, self._linger_s, force, self._held or None, self._hold_s
        )
        return batches

    def _look_again(self) -> None:
        """Takes the open batch that was held back once its partition can send again."""
        if not self._held or self._draining_again or self._closed:
            return
        if any(not self.batcher.is_waiting(key) for key in self._held):
            self._draining_again = True
            self._loop.call_soon(self._drain_again)

    def _drain_again(self) -> None:
        self._draining_again = False
        self.drain()

    def _empty_accumulator(self, error: KafkaError) -> None:
        """Moves all records to the batcher; those that wait for their topic fail with the error at once."""
        batches = self.accumulator.purge()
        self.batcher.add(batch for batch in batches if batch.partition >= 0)
        self._react(Reaction(settled=[Settled(batch, error) for batch in batches if batch.partition < 0]))

    def _topic_found(self, topic: str, count: int) -> None:
        self._set_count(topic, count)
        self.client.track_topics(self._topics)
        self.drain()

    def _topic_missing(self, topic: str, error: KafkaError) -> None:
        self._ahead.take_back()
        self._fail_waiting(topic, error)
        self._react(self.batcher.fail_topic(topic, error))

    def _fail_waiting(self, topic: str, error: KafkaError) -> None:
        batch = self.accumulator.fail_topic(topic)
        if batch is not None:
            self._react(Reaction(settled=[Settled(batch, error)]))

    def _set_count(self, topic: str, count: int) -> None:
        if self._topics.get(topic) != count:
            try:
                self.accumulator.set_partition_count(topic, count)
            except MemoryError:
                logger.error("no memory for the batches of %s; its records wait", topic)
                self._loop.call_later(self._backoff.delay_s(3), self._watch.look_up, topic)
            else:
                self._topics[topic] = count

    def _use_view(self, view: ClusterView) -> None:
        """There is new metadata: more partitions, other leaders, topics that are gone."""
        self._ahead.take_back()
        for topic in self._topics:
            count = view.partition_count(topic)
            if count is not None:
                self._set_count(topic, count)
        self.batcher.use_view(view)
        self._react(self.batcher.fail_lacking(self._clock.monotonic()))
        self._mind_leaderless()
        self.drain()

    def _mind_leaderless(self) -> None:
        """Requests metadata for partitions without a leader. Records of a deleted topic fail after a grace period."""
        for topic in self.batcher.leaderless_topics():
            if self.client.metadata.partition_count(topic) is None:
                self._watch.look_up(topic)
            else:
                self.client.invalidate(topic)

    # ---- sending

    def _send_all(self) -> None:
        if self.batcher.needs_identity():
            self.batcher.ids.requested()
            self._run(self._get_identity())
        for node_id in self.batcher.nodes():
            self._send_to(node_id)
        self._arm_timer()

    def _send_to(self, node_id: int) -> None:
        """Sends what may go to that broker now; if its connection is not ready, makes it ready first."""
        if not self._closed:
            self._ahead.take_back()
            self._ship(node_id)
            self._look_again()
            if self._transactor is not None:
                self._transactor.look()

    def _ship(self, node_id: int) -> None:
        connection = self._connections.get(node_id)
        while self.batcher.has_queued(node_id):
            if connection is None or not (connection.usable and connection.writable):
                self._make_ready(node_id)
                return
            shipment = self.batcher.take(node_id, self._clock.monotonic())
            if shipment is None:
                return
            self._send(connection, shipment)

    def _make_ready(self, node_id: int) -> None:
        if node_id not in self._connecting:
            self._connecting.add(node_id)
            self._run(self._connect(node_id))

    async def _connect(self, node_id: int) -> None:
        """Make the connection ready: connected, handshake done, room in the socket, no throttling. Then send."""
        attempt = 0
        try:
            while node_id in self.batcher.nodes():
                try:
                    connection = await self.client.connection(node_id)
                    await connection.drain()
                except KafkaException as error:
                    logger.debug("broker %d cannot be produced to now: %s", node_id, error)
                    self.client.invalidate()
                    await asyncio.sleep(self._backoff.delay_s(attempt))
                    attempt += 1
                else:
                    self._connections[node_id] = connection
                    self._loop.call_soon(self._send_to, node_id)  # when this node no longer counts as connecting
                    break
        finally:
            self._connecting.discard(node_id)

    def _send(self, connection: BrokerConnection, shipment: Shipment) -> None:
        sent_at_s = self._clock.monotonic()
        try:
            newest = self._newest_produce(connection)
            request, version = self._requests.build(shipment, newest, self.client.metadata)
            answered = functools.partial(self._answered, shipment)
            connection.ask(request, answered, version=version)
        except Exception as error:  # also what is not ours, as a codec that fails: a batch never waits for ever
            self._react(self.batcher.failed(shipment, _as_ours(error), sent_at_s))
            return
        if self._counts_times or self._meters.active:
            self._time_queue(shipment, sent_at_s, self._clock.monotonic() - sent_at_s)

    def _time_queue(self, shipment: Shipment, sent_at_s: float, written_s: float) -> None:
        if self._meters.active:
            for _, delivery in shipment.items:
                self._meters.record(QUEUE_TIME, (sent_at_s - delivery.batch.opened_at_s) * 1000)
        if self._counts_times:
            for _, delivery in shipment.items:
                self._traffic.batch_taken(shipment.node_id, sent_at_s - delivery.batch.opened_at_s)
            self._traffic.request_written(shipment.node_id, written_s)

    def _newest_produce(self, connection: BrokerConnection) -> int:
        newest = connection.version_of(ProduceRequest)
        transactions = self.batcher.transactions
        if transactions is not None and transactions.protocol < SECOND_PROTOCOL:
            return min(newest, FIRST_PROTOCOL_PRODUCE)
        return newest

    def _answered(self, shipment: Shipment, response: ProduceResponse | None, error: KafkaException | None) -> None:
        self._ahead.take_back()
        now_s = self._clock.monotonic()
        node_id = shipment.node_id
        if response is None:
            reaction = self.batcher.failed(shipment, error or NetworkError("no answer"), now_s)
            self._react(reaction)
        else:
            reaction = self.batcher.answered(shipment, response, now_s)
            if self._sends_ahead and len(shipment.items) == 1:
                self._offer(shipment.items[0][0])
            self._react(reaction)  # waiters for the record wake up meanwhile
            self._note_answer(shipment, response, reaction)
        if self._transactor is not None:
            self._send_to(node_id)
            self._transactor.landed()
        elif self._held or self.batcher.has_queued(node_id):
            self._send_to(node_id)
        self._arm_timer()

    # ---- records that produce() sends itself

    def _offer(self, lane: Lane) -> None:
        """Prepares the lane's next request, if nothing is on its way."""
        if self._closed or not self.batcher.rests(lane, self._clock.monotonic()):
            return
        connection = self._connections.get(lane.leader)  # type: ignore[arg-type]  # one at rest has a leader
        if connection is None or lane.partition >= self._topics.get(lane.topic, _INT32_MAX):
            return
        start = self._requests.start(lane, self._newest_produce(connection), self.client.metadata)
        if start is not None:
            self._ahead.offer(lane, connection, start)

    def sent_ahead(self, shipment: Shipment) -> OnAnswer:
        """See `Sender`."""
        self._time_queue(shipment, shipment.taken_at_s, 0.0)  # `produce` wrote it at once
        self._arm_timer()
        return functools.partial(self._answered, shipment)

    def watched(self) -> bool:
        """See `Sender`."""
        return self._meters.active or self._hooks.wants("on_batch_sent")

    def count_written(self, verdict: Settled) -> None:
        """See `Sender`."""
        self._count((verdict,))

    def _note_answer(self, shipment: Shipment, response: ProduceResponse, reaction: Reaction) -> None:
        """For hooks, telemetry and throttle_cb."""
        if self._hooks.wants("on_batch_sent"):
            self._tell_hooks(shipment, reaction)
        if self._meters.active:
            self._meters.record(PRODUCE_THROTTLE, response.throttle_time_ms)
        if response.throttle_time_ms > 0:
            self._throttled(shipment.node_id, response.throttle_time_ms / 1000)

    # ---- verdicts

    def _react(self, reaction: Reaction) -> None:
        if reaction.settled:
            transaction_failed = self._transactor is not None and self._note_failures(reaction.settled)
            if len(reaction.settled) == 1 and reaction.settled[0].batch.count == 1:
                self._on_alone(reaction.settled[0])
            else:
                self._listener.on_settled(reaction.settled)
            self._count(reaction.settled)
            if transaction_failed:
                self.give_up_waiting()
        if self._closed:
            return
        if reaction.hints:
            self.client.hint_leaders(reaction.hints, reaction.endpoints)
        for topic in reaction.stale_topics:
            self.client.invalidate(topic)
        if reaction.fatal is not None:
            self._fail(reaction.fatal)

    def _settled_alone(self, verdict: Settled) -> None:
        self._listener.on_settled((verdict,))

    def _fail(self, error: KafkaError) -> None:
        """Ends the producer after a fatal error: it takes no further record, and all others get this error."""
        self._ahead.take_back()
        fatal = KafkaError(error.code(), error.str(), fatal=True)
        logger.error("this producer cannot go on: %s", error.str())
        self.accumulator.closed_reason = f"the producer has failed for good: {error.str()}"
        self._empty_accumulator(fatal)
        self._react(self.batcher.fail_all(fatal))

    def _count(self, verdicts: Iterable[Settled]) -> None:
        for verdict in verdicts:
            batch = verdict.batch
            counted = self.counters.partition(batch.topic, batch.partition)
            if verdict.error is None:
                counted.records += batch.count
                counted.record_bytes += batch.size_bytes
            else:
                counted.errors += batch.count

    def _tell_hooks(self, shipment: Shipment, reaction: Reaction) -> None:
        delivered = {id(verdict.batch) for verdict in reaction.settled if verdict.error is None}
        for lane, delivery in shipment.items:
            batch = delivery.batch
            if id(batch) in delivered:
                wire_bytes = len(delivery.encoded or b"")
                self._hooks.on_batch_sent(
                    shipment.node_id, lane.topic, lane.partition, batch.count, batch.size_bytes, wire_bytes
                )

    def _throttled(self, node_id: int, throttle_s: float) -> None:
        broker = self.client.metadata.brokers.get(node_id)
        name = f"{broker.host}:{broker.port}" if broker is not None else str(node_id)
        self._listener.on_throttle(ThrottleEvent(name, node_id, throttle_s))

    # ---- the producer id

    async def _get_identity(self) -> None:
        """Ask for a producer id until there is one; without it nothing idempotent can be sent."""
        attempt = 0
        while True:
            error = await self._ask_identity()
            if error is None:
                break
            if not classify(error).tries_again:
                self._fail(_identity_refused(error))
                return
            logger.debug("no producer id yet: %s", error)
            await asyncio.sleep(self._backoff.delay_s(attempt))
            attempt += 1
        self._send_all()

    async def _ask_identity(self) -> KafkaException | None:
        try:
            response = await self.client.send_any(InitProducerIdRequest(None, _INT32_MAX))
        except UnsupportedVersionError as error:
            return error
        except KafkaException as error:  # no broker, or a wrong password: batches wait until their time is over
            return NetworkError(str(error), KafkaError._TRANSPORT)
        if response.error_code:
            return BrokerError(response.error_code)
        self.batcher.ids.granted(ProducerIdentity(response.producer_id, response.producer_epoch))
        return None

    # ---- time

    def _arm_timer(self) -> None:
        at_s, linger_at_s = self.batcher.next_deadline_s(), self._linger_at_s
        if at_s is None or (linger_at_s is not None and linger_at_s < at_s):
            at_s = linger_at_s
        if at_s is None or at_s >= self._timer_at_s or self._closed:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at_s = at_s
        self._timer = self._loop.call_later(max(0.0, at_s - self._clock.monotonic()), self._on_timer)

    def _on_timer(self) -> None:
        self._timer, self._timer_at_s = None, NEVER_S
        self._ahead.take_back()
        self._react(self.batcher.expire(self._clock.monotonic(), self.client.last_error))
        self.drain()

    async def _tell_statistics(self, interval_s: float) -> None:
        while True:
            await asyncio.sleep(interval_s)
            self._listener.on_statistics(self.statistics())

    # ---- inside

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        task = background(work, "kafka-core-producer")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _as_ours(error: BaseException) -> KafkaException:
    if isinstance(error, KafkaException):
        return error
    logger.error("a produce request failed in an unexpected way", exc_info=error)
    return KafkaException(KafkaError(KafkaError._FAIL, f"the request failed: {error!r}"))


def _identity_refused(error: KafkaException) -> KafkaError:
    code = error.code
    text = f"no producer id: {error}"
    if code == KafkaError.CLUSTER_AUTHORIZATION_FAILED:
        text += "; allow IdempotentWrite on the cluster, or set enable.idempotence=false"
    elif isinstance(error, UnsupportedVersionError):
        text += "; set enable.idempotence=false for so old a broker"
    return KafkaError(code, text, fatal=True)


def tell_lost(accumulator: Accumulator, pid: int) -> None:
    """For a producer that is dropped, or still there at exit, without close(): nothing is sent any more."""
    accumulator.closed_reason = "the producer is gone"
    left = accumulator.queued_records
    if left and os.getpid() == pid:
        logger.warning("a producer was dropped with %d records not delivered: call flush() or close() before", left)


def close_limit_s(config: Config) -> float:
    """Seconds that close() waits for verdicts when its caller sets no limit. message.timeout.ms gives every record its
    verdict in time; if this ended at the same moment, which of the two comes first would be luck."""
    timeout_s = config.seconds("message.timeout.ms")
    return timeout_s + CLOSE_SLACK_S if timeout_s > 0 else 300.0


def batcher_rules(config: Config) -> BatcherRules:
    """The batcher's part of the configuration."""
    timeout_s = config.seconds("message.timeout.ms")
    return BatcherRules(
        acks=config.integer("acks"),
        idempotent=config.flag("enable.idempotence"),
        retries=config.integer("retries"),
        message_timeout_s=timeout_s if timeout_s > 0 else NEVER_S,
        max_in_flight=config.integer("max.in.flight.requests.per.connection"),
        max_request_bytes=config.integer("message.max.bytes"),
        transactional=config.optional_text("transactional.id") is not None,
    )


def make_accumulator(config: Config, wake: Callable[[], object], lock: Any, rng: random.Random) -> Accumulator:
    """The memory behind `produce`, as configured; 0 for queue.buffering.max.messages is no bound."""
    return Accumulator(
        batch_size_bytes=config.integer("batch.size"),
        batch_max_records=config.integer("batch.num.messages"),
        max_queue_records=config.integer("queue.buffering.max.messages") or _INT32_MAX,
        max_queue_bytes=config.integer("queue.buffering.max.kbytes") * 1024,
        max_message_bytes=config.integer("message.max.bytes"),
        partitioner=config.text("partitioner"),
        wake=wake,
        time_ms=None,
        seed=rng.getrandbits(63),
        lock=lock,
    )
