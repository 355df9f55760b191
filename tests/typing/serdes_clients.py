"""Types of typed clients as type checkers see them; `test_typing.py` runs mypy on it. Ignored errors must be there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, assert_type

from kafka_core import Consumer, Message, Messages, ShareConsumer
from kafka_core.aio import AIOConsumer
from registry import AsyncSchemaRegistryClient, RegisteredSchema, Schema, SchemaRegistryClient
from serdes import (
    AIODeserializingConsumer,
    AIODeserializingShareConsumer,
    DeserializingConsumer,
    DeserializingShareConsumer,
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


def without_parameters(conf: dict[str, object]) -> None:
    """Strict type checkers ask for no annotation; keys and values are anything."""
    producer = SerializingProducer(conf)
    producer.produce("orders", key=5, value={"id": "1"})
    with DeserializingConsumer(conf) as consumer:
        message = consumer.poll(1.0)
        if message is not None:
            assert_type(message.value(), Any | None)


def handle(message: Message[str, Order]) -> Order | None:
    assert_type(message.key(), str | None)
    assert_type(message.deserialized_value(), Order | None)
    return message.value()


def typed_messages_are_messages(consumer: DeserializingConsumer[str, Order]) -> None:
    message = consumer.poll()
    if message is not None:
        handle(message)
        assert_type(message.partition(), int)
    for one in consumer.consume(10):
        anything: Message[object, object] = one
        handle(anything)  # type: ignore[arg-type]


async def awaited(consumer: AIODeserializingConsumer[str, Order], raw: AIOConsumer) -> None:
    message = await consumer.poll()
    if message is not None:
        assert_type(handle(message), Order | None)
    async for one in consumer:
        assert_type(one.value(), Order | None)
    plain = await raw.poll()
    if plain is not None:
        assert_type(plain.value(), bytes | None)


def a_message_alone_has_bytes(consumer: Consumer, share: ShareConsumer) -> None:
    message = consumer.poll()
    if message is not None:
        assert_type(message, Message)
        assert_type(message, Message[bytes, bytes])
        assert_type(message.key(), bytes | None)
        handle(message)  # type: ignore[arg-type]
    assert_type(share.poll(), Messages[Message])
    assert_type(share.poll()[0].value(), bytes | None)
    assert_type(Message("t", key="k", value=Order("1", 2.5)).value(), Order | None)


async def shared(share: DeserializingShareConsumer[str, Order], aio: AIODeserializingShareConsumer[str, Order]) -> None:
    assert_type(share.poll(), Messages[Message[str, Order]])
    for message in share.poll():
        assert_type(handle(message), Order | None)
    assert_type(share.poll()[1:].records(), list[Message[str, Order]])
    for message in await aio.poll():
        assert_type(handle(message), Order | None)


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
