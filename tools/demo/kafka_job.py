"""The service side of the demo: produce typed flights, evolve their schema, be refused once, read everything back."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kafka_core import KafkaError, Message, TopicPartition
from kafka_core.admin import AdminClient, NewTopic
from registry import Schema, SchemaRegistryClient, SchemaRegistryError
from serdes import DeserializingConsumer, SerializingProducer, StringDeserializer, StringSerializer
from serdes.avro import AvroDeserializer, AvroSerializer
from tools.demo.data import SCHEMAS, Flight

PARTITIONS = 4
IDLE_S = 60.0
ANSWER_S = 20.0
Progress = Callable[[int], object]


def schema_text(name: str) -> str:
    """The Avro schema `schemas/<name>.avsc`."""
    return (SCHEMAS / f"{name}.avsc").read_text()


def create_topics(bootstrap: str, topics: dict[str, int]) -> None:
    """Makes the topics and waits for them."""
    wanted = [NewTopic(name, count, 1) for name, count in topics.items()]
    with AdminClient({"bootstrap.servers": bootstrap}) as admin:
        for future in admin.create_topics(wanted, request_timeout=ANSWER_S).values():
            future.result()


@dataclass(slots=True)
class Delivered:
    """A summary of delivery reports: the count of good ones, the first failures."""

    count: int = 0
    failures: list[str] = field(default_factory=list)

    def __call__(self, error: KafkaError | None, message: Message) -> None:
        self.count += 1
        if error is not None:
            self.failures.append(f"{message.topic()}[{message.partition()}]: {error}")


def flight_v1(flight: Flight, _: object) -> dict[str, Any]:
    """The fields of version 1 (what the writer schema doesn't name is not written)."""
    return flight.__dict__


def with_speed(flight: Flight) -> Flight:
    """Version 2 knows the mean ground speed."""
    if flight.air_time is None:
        return flight
    return replace(flight, speed_mph=flight.distance / (flight.air_time / 60))


def produce_flights(
    bootstrap: str, client: SchemaRegistryClient, topic: str, schema: str, flights: Sequence[Flight], progress: Progress
) -> Delivered:
    """Every flight through a SerializingProducer; waits where the queue is full, and for all acknowledgements."""
    delivered = Delivered()
    serializer = AvroSerializer(client, schema_text(schema), to_dict=flight_v1)
    config: dict[str, Any] = {
        "bootstrap.servers": bootstrap,
        "key.serializer": StringSerializer("utf_8"),
        "value.serializer": serializer,
        "compression.type": "lz4",
        "max.block.ms": 60_000,
        "linger.ms": 20,
    }
    producer: SerializingProducer[str, Flight] = SerializingProducer(config)
    for number, flight in enumerate(flights, 1):
        producer.produce(topic, key=flight.key, value=flight, on_delivery=delivered)
        if number % 1_000 == 0:
            producer.poll(0)
            progress(1_000)
    progress(len(flights) % 1_000)
    left = producer.flush(60)
    if left:
        delivered.failures.append(f"{left} messages were not acknowledged within 60 s")
    producer.close()
    return delivered


def produce_carriers(
    bootstrap: str, client: SchemaRegistryClient, topic: str, carriers: Sequence[dict[str, str]]
) -> None:
    """The small table beside the large one."""
    config: dict[str, Any] = {
        "bootstrap.servers": bootstrap,
        "key.serializer": StringSerializer("utf_8"),
        "value.serializer": AvroSerializer(client, schema_text("carrier")),
    }
    with SerializingProducer[str, dict[str, str]](config) as producer:
        for carrier in carriers:
            producer.produce(topic, key=carrier["carrier"], value=carrier)
        producer.flush(30)


def refused_schema(client: SchemaRegistryClient, subject: str) -> str | None:
    """Tries to register the incompatible version; the registry's reason, None if it was wrongly taken."""
    try:
        client.register_schema(subject, Schema(schema_text("flight_bad"), "AVRO"))
    except SchemaRegistryError as error:
        return str(error)
    return None


@dataclass(slots=True)
class Seen:
    """The records that one consumer read."""

    records: int = 0
    with_speed: int = 0
    total_delay: int = 0
    partitions: Counter[int] = field(default_factory=Counter)
    error: BaseException | None = None


class Readers:
    """Consumers of one group, a thread each, until all of `expected` records are read."""

    def __init__(self, bootstrap: str, client: SchemaRegistryClient, topic: str, expected: int) -> None:
        self._config: dict[str, Any] = {
            "bootstrap.servers": bootstrap,
            "group.id": f"{topic}-demo",
            "auto.offset.reset": "earliest",
            "key.deserializer": StringDeserializer("utf_8"),
            "value.deserializer": AvroDeserializer(client, schema_text("flight_v2")),
        }
        self._topic = topic
        self._expected = expected
        self._ready = threading.Barrier(2)
        self.seen = [Seen(), Seen()]

    @property
    def total(self) -> int:
        """Records read by all."""
        return sum(seen.records for seen in self.seen)

    def run(self, progress: Progress) -> None:
        """Reads everything; raises what a reader raised."""
        threads = [threading.Thread(target=self._guarded, args=(seen,), daemon=True) for seen in self.seen]
        for thread in threads:
            thread.start()
        shown = 0
        while any(thread.is_alive() for thread in threads):
            time.sleep(0.2)
            progress(self.total - shown)
            shown = self.total
        for seen in self.seen:
            if seen.error is not None:
                raise seen.error

    def _guarded(self, seen: Seen) -> None:
        try:
            self._read(seen)
        except Exception as error:
            seen.error = error
            self._ready.abort()

    def _read(self, seen: Seen) -> None:
        with DeserializingConsumer[str, dict[str, Any]](self._config) as consumer:
            consumer.subscribe([self._topic], on_assign=self._hold)
            self._wait_for_share(consumer)
            idle_since = time.monotonic()
            while self.total < self._expected and time.monotonic() - idle_since < IDLE_S:
                messages = consumer.consume(2_000, 0.5)
                if messages:
                    idle_since = time.monotonic()
                for message in messages:
                    flight = message.value()
                    assert flight is not None  # flights have no tombstones
                    seen.with_speed += flight["speed_mph"] is not None
                    seen.total_delay += flight["arr_delay"] or 0
                    seen.partitions[message.partition() or 0] += 1
                seen.records += len(messages)

    @staticmethod
    def _hold(consumer: Any, partitions: list[TopicPartition]) -> None:
        """Takes its share, but reads nothing of it yet."""
        consumer.assign(partitions)
        consumer.pause(partitions)

    def _wait_for_share(self, consumer: DeserializingConsumer[str, dict[str, Any]]) -> None:
        """Both members hold partitions before either reads, so that the work is really shared."""
        deadline = time.monotonic() + IDLE_S
        while len(consumer.assignment()) != PARTITIONS // len(self.seen) and time.monotonic() < deadline:
            if consumer.consume(1, 0.1):
                raise RuntimeError("a paused consumer gave a message")
        self._ready.wait(IDLE_S)
        consumer.resume(consumer.assignment())
