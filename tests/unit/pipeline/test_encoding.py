"""pipeline.columns.encoding: the frames of Spark's values, against the deserializers; rules run in both directions."""

from __future__ import annotations

import dataclasses
import json
import pickle
import uuid
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from pyspark import cloudpickle
from pyspark.sql import types

from pipeline.columns.batch_encoder import shared_encoder
from pipeline.columns.by_row import write, writing_plan
from pipeline.columns.decoding import shared_decoder
from pipeline.columns.encoding import EncodeArguments, encode_plan_for
from pipeline.columns.plan import DecodeArguments, plan_for
from pipeline.columns.remembered import forget_plans
from pipeline.errors import LookupFailedError, OptionError, PlanError, RowError
from registry import Metadata, Rule, RuleKind, RuleMode, RuleSet, Schema, SchemaRegistryClient
from serdes import MessageField, SerializationContext
from serdes.avro import AvroDeserializer, AvroSerializer
from serdes.json_schema import JSONDeserializer
from serdes.protobuf import ProtobufDeserializer

CONTEXT = SerializationContext("t", MessageField.VALUE)
ORDER = json.dumps(
    {
        "type": "record",
        "name": "Order",
        "fields": [
            {"name": "id", "type": "int"},
            {"name": "note", "type": ["null", "string"], "default": None},
        ],
    }
)
ROWS = [{"id": 1, "note": "a"}, None, {"id": 2, "note": None}]
KIND = pa.struct([("id", pa.int32()), ("note", pa.string())])


@pytest.fixture
def conf() -> Iterator[dict[str, Any]]:
    conf = {"url": f"mock://{uuid.uuid4()}"}
    forget_plans()
    with SchemaRegistryClient(conf):
        yield conf


def encoded(conf: dict[str, Any], values: pa.Array, **arguments: Any) -> list[bytes | None]:
    plan = pickle.loads(pickle.dumps(encode_plan_for(conf, EncodeArguments(**arguments))))
    frames: list[bytes | None] = shared_encoder(plan).encode(values).to_pylist()
    return frames


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "either topic"),
        ({"topic": ""}, "topic must be a text"),
        ({"topic": "t", "field": "x"}, "field must be"),
        ({"topic": "t", "format": "xml"}, "format must be"),
        ({"topic": "t", "mode": "DEADLETTER"}, "mode must be FAILFAST or PERMISSIVE"),
        ({"topic": "t", "rules": "x"}, "rules 'x' is unknown"),
        ({"topic": "t", "strategy": "x"}, "strategy must be"),
        ({"topic": "t", "schema": 5}, "schema must be a text"),
        ({"topic": "t", "name": ""}, "name must be a text"),
        ({"topic": "t", "rule_conf": "secret"}, "rule_conf must be a dict"),
        ({"topic": "t", "message_type": 1}, "message_type must be a text"),
        ({"topic": "t", "unnamed": "skip"}, "unnamed must be None or 'map'"),
        ({"topic": "t", "unnamed": "map", "schema": types.StructType()}, "unnamed='map' needs a schema as text"),
        (
            {"topic": "t", "unnamed": "map", "types": ["A"], "schema": {"A": types.StructType()}},
            "unnamed='map' needs a schema as text",
        ),
    ],
)
def test_arguments_are_checked_at_the_call(arguments: dict[str, Any], told: str) -> None:
    with pytest.raises(OptionError, match=told):
        EncodeArguments(**arguments)


def test_avro_is_read_by_the_deserializer(conf: dict[str, Any]) -> None:
    registry = SchemaRegistryClient(conf)
    frames = encoded(conf, pa.array(ROWS, KIND), topic="t", schema=ORDER)
    read = AvroDeserializer(registry)
    assert [None if frame is None else read(frame, CONTEXT) for frame in frames] == ROWS
    assert json.loads(registry.get_latest_version("t-value").schema.schema_str) == json.loads(ORDER)
    assert encoded(conf, pa.array(ROWS, KIND), subject="t-value") == frames
    assert encoded(conf, pa.array(ROWS, KIND), topic="t", schema=ORDER, auto_register=False) == frames
    with pytest.raises(PlanError, match="can't be had"):
        encode_plan_for(conf, EncodeArguments(topic="unknown", schema=ORDER, auto_register=False))
    encode_plan_for(conf, EncodeArguments(topic="t", schema=ORDER, strategy="record"))
    assert "Order" in registry.get_subjects()


def test_json_and_protobuf_are_read_by_their_deserializers(conf: dict[str, Any]) -> None:
    registry = SchemaRegistryClient(conf)
    document = {"title": "Order", "type": "object", "properties": {"id": {"type": "integer"}}}
    values = pa.array([{"id": 1}], pa.struct([("id", pa.int32())]))
    (frame,) = encoded(conf, values, topic="j", schema=json.dumps(document), format="json")
    assert JSONDeserializer(None, schema_registry_client=registry)(frame, CONTEXT) == {"id": 1}
    text = 'syntax = "proto3"; message Other { } message Order { int32 id = 1; }'
    given: dict[str, Any] = {"topic": "p", "schema": text, "format": "protobuf", "message_type": "Order"}
    (frame,) = encoded(conf, values, **given)
    assert ProtobufDeserializer(None, None, registry)(frame, CONTEXT).id == 1
    with pytest.raises(PlanError, match="format PROTOBUF, not AVRO"):
        encode_plan_for(conf, EncodeArguments(topic="p", format="avro"))


def test_a_root_that_is_no_record(conf: dict[str, Any]) -> None:
    frames = encoded(
        conf,
        pa.array([["x"], None, []], pa.list_(pa.string())),
        topic="t",
        schema='{"type": "array", "items": "string"}',
    )
    read = AvroDeserializer(SchemaRegistryClient(conf))
    assert [None if frame is None else read(frame, CONTEXT) for frame in frames] == [["x"], None, []]


def test_a_value_that_does_not_fit(conf: dict[str, Any]) -> None:
    values = pa.array([{"id": 1}, {"id": None}], pa.struct([("id", pa.int32())]))
    with pytest.raises(RowError, match="row 1 of a batch can't be encoded: schema id 1") as caught:
        encoded(conf, values, topic="t", schema=ORDER)
    assert caught.value.code == "BAD_VALUE"
    frames = encoded(conf, values, topic="t", schema=ORDER, mode="PERMISSIVE")
    assert [frame is None for frame in frames] == [False, True]
    with pytest.raises(PlanError, match="can't be written"):
        encoded(conf, pa.array([{"id": "x"}]), topic="t", schema=ORDER)


def test_equal_calls_register_once(conf: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    first = encode_plan_for(conf, EncodeArguments(topic="t", schema=ORDER))
    sent: list[str] = []
    send = SchemaRegistryClient._send

    def counted(self: SchemaRegistryClient, step: Any) -> Any:
        sent.append(step.url)
        return send(self, step)

    monkeypatch.setattr(SchemaRegistryClient, "_send", counted)
    assert encode_plan_for(conf, EncodeArguments(topic="t", schema=ORDER)) is first
    assert sent == []
    forget_plans()
    assert encode_plan_for(conf, EncodeArguments(topic="t", schema=ORDER)).key == first.key
    assert sent != []


# ---- rules, both ways


def ruled(text: str, rule: Rule, tags: dict[str, list[str]] | None = None) -> Schema:
    metadata = None if tags is None else Metadata(tags=tags)
    return Schema(text, metadata=metadata, rule_set=RuleSet(domain_rules=[rule]))


def test_domain_rules_run_when_reading(conf: dict[str, Any]) -> None:
    registry = SchemaRegistryClient(conf)
    rule = Rule(
        "shout",
        kind=RuleKind.TRANSFORM,
        mode=RuleMode.READ,
        type="CEL_FIELD",
        expr="typeName == 'STRING' ; value + '!'",
    )
    registry.register_schema("t-value", ruled(ORDER, rule))
    frame = b"\0" + registry.get_latest_version("t-value").schema_id.to_bytes(4, "big") + b"\x02\x02\x02x"
    frames = pa.array([frame, None, frame[:-1], b"\x09"])

    def found(**arguments: Any) -> list[Any]:
        plan = plan_for(conf, DecodeArguments(topic="t", **arguments))
        rows: list[Any] = shared_decoder(pickle.loads(pickle.dumps(plan))).decode(frames).to_pylist()
        return rows

    assert found() == [{"id": 1, "note": "x!"}, None, None, None]
    assert found(rules="ignore") == [{"id": 1, "note": "x"}, None, None, None]
    letters = found(mode="DEADLETTER")
    assert [None if row["error"] is None else row["error"]["code"] for row in letters] == [
        None,
        None,
        "RULE_FAILED",
        "NOT_FRAMED",
    ]
    assert letters[2]["error"]["raw"] == frame[:-1]
    with pytest.raises(PlanError, match="'shout'"):
        found(rules="refuse")


def test_a_condition_makes_bad_rows(conf: dict[str, Any]) -> None:
    registry = SchemaRegistryClient(conf)
    rule = Rule("positive", kind=RuleKind.CONDITION, mode=RuleMode.WRITEREAD, type="CEL", expr="message.id > 0")
    registry.register_schema("t-value", ruled(ORDER, rule))
    values = pa.array([{"id": 1, "note": None}, {"id": -1, "note": None}], KIND)
    with pytest.raises(RowError, match=r"row 1 .*'positive'"):
        encoded(conf, values, topic="t")
    frames = encoded(conf, values, topic="t", mode="PERMISSIVE")
    assert [frame is None for frame in frames] == [False, True]
    with pytest.raises(PlanError, match="'positive'"):
        encode_plan_for(conf, EncodeArguments(topic="t", rules="refuse"))
    ignored = encoded(conf, values, topic="t", rules="ignore")
    assert None not in ignored
    plan = plan_for(conf, DecodeArguments(topic="t", error_field="_error"))
    read = shared_decoder(plan).decode(pa.array(ignored)).to_pylist()
    assert read[0] == {"id": 1, "note": None, "_error": None}
    assert "positive" in read[1]["_error"]


def test_fields_are_encrypted_and_decrypted_with_a_key_of_the_executor(
    conf: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("cryptography")
    registry = SchemaRegistryClient(conf)
    secret = Rule(
        "secret",
        kind=RuleKind.TRANSFORM,
        mode=RuleMode.WRITEREAD,
        type="ENCRYPT",
        tags=["PII"],
        params={"encrypt.kek.name": "kek", "encrypt.kms.type": "local-kms", "encrypt.kms.key.id": "key"},
    )
    registry.register_schema("t-value", ruled(ORDER, secret, {"Order.note": ["PII"]}))
    monkeypatch.setenv("H4_KMS", "the-local-secret")
    given: dict[str, Any] = {"topic": "t", "rule_conf": {"secret": "${env:H4_KMS}"}}
    frames = encoded(conf, pa.array(ROWS, KIND), **given)
    assert frames[0] is not None
    plain = AvroSerializer(SchemaRegistryClient({"url": f"mock://{uuid.uuid4()}"}), ORDER)(ROWS[0], CONTEXT)
    assert plain is not None
    assert frames[0][5:] != plain[5:]
    plan = plan_for(conf, DecodeArguments(**given))
    assert b"the-local-secret" not in pickle.dumps(plan)
    assert shared_decoder(plan).decode(pa.array(frames)).to_pylist() == ROWS
    ciphertext = plan_for(conf, DecodeArguments(topic="t", rules="ignore"))
    assert shared_decoder(ciphertext).decode(pa.array(frames))[0].as_py()["note"] not in ("a", None)


def test_migrations_run_to_the_newest_version(conf: dict[str, Any]) -> None:
    registry = SchemaRegistryClient(conf)
    registry.set_compatibility("t-value", "NONE")
    serialize = AvroSerializer(registry, ORDER)
    frame = serialize({"id": 1, "note": "a"}, CONTEXT)
    newer = ORDER.replace('"note"', '"remark"')
    up = Rule(
        "rename",
        kind=RuleKind.TRANSFORM,
        mode=RuleMode.UPGRADE,
        type="JSONATA",
        expr="$merge([$sift($, function($v, $k) {$k != 'note'}), {'remark': $.'note'}])",
    )
    registry.register_schema("t-value", Schema(newer, rule_set=RuleSet(migration_rules=[up])))
    plan = plan_for(conf, DecodeArguments(topic="t", mode="FAILFAST"))
    assert shared_decoder(plan).decode(pa.array([frame])).to_pylist() == [{"id": 1, "remark": "a"}]


def test_rules_that_come_while_a_job_runs_run(conf: dict[str, Any]) -> None:
    registry = SchemaRegistryClient(conf)
    registry.register_schema("t-value", Schema(ORDER))
    plan = plan_for(conf, DecodeArguments(topic="t"))
    rule = Rule(
        "shout",
        kind=RuleKind.TRANSFORM,
        mode=RuleMode.READ,
        type="CEL_FIELD",
        expr="typeName == 'STRING' ; value + '!'",
    )
    later = registry.register_schema("t-value", ruled(ORDER, rule))
    frame = b"\0" + later.to_bytes(4, "big") + b"\x02\x02\x02x"
    assert shared_decoder(plan).decode(pa.array([frame])).to_pylist() == [{"id": 1, "note": "x!"}]


def test_rules_of_json_and_protobuf_run(conf: dict[str, Any]) -> None:
    registry = SchemaRegistryClient(conf)
    rule = Rule("positive", kind=RuleKind.CONDITION, mode=RuleMode.WRITEREAD, type="CEL", expr="message.id > 0")
    document = json.dumps({"title": "Order", "type": "object", "properties": {"id": {"type": "integer"}}})
    text = 'syntax = "proto3"; message Order { int32 id = 1; }'
    values = pa.array([{"id": 1}, {"id": -1}], pa.struct([("id", pa.int32())]))
    for topic, schema in (("j", Schema(document, "JSON")), ("p", Schema(text, "PROTOBUF"))):
        checked = Schema(schema.schema_str, schema.schema_type, rule_set=RuleSet(domain_rules=[rule]))
        registry.register_schema(f"{topic}-value", checked)
        frames = encoded(conf, values, topic=topic, mode="PERMISSIVE")
        assert [frame is None for frame in frames] == [False, True]
        plan = plan_for(conf, DecodeArguments(topic=topic))
        good = frames[0]
        found = shared_decoder(plan).decode(pa.array([good, encoded(conf, values, topic=topic, rules="ignore")[1]]))
        assert found.to_pylist() == [{"id": 1}, None]


def test_an_executor_that_can_not_ask_says_why(conf: dict[str, Any]) -> None:
    registry = SchemaRegistryClient(conf)
    rule = Rule("positive", kind=RuleKind.CONDITION, mode=RuleMode.READ, type="CEL", expr="message.id > 0")
    registry.register_schema("t-value", ruled(ORDER, rule))
    plan = plan_for({**conf, "basic.auth.user.info": "u:p"}, DecodeArguments(topic="t"))
    with pytest.raises(LookupFailedError, match="secrets do not travel"):
        shared_decoder(plan).decode(pa.array([b"\0\0\0\0\1\2\0"]))


def test_schemas_derived_from_spark_types(conf: dict[str, Any]) -> None:
    types = pytest.importorskip("pyspark.sql.types")
    kind = types.StructType(
        [types.StructField("id", types.IntegerType(), False), types.StructField("sum", types.DecimalType(38, 10))]
    )
    registry = SchemaRegistryClient(conf)
    values = pa.array(
        [{"id": 1, "sum": Decimal("1.5")}], pa.struct([("id", pa.int32()), ("sum", pa.decimal128(38, 10))])
    )
    (avro,) = encoded(conf, values, topic="a", schema=kind, name="Order", namespace="shop")
    assert AvroDeserializer(registry)(avro, CONTEXT) == {"id": 1, "sum": Decimal("1.5000000000")}
    assert json.loads(registry.get_latest_version("a-value").schema.schema_str)["namespace"] == "shop"
    (document,) = encoded(conf, values, topic="j", schema=kind, format="json")
    assert document is not None
    assert json.loads(document[5:])["id"] == 1
    with pytest.raises(PlanError, match="can't be derived"):
        encode_plan_for(conf, EncodeArguments(topic="p", schema=kind, format="protobuf"))


def test_functions_in_a_rules_configuration_are_told_apart_and_the_key_travels(conf: dict[str, Any]) -> None:
    first = encode_plan_for(conf, EncodeArguments(topic="t", schema=ORDER))
    keys = {dataclasses.replace(first, rule_conf={"make": lambda: None}).key for _ in range(20)}
    assert len(keys) == 20  # a function is made at the place in memory that another has just left
    plan = dataclasses.replace(first, rule_conf={"make": lambda: None})
    assert cloudpickle.loads(cloudpickle.dumps(plan)).key == plan.key  # there the function is another one


NESTED = types.StructType([types.StructField("v", types.VariantType())])


@pytest.mark.parametrize("format", ["avro", "json"])
@pytest.mark.parametrize(
    ("kind", "told"),
    [
        (
            types.VariantType(),
            r"type variant can't be written: its bytes are Spark's own. Write its JSON text, to_json\(",
        ),
        (types.MapType(types.StringType(), types.ArrayType(NESTED)), "type variant can't be written"),
        (types.YearMonthIntervalType(0, 0), "interval year> can't be written"),
    ],
)
def test_types_that_only_spark_can_read_are_refused(
    conf: dict[str, Any], kind: types.DataType, told: str, format: str
) -> None:
    schema = types.StructType([types.StructField("id", types.LongType()), types.StructField("v", kind)])
    with pytest.raises(PlanError, match=told):
        encode_plan_for(conf, EncodeArguments(topic="t", schema=schema, format=format))


# ---- members without a name in the schema

OPEN = json.dumps(
    {"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": {"type": "string"}}
)


@pytest.mark.parametrize("by", ["", "topic"])
def test_members_that_were_read_into_a_map_are_members_again(conf: dict[str, Any], by: str) -> None:
    number = SchemaRegistryClient(conf).register_schema("t-value", Schema(OPEN, "JSON"))
    frames = [b"\0" + number.to_bytes(4, "big") + text for text in (b'{"n":1,"a":"x","b":"y"}', b'{"n":2}')]
    read = shared_decoder(plan_for(conf, DecodeArguments(topic="t", unnamed="map")))
    values = read.decode(pa.array(frames, pa.binary()))
    named: dict[str, Any] = {"by": by} if by else {"topic": "t"}
    names = pa.array(["t", "t"]) if by else None

    def again(**more: Any) -> list[bytes]:
        plan = pickle.loads(pickle.dumps(writing_plan(conf, EncodeArguments(**named, **more))))
        found: list[bytes] = write(plan, values, names).to_pylist()
        return found

    assert again(unnamed="map") == frames
    with pytest.raises(RowError, match="additionalProperties"):  # without it the map is a member, and no text
        again()


def test_maps_of_members_of_other_formats_are_refused(conf: dict[str, Any]) -> None:
    with pytest.raises(PlanError, match="only JSON objects have members without a name"):
        encode_plan_for(conf, EncodeArguments(topic="avro", schema=ORDER, unnamed="map"))


def test_rules_see_members_without_a_name(conf: dict[str, Any]) -> None:
    rule = Rule("short", kind=RuleKind.CONDITION, mode=RuleMode.WRITE, type="CEL", expr="message.a != 'x'")
    registry = SchemaRegistryClient(conf)
    registry.register_schema("t-value", Schema(OPEN, "JSON", rule_set=RuleSet(domain_rules=[rule])))
    kind = pa.struct([("n", pa.int64()), ("additionalProperties", pa.map_(pa.string(), pa.string()))])
    values = pa.array(
        [{"n": 1, "additionalProperties": {"a": "y"}}, {"n": 2, "additionalProperties": {"a": "x"}}], kind
    )
    plan = encode_plan_for(conf, EncodeArguments(topic="t", unnamed="map", mode="PERMISSIVE"))
    frames, faults = shared_encoder(plan).read(values)
    assert [frame and frame[5:] for frame in frames.to_pylist()] == [b'{"n":1,"a":"y"}', None]
    assert [fault.row for fault in faults] == [1]
    assert "rule 'short' failed" in str(faults[0])


# ---- rules, and what objects do not say


def rule_for(expr: str, kind: RuleKind = RuleKind.TRANSFORM) -> RuleSet:
    return RuleSet(domain_rules=[Rule("one", kind=kind, mode=RuleMode.WRITEREAD, type="CEL_FIELD", expr=expr)])


def alike(name: str) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": "n", "type": "int"}]}


UNION = json.dumps(
    {
        "type": "record",
        "name": "Reading",
        "fields": [{"name": "of", "type": "string"}, {"name": "value", "type": [alike("A"), alike("B")]}],
    }
)
NUMBER = pa.struct([("n", pa.int32())])
READINGS = pa.array(
    [
        {"of": "a", "value": {"member0": {"n": 1}}},
        {"of": "a", "value": {"member1": {"n": 2}}},
        {"of": "b", "value": {"member1": {"n": 3}}},
    ],
    pa.struct([("of", pa.string()), ("value", pa.struct([("member0", NUMBER), ("member1", NUMBER)]))]),
)
SAME = "typeName == 'STRING'; value"
LOUDER = "typeName == 'STRING'; value == 'a' ? value + '!' : value"


def test_a_branch_that_an_object_does_not_say_is_kept_or_the_row_refused(conf: dict[str, Any]) -> None:
    registry = SchemaRegistryClient(conf)
    plain = encoded(conf, READINGS, subject="bare", schema=UNION)
    found = {}
    for subject, expr in (("same", SAME), ("louder", LOUDER)):
        registry.register_schema(subject, Schema(UNION, rule_set=rule_for(expr)))
        plan = encode_plan_for(conf, EncodeArguments(subject=subject, mode="PERMISSIVE"))
        frames, faults = shared_encoder(plan).read(READINGS)
        found[subject] = [None if frame is None else frame[5:] for frame in frames.to_pylist()], faults
    payloads = [frame and frame[5:] for frame in plain]
    assert found["same"] == (payloads, [])
    changed, faults = found["louder"]
    assert changed == [b"\x04a!\x00\x02", None, payloads[2]]
    assert [fault.row for fault in faults] == [1]
    assert "another branch than the one it is of" in str(faults[0])


def test_reading_keeps_a_branch_or_refuses_the_row(conf: dict[str, Any]) -> None:
    registry = SchemaRegistryClient(conf)
    frames = encoded(conf, READINGS, subject="bare", schema=UNION)
    found = {}
    for subject, expr in (("same", SAME), ("louder", LOUDER)):
        number = registry.register_schema(subject, Schema(UNION, rule_set=rule_for(expr)))
        given = pa.array([b"\0" + number.to_bytes(4, "big") + frame[5:] for frame in frames if frame], pa.binary())
        decoder = shared_decoder(plan_for(conf, DecodeArguments(subject=subject, mode="PERMISSIVE")))
        found[subject] = decoder.read(given)
    assert found["same"].values.to_pylist() == READINGS.to_pylist()
    louder = found["louder"]
    assert [fault.row for fault in louder.faults] == [1]
    assert louder.values[0].as_py() == {**READINGS[0].as_py(), "of": "a!"}
    assert louder.values[2] == READINGS[2]


def test_a_null_of_a_required_field_is_told_before_rules_run(conf: dict[str, Any]) -> None:
    registry = SchemaRegistryClient(conf)
    registry.register_schema("t-value", Schema(ORDER, rule_set=rule_for(SAME)))
    values = pa.array([{"id": None, "note": "a"}], KIND)
    with pytest.raises(RowError, match="at id: null does not fit int"):
        encoded(conf, values, topic="t")
