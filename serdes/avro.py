"""Avro serializers for schema-registry frames: the public names.

Must not hold logic. Names and arguments are those of `confluent_kafka.schema_registry.avro`.
"""

from serdes.aio import AsyncAvroDeserializer, AsyncAvroSerializer
from serdes.blocking import AvroDeserializer, AvroSerializer

__all__ = ["AsyncAvroDeserializer", "AsyncAvroSerializer", "AvroDeserializer", "AvroSerializer"]
