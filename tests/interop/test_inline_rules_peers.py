"""Rules inside schemas beside confluent-kafka: same schema, same value, the same rules broken at the same places.

Where ours runs rules that the peer leaves out, that is said here, one test each, with what the peer does.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable
from typing import Any, Final

import pytest
import referencing
from google.protobuf import json_format
from hypothesis import given, settings
from hypothesis import strategies as st

from registry import Schema, SchemaRegistryClient
from serdes import MessageField, SerializationContext, SerializationError
from serdes.avro import AvroSerializer
from serdes.formats.json.codec import JsonSchema, resolver_of
from serdes.formats.protobuf.codec import descriptor_text, load
from serdes.json_schema import JSONSerializer
from serdes.protobuf import ProtobufSerializer
from serdes.rules import ValidationRule, ValidationRuleError
from serdes.rules.inline import avro as inline_avro
from serdes.rules.inline import json as inline_json
from serdes.rules.inline import protobuf as inline_protobuf
from serdes.rules.inline.cel import CelValidator

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # authlib warns of httpx when it is imported
    fastavro_schema = pytest.importorskip("fastavro.schema")
    peer = pytest.importorskip("confluent_kafka.schema_registry", exc_type=ImportError)
    peer_classes = {
        "AVRO": pytest.importorskip("confluent_kafka.schema_registry.avro", exc_type=ImportError),
        "JSON": pytest.importorskip("confluent_kafka.schema_registry.json_schema", exc_type=ImportError),
        "PROTOBUF": pytest.importorskip("confluent_kafka.schema_registry.protobuf", exc_type=ImportError),
    }
    peer_serialization = pytest.importorskip("confluent_kafka.serialization")
    peer_avro = pytest.importorskip("confluent_kafka.schema_registry.common.avro", exc_type=ImportError)
    peer_json = pytest.importorskip("confluent_kafka.schema_registry.common.json_schema", exc_type=ImportError)
    peer_protobuf = pytest.importorskip("confluent_kafka.schema_registry.common.protobuf", exc_type=ImportError)
    peer_cel = pytest.importorskip("confluent_kafka.schema_registry.rules.cel.cel_validator", exc_type=ImportError)

pytestmark = [pytest.mark.interop, pytest.mark.filterwarnings("ignore")]
RULES: Final = "confluent:rules"
THEIRS = peer_cel.CelValidator()
OURS = CelValidator()
Facts = list[tuple[str, str | None, str | None, bool]]


def facts(violations: Iterable[Any]) -> Facts:
    """Each violation once (the peer evaluates rules of a JSON property that is an object twice), in any order."""
    found = {(one.field_path, one.rule.name, one.message, one.cause is None) for one in violations}
    return sorted(found, key=repr)


# ---- generated schemas, rules and values

NUMBERS: Final = ("this > 0", "this != 3", "this < 5 ? '' : 'too many'", "this.x == 1", "this + 1", "size(this) == 2")
TEXTS: Final = (
    "size(this) < 3",
    "this.startsWith('a')",
    "this == '' ? 'empty' : ''",
    "this > 1",
    "this.isEmail()",
    "(",
)
LISTS: Final = ("size(this) < 3", "size(this) > 0 ? '' : 'none'", "this.all(x, x != 2)", "this[0] == this[0]", "now")
RECORDS: Final = ("this.a > 0", "has(this.b)", "has(this.b) && this.b != ''", "size(this) > 1 ? '' : 'small'", "false")


@st.composite
def rules(draw: Any, of: tuple[str, ...]) -> dict[str, Any]:
    chosen = draw(st.lists(st.sampled_from(of), max_size=2))
    made = [{"name": f"r{of.index(expr)}", "doc": "why", "expr": expr} for expr in chosen]
    return {RULES: made} if made else {}


ITEM = st.integers(-2, 6)
WORD = st.text("ab@.", max_size=4)


def avro_types(depth: int) -> st.SearchStrategy[tuple[Any, tuple[str, ...], st.SearchStrategy[Any]]]:
    """Type, rules that may stand on a field of it, values."""
    plain = st.sampled_from([("int", NUMBERS, ITEM), ("string", TEXTS, WORD)])
    if depth == 0:
        return plain
    inner = avro_types(depth - 1)
    return st.one_of(
        plain,
        inner.map(lambda one: ({"type": "array", "items": one[0]}, LISTS, st.lists(one[2], max_size=3))),
        inner.map(
            lambda one: ({"type": "map", "values": one[0]}, LISTS[:2], st.dictionaries(WORD, one[2], max_size=2))
        ),
        plain.map(lambda one: (["null", one[0]], one[1], st.none() | one[2])),
        avro_record(depth - 1).map(lambda one: (one[0], RECORDS, one[1])),
        avro_record(depth - 1).map(lambda one: (["null", one[0]], RECORDS, st.none() | one[1])),
    )


NAMES = iter(f"R{number}" for number in range(10**9))


@st.composite
def avro_record(draw: Any, depth: int) -> tuple[dict[str, Any], st.SearchStrategy[Any]]:
    fields, values = [], {}
    for name in ("a", "b", "c")[: draw(st.integers(1, 3))]:
        kind, own, value = draw(avro_types(depth))
        fields.append({"name": name, "type": kind, **draw(rules(own))})
        values[name] = value
    record = {"type": "record", "name": next(NAMES), "fields": fields, **draw(rules(RECORDS))}
    return record, st.fixed_dictionaries(values)


@st.composite
def avro_cases(draw: Any) -> tuple[Any, Any]:
    schema, values = draw(avro_record(2))
    return schema, draw(values)


def peer_avro_violations(schema: Any, value: Any, fail_fast: bool = False) -> Any:
    parsed = fastavro_schema.expand_schema(fastavro_schema.parse_schema(schema))
    return peer_avro.validate_message(THEIRS, parsed, value, fail_fast)


@given(avro_cases())
@settings(deadline=None, max_examples=100, derandomize=True)
def test_avro_rules_break_at_the_same_places(case: tuple[Any, Any]) -> None:
    schema, value = case
    theirs = facts(peer_avro_violations(schema, value))
    assert facts(inline_avro.validate_message(OURS, schema, value)) == theirs
    first = inline_avro.validate_message(OURS, schema, value, True)
    assert facts(first) == facts(peer_avro_violations(schema, value, True))


def json_types(depth: int) -> st.SearchStrategy[tuple[dict[str, Any], tuple[str, ...], st.SearchStrategy[Any]]]:
    plain: st.SearchStrategy[Any] = st.sampled_from(
        [({"type": "integer"}, NUMBERS, ITEM), ({"type": "string"}, TEXTS, WORD)]
    )
    if depth == 0:
        return plain
    record = json_record(depth - 1)
    return st.one_of(
        plain,
        json_types(depth - 1).map(
            lambda one: ({"type": "array", "items": one[0]}, LISTS, st.lists(one[2], max_size=3))
        ),
        plain.map(lambda one: ({"oneOf": [{"type": "null"}, one[0]]}, one[1], st.none() | one[2])),
        record.map(lambda one: (one[0], RECORDS, one[1])),
        record.map(lambda one: ({"oneOf": [{"type": "null"}, one[0]]}, RECORDS, st.none() | one[1])),
        record.map(lambda one: ({"allOf": [one[0]]}, RECORDS, one[1])),
    )


@st.composite
def json_record(draw: Any, depth: int) -> tuple[dict[str, Any], st.SearchStrategy[Any]]:
    properties, values = {}, {}
    for name in ("a", "b", "c")[: draw(st.integers(1, 3))]:
        kind, own, value = draw(json_types(depth))
        properties[name] = {**draw(rules(own)), **kind}
        values[name] = value
    made = {"type": "object", "properties": properties, **draw(rules(RECORDS))}
    return made, st.fixed_dictionaries({}, optional=values)


@st.composite
def json_cases(draw: Any) -> tuple[Any, Any]:
    schema, values = draw(json_record(2))
    return schema, draw(values)


@given(json_cases())
@settings(deadline=None, max_examples=100, derandomize=True)
def test_json_rules_break_at_the_same_places(case: tuple[Any, Any]) -> None:
    schema, value = case
    resolver = resolver_of(JsonSchema(schema))
    theirs = peer_json.validate_message(THEIRS, schema, referencing.Registry(), resolver, value)
    assert facts(inline_json.validate_message(OURS, schema, {}, resolver, value)) == facts(theirs)


PROTO: Final = """
syntax = "proto3";
package t;
import "confluent/meta.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
message Node {
  option (confluent.message_meta) = { rules: [{ name: "node", expr: "this.count != 3" }] };
  int32 count = 1 [(confluent.field_meta).rules = { name: "count", expr: "this >= 0" }];
  optional string note = 2
    [(confluent.field_meta).rules = { name: "note", doc: "d", expr: "size(this) > 1 ? '' : 'short'" }];
  repeated Node kids = 3 [(confluent.field_meta).rules = { name: "kids", expr: "size(this) < 3" }];
  map<string, Node> named = 4 [(confluent.field_meta).rules = { name: "named", expr: "size(this) < 2" }];
  map<string, int64> totals = 5 [(confluent.field_meta).rules = { name: "totals", expr: "this.all(k, this[k] > 0)" }];
  oneof which {
    uint32 number = 6 [(confluent.field_meta).rules = { name: "number", expr: "this < 5u" }];
    string word = 7 [(confluent.field_meta).rules = { name: "word", expr: "this.startsWith('a')" }];
    Node inner = 8 [(confluent.field_meta).rules = { name: "inner", expr: "has(this.note)" }];
  }
  google.protobuf.Timestamp at = 9
    [(confluent.field_meta).rules = { name: "at", expr: "this < timestamp('2020-01-01T00:00:00Z')" }];
  google.protobuf.StringValue maybe = 10 [(confluent.field_meta).rules = { name: "maybe", expr: "this != 'no'" }];
  repeated string words = 11 [(confluent.field_meta).rules = { name: "words", expr: "this.all(w, w != '')" }];
  bytes raw = 12 [(confluent.field_meta).rules = { name: "raw", expr: "size(this) < 3" }];
}
"""
NODE: Final = load(Schema(PROTO, "PROTOBUF")).named("t.Node")


def nodes(depth: int) -> st.SearchStrategy[dict[str, Any]]:
    words = st.text("abno", max_size=3)
    fields: dict[str, Any] = {
        "count": st.integers(-1, 4),
        "note": words,
        "totals": st.dictionaries(words, st.integers(-1, 2), max_size=2),
        "maybe": st.sampled_from(["no", "yes", ""]),
        "words": st.lists(words, max_size=2),
        "raw": st.sampled_from(["", "AAAA", "AAAAAAAA"]),
        "at": st.sampled_from(["2019-01-01T00:00:00Z", "2021-01-01T00:00:00Z"]),
    }
    which: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries({}) | st.fixed_dictionaries(
        {"number": st.integers(0, 9)}
    )
    if depth:
        inner = nodes(depth - 1)
        fields |= {"kids": st.lists(inner, max_size=3), "named": st.dictionaries(words, inner, max_size=2)}
        which = which | st.fixed_dictionaries({"inner": inner})
    return st.tuples(st.fixed_dictionaries({}, optional=fields), which).map(lambda both: {**both[0], **both[1]})


@given(nodes(2))
@settings(deadline=None, max_examples=100, derandomize=True)
def test_protobuf_rules_break_at_the_same_places(value: dict[str, Any]) -> None:
    message = json_format.ParseDict(value, NODE())
    theirs = peer_protobuf.validate_message(THEIRS, NODE.DESCRIPTOR, message)
    assert facts(inline_protobuf.validate_message(OURS, NODE.DESCRIPTOR, message)) == facts(theirs)


RENAMED: Final = load(
    Schema(
        'syntax = "proto3"; package t; message Node { int32 was = 1; bytes note = 2; repeated Node young = 3; }',
        "PROTOBUF",
    )
).named("t.Node")


@given(st.integers(-1, 4), st.binary(max_size=2).filter(lambda raw: raw.isascii()), st.integers(0, 4))
@settings(deadline=None, max_examples=50, derandomize=True)
def test_a_class_that_is_older_than_the_schema(count: int, note: bytes, kids: int) -> None:
    message = RENAMED(was=count, note=note, young=[RENAMED(was=count + 1, note=b"x")] * kids)
    theirs = peer_protobuf.validate_message(THEIRS, NODE.DESCRIPTOR, message)
    assert facts(inline_protobuf.validate_message(OURS, NODE.DESCRIPTOR, message)) == facts(theirs)


# ---- whole serializers

PERSON: Final[dict[str, Any]] = {
    "type": "record",
    "name": "Person",
    RULES: [{"name": "adult", "doc": "too young", "expr": "this.age > 17"}],
    "fields": [
        {"name": "age", "type": "int", RULES: [{"name": "old", "expr": "this < 150 ? '' : 'nobody is that old'"}]},
        {
            "name": "mail",
            "type": ["null", "string"],
            "default": None,
            RULES: [{"name": "mail", "expr": "this.isEmail()"}],
        },
    ],
}
OBJECT: Final = {
    "type": "object",
    RULES: PERSON[RULES],
    "properties": {
        "age": {"type": "integer", RULES: PERSON["fields"][0][RULES]},
        "mail": {"type": "string", RULES: PERSON["fields"][1][RULES]},
    },
}
MESSAGE: Final = """
syntax = "proto3";
package t;
import "confluent/meta.proto";
message Person {
  option (confluent.message_meta) = { rules: [{ name: "adult", doc: "too young", expr: "this.age > 17" }] };
  int32 age = 1 [(confluent.field_meta).rules = { name: "old", expr: "this < 150 ? '' : 'nobody is that old'" }];
  optional string mail = 2 [(confluent.field_meta).rules = { name: "mail", expr: "this.isEmail()" }];
}
"""
LATEST: Final = {"auto.register.schemas": False, "use.latest.version": True}


def writers(kind: str, conf: dict[str, Any]) -> list[Callable[[dict[str, Any]], bytes]]:
    """A serializer of ours and one of the peer, each with a registry of its own in this process."""
    text = {"AVRO": json.dumps(PERSON), "JSON": json.dumps(OBJECT), "PROTOBUF": MESSAGE}[kind]
    ours, theirs = SchemaRegistryClient({"url": "mock://"}), peer.SchemaRegistryClient.new_client({"url": "mock://"})
    if kind == "PROTOBUF":
        text = descriptor_text(load(Schema(text, kind)).file)  # the peer's mock registry takes no other
    ours.register_schema("t-value", Schema(text, kind))
    theirs.register_schema("t-value", peer.Schema(text, kind))
    module, ctx = peer_classes[kind], SerializationContext("t", MessageField.VALUE)
    peer_ctx = peer_serialization.SerializationContext("t", peer_serialization.MessageField.VALUE)
    if kind == "PROTOBUF":
        person = load(Schema(MESSAGE, kind)).named("t.Person")
        mine = ProtobufSerializer(person, ours, conf)
        other = module.ProtobufSerializer(person, theirs, {**conf, "use.deprecated.format": False})
        return [lambda value: mine(person(**value), ctx), lambda value: other(person(**value), peer_ctx)]
    made: list[Any] = (
        [AvroSerializer(ours, text, conf=conf), module.AvroSerializer(theirs, text, conf=conf)]
        if kind == "AVRO"
        else [JSONSerializer(text, ours, conf=conf), module.JSONSerializer(text, theirs, conf=conf)]
    )
    return [lambda value: made[0](dict(value), ctx), lambda value: made[1](dict(value), peer_ctx)]


def outcome(write: Callable[[dict[str, Any]], bytes], value: dict[str, Any]) -> bytes | list[str]:
    """The payload, or the lines that name what is broken."""
    try:
        return write(value)[5:]
    except (SerializationError, peer_serialization.SerializationError) as error:
        return [line.strip() for line in str(error).splitlines() if line.startswith("  - ")]


@pytest.mark.parametrize("kind", ["AVRO", "JSON", "PROTOBUF"])
@pytest.mark.parametrize("execution", ["DISABLED", "BEFORE_DOMAIN_RULES", "AFTER_DOMAIN_RULES"])
@pytest.mark.parametrize("fail_fast", [False, True])
def test_serializers_refuse_the_same_values_with_the_same_lines(kind: str, execution: str, fail_fast: bool) -> None:
    conf = {**LATEST, "validation.rules.execution": execution, "validation.rules.fail.fast": fail_fast}
    mine, other = writers(kind, conf)
    for age, mail in ((30, "a@b.c"), (3, "a@b.c"), (200, "nobody"), (30, "nobody"), (30, None), (1, None)):
        value = {"age": age} | ({} if mail is None else {"mail": mail})
        assert outcome(mine, value) == outcome(other, value)


# ---- where ours runs rules that the peer leaves out

FAILS: Final = [{"name": "no", "expr": "false"}]


def test_a_recursive_record_is_looked_at_everywhere() -> None:
    schema = {
        "type": "record",
        "name": "List",
        "fields": [
            {"name": "v", "type": "int", RULES: FAILS},
            {"name": "next", "type": ["null", "List"], "default": None},
        ],
    }
    value = {"v": 1, "next": {"v": 2, "next": None}}
    assert facts(inline_avro.validate_message(OURS, schema, value)) == [
        ("next.v", "no", None, True),
        ("v", "no", None, True),
    ]
    assert [one.field_path for one in peer_avro_violations(schema, value)] == ["v"]


def test_rules_of_types_that_are_no_records() -> None:
    kinds = [
        {"type": "string", RULES: FAILS},
        {"type": "array", "items": "int", RULES: FAILS},
        {"type": "enum", "name": "E", "symbols": ["A"], RULES: FAILS},
    ]
    for kind, value in zip(kinds, ("a", [1], "A"), strict=True):
        schema = {"type": "record", "name": "R", "fields": [{"name": "a", "type": kind}]}
        assert facts(inline_avro.validate_message(OURS, schema, {"a": value})) == [("a", "no", None, True)]
        assert facts(peer_avro_violations(schema, {"a": value})) == []


def test_a_missing_field_has_its_default() -> None:
    schema = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "int", "default": 0, RULES: FAILS}]}
    assert facts(inline_avro.validate_message(OURS, schema, {})) == [("a", "no", None, True)]
    assert facts(peer_avro_violations(schema, {})) == []


@pytest.mark.parametrize(
    ("schema", "value", "path"),
    [
        ({"additionalProperties": {RULES: FAILS}}, {"a": 1}, "$.a"),
        ({"patternProperties": {"^a": {RULES: FAILS}}}, {"ab": 1}, "$.ab"),
        ({"properties": {"a": {"items": {RULES: FAILS}}}}, {"a": [1]}, "$.a[0]"),
        ({"prefixItems": [{RULES: FAILS}], "$schema": "https://json-schema.org/draft/2020-12/schema"}, [1], "$[0]"),
        ({"if": {"required": ["a"]}, "then": {RULES: FAILS}}, {"a": 1}, "$"),
        ({RULES: FAILS}, 5, "$"),
        ({"oneOf": [{"type": "integer", RULES: FAILS}]}, 5, "$"),
        ({"allOf": [{}], "oneOf": [{"type": "object", RULES: FAILS}]}, {"a": 1}, "$"),
    ],
)
def test_rules_anywhere_in_a_json_schema(schema: dict[str, Any], value: Any, path: str) -> None:
    resolver = resolver_of(JsonSchema(schema))
    assert facts(inline_json.validate_message(OURS, schema, {}, resolver, value)) == [(path, "no", None, True)]
    assert facts(peer_json.validate_message(THEIRS, schema, referencing.Registry(), resolver, value)) == []


def test_values_of_the_vocabulary_are_alike() -> None:
    theirs = peer_avro.ValidationRule
    for facts_of in ({}, {"name": "n"}, {"name": "n", "doc": "d", "expr": "e", "sql": "s"}, {"sql": "s"}):
        mine, other = ValidationRule(**facts_of), theirs(**facts_of)
        assert (mine.name, mine.doc, mine.expr, mine.sql) == (other.name, other.doc, other.expr, other.sql)
        for path, said in (("a.b", None), ("", "said"), (None, None)):
            assert str(ValidationRuleError(mine, path, said)) == str(peer_avro.ValidationRuleError(other, path, said))
    for prop in (None, 5, [], [5, {"name": "a"}], [{"expr": "x", "more": 1}]):
        made = inline_avro.parse_validation_rules(prop)
        assert [one.expr for one in made] == [one.expr for one in peer_avro.parse_validation_rules(prop)]
