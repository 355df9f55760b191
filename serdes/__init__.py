"""Bytes ↔ values: serializers with schemas in a registry, simple ones, and the clients that use them.

Must not know of Spark. Names and arguments are those of `confluent_kafka.serialization`; Avro is in `serdes.avro`.
The clients are imported at their first use: who only decodes does not need them.
"""

from typing import TYPE_CHECKING, Any

from serdes.context import Deserializer, MessageField, SerializationContext, Serializer
from serdes.errors import SerializationError
from serdes.simple import (
    DoubleDeserializer,
    DoubleSerializer,
    IntegerDeserializer,
    IntegerSerializer,
    StringDeserializer,
    StringSerializer,
)
from serdes.subject import (
    record_subject_name_strategy,
    topic_record_subject_name_strategy,
    topic_subject_name_strategy,
)

if TYPE_CHECKING:
    from serdes.clients import (
        AIODeserializingConsumer,
        AIOSerializingProducer,
        DeserializingConsumer,
        SerializingProducer,
    )

__all__ = [
    "AIODeserializingConsumer",
    "AIOSerializingProducer",
    "Deserializer",
    "DeserializingConsumer",
    "DoubleDeserializer",
    "DoubleSerializer",
    "IntegerDeserializer",
    "IntegerSerializer",
    "MessageField",
    "SerializationContext",
    "SerializationError",
    "Serializer",
    "SerializingProducer",
    "StringDeserializer",
    "StringSerializer",
    "record_subject_name_strategy",
    "topic_record_subject_name_strategy",
    "topic_subject_name_strategy",
]

CLIENTS = frozenset(
    ("AIODeserializingConsumer", "AIOSerializingProducer", "DeserializingConsumer", "SerializingProducer")
)


def __getattr__(name: str) -> Any:
    if name in CLIENTS:
        from serdes import clients

        return getattr(clients, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
