"""One partition's batches on their way: the queue, what is in flight, and when the next one may go.

Must not know bytes, requests or brokers beyond a node id; times are handed in.
Spec: the order rules in `Lane.may_send`; the Java client's RecordAccumulator and TransactionManager for idempotence.
"""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol
from uuid import UUID

from kafka_core.engine.producing.sequences import NO_SEQUENCE, PartitionSequence, ProducerIdentity, ProducerIds
from kafka_core.errors import KafkaError
from kafka_core.protocol import ZERO_UUID, Buffer

NEVER_S: Final = float("inf")


class SealedBatch(Protocol):
    """The part of `kafka_core.kernels.Batch` that the engine needs: a closed batch of one partition."""

    @property
    def topic(self) -> str:
        """The topic it goes to."""
        ...

    @property
    def partition(self) -> int:
        """The partition it goes to; -1 for records of a topic that was never found."""
        ...

    @property
    def count(self) -> int:
        """Number of records."""
        ...

    @property
    def size_bytes(self) -> int:
        """The size that counts against the memory bound."""
        ...

    @property
    def opened_at_s(self) -> float:
        """Monotonic time of its first record."""
        ...

    @property
    def has_callbacks(self) -> bool:
        """Whether any of its records wants a report."""
        ...

    def encode(
        self,
        *,
        codec_id: int = 0,
        compress: Callable[[memoryview], Buffer] | None = None,
        producer_id: int = -1,
        producer_epoch: int = -1,
        base_sequence: int = -1,
        transactional: bool = False,
    ) -> Buffer:
        """The whole v2 batch as it goes over the wire; may be called again with other ids."""
        ...

    def reports(
        self, error: KafkaError | None, base_offset: int, log_append_time_ms: int = -1, latency_s: float | None = None
    ) -> list[tuple[Callable[[KafkaError | None, Any], object] | None, Any]]:
        """(callback or None, Message) of every record, in order."""
        ...

    def split(self) -> "Sequence[SealedBatch]":
        """Two batches with its records in order; only for more than one record."""
        ...


class Delivery:
    """One batch on its way.

    Attributes:
        order: Position among all batches of its lane; never changes. Halves of a split batch append 0 and 1 to it.
        attempts: How often it was sent.
        sequence: Base sequence; NO_SEQUENCE until it is sent for the first time.
        identity: Of the producer when the sequence was given.
        deadline_s: When its time is over, monotonic.
        encoded: Its bytes, kept for a retry; None when they must be made (anew).
        reported: The application has its verdict already (timed out, purged), but the broker's answer is still due.
        last_error: Why the last try failed.
    """

    __slots__ = (
        "attempts",
        "batch",
        "deadline_s",
        "encoded",
        "identity",
        "last_error",
        "order",
        "reported",
        "sequence",
    )

    def __init__(self, batch: SealedBatch, order: tuple[int, ...], deadline_s: float) -> None:
        self.batch = batch
        self.order = order
        self.attempts = 0
        self.sequence = NO_SEQUENCE
        self.identity: ProducerIdentity | None = None
        self.deadline_s = deadline_s
        self.encoded: Buffer | None = None
        self.reported = False
        self.last_error: KafkaError | None = None

    @property
    def started(self) -> bool:
        """Whether it was sent, or has taken the sequence of one that was sent: it must go before all new ones."""
        return self.attempts > 0 or self.sequence != NO_SEQUENCE

    def number(self, identity: ProducerIdentity, sequence: int) -> None:
        """Give it (new) numbers; bytes made with other ones are dropped."""
        if (sequence, identity) != (self.sequence, self.identity):
            self.identity, self.sequence, self.encoded = identity, sequence, None


class Lane:
    """All of one partition.

    Attributes:
        leader: Node id to send to; None while unknown.
        queue: Batches to be sent, in order.
        in_flight: Batches sent and not answered, in order, those that were reported meanwhile included.
        flight_node: To whom those in flight were sent. `flight_topic_id`: the topic that they were sent to.
        topic_id: Which topic of that name is there now; the zero UUID where the brokers have no ids. `made_anew`: it is
            not the first one.
        lacking_since_s: Since when the topic made anew is known to lack this partition; None if it is not.
        failures: Failed tries since the last success; above 0 the lane sends one batch at a time.
        last_error: Why its last try failed; None after a success.
        retry_at_s: Nothing is sent before that time.
        sequence: None without idempotence.
        broken: The broker's sequence and ours have parted: a new epoch is needed before anything is sent.
    """

    __slots__ = (
        "broken",
        "failures",
        "flight_node",
        "flight_topic_id",
        "in_flight",
        "lacking_since_s",
        "last_error",
        "leader",
        "made_anew",
        "partition",
        "queue",
        "retry_at_s",
        "sequence",
        "topic",
        "topic_id",
    )

    def __init__(self, topic: str, partition: int, *, idempotent: bool) -> None:
        self.topic = topic
        self.partition = partition
        self.leader: int | None = None
        self.queue: deque[Delivery] = deque()
        self.in_flight: list[Delivery] = []
        self.flight_node: int | None = None
        self.flight_topic_id = self.topic_id = ZERO_UUID
        self.made_anew = False
        self.lacking_since_s: float | None = None
        self.failures = 0
        self.last_error: KafkaError | None = None
        self.retry_at_s = 0.0
        self.sequence = PartitionSequence() if idempotent else None
        self.broken = False

    def __repr__(self) -> str:
        return f"Lane({self.topic}[{self.partition}], {len(self.queue)} queued, {len(self.in_flight)} in flight)"

    @property
    def empty(self) -> bool:
        """Whether nothing is queued or in flight."""
        return not self.queue and not self.in_flight

    def may_send(self, now_s: float, ids: ProducerIds) -> bool:
        """Whether the first batch of the queue may be sent to the leader now.

        New batches may follow those in flight; not so when that could change the order:
          * the lane is recovering (`failures`): one at a time until one succeeds;
          * those in flight went to another broker: their fate is open until it answers (or its connection breaks);
          * those in flight went to a topic of that name that was deleted: they will be refused, and the new topic,
            which knows nothing of this producer, would take the second batch without the first;
          * idempotent: the broker has not acknowledged anything of this producer and epoch yet, so it would take the
            second batch without the first;
          * idempotent: one in flight was given up, or the sequence is broken, or the epoch has changed: only when
            nothing is in flight it is known where the sequence stands (see `_align`).
        """
        if not self.queue or now_s < self.retry_at_s:
            return False
        if self.in_flight and (self.failures or not self._same_place()):
            return False
        return self.sequence is None or self._align(self.sequence, ids)

    def at_rest(self, now_s: float, ids: ProducerIds) -> bool:
        """Whether nothing is on its way and nothing stands before a new batch: `may_send`, in the case that is the rule
        when records are sent one at a time."""
        if self.in_flight or self.queue or now_s < self.retry_at_s:
            return False
        sequence = self.sequence
        if sequence is None:
            return True
        current = ids.identity
        return current is not None and sequence.identity is current and not self.broken and not sequence.gap

    def _same_place(self) -> bool:
        """Whether the batches in flight went to the next batch's broker."""
        return self.flight_node == self.leader and self.flight_topic_id == self.topic_id

    def _align(self, sequence: PartitionSequence, ids: ProducerIds) -> bool:
        """Make the sequence fit for the next batch; False when that has to wait."""
        current = ids.identity
        if current is None:
            return False
        if self.in_flight:
            sound = sequence.known and sequence.identity == current and not self.broken
            return sound and not any(delivery.reported for delivery in self.in_flight)
        started = [delivery for delivery in self.queue if delivery.started]
        if self.broken or (sequence.gap and not started):
            if sequence.identity == current:
                current = ids.bump()
            if current is None:
                return False
            self._renumber(sequence, current, started)
        elif sequence.identity != current and not started:
            sequence.restart(current)
        return True

    def _renumber(self, sequence: PartitionSequence, identity: ProducerIdentity, started: list[Delivery]) -> None:
        """Under a new epoch the broker expects 0: what it may not have got begins there, in order (KIP-360)."""
        sequence.restart(identity)
        self.broken = False
        for delivery in started:
            delivery.number(identity, sequence.take(delivery.batch.count))

    def send(self, node_id: int) -> Delivery:
        """Take the first batch out of the queue, numbered, as one more in flight. Only after `may_send`."""
        delivery = self.queue.popleft()
        if self.sequence is not None and delivery.sequence == NO_SEQUENCE:
            assert self.sequence.identity is not None
            delivery.number(self.sequence.identity, self.sequence.take(delivery.batch.count))
        delivery.attempts += 1
        self.in_flight.append(delivery)
        self.flight_node, self.flight_topic_id = node_id, self.topic_id
        return delivery

    def send_alone(self, delivery: Delivery, node_id: int) -> None:
        """Number a batch that was never queued; it is in flight from now on. Only if the lane is `at_rest`."""
        sequence = self.sequence
        if sequence is not None:
            assert sequence.identity is not None
            delivery.number(sequence.identity, sequence.take(delivery.batch.count))
        delivery.attempts = 1
        self.in_flight.append(delivery)
        self.flight_node, self.flight_topic_id = node_id, self.topic_id

    def wrote_alone(self, count: int) -> None:
        """So many records went as `send_alone` sends a batch, and are written."""
        self.failures = 0
        self.last_error = None
        sequence = self.sequence
        if sequence is not None:
            sequence.acknowledged(sequence.take(count), count)

    def change_topic(self, topic_id: UUID) -> None:
        """The topic of that name is another one now (deleted and created again): its log knows no sequences of ours."""
        self.made_anew = self.made_anew or self.topic_id != ZERO_UUID
        self.topic_id = topic_id
        if self.sequence is not None:
            self.sequence.known = False

    def landed(self, delivery: Delivery) -> None:
        """The answer is here (or there will be none)."""
        self.in_flight.remove(delivery)

    def put_back(self, delivery: Delivery) -> None:
        """Queue a batch again, before all that came after it."""
        later = 0
        while later < len(self.queue) and self.queue[later].order < delivery.order:
            later += 1
        self.queue.insert(later, delivery)

    def is_first(self, delivery: Delivery) -> bool:
        """Whether no earlier batch is still on its way."""
        return not any(other.order < delivery.order for other in (*self.in_flight, *self.queue))

    def succeeded(self, delivery: Delivery) -> None:
        """The batch is in the log."""
        self.failures = 0
        self.last_error = None
        sequence = self.sequence
        if sequence is not None:
            sequence.acknowledged(delivery.sequence, delivery.batch.count)

    def refused(self, delivery: Delivery, *, epoch_is_old: bool = False) -> None:
        """The broker refused the batch for good.

        If it was sent only once, and nothing behind it, its sequence goes to the next batch; else the ones behind it
        have numbers that the broker will not take.

        Args:
            epoch_is_old: The broker will take nothing under this epoch.
        """
        if self.sequence is None:
            return
        if (
            epoch_is_old
            or delivery.attempts > 1
            or not self.sequence.give_back(delivery.sequence, delivery.batch.count)
        ):
            self.broken = True

    def disputed(self, delivery: Delivery) -> None:
        """The broker says that the batch is out of order.

        If an earlier one is still on its way, that was lost or refused for the moment: once it is through, this one
        is in order again. If not, broker and client disagree for good (a batch that was given up never arrived, or
        the broker lost some of its log).
        """
        if self.is_first(delivery):
            self.broken = True
