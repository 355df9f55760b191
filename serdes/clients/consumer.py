"""Kafka clients that serialize and deserialize: `confluent_kafka`'s names over `kafka_core`'s clients.

Must not know how a value is made (`serdes.clients.messages` and the serializers do). They are the clients they derive
from, with typed keys and values: `SerializingProducer[str, Order]`, `DeserializingConsumer[str, Order]`.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack
from typing import TYPE_CHECKING, Any, Generic, cast

from kafka_core.aio.consuming.consumer import AIOConsumer
from kafka_core.aio.producing.producer import AIOProducer
from kafka_core.errors import ConsumeError, KafkaError, KafkaException, StateError
from kafka_core.kernels import Message
from kafka_core.model import TopicPartition
from kafka_core.sync.consumer import Consumer
from kafka_core.sync.producer import Producer
from serdes.builders import BuiltSerdes, closing_on_error
from serdes.clients.messages import (
    Awaited,
    FieldDeserializers,
    FieldSerializers,
    TypedMessage,
    last_of_each,
    settle,
    settle_async,
    take_functions,
    taking,
)
from serdes.clients.messages import Key as K
from serdes.clients.messages import Value as V
from serdes.clients.poison import DELIVERY_S, Letter, PoisonPolicy, SentLetters
from serdes.context import Headers
from serdes.errors import FieldError
from serdes.kernels.fields import ProduceCall

if TYPE_CHECKING:
    import pyarrow

DeliveryCallback = Callable[[KafkaError | None, Message], object]
SERIALIZERS = ("key.serializer", "value.serializer")
DESERIALIZERS = ("key.deserializer", "value.deserializer")
ON_ITS_WAY = "the dead letter is still on its way"
log = logging.getLogger("serdes")


class SerializingProducer(Producer, Generic[K, V]):
    """A `kafka_core.Producer` that takes objects.

    Args:
        conf: properties of the Producer, and `key.serializer`, `value.serializer`: `function(obj, ctx) -> bytes`;
            without one, keys (or values) are bytes or str as the Producer takes them. `key.serializer.builder` and
            `value.serializer.builder` (serdes.builders) make them instead; what they make is closed with this.

    Raises:
        ConfigError: as the Producer.
        ValueError: a serializer is not callable.
    """

    def __init__(self, conf: Mapping[str, object]) -> None:
        self._built = BuiltSerdes(conf, SERIALIZERS)
        with closing_on_error(self._built):
            rest, key, value = take_functions(self._built.conf, SERIALIZERS)
            self._serializers = FieldSerializers(key, value)
            super().__init__(rest)
        self._built.tell_cluster_of(self)
        # As in `Producer`: no Python frame per record, unless a subclass has its own way or the call may wait.
        if not self._max_block_s and type(self).produce is SerializingProducer.produce:
            self.__dict__["produce"] = ProduceCall(self._serializers.writer, self._accumulator.produce)

    def close(self, timeout: float | None = None) -> bool:
        """As `Producer.close`; closes what builders made, too."""
        try:
            return super().close(timeout)
        finally:
            self._built.close()

    def produce(  # type: ignore[override]  # the reference API has the key before the value here
        self,
        topic: str,
        key: K | None = None,
        value: V | None = None,
        partition: int = -1,
        on_delivery: DeliveryCallback | None = None,
        timestamp: int = 0,
        headers: Headers | None = None,
    ) -> None:
        """Serializes and queues one record; everything else is as `Producer.produce` says.

        Args:
            topic: where to.
            key: given to the key serializer (None too).
            value: given to the value serializer (None too: most make a tombstone of it).
            partition: -1 leaves the choice to the partitioner.
            on_delivery: called with (KafkaError or None, Message) by poll() or flush(); the message holds bytes.
            timestamp: milliseconds since 1970-01-01 UTC; 0 is now.
            headers: pairs or a dict.

        Raises:
            KeySerializationError, ValueSerializationError: the object can't be serialized; nothing was queued.
            BufferError: the queue is full.
            KafkaException: the record is too large, or the partition does not exist.
        """
        written_key, written_value, sent = self._serializers.write(topic, key, value, headers)
        super().produce(
            topic,
            written_value,
            written_key,
            partition,
            None,
            on_delivery,
            timestamp,
            sent,
        )

    def produce_batch(
        self,
        topic: str,
        messages: list[dict[str, Any]],
        partition: int = -1,
        callback: DeliveryCallback | None = None,
        on_delivery: DeliveryCallback | None = None,
    ) -> int:
        """As `Producer.produce_batch`, with objects as `key` and `value`.

        A message that can't be serialized gets the error as `_error` (its code is _KEY_SERIALIZATION or
        _VALUE_SERIALIZATION) and is not queued; the others are.
        """
        written: list[dict[str, Any]] = []
        sources: list[dict[str, Any]] = []
        for message in messages:
            message.pop("_error", None)
            try:
                given = message.get("key"), message.get("value"), message.get("headers")
                key, value, headers = self._serializers.write(topic, *given)
            except FieldError as error:
                message["_error"] = error.args[0]
            else:
                written.append({**message, "key": key, "value": value, "headers": headers})
                sources.append(message)
        accepted = super().produce_batch(topic, written, partition, callback, on_delivery)
        for source, copy in zip(sources, written, strict=True):
            if "_error" in copy:
                source["_error"] = copy["_error"]
        return accepted


class AIOSerializingProducer(Awaited, AIOProducer, Generic[K, V]):
    """A `kafka_core.aio.AIOProducer` that takes objects; see `SerializingProducer`.

    `produce_batch` takes objects as `key` and `value` too: the future of a message that can't be serialized raises
    KeySerializationError or ValueSerializationError.

    Args:
        conf: properties of the AIOProducer, and `key.serializer`, `value.serializer`: functions or coroutine functions
            `(obj, ctx) -> bytes`.

    Raises:
        ConfigError: as the AIOProducer.
        ValueError: a serializer is not callable.
    """

    def __init__(self, conf: Mapping[str, object]) -> None:
        self._built = BuiltSerdes(conf, SERIALIZERS)
        with closing_on_error(self._built):
            rest, key, value = take_functions(self._built.conf, SERIALIZERS)
            self._serializers = FieldSerializers(key, value)
            super().__init__(rest)
        self._built.tell_cluster_of(self, "set_async_cluster_id_resolver")

    async def close(self, timeout: float | None = None) -> None:
        """As `AIOProducer.close`; closes what builders made, too."""
        try:
            await super().close(timeout)
        finally:
            await self._built.aclose()

    async def produce(  # type: ignore[override]  # the reference API has the key before the value here
        self,
        topic: str,
        key: K | None = None,
        value: V | None = None,
        partition: int = -1,
        on_delivery: DeliveryCallback | None = None,
        timestamp: int = 0,
        headers: Headers | None = None,
    ) -> asyncio.Future[Message]:
        """Serializes and queues one record; see `SerializingProducer.produce`.

        Records of tasks that produce at once are queued in the order in which their serializers end.

        Returns:
            A future of the delivered Message, which holds bytes; it raises KafkaException when the record failed.
        """
        written_key, written_value, sent = await self._serializers.write_async(topic, key, value, headers)
        return await super().produce(
            topic,
            written_value,
            written_key,
            partition,
            on_delivery,
            timestamp,
            sent,
        )


class _Delivery:
    """The result of a dead letter's delivery."""

    __slots__ = ("error", "told")

    def __init__(self) -> None:
        self.told = False
        self.error: KafkaError | None = None

    def report(self, error: KafkaError | None, _: Message) -> None:
        self.error, self.told = error, True


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
        self._letters: Producer | None = None
        self._sent: SentLetters[_Delivery] = SentLetters()
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
            self._letters = Producer(dict(self._policy.producer_conf or {}))
        delivery = self._sent.of(letter)
        if delivery is None:
            delivery = _Delivery()
            self._letters.produce(
                letter.topic,
                letter.value,
                letter.key,
                on_delivery=delivery.report,
                timestamp=letter.timestamp,
                headers=letter.headers,
            )
            self._sent.begun(letter, delivery)
        if not delivery.told:
            self._letters.flush(DELIVERY_S)
        if not delivery.told:
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT, ON_ITS_WAY))
        if delivery.error is not None:
            self._sent.forget(letter)
            raise KafkaException(delivery.error)

    def let_go(self, letter: Letter) -> None:
        """Ends the work on a dead letter's message."""
        self._sent.forget(letter)

    def close(self) -> None:
        """As `Consumer.close`; closes the producer of dead letters and what builders made, too, whatever fails."""
        with ExitStack() as then:
            then.callback(self._built.close)
            if self._letters is not None:
                then.callback(self._letters.close)
            super().close()


class AIODeserializingConsumer(Awaited, AIOConsumer, Generic[K, V]):
    """A `kafka_core.aio.AIOConsumer` that gives objects; see `DeserializingConsumer`.

    Args:
        conf: properties of the AIOConsumer, and `key.deserializer`, `value.deserializer`: functions or coroutine
            functions `(bytes or None, ctx) -> object`.

    Raises:
        ConfigError: as the AIOConsumer.
        ValueError: a deserializer is not callable.
    """

    def __init__(self, conf: Mapping[str, object]) -> None:
        self._built = built = BuiltSerdes(conf, DESERIALIZERS)
        with closing_on_error(built):
            rest, key, value = take_functions(built.conf, DESERIALIZERS)
            rest, self._policy = PoisonPolicy.take(rest)
        self._deserializers = FieldDeserializers(key, value)
        self._letters: AIOProducer | None = None
        self._sent: SentLetters[asyncio.Future[Message]] = SentLetters()
        self._held: deque[ConsumeError | FieldError] = deque()
        self._reader = self._deserializers.reader
        with closing_on_error(built):
            super().__init__(rest)
        built.tell_cluster_of(self, "set_async_cluster_id_resolver")
        self._stores = self._core.leave_storing()
        self._store = self._core.positions.store_behind

    async def poll(self, timeout: float | None = None) -> TypedMessage[K, V] | None:  # type: ignore[override]
        """See `DeserializingConsumer.poll`."""
        deadline = None if timeout is None or timeout < 0 else time.monotonic() + timeout
        while True:
            if self._held:
                raise self._held.popleft()
            message = await super().poll(timeout)
            found = await self._take([] if message is None else [message])
            if found or message is None:
                return found[0] if found else None
            timeout = timeout if deadline is None else max(0.0, deadline - time.monotonic())  # it was passed over

    async def consume(  # type: ignore[override]
        self, num_messages: int = 1, timeout: float = -1
    ) -> list[TypedMessage[K, V]]:
        """See `DeserializingConsumer.consume`."""
        if self._held:
            raise self._held.popleft()
        return await self._take(await super().consume(num_messages, timeout))

    async def consume_arrow(self, num_messages: int = 1, timeout: float = -1) -> pyarrow.RecordBatch:
        """As `AIOConsumer.consume_arrow`: raw bytes in columns, nothing is deserialized."""
        batch = await super().consume_arrow(num_messages, timeout)
        try:
            if self._stores:
                places = await self.position(await self.assignment())
                await self.keep([place for place in places if place.offset >= 0])
        except BaseException:
            self.hand_back(batch)
            raise
        return batch

    def __aiter__(self) -> AsyncIterator[TypedMessage[K, V]]:  # type: ignore[override]
        """Messages until the consumer is closed, as `poll` gives them."""
        return cast("AsyncIterator[TypedMessage[K, V]]", super().__aiter__())

    async def _take(self, raw: list[Message]) -> list[TypedMessage[K, V]]:
        try:
            good = self._reader.read_many_now(raw)
            if good == len(raw):  # nothing has to be awaited
                if self._stores:
                    for last in last_of_each(raw):
                        if not self._store(last):
                            log.debug("offset not stored: %s is not assigned any more", last)
                return cast("list[TypedMessage[K, V]]", raw)
            took = taking(raw, self._deserializers, self._policy, self, self._stores, good)
            batch, raised = await settle_async(took)
        except BaseException:  # cancelled, above all: the next call gives them again
            self.hand_back(raw)
            raise
        self._held.extend(event for event in batch.events if event is not raised)
        if raised is not None:
            raise raised
        return cast("list[TypedMessage[K, V]]", batch.messages)

    async def go_back(self, place: TopicPartition) -> None:
        """Sets the position; a partition that was revoked meanwhile is left to its next owner."""
        try:
            await self.seek(place)
        except StateError as gone:
            log.debug("the position was not set back to %s: %s", place, gone)

    async def keep(self, places: list[TopicPartition]) -> None:
        """Stores offsets; partitions revoked meanwhile are left out, as by the consumer itself."""
        for place in places:
            try:
                await self.store_offsets(offsets=[place])
            except StateError as gone:
                log.debug("offset not stored: %s", gone)

    async def set_aside(self, letter: Letter) -> None:
        """Delivers a dead letter, and waits for it.

        Raises:
            KafkaException: it was not delivered.
        """
        if self._letters is None:
            self._letters = AIOProducer(dict(self._policy.producer_conf or {}))
        delivery = self._sent.of(letter)
        if delivery is None:
            delivery = await self._letters.produce(
                letter.topic, letter.value, letter.key, timestamp=letter.timestamp, headers=letter.headers
            )
            delivery.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # maybe nobody waits
            self._sent.begun(letter, delivery)
        try:
            await asyncio.wait_for(asyncio.shield(delivery), DELIVERY_S)
        except TimeoutError as late:
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT, ON_ITS_WAY)) from late
        except KafkaException:
            self._sent.forget(letter)
            raise

    def let_go(self, letter: Letter) -> None:
        """Ends the work on a dead letter's message."""
        self._sent.forget(letter)

    async def close(self) -> None:
        """As `AIOConsumer.close`; closes the producer of dead letters and what builders made, too, whatever fails."""
        async with AsyncExitStack() as then:
            then.push_async_callback(self._built.aclose)
            if self._letters is not None:
                then.push_async_callback(self._letters.close)
            await super().close()
