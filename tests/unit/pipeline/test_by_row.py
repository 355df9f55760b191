"""pipeline.columns.by_row: rows that name their subject, by a column, by their type, or by both."""

from __future__ import annotations

import json
import pickle
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest
from pyspark import cloudpickle
from pyspark.sql import types

from pipeline.columns import by_row
from pipeline.columns.by_row import ByRowPlan, write, writing_plan
from pipeline.columns.decoding import shared_decoder
from pipeline.columns.encoding import EncodeArguments
from pipeline.columns.plan import DecodeArguments, plan_for
from pipeline.columns.remembered import forget_plans
from pipeline.errors import LookupFailedError, OptionError, PlanError, RowError
from registry import Rule, RuleKind, RuleMode, RuleSet, Schema, SchemaRegistryClient, SchemaRegistryError
from serdes import MessageField, SerializationContext
from serdes.avro import AvroDeserializer

ORDER = json.dumps({"type": "record", "name": "Order", "namespace": "shop", "fields": [{"name": "id", "type": "int"}]})
WIDER = json.dumps(
    {
        "type": "record",
        "name": "Order",
        "namespace": "shop",
        "fields": [{"name": "id", "type": "long"}, {"name": "more", "type": "int", "default": 7}],
    }
)
PAYMENT = json.dumps({"type": "record", "name": "Payment", "fields": [{"name": "sum", "type": "double"}]})
IDS = pa.struct([("id", pa.int32())])
EVENTS = pa.struct([("Order", IDS), ("Payment", pa.struct([("sum", pa.float64())]))])
ROWS: list[Any] = [{"Order": {"id": 1}}, None, {"Payment": {"sum": 0.5}}, {"Order": {"id": 2}}]


@pytest.fixture
def conf() -> Iterator[dict[str, Any]]:
    conf = {"url": f"mock://{uuid.uuid4()}"}
    forget_plans()
    with SchemaRegistryClient(conf):
        yield conf


def planned(conf: dict[str, Any], **arguments: Any) -> Any:
    """The plan, as it comes out of a pickle."""
    return cloudpickle.loads(cloudpickle.dumps(writing_plan(conf, EncodeArguments(**arguments))))


def written(conf: dict[str, Any], values: pa.Array, names: list[str | None] | None, **arguments: Any) -> list[Any]:
    given = None if names is None else pa.array(names, pa.string())
    frames: list[Any] = write(planned(conf, **arguments), values, given).to_pylist()
    return frames


def ids(count: int) -> pa.Array:
    return pa.array([{"id": at} for at in range(count)], IDS)


def schema_ids(frames: list[Any]) -> list[int | None]:
    return [None if frame is None else int.from_bytes(frame[1:5], "big") for frame in frames]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"by": "topic", "topic": "t"}, "either topic"),
        ({"topic": "t", "types": "Order"}, "types must be a list of names of records"),
        ({"topic": "t", "types": []}, "types must be a list of names of records"),
        ({"topic": "t", "types": ["A"], "message_type": "A"}, "message_type and types contradict"),
        ({"topic": "t", "types": ["A"], "schema": ORDER}, "schema is a dict of one for each type"),
        ({"topic": "t", "types": ["A"], "schema": {"B": ORDER}}, r"schema names \['B'\], but types are \['A'\]"),
        ({"topic": "t", "types": ["A"], "schema": {"A": 5}}, "schema of 'A' must be a text, a Schema or a Spark type"),
        ({"topic": "t", "schema": {"A": ORDER}}, r"schema names \['A'\], but types are \[\]"),
    ],
)
def test_arguments_are_checked_at_the_call(arguments: dict[str, Any], told: str) -> None:
    with pytest.raises(OptionError, match=told):
        EncodeArguments(**arguments)


def test_each_row_is_written_with_the_newest_schema_of_its_topic(conf: dict[str, Any]) -> None:
    registry = SchemaRegistryClient(conf)
    first = registry.register_schema("a-value", Schema(ORDER))
    second = registry.register_schema("b-value", Schema(WIDER))
    values = pa.array([{"id": 1}, {"id": 2}, None, {"id": 3}, {"id": 4}], IDS)
    with pytest.raises(RowError, match="row 3 of a batch can't be encoded: the row names no topic") as caught:
        written(conf, values, ["a", "b", "a", None, "a"], by="topic")
    assert caught.value.code == "BAD_SUBJECT"
    wide = pa.array([None if one is None else {**one, "more": 7} for one in values.to_pylist()])
    for names, by in (
        (["a", "b", "a", None, "a"], "topic"),
        (["a-value", "b-value", None, None, "a-value"], "subject"),
    ):
        narrow = written(conf, values, names, by=by, mode="PERMISSIVE")
        assert schema_ids(narrow) == [first, second, None, None, first]  # b's field `more` has a default
        frames = written(conf, wide, names, by=by, mode="PERMISSIVE")
        assert schema_ids(frames) == [None, second, None, None, None]  # a has no field `more`
        assert AvroDeserializer(registry)(frames[1], SerializationContext("b", MessageField.VALUE))["id"] == 2


def test_a_given_schema_is_registered_under_each_subject(conf: dict[str, Any]) -> None:
    registry = SchemaRegistryClient(conf)
    frames = written(conf, ids(3), ["a", "b", "a"], by="topic", schema=ORDER, strategy="topic_record")
    assert sorted(registry.get_subjects()) == ["a-shop.Order", "b-shop.Order"]
    assert schema_ids(frames) == [1, 1, 1]
    with pytest.raises(RowError, match=r"row 0 .*topic 'c': .*not found"):
        written(conf, ids(1), ["c"], by="topic", schema=ORDER, auto_register=False)
    derived = types.StructType([types.StructField("id", types.IntegerType())])
    written(conf, ids(1), ["d"], by="topic", schema=derived, name="Made", field="key")
    assert json.loads(registry.get_latest_version("d-key").schema.schema_str)["name"] == "Made"
    registry.set_compatibility("a-value", "BACKWARD")
    registry.register_schema("a-value", Schema(PAYMENT))
    with pytest.raises(RowError, match="row 0 of a batch can't be encoded: topic 'a': "):
        written(conf, ids(1), ["a"], by="topic", schema=ORDER)


def test_a_function_may_be_the_strategy(conf: dict[str, Any]) -> None:
    registry = SchemaRegistryClient(conf)

    def strategy(context: SerializationContext | None, name: str | None) -> str | None:
        assert context is not None
        return None if context.topic == "none" else f"{context.topic}/{name}"

    written(conf, ids(2), ["a", "b"], by="topic", schema=ORDER, strategy=strategy)
    assert sorted(registry.get_subjects()) == ["a/shop.Order", "b/shop.Order"]
    with pytest.raises(RowError, match=r"gives no subject for 'shop.Order', but None"):
        written(conf, ids(1), ["none"], by="topic", schema=ORDER, strategy=strategy)


def test_the_type_of_a_row_names_its_subject(conf: dict[str, Any]) -> None:
    registry = SchemaRegistryClient(conf)
    order = registry.register_schema("events-Order", Schema(ORDER))
    payment = registry.register_schema("events-Payment", Schema(PAYMENT))
    given: dict[str, Any] = {"topic": "events", "strategy": "topic_record", "types": ["Order", "Payment"]}
    frames = written(conf, pa.array(ROWS, EVENTS), None, **given)
    assert schema_ids(frames) == [order, None, payment, order]
    back = shared_decoder(plan_for(conf, DecodeArguments(**given))).decode(pa.array(frames))
    assert back.to_pylist() == pa.array(ROWS, EVENTS).to_pylist()
    both, none = {"Order": {"id": 1}, "Payment": {"sum": 0.5}}, {"Order": None}
    for row, told in ((both, "Order and Payment are set, of which one can be"), (none, "no Order or Payment")):
        with pytest.raises(RowError, match=f"row 1 of a batch can't be encoded: {told}"):
            written(conf, pa.array([None, row], EVENTS), None, **given)
    frames = written(conf, pa.array([both, *ROWS, none], EVENTS), None, mode="PERMISSIVE", **given)
    assert schema_ids(frames) == [None, order, None, payment, order, None]
    with pytest.raises(PlanError, match="a struct of the fields Order, Payment, not"):
        written(conf, ids(1), None, **given)
    turned = pa.struct([EVENTS.field("Payment"), EVENTS.field("Order")])
    assert schema_ids(written(conf, pa.array(ROWS, turned), None, **given)) == [order, None, payment, order]


def test_types_share_the_subject_of_a_topic(conf: dict[str, Any]) -> None:
    registry = SchemaRegistryClient(conf)
    registry.set_compatibility("events-value", "NONE")
    order, payment = (registry.register_schema("events-value", Schema(one)) for one in (ORDER, PAYMENT))
    given: dict[str, Any] = {"topic": "events", "types": ["shop.Order", "Payment"]}
    frames = written(conf, pa.array(ROWS, EVENTS), None, **given)
    assert schema_ids(frames) == [order, None, payment, order]
    with pytest.raises(PlanError, match="subject 'events-value': no version has a record 'Refund'"):
        planned(conf, topic="events", types=["Refund"])
    proto = 'syntax = "proto3"; package shop; message Order { int32 id = 1; } message Payment { double sum = 1; }'
    for rules in ("ignore", "run"):  # by columns, and by the serializer
        rule = Rule("any", kind=RuleKind.CONDITION, mode=RuleMode.WRITE, type="CEL", expr="true")
        rule_set = RuleSet(domain_rules=[rule])
        registry.register_schema("proto-value", Schema(proto, "PROTOBUF", rule_set=rule_set))
        given = {"topic": "proto", "types": ["Order", "shop.Payment"]}
        frames = written(conf, pa.array(ROWS, EVENTS), None, rules=rules, **given)
        back = shared_decoder(plan_for(conf, DecodeArguments(**given))).decode(pa.array(frames))
        assert back.to_pylist() == pa.array(ROWS, EVENTS).to_pylist()


def test_schemas_of_types(conf: dict[str, Any]) -> None:
    registry = SchemaRegistryClient(conf)
    given: dict[str, Any] = {"topic": "events", "strategy": "record", "types": ["shop.Order", "Payment"]}
    kind = types.StructType(
        [
            types.StructField("Payment", types.StructType([types.StructField("sum", types.DoubleType())])),
            types.StructField("Order", types.StructType([types.StructField("id", types.IntegerType())])),
        ]
    )
    frames = written(conf, pa.array(ROWS, EVENTS), None, schema=kind, **given)
    assert schema_ids(frames) == [1, None, 2, 1]
    derived = json.loads(registry.get_latest_version("shop.Order").schema.schema_str)
    assert (derived["name"], derived["namespace"]) == ("Order", "shop")
    named = {"shop.Order": ORDER, "Payment": Schema(PAYMENT)}
    registry.set_compatibility("shop.Order", "NONE")
    registry.set_compatibility("Payment", "NONE")
    assert schema_ids(written(conf, pa.array(ROWS, EVENTS), None, schema=named, **given)) == [3, None, 4, 3]
    with pytest.raises(OptionError, match=r"the schema for 'Payment' is of the record 'shop.Order'"):
        planned(conf, schema={"shop.Order": ORDER, "Payment": ORDER}, **given)
    with pytest.raises(OptionError, match="schema has the fields Order, but types are Order, Payment"):
        planned(conf, schema=types.StructType([kind["Order"]]), **given)


def test_a_column_and_types_together(conf: dict[str, Any]) -> None:
    registry = SchemaRegistryClient(conf)
    expected = []
    for topic in ("a", "b"):
        for name, schema in (("Order", ORDER), ("Payment", PAYMENT)):
            registry.register_schema(f"{topic}-{name}", Schema(schema))
            expected.append(f"{topic}-{name}")
    given: dict[str, Any] = {"by": "topic", "strategy": "topic_record", "types": ["Order", "Payment"]}
    asked: list[str] = []
    newest = SchemaRegistryClient.get_latest_version

    def latest(self: SchemaRegistryClient, subject: str, *more: Any) -> Any:
        asked.append(subject)
        return newest(self, subject, *more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SchemaRegistryClient, "get_latest_version", latest)
        plan = planned(conf, **given)
        for _ in range(3):
            frames = write(plan, pa.array(ROWS * 2, EVENTS), pa.array(["a"] * 4 + ["b"] * 4)).to_pylist()
    assert sorted(asked) == sorted(expected)  # once each
    assert schema_ids(frames) == [1, None, 2, 1, 1, None, 2, 1]
    assert [frame and frame[5:] for frame in frames[:4]] == [frame and frame[5:] for frame in frames[4:]]


def test_rows_come_back_in_their_order(conf: dict[str, Any]) -> None:
    names: list[str | None] = [f"t{at * 7 % 13}" for at in range(500)]
    names[3] = names[499] = None
    frames = written(conf, ids(500), names, by="topic", schema=ORDER, mode="PERMISSIVE")
    registry = SchemaRegistryClient(conf)
    read = AvroDeserializer(registry)
    context = SerializationContext("t", MessageField.VALUE)
    assert [frame and read(frame, context)["id"] for frame in frames] == [
        None if at in (3, 499) else at for at in range(500)
    ]
    assert len(registry.get_subjects()) == 13
    assert written(conf, ids(0), [], by="topic", schema=ORDER) == []
    sliced = write(planned(conf, by="topic", schema=ORDER), ids(9).slice(5, 2), pa.array(["a", "b", "c"]).slice(1))
    assert [read(frame, context)["id"] for frame in sliced.to_pylist()] == [5, 6]


def test_faults_of_values_are_told_with_their_own_row(conf: dict[str, Any]) -> None:
    values = pa.array([{"id": 1}, {"id": 2}, {"id": None}, {"id": None}], IDS)
    given: dict[str, Any] = {"by": "topic", "schema": ORDER}
    with pytest.raises(RowError, match="row 2 of a batch can't be encoded: schema id 1") as caught:
        written(conf, values, ["b", "a", "a", "b"], **given)
    assert caught.value.code == "BAD_VALUE"
    frames = written(conf, values, ["b", "a", "a", "b"], mode="PERMISSIVE", **given)
    assert [frame is None for frame in frames] == [False, False, True, True]


def test_a_registry_that_is_away_stops_the_job(conf: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def away(self: SchemaRegistryClient, *_: Any) -> Any:
        raise SchemaRegistryError(503, 50301, "away")

    plan = planned(conf, by="topic", mode="PERMISSIVE")
    monkeypatch.setattr(SchemaRegistryClient, "get_latest_version", away)
    with pytest.raises(LookupFailedError, match="the schema to write for topic 'a' can't be had"):
        write(plan, ids(1), pa.array(["a"]))
    secret = planned({**conf, "basic.auth.user.info": "u:hunter2"}, by="topic")
    assert b"hunter2" not in pickle.dumps(secret)
    with pytest.raises(LookupFailedError, match="secrets do not travel"):
        write(secret, ids(1), pa.array(["a"]))


def test_many_subjects_that_are_not_there_are_not_all_asked_for(
    conf: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    newest = SchemaRegistryClient.get_latest_version

    def latest(self: SchemaRegistryClient, subject: str, *more: Any) -> Any:
        asked.append(subject)
        return newest(self, subject, *more)

    monkeypatch.setattr(SchemaRegistryClient, "get_latest_version", latest)
    monkeypatch.setattr(by_row, "MAX_REFUSED", 5)
    plan = planned(conf, by="topic", mode="PERMISSIVE")
    names = pa.array([f"t{at}" for at in range(50)])
    assert write(plan, ids(50), names).to_pylist() == [None] * 50
    assert write(plan, ids(50), names).to_pylist() == [None] * 50
    assert len(asked) == 5
    strict = planned(conf, by="topic")
    with pytest.raises(RowError, match=r"topic 't0': .*not found"):
        write(strict, ids(50), names)


def test_plans_are_equal_for_equal_arguments(conf: dict[str, Any]) -> None:
    def both(make: Callable[[], dict[str, Any]]) -> tuple[str, str]:
        first = writing_plan(conf, EncodeArguments(**make()))
        forget_plans()
        return first.key, writing_plan(conf, EncodeArguments(**make())).key

    kind = types.StructType([types.StructField("id", types.IntegerType())])
    for given in ({"by": "topic"}, {"by": "topic", "schema": kind}, {"by": "subject", "schema": Schema(ORDER)}):
        first, second = both(lambda given=given: given)  # type: ignore[misc]
        assert first == second
    assert len({planned(conf, by="topic", schema=one).key for one in (ORDER, WIDER, None)}) == 3
    plan = planned(conf, by="topic", schema=ORDER)
    assert isinstance(plan, ByRowPlan)
    assert plan.key == planned(conf, by="topic", schema=ORDER).key
    with pytest.raises(PlanError, match="can't be had from the registry"):
        planned(conf, by="topic", schema="no schema")
    with pytest.raises(PlanError, match="the topic of each row has to be a text, not int64"):
        write(plan, ids(1), pa.array([5]))
