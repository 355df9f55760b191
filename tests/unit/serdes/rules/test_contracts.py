"""serdes.rules.contracts and fields: rules inside serializers of all formats, against an embedded registry."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from registry import (
    AsyncSchemaRegistryClient,
    Rule,
    RuleKind,
    RuleMode,
    RuleSet,
    Schema,
    SchemaRegistryClient,
    ServerConfig,
)
from serdes import MessageField, SerializationContext, SerializationError
from serdes.avro import AsyncAvroDeserializer, AsyncAvroSerializer, AvroDeserializer, AvroSerializer
from serdes.encryption import FieldEncryptionExecutor
from serdes.formats.protobuf.codec import load
from serdes.json_schema import JSONDeserializer, JSONSerializer
from serdes.protobuf import ProtobufDeserializer, ProtobufSerializer
from serdes.rules import DlqAction, RuleOverride, RuleRegistry
from tests.unit.serdes.rules.samples import rule

CTX = SerializationContext("people", MessageField.VALUE)
LATEST = {"use.latest.version": True, "auto.register.schemas": False}
ENCRYPT = {"encrypt.kek.name": "kek", "encrypt.kms.type": "local-kms", "encrypt.kms.key.id": "key"}
SECRET = {"secret": "s"}
T = RuleKind.TRANSFORM


def avro(*fields: dict[str, Any]) -> str:
    return json.dumps({"type": "record", "name": "Person", "namespace": "t", "fields": list(fields)})


NAME = {"name": "name", "type": "string", "confluent:tags": ["PII"]}
AGE = {"name": "age", "type": "int", "default": 0}
AVRO = avro(NAME, AGE)
JSON = json.dumps(
    {
        "title": "Person",
        "type": "object",
        "properties": {"name": {"type": "string", "confluent:tags": ["PII"]}, "age": {"$ref": "#/$defs/age"}},
        "$defs": {"age": {"type": "integer"}},
    }
)
PROTO = """
syntax = "proto3";
package t;
import "confluent/meta.proto";
message Person {
  string name = 1 [(confluent.field_meta) = { tags: "PII" }];
  int32 age = 2;
}
"""
ADA = {"name": "Ada Lovelace", "age": 36}


@dataclasses.dataclass
class Person:
    name: str
    age: int = 0


@pytest.fixture
def url() -> str:
    return f"mock://contracts-{uuid.uuid4()}"


@pytest.fixture
def client(url: str) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": url, "cache.latest.ttl.sec": 0.001}) as made:
        yield made


def contract(*domain: Rule, encoding: Any = (), migration: Any = ()) -> RuleSet:
    return RuleSet(domain_rules=list(domain), encoding_rules=list(encoding), migration_rules=list(migration))


def encrypting() -> Rule:
    return rule("enc", "ENCRYPT", kind=T, mode=RuleMode.WRITEREAD, tags=["PII"], params=ENCRYPT)


def serdes_of(kind: str, client: Any, **more: Any) -> tuple[Any, Any, Any]:
    """Serializer, deserializer, and what makes a dict of what the latter gives."""
    if kind == "AVRO":
        return AvroSerializer(client, conf=LATEST, **more), AvroDeserializer(client, **more), dict
    if kind == "JSON":
        return (
            JSONSerializer(None, client, conf=LATEST, **more),
            JSONDeserializer(None, schema_registry_client=client, **more),
            dict,
        )
    own = {"message.type": "t.Person"}
    writer = ProtobufSerializer(None, client, {**LATEST, **own}, **more)
    reader = ProtobufDeserializer(None, own, client, **more)
    return writer, reader, lambda message: {"name": message.name, "age": message.age}


SCHEMAS = {"AVRO": AVRO, "JSON": JSON, "PROTOBUF": PROTO}
KINDS = pytest.mark.parametrize("kind", SCHEMAS)


def register(client: SchemaRegistryClient, kind: str, rules: RuleSet, text: str = "") -> int:
    return client.register_schema("people-value", Schema(text or SCHEMAS[kind], kind, rule_set=rules))


@KINDS
def test_tagged_fields_are_encrypted_on_their_way(client: SchemaRegistryClient, kind: str) -> None:
    register(client, kind, contract(encrypting()))
    write, read, plain = serdes_of(kind, client, rule_conf=SECRET)
    frame = write(ADA, CTX)
    assert b"Ada Lovelace" not in frame
    assert plain(read(frame, CTX)) == ADA


@KINDS
def test_a_reader_without_the_secret_is_refused(client: SchemaRegistryClient, url: str, kind: str) -> None:
    register(client, kind, contract(encrypting()))
    frame = serdes_of(kind, client, rule_conf=SECRET)[0](ADA, CTX)
    with SchemaRegistryClient({"url": url}) as other:
        _, read, _ = serdes_of(kind, other, rule_conf={"secret": "other"})
        with pytest.raises(SerializationError, match=r"rule 'enc' failed \(READ\)") as caught:
            read(frame, CTX)
    assert (caught.value.topic, caught.value.field) == ("people", "value")


@KINDS
def test_payloads_are_encrypted(client: SchemaRegistryClient, kind: str) -> None:
    payload = rule("all", "ENCRYPT_PAYLOAD", kind=T, mode=RuleMode.WRITEREAD, params=ENCRYPT)
    schema_id = register(client, kind, contract(encoding=[payload]))
    write, read, plain = serdes_of(kind, client, rule_conf=SECRET)
    frame = write(ADA, CTX)
    assert frame[:5] == b"\x00" + schema_id.to_bytes(4, "big")
    assert b"Ada Lovelace" not in frame
    assert plain(read(frame, CTX)) == ADA


@KINDS
def test_conditions_and_transforms(client: SchemaRegistryClient, kind: str) -> None:
    adult = rule("adult", "CEL", expr="message.age > 17", doc="only adults")
    shout = rule("shout", "CEL_FIELD", kind=T, expr="typeName == 'STRING' ; value + '!'")
    lower = rule("read", "CEL_FIELD", kind=T, mode=RuleMode.READ, expr="name == 'age' ; value + 1")
    register(client, kind, contract(adult, shout, lower))
    write, read, plain = serdes_of(kind, client)
    assert plain(read(write(ADA, CTX), CTX)) == {"name": "Ada Lovelace!", "age": 37}
    with pytest.raises(SerializationError, match=r"rule 'adult' failed \(WRITE\): only adults"):
        write({"name": "Bob", "age": 5}, CTX)


@KINDS
def test_a_whole_message_may_be_made_anew(client: SchemaRegistryClient, kind: str) -> None:
    older = rule("older", "CEL", kind=T, expr="{'name': message.name, 'age': message.age + 1}")
    register(client, kind, contract(older))
    write, read, plain = serdes_of(kind, client)
    assert plain(read(write(ADA, CTX), CTX)) == {"name": "Ada Lovelace", "age": 37}


def test_objects_are_seen_as_dicts(client: SchemaRegistryClient) -> None:
    register(client, "AVRO", contract(rule("adult", "CEL", expr="message.age > 17"), encrypting()))
    write, read, _ = serdes_of("AVRO", client, rule_conf=SECRET)
    assert read(write(Person("Ada Lovelace", 36), CTX), CTX) == ADA
    with pytest.raises(SerializationError, match="rule 'adult' failed"):
        write(Person("Bob", 5), CTX)


def test_the_rules_of_a_given_schema_run_too(client: SchemaRegistryClient) -> None:
    """A schema with rules that is registered by the serializer must not write in clear what is to be encrypted."""
    given = Schema(AVRO, rule_set=contract(encrypting()))
    frame = AvroSerializer(client, given, rule_conf=SECRET)(ADA, CTX)
    assert b"Ada Lovelace" not in frame


def test_values_of_other_versions_are_migrated(client: SchemaRegistryClient) -> None:
    client.set_config("people-value", ServerConfig(compatibility="NONE"))
    merge = "$merge([$sift($, function($v, $k) {$k != '%s'}), {'%s': $.'%s'}])"
    both = [
        rule("up", "JSONATA", kind=T, mode=RuleMode.UPGRADE, expr=merge % ("name", "title", "name")),
        rule("down", "JSONATA", kind=T, mode=RuleMode.DOWNGRADE, expr=merge % ("title", "name", "title")),
    ]
    old = Schema(AVRO)
    middle = Schema(avro({**NAME, "name": "title"}, AGE), rule_set=contract(migration=both))
    newest = Schema(avro({**NAME, "name": "title"}, AGE, {"name": "more", "type": "int", "default": 1}))
    frame = AvroSerializer(client, old)(ADA, CTX)
    for schema in (middle, newest):
        client.register_schema("people-value", schema)
    client.clear_caches()
    read = AvroDeserializer(client, conf={"use.latest.version": True})
    assert read(frame, CTX) == {"title": "Ada Lovelace", "age": 36}
    # and back: a consumer of the first version reads what the newest wrote
    client.set_config("people-value", ServerConfig(compatibility="NONE"))
    newer = AvroSerializer(client, newest, conf={"auto.register.schemas": False})(
        {"title": "Bob", "age": 1, "more": 2}, CTX
    )
    pinned = Schema(AVRO, rule_set=None)
    again = client.register_schema("people-value", Schema(AVRO.replace('"int"', '"int"'), rule_set=contract()))
    assert again
    client.clear_caches()
    assert AvroDeserializer(client, pinned)(frame, CTX) == ADA
    assert newer[:1] == b"\x00"


@pytest.mark.parametrize("ruled", [True, False])
def test_no_migration_leaves_out_a_version_that_is_gone(client: SchemaRegistryClient, ruled: bool) -> None:
    """The rules after it are for its values: what came out was of no version, and nobody was told."""
    client.set_config("people-value", ServerConfig(compatibility="NONE"))
    frame = AvroSerializer(client, Schema(AVRO))(ADA, CTX)
    for number in (2, 3):
        adds = rule(f"to {number}", "JSONATA", kind=T, mode=RuleMode.UPGRADE, expr=f"$merge([$, {{'n{number}': 5}}])")
        added = [{"name": f"n{each}", "type": "int", "default": 0} for each in range(2, number + 1)]
        text = avro(NAME, AGE, *added)
        client.register_schema("people-value", Schema(text, rule_set=contract(migration=[adds] if ruled else [])))
    client.delete_version("people-value", 2)

    def read() -> Any:
        client.clear_caches()
        return AvroDeserializer(client, conf={"use.latest.version": True})(frame, CTX)

    added_value = 5 if ruled else 0
    assert read() == {**ADA, "n2": added_value, "n3": added_value}
    client.delete_version("people-value", 2, permanent=True)
    if ruled:
        with pytest.raises(SerializationError, match=r"to version 3: version 2 between them, with its rules, can't be"):
            read()
    else:
        assert read() == {**ADA, "n2": 0, "n3": 0}


def test_a_migration_of_protobuf_and_json(client: SchemaRegistryClient) -> None:
    client.set_config("people-value", ServerConfig(compatibility="NONE"))
    up = rule("up", "JSONATA", kind=T, mode=RuleMode.UPGRADE, expr="{'name': $.name & '!', 'age': $.age}")
    for kind, changed in (("JSON", JSON.replace("Person", "Human")), ("PROTOBUF", PROTO.replace("age = 2", "age = 3"))):
        subject = SerializationContext(f"people-{kind}", MessageField.VALUE)
        name = f"people-{kind}-value"
        client.set_config(name, ServerConfig(compatibility="NONE"))
        client.register_schema(name, Schema(SCHEMAS[kind], kind))
        write, _, plain = serdes_of(kind, client)
        frame = write(ADA, subject)
        client.register_schema(name, Schema(changed, kind, rule_set=contract(migration=[up])))
        client.clear_caches()
        if kind == "JSON":
            read: Any = JSONDeserializer(None, schema_registry_client=client, conf={"use.latest.version": True})
        else:
            conf = {"use.latest.version": True, "message.type": "t.Person"}
            read = ProtobufDeserializer(None, conf, client)
        assert plain(read(frame, subject)) == {"name": "Ada Lovelace!", "age": 36}


def migrated(client: SchemaRegistryClient, kind: str, old: str, new: str, expr: str, value: Any, **reader: Any) -> Any:
    """A value written with an older schema, as a reader of the newest gets it."""
    client.set_config("people-value", ServerConfig(compatibility="NONE"))
    client.register_schema("people-value", Schema(old, kind))
    frame = serdes_of(kind, client)[0](value, CTX)
    up = rule("up", "JSONATA", kind=T, mode=RuleMode.UPGRADE, expr=expr)
    client.register_schema("people-value", Schema(new, kind, rule_set=contract(migration=[up])))
    client.clear_caches()
    if kind == "JSON":
        return JSONDeserializer(None, schema_registry_client=client, conf={"use.latest.version": True})(frame, CTX)
    return ProtobufDeserializer(reader.get("message"), {"use.latest.version": True, **reader.get("conf", {})}, client)(
        frame, CTX
    )


def test_migrations_of_protobuf_see_camel_case_and_defaults(client: SchemaRegistryClient) -> None:
    """As other clients give them: rules are written for that."""
    fields = 'syntax = "proto3"; package t; message Person { string %s = 1; int32 age = 2; }'
    expr = "{'lastName': $.givenName & '!', 'age': $.age + 1}"
    conf = {"message.type": "t.Person"}
    value = {"given_name": "Ada Lovelace"}
    found = migrated(client, "PROTOBUF", fields % "given_name", fields % "last_name", expr, value, conf=conf)
    assert (found.last_name, found.age) == ("Ada Lovelace!", 1)


def test_a_generated_class_loses_nothing_in_a_migration(client: SchemaRegistryClient) -> None:
    """Fields that the reader's class lacks are there for the rules."""
    old = 'syntax = "proto3"; package t; message Person { string name = 1; int32 months = 7; }'
    new = 'syntax = "proto3"; package t; message Person { string name = 1; int32 years = 3; }'
    own: Any = load(Schema(new.replace("years", "my_years"), "PROTOBUF")).named(
        "Person"
    )  # the same field by its number
    expr = "{'name': $.name, 'years': $.months / 12}"
    found = migrated(client, "PROTOBUF", old, new, expr, {"name": "Ada Lovelace", "months": 24}, message=own)
    assert type(found) is own
    assert (found.name, found.my_years) == ("Ada Lovelace", 2)


@pytest.mark.parametrize(("kind", "expected"), [("Other", 5), ("Gone", 0)])
def test_a_migrated_message_is_of_its_own_type(client: SchemaRegistryClient, kind: str, expected: int) -> None:
    """Not of the schema's first; unless the reader's schema does not have it any more."""
    text = (
        'syntax = "proto3"; package t; message First { string name = 1; } message %s { string name = 1; int32 n = 2; }'
    )
    client.set_config("people-value", ServerConfig(compatibility="NONE"))
    client.register_schema("people-value", Schema(text % "Other", "PROTOBUF"))
    frame = ProtobufSerializer(None, client, {**LATEST, "message.type": "t.Other"})({"name": "a", "n": 5}, CTX)
    up = rule("up", "JSONATA", kind=T, mode=RuleMode.UPGRADE, expr="$sift($, function($v, $k) { $k in %s })")
    keep = "['name', 'n']" if expected else "['name']"
    up = dataclasses.replace(up, expr=str(up.expr) % keep)
    client.register_schema("people-value", Schema(text % kind, "PROTOBUF", rule_set=contract(migration=[up])))
    client.clear_caches()
    found = ProtobufDeserializer(None, {"use.latest.version": True}, client)(frame, CTX)
    assert found.DESCRIPTOR.full_name == ("t.Other" if expected else "t.First")
    assert getattr(found, "n", 0) == expected


def test_migrated_values_must_fit_the_readers_schema(client: SchemaRegistryClient) -> None:
    with pytest.raises(SerializationError, match="age"):
        migrated(client, "JSON", JSON, JSON.replace("Person", "Human"), "{'name': 'Ada Lovelace', 'age': 'old'}", ADA)


def test_json_is_checked_after_the_rules_of_reading(client: SchemaRegistryClient) -> None:
    """A value may fit its schema only when the rules have run."""
    short = JSON.replace('"integer"', '"integer", "maximum": 20')
    lower = rule("lower", "CEL_FIELD", kind=T, mode=RuleMode.READ, expr="name == 'age' ; value - 20")
    register(client, "JSON", contract(lower), short)
    write = JSONSerializer(None, client, conf={**LATEST, "validate": False})
    read = JSONDeserializer(None, schema_registry_client=client)
    assert read(write(ADA, CTX), CTX) == {"name": "Ada Lovelace", "age": 16}
    with pytest.raises(SerializationError, match="age"):
        read(write({"name": "Ada Lovelace", "age": 41}, CTX), CTX)
    unchecked = JSONDeserializer(None, schema_registry_client=client, conf={"validate": False})
    assert unchecked(write({"name": "Ada Lovelace", "age": 41}, CTX), CTX)["age"] == 21


def test_a_dead_letter_has_key_and_value(client: SchemaRegistryClient) -> None:
    sent: list[Any] = []

    class Outbox:
        def produce(self, topic: str, value: bytes, key: bytes, **rest: Any) -> None:
            sent.append((topic, key, json.loads(value)))

        def poll(self, timeout: float) -> None:
            return

    rules = RuleRegistry()
    rules.register_action(DlqAction({"dlq.topic": "dead", "producer": Outbox()}))
    register(client, "AVRO", contract(rule("adult", "CEL", expr="message.age > 17", on_failure="DLQ"), encrypting()))
    write, _, _ = serdes_of("AVRO", client, rule_conf=SECRET, rule_registry=rules)
    where = SerializationContext("people", MessageField.VALUE, key="k")
    with pytest.raises(SerializationError, match="the message went to 'dead'"):
        write({"name": "Bob", "age": 5}, where)
    assert sent == [("dead", b"k", {"name": "<REDACTED>", "age": 5})]


def test_asyncio_serializers_run_rules_too(client: SchemaRegistryClient, url: str) -> None:
    register(client, "AVRO", contract(encrypting(), rule("adult", "CEL", expr="message.age > 17")))

    async def work() -> None:
        async with AsyncSchemaRegistryClient({"url": url}) as own:
            write = AsyncAvroSerializer(own, conf=LATEST, rule_conf=SECRET)
            read = AsyncAvroDeserializer(own, rule_conf=SECRET)
            frame = await write(ADA, CTX)
            assert frame is not None
            assert b"Ada Lovelace" not in frame
            assert await read(frame, CTX) == ADA
            with pytest.raises(SerializationError, match="rule 'adult' failed"):
                await write({"name": "Bob", "age": 5}, CTX)

    asyncio.run(work())


def test_a_closed_serializer_writes_nothing_that_has_rules(client: SchemaRegistryClient) -> None:
    register(client, "AVRO", contract(encrypting()))
    write, read, _ = serdes_of("AVRO", client, rule_conf=SECRET)
    frame = write(ADA, CTX)
    write.close()
    read.close()  # before it met a schema with rules
    for call in (lambda: write(ADA, CTX), lambda: read(frame, CTX)):
        with pytest.raises(SerializationError, match="the serializer is closed"):
            call()


def test_serializers_that_share_a_rule_registry_are_closed_one_by_one(client: SchemaRegistryClient) -> None:
    rules = RuleRegistry()
    rules.register_executor(FieldEncryptionExecutor())
    register(client, "AVRO", contract(encrypting()))
    write, read, _ = serdes_of("AVRO", client, rule_conf=SECRET, rule_registry=rules)
    frame = write(ADA, CTX)
    assert read(frame, CTX) == ADA
    write.close()
    assert read(frame, CTX) == ADA
    read.close()


def test_rules_that_may_wait_run_beside_the_event_loop() -> None:
    """Whoever made them wait: the rule, an override, or an executor of one's own in place of a built-in one."""
    from serdes.rules.contracts import RuleContracts
    from serdes.rules.jsonata import JsonataExecutor

    class Slow(JsonataExecutor):
        """Asks a service, say."""

    def waits(one: Rule, registry: RuleRegistry | None = None) -> bool:
        made = RuleContracts(None, None, rule_registry=registry)  # type: ignore[arg-type]
        return made._may_wait(Schema(AVRO, rule_set=contract(one)))

    quick = rule("a", "JSONATA", kind=T, mode=RuleMode.WRITEREAD, expr="$", on_failure="NONE, ERROR")
    assert not waits(quick)
    assert waits(encrypting())
    assert waits(dataclasses.replace(quick, on_failure="NONE,DLQ"))
    overriding, added = RuleRegistry(), RuleRegistry()
    overriding.register_override(RuleOverride("JSONATA", on_failure="DLQ"))
    added.register_executor(Slow())
    assert waits(quick, overriding)
    assert waits(quick, added)


def test_schemas_without_rules_cost_no_engine(client: SchemaRegistryClient) -> None:
    write = AvroSerializer(client, AVRO)
    read = AvroDeserializer(client)
    assert read(write(ADA, CTX), CTX) == ADA
    for one in (write, read):
        assert one._engine._planner._contracts._made is None  # type: ignore[attr-defined]
