"""What type checkers know of typed clients; `test_typing.py` runs mypy on it. Ignored errors must be there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_type

from registry import AsyncSchemaRegistryClient, RegisteredSchema, Schema, SchemaRegistryClient
from serdes import (
    DeserializingConsumer,
    MessageField,
    SerializationContext,
    SerializingProducer,
    StringDeserializer,
    StringSerializer,
)
from serdes.avro import AvroDeserializer, AvroSerializer


@dataclass
class Order:
    id: str
    price: float


def produce(registry: SchemaRegistryClient) -> None:
    producer: SerializingProducer[str, Order] = SerializingProducer(
        {
            "bootstrap.servers": "localhost:9092",
            "key.serializer": StringSerializer(),
            "value.serializer": AvroSerializer(registry, "…", lambda order, ctx: vars(order)),
        }
    )
    producer.produce("orders", key="k", value=Order("1", 2.5))
    producer.produce("orders", key="k", value=None)
    producer.produce("orders", key=5, value=Order("1", 2.5))  # type: ignore[arg-type]
    producer.produce("orders", key="k", value={"id": "1"})  # type: ignore[arg-type]


def consume(registry: SchemaRegistryClient) -> None:
    consumer: DeserializingConsumer[str, Order] = DeserializingConsumer(
        {
            "bootstrap.servers": "localhost:9092",
            "group.id": "g",
            "key.deserializer": StringDeserializer(),
            "value.deserializer": AvroDeserializer(registry, from_dict=lambda value, ctx: Order(**value)),
        }
    )
    message = consumer.poll(1.0)
    if message is not None:
        assert_type(message.value(), Order | None)
        assert_type(message.key(), str | None)
        assert_type(message.offset(), int)
    for one in consumer.consume(10, 1.0):
        assert_type(one.value(), Order | None)
    for one in consumer:
        assert_type(one.key(), str | None)


def simple() -> None:
    context = SerializationContext("t", MessageField.KEY)
    assert_type(StringSerializer()("x", context), bytes | None)
    assert_type(StringDeserializer()(b"x", context), str | None)
    StringSerializer()(5)  # type: ignore[arg-type]


async def registries(blocking: SchemaRegistryClient, awaited: AsyncSchemaRegistryClient) -> None:
    assert_type(blocking.get_schema(1), Schema)
    assert_type(await awaited.get_schema(1), Schema)
    assert_type(blocking.get_latest_version("s"), RegisteredSchema)
    assert_type(blocking.register_schema("s", Schema("…")), int)
    awaited.get_schema(1)  # type: ignore[unused-coroutine]
