"""Types of serializers as type checkers see them; `test_typing.py` runs mypy and pyright on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, assert_type

from registry import AsyncSchemaRegistryClient, SchemaRegistryClient
from serdes import LongDeserializer, NullSerializer, SerializingProducer, UUIDSerializer
from serdes.avro import AsyncAvroDeserializer, AvroDeserializer, AvroSerializer
from serdes.json_schema import JSONDeserializer, JSONSerializer
from serdes.protobuf import ProtobufDeserializer, ProtobufSerializer


@dataclass
class Order:
    id: str
    price: float


def typed(registry: SchemaRegistryClient) -> None:
    serialize = AvroSerializer.for_type(Order, registry)
    assert_type(serialize(Order("1", 2.5)), bytes | None)
    serialize({"id": "1"})  # type: ignore[arg-type]
    deserialize = AvroDeserializer.for_type(Order, registry)
    assert_type(deserialize(b""), Order | None)
    assert_type(JSONDeserializer.for_type(Order, registry)(b""), Order | None)
    JSONSerializer.for_type(Order, registry)(5)  # type: ignore[arg-type]


def models(registry: SchemaRegistryClient, anything: AvroDeserializer) -> Any:
    deserialize = AvroDeserializer(registry, model=Order)
    assert_type(deserialize(b""), Order | None)
    assert_type(JSONDeserializer(schema_registry_client=registry, model=Order)(b""), Order | None)
    serialize = AvroSerializer(registry, model=Order)
    assert_type(serialize(Order("1", 2.5)), bytes | None)
    serialize(5)  # type: ignore[arg-type]
    JSONSerializer(None, registry, model=Order)(5)  # type: ignore[arg-type]
    AvroSerializer(registry, "{}")({"any": "thing"})
    return anything(b"")


async def awaited(registry: AsyncSchemaRegistryClient) -> None:
    deserialize = AsyncAvroDeserializer.for_type(Order, registry)
    assert_type(await deserialize(b"", None), Order | None)
    assert_type(await AsyncAvroDeserializer(registry, model=Order)(b""), Order | None)


def simple() -> None:
    assert_type(LongDeserializer()(b""), int | None)
    UUIDSerializer()("text")  # type: ignore[arg-type]
    NullSerializer()(None)


def clients(registry: SchemaRegistryClient, message: Any) -> None:
    conf: dict[str, Any] = {"value.serializer": ProtobufSerializer(type(message), registry)}
    producer: SerializingProducer[None, Any] = SerializingProducer(conf)
    producer.produce("orders", value=message)
    ProtobufDeserializer(None, {"message.type": "shop.Order"}, registry)
