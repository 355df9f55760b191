"""(De)serializes keys and values of records, and decides which consumed messages are handed out, raised or set aside.

Must not know of clients, threads or event loops: the shells in `serdes.clients` poll, seek and store. A message that
can't be read never disappears and never blocks silently: the position goes back to it, so that the next poll (or a
restart) sees it again, until somebody seeks past it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from kafka_core.errors import ConsumeError, KafkaError, KafkaException
from kafka_core.kernels import Message
from kafka_core.model import TopicPartition
from serdes import simple
from serdes.builders import awaited, must_be_awaited
from serdes.clients.poison import Letter, PoisonPolicy
from serdes.context import MessageField, SerializationContext
from serdes.errors import (
    FieldError,
    KeyDeserializationError,
    KeySerializationError,
    ValueDeserializationError,
    ValueSerializationError,
)
from serdes.kernels.fields import ANY, KNOWN, NONE, PLAIN, TEXT, FieldReader, FieldWriter, last_of_each

__all__ = [
    "Awaited",
    "FieldDeserializers",
    "FieldSerializers",
    "Key",
    "PolledMessages",
    "TypedMessage",
    "Value",
    "last_of_each",
    "settle",
    "settle_async",
    "take_functions",
    "taking",
]

K = TypeVar("K", covariant=True)
V = TypeVar("V", covariant=True)
T = TypeVar("T")
if TYPE_CHECKING:
    from typing_extensions import TypeVar as Defaulted  # PEP 696: clients without parameters hold anything

    Key = Defaulted("Key", default=Any)
    Value = Defaulted("Value", default=Any)
else:
    Key = TypeVar("Key")
    Value = TypeVar("Value")
Function = Callable[[Any, SerializationContext], Any]
FIELDS = (MessageField.KEY, MessageField.VALUE)


class Awaited:
    """A client whose constructor may be awaited, as it has to be in confluent_kafka, and must be for some builders."""

    def __new__(cls, conf: Mapping[str, object]) -> Self:
        """The constructor's result: the client, or a coroutine for it if a builder has something to await."""
        if not must_be_awaited(conf):
            return super().__new__(cls)

        async def made() -> Self:
            return cls(await awaited(conf))

        return made()  # type: ignore[return-value]

    def __await__(self) -> Generator[Any, None, Self]:
        """Itself."""
        yield from ()
        return self


if TYPE_CHECKING:

    class TypedMessage(Message[K, V]):
        """The messages of typed consumers: a `Message[K, V]` that came from a partition, since events are raised.

        Only type checkers know it; at run time it is Message.
        """

        def topic(self) -> str:
            """The topic it came from."""

        def partition(self) -> int:
            """The partition it came from."""

        def offset(self) -> int:
            """Its offset there."""

else:
    TypedMessage = Message


def take_functions(conf: Mapping[str, object], names: tuple[str, str]) -> tuple[dict[str, object], Any, Any]:
    """Splits a configuration into what the client takes and the two functions.

    Raises:
        ValueError: one of the functions is not callable, or a class of serializers in place of an object.
    """
    rest = dict(conf)
    functions: list[Any] = []
    for name in names:
        function: Any = rest.pop(name, None)
        if function is not None and not callable(function):
            raise ValueError(f"{name} must be callable: (value, SerializationContext) -> result")
        if inspect.isclass(function) and hasattr(function, "set_cluster_id_resolver"):  # as all serializers have it
            raise ValueError(f"{name} is the class {function.__name__}: give an object of it, {function.__name__}(…)")
        functions.append(function)
    return rest, functions[0], functions[1]


Relay = Generator[Any, Any, T]
"""Yields what functions gave, to be awaited if need be, and is sent the result."""


def settle(relay: Relay[T]) -> T:
    """Runs a relay whose functions have given their results."""
    try:
        result = next(relay)
        while True:
            result = relay.send(result)
    except StopIteration as stop:
        value: T = stop.value
        return value


async def settle_async(relay: Relay[T]) -> T:
    """Runs a relay whose functions may be coroutine functions."""
    try:
        result = next(relay)
        while True:
            if hasattr(result, "__await__"):
                try:
                    result = await result
                except Exception as error:
                    result = relay.throw(error)
                    continue
            result = relay.send(result)
    except StopIteration as stop:
        value: T = stop.value
        return value


def _way(function: Any, text: type[simple.StringSerializer | simple.StringDeserializer]) -> int:
    """The way a function may be called: one of the constants of `serdes.kernels.fields`.

    Args:
        text: whose calls need not be made for UTF-8, as their codec is now.
    """
    if function is None:
        return NONE
    owner = next(kind for kind in type(function).__mro__ if "__call__" in vars(kind))
    if vars(owner).get("short_way") is True:
        return KNOWN
    if owner is text and function.codec == "utf-8":
        return TEXT
    return PLAIN if owner.__module__ == simple.__name__ else ANY


class FieldSerializers:
    """Serializes keys and values; None is a function that passes bytes on.

    Attributes:
        writer: does it without waiting.
    """

    def __init__(self, key: Function | None, value: Function | None) -> None:
        self._key = key
        self._value = value
        errors = (KeySerializationError, ValueSerializationError)
        ways = _way(key, simple.StringSerializer), _way(value, simple.StringSerializer)
        self.writer = FieldWriter((key, value), ways, SerializationContext, FIELDS, errors)
        self.write = self.writer.write

    async def write_async(self, topic: str, key: Any, value: Any, headers: Any) -> tuple[Any, Any, Any]:
        """As `write`; functions may be coroutine functions."""
        written = self.writer.write_now(topic, key, value, headers)
        return await settle_async(self._relay(topic, key, value, headers)) if written is None else written

    def _relay(self, topic: str, key: Any, value: Any, headers: Any) -> Relay[tuple[Any, Any, Any]]:
        """Does what `write` does, with functions that may be coroutine functions."""
        own, given = _copied(headers), key
        if self._key is not None:
            try:
                key = yield self._key(key, SerializationContext(topic, MessageField.KEY, own))
            except Exception as error:
                raise KeySerializationError(error, topic) from error
        if self._value is not None:
            try:
                value = yield self._value(value, SerializationContext(topic, MessageField.VALUE, own, given))
            except Exception as error:
                raise ValueSerializationError(error, topic) from error
        return key, value, own or None


def _copied(headers: Any) -> list[Any]:
    if not headers:
        return []
    return list(headers.items() if isinstance(headers, Mapping) else headers)


class FieldDeserializers:
    """Deserializes keys and values in their messages; None is a function that leaves bytes.

    Attributes:
        reader: does it without waiting.
    """

    def __init__(self, key: Function | None, value: Function | None) -> None:
        self._key = key
        self._value = value
        errors = (KeyDeserializationError, ValueDeserializationError)
        ways = _way(key, simple.StringDeserializer), _way(value, simple.StringDeserializer)
        self.reader = FieldReader((key, value), ways, SerializationContext, FIELDS, errors)
        self.read = self.reader.read

    async def read_async(self, message: Message) -> None:
        """As `read`; functions may be coroutine functions."""
        await settle_async(self.relay(message))

    def relay(self, message: Message) -> Relay[None]:
        """Does what `read` does, with functions that may be coroutine functions."""
        topic, headers = message.topic() or "", message.headers()
        key = value = None
        if self._key is not None:
            try:
                key = yield self._key(message.key(), SerializationContext(topic, MessageField.KEY, headers))
            except Exception as error:
                raise KeyDeserializationError(error, message) from error
        if self._value is not None:
            try:
                context = SerializationContext(topic, MessageField.VALUE, headers, message.key())
                value = yield self._value(message.value(), context)
            except Exception as error:
                raise ValueDeserializationError(error, message) from error
        if self._key is not None:
            message.set_key(key)
        if self._value is not None:
            message.set_value(value)


class Client(Protocol):
    """The consumer as `taking` uses it; each method returns a result, or an awaitable of it."""

    def go_back(self, place: TopicPartition) -> Any:
        """Sets the position; a partition that was revoked is passed over."""
        ...

    def keep(self, places: list[TopicPartition]) -> Any:
        """Stores offsets; partitions that were revoked are passed over."""
        ...

    def set_aside(self, letter: Letter) -> Any:
        """Delivers a dead letter, once for a message until that is let go.

        Raises:
            KafkaException: it was not delivered.
        """
        ...

    def let_go(self, letter: Letter) -> None:
        """Ends the work on a dead letter's message."""
        ...


def taking(
    raw: Iterable[Message],
    deserializers: FieldDeserializers,
    policy: PoisonPolicy,
    client: Client,
    stores: bool,
    good: int = 0,
    failed: FieldError | None = None,
) -> Relay[tuple[PolledMessages, Exception | None]]:
    """Reads messages that were polled together, goes back to what can't be read, stores what is handed out.

    Args:
        raw: the messages, in order.
        deserializers: read them.
        policy: what happens to those that can't be read.
        client: the consumer.
        stores: whether offsets are stored.
        good: so many of the messages have been read already.
        failed: what the message after those gave when it was read; None if nobody has tried.

    Returns:
        What is handed out, and what is to be raised instead, if anything.
    """
    polled, letters = PolledMessages(), list[Letter]()
    for count, message in enumerate(raw):
        if count < good:
            polled.good(message)
            continue
        if polled.skips(message):
            continue
        error = message.error()
        if error is not None:
            polled.event(message, error)
            continue
        poison, failed = failed, None
        if poison is None:
            poison = yield from _poison_of(deserializers, message)
        if poison is None:
            polled.good(message)
        else:
            yield from _poison(polled, message, poison, policy, client, letters)
    for place in polled.seeks:
        yield client.go_back(place)
    if stores and polled.stores:
        yield client.keep(polled.stores)
    for letter in letters:  # not before: a call that is interrupted hands all its messages back
        client.let_go(letter)
    return polled, polled.verdict()[0]


def _poison_of(deserializers: FieldDeserializers, message: Message) -> Relay[FieldError | None]:
    """Reads a message; gives why it can't be read, None if it was."""
    try:
        yield from deserializers.relay(message)
    except FieldError as poison:
        return poison
    return None


def _poison(
    polled: PolledMessages,
    message: Message,
    poison: FieldError,
    policy: PoisonPolicy,
    client: Client,
    letters: list[Letter],
) -> Relay[None]:
    if not policy.passes(poison):
        if poison.set_aside is None:
            polled.poison(message, poison)
        else:
            polled.told(message, poison)
        return
    letter = policy.letter(message, poison)
    if letter is not None:
        try:
            yield client.set_aside(letter)
        except KafkaException as error:
            poison.add_note(f"and the dead letter was not delivered to {letter.topic}: {error}")
            polled.poison(message, poison)
            return
    if policy.callback is not None:
        try:
            policy.callback(poison)
        except Exception as error:
            poison.add_note(f"and on.poison failed: {type(error).__name__}: {error}")
            polled.poison(message, poison)
            return
    if letter is not None:
        letters.append(letter)
    polled.passed(message)


@dataclass(slots=True)
class PolledMessages:
    """Sorts messages that were polled together. Feed it in order: `skips`, then one of `good`, `poison`, `event`.

    Attributes:
        messages: what is handed out.
        events: what is to be raised once, in order: errors of the client, and messages that a rule has set aside.
        poisons: the first message of each partition that could not be read.
    """

    messages: list[Message] = field(default_factory=list)
    events: list[ConsumeError | FieldError] = field(default_factory=list)
    poisons: list[FieldError] = field(default_factory=list)
    _order: list[Exception] = field(default_factory=list)
    _seeks: dict[tuple[str, int], TopicPartition] = field(default_factory=dict)
    _stores: dict[tuple[str, int], TopicPartition] = field(default_factory=dict)

    def skips(self, message: Message) -> bool:
        """Whether a message stands behind one of its partition that can't be read: it will come again."""
        return bool(self._seeks) and _place(message) in self._seeks

    def good(self, message: Message) -> None:
        """The message was read."""
        self.messages.append(message)
        self.passed(message)

    def passed(self, message: Message) -> None:
        """The message is done with: the offset behind it may be stored."""
        topic, partition = place = _place(message)
        offset, epoch = (message.offset() or 0) + 1, message.leader_epoch()
        self._stores[place] = TopicPartition(topic, partition, offset, leader_epoch=epoch)

    def poison(self, message: Message, error: FieldError) -> None:
        """The message can't be read."""
        topic, partition = place = _place(message)
        self.poisons.append(error)
        self._order.append(error)
        self._seeks[place] = TopicPartition(topic, partition, message.offset() or 0)

    def told(self, message: Message, error: FieldError) -> None:
        """The message can't be read, and a rule has set it aside: it need not come again, nor be set aside again."""
        self.events.append(error)
        self._order.append(error)
        self.passed(message)

    def event(self, message: Message, error: KafkaError) -> None:
        """The message is an error of the client."""
        made = ConsumeError(error, kafka_message=message)
        self.events.append(made)
        self._order.append(made)

    @property
    def seeks(self) -> list[TopicPartition]:
        """The positions to seek back to."""
        return list(self._seeks.values())

    @property
    def stores(self) -> list[TopicPartition]:
        """The offsets behind the messages that are handed out, to be stored."""
        return list(self._stores.values())

    def verdict(self) -> tuple[Exception | None, list[ConsumeError | FieldError]]:
        """The error to raise now (only if nothing is handed out), and the events to raise later.

        A poison that is not raised now needs no keeping: it comes again.
        """
        if self.messages or not self._order:
            return None, self.events
        first = self._order[0]
        return first, [event for event in self.events if event is not first]


def _place(message: Message) -> tuple[str, int]:
    partition = message.partition()
    return message.topic() or "", -1 if partition is None else partition
