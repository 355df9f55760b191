"""`AvroSerializer` and `AvroDeserializer`, blocking and asyncio, with schemas in a schema registry.

Names and arguments are those of `confluent_kafka.schema_registry.avro`. Schemas are chosen in `serdes.engine.plan`,
values encoded in `serdes.formats.avro.codec`; `serdes.engine.serializer` and `serdes.engine.deserializer` join the two.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from registry import RegisteredSchema, Schema
from serdes.context import Deserializer, SerializationContext, Serializer, Value
from serdes.engine.aio import AsyncDeserializer, AsyncSerializer
from serdes.engine.blocking import BlockingDeserializer, BlockingSerializer
from serdes.engine.deserializer import DeserializerEngine
from serdes.engine.plan import as_schema
from serdes.engine.serializer import SerializerEngine
from serdes.formats.avro.format import AvroFormat
from serdes.options import AVRO_READ, AVRO_WRITE, ReadOptions, WriteOptions

if TYPE_CHECKING:
    from registry import AsyncSchemaRegistryClient, SchemaRegistryClient
    from serdes.rules.registry import RuleRegistry

__all__ = ["AsyncAvroDeserializer", "AsyncAvroSerializer", "AvroDeserializer", "AvroSerializer"]

T = TypeVar("T")


def _schema(given: str | Schema | RegisteredSchema | None) -> Schema | None:
    """The given schema; the name of a primitive type becomes the JSON that a registry takes."""
    if not isinstance(given, str):
        return as_schema(given)
    text = given.strip()
    name = text.strip('"')
    return Schema(f'{{"type":"{name}"}}' if name.isalpha() else text, "AVRO")


def _serializing(
    client: Any,
    schema_str: str | Schema | RegisteredSchema | None,
    to_dict: Callable[[Any, SerializationContext], Any] | None,
    conf: Mapping[str, Any] | None,
    rules: tuple[Mapping[str, Any] | None, RuleRegistry | None],
    model: Any,
) -> SerializerEngine:
    objects = None
    if model is not None:
        if to_dict is not None:
            raise ValueError("model and to_dict contradict each other: give one of them")
        from serdes.models.avro import Model  # users of dicts load none of it
        from serdes.typed import checked_avro_schema

        objects = Model(model, schema_str is None)
        schema_str = checked_avro_schema(model, schema_str)
    schema = _schema(schema_str)
    options = WriteOptions.parse(conf, schema is not None, AVRO_WRITE)
    form = AvroFormat(options.own["validate.strict"], options.own["validate.strict.allow.default"], model=objects)
    return SerializerEngine(client, form, schema, options, to_dict, *rules)


def _deserializing(
    client: Any,
    schema_str: str | Schema | RegisteredSchema | None,
    from_dict: Callable[[Any, SerializationContext], Any] | None,
    return_record_name: bool,
    conf: Mapping[str, Any] | None,
    rules: tuple[Mapping[str, Any] | None, RuleRegistry | None],
    model: Any,
) -> DeserializerEngine:
    if not isinstance(return_record_name, bool):
        raise ValueError("return_record_name must be a boolean value")
    objects = None
    if model is not None:
        if from_dict is not None or return_record_name:
            raise ValueError("model already sets the type of values: leave out from_dict and return_record_name")
        from serdes.models.avro import Model
        from serdes.typed import avro_schema

        objects, own = Model(model), avro_schema(model)
        schema_str = own if schema_str is None else schema_str
    options = ReadOptions.parse(conf, AVRO_READ)
    form = AvroFormat(
        return_record_name=return_record_name, max_empty_items=options.own["avro.max.empty.items"], model=objects
    )
    return DeserializerEngine(client, form, _schema(schema_str), options, from_dict, *rules)


class AvroSerializer(BlockingSerializer, Generic[Value]):
    """Values → framed Avro. Threads may share one.

    Args:
        schema_registry_client: where schemas are registered or looked up, at the first value of a topic.
        schema_str: the schema: text, `Schema` (for references) or `RegisteredSchema`. It may be missing if
            `use.latest.version`, `use.latest.with.metadata` or `use.schema.id` say which one to use.
        to_dict: `to_dict(obj, ctx)` makes what Avro knows (dicts, lists, …) of the caller's objects.
        conf: `auto.register.schemas` (default true), `normalize.schemas`, `use.schema.id`, `use.latest.version`,
            `use.latest.with.metadata`, `latest.compatibility.strict`, `subject.name.strategy` (a callable) or
            `subject.name.strategy.type` (TOPIC, RECORD, TOPIC_RECORD, ASSOCIATED) with `subject.name.strategy.conf`,
            `schema.id.serializer`, `validate.strict`, `validate.strict.allow.default`.
        rule_conf: configuration of rule executors.
        rule_registry: rule executors and actions of one's own.
        model: the class of the values: a dataclass, attrs class, msgspec.Struct, named tuple, pydantic model or
            TypedDict. Its attributes are written without a dict between; without `schema_str`, its own schema is used
            (`serdes.typed.avro_schema`).

    Raises:
        ValueError: unknown or contradicting properties, or no schema.
        TypeError: a field of the model has no Avro type.
        SerializationError: the schema is not valid Avro, or can't hold the model.
    """

    def __init__(
        self,
        schema_registry_client: Any,
        schema_str: str | Schema | RegisteredSchema | None = None,
        to_dict: Callable[[Any, SerializationContext], Any] | None = None,
        conf: Mapping[str, Any] | None = None,
        rule_conf: Mapping[str, Any] | None = None,
        rule_registry: RuleRegistry | None = None,
        *,
        model: type[Value] | None = None,
    ) -> None:
        rules = rule_conf, rule_registry
        super().__init__(_serializing(schema_registry_client, schema_str, to_dict, conf, rules, model))

    if TYPE_CHECKING:

        def __call__(self, obj: Value | None, ctx: SerializationContext | None = None) -> bytes | None: ...

    @classmethod
    def for_type(
        cls,
        kind: type[T],
        schema_registry_client: SchemaRegistryClient,
        schema_str: str | Schema | RegisteredSchema | None = None,
        conf: Mapping[str, Any] | None = None,
    ) -> Serializer[T]:
        """A serializer of one class: the constructor with `model=kind`.

        Args:
            kind: the class; without a schema, `serdes.typed.avro_schema` derives one.
            schema_registry_client: as for the constructor.
            schema_str: a schema to write with instead, if it can hold all values of the class.
            conf: as for the constructor.

        Raises:
            TypeError: a field has no Avro type.
            SerializationError: the given schema can't hold the class.
        """
        make: Any = cls
        made: Serializer[T] = make(schema_registry_client, schema_str, conf=conf, model=kind)
        return made


class AsyncAvroSerializer(AsyncSerializer, Generic[Value]):
    """Values → framed Avro, for tasks of one event loop; see `AvroSerializer`."""

    def __init__(
        self,
        schema_registry_client: Any,
        schema_str: str | Schema | RegisteredSchema | None = None,
        to_dict: Callable[[Any, SerializationContext], Any] | None = None,
        conf: Mapping[str, Any] | None = None,
        rule_conf: Mapping[str, Any] | None = None,
        rule_registry: RuleRegistry | None = None,
        *,
        model: type[Value] | None = None,
    ) -> None:
        rules = rule_conf, rule_registry
        super().__init__(_serializing(schema_registry_client, schema_str, to_dict, conf, rules, model))

    if TYPE_CHECKING:

        async def __call__(self, obj: Value | None, ctx: SerializationContext | None = None) -> bytes | None: ...

    @classmethod
    def for_type(
        cls,
        kind: type[T],
        schema_registry_client: AsyncSchemaRegistryClient,
        schema_str: str | Schema | RegisteredSchema | None = None,
        conf: Mapping[str, Any] | None = None,
    ) -> Callable[[T | None, SerializationContext | None], Awaitable[bytes | None]]:
        """See `AvroSerializer.for_type`."""
        make: Any = cls
        made: Callable[[T | None, SerializationContext | None], Awaitable[bytes | None]] = make(
            schema_registry_client, schema_str, conf=conf, model=kind
        )
        return made


class AvroDeserializer(BlockingDeserializer, Generic[Value]):
    """Framed Avro → values. Threads may share one.

    Args:
        schema_registry_client: where writer schemas are looked up, once per schema.
        schema_str: the reader schema that all values are resolved to; without it values come as they were written.
        from_dict: `from_dict(value, ctx)` makes the caller's objects of what Avro knows.
        return_record_name: records in unions come as `(name, record)`.
        conf: `use.latest.version` or `use.latest.with.metadata` (read with that version of the subject, if no schema
            is given), `subject.name.strategy`, `subject.name.strategy.type`, `subject.name.strategy.conf`,
            `schema.id.deserializer`, `avro.max.empty.items` (array items of a message that take no bytes, 10,000).
        rule_conf: configuration of rule executors.
        rule_registry: rule executors and actions of one's own.
        model: the class to make of each value: as for `AvroSerializer`, and without a dict between. Without
            `schema_str`, values are resolved to its own schema.

    Raises:
        ValueError: unknown or contradicting properties.
        TypeError: a field of the model has no Avro type.
        SerializationError: the schema is not valid Avro.
    """

    def __init__(
        self,
        schema_registry_client: Any,
        schema_str: str | Schema | RegisteredSchema | None = None,
        from_dict: Callable[[Any, SerializationContext], Any] | None = None,
        return_record_name: bool = False,
        conf: Mapping[str, Any] | None = None,
        rule_conf: Mapping[str, Any] | None = None,
        rule_registry: RuleRegistry | None = None,
        *,
        model: type[Value] | None = None,
    ) -> None:
        given = schema_str, from_dict, return_record_name, conf, (rule_conf, rule_registry)
        super().__init__(_deserializing(schema_registry_client, *given, model))

    if TYPE_CHECKING:

        def __call__(self, value: bytes | None, ctx: SerializationContext | None = None) -> Value | None: ...

    @classmethod
    def for_type(
        cls,
        kind: type[T],
        schema_registry_client: SchemaRegistryClient,
        schema_str: str | Schema | RegisteredSchema | None = None,
        conf: Mapping[str, Any] | None = None,
    ) -> Deserializer[T]:
        """A deserializer to one class: the constructor with `model=kind`.

        Args:
            kind: the class; without a schema, its own (`serdes.typed.avro_schema`) is what values are resolved to.
            schema_registry_client: as for the constructor.
            schema_str: another reader schema.
            conf: as for the constructor.

        Raises:
            TypeError: a field has no Avro type.
        """
        make: Any = cls
        made: Deserializer[T] = make(schema_registry_client, schema_str, conf=conf, model=kind)
        return made


class AsyncAvroDeserializer(AsyncDeserializer, Generic[Value]):
    """Framed Avro → values, for tasks of one event loop; see `AvroDeserializer`."""

    def __init__(
        self,
        schema_registry_client: Any,
        schema_str: str | Schema | RegisteredSchema | None = None,
        from_dict: Callable[[Any, SerializationContext], Any] | None = None,
        return_record_name: bool = False,
        conf: Mapping[str, Any] | None = None,
        rule_conf: Mapping[str, Any] | None = None,
        rule_registry: RuleRegistry | None = None,
        *,
        model: type[Value] | None = None,
    ) -> None:
        given = schema_str, from_dict, return_record_name, conf, (rule_conf, rule_registry)
        super().__init__(_deserializing(schema_registry_client, *given, model))

    if TYPE_CHECKING:

        async def __call__(self, value: bytes | None, ctx: SerializationContext | None = None) -> Value | None: ...

    @classmethod
    def for_type(
        cls,
        kind: type[T],
        schema_registry_client: AsyncSchemaRegistryClient,
        schema_str: str | Schema | RegisteredSchema | None = None,
        conf: Mapping[str, Any] | None = None,
    ) -> Callable[[bytes | None, SerializationContext | None], Awaitable[T | None]]:
        """See `AvroDeserializer.for_type`."""
        make: Any = cls
        made: Callable[[bytes | None, SerializationContext | None], Awaitable[T | None]] = make(
            schema_registry_client, schema_str, conf=conf, model=kind
        )
        return made
