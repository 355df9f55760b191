"""`ProtobufSerializer` and `ProtobufDeserializer`, blocking and asyncio, with schemas in a schema registry.

Names and arguments are those of `confluent_kafka.schema_registry.protobuf`. Schemas are chosen in `serdes.engine.plan`,
values encoded in `serdes.formats.protobuf.codec`; `serdes.engine.serializer` and `serdes.engine.deserializer` join the
two.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from google.protobuf.message import Message

from registry import RegisteredSchema, Schema
from serdes.engine.aio import AsyncDeserializer, AsyncSerializer
from serdes.engine.blocking import BlockingDeserializer, BlockingSerializer
from serdes.engine.deserializer import DeserializerEngine
from serdes.engine.plan import as_schema
from serdes.engine.serializer import SerializerEngine
from serdes.formats.protobuf.format import ProtobufFormat
from serdes.frames.varint_streams import encode_varints, write_varint
from serdes.options import ANY_TYPE, PROTOBUF_READ, PROTOBUF_WRITE, ReadOptions, WriteOptions

if TYPE_CHECKING:
    from serdes.rules.registry import RuleRegistry

__all__ = [
    "AsyncProtobufDeserializer",
    "AsyncProtobufSerializer",
    "ProtobufDeserializer",
    "ProtobufSerializer",
]


def _serializing(
    msg_type: type[Message] | str | Schema | RegisteredSchema | None,
    client: Any,
    conf: Mapping[str, Any] | None,
    *rules: Any,
) -> SerializerEngine:
    message, given = _class_or_schema(msg_type)
    form = ProtobufFormat(message, str((conf or {}).get("message.type") or ""))
    schema = form.schema() or given
    options = WriteOptions.parse(conf, schema is not None, PROTOBUF_WRITE)
    return SerializerEngine(client, form, schema, options, None, *rules)


def _deserializing(
    message_type: type[Message] | None, conf: Mapping[str, Any] | None, client: Any, *rules: Any
) -> DeserializerEngine:
    message, _ = _class_or_schema(message_type)
    if message is None and client is None:
        raise ValueError("schema_registry_client must be provided if no message class is given")
    options = ReadOptions.parse(conf, PROTOBUF_READ)
    form = ProtobufFormat(message, options.own["message.type"], options.own[ANY_TYPE])
    return DeserializerEngine(client, form, None, options, None, *rules)


def _class_or_schema(given: Any) -> tuple[type[Message] | None, Schema | None]:
    """Tells a generated class from a schema."""
    if isinstance(given, type) and issubclass(given, Message):
        return given, None
    return None, as_schema(given, "PROTOBUF")


class ProtobufSerializer(BlockingSerializer):
    """Messages → framed Protobuf. Threads may share one.

    Args:
        msg_type: the generated class of the messages. Without one: a `.proto` text or `Schema`, or None if
            `use.latest.version`, `use.latest.with.metadata` or `use.schema.id` say which schema to use; values are
            then dicts (Protobuf's JSON form), or messages of a class with the right name.
        schema_registry_client: where schemas, and the files they import, are registered or looked up.
        conf: `skip.known.types` (default true), `reference.subject.name.strategy`, `use.deprecated.format`,
            `message.type` (the message type's name, if there is no class; else the first of the file), and as for
            `AvroSerializer`: `auto.register.schemas`, `normalize.schemas`, `use.schema.id`, `use.latest.version`,
            `use.latest.with.metadata`, `latest.compatibility.strict`, `subject.name.strategy`,
            `subject.name.strategy.type`, `subject.name.strategy.conf`, `schema.id.serializer`.
        rule_conf: configuration of rule executors.
        rule_registry: rule executors and actions of one's own.

    Raises:
        ValueError: unknown or contradicting properties, or neither class nor schema.
        SerializationError: the schema is not valid.
    """

    _write_varint = staticmethod(write_varint)
    _encode_varints = staticmethod(encode_varints)

    def __init__(
        self,
        msg_type: type[Message] | str | Schema | RegisteredSchema | None,
        schema_registry_client: Any,
        conf: Mapping[str, Any] | None = None,
        rule_conf: Mapping[str, Any] | None = None,
        rule_registry: RuleRegistry | None = None,
    ) -> None:
        super().__init__(_serializing(msg_type, schema_registry_client, conf, rule_conf, rule_registry))


class AsyncProtobufSerializer(AsyncSerializer):
    """Messages → framed Protobuf, for tasks of one event loop; see `ProtobufSerializer`."""

    _write_varint = staticmethod(write_varint)
    _encode_varints = staticmethod(encode_varints)

    def __init__(
        self,
        msg_type: type[Message] | str | Schema | RegisteredSchema | None,
        schema_registry_client: Any,
        conf: Mapping[str, Any] | None = None,
        rule_conf: Mapping[str, Any] | None = None,
        rule_registry: RuleRegistry | None = None,
    ) -> None:
        super().__init__(_serializing(msg_type, schema_registry_client, conf, rule_conf, rule_registry))


class ProtobufDeserializer(BlockingDeserializer):
    """Framed Protobuf → messages. Threads may share one.

    Args:
        message_type: the generated class of the messages. Without one, classes are built from the registry's
            schemas, for the message type that each frame says.
        conf: `message.type` (without a class: another type in a frame is an error), `message.type.any` (default
            false: with a class, a frame whose message type has another full name is an error; true reads it with
            the class all the same, as confluent_kafka does), `use.deprecated.format`,
            `use.latest.version` or `use.latest.with.metadata`, `subject.name.strategy`,
            `subject.name.strategy.type`, `subject.name.strategy.conf`, `schema.id.deserializer`.
        schema_registry_client: where writer schemas are looked up, once per schema. It may be missing if there is a
            class: then frames are read without asking anybody.
        rule_conf: configuration of rule executors.
        rule_registry: rule executors and actions of one's own.

    Raises:
        ValueError: unknown properties, or no client where one is needed.
    """

    def __init__(
        self,
        message_type: type[Message] | None = None,
        conf: Mapping[str, Any] | None = None,
        schema_registry_client: Any = None,
        rule_conf: Mapping[str, Any] | None = None,
        rule_registry: RuleRegistry | None = None,
    ) -> None:
        super().__init__(_deserializing(message_type, conf, schema_registry_client, rule_conf, rule_registry))


class AsyncProtobufDeserializer(AsyncDeserializer):
    """Framed Protobuf → messages, for tasks of one event loop; see `ProtobufDeserializer`."""

    def __init__(
        self,
        message_type: type[Message] | None = None,
        conf: Mapping[str, Any] | None = None,
        schema_registry_client: Any = None,
        rule_conf: Mapping[str, Any] | None = None,
        rule_registry: RuleRegistry | None = None,
    ) -> None:
        super().__init__(_deserializing(message_type, conf, schema_registry_client, rule_conf, rule_registry))
