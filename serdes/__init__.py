"""Bytes ↔ values: serializers with schemas in a registry, simple ones, and the clients that use them.

Must not know of Spark. Names and arguments are those of `confluent_kafka.serialization`; Avro is in `serdes.avro`.
Every name is imported at its first use: who only decodes needs no client, and the command line starts fast.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from serdes.clients import (
        AIODeserializingConsumer,
        AIOSerializingProducer,
        DeserializingConsumer,
        SerializingProducer,
    )
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

HOMES = {
    "serdes.clients": (
        "AIODeserializingConsumer",
        "AIOSerializingProducer",
        "DeserializingConsumer",
        "SerializingProducer",
    ),
    "serdes.context": (
        "Deserializer",
        "MessageField",
        "SerializationContext",
        "Serializer",
    ),
    "serdes.errors": ("SerializationError",),
    "serdes.simple": (
        "DoubleDeserializer",
        "DoubleSerializer",
        "IntegerDeserializer",
        "IntegerSerializer",
        "StringDeserializer",
        "StringSerializer",
    ),
    "serdes.subject": (
        "record_subject_name_strategy",
        "topic_record_subject_name_strategy",
        "topic_subject_name_strategy",
    ),
}


def __getattr__(name: str) -> Any:
    import importlib

    for module, names in HOMES.items():
        if name in names:
            return getattr(importlib.import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
