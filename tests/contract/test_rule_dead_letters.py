"""Rules that set messages aside while they are read: one dead letter for a message, and the consumer goes on."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from kafka_core import Consumer
from kafka_core.broker import EmbeddedCluster
from kafka_core.model import TopicPartition
from registry import AsyncSchemaRegistryClient, Rule, RuleKind, RuleMode, RuleSet, Schema, SchemaRegistryClient
from serdes import AIODeserializingConsumer, DeserializingConsumer, SerializingProducer
from serdes.avro import AsyncAvroDeserializer, AvroDeserializer, AvroSerializer
from serdes.errors import ValueDeserializationError

WAIT_S = 60.0
PERSON = {"type": "record", "name": "Person", "fields": [{"name": "age", "type": "int"}]}
AGES = (20, 5, 30)


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster() as running:
        yield running


@pytest.fixture
def topic(cluster: EmbeddedCluster) -> str:
    """A topic with three people, of whom readers refuse the second; its dead letters go to `<topic>-dead`."""
    name = f"people-{uuid.uuid4().hex}"
    for each in (name, f"{name}-dead"):
        cluster.create_topic(each, 1)
    adult = Rule(
        name="adult",
        kind=RuleKind.CONDITION,
        mode=RuleMode.READ,
        type="CEL",
        expr="message.age > 17",
        on_failure="DLQ",
        params={"dlq.topic": f"{name}-dead"},
    )
    with SchemaRegistryClient({"url": f"mock://{name}"}) as registry:
        registry.register_schema(f"{name}-value", Schema(json.dumps(PERSON), rule_set=RuleSet(domain_rules=[adult])))
        write = AvroSerializer(registry, conf={"auto.register.schemas": False, "use.latest.version": True})
        producer: SerializingProducer[None, Any] = SerializingProducer(
            {"bootstrap.servers": cluster.bootstrap_servers, "value.serializer": write}
        )
        with producer:
            for age in AGES:
                producer.produce(name, value={"age": age})
            assert producer.flush(WAIT_S) == 0
    return name


def conf_of(cluster: EmbeddedCluster, topic: str, read: Any) -> dict[str, Any]:
    return {"bootstrap.servers": cluster.bootstrap_servers, "group.id": topic, "value.deserializer": read}


def letters(cluster: EmbeddedCluster, topic: str) -> list[dict[str, Any]]:
    """The headers of all dead letters."""
    dead = TopicPartition(f"{topic}-dead", 0, 0)
    with Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": "dead"}) as consumer:
        consumer.assign([dead])
        count = consumer.get_watermark_offsets(dead, WAIT_S)[1]
        found = consumer.consume(count, WAIT_S) if count else []
    return [dict(message.headers() or []) for message in found]


@pytest.mark.parametrize("at_once", [1, 10])
def test_a_message_that_a_rule_has_set_aside_does_not_come_again(
    cluster: EmbeddedCluster, topic: str, at_once: int
) -> None:
    with SchemaRegistryClient({"url": f"mock://{topic}"}) as registry:
        read = AvroDeserializer(registry, rule_conf={"bootstrap.servers": cluster.bootstrap_servers})
        consumer: DeserializingConsumer[None, Any] = DeserializingConsumer(conf_of(cluster, topic, read))
        with consumer:
            consumer.assign([TopicPartition(topic, 0, 0)])
            ages, raised = [], []
            while len(ages) + len(raised) < len(AGES):
                try:
                    ages += [message.value()["age"] for message in consumer.consume(at_once, WAIT_S)]
                except ValueDeserializationError as error:
                    raised.append((error.offset, error.set_aside))
            assert (ages, raised) == ([20, 30], [(1, f"{topic}-dead")])
            assert [place.offset for place in consumer.commit(asynchronous=False) or []] == [3]
        read.close()
    assert [headers["__rule.name"] for headers in letters(cluster, topic)] == [b"adult"]


def test_nor_with_asyncio(cluster: EmbeddedCluster, topic: str) -> None:
    async def scene() -> None:
        async with AsyncSchemaRegistryClient({"url": f"mock://{topic}"}) as registry:
            read = AsyncAvroDeserializer(registry, rule_conf={"bootstrap.servers": cluster.bootstrap_servers})
            consumer: AIODeserializingConsumer[None, Any] = AIODeserializingConsumer(conf_of(cluster, topic, read))
            async with consumer:
                await consumer.assign([TopicPartition(topic, 0, 0)])
                first = await consumer.poll(WAIT_S)
                with pytest.raises(ValueDeserializationError, match="adult"):
                    await consumer.poll(WAIT_S)
                last = await consumer.poll(WAIT_S)
                assert [message.value()["age"] for message in (first, last) if message is not None] == [20, 30]
            await read.aclose()

    asyncio.run(asyncio.wait_for(scene(), 2 * WAIT_S))
    assert len(letters(cluster, topic)) == 1


def test_a_letter_that_is_not_delivered_sets_nothing_aside(cluster: EmbeddedCluster, topic: str) -> None:
    class Lost:
        def produce(self, *_: Any, on_delivery: Any, **__: Any) -> None:
            """Never delivered, and never told."""

        def poll(self, timeout: float) -> int:
            return 0

        flush = poll

    with SchemaRegistryClient({"url": f"mock://{topic}"}) as registry:
        read = AvroDeserializer(registry, rule_conf={"producer": Lost()})
        consumer: DeserializingConsumer[None, Any] = DeserializingConsumer(conf_of(cluster, topic, read))
        with consumer:
            consumer.assign([TopicPartition(topic, 0, 1)])
            for _ in range(2):
                with pytest.raises(ValueDeserializationError) as raised:
                    consumer.poll(WAIT_S)
                assert (raised.value.offset, raised.value.set_aside) == (1, None)
        read.close()
