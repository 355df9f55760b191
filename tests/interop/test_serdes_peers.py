"""Our serializers beside confluent-kafka's: the same bytes, and each reads what the other wrote."""

from __future__ import annotations

import base64
import datetime
import decimal
import json
import uuid
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from registry import Schema, SchemaRegistryClient
from registry.dev import serve
from registry.schemas.protobuf import parser as protobuf_parser
from serdes import MessageField, SerializationContext
from serdes.avro import AvroDeserializer, AvroSerializer
from serdes.frames.schema_id import (
    header_schema_id_serializer,
    prefix_schema_id_deserializer,
    prefix_schema_id_serializer,
)
from serdes.json_schema import JSONDeserializer, JSONSerializer
from serdes.protobuf import ProtobufDeserializer, ProtobufSerializer
from tests.unit.serdes.fake import FakeRegistry

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # authlib warns of httpx when it is imported
    peer = pytest.importorskip("confluent_kafka.schema_registry", exc_type=ImportError)
    peer_avro = pytest.importorskip("confluent_kafka.schema_registry.avro", exc_type=ImportError)
    peer_json = pytest.importorskip("confluent_kafka.schema_registry.json_schema", exc_type=ImportError)
    peer_protobuf = pytest.importorskip("confluent_kafka.schema_registry.protobuf", exc_type=ImportError)
    peer_serialization = pytest.importorskip("confluent_kafka.serialization")

pytestmark = pytest.mark.interop
TOPIC = "orders"


class PeerView:
    """Our fake registry as confluent-kafka's serializers ask a client."""

    def __init__(self, registry: FakeRegistry) -> None:
        self._inner = registry

    def config(self) -> dict[str, Any]:
        return {}

    def _schema(self, schema: Schema, fmt: str | None = None) -> Any:
        text = schema.schema_str
        if fmt == "serialized" and not text.startswith("C"):
            referenced = [(r, self._inner.get_version(r.subject, r.version).schema) for r in schema.references]
            text = base64.b64encode(protobuf_parser.compile(schema, referenced).file[-1].SerializeToString()).decode()
        references = [peer.SchemaReference(r.name, r.subject, r.version) for r in schema.references]
        return peer.Schema(text, schema.schema_type, references)

    def _registered(self, found: Any, fmt: str | None = None) -> Any:
        return peer.RegisteredSchema(
            schema_id=found.schema_id,
            guid=found.guid,
            schema=self._schema(found.schema, fmt),
            subject=found.subject,
            version=found.version,
        )

    def _ours(self, schema: Any) -> Schema:
        return Schema.from_dict(schema.to_dict())

    def register_schema(self, subject: str, schema: Any, normalize_schemas: bool = False) -> int:
        return self._inner.register_schema(subject, self._ours(schema))

    def register_schema_full_response(self, subject: str, schema: Any, normalize_schemas: bool = False) -> Any:
        return self._registered(self._inner.register_schema_full_response(subject, self._ours(schema)))

    def lookup_schema(self, subject: str, schema: Any, normalize_schemas: bool = False, **_: Any) -> Any:
        return self._registered(self._inner.lookup_schema(subject, self._ours(schema)))

    def get_schema(self, schema_id: int, subject: str | None = None, fmt: str | None = None) -> Any:
        return self._schema(self._inner.get_schema(schema_id), fmt)

    def get_schema_by_guid(self, guid: str, fmt: str | None = None) -> Any:
        return self._schema(self._inner.get_schema_by_guid(guid), fmt)

    def get_latest_version(self, subject: str, fmt: str | None = None) -> Any:
        return self._registered(self._inner.get_latest_version(subject), fmt)

    def get_latest_with_metadata(self, subject: str, metadata: dict[str, str], deleted: bool, fmt: Any = None) -> Any:
        return self._registered(self._inner.get_latest_with_metadata(subject, metadata), fmt)

    def get_version(self, subject: str, version: int, deleted: bool = False, fmt: str | None = None) -> Any:
        return self._registered(self._inner.get_version(subject, version), fmt)

    def get_associations_by_resource_name(
        self, resource_name: str, association_types: list[str], **_: Any
    ) -> list[Any]:
        return self._inner.associations.get((resource_name, association_types[0]), [])


FRAMINGS = {
    "prefix": (prefix_schema_id_serializer, peer.prefix_schema_id_serializer),
    "header": (header_schema_id_serializer, peer.header_schema_id_serializer),
}
STRATEGIES = ["TOPIC", "RECORD", "TOPIC_RECORD", "ASSOCIATED"]


@pytest.fixture
def registry() -> FakeRegistry:
    return FakeRegistry()


@pytest.fixture
def view(registry: FakeRegistry) -> PeerView:
    return PeerView(registry)


@pytest.fixture(params=list(FRAMINGS))
def framing(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def contexts() -> tuple[SerializationContext, Any]:
    ours = SerializationContext(TOPIC, MessageField.VALUE, [])
    return ours, peer_serialization.SerializationContext(TOPIC, peer_serialization.MessageField.VALUE, [])


def both_ways(value: Any, ours: tuple[Any, Any], theirs: tuple[Any, Any], same: Any = lambda a, b: a == b) -> bytes:
    """Serializes with both; the bytes and headers are equal, and each reads the other's."""
    our_ctx, their_ctx = contexts()
    our_bytes, their_bytes = ours[0](value, our_ctx), theirs[0](value, their_ctx)
    assert our_bytes == their_bytes
    assert our_ctx.headers == their_ctx.headers
    ours_read, theirs_read = ours[1](their_bytes, our_ctx), theirs[1](our_bytes, their_ctx)
    assert same(ours_read, theirs_read)
    return bytes(our_bytes)


# --- Avro

NAMED = {"type": "record", "name": "x.Point", "fields": [{"name": "x", "type": "int"}]}
AVRO_CASES: list[tuple[Any, Any]] = [
    ("boolean", True),
    ("int", -(2**31)),
    ("long", 2**63 - 1),
    ("float", 0.5),
    ("double", 0.1),
    ("string", "ä€😀"),
    ("bytes", b"\x00\xff"),
    (
        {"type": "bytes", "logicalType": "decimal", "precision": 40, "scale": 3},
        decimal.Decimal("-12345678901234567.890"),
    ),
    (
        {"type": "fixed", "name": "F", "size": 8, "logicalType": "decimal", "precision": 12, "scale": 2},
        decimal.Decimal("-1.50"),
    ),
    ({"type": "int", "logicalType": "date"}, datetime.date(1969, 12, 31)),
    ({"type": "int", "logicalType": "time-millis"}, datetime.time(23, 59, 59, 999000)),
    ({"type": "long", "logicalType": "time-micros"}, datetime.time(23, 59, 59, 999999)),
    (
        {"type": "long", "logicalType": "timestamp-millis"},
        datetime.datetime(1960, 1, 1, microsecond=1000, tzinfo=datetime.UTC),
    ),
    (
        {"type": "long", "logicalType": "timestamp-micros"},
        datetime.datetime(2026, 1, 1, microsecond=1, tzinfo=datetime.UTC),
    ),
    ({"type": "long", "logicalType": "timestamp-nanos"}, 1_700_000_000_123_456_789),
    ({"type": "long", "logicalType": "local-timestamp-millis"}, datetime.datetime(2026, 1, 1, 1, 2, 3)),
    ({"type": "long", "logicalType": "local-timestamp-micros"}, datetime.datetime(2026, 1, 1, 1, 2, 3, 4)),
    ({"type": "long", "logicalType": "local-timestamp-nanos"}, 5),
    ({"type": "string", "logicalType": "uuid"}, uuid.UUID(int=5)),
    ({"type": "enum", "name": "E", "symbols": ["A", "B"]}, "B"),
    ({"type": "fixed", "name": "G", "size": 3}, b"abc"),
    ({"type": "array", "items": "long"}, [1, -1]),
    ({"type": "map", "values": "string"}, {"a": "b"}),
    (["null", "string"], "x"),
    (["null", NAMED], {"x": 1}),
    ([NAMED, {"type": "record", "name": "x.Other", "fields": [{"name": "x", "type": "int"}]}], ("x.Other", {"x": 1})),
]


@pytest.mark.parametrize(("kind", "value"), AVRO_CASES, ids=lambda case: json.dumps(case, default=str)[:40])
def test_avro_types(registry: FakeRegistry, view: PeerView, kind: Any, value: Any) -> None:
    schema = json.dumps({"type": "record", "name": "shop.Order", "fields": [{"name": "f", "type": kind}]})
    ours = AvroSerializer(registry, schema), AvroDeserializer(registry)
    theirs = peer_avro.AvroSerializer(view, schema), peer_avro.AvroDeserializer(view)
    both_ways({"f": value}, ours, theirs)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_avro_framings_and_strategies(registry: FakeRegistry, view: PeerView, framing: str, strategy: str) -> None:
    schema = json.dumps({"type": "record", "name": "shop.Order", "fields": [{"name": "f", "type": "string"}]})
    our_seal, their_seal = FRAMINGS[framing]
    naming = {"subject.name.strategy.type": strategy}
    ours = (
        AvroSerializer(registry, schema, conf={"schema.id.serializer": our_seal, **naming}),
        AvroDeserializer(registry),
    )
    theirs = (
        peer_avro.AvroSerializer(view, schema, conf={"schema.id.serializer": their_seal, **naming}),
        peer_avro.AvroDeserializer(view),
    )
    both_ways({"f": "longer than a frame"}, ours, theirs)
    subject = {"RECORD": "shop.Order", "TOPIC_RECORD": "orders-shop.Order"}.get(strategy, "orders-value")
    assert list(registry.subjects) == [subject]


@pytest.mark.parametrize(
    "kind",
    [
        {"type": "bytes"},
        {"type": "bytes", "connect.name": "x"},
        {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
    ],
)
def test_top_level_bytes_have_no_length(registry: FakeRegistry, view: PeerView, kind: Any) -> None:
    schema = json.dumps(kind)
    ours = AvroSerializer(registry, schema), AvroDeserializer(registry)
    theirs = peer_avro.AvroSerializer(view, schema), peer_avro.AvroDeserializer(view)
    decimals = "logicalType" in kind
    frame = both_ways(b"\x02\x03", ours, theirs, lambda a, b: (decimal.Decimal("5.15") if decimals else b) == a)
    if decimals:
        assert ours[0](decimal.Decimal("5.15"), contexts()[0]) == frame


@pytest.mark.parametrize(
    ("text", "value", "name"), [('"string"', "x", "string"), ('{"type":"array","items":"int"}', [1], "array")]
)
def test_types_without_a_name_are_called_by_their_type(text: str, value: Any, name: str) -> None:
    naming = {"subject.name.strategy.type": "RECORD"}
    ours, theirs = FakeRegistry(), FakeRegistry()
    AvroSerializer(ours, text, conf=naming)(value, contexts()[0])
    peer_avro.AvroSerializer(PeerView(theirs), text, conf=naming)(value, contexts()[1])
    assert list(ours.subjects) == list(theirs.subjects) == [name]
    assert ours.subjects[name][0].schema == theirs.subjects[name][0].schema


READER_CASES: list[tuple[Any, Any, Any, Any]] = [
    ("int", 5, "double", 5.0),
    ("string", "é", "bytes", "é".encode()),
    (["null", "int"], 5, "long", 5),
    ("int", 5, ["null", "long"], 5),
    (NAMED, {"x": 1}, {**NAMED, "fields": [{"name": "y", "type": "long", "aliases": ["x"]}]}, {"y": 1}),
    (NAMED, {"x": 1}, {**NAMED, "fields": [{"name": "n", "type": ["null", "int"], "default": None}]}, {"n": None}),
    (
        {"type": "enum", "name": "E", "symbols": ["A", "B"]},
        "B",
        {"type": "enum", "name": "E", "symbols": ["A"], "default": "A"},
        "A",
    ),
]


@pytest.mark.parametrize(("writer", "value", "reader", "read"), READER_CASES)
def test_reader_schemas(
    registry: FakeRegistry, view: PeerView, writer: Any, value: Any, reader: Any, read: Any
) -> None:
    def record(kind: Any) -> str:
        return json.dumps({"type": "record", "name": "shop.Order", "fields": [{"name": "f", "type": kind}]})

    frame = AvroSerializer(registry, record(writer))({"f": value}, contexts()[0])
    ours = AvroDeserializer(registry, record(reader))
    theirs = peer_avro.AvroDeserializer(view, record(reader))
    assert ours(frame, contexts()[0]) == theirs(frame, contexts()[1]) == {"f": read}


# --- JSON

JSON_SCHEMA = json.dumps(
    {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "shop.Order",
        "type": "object",
        "properties": {"id": {"type": "string"}, "n": {"type": ["number", "null"]}, "tags": {"type": "array"}},
    }
)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_json(registry: FakeRegistry, view: PeerView, framing: str, strategy: str) -> None:
    our_seal, their_seal = FRAMINGS[framing]
    naming = {"subject.name.strategy.type": strategy}
    ours = (
        JSONSerializer(JSON_SCHEMA, registry, conf={"schema.id.serializer": our_seal, **naming}),
        JSONDeserializer(None, schema_registry_client=registry),
    )
    theirs = (
        peer_json.JSONSerializer(JSON_SCHEMA, view, conf={"schema.id.serializer": their_seal, **naming}),
        peer_json.JSONDeserializer(None, schema_registry_client=view),
    )
    both_ways({"id": "ä€😀", "n": 0.1, "tags": [1, None, {"a": True}]}, ours, theirs)


# --- Protobuf

PROTO = """syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
import "shop/part.proto";
message First { string a = 1; }
message Order {
  message Line { string sku = 1; int64 count = 2; }
  string id = 1;
  repeated Line lines = 2;
  google.protobuf.Timestamp at = 3;
  map<string, double> prices = 4;
  oneof how { string card = 5; bool cash = 6; }
  Part part = 7;
}
"""
PART = 'syntax = "proto3"; package shop; message Part { int32 n = 1; }'


def classes() -> Any:
    """Classes as protoc would generate them."""
    from google.protobuf.message_factory import GetMessageClass

    from registry import SchemaReference

    reference = SchemaReference("shop/part.proto", "shop/part.proto", 1)
    schema = Schema(PROTO, "PROTOBUF", [reference])
    pool = protobuf_parser.pool(schema, [(reference, Schema(PART, "PROTOBUF"))], "shop/order.proto")
    return lambda name: GetMessageClass(pool.FindMessageTypeByName(name))


@pytest.mark.parametrize("name", ["shop.First", "shop.Order", "shop.Order.Line"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_protobuf(registry: FakeRegistry, view: PeerView, framing: str, strategy: str, name: str) -> None:
    kind = classes()(name)
    our_seal, their_seal = FRAMINGS[framing]
    naming = {"subject.name.strategy.type": strategy}
    values: dict[str, dict[str, Any]] = {
        "shop.First": {"a": "x"},
        "shop.Order": {"id": "ä", "lines": [{"sku": "s"}], "at": None, "prices": {"a": 0.1}, "cash": True},
        "shop.Order.Line": {"sku": "s", "count": 2**62},
    }
    value = kind(**{key: item for key, item in values[name].items() if item is not None})
    ours = (
        ProtobufSerializer(kind, registry, {"schema.id.serializer": our_seal, **naming}),
        ProtobufDeserializer(kind, {}, registry),
    )
    theirs = (
        peer_protobuf.ProtobufSerializer(kind, view, {"schema.id.serializer": their_seal, **naming}),
        peer_protobuf.ProtobufDeserializer(kind, {"use.deprecated.format": False}, view),
    )
    frame = both_ways(value, ours, theirs)
    assert "shop/part.proto" in registry.subjects
    our_ctx, _ = contexts()
    ours[0](value, our_ctx)
    dynamic = ProtobufDeserializer(None, None, registry)(frame, our_ctx)
    assert dynamic.SerializeToString() == value.SerializeToString()
    assert dynamic.DESCRIPTOR.full_name == name


def test_prefix_only_readers(registry: FakeRegistry, view: PeerView) -> None:
    schema = json.dumps({"type": "record", "name": "shop.Order", "fields": [{"name": "f", "type": "int"}]})
    ours = (
        AvroSerializer(registry, schema),
        AvroDeserializer(registry, conf={"schema.id.deserializer": prefix_schema_id_deserializer}),
    )
    theirs = (
        peer_avro.AvroSerializer(view, schema),
        peer_avro.AvroDeserializer(view, conf={"schema.id.deserializer": peer.prefix_schema_id_deserializer}),
    )
    both_ways({"f": 1}, ours, theirs)


RECORD = '{"type":"record","name":"R","fields":[{"name":"s","type":"string"}]}'


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serve() as server:
        yield server.url


@pytest.mark.parametrize("kind", ["avro", "json", "protobuf"])
def test_over_a_registry(url: str, framing: str, kind: str) -> None:
    our_seal, their_seal = FRAMINGS[framing]
    conf, their_conf = {"schema.id.serializer": our_seal}, {"schema.id.serializer": their_seal}
    with SchemaRegistryClient({"url": url}) as client:
        # their client caches what it registered in another form than its Protobuf deserializer needs: one for each way
        writes, reads = (peer.SchemaRegistryClient({"url": url}) for _ in range(2))
        value: Any = {"s": "longer than a frame"}
        ours: tuple[Any, Any]
        theirs: tuple[Any, Any]
        if kind == "avro":
            ours = AvroSerializer(client, RECORD, conf=conf), AvroDeserializer(client)
            theirs = peer_avro.AvroSerializer(writes, RECORD, conf=their_conf), peer_avro.AvroDeserializer(reads)
        elif kind == "json":
            ours = JSONSerializer(JSON_SCHEMA, client, conf=conf), JSONDeserializer(None, schema_registry_client=client)
            theirs = (
                peer_json.JSONSerializer(JSON_SCHEMA, writes, conf=their_conf),
                peer_json.JSONDeserializer(None, schema_registry_client=reads),
            )
        else:
            message = classes()("shop.Order.Line")
            value = message(sku="s", count=5)
            ours = ProtobufSerializer(message, client, conf), ProtobufDeserializer(message, {}, client)
            theirs = (
                peer_protobuf.ProtobufSerializer(message, writes, their_conf),
                peer_protobuf.ProtobufDeserializer(message, {"use.deprecated.format": False}, reads),
            )
        our_ctx, their_ctx = contexts()
        our_ctx.topic = their_ctx.topic = f"{kind}-{framing}"
        our_bytes, their_bytes = ours[0](value, our_ctx), theirs[0](value, their_ctx)
        assert our_bytes == their_bytes
        assert our_ctx.headers == their_ctx.headers
        assert ours[1](their_bytes, our_ctx) == theirs[1](our_bytes, their_ctx) == value
        writes.close()
        reads.close()
