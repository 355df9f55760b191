"""serdes.rules.cel.executor: conditions, transforms, guards, and what goes wrong."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from registry import RuleKind
from registry.schemas.avro.model import parse
from serdes.rules import FieldType, RuleContext, RuleError
from serdes.rules.cel.executor import CelExecutor, CelFieldExecutor
from serdes.rules.registry import RuleRegistry
from serdes.rules.walks.avro import field_transformer, inline_tags
from tests.unit.serdes.rules.samples import context, rule, schema

PERSON = {"name": "Ada", "nick": None, "age": 36}


def run(expr: str | None, message: Any = PERSON, kind: RuleKind = RuleKind.CONDITION) -> Any:
    return CelExecutor().transform(context(rule(expr=expr, kind=kind)), message)


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        ("message.age > 17", True),
        ("message.age > 40", False),
        ("message.name == 'Ada' && message.nick == null", True),
        ("message.name.matches('^[A-Z][a-z]+$')", True),
        ("has(message.email)", False),
        ("has(message.name)", True),
        ("size(message.name) == 3", True),
        ("message.age < 0; message.name == 'nobody'", True),
        ("message.age > 0; message.name == 'nobody'", False),
        (" ; message.age == 36", True),
        ("now > timestamp('2020-01-01T00:00:00Z')", True),
        (None, True),
    ],
)
def test_conditions(expr: str | None, expected: bool) -> None:
    assert run(expr) is expected


def test_transforms_give_plain_values() -> None:
    made = run("{'name': message.name + '!', 'nick': message.nick, 'age': message.age + 1}", kind=RuleKind.TRANSFORM)
    assert made == {"name": "Ada!", "nick": None, "age": 37}
    assert [type(value) for value in made.values()] == [str, type(None), int]
    assert type(made) is dict
    assert run("message", kind=RuleKind.TRANSFORM) == PERSON


def test_a_guard_that_does_not_hold_leaves_the_message() -> None:
    assert run("message.age > 40; {}", kind=RuleKind.TRANSFORM) is PERSON
    assert run(None, kind=RuleKind.TRANSFORM) is PERSON


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        ("message.age >", "can't be parsed"),
        ("message.missing == 1", "failed"),
        ("message.age / 0 == 1", "failed"),
        ("undefined_function(message)", "failed"),
        ("isEmail(1)", "isEmail takes a string"),
    ],
)
def test_an_expression_that_can_not_be_run_says_why(expr: str, text: str) -> None:
    with pytest.raises(RuleError, match=text):
        run(expr)


def test_a_regular_expression_that_explodes_elsewhere_is_quick() -> None:
    assert run("message.name.matches('^(a+)+$')", {"name": "a" * 5_000 + "b"}) is False


def on_fields(expr: str, message: Any, kind: RuleKind = RuleKind.TRANSFORM, **changes: Any) -> Any:
    chosen = rule(type="CEL_FIELD", expr=expr, kind=kind, **changes)
    avro = parse(schema().schema_str)
    ctx: RuleContext = context(chosen, inline_tags=inline_tags(avro), field_transformer=field_transformer(avro))
    return CelFieldExecutor().transform(ctx, message)


def test_fields_are_chosen_by_tag_and_by_expression() -> None:
    made = on_fields("typeName == 'STRING' ; value + '!'", {**PERSON, "nick": "A"}, tags=["PII"])
    assert made == {"name": "Ada!", "nick": "A!", "age": 36}
    assert on_fields("name == 'age' ; value + 1", PERSON)["age"] == 37
    assert on_fields("fullName == 'test.Person.name' ; message.age > 30 ? 'old' : 'young'", PERSON)["name"] == "old"
    assert on_fields("'PII' in tags && value != null ; 'x'", PERSON)["name"] == "x"
    assert PERSON == {"name": "Ada", "nick": None, "age": 36}  # what was given is not changed


def test_a_condition_on_a_field_refuses_the_message() -> None:
    with pytest.raises(RuleError, match="Rule expr failed"):
        on_fields("name == 'age' ; value > 40", PERSON, kind=RuleKind.CONDITION)
    assert on_fields("name == 'age' ; value > 30", PERSON, kind=RuleKind.CONDITION) is True


def test_records_are_no_single_values() -> None:
    ctx = context(rule(expr="false"))
    entered = ctx.enter_field({}, "f", "f", FieldType.RECORD)
    value = {"a": 1}
    assert CelFieldExecutor().new_transform(ctx)(ctx, entered, value) is value


def test_times_and_days() -> None:
    when = datetime.datetime(2026, 1, 2, 3, 4, 5, 678_901, datetime.UTC)
    assert run("message.at", {"at": when}, RuleKind.TRANSFORM) == when
    assert run("message.day == 20455", {"day": datetime.date(2026, 1, 2)}) is True


def test_cel_executors_can_be_registered() -> None:
    CelExecutor.register()
    CelFieldExecutor.register()
    found = RuleRegistry.get_global_instance()
    assert {executor.type() for executor in found.get_executors()} >= {"CEL", "CEL_FIELD"}
    found.clear()


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        ("message.l.map(a, message.l.map(b, message.l.map(c, c)))", "takes longer than 0.2 s"),
        ("message.l.exists(a, message.l.exists(b, message.l.exists(c, c > 5000)))", "takes longer than 0.2 s"),
        ("message.l.reduce(r, i, 'x', r + r)", "larger than"),
        ("message.l.reduce(r, i, [1], [r, r])", "larger than"),
        ("+".join(["1"] * 5000), "goes too deep"),
    ],
)
def test_an_expression_that_would_not_end_is_ended(expr: str, text: str) -> None:
    executor = CelExecutor()
    if "0.2 s" in text:
        executor.configure({}, {"rule.timeout.ms": 200})
    with pytest.raises(RuleError, match=text):
        executor.transform(context(rule(expr=expr)), {"l": list(range(1000))})


def test_the_time_is_for_all_fields_of_a_message_together() -> None:
    """Else a message of many fields could take as many times as long."""
    executor = CelFieldExecutor()
    executor.configure({}, {"rule.timeout.ms": 200})
    slow = rule(type="CEL_FIELD", expr="[1, 2, 3].all(a, [1, 2, 3].all(b, true))")
    ctx = context(slow)
    transform = executor.new_transform(ctx)
    field = ctx.enter_field({}, "f", "f", FieldType.INT, ())
    with pytest.raises(RuleError, match=r"takes longer than 0\.2 s"):
        for _ in range(1_000_000):
            transform(ctx, field, 1)


def test_values_in_a_map_of_protobuf_are_single_values() -> None:
    from registry import Schema
    from serdes.formats.protobuf.codec import load
    from serdes.rules.walks.protobuf import field_transformer as walk

    text = 'syntax = "proto3"; package t; message A { map<string, uint32> n = 1; map<string, string> s = 2; }'
    kind: Any = load(Schema(text, "PROTOBUF")).named("A")
    changed = rule(type="CEL_FIELD", kind=RuleKind.TRANSFORM, expr="name == 'n' ; typeName == 'INT' ? value + 1u : 0u")
    ctx = context(changed, field_transformer=walk(kind.DESCRIPTOR))
    made = CelFieldExecutor().transform(ctx, kind(n={"a": 1, "b": 2}, s={"c": "d"}))
    assert made == kind(n={"a": 2, "b": 3}, s={"c": "d"})


def test_has_is_asked_inside_macros_too() -> None:
    """Protobuf: an unset field has a value, but is not there."""
    from google.protobuf import descriptor_pb2

    file = descriptor_pb2.FileDescriptorProto()
    file.message_type.add(name="A")
    file.message_type.add()
    assert run("message.message_type.filter(m, has(m.name)).size() == 1", file) is True
