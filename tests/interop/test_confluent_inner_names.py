"""Functions of confluent_kafka's inner modules that code of applications imports do here what they do there."""

from __future__ import annotations

import asyncio
import datetime
import importlib
import json
import threading
import warnings
from decimal import Decimal
from typing import Any

import pytest

from kserdes.compat.confluent.serdes import avro_parts, building, cel, json_parts, protobuf_parts
from serdes.rules import RuleContext

pytestmark = pytest.mark.interop
ROOT = "confluent_kafka.schema_registry"
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # authlib warns of httpx when it is imported
    peer_building = pytest.importorskip("confluent_kafka._serde_builder", exc_type=ImportError)
    peer_avro, peer_json, peer_protobuf = (
        importlib.import_module(f"{ROOT}.common.{name}") for name in ("avro", "json_schema", "protobuf")
    )
    peer_cel = {
        name: importlib.import_module(f"{ROOT}.rules.cel.{name}")
        for name in ("decimal_funcs", "extra_func", "string_format", "timestamp_funcs", "variant_funcs", "variant_path")
    }


def outcome(call: Any, *given: Any) -> Any:
    """The result of a call, or the type of its exception."""
    try:
        return call(*given)
    except Exception as error:
        return type(error).__name__


# ---- schemas

AVRO = [
    "string",
    "n.R",
    "float",
    ["null", "string"],
    {"type": "array", "items": "int"},
    {"type": "union"},
    {"type": "enum", "name": "E", "symbols": ["A"]},
    {"type": "record", "name": "R", "fields": []},
    {"type": {"type": "string"}},
]
TAGGED = {
    "type": "record",
    "name": "R",
    "namespace": "n",
    "fields": [
        {"name": "a", "type": "string", "confluent:tags": ["PII", "X"]},
        {
            "name": "b",
            "type": [
                "null",
                {"type": "record", "name": "S", "fields": [{"name": "c", "type": "int", "confluent:tags": ["Y"]}]},
            ],
        },
        {
            "name": "d",
            "type": {
                "type": "map",
                "values": {
                    "type": "record",
                    "name": "o.T",
                    "fields": [{"name": "e", "type": "bytes", "confluent:tags": ["Z"]}],
                },
            },
        },
    ],
}


@pytest.mark.parametrize("schema", AVRO, ids=str)
def test_kinds_of_avro(schema: Any) -> None:
    assert avro_parts.get_type(schema).name == peer_avro.get_type(schema).name


def test_tags_of_avro() -> None:
    assert avro_parts.get_inline_tags(TAGGED) == dict(peer_avro.get_inline_tags(TAGGED))


def test_named_schemas_are_put_in() -> None:
    names = {"n.S": {"type": "record", "name": "n.S", "fields": [{"name": "x", "type": "n.E"}]}}
    names["n.E"] = {"type": "enum", "name": "n.E", "symbols": ["A"]}
    text = json.dumps({"type": "record", "name": "n.R", "fields": [{"name": "s", "type": "n.S"}, *_again("n.S")]})
    ours, theirs = avro_parts.parse_schema_with_repo(text, names), peer_avro.parse_schema_with_repo(text, names)
    inner = ours["fields"][0]["type"]
    assert inner["name"] == theirs["fields"][0]["type"]["name"] == "n.S"
    assert inner["fields"][0]["type"]["symbols"] == ["A"]
    assert ours["fields"][1]["type"] == theirs["fields"][1]["type"] == "n.S"
    assert avro_parts.LocalSchemaRepository(names).load("n.E") == names["n.E"]
    assert outcome(avro_parts.parse_schema_with_repo, '"n.X"', {}) == "InvalidSchemaError"


def _again(name: str) -> list[dict[str, str]]:
    return [{"name": "t", "type": name}]


JSON = [
    True,
    {},
    {"type": "object"},
    {"type": "object", "properties": {"a": {}}},
    {"properties": {"a": {}}},
    {"type": ["string", "null"]},
    {"enum": [1]},
    {"const": 1},
    {"type": "string", "enum": ["a"]},
    *({"type": name} for name in ("number", "integer", "null", "array", "boolean", "string", "x")),
]


@pytest.mark.parametrize("schema", JSON, ids=str)
def test_kinds_of_json(schema: Any) -> None:
    assert json_parts.get_type(schema).name == peer_json.get_type(schema).name


@pytest.mark.parametrize("schema", [{}, {"confluent:tags": ["a", "b"]}], ids=str)
def test_tags_of_json(schema: Any) -> None:
    assert json_parts.get_inline_tags(schema) == peer_json.get_inline_tags(schema)


def test_fields_of_protobuf() -> None:
    from google.protobuf import descriptor_pb2, struct_pb2, timestamp_pb2, wrappers_pb2

    messages: list[Any] = [
        descriptor_pb2.FieldDescriptorProto,
        struct_pb2.Struct,
        struct_pb2.Value,
        timestamp_pb2.Timestamp,
    ]
    messages += [wrappers_pb2.UInt64Value, wrappers_pb2.BytesValue, wrappers_pb2.BoolValue]
    for field in (field for message in messages for field in message.DESCRIPTOR.fields):
        assert protobuf_parts.get_type(field).name == peer_protobuf.get_type(field).name, field.full_name
        assert protobuf_parts.is_map_field(field) == peer_protobuf.is_map_field(field)
        assert protobuf_parts.get_inline_tags(field) == set(peer_protobuf.get_inline_tags(field))
    for message in messages:
        leaf = message.DESCRIPTOR
        assert protobuf_parts.is_cel_leaf_message(leaf) == peer_protobuf.is_cel_leaf_message(leaf)


def test_values_are_written_into_messages() -> None:
    from google.protobuf.timestamp_pb2 import Timestamp

    from serdes.decimals import to_proto_decimal

    made = to_proto_decimal(Decimal(1))
    protobuf_parts.set_decimal_message(made, Decimal("-12.50"))
    assert made == to_proto_decimal(Decimal("-12.50"))
    ours, theirs, time = Timestamp(), Timestamp(), datetime.datetime(2020, 1, 2, 3, 4, 5, 678, datetime.UTC)
    protobuf_parts.set_timestamp_message(ours, time)
    peer_protobuf.set_timestamp_message(theirs, time)
    assert ours == theirs


def test_transforms_change_copies_of_tagged_fields() -> None:
    from serdes.rules.model import FieldContext, FieldType

    def shout(ctx: RuleContext, field: FieldContext, value: Any) -> Any:
        return value.upper() if field.field_type is FieldType.STRING else value

    schema = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "string", "confluent:tags": ["PII"]}]}
    schema["fields"].append({"name": "b", "type": "string"})  # type: ignore[attr-defined]
    given = {"a": "x", "b": "y"}
    ctx = _context(inline_tags=avro_parts.get_inline_tags(schema))
    assert avro_parts.transform(ctx, schema, given, shout) == {"a": "X", "b": "y"}
    document = {"type": "object", "properties": {"a": {"type": "string", "confluent:tags": ["PII"]}, "b": {}}}
    assert json_parts.transform(_context(), document, None, None, "$", given, shout) == {"a": "X", "b": "y"}
    assert given == {"a": "x", "b": "y"}
    assert avro_parts.transform(ctx, None, given, shout) is given


def _context(**more: Any) -> RuleContext:
    from registry import RuleKind, RuleMode
    from tests.unit.serdes.rules.samples import context, rule

    return context(rule(kind=RuleKind.TRANSFORM, tags=["PII"]), RuleMode.WRITE, **more)


# ---- CEL


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("decimal_funcs", "DECIMAL_FUNCS"),
        ("decimal_funcs", "DECIMAL_OPERATOR_FUNCS"),
        ("extra_func", "EXTRA_FUNCS"),
        ("timestamp_funcs", "TIMESTAMP_FUNCS"),
        ("variant_funcs", "VARIANT_FUNCS"),
    ],
)
def test_tables_have_the_same_functions(module: str, name: str) -> None:
    assert set(getattr(cel, name)) == set(getattr(peer_cel[module], name))
    assert set(cel.make_extra_funcs("en_US")) == set(cel.EXTRA_FUNCS)


@pytest.mark.parametrize("name", ["is_email", "is_hostname", "is_ipv4", "is_ipv6", "is_uri", "is_uri_ref", "is_uuid"])
def test_tests_of_texts(name: str) -> None:
    from celpy.celtypes import IntType, StringType

    texts = ["a@b.c", "@a", "a@", "a", "1.2.3.4", "::1", "http://a/b", "#x", "123e4567-e89b-12d3-a456-426614174000"]
    for text in texts:
        given = StringType(text)
        assert getattr(cel, name)(given) == getattr(peer_cel["extra_func"], name)(given), text
    assert outcome(getattr(cel, name), IntType(1)) == outcome(getattr(peer_cel["extra_func"], name), IntType(1))


def test_tests_of_parts() -> None:
    theirs = peer_cel["extra_func"]
    for port in ("80", "0", "65535", "65536", "", "x", " 80"):
        assert cel.validate_port(port) == theirs.validate_port(port)
    for address in ("1.2.3.4", "::1", "x"):
        for version in (4, 6, None, 5):
            assert outcome(cel.validate_ip, address, version) == outcome(theirs.validate_ip, address, version)
    texts = [
        "a:80",
        "a",
        "a:",
        "a:99999",
        "[::1]:80",
        "[::1]",
        "[::1",
        "1.2.3.4:1",
        "1.2.3.4",
        "a b:1",
        ":80",
        "",
        "::1",
    ]
    for text in (*texts, "::1", "[a]:80", "a:x", "[1.2.3.4]:80"):
        for needed in (True, False):
            found = cel.validate_host_and_port(text, port_required=needed)
            assert found == theirs.validate_host_and_port(text, port_required=needed), (text, needed)
    assert (cel.validate_email("a@b"), cel.validate_uuid("x")) == (True, False)


def test_texts_of_values() -> None:
    from celpy import celtypes

    theirs = peer_cel["string_format"]
    ours, other = cel.StringFormat("en_US"), theirs.StringFormat("en_US")
    number, text, fraction = celtypes.IntType(30), celtypes.StringType('a"b'), celtypes.DoubleType(1.5)
    calls: list[tuple[str, tuple[Any, ...]]] = [
        ("format_float", (fraction, 3)),
        ("format_exponential", (fraction, 3)),
        *((f"format_{verb}", (number,)) for verb in ("int", "hex", "oct", "bin", "string", "value")),
        *((f"format_{verb}", (text,)) for verb in ("hex", "string", "value")),
        ("format_list", (celtypes.ListType([number, text, fraction]),)),
        ("format", (celtypes.StringType("%s %d %%"), celtypes.ListType([text, number]))),
    ]
    for name, given in calls:
        assert getattr(ours, name)(*given) == getattr(other, name)(*given), (name, given)
    assert cel.quote('a"\n\\') == theirs.quote('a"\n\\')
    assert theirs.QUOTE_TRANS == cel.QUOTE_TRANS
    time = celtypes.TimestampType("2020-01-02T03:04:05.6Z")
    assert cel.format_timestamp(time) == peer_cel["timestamp_funcs"].format_timestamp(time)


def test_paths_of_variants() -> None:
    from serdes.variants import parse_json

    found = cel.walk(parse_json('{"a": [1, 2]}'), "$.a[1]")
    assert found is not None
    assert found.to_json() == "2"
    assert cel.walk(parse_json("{}"), "$.a") is None
    assert outcome(cel.walk, parse_json("{}"), "a") == outcome(peer_cel["variant_path"].walk, None, "a")


def test_decimals_in_any_form() -> None:
    theirs = peer_cel["decimal_funcs"].decimal_boundary_value
    for value in (Decimal("1.5"), "x", 3, None):
        assert cel.decimal_boundary_value(value) == theirs(value)
    assert cel.in_has() is False


# ---- builders


class Part:
    """The product of a builder; it may fail to close."""

    def __init__(self, fails: bool = False) -> None:
        self.closed, self.fails = 0, fails
        self.resolver: Any = None

    def close(self) -> None:
        self.closed += 1
        if self.fails:
            raise ValueError("no")

    def set_cluster_id_resolver(self, resolver: Any) -> None:
        self.resolver = resolver


class Builder:
    def __init__(self, takes: str, result: Any = None) -> None:
        self.takes, self.part, self.result = takes, Part(), result

    def build(self, conf: dict[str, Any], is_key: bool) -> Any:
        conf.pop(self.takes, None)
        return (self.part, conf) if self.result is None else self.result


@pytest.mark.parametrize("module", [building, peer_building], ids=["ours", "theirs"])
def test_builders(module: Any) -> None:
    conf = {"k.builder": Builder("a"), "v.builder": Builder("b"), "a": 1, "b": 2, "c": 3}
    specs, rest = module.pop_serde_props(conf, "k", "v")
    assert [(spec.prop, spec.serde, spec.is_key) for spec in specs] == [("k", None, True), ("v", None, False)]
    assert (len(conf), rest) == (5, {"a": 1, "b": 2, "c": 3})
    made, owned, left = module.build_serdes(specs, rest)
    assert (made, owned, left) == ([spec.builder.part for spec in specs], made, {"c": 3})
    assert asyncio.run(module.async_build_serdes(specs, rest)) == (made, owned, left)
    with pytest.raises(ValueError, match=r"Cannot configure both k and k\.builder; use one or the other"):
        module.pop_serde_props({"k": bytes, "k.builder": Builder("a")}, "k", "v")
    assert module.pop_serde_props({"k": bytes}, "k", "v")[0][0].serde is bytes
    assert module.build_serdes(module.pop_serde_props({"k": bytes}, "k", "v")[0], rest) == ([bytes, None], [], rest)


@pytest.mark.parametrize("module", [building, peer_building], ids=["ours", "theirs"])
@pytest.mark.parametrize(("result", "words"), [(3, "must return a"), ((3, 4), "returned int as the leftover")])
def test_builders_that_give_something_else(module: Any, result: Any, words: str) -> None:
    good = Builder("a")
    specs = module.pop_serde_props({"k.builder": good, "v.builder": Builder("b", result)}, "k", "v")[0]
    with pytest.raises(ValueError, match=f"^v.builder {words}"):
        module.build_serdes(specs, {})
    with pytest.raises(ValueError, match=f"^v.builder {words}"):
        asyncio.run(module.async_build_serdes(specs, {}))
    assert good.part.closed == 2


@pytest.mark.parametrize("module", [building, peer_building], ids=["ours", "theirs"])
def test_all_are_closed_whatever_fails(module: Any) -> None:
    parts = [Part(), Part(fails=True), bytes, Part(fails=True), Part()]
    with pytest.raises(ValueError, match="no"):
        module.close_serdes(parts)
    with pytest.raises(ValueError, match="no"):
        asyncio.run(module.async_close_serdes(parts))
    assert [part.closed for part in parts if isinstance(part, Part)] == [2, 2, 2, 2]
    assert asyncio.run(module.maybe_await(3)) == 3


@pytest.mark.parametrize("module", [building, peer_building], ids=["ours", "theirs"])
def test_one_call_for_all_that_ask_for_the_cluster_s_id(module: Any) -> None:
    asked, may_go, calls = threading.Event(), threading.Event(), []

    def cluster_id(timeout: float) -> str:
        calls.append(timeout)
        asked.set()
        assert may_go.wait(60)
        return "c"

    part = Part()
    resolver = module.SharedClusterIdResolver(cluster_id)
    module.propagate_cluster_id_resolver(resolver, [part, None, bytes])
    assert part.resolver is resolver
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(resolver())) for _ in range(3)]
    threads[0].start()
    assert asked.wait(60)
    for thread in threads[1:]:
        thread.start()
    may_go.set()
    for thread in threads:
        thread.join()
    assert found == ["c"] * 3
    assert calls[0] == 60.0
    before = len(calls)
    assert resolver() == "c"
    assert len(calls) == before + 1  # nothing is kept

    def failing(timeout: float) -> str:
        raise OSError("away")

    assert outcome(module.SharedClusterIdResolver(failing)) == "OSError"


@pytest.mark.parametrize("module", [building, peer_building], ids=["ours", "theirs"])
def test_one_call_for_all_tasks(module: Any) -> None:
    calls = []

    async def cluster_id(timeout: float) -> str:
        calls.append(timeout)
        await asyncio.sleep(0)
        return "c"

    class Taking:
        resolver: Any = None

        def set_async_cluster_id_resolver(self, resolver: Any) -> None:
            self.resolver = resolver

    async def run() -> None:
        resolver = module.AsyncSharedClusterIdResolver(cluster_id, timeout=3)
        assert await asyncio.gather(resolver(), resolver(), resolver()) == ["c"] * 3
        taking = Taking()
        module.propagate_async_cluster_id_resolver(resolver, [taking, Part()])
        assert await taking.resolver() == "c"

    asyncio.run(run())
    assert calls == [3, 3]


# ---- requests for keys


def test_requests_for_keys_are_written_and_read_alike() -> None:
    theirs = importlib.import_module(f"{ROOT}.rules.encryption.dek_registry.dek_registry_client")
    from kserdes.compat.confluent.schema_registry import keys as ours
    from registry.dek_models import DekAlgorithm, KekKmsProps

    def seen(package: Any, props: Any, algorithm: Any) -> list[Any]:
        kinds = (package.CreateKekRequest, package.CreateDekRequest)
        made = [
            kinds[0]("n", "aws-kms", "id", props, "doc", True),
            kinds[0]("n", None, None, None, None, False),
            kinds[1]("s", 1, algorithm, "x"),
            kinds[1]("s", None, None, None),
        ]
        written = [each.to_dict() for each in made]
        assert [type(each).from_dict(form) for each, form in zip(made, written, strict=True)] == made
        return [*written, outcome(kinds[1].from_dict, {"algorithm": "nope"}), outcome(hash, made[0])]

    props = theirs.KekKmsProps()
    props.properties = {"a": "b"}
    mine = seen(ours, KekKmsProps({"a": "b"}), DekAlgorithm.AES256_SIV)
    assert mine == seen(theirs, props, theirs.DekAlgorithm.AES256_SIV)


# ---- messages as CEL has them


def test_messages_as_cel_has_them() -> None:
    from google.protobuf import descriptor_pb2, duration_pb2, timestamp_pb2, wrappers_pb2

    theirs = importlib.import_module(f"{ROOT}.rules.cel.constraints")
    duration, time = duration_pb2.Duration(seconds=3, nanos=5_000), timestamp_pb2.Timestamp(seconds=3, nanos=7_000)
    assert cel.make_duration(duration) == theirs.make_duration(duration)
    assert cel.make_timestamp(time) == theirs.make_timestamp(time)
    for wrapped in (wrappers_pb2.StringValue(value="a"), wrappers_pb2.UInt64Value(value=3)):
        mine, there = cel.unwrap(wrapped), theirs.unwrap(wrapped)
        assert (mine, type(mine)) == (there, type(there))
    field = descriptor_pb2.FieldDescriptorProto(name="f", number=2, type="TYPE_INT32")
    mine, there = cel.MessageType(field), theirs.MessageType(field)  # type: ignore[attr-defined]
    assert (mine.msg, mine.desc) == (there.msg, there.desc)
    for name in ("name", "number", "type", "json_name", "oneof_index"):
        assert mine[name] == there[name]
    for key in ("k", 3):
        assert cel.make_key_path("f", key) == theirs.make_key_path("f", key)
    fields = descriptor_pb2.FieldDescriptorProto.DESCRIPTOR.fields_by_name
    for name in ("name", "number", "options"):
        for expected in (5, 9, 11):
            for wrapper in (None, "google.protobuf.FieldOptions"):
                given = (fields[name], expected, wrapper)
                assert outcome(cel.check_field_type, *given) == outcome(theirs.check_field_type, *given), given


def test_expressions_may_be_run_by_themselves() -> None:
    from celpy.celtypes import IntType

    from registry import RuleKind, RuleMode
    from serdes.rules.cel.executor import CelExecutor
    from tests.unit.serdes.rules.samples import context, rule

    ctx = context(rule(expr="x > 2; x + 1", type="CEL", kind=RuleKind.TRANSFORM), RuleMode.WRITE)
    executor = CelExecutor()
    assert [executor.execute(ctx, "kept", {"x": IntType(x)}) for x in (2, 3)] == ["kept", 4]
    assert executor.execute_rule(ctx, "x == 3", {"x": IntType(3)}) is True
    assert executor.execute_rule(ctx, "x", {"x": IntType(1)}) == IntType(1)


# ---- the associated strategy


def test_the_associated_strategy_answers_alike() -> None:
    from types import SimpleNamespace

    from kserdes.compat.confluent.schema_registry.names import AssociatedNameStrategy

    theirs = importlib.import_module(f"{ROOT}.serde").AssociatedNameStrategy
    contexts = importlib.import_module("confluent_kafka.serialization")

    def answers(strategy: Any, subjects: list[str], conf: Any, field: Any, record: Any) -> Any:
        found = [SimpleNamespace(subject=each) for each in subjects]
        client = SimpleNamespace(get_associations_by_resource_name=lambda *given, **named: found)
        return outcome(strategy, contexts.SerializationContext("t", field), record, client, conf)

    fallback = "subject.name.strategy.fallback.type"
    confs = [None, {}, *({fallback: name} for name in ("TOPIC", "record", "TOPIC_RECORD", "NONE"))]
    for conf in confs:
        for subjects in ([], ["a"], ["a", "b"]):
            for field in ("key", "value"):
                given = (subjects, conf, field, "R")
                assert answers(AssociatedNameStrategy(), *given) == answers(theirs(), *given), given
