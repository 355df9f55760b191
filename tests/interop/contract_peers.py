"""Data contracts beside confluent-kafka: writers and readers of both, on one registry. Without it tests are skipped."""

from __future__ import annotations

import dataclasses
import json
import uuid
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from google.protobuf import json_format

from registry import Metadata, Rule, RuleKind, RuleMode, RuleSet, Schema, SchemaRegistryClient
from serdes import MessageField, SerializationContext, SerializationError
from serdes.avro import AvroDeserializer, AvroSerializer
from serdes.formats.protobuf.codec import load
from serdes.json_schema import JSONDeserializer, JSONSerializer
from serdes.protobuf import ProtobufDeserializer, ProtobufSerializer
from serdes.rules import RuleRegistry

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # authlib warns of httpx when it is imported
    peer = pytest.importorskip("confluent_kafka.schema_registry", exc_type=ImportError)
    peer_avro = pytest.importorskip("confluent_kafka.schema_registry.avro", exc_type=ImportError)
    peer_json = pytest.importorskip("confluent_kafka.schema_registry.json_schema", exc_type=ImportError)
    peer_protobuf = pytest.importorskip("confluent_kafka.schema_registry.protobuf", exc_type=ImportError)
    peer_serialization = pytest.importorskip("confluent_kafka.serialization")
    peer_serde = pytest.importorskip("confluent_kafka.schema_registry.serde", exc_type=ImportError)
    peer_serde_state = pytest.importorskip("confluent_kafka.schema_registry.common.serde", exc_type=ImportError)
    peer_rules = pytest.importorskip("confluent_kafka.schema_registry.rule_registry")
    base = "confluent_kafka.schema_registry.rules"
    peer_encryption = pytest.importorskip(f"{base}.encryption.encrypt_executor", exc_type=ImportError)
    peer_local = pytest.importorskip(f"{base}.encryption.localkms.local_driver", exc_type=ImportError)
    peer_cel = pytest.importorskip(f"{base}.cel.cel_executor", exc_type=ImportError)
    peer_cel_field = pytest.importorskip(f"{base}.cel.cel_field_executor", exc_type=ImportError)
    peer_jsonata = pytest.importorskip(f"{base}.jsonata.jsonata_executor", exc_type=ImportError)
    peer_dlq = pytest.importorskip(f"{base}.dlq.dlq_action", exc_type=ImportError)

T = RuleKind.TRANSFORM
BOTH = RuleMode.WRITEREAD
KEYS = {"encrypt.kek.name": "kek", "encrypt.kms.type": "local-kms", "encrypt.kms.key.id": "key"}
SECRET = {"secret": "shared"}
LATEST = {"auto.register.schemas": False, "use.latest.version": True}
AVRO = json.dumps(
    {
        "type": "record",
        "name": "Person",
        "namespace": "t",
        "fields": [
            {"name": "name", "type": "string", "confluent:tags": ["PII"]},
            {"name": "nicks", "type": {"type": "array", "items": "string"}, "confluent:tags": ["PII"]},
            {"name": "raw", "type": ["null", "bytes"], "default": None, "confluent:tags": ["PII"]},
            {"name": "age", "type": "int"},
        ],
    }
)
JSON = json.dumps(
    {
        "type": "object",
        "title": "Person",
        "properties": {
            "name": {"type": "string", "confluent:tags": ["PII"]},
            "nicks": {"type": "array", "items": {"type": "string"}, "confluent:tags": ["PII"]},
            "age": {"type": "integer"},
        },
    }
)
PROTO = """
syntax = "proto3";
package t;
import "confluent/meta.proto";
message Person {
  string name = 1 [(confluent.field_meta) = { tags: "PII" }];
  repeated string nicks = 2 [(confluent.field_meta) = { tags: "PII" }];
  bytes raw = 3 [(confluent.field_meta) = { tags: "PII" }];
  int32 age = 4;
}
"""
TEXTS = {"AVRO": AVRO, "JSON": JSON, "PROTOBUF": PROTO}
ADA = {"name": "Ada Lovelace", "nicks": ["A", "AL"], "age": 36}
PERSON = {**ADA, "raw": b"\x00\xff"}
VALUES = {"AVRO": PERSON, "JSON": ADA, "PROTOBUF": PERSON}
KINDS = pytest.mark.parametrize("kind", TEXTS)
FAILED = (SerializationError, peer_serialization.SerializationError, peer_serde.RuleError)


def peer_forget_key() -> None:
    """The peer puts the key it saw last on this thread, of any topic and test, into the next value's dead letter."""
    peer_serde_state.clear_original_key()


def copy(value: dict[str, Any]) -> dict[str, Any]:
    """The peer changes what it is given."""
    return {key: list(item) if isinstance(item, list) else item for key, item in value.items()}


@dataclasses.dataclass
class Setup:
    """The settings of both packages' serializers."""

    conf: dict[str, Any] = dataclasses.field(default_factory=dict)
    """Of the readers."""
    rule_conf: dict[str, Any] = dataclasses.field(default_factory=lambda: dict(SECRET))
    ours: RuleRegistry | None = None
    theirs: Any = None
    """The peer's executors; None for new ones."""
    field: MessageField = MessageField.VALUE
    text: str | None = None
    """The schema of writers' and readers' classes, where a format has them."""
    as_json: bool = False
    """Whether messages are given and taken in their JSON form."""


@dataclasses.dataclass
class Side:
    """A writer and a reader of dicts."""

    write: Callable[[dict[str, Any]], bytes]
    read: Callable[[bytes], dict[str, Any]]

    def outcome(self, value: dict[str, Any]) -> dict[str, Any] | None:
        """The value written and read; None if that is refused."""
        try:
            return self.read(self.write(copy(value)))
        except FAILED:
            return None


class Both:
    """One topic on one registry, with serializers of both projects."""

    def __init__(self, client: SchemaRegistryClient, url: str) -> None:
        self.client = client
        self.url = url
        self.topic = f"people-{uuid.uuid4()}"
        self._open: list[Any] = []
        self._encrypts = False

    def close(self) -> None:
        """Closes all serializers."""
        for one in self._open:
            one.close()

    def register(self, kind: str, text: str | None = None, metadata: Metadata | None = None, **rules: Any) -> None:
        """Registers the next version with rules."""
        schema = Schema(text or TEXTS[kind], kind, metadata=metadata, rule_set=RuleSet(**rules))
        lists = [found for found in rules.values() if isinstance(found, list)]
        self._encrypts |= any((rule.type or "").startswith("ENCRYPT") for found in lists for rule in found)
        self.client.register_schema(f"{self.topic}-value", schema)

    def ours(self, kind: str, setup: Setup | None = None) -> Side:
        """Our writer and reader."""
        given = setup or Setup()
        rules: dict[str, Any] = {"rule_conf": given.rule_conf, "rule_registry": given.ours}
        ctx = SerializationContext(self.topic, given.field)
        write: Any
        read: Any
        if kind == "AVRO":
            write = AvroSerializer(self.client, conf=LATEST, **rules)
            read = AvroDeserializer(self.client, conf=given.conf, **rules)
        elif kind == "JSON":
            write = JSONSerializer(None, self.client, conf=LATEST, **rules)
            read = JSONDeserializer(None, schema_registry_client=self.client, conf=given.conf, **rules)
        else:
            return self._protobuf(given, ProtobufSerializer, ProtobufDeserializer, self.client, rules, ctx)
        self._open += [write, read]
        return Side(lambda value: write(value, ctx), lambda frame: dict(read(frame, ctx)))

    def theirs(self, kind: str, setup: Setup | None = None) -> Side:
        """The peer's."""
        given = setup or Setup()
        client = peer.SchemaRegistryClient({"url": self.url})
        self._open.append(client)
        rules = {"rule_conf": given.rule_conf, "rule_registry": given.theirs or peer_registry(encrypts=self._encrypts)}
        ctx = peer_serialization.SerializationContext(self.topic, given.field.value)
        if kind == "AVRO":
            write = peer_avro.AvroSerializer(client, None, conf=LATEST, **rules)
            read = peer_avro.AvroDeserializer(client, conf=given.conf, **rules)
        elif kind == "JSON":
            write = peer_json.JSONSerializer(None, client, conf=LATEST, **rules)
            read = peer_json.JSONDeserializer(None, schema_registry_client=client, conf=given.conf, **rules)
        else:
            kinds = peer_protobuf.ProtobufSerializer, peer_protobuf.ProtobufDeserializer
            return self._protobuf(given, *kinds, client, rules, ctx)
        self._open += [write, read]
        return Side(lambda value: write(value, ctx), lambda frame: dict(read(frame, ctx)))

    def _protobuf(self, given: Setup, writes: Any, reads: Any, client: Any, rules: Any, ctx: Any) -> Side:
        message = load(Schema(given.text or PROTO, "PROTOBUF")).named("Person")
        old = {"use.deprecated.format": False}
        write = writes(message, client, {**LATEST, **old}, **rules)
        read = reads(message, {**given.conf, **old}, client, **rules)
        self._open += [write, read]

        def as_dict(found: Any) -> dict[str, Any]:
            made = {field.name: getattr(found, field.name) for field in found.DESCRIPTOR.fields}
            return {
                name: value if isinstance(value, (str, bytes, int)) else list(value) for name, value in made.items()
            }

        if given.as_json:
            return Side(
                lambda value: write(json_format.ParseDict(value, message()), ctx),
                lambda frame: json_format.MessageToDict(read(frame, ctx)),
            )
        return Side(lambda value: write(message(**value), ctx), lambda frame: as_dict(read(frame, ctx)))


def peer_registry(*more: Any, encrypts: bool = True) -> Any:
    """Executors of the peer, which each serializer needs for itself; those that encrypt connect at once."""
    found = peer_rules.RuleRegistry()
    for executor in (
        *((peer_encryption.EncryptionExecutor(), peer_encryption.FieldEncryptionExecutor()) if encrypts else ()),
        peer_cel.CelExecutor(),
        peer_cel_field.CelFieldExecutor(),
        peer_jsonata.JsonataExecutor(),
        *more,
    ):
        found.register_executor(executor)
    return found


def rule(name: str, type: str, kind: RuleKind = T, mode: RuleMode = BOTH, **more: Any) -> Rule:
    """A rule; a transform for both ways if nothing else is said."""
    return Rule(name=name, kind=kind, mode=mode, type=type, **more)
