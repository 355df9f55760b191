"""Kafka clients that serialize and deserialize: `confluent_kafka`'s names over `kafka_core`'s clients."""

from serdes.clients.consumer import (
    AIODeserializingConsumer,
    AIOSerializingProducer,
    DeserializingConsumer,
    SerializingProducer,
)

__all__ = ["AIODeserializingConsumer", "AIOSerializingProducer", "DeserializingConsumer", "SerializingProducer"]
