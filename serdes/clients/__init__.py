"""Kafka clients that serialize and deserialize: `confluent_kafka`'s names over `kafka_core`'s clients."""

from serdes.clients.consumer import (
    AIODeserializingConsumer,
    AIOSerializingProducer,
    DeserializingConsumer,
    SerializingProducer,
)
from serdes.clients.share import AIODeserializingShareConsumer, DeserializingShareConsumer

__all__ = [
    "AIODeserializingConsumer",
    "AIODeserializingShareConsumer",
    "AIOSerializingProducer",
    "DeserializingConsumer",
    "DeserializingShareConsumer",
    "SerializingProducer",
]
