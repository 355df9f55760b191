"""Kafka clients that serialize and deserialize: `confluent_kafka`'s names over `kafka_core`'s clients.

Must not know how a value is made (`serdes.messages` and the serializers do). They are the clients they derive from,
with typed keys and values: `SerializingProducer[str, Order]`, `DeserializingConsumer[str, Order]`.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from kafka_core.aio.consumer import AIOConsumer
from kafka_core.aio.producer import AIOProducer
from kafka_core.errors import ConsumeError, KafkaError, KafkaException, StateError
from kafka_core.kernels import Message
from kafka_core.model import TopicPartition
from kafka_core.sync.consumer import Consumer
from kafka_core.sync.producer import Producer
from serdes.context import Headers
from serdes.errors import FieldError
from serdes.messages import Batch, Reader, TypedMessage, Writer, take_functions

if TYPE_CHECKING:
    import pyarrow

__all__ = ["AIODeserializingConsumer", "AIOSerializingProducer", "DeserializingConsumer", "SerializingProducer"]

K = TypeVar("K")
V = TypeVar("V")
DeliveryCallback = Callable[[KafkaError | None, Message], object]
SERIALIZERS = ("key.serializer", "value.serializer")
DESERIALIZERS = ("key.deserializer", "value.deserializer")
AUTO_STORE = "enable.auto.offset.store"
log = logging.getLogger("serdes")


class SerializingProducer(Producer, Generic[K, V]):
    """A `kafka_core.Producer` that takes objects.

    Args:
        conf: properties of the Producer, and `key.serializer`, `value.serializer`: `function(obj, ctx) -> bytes`;
            without one, keys (or values) are bytes or str as the Producer takes them.

    Raises:
        ConfigError: as the Producer.
        ValueError: a serializer is not callable.
    """

    def __init__(self, conf: Mapping[str, object]) -> None:
        rest, key, value = take_functions(conf, SERIALIZERS)
        self._writer = Writer(key, value)
        super().__init__(rest)

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
        written_key, written_value = self._writer.write(topic, key, value, headers)
        super().produce(
            topic,
            written_value,
            written_key,
            partition,
            on_delivery=on_delivery,
            timestamp=timestamp,
            headers=cast(Any, headers),
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
                key, value = self._writer.write(topic, message.get("key"), message.get("value"), message.get("headers"))
            except FieldError as error:
                message["_error"] = error.args[0]
            else:
                written.append({**message, "key": key, "value": value})
                sources.append(message)
        accepted = super().produce_batch(topic, written, partition, callback, on_delivery)
        for source, copy in zip(sources, written, strict=True):
            if "_error" in copy:
                source["_error"] = copy["_error"]
        return accepted


class AIOSerializingProducer(AIOProducer, Generic[K, V]):
    """A `kafka_core.aio.AIOProducer` that takes objects; see `SerializingProducer`.

    Args:
        conf: properties of the AIOProducer, and `key.serializer`, `value.serializer`: functions or coroutine functions
            `(obj, ctx) -> bytes`.

    Raises:
        ConfigError: as the AIOProducer.
        ValueError: a serializer is not callable.
    """

    def __init__(self, conf: Mapping[str, object]) -> None:
        rest, key, value = take_functions(conf, SERIALIZERS)
        self._writer = Writer(key, value)
        super().__init__(rest)

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
        written_key, written_value = await self._writer.write_async(topic, key, value, headers)
        return await super().produce(
            topic,
            written_value,
            written_key,
            partition,
            on_delivery,
            timestamp,
            cast(Any, headers),
        )

    async def produce_batch(
        self, topic: str, messages: Sequence[Mapping[str, Any]], partition: int = -1
    ) -> list[asyncio.Future[Message]]:
        """As `AIOProducer.produce_batch`, with objects as `key` and `value`.

        The future of a message that can't be serialized raises KeySerializationError or ValueSerializationError.
        """
        futures = []
        for message in messages:
            try:
                future = await self.produce(
                    topic,
                    message.get("key"),
                    message.get("value"),
                    message.get("partition", partition),
                    message.get("callback") or message.get("on_delivery"),
                    message.get("timestamp", 0),
                    message.get("headers"),
                )
            except StateError:
                raise
            except KafkaException as error:
                future = asyncio.get_running_loop().create_future()
                future.set_exception(error)
            futures.append(future)
        return futures


class DeserializingConsumer(Consumer, Generic[K, V]):
    """A `kafka_core.Consumer` that gives objects.

    A message that can't be read is raised, and the position goes back to it: the next poll raises it again, and so
    does a consumer started later, since its offset is not stored. To go on behind it:
    `consumer.seek(TopicPartition(error.topic, error.partition, error.offset + 1))`.

    With `enable.auto.offset.store` (the default) offsets are stored when messages are handed out, as they were read.

    Args:
        conf: properties of the Consumer, and `key.deserializer`, `value.deserializer`:
            `function(bytes or None, ctx) -> object`; without one, keys (or values) are bytes.

    Raises:
        ConfigError: as the Consumer.
        ValueError: a deserializer is not callable.
    """

    def __init__(self, conf: Mapping[str, object]) -> None:
        rest, key, value = take_functions(conf, DESERIALIZERS)
        self._reader = Reader(key, value)
        self._held: deque[ConsumeError] = deque()
        self._stores = _stores_itself(rest)
        super().__init__({**rest, AUTO_STORE: False})

    def poll(self, timeout: float | None = None) -> TypedMessage[K, V] | None:  # type: ignore[override]
        """The next message with its key and value deserialized, None if there was none in time.

        Raises:
            KeyDeserializationError, ValueDeserializationError: it can't be read; it comes again.
            ConsumeError: the client has something to tell, e.g. the end of a partition.
            StateError: closed, or used in a forked child.
        """
        found = self._take([message] if (message := self._next(timeout)) is not None else [])
        return found[0] if found else None

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
        return self._take(super().consume(num_messages, timeout))

    def consume_arrow(self, num_messages: int = 1, timeout: float = -1) -> pyarrow.RecordBatch:
        """As `Consumer.consume_arrow`: raw bytes in columns, nothing is deserialized."""
        batch = super().consume_arrow(num_messages, timeout)
        if self._stores:
            self._store([place for place in self.position(self.assignment()) if place.offset >= 0])
        return batch

    def __iter__(self) -> Iterator[TypedMessage[K, V]]:  # type: ignore[override]
        """Messages for ever, as `poll` gives them."""
        while True:
            message = self.poll(1.0)
            if message is not None:
                yield message

    def _next(self, timeout: float | None) -> Message | None:
        if self._held:
            raise self._held.popleft()
        return super().poll(timeout)

    def _take(self, raw: list[Message]) -> list[TypedMessage[K, V]]:
        """Reads messages, goes back to what can't be read, stores what is handed out."""
        batch = Batch()
        for message in raw:
            if batch.skips(message):
                continue
            error = message.error()
            if error is not None:
                batch.event(message, error)
                continue
            try:
                self._reader.read(message)
            except FieldError as poison:
                batch.poison(message, poison)
            else:
                batch.good(message)
        for place in batch.seeks:
            try:
                self.seek(place)
            except StateError as gone:
                log.debug("not gone back to %s: %s", place, gone)  # revoked meanwhile: its next owner sees it
        if self._stores and batch.messages:
            self._store(batch.stores)
        raised, held = batch.verdict()
        self._held.extend(held)
        if raised is not None:
            raise raised
        return cast("list[TypedMessage[K, V]]", batch.messages)

    def _store(self, places: list[TopicPartition]) -> None:
        for place in places:
            try:
                self.store_offsets(offsets=[place])
            except StateError as gone:
                log.debug("offset not stored: %s", gone)  # revoked meanwhile, as the Consumer itself would do


class AIODeserializingConsumer(AIOConsumer, Generic[K, V]):
    """A `kafka_core.aio.AIOConsumer` that gives objects; see `DeserializingConsumer`.

    Args:
        conf: properties of the AIOConsumer, and `key.deserializer`, `value.deserializer`: functions or coroutine
            functions `(bytes or None, ctx) -> object`.

    Raises:
        ConfigError: as the AIOConsumer.
        ValueError: a deserializer is not callable.
    """

    def __init__(self, conf: Mapping[str, object]) -> None:
        rest, key, value = take_functions(conf, DESERIALIZERS)
        self._reader = Reader(key, value)
        self._held: deque[ConsumeError] = deque()
        self._stores = _stores_itself(rest)
        super().__init__({**rest, AUTO_STORE: False})

    async def poll(self, timeout: float | None = None) -> TypedMessage[K, V] | None:  # type: ignore[override]
        """See `DeserializingConsumer.poll`."""
        if self._held:
            raise self._held.popleft()
        message = await super().poll(timeout)
        found = await self._take([] if message is None else [message])
        return found[0] if found else None

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
        if self._stores:
            places = await self.position(await self.assignment())
            await self._store([place for place in places if place.offset >= 0])
        return batch

    async def __aiter__(self) -> AsyncIterator[TypedMessage[K, V]]:  # type: ignore[override]
        """Messages until the consumer is closed, as `poll` gives them."""
        while True:
            try:
                message = await self.poll(-1)
            except StateError:
                return
            if message is not None:
                yield message

    async def _take(self, raw: list[Message]) -> list[TypedMessage[K, V]]:
        """Reads messages, goes back to what can't be read, stores what is handed out."""
        batch = Batch()
        for message in raw:
            if batch.skips(message):
                continue
            error = message.error()
            if error is not None:
                batch.event(message, error)
                continue
            try:
                await self._reader.read_async(message)
            except FieldError as poison:
                batch.poison(message, poison)
            else:
                batch.good(message)
        for place in batch.seeks:
            try:
                await self.seek(place)
            except StateError as gone:
                log.debug("not gone back to %s: %s", place, gone)  # revoked meanwhile: its next owner sees it
        if self._stores and batch.messages:
            await self._store(batch.stores)
        raised, held = batch.verdict()
        self._held.extend(held)
        if raised is not None:
            raise raised
        return cast("list[TypedMessage[K, V]]", batch.messages)

    async def _store(self, places: list[TopicPartition]) -> None:
        for place in places:
            try:
                await self.store_offsets(offsets=[place])
            except StateError as gone:
                log.debug("offset not stored: %s", gone)  # revoked meanwhile, as the AIOConsumer itself would do


def _stores_itself(conf: Mapping[str, object]) -> bool:
    """Whether offsets are to be stored when messages are handed out."""
    value = conf.get(AUTO_STORE, True)
    return value if isinstance(value, bool) else str(value).lower() not in ("false", "0")
