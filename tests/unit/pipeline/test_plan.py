"""pipeline.columns.plan: arguments are checked at the call, equal calls make one plan, no secret is in a plan."""

from __future__ import annotations

import dataclasses
import json
import pickle
import uuid
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from pipeline.columns.by_row import writing_plan
from pipeline.columns.decoding import BatchDecoder, shared_decoder, spark_type_of
from pipeline.columns.encoding import EncodeArguments
from pipeline.columns.modes import Mode
from pipeline.columns.plan import DecodeArguments, DecodePlan, field_names, plan_for
from pipeline.columns.remembered import forget_plans
from pipeline.errors import LookupFailedError, OptionError, PlanError, RowError, SchemaChangedError
from registry import Schema, SchemaRegistryClient
from serdes import MessageField, SerializationContext
from serdes.avro import AvroSerializer
from serdes.frames.schema_id import header_schema_id_serializer
from serdes.json_schema import JSONSerializer
from serdes.protobuf import ProtobufSerializer
from serdes.subject import record_subject_name_strategy, topic_record_subject_name_strategy

CONTEXT = SerializationContext("t", MessageField.VALUE)


def record(name: str, **fields: Any) -> str:
    made = [{"name": field, "type": kind} for field, kind in fields.items()]
    return json.dumps({"type": "record", "name": name, "fields": made})


@pytest.fixture
def conf() -> Iterator[dict[str, Any]]:
    """A registry of its own, held open."""
    conf = {"url": f"mock://{uuid.uuid4()}"}
    forget_plans()
    with SchemaRegistryClient(conf):
        yield conf


def client(conf: dict[str, Any]) -> SchemaRegistryClient:
    return SchemaRegistryClient(conf)


def decoded(conf: dict[str, Any], frames: list[bytes | None], ids: Any = None, **arguments: Any) -> pa.Array:
    plan = pickle.loads(pickle.dumps(plan_for(conf, DecodeArguments(**arguments))))
    return shared_decoder(plan).decode(pa.array(frames, pa.binary()), ids)


# ---- arguments


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "either topic"),
        ({"topic": "t", "subject": "s"}, "either topic"),
        ({"topic": ""}, "topic must be a text"),
        ({"topic": "t", "field": "header"}, "field must be 'key' or 'value'"),
        ({"topic": "t", "reader_schema": {"type": "int"}}, "reader_schema must be a text.*dict"),
        ({"topic": "t", "version": "1"}, "version must be a number"),
        ({"topic": "t", "version": True}, "version must be a number"),
        ({"topic": "t", "version": 1, "id": 2}, "version and id contradict"),
        ({"topic": "t", "columns": "id"}, "columns must be a list"),
        ({"topic": "t", "columns": []}, "columns must be a list"),
        ({"topic": "t", "types": [1]}, "types must be a list"),
        ({"topic": "t", "types": ["A"], "version": 1}, "types=.* stands alone"),
        ({"topic": "t", "strategy": "recrod"}, "strategy must be"),
        ({"topic": "t", "strategy": "record"}, "needs types"),
        ({"topic": "t", "mode": "DROPMALFORMED"}, "mode 'DROPMALFORMED' is unknown"),
        ({"topic": "t", "mode": "DEADLETTER", "error_field": "e"}, "field 'error' of its own"),
        ({"topic": "t", "bad_row": "drop"}, "bad_row must be"),
        ({"topic": "t", "evolution": "merge"}, "evolution must be"),
        ({"topic": "t", "times": "micros"}, "times must be"),
        ({"topic": "t", "unnamed": "keep"}, "unnamed must be"),
        ({"topic": "t", "format": "xml"}, "format must be"),
        ({"topic": "t", "rules": "maybe"}, "rules 'maybe' is unknown"),
        ({"topic": "t", "recursive_max_depth": -1}, "recursive_max_depth must be"),
        ({"topic": "t", "rule_conf": "secret"}, "rule_conf must be a dict"),
        ({"topic": "t", "message_type": 1}, "message_type must be a text"),
    ],
)
def test_arguments_are_checked_at_the_call(arguments: dict[str, Any], told: str) -> None:
    with pytest.raises(OptionError, match=told):
        DecodeArguments(**arguments)


def test_a_client_is_no_configuration(conf: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match="a client does not travel"):
        plan_for(client(conf), DecodeArguments(topic="t"))  # type: ignore[arg-type]


def test_names_of_the_fields_of_several_types() -> None:
    assert field_names(["shop.Order", "Payment"]) == ["Order", "Payment"]
    assert field_names(["a.Order", "b.order", "c.X"]) == ["a_Order", "b_order", "X"]
    with pytest.raises(OptionError, match="twice"):
        field_names(["a.X", "a.X"])


# ---- one plan for equal content


def test_equal_calls_ask_once_and_compile_once(conf: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    client(conf).register_schema("t-value", Schema(record("R", a="int")))
    sent: list[str] = []
    send = SchemaRegistryClient._send

    def counted(self: SchemaRegistryClient, step: Any) -> Any:
        sent.append(step.url)
        return send(self, step)

    monkeypatch.setattr(SchemaRegistryClient, "_send", counted)
    first = plan_for(conf, DecodeArguments(topic="t"))
    asked = len(sent)
    assert asked > 0
    assert plan_for(dict(conf), DecodeArguments(topic="t")).key == first.key
    assert len(sent) == asked
    other = plan_for(conf, DecodeArguments(topic="t", mode="FAILFAST"))
    assert other.key != first.key
    asked = len(sent)
    forget_plans()
    again = plan_for(conf, DecodeArguments(topic="t"))
    assert len(sent) > asked
    assert again is not first
    assert again.key == first.key
    assert shared_decoder(again) is shared_decoder(first)


def test_a_function_that_has_gone_is_not_taken_for_another(conf: dict[str, Any]) -> None:
    for subject in ("a", "b"):
        client(conf).register_schema(subject, Schema(record(subject, x="int")))

    def asked(subject: str) -> str:
        return plan_for(conf, DecodeArguments(topic="t", strategy=lambda ctx, name: subject)).parts[0].snapshot.subject

    wanted = ["a", "b"] * 20  # a function is made at the place in memory that another has just left
    assert [asked(subject) for subject in wanted] == wanted


def test_the_latest_ttl_of_the_client_says_how_long_a_plan_is_remembered(conf: dict[str, Any]) -> None:
    conf["cache.latest.ttl.sec"] = 1e-9
    client(conf).register_schema("t-value", Schema(record("R", a="int")))
    first = plan_for(conf, DecodeArguments(topic="t"))
    client(conf).register_schema("t-value", Schema(record("R", a="long")))
    assert plan_for(conf, DecodeArguments(topic="t")).key != first.key


# ---- secrets


def test_no_secret_is_in_a_plan(conf: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    client(conf).register_schema("t-value", Schema(record("R", a="int")))
    monkeypatch.setenv("H4_USER_INFO", "user:from-the-environment")
    plain = {**conf, "basic.auth.user.info": "user:hunter2"}
    referring = {**conf, "basic.auth.user.info": "${env:H4_USER_INFO}"}
    rules = {"secret": "${env:H4_USER_INFO}"}
    for given in (plain, referring):
        plan = plan_for(given, DecodeArguments(topic="t", rule_conf=rules))
        for shown in (repr(plan).encode(), pickle.dumps(plan), plan.key.encode()):
            assert b"hunter2" not in shown
            assert b"from-the-environment" not in shown
    with pytest.raises(OptionError, match=r"'secret' may be secret.*\$\{env:NAME\}"):
        plan_for(conf, DecodeArguments(topic="t", rule_conf={"secret": "hunter2"}))
    later = b"\0\0\0\0\x63x"
    away = plan_for(plain, DecodeArguments(topic="t"))
    with pytest.raises(LookupFailedError, match=r"write 'basic\.auth\.user\.info' as \$\{env:NAME\}"):
        shared_decoder(away).decode(pa.array([later]))
    found = shared_decoder(plan_for(referring, DecodeArguments(topic="t"))).read(pa.array([later]))
    assert found.faults[0].code == "UNKNOWN_SCHEMA"
    monkeypatch.delenv("H4_USER_INFO")
    with pytest.raises(OptionError, match="no variable 'H4_USER_INFO'"):
        plan_for(referring, DecodeArguments(topic="t", mode="FAILFAST"))


# ---- which schema


def test_the_reader_is_chosen_by_version_id_text_or_model(conf: dict[str, Any]) -> None:
    registry = client(conf)
    old, new = record("R", a="int"), record("R", a="long", b=["null", "string"])
    first = registry.register_schema("t-value", Schema(old))
    registry.set_compatibility("t-value", "NONE")
    registry.register_schema("t-value", Schema(new))
    frame = AvroSerializer(registry, old)({"a": 1}, CONTEXT)

    @dataclasses.dataclass
    class R:
        a: float

    names = {
        "newest": decoded(conf, [], topic="t").type,
        "version": decoded(conf, [], topic="t", version=1).type,
        "id": decoded(conf, [], topic="t", id=first).type,
        "id alone": decoded(conf, [frame], id=first).type,
        "text": decoded(conf, [], subject="t-value", reader_schema=record("R", a="float")).type,
        "model": decoded(conf, [frame], topic="t", model=R).type,
    }
    assert {name: str(kind) for name, kind in names.items()} == {
        "newest": "struct<a: int64, b: string>",
        "version": "struct<a: int32>",
        "id": "struct<a: int32>",
        "id alone": "struct<a: int32>",
        "text": "struct<a: float>",
        "model": "struct<a: double>",
    }
    assert decoded(conf, [frame], topic="t", model=R, mode="FAILFAST").to_pylist() == [{"a": 1.0}]
    with pytest.raises(PlanError, match="no version 7: there are 1, 2"):
        plan_for(conf, DecodeArguments(topic="t", version=7))
    with pytest.raises(PlanError, match="format AVRO, not JSON"):
        plan_for(conf, DecodeArguments(topic="t", format="json"))


# ---- roots


@pytest.mark.parametrize(
    ("schema", "value", "kind"),
    [
        ('"string"', "é", pa.string()),
        ('{"type": "long", "logicalType": "timestamp-millis"}', None, pa.timestamp("us", tz="UTC")),
        ('{"type": "array", "items": "int"}', [1, 2], pa.list_(pa.int32())),
        ('{"type": "map", "values": "double"}', {"a": 0.5}, pa.map_(pa.string(), pa.float64())),
        ('["null", "long"]', 2**40, pa.int64()),
        ('["null", "string", "boolean"]', True, pa.struct([("member0", pa.string()), ("member1", pa.bool_())])),
        ('{"type": "enum", "name": "E", "symbols": ["A", "B"]}', "B", pa.string()),
    ],
)
def test_any_root_of_avro(conf: dict[str, Any], schema: str, value: Any, kind: pa.DataType) -> None:
    registry = client(conf)
    registry.register_schema("t-value", Schema(schema))
    frames = [] if value is None else [AvroSerializer(registry, schema)(value, CONTEXT)]
    found = decoded(conf, [*frames, None, b"\0junk"], topic="t")
    assert found.type == kind
    shown = {"member0": None, "member1": True} if value is True else value
    first = [dict(found[0].as_py())] if isinstance(value, dict) else found.to_pylist()[:1]
    assert first == ([] if value is None else [shown]) or value is None
    told = decoded(conf, [*frames, None, b"\0\0\0\0\x63x"], topic="t", error_field="_error")
    assert told.type.field("_error").type == pa.string()
    assert told[len(frames)].as_py() is None
    assert "id 99" in told[len(frames) + 1].as_py()["_error"]


def test_writers_of_another_root_are_unfit(conf: dict[str, Any]) -> None:
    registry = client(conf)
    registry.set_compatibility("t-value", "NONE")
    registry.register_schema("t-value", Schema('"int"'))
    registry.register_schema("t-value", Schema(record("R", a="int")))
    serializer = AvroSerializer(registry, '"int"')
    plan = plan_for(conf, DecodeArguments(topic="t"))
    (fault,) = shared_decoder(plan).read(pa.array([serializer(5, CONTEXT)])).faults
    assert fault.schema_id == 1
    assert fault.code in ("UNFIT_SCHEMA", "BAD_PAYLOAD")


def test_a_union_of_records_reads_as_one_of_them(conf: dict[str, Any]) -> None:
    registry = client(conf)
    registry.set_compatibility("t-value", "NONE")
    union = f"[{record('A', a='int')}, {record('B', b='string')}]"
    serialize = AvroSerializer(registry, union)
    frames = [serialize({"a": 1}, CONTEXT), serialize({"b": "x"}, CONTEXT)]
    assert decoded(conf, frames, topic="t").to_pylist() == [
        {"member0": {"a": 1}, "member1": None},
        {"member0": None, "member1": {"b": "x"}},
    ]
    assert decoded(conf, frames, topic="t", reader_schema=record("A", a="long")).to_pylist() == [{"a": 1}, None]


def test_any_root_of_json(conf: dict[str, Any]) -> None:
    registry = client(conf)
    schema = {
        "title": "List",
        "type": "array",
        "items": {"$ref": "#/definitions/one"},
        "definitions": {"one": {"type": "object", "properties": {"n": {"type": "integer"}}}},
    }
    serialize = JSONSerializer(json.dumps(schema), registry)
    frame = serialize([{"n": 1}, {"n": 2}], CONTEXT)
    assert frame is not None
    found = decoded(conf, [frame, None, frame[:5] + b'[{"n": "x"}]', frame[:5] + b'[],"value":[]'], topic="t")
    assert found.to_pylist() == [[{"n": 1}, {"n": 2}], None, None, None]
    plan = plan_for(conf, DecodeArguments(topic="t"))
    faults = shared_decoder(plan).read(pa.array([frame[:5] + b'[{"n": "x"}]'])).faults
    assert [(fault.row, fault.path) for fault in faults] == [(0, "[0].n")]
    headed = pa.array([b"\0\0\0\0\1"])
    assert decoded(conf, [frame[5:]], headed, topic="t").to_pylist() == [[{"n": 1}, {"n": 2}]]


def test_recursive_records_are_cut_at_a_depth(conf: dict[str, Any]) -> None:
    registry = client(conf)
    tree = record("Tree", n="int", up=["null", "Tree"])
    frame = AvroSerializer(registry, tree)({"n": 1, "up": {"n": 2, "up": {"n": 3, "up": None}}}, CONTEXT)
    with pytest.raises(PlanError, match="recursive"):
        spark_type_of(plan_for(conf, DecodeArguments(topic="t")))
    found = decoded(conf, [frame], topic="t", recursive_max_depth=2)
    assert found[0].as_py()["up"]["n"] == 2


def test_members_of_json_that_the_schema_does_not_name(conf: dict[str, Any]) -> None:
    named = {"n": {"type": "integer"}}
    document = {"type": "object", "properties": named, "additionalProperties": {"type": "string"}}
    number = client(conf).register_schema("t-value", Schema(json.dumps(document), "JSON"))
    frame = b"\0" + number.to_bytes(4, "big") + b'{"a": "x", "n": 1, "b": "y"}'
    assert decoded(conf, [frame], topic="t").to_pylist() == [{"n": 1}]
    assert decoded(conf, [frame], topic="t", unnamed="refuse").to_pylist() == [None]
    rows = decoded(conf, [frame], topic="t", unnamed="map").to_pylist(maps_as_pydicts="strict")
    assert rows == [{"n": 1, "additionalProperties": {"a": "x", "b": "y"}}]
    kind = spark_type_of(plan_for(conf, DecodeArguments(topic="t", unnamed="map")))
    assert kind.simpleString() == "struct<n:bigint,additionalProperties:map<string,string>>"


# ---- ids and GUIDs, in front and in headers


def test_guids_and_headers(conf: dict[str, Any]) -> None:
    registry = client(conf)
    text = record("R", a="int")
    registered = registry.register_schema_full_response("t-value", Schema(text))
    guid = registered.guid or registry.get_version("t-value", 1).guid
    assert guid is not None
    prefixed = AvroSerializer(registry, text)({"a": 1}, CONTEXT)
    assert prefixed is not None
    by_guid = b"\x01" + uuid.UUID(guid).bytes + prefixed[5:]
    headers: list[Any] = []
    serialize = AvroSerializer(registry, text, conf={"schema.id.serializer": header_schema_id_serializer})
    bare = serialize({"a": 3}, SerializationContext("t", MessageField.VALUE, headers))
    assert decoded(conf, [prefixed, by_guid], topic="t", mode="FAILFAST").to_pylist() == [{"a": 1}, {"a": 1}]
    ids = pa.array([headers[0][1], None], pa.binary())
    assert decoded(conf, [bare, prefixed], ids, topic="t", mode="FAILFAST").to_pylist() == [{"a": 3}, {"a": 1}]


# ---- several types in one column


def test_several_records_in_one_topic_by_their_subjects(conf: dict[str, Any]) -> None:
    registry = client(conf)
    for strategy, name in (
        (record_subject_name_strategy, "record"),
        (topic_record_subject_name_strategy, "topic_record"),
    ):
        own = {"subject.name.strategy": strategy}
        order = AvroSerializer(registry, record("Order", id="int"), conf=own)({"id": 1}, CONTEXT)
        paid = AvroSerializer(registry, record("Payment", sum="double"), conf=own)({"sum": 0.5}, CONTEXT)
        other = AvroSerializer(registry, record("Other", x="int"), conf=own)({"x": 1}, CONTEXT)
        found = decoded(
            conf,
            [paid, order, other, None, b"\x07"],
            topic="t",
            strategy=name,
            types=["Order", "Payment"],
            error_field="_error",
        ).to_pylist()
        assert found[0] == {"Order": None, "Payment": {"sum": 0.5}, "_error": None}
        assert found[1] == {"Order": {"id": 1}, "Payment": None, "_error": None}
        assert found[2] is None  # of a type that was not asked for
        assert found[3] is None
        assert "magic byte 7" in found[4]["_error"]


def test_several_records_under_one_subject(conf: dict[str, Any]) -> None:
    registry = client(conf)
    registry.set_compatibility("t-value", "NONE")
    order, paid = record("shop.Order", id="int"), record("shop.Payment", sum="double")
    frames = [
        AvroSerializer(registry, order)({"id": 1}, CONTEXT),
        AvroSerializer(registry, paid)({"sum": 0.5}, CONTEXT),
        AvroSerializer(registry, record("shop.Order", id="long"))({"id": 2**40}, CONTEXT),
        b"\0\0\0\0\x63x",
    ]
    found = decoded(conf, frames, topic="t", types=["Order", "shop.Payment"]).to_pylist()
    assert found == [
        {"Order": {"id": 1}, "Payment": None},
        {"Order": None, "Payment": {"sum": 0.5}},
        {"Order": {"id": 2**40}, "Payment": None},
        None,
    ]
    with pytest.raises(PlanError, match="no version has a record 'Nothing'"):
        plan_for(conf, DecodeArguments(topic="t", types=["Nothing"]))
    with pytest.raises(RowError, match="id 99"):
        decoded(conf, frames, topic="t", types=["Order"], mode="FAILFAST")


def test_several_messages_of_one_file(conf: dict[str, Any]) -> None:
    registry = client(conf)
    text = 'syntax = "proto3"; package p; message A { int32 a = 1; } message B { string b = 1; } message C { }'
    registry.register_schema("t-value", Schema(text, "PROTOBUF"))
    prefix = b"\0\0\0\0\1"
    frames = [prefix + b"\0\x08\x05", prefix + b"\2\2\x0a\1x", prefix + b"\2\4", prefix + b"\0\x08", None]
    found = decoded(conf, frames, topic="t", types=["p.A", "B"], error_field="_e").to_pylist()
    assert found[0] == {"A": {"a": 5}, "B": None, "_e": None}
    assert found[1] == {"A": None, "B": {"b": "x"}, "_e": None}
    assert found[2] is None
    assert "schema id 1" in found[3]["_e"]
    assert found[3]["A"] is None
    assert found[4] is None


# ---- modes and evolution


def test_a_bad_row_in_every_mode(conf: dict[str, Any]) -> None:
    registry = client(conf)
    text = record("R", a="int", b={"type": "array", "items": "string"})
    good = AvroSerializer(registry, text)({"a": 1, "b": ["x"]}, CONTEXT)
    assert good is not None
    frames = [good, good[:-1], None]
    struct = decoded(conf, frames, topic="t", bad_row="struct").to_pylist()
    assert struct == [{"a": 1, "b": ["x"]}, {"a": None, "b": None}, None]
    assert decoded(conf, frames, topic="t").to_pylist()[1:] == [None, None]
    letters = decoded(conf, frames, topic="t", mode="DEADLETTER").to_pylist()
    assert letters[0] == {"value": {"a": 1, "b": ["x"]}, "error": None}
    assert letters[2] == {"value": None, "error": None}
    error = letters[1]["error"]
    assert (error["code"], error["schema_id"], error["raw"]) == ("BAD_PAYLOAD", 1, good[:-1])
    assert error["path"] == "R.b"
    plan = plan_for(conf, DecodeArguments(topic="t", mode="FAILFAST"))
    batch = pa.array(frames)
    origin = {"topic": pa.array(["t"] * 3), "partition": pa.array([4] * 3), "offset": pa.array([7, 8, 9])}
    with pytest.raises(RowError, match=r"topic t, partition 4, offset 8 can't be decoded: schema id 1, at R\.b") as e:
        shared_decoder(plan).decode(batch, None, origin)
    again = pickle.loads(pickle.dumps(e.value))
    assert (again.row, again.code, again.schema_id, again.offset) == (1, "BAD_PAYLOAD", 1, 8)
    assert str(again) == str(e.value)


def test_restart_stops_at_a_newer_version_with_other_columns(conf: dict[str, Any]) -> None:
    registry = client(conf)
    serialize = AvroSerializer(registry, record("R", a="int"))
    serialize({"a": 0}, CONTEXT)
    going, stopping = (plan_for(conf, DecodeArguments(topic="t", evolution=one)) for one in ("ignore", "restart"))
    registry.set_compatibility("t-value", "NONE")
    documented = json.dumps({**json.loads(record("R", a="int")), "doc": "the same columns"})
    same = AvroSerializer(registry, documented)({"a": 1}, CONTEXT)
    assert shared_decoder(stopping).decode(pa.array([same])).to_pylist() == [{"a": 1}]
    wider = AvroSerializer(registry, record("R", a="int", b="string"))({"a": 2, "b": "x"}, CONTEXT)
    assert shared_decoder(going).decode(pa.array([wider])).to_pylist() == [{"a": 2}]
    with pytest.raises(SchemaChangedError, match=r"version 3.*start the job again"):
        shared_decoder(stopping).decode(pa.array([wider]))
    started_again = plan_for(conf, DecodeArguments(topic="t", evolution="restart"))  # in the same driver, at once
    assert shared_decoder(started_again).decode(pa.array([wider])).to_pylist() == [{"a": 2, "b": "x"}]


def test_a_value_of_another_class_has_no_schema(conf: dict[str, Any]) -> None:
    client(conf).register_schema("t-value", Schema(record("R", a="int")))
    with pytest.raises(OptionError, match="model: "):
        plan_for(conf, DecodeArguments(topic="t", model=int))


def test_protobuf_by_a_message_class(conf: dict[str, Any]) -> None:
    from google.protobuf.duration_pb2 import Duration

    text = 'syntax = "proto3"; message A { int64 seconds = 1; }'
    frame = ProtobufSerializer(text, client(conf))({"seconds": 5}, CONTEXT)
    found = plan_for(conf, DecodeArguments(topic="t", model=Duration)).parts[0].snapshot.reader
    assert found.schema_type == "PROTOBUF"
    assert decoded(conf, [frame], topic="t", mode="FAILFAST").to_pylist() == [{"seconds": 5}]


def test_of_one_snapshot(conf: dict[str, Any]) -> None:
    client(conf).register_schema("t-value", Schema(record("R", a="int")))
    plan = plan_for(conf, DecodeArguments(topic="t"))
    made = DecodePlan.of(plan.parts[0].snapshot, Mode.FAILFAST)
    assert BatchDecoder(made).arrow_type == pa.struct([("a", pa.int32())])


def test_two_functions_of_one_name_are_two_plans(conf: dict[str, str]) -> None:
    with client(conf) as registry:
        registry.register_schema("t-value", Schema(record("O", id="int"), "AVRO"))

    def key(function: object) -> str:
        made = plan_for(conf, DecodeArguments(topic="t"))
        return dataclasses.replace(made, rule_conf={"": {"f": function}}).key

    first, second = (lambda value, by=by: value + by for by in (1, 2))
    assert key(first) == key(first) != key(second)
    assert key(json.dumps) == key(json.dumps) != key(json.loads)


@pytest.mark.parametrize("value", ["AFTER_DOMAIN_RULES", "${env:H4_USER_INFO}"])
def test_properties_of_rules_inside_schemas_are_refused(conf: dict[str, Any], value: str) -> None:
    client(conf).register_schema("t-value", Schema(record("R", a="int")))
    rules = {"validation.rules.execution": value}
    told = "'validation.rules.execution': rules inside schemas do not run in Spark"
    with pytest.raises(OptionError, match=told):
        plan_for(conf, DecodeArguments(topic="t", rule_conf=rules))
    for named in ({"topic": "t"}, {"by": "topic"}):
        with pytest.raises(OptionError, match=told):
            writing_plan(conf, EncodeArguments(rule_conf=rules, **named))
