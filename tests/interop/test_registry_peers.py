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


# --- every further operation of their client


@pytest.fixture
def fresh() -> Iterator[Any]:
    with serve() as server:
        client = peer.SchemaRegistryClient({"url": server.url})
        yield client
        client.close()


def refused(call: Any) -> int:
    with pytest.raises(peer.SchemaRegistryError) as caught:
        call()
    code: int = caught.value.error_code
    return code


INT = peer.Schema('"int"', "AVRO")
LONG = peer.Schema('"long"', "AVRO")


def test_their_full_response_and_guids(fresh: Any) -> None:
    made = fresh.register_schema_full_response("s", INT, normalize_schemas=True)
    assert (made.schema_id, made.version) == (1, 1)
    latest = fresh.get_latest_version("s")
    assert fresh.get_schema_by_guid(latest.guid).schema_str == '"int"'
    assert fresh.get_schema(1, subject_name="s", fmt="resolved").schema_str == '"int"'
    assert set(fresh.get_schema_types()) == {"AVRO", "JSON", "PROTOBUF"}


def test_their_metadata_and_rules(fresh: Any) -> None:
    rule = peer.Rule(
        "r", "d", peer.RuleKind.CONDITION, peer.RuleMode.WRITE, "CEL", None, None, "true", None, None, False
    )
    metadata = peer.Metadata(None, peer.MetadataProperties({"owner": "me"}), None)
    schema = peer.Schema('"int"', "AVRO", metadata=metadata, rule_set=peer.RuleSet(None, [rule]))
    fresh.register_schema("s", schema)
    found = fresh.get_latest_with_metadata("s", {"owner": "me"})
    assert found.version == 1
    assert found.schema.rule_set.domain_rules[0].expr == "true"
    assert refused(lambda: fresh.get_latest_with_metadata("s", {"owner": "you"})) == 40403


def test_their_contexts_and_lists(fresh: Any) -> None:
    for subject in ("a", "b", ":.eu:a"):
        fresh.register_schema(subject, INT)
    assert fresh.get_contexts() == [".", ".eu"]
    assert fresh.get_subjects(subject_prefix=":.eu:") == [":.eu:a"]
    assert fresh.get_subjects(offset=1, limit=1) == ["a"]
    assert fresh.get_schema(1, subject_name=":.eu:a").schema_str == '"int"'
    assert fresh.get_subjects_by_schema_id(1, subject_name=":.eu:") == [":.eu:a"]
    fresh.delete_subject("a")
    assert fresh.get_subjects(deleted=True) == [
        ":.eu:a",
        "a",
        "b",
    ]  # (it sends `deleted_only`, which no registry knows)
    assert fresh.get_versions("a", deleted=True) == [1]
    assert fresh.get_version("a", 1, deleted=True).version == 1
    assert fresh.lookup_schema("a", INT, deleted=True).version == 1


def test_their_modes(fresh: Any) -> None:
    assert fresh.get_global_mode() == "READWRITE"
    assert fresh.update_global_mode("READONLY") == "READONLY"
    assert refused(lambda: fresh.register_schema("s", INT)) == 42205
    assert fresh.update_mode("s", "READWRITE") == "READWRITE"
    assert fresh.register_schema("s", INT) == 1
    assert fresh.get_mode("s") == "READWRITE"
    assert fresh.delete_mode("s") == "READWRITE"
    assert refused(lambda: fresh.get_mode("s")) == 40409
    assert refused(lambda: fresh.update_mode("s", "IMPORT")) == 42205
    assert fresh.update_mode("s", "IMPORT", force=True) == "IMPORT"


def test_their_configs(fresh: Any) -> None:
    config = peer.ServerConfig(
        compatibility=peer.ConfigCompatibilityLevel.FULL,
        compatibility_group="major",
        override_metadata=peer.Metadata(None, peer.MetadataProperties({"k": "v"}), None),
    )
    fresh.set_config("s", config)
    found = fresh.get_config("s")
    assert (found.compatibility_level.value, found.compatibility_group) == ("FULL", "major")
    assert found.override_metadata.properties.properties == {"k": "v"}
    assert fresh.delete_config("s").compatibility_group == "major"
    assert refused(lambda: fresh.get_config("s")) == 40408
    fresh.set_config(config=peer.ServerConfig(compatibility=peer.ConfigCompatibilityLevel.NONE))
    assert fresh.get_compatibility() == "NONE"
    assert fresh.get_config().compatibility_level.value == "NONE"


def test_their_references(fresh: Any) -> None:
    fresh.register_schema("u", peer.Schema('{"type":"record","name":"U","fields":[]}', "AVRO"))
    text = '{"type":"record","name":"R","fields":[{"name":"u","type":"U"}]}'
    using = peer.Schema(text, "AVRO", references=[peer.SchemaReference("U", "u", 1)])
    schema_id = fresh.register_schema("r", using)
    assert fresh.get_referenced_by("u", 1) == [schema_id]
    assert refused(lambda: fresh.delete_subject("u")) == 42206


def test_their_associations(fresh: Any) -> None:
    common = pytest.importorskip("confluent_kafka.schema_registry.common.schema_registry_client", exc_type=ImportError)
    if not hasattr(fresh, "create_association"):
        pytest.skip("this version of confluent-kafka has no associations")
    info = common.AssociationCreateOrUpdateInfo(subject="s", association_type="value", lifecycle="STRONG", schema=INT)
    request = common.AssociationCreateOrUpdateRequest("orders", "lkc-1", "id-1", "topic", [info])
    made = fresh.create_association(request)
    assert made.associations[0].subject == "s"
    (found,) = fresh.get_associations_by_resource_name("orders", "-", "topic", ["value"])
    assert (found.subject, found.resource_id, found.association_type) == ("s", "id-1", "value")
    assert fresh.get_versions("s") == [1]
    fresh.delete_associations("id-1", "topic", ["value"], cascade_lifecycle=True)
    assert fresh.get_associations_by_resource_name("orders", "lkc-1") == []
    assert refused(lambda: fresh.get_versions("s")) == 40401


@pytest.mark.parametrize("kind", ["JSON", "PROTOBUF"])
def test_their_other_formats(fresh: Any, kind: str) -> None:
    text = {
        "JSON": '{"type":"object","properties":{"a":{"type":"integer"}}}',
        "PROTOBUF": 'syntax = "proto3";\npackage t;\n\nmessage M {\n  int32 a = 1;\n}\n',
    }[kind]
    schema = peer.Schema(text, kind)
    schema_id = fresh.register_schema("s", schema)
    assert fresh.get_schema(schema_id).schema_type == kind
    assert fresh.lookup_schema("s", schema).version == 1
    assert (
        fresh.test_compatibility("s", peer.Schema(text.replace("integer", "string").replace("int32", "string"), kind))
        is False
    )


def test_ours_reads_what_theirs_wrote(ours: SchemaRegistryClient, theirs: Any) -> None:
    theirs.register_schema(":.peers:both", LONG)
    assert ours.get_latest_version(":.peers:both").schema.schema_str == '"long"'
    assert ":.peers:both" in ours.get_subjects(subject_prefix=":.peers:")
