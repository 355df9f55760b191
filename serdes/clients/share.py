"""Share consumers that deserialize: `confluent_kafka`'s name over `kafka_core`'s share consumers.

Must not know how a value is made (`serdes.clients.fields` and the serializers do).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Generic

from kafka_core.aio.sharing.consumer import AIOShareConsumer
from kafka_core.kernels import Message
from kafka_core.model import AcknowledgeType, Messages
from kafka_core.sync.share_consumer import ShareConsumer
from serdes.clients.fields import DESERIALIZERS, Awaited, FieldDeserializers, take_functions
from serdes.clients.fields import Key as K
from serdes.clients.fields import Value as V
from serdes.errors import FieldError

POLICY: Final = "poison.acknowledgement"
POLICIES: Final = {"reject": AcknowledgeType.REJECT, "release": AcknowledgeType.RELEASE}


class DeserializingShareConsumer(ShareConsumer, Generic[K, V]):
    """A `kafka_core.ShareConsumer` that gives objects.

    A record that can't be read is among the messages of `poll`, with its raw bytes, and `error()` says why
    (_KEY_DESERIALIZATION or _VALUE_DESERIALIZATION). In explicit mode the application acknowledges it like any other.
    In implicit mode it is not accepted by the next poll or commit (confluent_kafka does that): it is rejected, or with
    `poison.acknowledgement=release` given to a member again, at most as often as the group's delivery limit says. If
    only the registry is away it is always released.

    Args:
        conf: properties of the ShareConsumer, `key.deserializer`, `value.deserializer`:
            `function(bytes or None, ctx) -> object`, and `poison.acknowledgement`: `reject` (the default) or `release`.

    Raises:
        ConfigError: as the ShareConsumer.
        ValueError: a deserializer is not callable, or there is no such acknowledgement.
    """

    def __init__(self, conf: Mapping[str, object]) -> None:
        rest, key, value = take_functions(conf, DESERIALIZERS)
        rest, self._poison = _take_policy(rest)
        self._deserializers = FieldDeserializers(key, value)
        super().__init__(rest)

    def poll(self, timeout: float = -1) -> Messages[Message[K, V]]:  # type: ignore[override]
        """As `ShareConsumer.poll`, with keys and values deserialized."""
        messages: Messages[Any] = super().poll(timeout)
        raw: list[tuple[Message, Any, Any]] = []
        try:
            raw = _raw(messages)
            for message in messages:
                if message.error() is None:
                    try:
                        self._deserializers.read(message)
                    except FieldError as error:
                        _spoil(self, message, error)
        except BaseException:  # Ctrl-C: the next poll gives them
            _give_back(self, raw)
            raise
        return messages


class AIODeserializingShareConsumer(Awaited, AIOShareConsumer, Generic[K, V]):
    """A `kafka_core.aio.AIOShareConsumer` that gives objects; see `DeserializingShareConsumer`.

    Args:
        conf: deserializers may be coroutine functions.

    Raises:
        ConfigError: as the AIOShareConsumer.
        ValueError: a deserializer is not callable, or there is no such acknowledgement.
    """

    def __init__(self, conf: Mapping[str, object]) -> None:
        rest, key, value = take_functions(conf, DESERIALIZERS)
        rest, self._poison = _take_policy(rest)
        self._deserializers = FieldDeserializers(key, value)
        super().__init__(rest)

    async def poll(self, timeout: float = -1) -> Messages[Message[K, V]]:  # type: ignore[override]
        """As `AIOShareConsumer.poll`, with keys and values deserialized."""
        messages: Messages[Any] = await super().poll(timeout)
        raw: list[tuple[Message, Any, Any]] = []
        try:
            raw = _raw(messages)
            for message in messages:
                if message.error() is None:
                    try:
                        await self._deserializers.read_async(message)
                    except FieldError as error:
                        _spoil(self, message, error)
        except BaseException:  # cancelled, above all: the next poll gives them
            _give_back(self, raw)
            raise
        return messages


Either = DeserializingShareConsumer[Any, Any] | AIODeserializingShareConsumer[Any, Any]


def _take_policy(conf: Mapping[str, object]) -> tuple[dict[str, object], AcknowledgeType]:
    rest = dict(conf)
    name = rest.pop(POLICY, None) or "reject"
    if not isinstance(name, str) or name not in POLICIES:
        raise ValueError(f"{POLICY} {name!r} is not supported: {', '.join(POLICIES)}")
    return rest, POLICIES[name]


def _raw(messages: Messages[Any]) -> list[tuple[Message, Any, Any]]:
    """The raw keys and values, to be put back into messages that the application does not get after all."""
    return [(message, message.key(), message.value()) for message in messages if message.error() is None]


def _spoil(consumer: Either, message: Message, error: FieldError) -> None:
    """Marks a record that can't be read; in implicit mode says what becomes of it."""
    message.set_error(error.error)
    later = error.registry_away and error.set_aside is None
    consumer.except_from_acceptance(message, AcknowledgeType.RELEASE if later else consumer._poison)


def _give_back(consumer: Either, raw: Sequence[tuple[Message, Any, Any]]) -> None:
    for message, key, value in raw:
        message.set_error(None)
        message.set_key(key)
        message.set_value(value)
    consumer.hand_back()
