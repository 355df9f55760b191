"""The producer and the consumer of `confluent_kafka.avro`.

Must not hold logic beyond their way of calling.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from kafka_core import Consumer, Message, Producer
from kserdes.compat.legacy.registry_client import CachedSchemaRegistryClient
from kserdes.compat.legacy.schemas import (
    ClientError,
    KeySerializerError,
    SerializerError,
    ValueSerializerError,
    as_schema,
)
from registry import Schema, SchemaRegistryClient
from serdes import topic_subject_name_strategy
from serdes.avro import AvroDeserializer, AvroSerializer
from serdes.clients.fields import FieldDeserializers, FieldSerializers
from serdes.errors import SerializationError

PREFIX = "schema.registry."
BY_TOPIC = {"subject.name.strategy": topic_subject_name_strategy}


class AvroProducer(Producer):
    """A Producer that writes Avro; deprecated.

    Args:
        config: properties of the Producer, and those of the registry client with `schema.registry.` in front.
        default_key_schema: for keys without a schema of their own.
        default_value_schema: for values without a schema of their own.
        schema_registry: a registry client, instead of its properties.

    Raises:
        ValueError: a client and an address are given.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        default_key_schema: Any = None,
        default_value_schema: Any = None,
        schema_registry: SchemaRegistryClient | CachedSchemaRegistryClient | None = None,
    ) -> None:
        _deprecated("AvroProducer", "AvroSerializer")
        rest, self._registry, self._owned = _split(config, schema_registry)
        self._schemas = (as_schema(default_key_schema), as_schema(default_value_schema))
        self._serializers: dict[Schema, AvroSerializer] = {}
        super().__init__(rest)

    def produce(self, **kwargs: Any) -> None:  # type: ignore[override]  # as confluent_kafka.avro has it
        """Serializes and queues one record.

        Args:
            kwargs: `topic`, `key`, `value`, `key_schema`, `value_schema`, and what `Producer.produce` takes.

        Raises:
            ClientError: no topic.
            KeySerializerError, ValueSerializerError: no schema.
            SerializerError: the object does not fit its schema, or the registry refuses.
        """
        topic = kwargs.pop("topic", None)
        if not topic:
            raise ClientError("Topic name not specified.")
        schemas = (
            as_schema(kwargs.pop("key_schema", self._schemas[0])),
            as_schema(kwargs.pop("value_schema", self._schemas[1])),
        )
        key, value = kwargs.pop("key", None), kwargs.pop("value", None)
        if value is not None and schemas[1] is None:
            raise ValueSerializerError("Avro schema required for values")
        if key is not None and schemas[0] is None:
            raise KeySerializerError("Avro schema required for key")
        writer = FieldSerializers(*(None if schema is None else self._serializer(schema) for schema in schemas))
        try:
            key, value, _ = writer.write(topic, key, value, None)
        except SerializationError as error:
            raise SerializerError(str(error)) from error
        super().produce(topic, value, key, **kwargs)

    def close(self, timeout: float | None = None) -> bool:
        """As `Producer.close`; also closes the registry client made of properties."""
        done = super().close(timeout)
        if self._owned:
            self._registry.close()
        return done

    def _serializer(self, schema: Schema) -> AvroSerializer:
        if schema not in self._serializers:
            self._serializers[schema] = AvroSerializer(self._registry, schema, conf=BY_TOPIC)
        return self._serializers[schema]


class AvroConsumer(Consumer):
    """A Consumer that reads Avro; deprecated.

    Args:
        config: properties of the Consumer, and those of the registry client with `schema.registry.` in front.
        schema_registry: a registry client, instead of its properties.
        reader_key_schema: what keys are resolved to.
        reader_value_schema: what values are resolved to.

    Raises:
        ValueError: a client and an address are given.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        schema_registry: SchemaRegistryClient | CachedSchemaRegistryClient | None = None,
        reader_key_schema: Any = None,
        reader_value_schema: Any = None,
    ) -> None:
        _deprecated("AvroConsumer", "AvroDeserializer")
        rest, self._registry, self._owned = _split(config, schema_registry)
        self._deserializers = FieldDeserializers(
            AvroDeserializer(self._registry, as_schema(reader_key_schema), conf=BY_TOPIC),
            AvroDeserializer(self._registry, as_schema(reader_value_schema), conf=BY_TOPIC),
        )
        super().__init__(rest)

    def poll(self, timeout: float | None = None) -> Message | None:
        """The next message with its key and value decoded, None if there was none in time; errors are in messages.

        Raises:
            SerializerError: the message can't be read.
        """
        message = super().poll(-1 if timeout is None else timeout)
        if message is not None and not message.error():
            try:
                self._deserializers.read(message)
            except SerializationError as error:
                raise SerializerError(f"Message deserialization failed for message at {error}") from error
        return message

    def close(self) -> None:
        """As `Consumer.close`; also closes the registry client made of properties."""
        super().close()
        if self._owned:
            self._registry.close()


def _deprecated(name: str, instead: str) -> None:
    warnings.warn(f"{name} has been deprecated. Use {instead} instead.", DeprecationWarning, stacklevel=3)


def _split(
    config: Mapping[str, Any], client: SchemaRegistryClient | CachedSchemaRegistryClient | None
) -> tuple[dict[str, Any], SchemaRegistryClient, bool]:
    """The client's own properties, the registry client, and whether it was made here."""
    rest = {key: value for key, value in config.items() if not key.startswith(PREFIX)}
    conf = {key.removeprefix(PREFIX): value for key, value in config.items() if key.startswith(PREFIX)}
    if client is not None:
        if conf.get("url") is not None:
            raise ValueError("Cannot pass schema_registry along with schema.registry.url config")
        return rest, client.client if isinstance(client, CachedSchemaRegistryClient) else client, False
    if conf.get("basic.auth.credentials.source") == "SASL_INHERIT":
        conf |= {key: config[key] for key in ("sasl.username", "sasl.password") if key in config}
    return rest, SchemaRegistryClient(conf), True
