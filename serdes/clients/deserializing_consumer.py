"""The consumer that deserializes: `confluent_kafka`'s name over `kafka_core`'s consumer, with typed keys and values.

Must not know how a value is made (`serdes.clients.fields` and the deserializers do), nor which messages are handed out,
raised or set aside (`serdes.clients.messages` does).
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Generic, cast

from kafka_core.errors import ConsumeError, StateError
from kafka_core.kernels import Message
from kafka_core.model import TopicPartition
from kafka_core.sync.consumer import Consumer
from serdes.builders import BuiltSerdes, closing_on_error
from serdes.clients.fields import DESERIALIZERS, FieldDeserializers, settle, take_functions
from serdes.clients.fields import Key as K
from serdes.clients.fields import Value as V
from serdes.clients.messages import TypedMessage, last_of_each, taking
from serdes.clients.poison import Letter, PoisonPolicy
from serdes.errors import FieldError

if TYPE_CHECKING:
    import pyarrow

    from serdes.clients.dead_letters import DeadLetters

log = logging.getLogger("serdes")


class DeserializingConsumer(Consumer, Generic[K, V]):
    """A `kafka_core.Consumer` that gives objects.

    A message that can't be read is raised, and the position goes back to it: the next poll raises it again, and so
    does a consumer started later, since its offset is not stored. To go on behind it:
    `consumer.seek(TopicPartition(error.topic, error.partition, error.offset + 1))`.

    `poison.policy` `skip` goes on behind such a message and tells `on.poison` (called with the error, which holds the
    raw message); `dead.letter.topic` sets it aside there before its offset is stored: key, value and headers as they
    came, and headers `__dlq.topic`, `__dlq.partition`, `__dlq.offset`, `__dlq.error.class`, `__dlq.error.message`, …
    What can't be read only because the registry or a key service is away is raised whatever the policy is.
    A message that a rule of its schema has set aside (`onFailure` DLQ) is raised once, if the policy is to raise.

    With `enable.auto.offset.store` (the default) offsets are stored when messages are handed out, as they were read.

    Args:
        conf: properties of the Consumer, and `key.deserializer`, `value.deserializer`:
            `function(bytes or None, ctx) -> object`; without one, keys (or values) are bytes; and `poison.policy`,
            `on.poison`, `dead.letter.topic`, `dead.letter.conf` (properties of the producer of dead letters, beyond
            what it shares with the consumer).

    Raises:
        ConfigError: as the Consumer.
        ValueError: a deserializer is not callable, or a policy is not known.
    """

    def __init__(self, conf: Mapping[str, object]) -> None:
        self._built = built = BuiltSerdes(conf, DESERIALIZERS)
        with closing_on_error(built):
            rest, key, value = take_functions(built.conf, DESERIALIZERS)
            rest, self._policy = PoisonPolicy.take(rest)
        self._deserializers = FieldDeserializers(key, value)
        self._letters: DeadLetters | None = None
        self._held: deque[ConsumeError | FieldError] = deque()
        self._reader = self._deserializers.reader
        self._take_one = self._reader.take
        self._skips = self._policy.skips
        with closing_on_error(built):
            super().__init__(rest)
        self._stores = self._core.leave_storing()
        built.tell_cluster_of(self)
        self._store = self._core.positions.store_behind if self._stores else None

    def poll(self, timeout: float | None = None) -> TypedMessage[K, V] | None:  # type: ignore[override]
        """The next message with its key and value deserialized, None if there was none in time.

        Raises:
            KeyDeserializationError, ValueDeserializationError: it can't be read; it comes again.
            ConsumeError: the client has something to tell, e.g. the end of a partition.
            StateError: closed, or used in a forked child.
        """
        deadline = None  # unless messages are passed over, the first is the last, too
        if self._skips and timeout is not None and timeout >= 0:
            deadline = time.monotonic() + timeout
        while True:
            if self._held:
                raise self._held.popleft()
            message: Any = Consumer.poll(self, timeout)  # `super()` costs a tenth of all that is done here
            if message is None:
                return None
            try:
                kept = self._take_one(message, self._store)
                if kept:
                    return message  # type: ignore[no-any-return]
                if kept is not None:
                    log.debug("offset not stored: %s is not assigned any more", message)
                    return message  # type: ignore[no-any-return]
                failed = None
            except FieldError as error:
                failed = error
            except BaseException:  # Ctrl-C: the next poll gives it again
                self.hand_back([message])
                raise
            self._take([message], 0, failed)  # raises, unless it is passed over
            timeout = timeout if deadline is None else max(0.0, deadline - time.monotonic())

    def consume(  # type: ignore[override]
        self, num_messages: int = 1, timeout: float = -1
    ) -> list[TypedMessage[K, V]]:
        """Up to `num_messages` messages with keys and values deserialized.

        Messages before one that can't be read are handed out first; the call after that raises.

        Raises:
            KeyDeserializationError, ValueDeserializationError: the first message can't be read; it comes again.
            ConsumeError: the client has something to tell, e.g. the end of a partition.
            ValueError: too many messages are asked for.
            StateError: closed, or used in a forked child.
        """
        if self._held:
            raise self._held.popleft()
        raw: list[Any] = super().consume(num_messages, timeout)
        try:
            good, failed = self._reader.read_many(raw)
            if good == len(raw):
                if self._store is not None:
                    for last in last_of_each(raw):
                        if not self._store(last):
                            log.debug("offset not stored: %s is not assigned any more", last)
                return raw
        except BaseException:
            self.hand_back(raw)
            raise
        return self._take(raw, good, failed)

    def consume_arrow(self, num_messages: int = 1, timeout: float = -1) -> pyarrow.RecordBatch:
        """As `Consumer.consume_arrow`: raw bytes in columns, nothing is deserialized."""
        batch = super().consume_arrow(num_messages, timeout)
        try:
            if self._stores:
                self.keep([place for place in self.position(self.assignment()) if place.offset >= 0])
        except BaseException:
            self.hand_back(batch)
            raise
        return batch

    def __iter__(self) -> Iterator[TypedMessage[K, V]]:  # type: ignore[override]
        """Messages for ever, as `poll` gives them."""
        while True:
            message = self.poll(1.0)
            if message is not None:
                yield message

    def _take(self, raw: list[Message], good: int, failed: FieldError | None) -> list[TypedMessage[K, V]]:
        """The long way, for messages among which one can't be read or is an error of the client; see `taking`."""
        try:
            batch, raised = settle(taking(raw, self._deserializers, self._policy, self, self._stores, good, failed))
        except BaseException:
            self.hand_back(raw)
            raise
        self._held.extend(event for event in batch.events if event is not raised)
        if raised is not None:
            raise raised
        return cast("list[TypedMessage[K, V]]", batch.messages)

    def go_back(self, place: TopicPartition) -> None:
        """Sets the position; a partition that was revoked meanwhile is left to its next owner."""
        try:
            self.seek(place)
        except StateError as gone:
            log.debug("the position was not set back to %s: %s", place, gone)

    def keep(self, places: list[TopicPartition]) -> None:
        """Stores offsets; partitions revoked meanwhile are left out, as by the consumer itself."""
        for place in places:
            try:
                self.store_offsets(offsets=[place])
            except StateError as gone:
                log.debug("offset not stored: %s", gone)

    def set_aside(self, letter: Letter) -> None:
        """Delivers a dead letter, and waits for it.

        Raises:
            KafkaException: it was not delivered.
        """
        if self._letters is None:
            from serdes.clients.dead_letters import DeadLetters  # with a producer, which few consumers need

            self._letters = DeadLetters(self._policy.producer_conf or {})
        self._letters.deliver(letter)

    def let_go(self, letter: Letter) -> None:
        """Ends the work on a dead letter's message."""
        if self._letters is not None:
            self._letters.let_go(letter)

    def close(self) -> None:
        """As `Consumer.close`; closes the producer of dead letters and what builders made, too, whatever fails."""
        with ExitStack() as then:
            then.callback(self._built.close)
            if self._letters is not None:
                then.callback(self._letters.close)
            super().close()
