"""`kserdes` as type checkers see it; `test_typing.py` runs mypy and pyright on it. Ignored errors must be there."""

from __future__ import annotations

from typing import assert_type

import kafka_core
import kserdes
import registry
import serdes
from kserdes import (
    OFFSET_END,
    AdminClient,
    AIOProducer,
    AsyncSchemaRegistryClient,
    AvroDeserializer,
    AvroSerializer,
    Consumer,
    DeserializingConsumer,
    EmbeddedCluster,
    EmbeddedRegistry,
    JSONSerializer,
    KeySerializationError,
    NewTopic,
    Producer,
    ProtobufSerializer,
    Schema,
    SchemaRegistryClient,
    SerializingProducer,
    StringSerializer,
    from_registry,
)

NAMES = (
    AIOProducer,
    AdminClient,
    AsyncSchemaRegistryClient,
    AvroDeserializer,
    DeserializingConsumer,
    EmbeddedCluster,
    EmbeddedRegistry,
    JSONSerializer,
    KeySerializationError,
    NewTopic,
    ProtobufSerializer,
    from_registry,
)


def same(client: SchemaRegistryClient, producer: Producer, consumer: Consumer) -> None:
    assert_type(client, registry.SchemaRegistryClient)
    assert_type(producer, kafka_core.Producer)
    assert_type(client.get_schema(1), Schema)
    assert_type(consumer.poll(1.0), kafka_core.Message | None)
    assert_type(StringSerializer()("x"), bytes | None)
    version: str = kserdes.__version__ + kafka_core.__version__ + registry.__version__ + serdes.__version__
    position: int = OFFSET_END
    print(version, position)


def produce(client: SchemaRegistryClient) -> None:
    producer: SerializingProducer[str, dict[str, int]] = SerializingProducer(
        {"key.serializer": StringSerializer(), "value.serializer": AvroSerializer(client, "…")}
    )
    producer.produce("orders", key="k", value={"id": 1})
    producer.produce("orders", key=5, value=None)  # type: ignore[arg-type]


def misspelt() -> None:
    _ = kserdes.Prodcuer  # type: ignore[attr-defined]
    _ = kafka_core.Prodcuer  # type: ignore[attr-defined]
    _ = registry.Shema  # type: ignore[attr-defined]
    _ = serdes.StringSerialiser  # type: ignore[attr-defined]
    print(kafka_core.admin.AdminClient, kafka_core.aio.AIOProducer, kafka_core.broker.EmbeddedCluster)
