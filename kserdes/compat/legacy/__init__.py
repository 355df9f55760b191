"""The dialect of `confluent_kafka.avro`, for services that still use it; new code takes `serdes.SerializingProducer`.

Must not hold logic beyond its way of calling. Names and arguments are those of `confluent_kafka.avro`; a schema is a
text, a `registry.Schema`, or any object whose `str()` is the schema (as `avro` has them).
"""

from kserdes.compat.legacy.clients import AvroConsumer, AvroProducer
from kserdes.compat.legacy.message_serializer import MessageSerializer
from kserdes.compat.legacy.registry_client import CachedSchemaRegistryClient
from kserdes.compat.legacy.schemas import (
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
