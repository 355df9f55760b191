"""confluent-kafka's own registry client and serializers against our embedded registry, and bytes both ways."""

from __future__ import annotations

import datetime
import decimal
import json
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from registry import Schema, SchemaRegistryClient
from registry.dev import serve
from serdes import MessageField, SerializationContext
from serdes.avro import AvroDeserializer, AvroSerializer

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # authlib warns of httpx when it is imported
    peer = pytest.importorskip("confluent_kafka.schema_registry", exc_type=ImportError)
    peer_avro = pytest.importorskip("confluent_kafka.schema_registry.avro", exc_type=ImportError)
    peer_serialization = pytest.importorskip("confluent_kafka.serialization")

pytestmark = pytest.mark.interop

ADDRESS = {"type": "record", "name": "Address", "fields": [{"name": "city", "type": "string"}]}
FIELDS: list[dict[str, Any]] = [
    {"name": "id", "type": "string"},
    {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    {"name": "day", "type": {"type": "int", "logicalType": "date"}},
    {"name": "total", "type": {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}},
    {"name": "note", "type": ["null", "string"], "default": None},
    {"name": "tags", "type": {"type": "array", "items": "string"}},
    {"name": "counts", "type": {"type": "map", "values": "long"}},
    {"name": "status", "type": {"type": "enum", "name": "Status", "symbols": ["NEW", "PAID"]}},
    {"name": "address", "type": ADDRESS},
    {"name": "ratio", "type": "double"},
]
SCHEMA = json.dumps({"type": "record", "name": "Order", "namespace": "shop", "fields": FIELDS})
VALUE = {
    "id": "ä-1",
    "at": datetime.datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=datetime.UTC),
    "day": datetime.date(2026, 1, 2),
    "total": decimal.Decimal("-12.30"),
    "note": None,
    "tags": ["a", "b"],
    "counts": {"x": 2**40},
    "status": "PAID",
    "address": {"city": "Köln"},
    "ratio": 0.1,
}
TOPIC_STRATEGY = {"subject.name.strategy": peer.topic_subject_name_strategy}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serve() as server:
        yield server.url


@pytest.fixture
def ours(url: str) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": url}) as client:
        yield client


@pytest.fixture
def theirs(url: str) -> Iterator[Any]:
    client = peer.SchemaRegistryClient({"url": url})
    yield client
    client.close()


def test_their_client_works_against_our_server(theirs: Any, request: pytest.FixtureRequest) -> None:
    subject = f"{request.node.name}/ä b"
    schema = peer.Schema('"int"', "AVRO")
    schema_id = theirs.register_schema(subject, schema)
    assert theirs.get_schema(schema_id).schema_str == '"int"'
    assert theirs.lookup_schema(subject, schema).version == 1
    assert theirs.get_latest_version(subject).schema_id == schema_id
    assert theirs.get_version(subject, 1).schema.schema_str == '"int"'
    assert subject in theirs.get_subjects()
    assert subject in theirs.get_subjects_by_schema_id(schema_id)
    assert theirs.get_versions(subject) == [1]
    assert (subject, 1) in [(v.subject, v.version) for v in theirs.get_schema_versions(schema_id)]
    assert theirs.test_compatibility(subject, peer.Schema('"string"', "AVRO")) is False
    assert theirs.test_compatibility_all_versions(subject, peer.Schema('"long"', "AVRO")) is True
    theirs.set_compatibility(subject, "FULL")
    assert theirs.get_compatibility(subject) == "FULL"
    assert theirs.get_config(subject).compatibility_level == "FULL"
    with pytest.raises(peer.SchemaRegistryError) as caught:
        theirs.register_schema(subject, peer.Schema('"string"', "AVRO"))
    assert (caught.value.http_status_code, caught.value.error_code) == (409, 409)
    assert theirs.delete_version(subject, 1) == 1
    assert theirs.delete_version(subject, 1, permanent=True) == 1
    with pytest.raises(peer.SchemaRegistryError) as caught:
        theirs.get_versions(subject)
    assert caught.value.error_code == 40401


def test_both_clients_get_the_same_ids(ours: SchemaRegistryClient, theirs: Any) -> None:
    assert ours.register_schema("same", Schema(SCHEMA)) == theirs.register_schema("same", peer.Schema(SCHEMA, "AVRO"))


@pytest.mark.parametrize("value", [VALUE, {**VALUE, "note": "hi"}])
def test_the_same_bytes_and_each_reads_the_other(ours: SchemaRegistryClient, theirs: Any, value: Any) -> None:
    our_context = SerializationContext("orders", MessageField.VALUE)
    their_context = peer_serialization.SerializationContext("orders", peer_serialization.MessageField.VALUE)
    our_frame = AvroSerializer(ours, SCHEMA)(value, our_context)
    their_frame = peer_avro.AvroSerializer(theirs, SCHEMA, conf=TOPIC_STRATEGY)(value, their_context)
    assert our_frame == their_frame
    assert AvroDeserializer(ours)(their_frame, our_context) == value
    assert peer_avro.AvroDeserializer(theirs, conf=TOPIC_STRATEGY)(our_frame, their_context) == value


def test_reading_with_another_schema(ours: SchemaRegistryClient, theirs: Any) -> None:
    our_context = SerializationContext("orders", MessageField.VALUE)
    their_context = peer_serialization.SerializationContext("orders", peer_serialization.MessageField.VALUE)
    reader = json.dumps(
        {
            "type": "record",
            "name": "Order",
            "namespace": "shop",
            "fields": [{"name": "id", "type": "string"}, {"name": "extra", "type": "int", "default": 7}],
        }
    )
    frame = AvroSerializer(ours, SCHEMA)(VALUE, our_context)
    expected = {"id": "ä-1", "extra": 7}
    assert AvroDeserializer(ours, reader)(frame, our_context) == expected
    assert peer_avro.AvroDeserializer(theirs, reader, conf=TOPIC_STRATEGY)(frame, their_context) == expected


@pytest.mark.parametrize("kind", ["bytes", "string", "long"])
def test_top_level_primitives(ours: SchemaRegistryClient, theirs: Any, kind: str) -> None:
    value = {"bytes": b"\x02\x03\x04", "string": "ä", "long": -5}[kind]
    topic = f"plain-{kind}"
    our_context = SerializationContext(topic, MessageField.VALUE)
    their_context = peer_serialization.SerializationContext(topic, peer_serialization.MessageField.VALUE)
    schema = json.dumps(kind)
    frame = AvroSerializer(ours, schema)(value, our_context)
    assert frame == peer_avro.AvroSerializer(theirs, schema, conf=TOPIC_STRATEGY)(value, their_context)
    assert AvroDeserializer(ours)(frame, our_context) == value
