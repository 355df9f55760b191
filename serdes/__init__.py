"""Bytes ↔ values: serializers with schemas in a registry, simple ones, and the clients that use them.

Must not know of Spark. Names and arguments are those of `confluent_kafka.serialization`; Avro is in `serdes.avro`.
"""

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
    "Deserializer",
    "DoubleDeserializer",
    "DoubleSerializer",
    "IntegerDeserializer",
    "IntegerSerializer",
    "MessageField",
    "SerializationContext",
    "SerializationError",
    "Serializer",
    "StringDeserializer",
    "StringSerializer",
    "record_subject_name_strategy",
    "topic_record_subject_name_strategy",
    "topic_subject_name_strategy",
]
