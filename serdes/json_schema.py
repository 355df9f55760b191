"""`JSONSerializer` and `JSONDeserializer`, blocking and asyncio, with schemas in a schema registry.

Names and arguments are those of `confluent_kafka.schema_registry.json_schema`. Schemas are chosen in
`serdes.engine.plan`, values encoded in `serdes.formats.json.codec`; `serdes.engine.serializer` and
`serdes.engine.deserializer` join the two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from registry import RegisteredSchema, Schema
from serdes.context import Deserializer, SerializationContext, Serializer, Value
from serdes.engine.aio import AsyncDeserializer, AsyncSerializer
from serdes.engine.blocking import BlockingDeserializer, BlockingSerializer
from serdes.engine.deserializer import DeserializerEngine
from serdes.engine.plan import as_schema
from serdes.engine.serializer import SerializerEngine
from serdes.formats.json.format import JsonFormat
from serdes.options import JSON, ReadOptions, WriteOptions, check_callable

if TYPE_CHECKING:
    from registry import SchemaRegistryClient
    from serdes.rules.registry import RuleRegistry

__all__ = ["AsyncJSONDeserializer", "AsyncJSONSerializer", "JSONDeserializer", "JSONSerializer"]

T = TypeVar("T")


def _serializing(
    schema_str: str | Schema | RegisteredSchema | None,
    client: Any,
    to_dict: Callable[[Any, SerializationContext], Any] | None,
    conf: Mapping[str, Any] | None,
    rule_conf: Mapping[str, Any] | None,
    rule_registry: RuleRegistry | None,
    json_encode: Callable[[Any], str | bytes] | None,
    model: Any,
) -> SerializerEngine:
    check_callable(json_encode, "json_encode")
    if model is not None:
        if to_dict is not None:
            raise ValueError("model and to_dict contradict each other: give one of them")
        from serdes.typed import json_adapter

        text, to_dict, _ = json_adapter(model)
        schema_str = text if schema_str is None else schema_str
    schema = as_schema(schema_str, "JSON")
    options = WriteOptions.parse(conf, schema is not None, JSON)
    form = JsonFormat(options.own["validate"], encode_json=json_encode)
    return SerializerEngine(client, form, schema, options, to_dict, rule_conf, rule_registry)


def _deserializing(
    schema_str: str | Schema | RegisteredSchema | None,
    from_dict: Callable[[Any, SerializationContext], Any] | None,
    client: Any,
    conf: Mapping[str, Any] | None,
    rule_conf: Mapping[str, Any] | None,
    rule_registry: RuleRegistry | None,
    json_decode: Callable[[bytes], Any] | None,
    model: Any,
) -> DeserializerEngine:
    check_callable(json_decode, "json_decode")
    if model is not None:
        if from_dict is not None:
            raise ValueError("model sets the type of values: from_dict can't be given too")
        from serdes.typed import json_adapter

        from_dict = json_adapter(model)[2]
    schema = as_schema(schema_str, "JSON")
    if client is None and (schema is None or schema.references):
        what = '"schema_str" is not provided' if schema is None else "the schema has references"
        raise ValueError(f"schema_registry_client must be provided if {what}")
    options = ReadOptions.parse(conf, JSON)
    form = JsonFormat(options.own["validate"], decode_json=json_decode)
    return DeserializerEngine(client, form, schema, options, from_dict, rule_conf, rule_registry)


class JSONSerializer(BlockingSerializer, Generic[Value]):
    """Values → framed JSON, checked against their schema. Threads may share one.

    Args:
        schema_str: the schema: text, `Schema` (for references) or `RegisteredSchema`; its `title` is the record's
            name. None if `use.latest.version`, `use.latest.with.metadata` or `use.schema.id` say which one to use.
        schema_registry_client: where schemas are registered or looked up, at the first value of a topic.
        to_dict: `to_dict(obj, ctx)` makes what JSON knows (dicts, lists, …) of the caller's objects.
        conf: `validate` (default true), and as for `AvroSerializer`: `auto.register.schemas`, `normalize.schemas`,
            `use.schema.id`, `use.latest.version`, `use.latest.with.metadata`, `latest.compatibility.strict`,
            `subject.name.strategy`, `subject.name.strategy.type`, `subject.name.strategy.conf`,
            `schema.id.serializer`.
        rule_conf: configuration of rule executors.
        rule_registry: rule executors and actions of one's own.
        json_encode: makes text or bytes of a value, instead of orjson or json.
        model: the type of the values, one that pydantic knows: a model, dataclass, TypedDict. Without `schema_str`, its
            JSON Schema is pydantic's.

    Raises:
        ValueError: unknown or contradicting properties, or no schema.
        TypeError: pydantic is missing, or knows no schema for the model.
        SerializationError: the schema is not a valid JSON Schema.
    """

    def __init__(
        self,
        schema_str: str | Schema | RegisteredSchema | None,
        schema_registry_client: Any,
        to_dict: Callable[[Any, SerializationContext], Any] | None = None,
        conf: Mapping[str, Any] | None = None,
        rule_conf: Mapping[str, Any] | None = None,
        rule_registry: RuleRegistry | None = None,
        json_encode: Callable[[Any], str | bytes] | None = None,
        *,
        model: type[Value] | None = None,
    ) -> None:
        given = schema_str, schema_registry_client, to_dict, conf, rule_conf, rule_registry, json_encode
        super().__init__(_serializing(*given, model))

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
        """A serializer of one type: the constructor with `model=kind`.

        Args:
            kind: the type; its JSON Schema is pydantic's.
            schema_registry_client: as for the constructor.
            schema_str: a schema to check values against instead.
            conf: as for the constructor.

        Raises:
            TypeError: pydantic is missing, or knows no schema for the type.
        """
        make: Any = cls
        made: Serializer[T] = make(schema_str, schema_registry_client, conf=conf, model=kind)
        return made


class AsyncJSONSerializer(AsyncSerializer, Generic[Value]):
    """Values → framed JSON, checked against their schema, for tasks of one event loop; see `JSONSerializer`."""

    def __init__(
        self,
        schema_str: str | Schema | RegisteredSchema | None,
        schema_registry_client: Any,
        to_dict: Callable[[Any, SerializationContext], Any] | None = None,
        conf: Mapping[str, Any] | None = None,
        rule_conf: Mapping[str, Any] | None = None,
        rule_registry: RuleRegistry | None = None,
        json_encode: Callable[[Any], str | bytes] | None = None,
        *,
        model: type[Value] | None = None,
    ) -> None:
        given = schema_str, schema_registry_client, to_dict, conf, rule_conf, rule_registry, json_encode
        super().__init__(_serializing(*given, model))

    if TYPE_CHECKING:

        async def __call__(self, obj: Value | None, ctx: SerializationContext | None = None) -> bytes | None: ...


class JSONDeserializer(BlockingDeserializer, Generic[Value]):
    """Framed JSON → values, checked against a schema. Threads may share one.

    Args:
        schema_str: what values are checked against; None for the schema they were written with.
        from_dict: `from_dict(value, ctx)` makes the caller's objects of what JSON knows.
        schema_registry_client: where writer schemas are looked up, once per schema. It may be missing if there is a
            schema without references.
        conf: `validate` (default true), `use.latest.version` or `use.latest.with.metadata`, `subject.name.strategy`,
            `subject.name.strategy.type`, `subject.name.strategy.conf`, `schema.id.deserializer`.
        rule_conf: configuration of rule executors.
        rule_registry: rule executors and actions of one's own.
        json_decode: makes a value of bytes, instead of orjson or json.
        model: the type to make of each value, by pydantic.

    Raises:
        ValueError: unknown or contradicting properties, or no client where one is needed.
        TypeError: pydantic is missing, or knows no schema for the model.
        SerializationError: the schema is not a valid JSON Schema.
    """

    def __init__(
        self,
        schema_str: str | Schema | RegisteredSchema | None = None,
        from_dict: Callable[[Any, SerializationContext], Any] | None = None,
        schema_registry_client: Any = None,
        conf: Mapping[str, Any] | None = None,
        rule_conf: Mapping[str, Any] | None = None,
        rule_registry: RuleRegistry | None = None,
        json_decode: Callable[[bytes], Any] | None = None,
        *,
        model: type[Value] | None = None,
    ) -> None:
        given = schema_str, from_dict, schema_registry_client, conf, rule_conf, rule_registry, json_decode
        super().__init__(_deserializing(*given, model))

    if TYPE_CHECKING:

        def __call__(self, value: bytes | None, ctx: SerializationContext | None = None) -> Value | None: ...

    @classmethod
    def for_type(
        cls,
        kind: type[T],
        schema_registry_client: SchemaRegistryClient,
        conf: Mapping[str, Any] | None = None,
    ) -> Deserializer[T]:
        """A deserializer to one type: the constructor with `model=kind`.

        Raises:
            TypeError: pydantic is missing, or knows no schema for the type.
        """
        make: Any = cls
        made: Deserializer[T] = make(schema_registry_client=schema_registry_client, conf=conf, model=kind)
        return made


class AsyncJSONDeserializer(AsyncDeserializer, Generic[Value]):
    """Framed JSON → values, checked against a schema, for tasks of one event loop; see `JSONDeserializer`."""

    def __init__(
        self,
        schema_str: str | Schema | RegisteredSchema | None = None,
        from_dict: Callable[[Any, SerializationContext], Any] | None = None,
        schema_registry_client: Any = None,
        conf: Mapping[str, Any] | None = None,
        rule_conf: Mapping[str, Any] | None = None,
        rule_registry: RuleRegistry | None = None,
        json_decode: Callable[[bytes], Any] | None = None,
        *,
        model: type[Value] | None = None,
    ) -> None:
        given = schema_str, from_dict, schema_registry_client, conf, rule_conf, rule_registry, json_decode
        super().__init__(_deserializing(*given, model))

    if TYPE_CHECKING:

        async def __call__(self, value: bytes | None, ctx: SerializationContext | None = None) -> Value | None: ...
