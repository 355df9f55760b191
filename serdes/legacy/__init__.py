"""`confluent_kafka.avro`, for services that still use it; new code takes `serdes.SerializingProducer`.

Must not hold logic beyond its way of calling. Names and arguments are those of `confluent_kafka.avro`; a schema is a
text, a `registry.Schema`, or any object whose `str()` is the schema (as `avro` has them).
"""

from serdes.legacy.clients import AvroConsumer, AvroProducer
from serdes.legacy.message_serializer import MessageSerializer
from serdes.legacy.registry_client import CachedSchemaRegistryClient
from serdes.legacy.schemas import (
    ClientError,
    KeySerializerError,
    SerializerError,
    ValueSerializerError,
    load,
    loads,
)

__all__ = [
    "AvroConsumer",
    "AvroProducer",
    "CachedSchemaRegistryClient",
    "ClientError",
    "KeySerializerError",
    "MessageSerializer",
    "SerializerError",
    "ValueSerializerError",
    "load",
    "loads",
]
