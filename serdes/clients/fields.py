"""The functions of keys and values: taken from a client's configuration, and called for its records.

Must not know of clients, threads or event loops, nor what becomes of a message that can't be read
(`serdes.clients.messages` does).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Mapping
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from kafka_core.errors import KafkaError
from kafka_core.kernels import Message
from serdes import simple
from serdes.builders import awaited, must_be_awaited
from serdes.context import MessageField, SerializationContext
from serdes.errors import (
    KeyDeserializationError,
    KeySerializationError,
    ValueDeserializationError,
    ValueSerializationError,
)
from serdes.kernels.fields import ANY, KNOWN, NONE, PLAIN, TEXT, FieldReader, FieldWriter

T = TypeVar("T")
if TYPE_CHECKING:
    from typing_extensions import TypeVar as Defaulted  # PEP 696: clients without parameters hold anything

    Key = Defaulted("Key", default=Any)
    Value = Defaulted("Value", default=Any)
else:
    Key = TypeVar("Key")
    Value = TypeVar("Value")
Function = Callable[[Any, SerializationContext], Any]
DeliveryCallback = Callable[[KafkaError | None, Message], object]
SERIALIZERS: Final = ("key.serializer", "value.serializer")
DESERIALIZERS: Final = ("key.deserializer", "value.deserializer")
FIELDS: Final = (MessageField.KEY, MessageField.VALUE)


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
