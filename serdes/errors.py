"""The errors of serializers and deserializers: `SerializationError` and its subclasses.

Must not know of codecs; of kafka_core it knows the errors only (docs/decisions/0020). `SerializationError` carries
what is known of the place: topic, field, schema id, and the path inside the value.

SerializationError                                         a kafka_core.KafkaException, as in confluent_kafka
├── UnfitError                                             also a ValueError
├── KeySerializationError, ValueSerializationError        also kafka_core's ProduceError
└── KeyDeserializationError, ValueDeserializationError    also kafka_core's ConsumeError; hold the raw message
"""

from __future__ import annotations

from typing import Any, ClassVar

from kafka_core.errors import ConsumeError, KafkaError, KafkaException, ProduceError

__all__ = [
    "KeyDeserializationError",
    "KeySerializationError",
    "SerializationError",
    "UnfitError",
    "ValueDeserializationError",
    "ValueSerializationError",
]


class SerializationError(KafkaException):
    """Bytes could not be made of a value, or a value of bytes.

    A `KafkaException`, as in confluent_kafka, and as there `args[0]` is the sentence; `error` is a `KafkaError`.

    Args:
        reason: what happened, without the place.
        args: anything else worth keeping in `args`.
        topic: see the attribute.
        field: see the attribute.
        schema_id: see the attribute.
        path: see the attribute.

    Attributes:
        reason: as given.
        topic: the topic, None where there was no context.
        field: `key` or `value`, None where there was no context.
        schema_id: the schema's id, None where it is not known yet.
        path: where in the value, e.g. `order.items[3].price`; None where it is not known.
        registry_away: whether it was the registry, or a key service, that could not be reached, or did not say what was
            asked for: nothing is known to be wrong with the bytes then.
        set_aside: the topic that a rule's action delivered the message to, as a dead letter; None if it did not.
    """

    registry_away = False  # of classes of one's own that don't call this one's `__init__`, too
    set_aside: str | None = None

    def __init__(
        self,
        reason: str = "",
        *args: object,
        topic: str | None = None,
        field: str | None = None,
        schema_id: int | None = None,
        path: str | None = None,
    ) -> None:
        Exception.__init__(self, reason, *args)
        self.reason = reason
        self.topic = topic
        self.field = field
        self.schema_id = schema_id
        self.path = path
        self.registry_away = False
        self.set_aside = None

    @property
    def error(self) -> KafkaError:
        """The error as a value: `_FAIL`, since it is unknown here whether a key or a value failed."""
        return KafkaError(KafkaError._FAIL, str(self), retriable=self.registry_away)

    @property
    def retriable(self) -> bool:
        """Whether the value is not to blame: the registry, or a key service, could not be reached."""
        return self.registry_away

    def located(self, topic: str | None, field: str | None, schema_id: int | None = None) -> SerializationError:
        """This error with more facts of its place; known ones stay."""
        self.topic = topic if self.topic is None else self.topic
        self.field = field if self.field is None else self.field
        self.schema_id = schema_id if self.schema_id is None else self.schema_id
        return self

    def __str__(self) -> str:
        return sentence(self)


class UnfitError(SerializationError, ValueError):
    """A value does not fit its schema; a `ValueError` too, like the errors of confluent_kafka's codec."""


def foreign(what: str, error: Exception) -> SerializationError:
    """An error of another type as one of ours, to be raised from it.

    Its text is left out: whoever wrote it (a user's function, Python itself) may have quoted the value.
    """
    return SerializationError(f"{what}: {type(error).__name__}")


def sentence(error: SerializationError) -> str:
    """The reason, after the place as far as it is known."""
    place = []
    if error.topic is not None:
        place.append(f"topic {error.topic}")
    if isinstance(error, FieldError) and error.partition is not None:
        place.append(f"partition {error.partition}, offset {error.offset}")
    if error.field is not None:
        place.append(error.field)
    if error.schema_id is not None:
        place.append(f"schema id {error.schema_id}")
    if error.path:
        place.append(f"at {error.path}")
    return f"{', '.join(place)}: {error.reason}" if place else error.reason


class FieldError(SerializationError):
    """Shared base of the four errors of keys and values, with the facts of the error behind them.

    Attributes:
        partition: of the raw message, None if there is none.
        offset: of the raw message, None if there is none.
    """

    CODE: ClassVar[int]
    FIELD: ClassVar[str]
    partition: int | None = None
    offset: int | None = None

    @property
    def error(self) -> KafkaError:
        """The error as a value; its code says whether it is a key or a value, read or written."""
        value: KafkaError = self.args[0]
        return value

    def adopt(self, exception: BaseException | None, message: Any, topic: str | None) -> None:
        """Takes over the facts of the cause and the place of the raw message."""
        if isinstance(exception, SerializationError):
            self.reason, self.topic, self.path = exception.reason, exception.topic, exception.path
            self.schema_id, self.registry_away = exception.schema_id, exception.registry_away
            self.set_aside = exception.set_aside
        else:
            # its text is left out, as in `foreign`; the exception itself is the cause
            self.reason = "" if exception is None else f"the function failed: {type(exception).__name__}"
            self.registry_away = getattr(exception, "retriable", False) is True  # of a function that asks by itself
        self.field = self.FIELD
        if message is not None:
            self.topic, self.partition, self.offset = message.topic(), message.partition(), message.offset()
        self.topic = topic if self.topic is None else self.topic
        self.args = (KafkaError(self.CODE, sentence(self), retriable=self.registry_away),)


class _ConsumeFieldError(ConsumeError, FieldError):
    def __init__(self, exception: BaseException | None = None, kafka_message: Any = None) -> None:
        super().__init__(KafkaError(self.CODE), exception, kafka_message)
        self.adopt(exception, kafka_message, None)


class _ProduceFieldError(ProduceError, FieldError):
    def __init__(self, exception: BaseException | None = None, topic: str | None = None) -> None:
        super().__init__(KafkaError(self.CODE), exception)
        self.adopt(exception, None, topic)


class KeySerializationError(_ProduceFieldError):
    """A key can't be produced.

    Args:
        exception: what went wrong.
        topic: where it was to go.
    """

    CODE = KafkaError._KEY_SERIALIZATION
    FIELD = "key"


class ValueSerializationError(_ProduceFieldError):
    """A value can't be produced.

    Args:
        exception: what went wrong.
        topic: where it was to go.
    """

    CODE = KafkaError._VALUE_SERIALIZATION
    FIELD = "value"


class KeyDeserializationError(_ConsumeFieldError):
    """The key of a consumed message can't be read.

    Args:
        exception: what went wrong.
        kafka_message: the raw message, as it came; kept in `kafka_message`.
    """

    CODE = KafkaError._KEY_DESERIALIZATION
    FIELD = "key"


class ValueDeserializationError(_ConsumeFieldError):
    """The value of a consumed message can't be read.

    Args:
        exception: what went wrong.
        kafka_message: the raw message, as it came; kept in `kafka_message`.
    """

    CODE = KafkaError._VALUE_DESERIALIZATION
    FIELD = "value"
