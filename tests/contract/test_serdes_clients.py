"""Typed produce and consume, through a broker and a registry: what is handed out, and what happens to poison."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from kafka_core.broker import EmbeddedCluster
from kafka_core.errors import ConsumeError, KafkaError, StateError
from kafka_core.model import TopicPartition
from kafka_core.sync.consumer import Consumer
from kafka_core.sync.producer import Producer
from registry import AsyncSchemaRegistryClient, SchemaRegistryClient
from serdes import (
    AIODeserializingConsumer,
    AIOSerializingProducer,
    DeserializingConsumer,
    SerializingProducer,
    StringDeserializer,
    StringSerializer,
)
from serdes.avro import AsyncAvroDeserializer, AsyncAvroSerializer, AvroDeserializer, AvroSerializer
from serdes.clients.dead_letters import AIODeadLetters
from serdes.errors import (
    KeyDeserializationError,
    KeySerializationError,
    ValueDeserializationError,
    ValueSerializationError,
)

ORDER = '{"type":"record","name":"Order","fields":[{"name":"id","type":"string"},{"name":"n","type":"int"}]}'
WAIT_S = 60.0


@pytest.fixture(scope="module")
def cluster() -> Iterator[EmbeddedCluster]:
    with EmbeddedCluster() as running:
        yield running


class World:
    """A topic of two partitions, a registry, and clients for both."""

    def __init__(self, cluster: EmbeddedCluster) -> None:
        self.topic = f"orders-{uuid.uuid4().hex}"
        self.bootstrap = {"bootstrap.servers": cluster.bootstrap_servers}
        self.registry_url = f"mock://{self.topic}"
        self.registry = SchemaRegistryClient({"url": self.registry_url})
        self._open: list[Any] = [self.registry]
        cluster.create_topic(self.topic, 2)

    def producer(self, **conf: Any) -> SerializingProducer[str, dict[str, Any]]:
        functions = {"key.serializer": StringSerializer(), "value.serializer": AvroSerializer(self.registry, ORDER)}
        made: SerializingProducer[str, dict[str, Any]] = SerializingProducer({**self.bootstrap, **functions, **conf})
        self._open.insert(0, made)
        return made

    def consumer_conf(self, group: str = "g", /, **conf: Any) -> dict[str, Any]:
        return {**self.bootstrap, "group.id": f"{self.topic}-{group}", "auto.offset.reset": "earliest", **conf}

    def consumer(self, group: str = "g", /, **conf: Any) -> DeserializingConsumer[str, dict[str, Any]]:
        functions = {
            "key.deserializer": StringDeserializer(),
            "value.deserializer": AvroDeserializer(self.registry),
        }
        made: DeserializingConsumer[str, dict[str, Any]] = DeserializingConsumer(
            self.consumer_conf(group, **{**functions, **conf})
        )
        self._open.insert(0, made)
        return made

    def raw(self, value: bytes | None, partition: int = 0, key: bytes | None = b"k") -> None:
        with Producer(self.bootstrap) as producer:
            producer.produce(self.topic, value, key, partition)
            assert producer.flush(WAIT_S) == 0

    def typed(self, *numbers: int, partition: int = 0) -> None:
        producer = self.producer()
        for number in numbers:
            producer.produce(self.topic, f"k{number}", {"id": str(number), "n": number}, partition)
        assert producer.flush(WAIT_S) == 0

    def at(self, consumer: Any, *partitions: int) -> None:
        consumer.assign([TopicPartition(self.topic, partition, 0) for partition in partitions or (0,)])

    def close(self) -> None:
        for client in self._open:
            client.close()


@pytest.fixture
def world(cluster: EmbeddedCluster) -> Iterator[World]:
    made = World(cluster)
    yield made
    made.close()


def gather(consumer: Any, count: int) -> list[Any]:
    """Consumes until so many messages are here; errors come out."""
    found: list[Any] = []
    deadline_s = time.monotonic() + WAIT_S
    while len(found) < count and time.monotonic() < deadline_s:
        found += consumer.consume(count - len(found), 1.0)
    return found


def numbers(messages: list[Any]) -> list[int]:
    return [message.value()["n"] for message in messages]


def test_typed_records_go_through(world: World) -> None:
    reports: list[Any] = []
    producer = world.producer()
    for number in range(50):
        producer.produce(
            world.topic,
            key=f"k{number}",
            value={"id": str(number), "n": number},
            on_delivery=lambda error, message: reports.append((error, message.topic())),
            timestamp=1_700_000_000_000 + number,
            headers={"h": b"1"},
        )
    assert producer.flush(WAIT_S) == 0
    assert reports == [(None, world.topic)] * 50
    consumer = world.consumer()
    consumer.subscribe([world.topic])
    found = {message.key(): message for message in gather(consumer, 50)}
    assert sorted(found) == sorted(f"k{number}" for number in range(50))
    one = found["k7"]
    assert one.value() == {"id": "7", "n": 7}
    assert one.timestamp()[1] == 1_700_000_000_007
    assert one.headers() == [("h", b"1")]


def test_tombstones_pass_through(world: World) -> None:
    producer = world.producer()
    producer.produce(world.topic, "k", None, 0)
    assert producer.flush(WAIT_S) == 0
    consumer = world.consumer()
    world.at(consumer)
    (message,) = gather(consumer, 1)
    assert (message.key(), message.value()) == ("k", None)


def test_records_that_fail_to_serialize_are_not_queued(world: World) -> None:
    producer = world.producer()
    with pytest.raises(ValueSerializationError) as caught:
        producer.produce(world.topic, "k", {"id": "x", "n": "many"})
    assert (caught.value.topic, caught.value.field, caught.value.path) == (world.topic, "value", "Order.n")
    with pytest.raises(KeySerializationError):
        producer.produce(world.topic, 5, {"id": "x", "n": 1})  # type: ignore[arg-type]
    assert len(producer) == 0


def test_batches_out(world: World) -> None:
    producer = world.producer()
    batch: list[dict[str, Any]] = [{"key": str(n), "value": {"id": "x", "n": n}} for n in range(4)]
    batch[1]["value"] = {"id": "x"}
    assert producer.produce_batch(world.topic, batch, 0) == 3
    assert ["_error" in message for message in batch] == [False, True, False, False]
    assert batch[1]["_error"] == KafkaError._VALUE_SERIALIZATION
    assert batch[0]["value"] == {"id": "x", "n": 0}
    assert producer.flush(WAIT_S) == 0
    consumer = world.consumer()
    world.at(consumer)
    assert numbers(gather(consumer, 3)) == [0, 2, 3]


def test_poison_is_raised_again_until_somebody_seeks_past_it(world: World) -> None:
    world.typed(0, 1)
    world.raw(b"\x00poison")
    world.typed(3)
    consumer = world.consumer()
    world.at(consumer)
    assert numbers(gather(consumer, 2)) == [0, 1]
    for _ in range(3):
        with pytest.raises(ValueDeserializationError) as caught:
            consumer.poll(WAIT_S)
        error = caught.value
        assert (error.topic, error.partition, error.offset, error.field) == (world.topic, 0, 2, "value")
        assert error.kafka_message is not None
        assert error.kafka_message.value() == b"\x00poison"
    consumer.seek(TopicPartition(world.topic, 0, 3))
    message = consumer.poll(WAIT_S)
    assert message is not None
    assert message.value() == {"id": "3", "n": 3}


def test_messages_before_poison_come_first_and_other_partitions_go_on(world: World) -> None:
    world.typed(0, 1)
    world.raw(b"bad")
    world.typed(3)
    world.typed(10, 11, partition=1)
    consumer = world.consumer()
    world.at(consumer, 0, 1)
    found: list[Any] = []
    with pytest.raises(ValueDeserializationError):
        for _ in range(20):
            found += consumer.consume(100, 2.0)
    assert sorted(numbers(found)) == [0, 1, 10, 11]


def test_a_restart_sees_the_poison_again(world: World) -> None:
    world.typed(0, 1)
    world.raw(b"bad")
    world.typed(3)
    consumer = world.consumer()
    consumer.subscribe([world.topic])
    assert numbers(gather(consumer, 2)) == [0, 1]
    with pytest.raises(ValueDeserializationError):
        consumer.poll(WAIT_S)
    consumer.close()  # commits what was stored: everything before the poison
    again = world.consumer()
    again.subscribe([world.topic])
    with pytest.raises(ValueDeserializationError) as caught:
        again.poll(WAIT_S)
    assert caught.value.offset == 2
    assert again.committed([TopicPartition(world.topic, 0)], WAIT_S)[0].offset == 2


def test_key_poison(world: World) -> None:
    world.raw(AvroSerializer(world.registry, ORDER)({"id": "x", "n": 1}, _context(world)), key=b"\xff")
    consumer = world.consumer()
    world.at(consumer)
    with pytest.raises(KeyDeserializationError):
        consumer.poll(WAIT_S)


def _context(world: World) -> Any:
    from serdes import MessageField, SerializationContext

    return SerializationContext(world.topic, MessageField.VALUE)


def test_offsets_are_stored_only_if_asked_for(world: World) -> None:
    world.typed(0, 1)
    consumer = world.consumer(**{"enable.auto.offset.store": False, "enable.auto.commit": False})
    consumer.subscribe([world.topic])
    messages = gather(consumer, 2)
    assert consumer.committed([TopicPartition(world.topic, 0)], WAIT_S)[0].offset < 0
    consumer.store_offsets(messages[0])
    consumer.commit(asynchronous=False)
    assert consumer.committed([TopicPartition(world.topic, 0)], WAIT_S)[0].offset == 1


def test_raw_columns_are_stored_too(world: World) -> None:
    pytest.importorskip("pyarrow")
    world.typed(0, 1)
    consumer = world.consumer(**{"enable.auto.commit": False})
    consumer.subscribe([world.topic])
    rows = 0
    deadline_s = time.monotonic() + WAIT_S
    while rows < 2 and time.monotonic() < deadline_s:
        rows += consumer.consume_arrow(10, 1.0).num_rows
    consumer.commit(asynchronous=False)
    assert consumer.committed([TopicPartition(world.topic, 0)], WAIT_S)[0].offset == 2


def test_events_are_raised(world: World) -> None:
    world.typed(0)
    consumer = world.consumer(**{"enable.partition.eof": True})
    world.at(consumer)
    assert numbers(gather(consumer, 1)) == [0]
    with pytest.raises(ConsumeError) as caught:
        for _ in range(20):
            consumer.poll(1.0)
    assert caught.value.code == KafkaError._PARTITION_EOF


def test_iteration(world: World) -> None:
    world.typed(0, 1, 2)
    consumer = world.consumer()
    world.at(consumer)
    found = []
    for message in consumer:
        found.append(message)
        if len(found) == 3:
            break
    assert numbers(found) == [0, 1, 2]


def test_without_functions_bytes_pass(world: World) -> None:
    producer: SerializingProducer[bytes, bytes] = SerializingProducer(world.bootstrap)
    producer.produce(world.topic, b"k", b"v", 0)
    assert producer.flush(WAIT_S) == 0
    producer.close()
    consumer: DeserializingConsumer[bytes, bytes] = DeserializingConsumer(world.consumer_conf())
    world.at(consumer)
    (message,) = gather(consumer, 1)
    assert (message.key(), message.value()) == (b"k", b"v")
    consumer.close()


def test_asyncio_producer(world: World) -> None:
    async def scene() -> None:
        async with AsyncSchemaRegistryClient({"url": world.registry_url}) as registry:
            functions = {"key.serializer": StringSerializer(), "value.serializer": AsyncAvroSerializer(registry, ORDER)}
            producer: AIOSerializingProducer[str, dict[str, Any]] = AIOSerializingProducer(
                {**world.bootstrap, **functions}
            )
            async with producer:
                delivered = await producer.produce(world.topic, "k0", {"id": "0", "n": 0}, 0)
                with pytest.raises(ValueSerializationError):
                    await producer.produce(world.topic, "k", {"id": "x"})
                batch = [{"key": "k", "value": {"id": "x", "n": n}} for n in (1, "bad", 3)]
                one, bad, three = await producer.produce_batch(world.topic, batch, 0)
                assert await producer.flush(WAIT_S) == 0
                assert [(await future).offset() for future in (delivered, one, three)] == [0, 1, 2]
                with pytest.raises(ValueSerializationError):
                    await bad

    asyncio.run(asyncio.wait_for(scene(), 120))
    consumer = world.consumer()
    world.at(consumer)
    assert numbers(gather(consumer, 3)) == [0, 1, 3]


def test_asyncio_consumer(world: World) -> None:
    world.typed(0, 1)
    world.raw(b"bad")
    world.typed(3)

    async def scene() -> None:
        async with AsyncSchemaRegistryClient({"url": world.registry_url}) as registry:
            functions = {
                "key.deserializer": StringDeserializer(),
                "value.deserializer": AsyncAvroDeserializer(registry),
            }
            consumer: AIODeserializingConsumer[str, dict[str, Any]] = AIODeserializingConsumer(
                world.consumer_conf("aio", **functions)
            )
            async with consumer:
                await consumer.assign([TopicPartition(world.topic, 0, 0)])
                found: list[Any] = []
                while len(found) < 2:
                    found += await consumer.consume(10, 2.0)
                assert numbers(found) == [0, 1]
                for _ in range(2):
                    with pytest.raises(ValueDeserializationError) as caught:
                        await consumer.poll(WAIT_S)
                    assert caught.value.offset == 2
                await consumer.seek(TopicPartition(world.topic, 0, 3))
                async for message in consumer:
                    assert (message.key(), message.value()) == ("k3", {"id": "3", "n": 3})
                    break

    asyncio.run(asyncio.wait_for(scene(), 120))


def test_iteration_does_not_end_with_an_error_of_the_application(world: World) -> None:
    world.typed(0)

    def fails(consumer: Any, partitions: list[TopicPartition]) -> None:
        raise StateError("something of the application is closed")

    async def scene() -> None:
        async with AIODeserializingConsumer[Any, Any](world.consumer_conf("ends")) as consumer:
            await consumer.subscribe([world.topic], on_assign=fails)
            with pytest.raises(StateError, match="of the application"):
                async for _ in consumer:
                    pass

    asyncio.run(asyncio.wait_for(scene(), 120))


def test_a_dead_letter_keeps_its_bytes_and_says_where_it_comes_from(world: World, cluster: EmbeddedCluster) -> None:
    dead = f"{world.topic}-dead"
    cluster.create_topic(dead, 1)
    world.typed(0)
    world.raw(b"bad", key=b"kk")
    world.typed(2)
    consumer = world.consumer(**{"dead.letter.topic": dead})
    world.at(consumer)
    assert numbers(gather(consumer, 2)) == [0, 2]
    consumer.close()
    after = world.consumer()
    assert [place.offset for place in after.committed([TopicPartition(world.topic, 0)], WAIT_S)] == [3]
    reader: DeserializingConsumer[bytes, bytes] = DeserializingConsumer(world.consumer_conf("dead"))
    reader.assign([TopicPartition(dead, 0, 0)])
    (letter,) = gather(reader, 1)
    reader.close()
    assert (letter.key(), letter.value()) == (b"kk", b"bad")
    facts = dict(letter.headers() or [])
    assert facts["__dlq.topic"] == world.topic.encode()
    assert (facts["__dlq.partition"], facts["__dlq.offset"]) == (b"0", b"1")
    assert facts["__dlq.error.class"] == b"SerializationError"


def test_skipped_messages_are_reported_and_not_seen_again(world: World) -> None:
    world.raw(b"bad")
    world.typed(1)
    told: list[Any] = []
    consumer = world.consumer(**{"poison.policy": "skip", "on.poison": told.append})
    world.at(consumer)
    message = consumer.poll(WAIT_S)
    assert message is not None
    assert message.key() == "k1"
    assert [(error.offset, error.kafka_message.value()) for error in told] == [(0, b"bad")]


def test_asyncio_dead_letters(world: World, cluster: EmbeddedCluster) -> None:
    dead = f"{world.topic}-dead"
    cluster.create_topic(dead, 1)
    world.raw(b"bad")
    world.typed(1)

    async def scene() -> None:
        conf = {"key.deserializer": StringDeserializer(), "value.deserializer": AvroDeserializer(world.registry)}
        consumer: AIODeserializingConsumer[str, dict[str, Any]] = AIODeserializingConsumer(
            world.consumer_conf("aio", **conf, **{"dead.letter.topic": dead})
        )
        async with consumer:
            await consumer.assign([TopicPartition(world.topic, 0, 0)])
            message = await consumer.poll(WAIT_S)
            assert message is not None
            assert message.key() == "k1"

    asyncio.run(asyncio.wait_for(scene(), 120))
    reader: DeserializingConsumer[bytes, bytes] = DeserializingConsumer(world.consumer_conf("dead"))
    reader.assign([TopicPartition(dead, 0, 0)])
    (letter,) = gather(reader, 1)
    reader.close()
    assert letter.value() == b"bad"


def letters_of(world: World, dead: str) -> list[Any]:
    """The values of all letters that are there now."""
    with Consumer(world.consumer_conf("letters")) as reader:
        _, end = reader.get_watermark_offsets(TopicPartition(dead, 0), WAIT_S)
        reader.assign([TopicPartition(dead, 0, 0)])
        return [message.value() for message in gather(reader, end)]


def test_a_message_that_comes_again_is_not_set_aside_again(world: World, cluster: EmbeddedCluster) -> None:
    dead = f"{world.topic}-dead"
    cluster.create_topic(dead, 1)
    world.raw(b"bad")
    world.typed(1)
    told: list[Any] = []

    def fails_at_first(error: Any) -> None:
        told.append(error.offset)
        if len(told) < 3:
            raise ValueError("not yet")

    with world.consumer(**{"dead.letter.topic": dead, "on.poison": fails_at_first}) as consumer:
        world.at(consumer)
        for _ in range(2):
            with pytest.raises(ValueDeserializationError):
                consumer.poll(WAIT_S)
        message = consumer.poll(WAIT_S)
        assert message is not None
        assert (message.offset(), told) == (1, [0, 0, 0])
        assert letters_of(world, dead) == [b"bad"]
        consumer.seek(TopicPartition(world.topic, 0, 0))  # read again on purpose, it is set aside again
        assert consumer.poll(WAIT_S) is not None
    assert letters_of(world, dead) == [b"bad"] * 2


def test_a_poll_that_is_cancelled_sets_nothing_aside_twice(world: World, cluster: EmbeddedCluster) -> None:
    dead = f"{world.topic}-dead"
    cluster.create_topic(dead, 1)
    for _ in range(3):
        world.raw(b"bad")
    world.typed(1)

    async def scene() -> None:
        conf = {"key.deserializer": StringDeserializer(), "value.deserializer": AvroDeserializer(world.registry)}
        consumer: AIODeserializingConsumer[str, dict[str, Any]] = AIODeserializingConsumer(
            world.consumer_conf("aio", **conf, **{"dead.letter.topic": dead})
        )
        async with consumer:
            await consumer.assign([TopicPartition(world.topic, 0, 0)])
            consumer._letters = AIODeadLetters(consumer._policy.producer_conf or {})
            begun, sent = asyncio.Event(), consumer._letters._sent.begun

            def begin(*arguments: Any) -> None:
                sent(*arguments)
                begun.set()

            setattr(consumer._letters._sent, "begun", begin)  # noqa: B010  # mypy takes no other one in its place
            for _ in range(3):
                begun.clear()
                interrupted = asyncio.ensure_future(consumer.consume(10, WAIT_S))
                await asyncio.wait_for(begun.wait(), WAIT_S)
                interrupted.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await interrupted
            (message,) = await consumer.consume(10, WAIT_S)
            assert message.offset() == 3

    asyncio.run(asyncio.wait_for(scene(), 120))
    assert letters_of(world, dead) == [b"bad"] * 3


def test_schema_ids_may_travel_in_headers(world: World) -> None:
    from serdes import header_schema_id_serializer

    conf = {"schema.id.serializer": header_schema_id_serializer}
    producer = world.producer(**{"value.serializer": AvroSerializer(world.registry, ORDER, conf=conf)})
    producer.produce(world.topic, "k", {"id": "1", "n": 1}, 0)
    producer.produce(world.topic, "k", {"id": "2", "n": 2}, 0, headers={"a": b"b"})
    assert producer.flush(WAIT_S) == 0
    consumer = world.consumer()
    world.at(consumer)
    found = gather(consumer, 2)
    assert numbers(found) == [1, 2]
    assert [len(message.headers()) for message in found] == [1, 2]
