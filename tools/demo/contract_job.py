"""The contract of the demo: bookings as a dataclass, a name that is encrypted, a value that is refused, a dead letter.

Knows nothing of the flights but their keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kafka_core import Consumer, Producer
from registry import Rule, RuleKind, RuleMode, RuleSet, Schema, SchemaRegistryClient
from serdes import DeserializingConsumer, SerializationError, SerializingProducer
from serdes.avro import AvroDeserializer, AvroSerializer
from tools.demo.kafka_job import IDLE_S, schema_text

SECRET = {"secret": "known to services, not to the broker"}
NEWEST = {"auto.register.schemas": False, "use.latest.version": True}
ROUND_S = 1.0
JUNK = b"not a frame"


@dataclass
class Booking:
    """The fields of schemas/booking.avsc."""

    flight: str
    passenger: str
    seats: int


def contract() -> Schema:
    """The schema with its rules: names are encrypted, a booking has at least one seat."""
    keys = {"encrypt.kek.name": "demo", "encrypt.kms.type": "local-kms", "encrypt.kms.key.id": "demo"}
    encrypt = Rule(
        "encrypt", kind=RuleKind.TRANSFORM, mode=RuleMode.WRITEREAD, type="ENCRYPT", tags=["PII"], params=keys
    )
    seats = Rule("seats", kind=RuleKind.CONDITION, mode=RuleMode.WRITE, type="CEL", expr="message.seats > 0")
    return Schema(schema_text("booking"), rule_set=RuleSet(domain_rules=[seats, encrypt]))


def bookings(flights: Sequence[str]) -> list[Booking]:
    """One for each flight."""
    return [Booking(flight, f"Passenger {number}", number % 4 + 1) for number, flight in enumerate(flights)]


def produce(bootstrap: str, client: SchemaRegistryClient, topic: str, values: Sequence[Booking]) -> str:
    """Writes the bookings, tries one that breaks the contract, and leaves a broken frame; why the one was refused."""
    serializer = AvroSerializer(client, conf=NEWEST, rule_conf=SECRET)
    config: dict[str, Any] = {"bootstrap.servers": bootstrap, "value.serializer": serializer}
    refusal = ""
    with SerializingProducer[None, Booking](config) as producer:
        for value in values:
            producer.produce(topic, value=value)
        try:
            producer.produce(topic, value=Booking("XX0", "Nobody", 0))
        except SerializationError as error:
            refusal = str(error)
        producer.flush(IDLE_S)
    careless(bootstrap, topic)
    return refusal


def careless(bootstrap: str, topic: str) -> None:
    """Leaves a broken frame, as somebody does who writes without a serializer."""
    with Producer({"bootstrap.servers": bootstrap}) as producer:
        producer.produce(topic, JUNK)
        producer.flush(IDLE_S)


def read(bootstrap: str, client: SchemaRegistryClient, topic: str, dead: str, expected: int) -> list[Booking]:
    """Reads the bookings; what can't be read goes to the dead-letter topic."""
    deserializer = AvroDeserializer(client, from_dict=lambda value, _: Booking(**value), rule_conf=SECRET)
    config: dict[str, Any] = {
        **reading(bootstrap, topic),
        "value.deserializer": deserializer,
        "dead.letter.topic": dead,
    }
    found: list[Booking] = []
    with DeserializingConsumer[None, Booking](config) as consumer:
        consumer.subscribe([topic])
        for _ in range(round(IDLE_S / ROUND_S)):
            messages = consumer.consume(1_000, ROUND_S)
            found += [value for message in messages if (value := message.value()) is not None]
            if len(found) >= expected and not messages:  # the broken frame has been passed, too
                break
    return found


def raw(bootstrap: str, topic: str, expected: int) -> list[Any]:
    """The messages as the broker has them."""
    found: list[Any] = []
    with Consumer(reading(bootstrap, f"{topic}-raw")) as consumer:
        consumer.subscribe([topic])
        for _ in range(round(IDLE_S / ROUND_S)):
            found += consumer.consume(expected - len(found), ROUND_S)
            if len(found) >= expected:
                break
    return found


def reading(bootstrap: str, group: str) -> dict[str, Any]:
    """A consumer's configuration."""
    return {"bootstrap.servers": bootstrap, "group.id": f"{group}-demo", "auto.offset.reset": "earliest"}
