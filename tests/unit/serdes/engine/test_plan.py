from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from registry import (
    InvalidSchemaError,
    RegisteredSchema,
    ResponseError,
    Schema,
    SchemaReference,
    SchemaRegistryError,
    TransportError,
)
from serdes import MessageField, SerializationContext, SerializationError
from serdes.asks import Ask
from serdes.engine.plan import Inquiry, ReadPlanner, WritePlanner, as_schema, latest_ttl_s
from serdes.formats.avro.format import AvroFormat
from serdes.frames.framing import PREFIX_BYTES, frame_prefix
from serdes.frames.schema_id import SchemaId
from serdes.options import ReadOptions, WriteOptions
from serdes.subject import topic_subject_name_strategy

ORDER = '{"type":"record","name":"shop.Order","fields":[{"name":"a","type":"int"}]}'
WIDER = (
    '{"type":"record","name":"shop.Order","fields":[{"name":"a","type":"long"},{"name":"b","type":"int","default":9}]}'
)
CONTEXT = SerializationContext("orders", MessageField.VALUE)


class Registry:
    """Answers asks from a table, and notes them."""

    def __init__(self, **answers: Any) -> None:
        self._answers = answers
        self.asked: list[tuple[Any, ...]] = []

    def __getattr__(self, operation: str) -> Any:
        def call(*arguments: Any) -> Any:
            self.asked.append((operation, *arguments))
            answer = self._answers[operation]
            return answer(*arguments) if callable(answer) else answer

        return call

    def run(self, flow: Inquiry[Any]) -> Any:
        outcome: Any = None
        error: SchemaRegistryError | None = None
        while True:
            try:
                ask = flow.send(outcome) if error is None else flow.throw(error)
            except StopIteration as stop:
                return stop.value
            outcome, error = None, None
            assert isinstance(ask, Ask)
            answer = ask.call(self)
            if isinstance(answer, SchemaRegistryError):
                error = answer
            else:
                outcome = answer


def writer(
    conf: Mapping[str, Any] | None = None,
    schema: Any = ORDER,
    ttl_s: float | None = None,
    now: Callable[[], float] = lambda: 0.0,
) -> WritePlanner:
    given = as_schema(schema)
    options = WriteOptions.parse(conf, given is not None)
    return WritePlanner(AvroFormat(), given, options, options.strategy or topic_subject_name_strategy, ttl_s, now)


def reader(
    schema: Any = None,
    conf: Mapping[str, Any] | None = None,
    ttl_s: float | None = None,
    now: Callable[[], float] = lambda: 0.0,
) -> ReadPlanner:
    options = ReadOptions.parse(conf)
    strategy = options.strategy or topic_subject_name_strategy
    return ReadPlanner(AvroFormat(), as_schema(schema), options, strategy, ttl_s, now)


FIVE = SchemaId("AVRO", 5)
MADE = RegisteredSchema("orders-value", 1, 5, None, Schema(ORDER))


def test_auto_register() -> None:
    registry = Registry(register_schema_full_response=MADE)
    plan = registry.run(writer({"normalize.schemas": True}).plan(CONTEXT))
    assert registry.asked == [("register_schema_full_response", "orders-value", Schema(ORDER), True)]
    assert plan.schema_id == 5
    assert plan.encode({"a": 1}) == frame_prefix(5) + b"\x02"
    assert plan.stale_at_s is None


def test_look_up_only() -> None:
    registry = Registry(lookup_schema=RegisteredSchema("s", 1, 6, None, Schema(ORDER)))
    plan = registry.run(writer({"auto.register.schemas": False}).plan(CONTEXT))
    assert registry.asked == [("lookup_schema", "orders-value", Schema(ORDER), False)]
    assert plan.schema_id == 6


def test_use_latest_writes_with_the_registered_schema_and_gets_stale() -> None:
    registry = Registry(get_latest_version=RegisteredSchema("s", 2, 7, None, Schema(WIDER)))
    conf = {"auto.register.schemas": False, "use.latest.version": True}
    plan = registry.run(writer(conf, None, ttl_s=60, now=lambda: 100.0).plan(CONTEXT))
    assert registry.asked == [("get_latest_version", "orders-value")]
    assert plan.encode({"a": 1}) == frame_prefix(7) + b"\x02\x12"
    assert plan.stale_at_s == 160.0


def test_use_schema_id() -> None:
    registry = Registry(get_schema=Schema(WIDER))
    conf = {"auto.register.schemas": False, "use.schema.id": 8}
    plan = registry.run(writer(conf, None).plan(CONTEXT))
    assert registry.asked == [("get_schema", 8, "orders-value")]
    assert plan.schema_id == 8


@pytest.mark.parametrize(("kind", "subject"), [("RECORD", "shop.Order"), ("TOPIC_RECORD", "orders-shop.Order")])
def test_strategies_know_the_records_name(kind: str, subject: str) -> None:
    registry = Registry(register_schema_full_response=MADE)
    registry.run(writer({"subject.name.strategy.type": kind}).plan(CONTEXT))
    assert registry.asked[0][1] == subject


def test_own_strategy() -> None:
    registry = Registry(register_schema_full_response=MADE)
    conf = {"subject.name.strategy": lambda ctx, name: f"{ctx.topic}/{ctx.field}/{name}"}
    registry.run(writer(conf).plan(CONTEXT))
    assert registry.asked[0][1] == "orders/value/shop.Order"


@pytest.mark.parametrize("subject", [None, "", 5])
def test_a_strategy_has_to_give_a_subject(subject: Any) -> None:
    with pytest.raises(SerializationError, match="gave no subject"):
        Registry().run(writer({"subject.name.strategy": lambda ctx, name: subject}).plan(CONTEXT))


def test_references_are_fetched_users_after_used() -> None:
    b = Schema(
        '{"type":"record","name":"x.B","fields":[{"name":"c","type":"x.C"}]}',
        references=[SchemaReference("x.C", "c", 3)],
    )
    c = Schema('{"type":"enum","name":"x.C","symbols":["A"]}')
    table = {"b": RegisteredSchema("b", 2, 1, None, b), "c": RegisteredSchema("c", 3, 2, None, c)}
    registry = Registry(
        get_version=lambda subject, version, deleted: table[subject], register_schema_full_response=MADE
    )
    schema = Schema('{"type":"array","items":"x.B"}', references=[SchemaReference("x.B", "b", 2)])
    plan = registry.run(writer(schema=schema).plan(CONTEXT))
    assert registry.asked[:2] == [("get_version", "b", 2, True), ("get_version", "c", 3, True)]
    assert plan.encode([{"c": "A"}]) == frame_prefix(5) + b"\x02\x00\x00"


@pytest.mark.parametrize(
    ("error", "away"),
    [(ResponseError(409, 409, "incompatible"), False), (TransportError(-1, -1, "registry away"), True)],
)
def test_registry_errors(error: SchemaRegistryError, away: bool) -> None:
    with pytest.raises(SerializationError, match="subject 'orders-value' is not available: ") as caught:
        Registry(register_schema_full_response=error).run(writer().plan(CONTEXT))
    assert caught.value.retriable is away
    assert caught.value.__cause__ is error
    assert isinstance(caught.value, SchemaRegistryError)  # what confluent_kafka lets through
    facts = (caught.value.http_status_code, caught.value.error_code, caught.value.error_message)
    assert facts == (error.http_status_code, error.error_code, error.error_message)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.http_status_code) == (str(caught.value), error.http_status_code)


def test_a_reference_that_can_not_be_had() -> None:
    error = ResponseError(404, 40401, "Subject 'b' not found")
    schema = Schema('{"type":"array","items":"x.B"}', references=[SchemaReference("x.B", "b", 2)])
    with pytest.raises(SerializationError, match="a schema that the given one refers to is not available") as caught:
        Registry(get_version=error).run(writer(schema=schema).plan(CONTEXT))
    assert caught.value.__cause__ is error


def test_bad_schema_shows_at_once() -> None:
    with pytest.raises(SerializationError, match="not valid"):
        writer(schema="{")
    with pytest.raises(SerializationError, match="not valid"):
        reader(schema="{")


def test_read_with_the_writers_schema() -> None:
    registry = Registry(get_schema=Schema(ORDER))
    planner = reader()
    frame = frame_prefix(5) + b"\x02"
    plan = registry.run(planner.plan(FIVE, PREFIX_BYTES, CONTEXT))
    assert registry.asked == [("get_schema", 5)]
    assert plan.decode(frame) == {"a": 1}
    assert (plan.schema_id, plan.stale_at_s, plan.anywhere) == (5, None, True)


def test_ids_of_a_context_are_looked_up_there() -> None:
    registry = Registry(get_schema=Schema(ORDER))
    in_context = {"subject.name.strategy": lambda ctx, name: f":.eu:{ctx.topic}-{ctx.field}"}
    plan = registry.run(reader(None, in_context).plan(FIVE, PREFIX_BYTES, CONTEXT))
    assert registry.asked == [("get_schema", 5, ":.eu:orders-value")]
    assert plan.anywhere is False  # the same id may be another schema elsewhere
    by_name = {"subject.name.strategy": lambda ctx, name: f"{ctx.topic}-{name.lower()}"}
    registry = Registry(get_schema=Schema(ORDER))
    assert registry.run(reader(None, by_name).plan(FIVE, PREFIX_BYTES, CONTEXT)).anywhere is True
    assert registry.asked == [("get_schema", 5)]


def test_read_with_a_schema() -> None:
    frame = frame_prefix(5) + b"\x02"
    plan = Registry(get_schema=Schema(ORDER)).run(
        reader(WIDER, {"use.latest.version": True}).plan(FIVE, PREFIX_BYTES, CONTEXT)
    )
    assert plan.decode(frame) == {"a": 1, "b": 9}


def test_read_with_the_latest() -> None:
    registry = Registry(get_schema=Schema(ORDER), get_latest_version=RegisteredSchema("s", 2, 7, None, Schema(WIDER)))
    planner = reader(None, {"use.latest.version": True}, ttl_s=5, now=lambda: 10.0)
    frame = frame_prefix(5) + b"\x02"
    plan = registry.run(planner.plan(FIVE, PREFIX_BYTES, CONTEXT))
    assert registry.asked == [("get_schema", 5), ("get_latest_version", "orders-value")]
    assert plan.decode(frame) == {"a": 1, "b": 9}
    assert (plan.stale_at_s, plan.anywhere) == (15.0, False)


@pytest.mark.parametrize(
    ("answer", "text", "away"),
    [
        (ResponseError(404, 40403, "Schema 5 not found"), "Schema 5 not found", False),
        (TransportError(-1, -1, "no answer"), "no answer", True),
        (ResponseError(404, 404, "HTTP 404: <html>"), "HTTP 404", True),
        (ResponseError(401, 40101, "Unauthorized"), "Unauthorized", True),
        (InvalidSchemaError(422, 42201, "Invalid schema"), "Invalid schema", False),
        (Schema("{}", "JSON"), "the schema is JSON", False),
        (Schema("{"), "not valid", False),
    ],
)
def test_schemas_that_can_not_be_had(answer: Any, text: str, away: bool) -> None:
    with pytest.raises(SerializationError, match=text) as caught:
        Registry(get_schema=answer).run(reader().plan(FIVE, PREFIX_BYTES, CONTEXT))
    assert (caught.value.schema_id, caught.value.retriable) == (5, away)


def test_as_schema() -> None:
    assert as_schema(None) is None
    assert as_schema("x") == Schema("x")
    assert as_schema(Schema("x", "JSON")) == Schema("x", "JSON")
    assert as_schema(RegisteredSchema("s", 1, 1, None, Schema("x"))) == Schema("x")
    with pytest.raises(TypeError, match="not dict"):
        as_schema(json.loads("{}"))


def test_latest_ttl() -> None:
    class Client:
        def __init__(self, conf: dict[str, Any]) -> None:
            self._conf = conf

        def config(self) -> dict[str, Any]:
            return self._conf

    assert latest_ttl_s(Client({"cache.latest.ttl.sec": 5})) == 5
    assert latest_ttl_s(Client({})) is None
    assert latest_ttl_s(object()) is None
