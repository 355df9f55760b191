"""What happens to keys and values between a Kafka client and its user: which messages are handed out, which held back.

Must not know of clients, threads or event loops: the shells in `serdes.clients` poll, seek and store. A message that
can't be read never disappears and never blocks silently: the position goes back to it, so that the next poll (or a
restart) sees it again, until somebody seeks past it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from kafka_core.errors import ConsumeError, KafkaError
from kafka_core.kernels import Message
from kafka_core.model import TopicPartition
from serdes.context import MessageField, SerializationContext
from serdes.errors import (
    FieldError,
    KeyDeserializationError,
    KeySerializationError,
    ValueDeserializationError,
    ValueSerializationError,
)

__all__ = ["Batch", "Reader", "TypedMessage", "Writer", "take_functions"]

K = TypeVar("K", covariant=True)
V = TypeVar("V", covariant=True)
Function = Callable[[Any, SerializationContext], Any]


class TypedMessage(Protocol[K, V]):
    """A `kafka_core.Message` whose key and value are of known types."""

    def key(self) -> K | None:
        """The key, None if there is none."""
        ...

    def value(self) -> V | None:
        """The value, None for a tombstone."""
        ...

    def topic(self) -> str:
        """The topic it came from."""
        ...

    def partition(self) -> int:
        """The partition it came from."""
        ...

    def offset(self) -> int:
        """Its offset there."""
        ...

    def leader_epoch(self) -> int | None:
        """The leader epoch of its batch."""
        ...

    def headers(self) -> list[tuple[str, bytes | None]] | None:
        """Its headers, None if there are none."""
        ...

    def timestamp(self) -> tuple[int, int]:
        """Type (`TIMESTAMP_…`) and milliseconds since 1970."""
        ...

    def latency(self) -> float | None:
        """Seconds it took to be produced, for delivery reports."""
        ...

    def error(self) -> KafkaError | None:
        """None: messages with errors are raised."""
        ...


def take_functions(conf: Mapping[str, object], names: tuple[str, str]) -> tuple[dict[str, object], Any, Any]:
    """Splits a configuration into what the client takes and the two functions.

    Raises:
        ValueError: one of the functions is not callable.
    """
    rest = dict(conf)
    functions: list[Any] = []
    for name in names:
        function = rest.pop(name, None)
        if function is not None and not callable(function):
            raise ValueError(f"{name} must be callable: (value, SerializationContext) -> result")
        functions.append(function)
    return rest, functions[0], functions[1]


@dataclass(frozen=True, slots=True)
class Writer:
    """Serializes keys and values; None is a function that passes bytes on."""

    key: Function | None
    value: Function | None

    def write(self, topic: str, key: Any, value: Any, headers: Any) -> tuple[Any, Any]:
        """Key and value as they are produced.

        Raises:
            KeySerializationError, ValueSerializationError: whatever the functions raised is behind them.
        """
        if self.key is not None:
            try:
                key = self.key(key, SerializationContext(topic, MessageField.KEY, headers))
            except Exception as error:
                raise KeySerializationError(error, topic) from error
        if self.value is not None:
            try:
                value = self.value(value, SerializationContext(topic, MessageField.VALUE, headers))
            except Exception as error:
                raise ValueSerializationError(error, topic) from error
        return key, value

    async def write_async(self, topic: str, key: Any, value: Any, headers: Any) -> tuple[Any, Any]:
        """As `write`; functions may be coroutine functions."""
        if self.key is not None:
            try:
                key = await settled(self.key(key, SerializationContext(topic, MessageField.KEY, headers)))
            except Exception as error:
                raise KeySerializationError(error, topic) from error
        if self.value is not None:
            try:
                value = await settled(self.value(value, SerializationContext(topic, MessageField.VALUE, headers)))
            except Exception as error:
                raise ValueSerializationError(error, topic) from error
        return key, value


@dataclass(frozen=True, slots=True)
class Reader:
    """Deserializes keys and values in their messages; None is a function that leaves bytes."""

    key: Function | None
    value: Function | None

    def read(self, message: Message) -> None:
        """Replaces key and value by what they mean; on an error the message stays as it was.

        Raises:
            KeyDeserializationError, ValueDeserializationError: they hold the raw message.
        """
        topic, headers = message.topic() or "", message.headers()
        key = value = None
        if self.key is not None:
            try:
                key = self.key(message.key(), SerializationContext(topic, MessageField.KEY, headers))
            except Exception as error:
                raise KeyDeserializationError(error, message) from error
        if self.value is not None:
            try:
                value = self.value(message.value(), SerializationContext(topic, MessageField.VALUE, headers))
            except Exception as error:
                raise ValueDeserializationError(error, message) from error
        self._set(message, key, value)

    async def read_async(self, message: Message) -> None:
        """As `read`; functions may be coroutine functions."""
        topic, headers = message.topic() or "", message.headers()
        key = value = None
        if self.key is not None:
            try:
                key = await settled(self.key(message.key(), SerializationContext(topic, MessageField.KEY, headers)))
            except Exception as error:
                raise KeyDeserializationError(error, message) from error
        if self.value is not None:
            context = SerializationContext(topic, MessageField.VALUE, headers)
            try:
                value = await settled(self.value(message.value(), context))
            except Exception as error:
                raise ValueDeserializationError(error, message) from error
        self._set(message, key, value)

    def _set(self, message: Message, key: Any, value: Any) -> None:
        if self.key is not None:
            message.set_key(key)
        if self.value is not None:
            message.set_value(value)


async def settled(result: Any) -> Any:
    """The result of a function that may be a coroutine function."""
    return await result if hasattr(result, "__await__") else result


@dataclass(slots=True)
class Batch:
    """Sorts messages that were polled together. Feed it in order: `skips`, then one of `good`, `poison`, `event`.

    Attributes:
        messages: what is handed out.
        events: messages that are errors of the client, as exceptions, in order.
        poisons: the first message of each partition that could not be read.
    """

    messages: list[Message] = field(default_factory=list)
    events: list[ConsumeError] = field(default_factory=list)
    poisons: list[FieldError] = field(default_factory=list)
    _order: list[Exception] = field(default_factory=list)
    _seeks: dict[tuple[str, int], TopicPartition] = field(default_factory=dict)
    _stores: dict[tuple[str, int], TopicPartition] = field(default_factory=dict)

    def skips(self, message: Message) -> bool:
        """Whether a message stands behind one of its partition that can't be read: it will come again."""
        return bool(self._seeks) and _place(message) in self._seeks

    def good(self, message: Message) -> None:
        """The message was read."""
        topic, partition = place = _place(message)
        self.messages.append(message)
        offset, epoch = (message.offset() or 0) + 1, message.leader_epoch()
        self._stores[place] = TopicPartition(topic, partition, offset, leader_epoch=epoch)

    def poison(self, message: Message, error: FieldError) -> None:
        """The message can't be read."""
        topic, partition = place = _place(message)
        self.poisons.append(error)
        self._order.append(error)
        self._seeks[place] = TopicPartition(topic, partition, message.offset() or 0)

    def event(self, message: Message, error: KafkaError) -> None:
        """The message is an error of the client."""
        made = ConsumeError(error, kafka_message=message)
        self.events.append(made)
        self._order.append(made)

    @property
    def seeks(self) -> list[TopicPartition]:
        """Where positions have to go back to."""
        return list(self._seeks.values())

    @property
    def stores(self) -> list[TopicPartition]:
        """The offsets behind what is handed out, to be committed some day."""
        return list(self._stores.values())

    def verdict(self) -> tuple[Exception | None, list[ConsumeError]]:
        """What is to be raised now (only if nothing is handed out), and the events to be raised later.

        A poison that is not raised now needs no keeping: it comes again.
        """
        if self.messages or not self._order:
            return None, self.events
        first = self._order[0]
        return first, [event for event in self.events if event is not first]


def _place(message: Message) -> tuple[str, int]:
    partition = message.partition()
    return message.topic() or "", -1 if partition is None else partition
