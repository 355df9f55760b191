# Written by tools/generate_twins.py from kafka_core/aio/sharing/share_calls.py; do not edit.
"""The methods of the blocking share consumer: polls, acknowledgements, commits and callbacks.

Knows nothing of threads or of how a call waits: the shell supplies that. `tools/generate_twins.py` writes the methods
that wait from these that await.
Spec: confluent_kafka.ShareConsumer for names, arguments and errors; KIP-932, KIP-1222.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self, TypeVar

from kafka_core.aio.consuming.events import Notice
from kafka_core.aio.sharing.core import ShareCore
from kafka_core.aio.tasks.timeouts import deadline_after, limit_s
from kafka_core.engine.sharing.fetching import Delivery, Settled
from kafka_core.engine.sharing.holdings import GAP, Holdings
from kafka_core.errors import (
    ConcurrentModificationException,
    ConfigError,
    IllegalStateException,
    KafkaError,
    KafkaException,
    StateError,
)
from kafka_core.kernels import Message
from kafka_core.model import AcknowledgeType, Messages, TopicPartition, Uuid

T = TypeVar("T")
CommitCallback = Callable[[dict[TopicPartition, set[int]], KafkaException | None], object]

CLOSED = "Share consumer closed"


class ShareConsumerCalls:
    """The methods that both share consumers have; the shell of each supplies the rest, and the waiting."""

    _core: ShareCore
    _closed: bool
    _why_closed = CLOSED
    _explicit: bool
    _holdings: Holdings
    _seen: Delivery | None
    _topics: list[str]
    _callback: CommitCallback | None
    _in_callback: bool
    _untold: list[Settled]
    _notices: list[Message]
    _given: list[Message]
    _inside: dict[str, object]

    # ---- the shell

    @abstractmethod
    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine of the core on its loop."""

    @abstractmethod
    def _settled(self, result: object) -> None:
        """Awaits the result of a callback if it is awaitable."""

    @abstractmethod
    def _who(self) -> object:
        """The thread, or task, that calls."""

    @abstractmethod
    def _now_s(self) -> float:
        """Monotonic seconds."""

    @abstractmethod
    def _ended(self) -> None:
        """The core is closed: ends its loop or thread."""

    @abstractmethod
    def close(self) -> None:
        """Sends the acknowledgements, releases all other records, leaves the group."""

    @contextmanager
    def _alone(self, *, closes: bool = False) -> Iterator[None]:
        """One call at a time: refuses others meanwhile, calls of a closed consumer and calls from its callback."""
        if self._in_callback:
            raise IllegalStateException(
                "a share consumer's methods can't be called from its acknowledgement commit callback"
            )
        me = self._who()
        if self._inside.setdefault("who", me) != me:
            raise ConcurrentModificationException(
                "Share consumer is not safe for multi-threaded access: another thread or task is inside a call"
            )
        depth = self._inside.get("depth", 0)
        assert isinstance(depth, int)
        self._inside["depth"] = depth + 1
        try:
            if self._closed and not closes:
                raise IllegalStateException(self._why_closed)
            yield
        finally:
            self._inside["depth"] = depth
            if not depth:
                self._inside.clear()

    # ---- subscription

    def subscribe(self, topics: Sequence[str]) -> None:
        """Joins the share group for these topics, in the background; replaces an earlier subscription.

        Args:
            topics: names; an empty list is `unsubscribe()`.

        Raises:
            TypeError: no list of texts.
            ConfigError: a name is empty or there twice; also a ValueError.
            IllegalStateException: closed.
        """
        with self._alone():
            names = _names(topics)
            if names:
                self._run(self._core.subscribe(names))
            elif self._topics:
                self._run(self._core.unsubscribe())
            self._topics = names

    def unsubscribe(self) -> None:
        """Leaves the group, in the background; polled records can still be acknowledged."""
        with self._alone():
            if self._topics:
                self._run(self._core.unsubscribe())
            self._topics = []

    def subscription(self) -> list[str]:
        """The topics of the subscription."""
        with self._alone():
            return list(self._topics)

    # ---- records

    def poll(self, timeout: float = -1) -> Messages[Message]:
        """Records that the group gives to this member until their lock ends; runs callbacks that are due.

        In implicit mode the records of the last poll are accepted first. If this call is broken off (Ctrl-C, a
        cancellation, an exception of a callback), what it had fetched is given by the next one: nothing is accepted
        that the application has not seen.

        Args:
            timeout: seconds to wait for records; negative: no limit.

        Returns:
            Messages, empty if there were none in time. One whose `error()` is set tells of trouble; it is no record.

        Raises:
            IllegalStateException: closed, not subscribed, or (explicit mode) records of the last poll were not
                acknowledged.
        """
        seen = self._seen
        try:
            with self._alone():
                return self._poll(timeout)
        except BaseException:  # Ctrl-C on the way out: the application has not seen it
            if self._seen is not seen:
                self.hand_back()
            raise

    def _poll(self, timeout: float) -> Messages[Message]:
        self._serve()
        if not self._topics:
            raise IllegalStateException("Consumer is not subscribed to any topics")
        if not self._explicit:
            self._holdings.acknowledge_all()
        elif self._holdings.unacknowledged:
            raise IllegalStateException(
                "in explicit acknowledgement mode every record of a poll must be acknowledged before the next one"
            )
        deadline_s = deadline_after(timeout)
        while not self._notices:
            left_s = None if deadline_s is None else max(0.0, deadline_s - self._now_s())
            delivery = self._run(self._core.poll(left_s, self._seen, self._holdings.take()))
            self._serve()
            if delivery is not None:
                return self._give(delivery)
            if deadline_s is not None and self._now_s() >= deadline_s:
                break
        notices, self._notices = self._notices, []
        return Messages(notices)

    def _give(self, delivery: Delivery) -> Messages[Message]:
        """The application is about to see these records: from here on they are in its hands."""
        try:
            for origin, offsets in delivery.held:
                self._holdings.delivered(origin, offsets)
            self._seen = delivery
            self._given, self._notices = self._notices, []
            return Messages([*self._given, *delivery.messages])
        except BaseException:  # Ctrl-C at the last moment: the next poll gives them
            self._seen = None
            for origin, offsets in delivery.held:
                self._holdings.withdrawn(origin, offsets)
            raise

    def hand_back(self) -> None:
        """Takes the last poll's records back (a subclass could not finish): the next poll returns them.

        confluent_kafka has no such method.
        """
        delivery, self._seen = self._seen, None
        if delivery is not None:
            for origin, offsets in delivery.held:
                self._holdings.withdrawn(origin, offsets)
            self._notices, self._given = [*self._given, *self._notices], []

    def except_from_acceptance(self, message: Message, ack_type: AcknowledgeType) -> None:
        """In implicit mode, the next poll or commit acknowledges this record with `ack_type`, not ACCEPT.

        In explicit mode nothing: there it is the application's word. confluent_kafka has no such method.
        """
        topic, partition, offset = message.topic(), message.partition(), message.offset()
        if not self._explicit and topic is not None and partition is not None and offset is not None:
            self._holdings.acknowledge(topic, partition, offset, ack_type)

    def acknowledge(self, message: Message, ack_type: AcknowledgeType = AcknowledgeType.ACCEPT) -> None:
        """Acknowledges a record of the last poll; sent by the next poll, commit or close. The last call counts.

        Args:
            message: as poll gave it.
            ack_type: `RENEW` begins the lock anew (Kafka 4.2 or newer): the record stays in hand after a commit, and
                has to be acknowledged again before the new lock ends; polls go on meanwhile.

        Raises:
            TypeError: no Message, or no acknowledge type.
            ValueError: there is no such type, or the message has no topic, partition or offset.
            IllegalStateException: implicit mode, closed, or the record is not in this consumer's hands.
        """
        if not isinstance(message, Message):
            raise TypeError(f"expected a Message, not {type(message).__name__}")
        topic, partition, offset = message.topic(), message.partition(), message.offset()
        if topic is None:
            raise ValueError("the message has no topic")
        self.acknowledge_offset(
            topic, -1 if partition is None else partition, -1 if offset is None else offset, ack_type
        )

    def acknowledge_offset(
        self, topic: str, partition: int, offset: int, ack_type: AcknowledgeType = AcknowledgeType.ACCEPT
    ) -> None:
        """`acknowledge` for a record known only by its place."""
        with self._alone():
            if not isinstance(topic, str):
                raise TypeError(f"topic must be str, not {type(topic).__name__}")
            for name, number in (("partition", partition), ("offset", offset), ("ack_type", ack_type)):
                if not isinstance(number, int):
                    raise TypeError(f"{name} must be int, not {type(number).__name__}")
            kind = AcknowledgeType(ack_type)
            if partition < 0 or offset < 0:
                raise ValueError(f"there is no partition {partition} or offset {offset}")
            if not self._explicit:
                raise IllegalStateException(
                    "records are acknowledged by the next poll: set share.acknowledgement.mode=explicit"
                )
            try:
                self._holdings.acknowledge(topic, partition, offset, kind)
            except StateError as error:
                raise IllegalStateException(str(error)) from None

    # ---- commits

    def commit_sync(self, timeout: float = 60) -> dict[TopicPartition, KafkaException | None]:
        """Sends the acknowledgements and waits for the brokers' answers.

        In implicit mode the records of the last poll are accepted.

        Args:
            timeout: seconds; negative: no limit.

        Returns:
            Partition → None, or why its acknowledgements failed: the group gives those records out again. Empty if
            there was nothing to acknowledge.

        Raises:
            IllegalStateException: closed.
        """
        with self._alone():
            self._serve()
            if not self._explicit:
                self._holdings.acknowledge_all()
            parts = self._holdings.take()
            answers = self._run(self._core.commit(parts, limit_s(timeout))) if parts else []
            result: dict[TopicPartition, KafkaException | None] = {}
            for part, error in answers:
                key = TopicPartition(part.origin.topic, part.origin.partition)
                if result.get(key) is None:
                    result[key] = None if error is None else KafkaException(error)
            self._serve()
            return result

    def commit_async(self) -> None:
        """Sends the acknowledgements; a later call gives the brokers' answers to the callback.

        Raises:
            IllegalStateException: closed.
        """
        with self._alone():
            self._serve()
            if not self._explicit:
                self._holdings.acknowledge_all()
            parts = self._holdings.take()
            if parts:
                self._run(self._core.acknowledge(parts))

    def set_acknowledgement_commit_callback(self, callback: CommitCallback | None) -> None:
        """Has `callback(offsets, error)` called with every answer to acknowledgements, inside poll, commits and close.

        Args:
            callback: given a dict of TopicPartition → set of offsets, and a KafkaException or None. It must not call
                this consumer. None: there is no callback any more.
        """
        with self._alone():
            if callback is not None and not callable(callback):
                raise TypeError("expected a callable or None")
            self._callback = callback

    def acquisition_lock_timeout_ms(self) -> int | None:
        """The time a record is locked for this member, as the brokers last said; None before. (The Java client's.)"""
        with self._alone():
            return self._core.fetching.lock_timeout_ms

    def client_instance_id(self, timeout: float = -1) -> Uuid:
        """The id that the cluster has given this client, by which its telemetry is known there (KIP-714); waits for it.

        Java's `clientInstanceId`; confluent_kafka has nothing like it.

        Args:
            timeout: Seconds; negative for socket.timeout.ms.

        Raises:
            StateError: `enable.metrics.push` is false, or the client is closed.
            UnsupportedVersionError: The cluster takes no telemetry.
            KafkaException: The cluster refuses to give an id, or nobody answered in time.
        """
        with self._alone():
            return self._run(self._core.client.client_instance_id(timeout_s=limit_s(timeout)))

    def set_sasl_credentials(self, username: str, password: str) -> None:
        """Use these when a connection authenticates the next time (PLAIN, SCRAM); open connections stay open."""
        with self._alone():
            given: tuple[object, object] = (username, password)
            if not all(isinstance(text, str) for text in given):
                raise TypeError("username and password must be str")
            self._core.client.set_sasl_credentials(username, password)

    # ---- callbacks

    def _serve(self) -> None:
        """Runs the callbacks that are due; messages for the application wait for the next poll.

        A callback that raises leaves the others to the next call.
        """
        core = self._core
        while core.settled:
            answer = core.settled.popleft()
            self._holdings.settled(answer.acknowledged, answer.error)
            self._untold.append(answer)
        self._tell()
        while core.inbox:
            item = core.inbox.popleft()
            if isinstance(item, Notice):
                self._notices.append(item.message)
                continue
            call = core.inbox.callbacks.call_for(item)
            if call is not None:
                self._settled(call[0](*call[1]))

    def _tell(self) -> None:
        """Calls the callback: once for what worked, once for each error."""
        while self._untold:
            error = self._untold[0].error
            answers = [answer for answer in self._untold if _code(answer.error) == _code(error)]
            self._untold = [answer for answer in self._untold if _code(answer.error) != _code(error)]
            found: dict[TopicPartition, set[int]] = {}
            for answer in answers:
                offsets = {offset for offset, kind in answer.acknowledged.types.items() if kind != GAP}
                if offsets:
                    origin = answer.acknowledged.origin
                    found.setdefault(TopicPartition(origin.topic, origin.partition), set()).update(offsets)
            if not found or self._callback is None:
                continue
            self._in_callback = True
            try:
                self._settled(self._callback(found, None if error is None else KafkaException(error)))
            finally:
                self._in_callback = False

    # ---- the end

    def _end(self) -> None:
        """Closes the core, then runs the callbacks that are due."""
        with self._alone(closes=True):
            try:
                self._run(self._core.close(self._holdings.take()))
            finally:
                self._closed = True
                self._ended()
            self._serve_last()

    def _serve_last(self) -> None:
        """Runs all callbacks that are due: after this call there is none; the first error is raised behind them."""
        first: Exception | None = None
        while self._core.settled or self._untold or self._core.inbox:
            try:
                self._serve()
            except Exception as error:
                first = first or error
        if first is not None:
            raise first

    def __enter__(self) -> Self:
        with self._alone():
            return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        group_id = self._core.config.text("group.id")
        return f"<{type(self).__name__} of share group {group_id!r}{', closed' if self._closed else ''}>"


def _code(error: KafkaError | None) -> int:
    return 0 if error is None else error.code()


def _names(topics: Sequence[str]) -> list[str]:
    """A user's list of topics."""
    if not isinstance(topics, (list, tuple)) or not all(isinstance(name, str) for name in topics):
        raise TypeError("expected list of topic unicode strings")
    names = [str(name) for name in topics]
    if not all(names) or len(set(names)) < len(names):
        raise ConfigError("Failed to subscribe: a topic's name is empty or there twice")
    return names
