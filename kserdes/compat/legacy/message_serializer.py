"""`MessageSerializer` of `confluent_kafka.avro`: Avro payloads by schema or by id, without a client of Kafka.

Must not hold logic of Avro or of frames: the serializers of `serdes.avro` have that.
"""

from __future__ import annotations

from typing import Any

from kserdes.compat.legacy.registry_client import CachedSchemaRegistryClient
from kserdes.compat.legacy.schemas import KeySerializerError, SerializerError, ValueSerializerError, as_schema
from registry import Schema, SchemaRegistryClient, SchemaRegistryError
from serdes import MessageField, SerializationContext, topic_subject_name_strategy
from serdes.avro import AvroDeserializer, AvroSerializer
from serdes.errors import SerializationError

BY_TOPIC = {"subject.name.strategy": topic_subject_name_strategy}
NO_TOPIC = "unknown"
"""Stands for the topic where a schema is named by its id: the subject that follows from it is never asked for."""
SHORTEST = 6
"""Magic byte, four bytes of the id, and some payload: `null` alone has none, and is not taken there either."""


class MessageSerializer:
    """Writes and reads framed Avro.

    Args:
        registry_client: a registry client, of this package or of `registry`.
        reader_key_schema: what keys are resolved to.
        reader_value_schema: what values are resolved to.
    """

    def __init__(
        self,
        registry_client: CachedSchemaRegistryClient | SchemaRegistryClient,
        reader_key_schema: Any = None,
        reader_value_schema: Any = None,
    ) -> None:
        cached = isinstance(registry_client, CachedSchemaRegistryClient)
        self.registry_client = registry_client
        self._client: SchemaRegistryClient = registry_client.client if cached else registry_client  # type: ignore[union-attr,assignment]
        self._schemas: dict[int, Schema] = {}
        self._serializers: dict[tuple[Schema, int | None], AvroSerializer] = {}
        self._deserializers = [
            AvroDeserializer(self._client, as_schema(schema), conf=BY_TOPIC)
            for schema in (reader_value_schema, reader_key_schema)
        ]

    def encode_record_with_schema(self, topic: str, schema: Any, record: Any, is_key: bool = False) -> bytes:
        """A frame of an object; its schema is registered under `topic-value` (or `topic-key`).

        Raises:
            KeySerializerError, ValueSerializerError: no schema, one that the registry refuses, or it does not fit.
        """
        known = as_schema(schema)
        if known is None:
            raise refusal(is_key)(f"no schema for the {'key' if is_key else 'value'} of {topic}")
        return self._encode(known, None, topic, record, is_key)

    def encode_record_with_schema_id(self, schema_id: int, record: Any, is_key: bool = False) -> bytes:
        """A frame of an object, by the id of its schema.

        Raises:
            KeySerializerError, ValueSerializerError: there is no such schema, or it does not fit.
        """
        if schema_id not in self._schemas:
            try:
                self._schemas[schema_id] = self._client.get_schema(schema_id)
            except SchemaRegistryError as error:
                text = "Schema does not exist" if error.not_found else f"the schema {schema_id} is not there: {error}"
                raise refusal(is_key)(text) from error
        return self._encode(self._schemas[schema_id], schema_id, NO_TOPIC, record, is_key)

    def decode_message(self, message: bytes | None, is_key: bool = False) -> Any:
        """The object in a frame; None for None.

        Raises:
            SerializerError: no frame, an unknown schema, or a payload that can't be read.
        """
        if message is None:
            return None
        if len(message) < SHORTEST:
            raise SerializerError("message is too small to decode")
        if message[0] != 0:
            raise SerializerError("message does not start with magic byte")
        try:
            return self._deserializers[is_key](message, context(NO_TOPIC, is_key))
        except SerializationError as error:
            schema_id = int.from_bytes(message[1:5], "big")
            if isinstance(error.__cause__, SchemaRegistryError):
                raise SerializerError(f"unable to fetch schema with id {schema_id}: {error.__cause__}") from error
            raise SerializerError(str(error)) from error

    def _encode(self, schema: Schema, schema_id: int | None, topic: str, record: Any, is_key: bool) -> bytes:
        try:
            payload = self._serializer(schema, schema_id)(record, context(topic, is_key))
        except SerializationError as error:
            raise refusal(is_key)(str(error)) from error
        if payload is None:
            raise refusal(is_key)("None has no frame: send it as it is")
        return payload

    def _serializer(self, schema: Schema, schema_id: int | None) -> AvroSerializer:
        """Whoever has an id needs no subject: the schema is neither registered nor looked up."""
        found = self._serializers.get((schema, schema_id))
        if found is None:
            by_id: dict[str, Any] = {"auto.register.schemas": False, "use.schema.id": schema_id}
            conf = BY_TOPIC if schema_id is None else {**BY_TOPIC, **by_id}
            found = self._serializers[schema, schema_id] = AvroSerializer(self._client, schema, conf=conf)
        return found


def context(topic: str, is_key: bool) -> SerializationContext:
    """The context of a topic's keys or values."""
    return SerializationContext(topic, MessageField.KEY if is_key else MessageField.VALUE)


def refusal(is_key: bool) -> type[KeySerializerError] | type[ValueSerializerError]:
    """The error of a key or a value."""
    return KeySerializerError if is_key else ValueSerializerError
