"""Rules inside schemas (`confluent:rules`): what runs, when, what is said, and that none is left out without a word."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
import referencing
from referencing.jsonschema import DRAFT7

from registry import (
    AsyncSchemaRegistryClient,
    Rule,
    RuleKind,
    RuleMode,
    RuleSet,
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    ServerConfig,
)
from serdes import MessageField, SerializationContext, SerializationError, SerializingProducer
from serdes.avro import AsyncAvroDeserializer, AsyncAvroSerializer, AvroDeserializer, AvroSerializer
from serdes.errors import ValueSerializationError
from serdes.formats.avro.codec import load_texts
from serdes.formats.protobuf.codec import load
from serdes.json_schema import JSONDeserializer, JSONSerializer
from serdes.protobuf import ProtobufDeserializer, ProtobufSerializer
from serdes.rules import (
    VALIDATION_RULES_PROP,
    RuleError,
    RuleThatNeverRunsError,
    ValidationRule,
    ValidationRuleError,
    ValidationRuleExecutor,
    ValidationRulesExecution,
    ValidationRulesFailedError,
    default_validation_rule_executor,
    evaluate_validation_rule,
    parse_validation_rules,
)
from serdes.rules.inline import avro as inline_avro
from serdes.rules.inline import json as inline_json
from serdes.rules.inline import protobuf as inline_protobuf
from serdes.rules.inline.avro import sites_of
from serdes.rules.inline.cel import CelValidator
from tests.patience import PROCESS_S

RULES = VALIDATION_RULES_PROP
CTX = SerializationContext("t", MessageField.VALUE)
BEFORE = {"validation.rules.execution": "BEFORE_DOMAIN_RULES"}
AFTER = {"validation.rules.execution": ValidationRulesExecution.AFTER_DOMAIN_RULES}
LATEST = {"use.latest.version": True, "auto.register.schemas": False}
FAILS = [{"name": "no", "expr": "false"}]


def positive(name: str = "positive") -> list[dict[str, str]]:
    return [{"name": name, "expr": "this > 0 ? '' : 'not positive'"}]


def avro(*fields: dict[str, Any], **more: Any) -> str:
    return json.dumps({"type": "record", "name": "R", "namespace": "t", "fields": list(fields), **more})


AGE = {"name": "age", "type": "int", RULES: positive()}


@pytest.fixture
def client() -> SchemaRegistryClient:
    return SchemaRegistryClient({"url": "mock://"})


def broken(call: Callable[[], Any]) -> list[str | None]:
    """The places of broken rules in the error."""
    with pytest.raises(ValidationRulesFailedError) as caught:
        call()
    return [one.field_path for one in caught.value.violations]


# ---- Avro


def test_a_bad_value_is_refused_with_subject_id_rule_and_path(client: SchemaRegistryClient) -> None:
    text = avro(AGE, **{RULES: [{"name": "even", "doc": "odd people stay out", "expr": "this.age % 2 == 0"}]})
    write = AvroSerializer(client, text, conf=BEFORE)
    assert write({"age": 2}, CTX)[5:] == b"\x04"
    with pytest.raises(ValidationRulesFailedError) as caught:
        write({"age": -3}, CTX)
    assert str(caught.value) == (
        "topic t, value, schema id 1: Validation rule failed (2 violations):\n"
        "  - <root>: even: odd people stay out\n"
        "  - age: positive: not positive\n"
        "These are rules inside the schema of subject 't-value': correct the value, or register a version with other "
        "rules"
    )
    assert caught.value.subject == "t-value"
    assert [one.rule.name for one in caught.value.violations] == ["even", "positive"]
    copied = pickle.loads(pickle.dumps(caught.value))
    assert (str(copied), copied.violations) == (str(caught.value), caught.value.violations)


def test_the_first_one_is_enough_with_fail_fast(client: SchemaRegistryClient) -> None:
    fields = [{"name": name, "type": "int", RULES: positive()} for name in ("a", "b", "c")]
    write = AvroSerializer(client, avro(*fields), conf={**AFTER, "validation.rules.fail.fast": True})
    assert broken(lambda: write({"a": 1, "b": 0, "c": 0}, CTX)) == ["b"]


def test_by_default_no_rule_runs(client: SchemaRegistryClient) -> None:
    text = avro({"name": "age", "type": "int", RULES: FAILS})
    for conf in ({}, {"validation.rules.execution": "DISABLED", "validation.rules.executor": "not looked at"}):
        frame = AvroSerializer(client, text, conf=conf)({"age": 1}, CTX)
        assert AvroDeserializer(client, conf=conf)(frame, CTX) == {"age": 1}


def test_the_default_costs_nothing() -> None:
    """Neither CEL nor what finds rules is loaded, and calls go the short way."""
    code = """
import json, sys
from registry import SchemaRegistryClient
from serdes import MessageField, SerializationContext
from serdes.avro import AvroDeserializer, AvroSerializer
client, ctx = SchemaRegistryClient({"url": "mock://"}), SerializationContext("t", MessageField.VALUE)
rules = [{"name": "no", "expr": "false"}]
text = json.dumps({"type": "record", "name": "R", "fields": [{"name": "a", "type": "int", "confluent:rules": rules}]})
write, read = AvroSerializer(client, text), AvroDeserializer(client)
assert read(write({"a": 1}, ctx), ctx) == {"a": 1}
assert all(plan.direct is not None for one in (write, read) for plan in one._engine.cache.store.plans.values())
LAZY = ("celpy", "lark", "serdes.rules.inline", "serdes.rules.cel")
found = [name for name in sys.modules if name.startswith(LAZY)]
assert not found, found
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PROCESS_S, check=False)
    assert done.returncode == 0, done.stderr


def test_rules_run_on_reading_too(client: SchemaRegistryClient) -> None:
    frame = AvroSerializer(client, avro(AGE))({"age": -1}, CTX)
    assert AvroDeserializer(client)(frame, CTX) == {"age": -1}
    for conf in (BEFORE, AFTER):
        assert broken(lambda conf=conf: AvroDeserializer(client, conf=conf)(frame, CTX)) == ["age"]  # type: ignore[misc]


def test_a_reader_without_a_registry_runs_them() -> None:
    client = SchemaRegistryClient({"url": "mock://"})
    text = json.dumps({"type": "object", "properties": {"age": {"type": "integer", RULES: positive()}}})
    frame = JSONSerializer(text, client)({"age": 0}, CTX)
    read = JSONDeserializer(text, conf=BEFORE)
    assert broken(lambda: read(frame, CTX)) == ["$.age"]


def test_the_schema_that_values_are_read_with_has_the_say(client: SchemaRegistryClient) -> None:
    old = avro({"name": "age", "type": "int", RULES: FAILS})
    new = avro(
        {"name": "years", "type": "int", "aliases": ["age"], RULES: positive()},
        {"name": "more", "type": "int", "default": 0, RULES: positive()},
    )
    frame = AvroSerializer(client, old)({"age": -1}, CTX)
    read = AvroDeserializer(client, new, conf=AFTER)
    assert broken(lambda: read(frame, CTX)) == ["years", "more"]
    without = AvroDeserializer(client, avro({"name": "years", "type": "int", "aliases": ["age"]}), conf=AFTER)
    assert broken(lambda: without(frame, CTX)) == ["age"]
    latest = AvroDeserializer(client, conf={**AFTER, "use.latest.version": True})
    assert broken(lambda: latest(frame, CTX)) == ["age"]


def test_values_are_looked_at_wherever_they_are(client: SchemaRegistryClient) -> None:
    text = avro(
        {"name": "list", "type": {"type": "array", "items": {"type": "record", "name": "I", "fields": [AGE]}}},
        {"name": "map", "type": {"type": "map", "values": ["null", "I"]}},
        {"name": "next", "type": ["null", "R"], "default": None},
        {"name": "either", "type": ["int", "string", {"type": "record", "name": "E", RULES: FAILS, "fields": []}]},
        {
            "name": "kind",
            "type": {"type": "enum", "name": "K", "symbols": ["A", "B"], RULES: [{"expr": "this == 'A'"}]},
        },
        {
            "name": "grid",
            "type": {"type": "array", "items": {"type": "array", "items": "int", RULES: [{"expr": "size(this) < 2"}]}},
        },
    )
    inner = {"list": [], "map": {}, "next": None, "either": 1, "kind": "B", "grid": []}
    value = {
        "list": [{"age": 1}, {"age": 0}],
        "map": {"x": None, "y": {"age": 0}},
        "next": {**inner, "list": ({"age": 0},)},
        "either": ("t.E", {}),
        "kind": "A",
        "grid": [[1], [1, 2]],
    }
    paths = ["list[1].age", 'map["y"].age', "next.list[0].age", "next.kind", "either", "grid[1]"]
    write = AvroSerializer(client, text, conf=BEFORE)
    assert broken(lambda: write(value, CTX)) == paths
    frame = AvroSerializer(client, text)(value, CTX)
    for more in ({}, {"return_record_name": True}):
        read = AvroDeserializer(client, conf=BEFORE, **more)  # type: ignore[arg-type]
        assert broken(lambda read=read: read(frame, CTX)) == paths  # type: ignore[misc]


def test_rules_of_referenced_schemas(client: SchemaRegistryClient) -> None:
    client.register_schema("item", Schema(avro(AGE, name="Item")))
    text = avro({"name": "item", "type": "t.Item"})
    schema = Schema(text, "AVRO", [SchemaReference("t.Item", "item", 1)])
    write = AvroSerializer(client, schema, conf=BEFORE)
    assert broken(lambda: write({"item": {"age": 0}}, CTX)) == ["item.age"]


@dataclasses.dataclass
class R:
    age: int


def test_objects_and_typed_models_are_looked_at(client: SchemaRegistryClient) -> None:
    text = avro({**AGE, "type": "long"})
    write = AvroSerializer(client, text, conf=BEFORE)
    typed = AvroSerializer(client, text, conf=AFTER, model=R)
    told = AvroSerializer(client, text, lambda one, ctx: {"age": one.age}, conf=AFTER)
    for one in (write, typed, told):
        assert broken(lambda one=one: one(R(0), CTX)) == ["age"]  # type: ignore[misc]
        assert one(R(1), CTX)[5:] == b"\x02"
    read = AvroDeserializer(client, conf=BEFORE, model=R)
    assert read(write(R(1), CTX), CTX) == R(1)
    bad = AvroSerializer(client, text)(R(0), CTX)
    assert broken(lambda: read(bad, CTX)) == ["age"]


def test_a_missing_field_is_looked_at_with_its_default(client: SchemaRegistryClient) -> None:
    write = AvroSerializer(client, avro({**AGE, "default": 0}), conf=BEFORE)
    assert broken(lambda: write({}, CTX)) == ["age"]


def test_null_is_not_looked_at(client: SchemaRegistryClient) -> None:
    write = AvroSerializer(client, avro({"name": "a", "type": ["null", "int"], RULES: FAILS}), conf=BEFORE)
    assert write({"a": None}, CTX)[5:] == b"\x00"


def test_a_value_whose_rules_can_not_be_told_is_refused(client: SchemaRegistryClient) -> None:
    write = AvroSerializer(
        client,
        avro({"name": "a", "type": {"type": "array", "items": {"type": "record", "name": "I", "fields": [AGE]}}}),
        conf=BEFORE,
    )
    with pytest.raises(SerializationError, match="the rules inside the schema can't be run: a"):
        write({"a": 5}, CTX)


def doubling(mode: RuleMode) -> RuleSet:
    return RuleSet(
        None,
        [
            Rule(
                "half",
                None,
                RuleKind.TRANSFORM,
                mode,
                "CEL",
                None,
                None,
                "{'age': message.age - 10}",
                None,
                None,
                False,
            )
        ],
    )


def test_before_and_after_domain_rules(client: SchemaRegistryClient) -> None:
    text = avro(AGE)
    client.register_schema("t-value", Schema(text, "AVRO", [], None, doubling(RuleMode.WRITEREAD)))
    before, after = (AvroSerializer(client, conf={**conf, **LATEST}) for conf in (BEFORE, AFTER))
    assert before({"age": 5}, CTX)[5:] == b"\x09"  # -5
    assert broken(lambda: before({"age": 0}, CTX)) == ["age"]
    assert broken(lambda: after({"age": 5}, CTX)) == ["age"]
    frame = before({"age": 15}, CTX)  # holds 5
    assert AvroDeserializer(client, conf=BEFORE)(frame, CTX) == {"age": -5}
    assert broken(lambda: AvroDeserializer(client, conf=AFTER)(frame, CTX)) == ["age"]


def test_migrated_values_are_looked_at(client: SchemaRegistryClient) -> None:
    client.register_schema("t-value", Schema(avro({"name": "age", "type": "int"})))
    frame = AvroSerializer(client, conf=LATEST)({"age": 3}, CTX)
    up = Rule(
        "up",
        None,
        RuleKind.TRANSFORM,
        RuleMode.UPGRADE,
        "JSONATA",
        None,
        None,
        '{"years": age - 10}',
        None,
        None,
        False,
    )
    newer = avro({"name": "years", "type": "int", RULES: positive()})
    client.set_config("t-value", ServerConfig("NONE"))
    client.register_schema("t-value", Schema(newer, "AVRO", [], None, RuleSet([up], None)))
    assert AvroDeserializer(client, conf={"use.latest.version": True})(frame, CTX) == {"years": -7}
    read = AvroDeserializer(client, conf={"use.latest.version": True, **AFTER})
    assert broken(lambda: read(frame, CTX)) == ["years"]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (avro({"name": "a", "type": "int", RULES: "this > 0"}), "t.R.a"),
        (avro({"name": "a", "type": "int", RULES: ["this > 0"]}), "t.R.a"),
        (avro({"name": "a", "type": "int", RULES: [{"name": "n"}]}), "t.R.a"),
        (avro({"name": "a", "type": "int", RULES: [{"expr": " "}]}), "t.R.a"),
        (avro({"name": "a", "type": "int"}, **{RULES: {"expr": "true"}}), "t.R"),
    ],
)
def test_a_rule_that_would_never_run_refuses_the_schema(client: SchemaRegistryClient, text: str, place: str) -> None:
    with pytest.raises(RuleThatNeverRunsError, match=f"at {place} of the schema would never run"):
        AvroSerializer(client, text, conf=BEFORE)({"a": 1}, CTX)
    frame = AvroSerializer(client, text)({"a": 1}, CTX)
    with pytest.raises(RuleThatNeverRunsError, match="would never run"):
        AvroDeserializer(client, conf=BEFORE)(frame, CTX)


@pytest.mark.parametrize("kind", [{"type": {"type": "int"}}, {"type": ["null", "int"]}])
@pytest.mark.parametrize("comment", ["", "// said of it\n"])
def test_rules_beside_a_type_that_parsers_unwrap(kind: dict[str, Any], comment: str) -> None:
    """No registry of ours takes them; a reader without one may be given them."""
    inner = avro({"name": "a", "type": {"type": "array", "items": {**kind, RULES: FAILS}}})
    for parsed in (load_texts(comment + inner), load_texts('"string"', [inner])):
        with pytest.raises(RuleThatNeverRunsError, match=r"at \$\.a\.items of the schema would never run"):
            sites_of(parsed)


def test_all_rules_of_a_schema_are_known() -> None:
    """Whatever place of a schema takes properties: rules there run, or the schema is refused."""
    for kind, value in (
        ("int", 1),
        ({"type": "long", "logicalType": "timestamp-millis"}, 5),
        ({"type": "fixed", "name": "F", "size": 1}, b"a"),
        ({"type": "map", "values": "int"}, {}),
    ):
        made = {"type": kind} if isinstance(kind, str) else dict(kind)
        sites = sites_of(load_texts(json.dumps({**made, RULES: FAILS})))
        assert sites is not None
        assert [site.value for site in sites(value)] == [value]


# ---- asyncio, executors


class Recording(ValidationRuleExecutor):
    """Says of every value what it is given, or does what it is told."""

    def __init__(self, answer: Any = True) -> None:
        self.seen: list[tuple[str | None, Any, Any]] = []
        self.answer = answer

    def execute(self, rule: ValidationRule, schema: Any, message: Any) -> Any:
        self.seen.append((rule.name, schema, message))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_an_executor_of_ones_own(client: SchemaRegistryClient) -> None:
    mine = Recording()
    write = AvroSerializer(client, avro(AGE), conf={**BEFORE, "validation.rules.executor": mine})
    write({"age": 0}, CTX)
    assert mine.seen == [("positive", "int", 0)]
    mine.answer = "said"
    assert broken(lambda: write({"age": 0}, CTX)) == ["age"]
    mine.answer = RuleError("went wrong")
    with pytest.raises(ValidationRulesFailedError, match=r"age: positive: .* \(caused by: went wrong\)"):
        write({"age": 0}, CTX)
    mine.answer = 5
    with pytest.raises(SerializationError, match="resolved to an unexpected type: int"):
        write({"age": 0}, CTX)
    with pytest.raises(ValueError, match="must be a ValidationRuleExecutor instance"):
        AvroSerializer(client, avro(AGE), conf={**BEFORE, "validation.rules.executor": "a"})


def test_asyncio(client: SchemaRegistryClient) -> None:
    mine = Recording()

    async def main() -> None:
        async with AsyncSchemaRegistryClient({"url": "mock://"}) as asked:
            for conf in (BEFORE, {**BEFORE, "validation.rules.executor": mine}):
                write = AsyncAvroSerializer(asked, avro(AGE), conf=conf)
                read = AsyncAvroDeserializer(asked, conf=conf)
                assert await read(await write({"age": 1}, CTX), CTX) == {"age": 1}
            with pytest.raises(ValidationRulesFailedError):
                await AsyncAvroSerializer(asked, avro(AGE), conf=BEFORE)({"age": 0}, CTX)

    asyncio.run(main())
    assert len(mine.seen) == 2


def test_without_the_extra_it_is_said_at_once(client: SchemaRegistryClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "celpy", None)
    with pytest.raises(ValueError, match=r"rules inside schemas can't be run.*validation\.rules\.executor"):
        AvroSerializer(client, avro(AGE), conf=BEFORE)
    assert AvroSerializer(client, avro(AGE), conf={**BEFORE, "validation.rules.executor": Recording()})


def test_a_rule_may_not_run_for_ever(client: SchemaRegistryClient) -> None:
    text = avro({"name": "a", "type": "string", RULES: [{"name": "slow", "expr": "this + this == ''"}]})
    write = AvroSerializer(client, text, conf=BEFORE, rule_conf={"rule.timeout.ms": 0.000001})
    with pytest.raises(ValidationRulesFailedError, match="takes longer than"):
        write({"a": "x"}, CTX)


def test_a_typed_producer_sends_nothing_that_rules_refuse(client: SchemaRegistryClient) -> None:
    write = AvroSerializer(client, avro(AGE), conf=BEFORE)
    with SerializingProducer({"bootstrap.servers": "127.0.0.1:1", "value.serializer": write}) as producer:
        with pytest.raises(ValueSerializationError, match="positive"):
            producer.produce("t", value={"age": 0})
        assert len(producer) == 0


# ---- JSON


def test_json_rules_run_wherever_they_stand(client: SchemaRegistryClient) -> None:
    document = {
        "$defs": {"pos": {"type": "integer", RULES: positive()}},
        "type": "object",
        "properties": {
            "a": {"$ref": "#/$defs/pos"},
            "list": {"type": "array", "items": {"$ref": "#/$defs/pos"}},
            "both": {"allOf": [{"$ref": "#/$defs/pos"}, {"$ref": "#/$defs/pos"}]},
            "any": {"anyOf": [{"type": "string"}, {"type": "integer", RULES: positive()}]},
            "kind": {"type": ["integer", "null"], RULES: positive()},
        },
        "patternProperties": {"^x": {RULES: FAILS}},
        "additionalProperties": {"type": "integer", RULES: positive()},
    }
    write = JSONSerializer(json.dumps(document), client, conf=BEFORE)
    good = {"a": 1, "list": [1], "both": 1, "any": "x", "kind": None, "other": 1}
    frame = write(good, CTX)
    assert JSONDeserializer(None, schema_registry_client=client, conf=BEFORE)(frame, CTX) == good
    bad = {"a": 0, "list": [1, 0], "both": 0, "any": 0, "kind": 0, "other": 0, "x": 1}
    paths = ["$.a", "$.list[1]", "$.both", "$.any", "$.kind", "$.other", "$.x"]
    assert broken(lambda: write(bad, CTX)) == paths
    frame = JSONSerializer(json.dumps(document), client)(bad, CTX)
    read = JSONDeserializer(None, schema_registry_client=client, conf=BEFORE)
    assert broken(lambda: read(frame, CTX)) == paths


@pytest.mark.parametrize("key", ["not", "if", "contains", "propertyNames", "unevaluatedProperties"])
def test_json_rules_that_would_never_run(client: SchemaRegistryClient, key: str) -> None:
    text = json.dumps({"type": "object", key: {"properties": {"a": {RULES: FAILS}}}})
    with pytest.raises(RuleThatNeverRunsError, match=f"schemas within '{key}' describe no value"):
        JSONSerializer(text, client, conf=BEFORE)({}, CTX)


def test_alternatives_of_which_none_fits_are_no_way_around_rules(client: SchemaRegistryClient) -> None:
    text = json.dumps({"oneOf": [{"type": "integer", RULES: FAILS}]})
    write = JSONSerializer(text, client, conf={**BEFORE, "validate": False})
    with pytest.raises(SerializationError, match="valid by none of the schemas of 'oneOf'"):
        write("text", CTX)


def test_json_values_that_are_read_are_valid_before_rules_run(client: SchemaRegistryClient) -> None:
    text = json.dumps({"type": "object", "properties": {"a": {"type": "integer", RULES: positive()}}})
    frame = JSONSerializer(text, client, conf={"validate": False})({"a": "x"}, CTX)
    with pytest.raises(SerializationError, match="integer"):
        JSONDeserializer(None, schema_registry_client=client, conf=AFTER)(frame, CTX)


def test_json_nested_too_deep(client: SchemaRegistryClient) -> None:
    text = json.dumps(
        {"$defs": {"n": {"items": {"$ref": "#/$defs/n"}, RULES: [{"expr": "true"}]}}, "$ref": "#/$defs/n"}
    )
    value: Any = []
    for _ in range(300):
        value = [value]
    with pytest.raises(SerializationError, match="nested deeper"):
        JSONSerializer(text, client, conf=BEFORE)(value, CTX)


# ---- Protobuf

PROTO = """
syntax = "proto3";
package t;
import "confluent/meta.proto";
import "google/protobuf/any.proto";
message Item { int32 age = 1 [(confluent.field_meta).rules = { name: "positive", expr: "this > 0" }]; }
message Box {
  option (confluent.message_meta) = { rules: [{ name: "box", expr: "!has(this.single) || this.single.age != 9" }] };
  repeated Item items = 1;
  map<string, Item> named = 2;
  oneof which {
    Item single = 3;
    string text = 4 [(confluent.field_meta).rules = { name: "text", expr: "this != ''" }];
  }
  optional int32 maybe = 5 [(confluent.field_meta).rules = { name: "maybe", expr: "this > 0" }];
  google.protobuf.Any any = 6;
}
"""


def test_protobuf_values_are_looked_at_wherever_they_are(client: SchemaRegistryClient) -> None:
    kind = load(Schema(PROTO, "PROTOBUF")).named("t.Box")
    client.register_schema("t-value", Schema(PROTO, "PROTOBUF"))
    message: Any = kind(items=[{"age": 1}, {"age": 0}], text="")
    message.named["a"].age = 0
    message.any.Pack(load(Schema(PROTO, "PROTOBUF")).named("t.Item")(age=-1))
    paths = ["items[1].age", 'named["a"].age', "text", "any.age"]
    for conf in ({**BEFORE, **LATEST}, {**BEFORE}):
        write = ProtobufSerializer(kind, client, conf=conf)
        assert broken(lambda write=write: write(message, CTX)) == paths  # type: ignore[misc]
    frame = ProtobufSerializer(kind, client, conf=LATEST)(message, CTX)
    for reader in (kind, None):
        read = ProtobufDeserializer(reader, BEFORE, client)
        assert broken(lambda read=read: read(frame, CTX)) == paths  # type: ignore[misc]


def test_protobuf_fields_that_are_not_set_are_not_looked_at(client: SchemaRegistryClient) -> None:
    kind = load(Schema(PROTO, "PROTOBUF")).named("t.Box")
    write = ProtobufSerializer(kind, client, conf=BEFORE)
    assert write(kind(), CTX)
    assert broken(lambda: write(kind(maybe=0), CTX)) == ["maybe"]
    assert broken(lambda: write(kind(single={"age": 9}), CTX)) == [""]


def test_a_field_that_the_class_does_not_know(client: SchemaRegistryClient) -> None:
    """A message read with an older class and written again keeps unknown fields: rules see them."""
    older = 'syntax = "proto3"; package t; message Item { string name = 2; }'
    kind = load(Schema(older, "PROTOBUF")).named("t.Item")
    newer = """syntax = "proto3"; package t; import "confluent/meta.proto";
    message Item { string name = 2; int32 age = 1 [(confluent.field_meta).rules = { name: "p", expr: "this > 0" }]; }"""
    client.register_schema("t-value", Schema(newer, "PROTOBUF"))
    write = ProtobufSerializer(kind, client, conf={**BEFORE, **LATEST})
    assert write(kind(name="a"), CTX)
    assert broken(lambda: write(kind.FromString(b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), CTX)) == ["age"]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("option (confluent.file_meta) = { rules: [{ expr: 'true' }] }; message A {}", "file "),
        (
            "message A { E e = 1; } enum E { option (confluent.enum_meta) = { rules: [{ expr: 'true' }] }; X = 0; }",
            "enum t.E",
        ),
        (
            "message A { enum E { X = 0 [(confluent.enum_value_meta) = { rules: [{ expr: 'true' }] }]; } }",
            "X of enum t.A.E",
        ),
        ("message A { int32 a = 1 [(confluent.field_meta).rules = { name: 'n' }]; }", "t.A.a"),
    ],
)
def test_protobuf_rules_that_would_never_run(client: SchemaRegistryClient, text: str, place: str) -> None:
    schema = Schema(f'syntax = "proto3"; package t; import "confluent/meta.proto"; {text}', "PROTOBUF")
    with pytest.raises(RuleThatNeverRunsError, match=f"at {place}.*would never run"):
        ProtobufSerializer(load(schema).named("t.A"), client, conf=BEFORE)(load(schema).named("t.A")(), CTX)


def test_a_message_that_is_none_of_the_registered_type(client: SchemaRegistryClient) -> None:
    text = 'syntax = "proto3"; package t; message Item { bytes age = 3; }'
    kind = load(Schema(text, "PROTOBUF")).named("t.Item")
    newer = PROTO.replace("int32 age = 1", "string age = 3").replace("this > 0", "this != ''")
    client.register_schema("t-value", Schema(newer.replace("message Box", "message Other"), "PROTOBUF"))
    write = ProtobufSerializer(kind, client, conf={**BEFORE, **LATEST})
    with pytest.raises(SerializationError, match=r"can't be read as the registered type t\.Item"):
        write(kind(age=b"\xff"), CTX)


def test_rules_of_extensions(client: SchemaRegistryClient) -> None:
    text = """syntax = "proto2"; package t; import "confluent/meta.proto";
    message Open { optional int32 a = 1; extensions 100 to 200; }
    extend Open { optional int32 more = 100 [(confluent.field_meta).rules = { name: "more", expr: "this > 0" }]; }"""
    parsed = load(Schema(text, "PROTOBUF"))
    message: Any = parsed.named("t.Open")()
    message.Extensions[parsed.file.extensions_by_name["more"]] = -1
    write = ProtobufSerializer(parsed.named("t.Open"), client, conf=BEFORE)
    assert broken(lambda: write(message, CTX)) == ["[t.more]"]


def test_what_an_any_holds_has_rules_if_the_schema_has_its_type(client: SchemaRegistryClient) -> None:
    kind = load(Schema(PROTO, "PROTOBUF")).named("t.Box")
    write = ProtobufSerializer(kind, client, conf=BEFORE)
    for url in ("x/t.Unknown", "x/google.protobuf.FileDescriptorSet", ""):
        assert write(kind(any={"type_url": url}), CTX)
    with pytest.raises(SerializationError, match=r"what is packed in an Any is no t\.Item"):
        write(kind(any={"type_url": "x/t.Item", "value": b"\xff"}), CTX)


def test_more_items_than_the_class_given_knows() -> None:
    """The registered schema makes a repeated field of a single one: only its last value is the class's."""
    one = load(
        Schema(
            'syntax = "proto3"; package t; message Box { Item items = 1; } message Item { int32 age = 1; }', "PROTOBUF"
        )
    )
    message: Any = one.named("t.Box")(items={"age": -1})
    registered = load(Schema(PROTO, "PROTOBUF")).named("t.Box").DESCRIPTOR
    found = inline_protobuf.validate_message(CelValidator(), registered, message)
    assert [violation.field_path for violation in found] == ["items[0].age"]


# ---- validate_message, one for each format


def test_validate_message_of_avro() -> None:
    inner = {"type": "record", "name": "I", "fields": [AGE]}
    schema = {
        "type": "record",
        "name": "O",
        "fields": [{"name": "a", "type": inner}, {"name": "b", "type": [inner, "null"]}],
    }
    expanded = {**schema, "__fastavro_parsed__": True, "__named_schemas__": {}}
    value = {"a": {"age": 0}, "b": {"age": 0}}
    cel = CelValidator()
    found = inline_avro.validate_message(cel, expanded, value)
    assert [violation.field_path for violation in found] == ["a.age", "b.age"]
    assert len(inline_avro.validate_message(cel, schema, value, True)) == 1
    assert inline_avro.validate_message(cel, schema, {"a": 5, "b": {}}) == []
    assert inline_avro.validate_message(None, schema, value) == []


def test_validate_message_of_json() -> None:
    schema = {"properties": {"a": {"$ref": "other#/$defs/a"}, "b": {"oneOf": [{"type": "integer", RULES: FAILS}]}}}
    other = {"$defs": {"a": {RULES: FAILS}}}
    resources = referencing.Registry().with_resource("other", referencing.Resource.from_contents(other, DRAFT7))
    arguments = (schema, resources, resources.resolver_with_root(referencing.Resource.from_contents(schema, DRAFT7)))
    found = inline_json.validate_message(CelValidator(), *arguments, {"a": 1, "b": "text"})
    assert [violation.field_path for violation in found] == ["$.a"]
    assert inline_json.validate_message(CelValidator(), *arguments, None) == []


def test_validate_message_of_protobuf() -> None:
    kind = load(Schema(PROTO, "PROTOBUF")).named("t.Box")
    found = inline_protobuf.validate_message(CelValidator(), kind.DESCRIPTOR, kind(text="", maybe=0), True)
    assert [violation.field_path for violation in found] == ["text"]
    assert inline_protobuf.validate_message(CelValidator(), None, kind()) == []


def test_schemas_and_values_without_rules(client: SchemaRegistryClient) -> None:
    for text, value in ((avro({"name": "a", "type": "int"}), {"a": 1}), ('"null"', None)):
        write = AvroSerializer(client, text, conf=BEFORE)
        assert write(value, SerializationContext(str(value), MessageField.VALUE)) is not None or value is None
    ctx = SerializationContext("j", MessageField.VALUE)
    assert JSONSerializer('{"type": "object"}', client, conf=BEFORE)({}, ctx)[5:] == b"{}"
    with pytest.raises(SerializationError, match="missing"):
        AvroSerializer(client, avro(AGE, name="M"), conf=BEFORE)({}, SerializationContext("m", MessageField.VALUE))


# ---- the vocabulary


def test_names_and_values() -> None:
    assert RULES == "confluent:rules"
    assert [one.value for one in ValidationRulesExecution] == ["DISABLED", "BEFORE_DOMAIN_RULES", "AFTER_DOMAIN_RULES"]
    rule = ValidationRule("n", None, "e")
    assert rule == ValidationRule("n", None, "e")
    assert hash(rule) == hash(ValidationRule("n", None, "e"))
    assert ValidationRuleError(rule, "a") == ValidationRuleError(rule, "a", None, ValueError())
    assert ValidationRuleError(rule, "a") != 5
    assert len({ValidationRuleError(rule, "a"), ValidationRuleError(rule, "a")}) == 1
    assert repr(ValidationRuleError(rule, "a")) == "ValidationRuleError(a: n: e)"
    assert parse_validation_rules([{"expr": "x"}, 5]) == [ValidationRule(None, None, "x")]
    assert parse_validation_rules({"expr": "x"}) == []


@pytest.mark.parametrize(
    ("expr", "value", "said"),
    [
        ("this > 1", 2, True),
        ("this > 1", 1, False),
        ("this == 'a' ? '' : 'no'", "b", "no"),
        ("now > timestamp('2020-01-01T00:00:00Z')", 1, True),
    ],
)
def test_cel(expr: str, value: Any, said: bool | str) -> None:
    assert default_validation_rule_executor().execute(ValidationRule("r", None, expr), None, value) == said


@pytest.mark.parametrize(
    ("expr", "value", "text"),
    [
        ("this", 5, "must give a bool or a string, not IntType"),
        ("this +", 5, "can't be parsed"),
        ("this.a", {}, "failed"),
        (None, 5, "has no expression"),
        ("true", None, "was given none"),
    ],
)
def test_cel_that_fails(expr: str | None, value: Any, text: str) -> None:
    out: list[ValidationRuleError] = []
    evaluate_validation_rule(CelValidator(), ValidationRule("r", None, expr), None, value, "p", out)
    assert [one.field_path for one in out] == ["p"]
    assert text in str(out[0].cause)
